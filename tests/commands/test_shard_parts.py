"""Parts of shards that do not belong together are refused with a sentence: other files, other
scripts, other options, other results. What shards are called, and how to make one again."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np

from parts_case import LOADER, SCALES, PartsCase

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Gives back what it was given.
PROGRAM = """
import json, sys
with open(sys.argv[1]) as file:
    given = json.load(file)
with open(sys.argv[2], "w") as file:
    json.dump({"y": given["x"]}, file)
"""


class ShardParts(PartsCase):
    def test_a_folder_of_inputs_that_changed_is_named(self):
        words = [*self.command, "--load-inputs", "in"]
        first = self.shard(1, *words)
        second = self.shard(2, *words)
        self.assertEqual(self.vernier("merge", first, second, "-o", "fits.json").code, 0)
        self.path("in/b.json").rename(self.path("in/bb.json"))
        second = self.shard(2, *words)
        self.refused([first, second], f"'{first}' and '{second}' do not belong together",
                     f"file 2 of --load-inputs is 'in/b.json' in '{first}', and 'in/bb.json' in")
        self.path("in/bb.json").rename(self.path("in/b.json"))
        # As many bytes, and other ones; of another shard's iteration.
        before = self.path("in/a.json").stat().st_size
        self.save_feeds("in/a.json", [{"x": np.full(4, 7, np.float32)}])
        second = self.shard(2, *words)
        said = "has other content" if self.path("in/a.json").stat().st_size == before else "bytes"
        self.refused([first, second], "'in/a.json' (--load-inputs) has ", said)

    def test_files_that_change_while_a_shard_runs_leave_no_part(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--model-runner", "writes.py",
                             "--load-inputs", "in", "--shard", "1/2", "--save-record", "r.json",
                             "--save-outputs", "o.npz", "--python", sys.executable)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("was changed meanwhile: 'in/z.json' (--load-inputs) was there when it ended",
                      ended.err)
        self.assertFalse(list(self.folder.glob("r.*")))
        # Outputs of a shard that is not whole have no name of one.
        self.assertEqual([path.name for path in self.folder.glob("o.*")],
                         ["o.shard-0001-of-0002.npz.partial"])
        self.assertIn("`vernier data recover o.shard-0001-of-0002.npz.partial -o FILE`",
                      ended.out + ended.err)

    def test_a_model_that_changes_while_a_shard_runs_leaves_no_part(self):
        self.save_model("other.onnx", shape=(4, 4))
        self.path("swaps.py").write_text(
            "import os\ndef load(path):\n    def infer(feed):\n"
            "        if os.path.exists('other.onnx'):\n"
            "            os.rename('other.onnx', 'm.onnx')\n"
            "        return {'y': feed['x']}\n    return infer\n", encoding="utf-8")
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "swaps.py", "--iterations", "4",
                 "--python", sys.executable, "--shard", "1/2", "--save-record", "r.json"]
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertRegex(ended.err, r"was changed meanwhile: model '.*m\.onnx' has other content")
        self.assertFalse(list(self.folder.glob("r.*")))

    def test_a_shard_that_fails_leaves_what_an_earlier_one_has_saved(self):
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "fails.py", "--iterations", "8",
                 "--save-rows", "rows.jsonl", "--report", "r.md", "--save-outputs", "o.npz"]
        self.shard(1, *words)
        saved = {path.name: path.read_bytes() for path in self.folder.glob("*.shard-*")}
        self.assertEqual(len(saved), 4)
        self.path("ill").touch()
        ended = self.vernier(*words, "--shard", "1/2", "--save-record", "r.json", "--python",
                             sys.executable)
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        for name, content in saved.items():
            self.assertEqual(self.path(name).read_bytes(), content, name)
        self.assertIn("are in 'rows.shard-0001-of-0002.jsonl.partial'", ended.out + ended.err)
        self.assertEqual(
            len(self.path("rows.shard-0001-of-0002.jsonl.partial").read_text().splitlines()), 2)

    def test_scripts_that_were_edited_are_named(self):
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "scales.py", "--iterations", "4"]
        first = self.shard(1, *words)
        self.path("scales.py").write_text(SCALES.replace("1.0", "2.0"), encoding="utf-8")
        second = self.shard(2, *words)
        self.refused([first, second], "scales.py' (runner '", "has other content in")
        words = [*self.command, "--data-loader-script", "loader.py", "--shard-by", "stride"]
        first = self.shard(1, *words, record="l.json")
        self.path("loader.py").write_text(LOADER.replace("full(4, i", "full(4, 5"),
                                          encoding="utf-8")
        second = self.shard(2, *words, record="l.json")
        self.refused([first, second], "loader.py' (--data-loader-script) has other content in")

    def test_a_shard_that_was_done_twice_must_agree(self):
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "depends.py", "--iterations", "4"]
        self.variables = {"SCALE": "1"}
        parts = [self.shard(1, *words), self.shard(2, *words), self.shard(2, *words,
                                                                          record="same.json")]
        self.assertIn(self.vernier("merge", *parts, "-o", "fits.json").code, (0, 1))
        self.variables = {"SCALE": "3"}
        parts.append(self.shard(2, *words, record="other.json"))
        self.refused(parts, "hold other results of iteration 2", parts[3])
        for those, code in ((parts[:2], 0), (parts, 3)):
            ended = self.vernier("merge", "--status", *those)
            self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertIn("these parts do not merge: ", ended.err)

    def test_other_options_are_named_with_both_values(self):
        words = [*self.command, "--iterations", "4"]
        first = self.shard(1, *words)
        second = self.shard(2, *words, "--atol", "0.5", record="other.json")
        self.refused([first, second],
                     f"--atol is not given in '{first}' and 0.5 in '{second}'")
        second = self.shard(2, *words[:-1], "6", record="other.json")
        self.refused([first, second], f"--iterations is 4 in '{first}' and 6 in '{second}'")

    def test_parts_of_other_numbers_of_threads_merge_with_mixed_alone(self):
        words = ["run", "--model-runner", "scales.py", "--model-runner", "scales.py",
                 "--iterations", "4", "--input-shapes", "x:[4]"]
        parts = []
        for number, threads in ((1, "1"), (2, "2")):
            self.variables = {"OMP_NUM_THREADS": threads}
            parts.append(self.shard(number, *words))
        self.refused(parts, ", 1 thread in 'r.shard-0001-of-0002.json', and ",
                     ", 2 threads in 'r.shard-0002-of-0002.json' (--mixed takes such parts)")
        for words_of_status, code in (((), 3), (("--mixed",), 0)):
            ended = self.vernier("merge", "--status", *parts, *words_of_status)
            self.assertEqual(ended.code, code, ended.out + ended.err)
        ended = self.vernier("merge", *parts, "-o", "merged.json", "--mixed")
        self.assertIn(ended.code, (0, 1), ended.out + ended.err)
        self.assertIn(", 2 threads", self.path("merged.json").read_text())
        # An option that names the number is the same in all shards.
        words = [*self.command, "--intra-op-threads", "1", "--iterations", "4"]
        parts = []
        for number, threads in ((1, "1"), (2, "2")):
            self.variables = {"OMP_NUM_THREADS": threads}
            parts.append(self.shard(number, *words))
        ended = self.vernier("merge", *parts, "-o", "merged.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_programs_that_were_edited_are_named(self):
        program = self.path("program.sh")
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", f"{program} {{input}} {{output}}",
                 "--iterations", "4"]
        parts = []
        for number in (1, 2):
            program.write_text(f"#!{sys.executable}\n# {number}\n" + PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            parts.append(self.shard(number, *words))
        self.refused(parts, "program.sh' (runner '", "has other content in")

    def test_shards_of_copies_of_a_folder_merge(self):
        top = self.folder
        parts = []
        for number in (1, 2):
            self.folder = top / f"node{number}"
            (self.folder / "in").mkdir(parents=True)
            shutil.copy(top / "m.onnx", self.folder)
            shutil.copy(top / "scales.py", self.folder)
            for path in (top / "in").iterdir():
                shutil.copy(path, self.folder / "in")
            name = self.shard(number, "run", "m.onnx", "--onnxrt", "--model-runner", "scales.py",
                              "--load-inputs", "in")
            parts.append(f"node{number}/{name}")
        self.folder = top
        whole = self.vernier("run", "m.onnx", "--onnxrt", "--model-runner", "scales.py",
                             "--load-inputs", "in", "--reproducible", "--save-record",
                             "whole.json", "--python", sys.executable)
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        ended = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.path("merged.json").read_text(), self.path("whole.json").read_text())

    def test_the_command_of_a_missing_shard_can_be_pasted(self):
        folder = self.path("a folder")
        folder.mkdir()
        self.save_model("a folder/my model.onnx")
        top, self.folder = self.folder, folder
        first = self.shard(1, "run", "my model.onnx", "--onnxrt", "--onnxrt", "--iterations", "4")
        self.folder = top
        ended = self.vernier("merge", f"a folder/{first}", "-o", "merged.json")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        command = re.search(r"to make it: (.*)", ended.err).group(1)
        self.assertIn("a folder' && ", command)
        made = subprocess.run(["bash", "-c", command], cwd="/", capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        ended = self.vernier("merge", f"a folder/{first}", f"a folder/{first.replace('1-', '2-')}",
                             "-o", "merged.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_names_of_a_shard_that_a_launcher_started(self):
        self.variables = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "1",
                          "SLURM_ARRAY_TASK_MAX": "4", "SLURM_ARRAY_TASK_COUNT": "4"}
        ended = self.vernier(*self.command, "--iterations", "4", "--shard", "auto", "--save-record",
                             "r.json", "--log-file", "logs/run.log")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out, r"repro: .* --shard 2/4 ")
        self.assertEqual(os.listdir(self.path("logs")), ["run.shard-0002-of-0004.log"])

    def test_an_array_that_is_no_range_is_refused(self):
        for variables, said in (
                ({"TASK_ID": "3", "TASK_MIN": "3", "TASK_MAX": "3", "TASK_COUNT": "1"},
                 "may be one of a larger array"),
                ({"TASK_ID": "3", "TASK_MIN": "1", "TASK_MAX": "5", "TASK_COUNT": "3"},
                 "has 3 tasks between 1 and 5 that are no range")):
            self.variables = {f"SLURM_ARRAY_{name}": value for name, value in variables.items()}
            ended = self.vernier(*self.command, "--shard", "auto", "--save-record", "r.json")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(said, ended.err)
            self.assertIn("or give --shard K/N", ended.err)

    def test_one_process_alone_is_said_to_be_all(self):
        self.variables = {"RANK": "0", "WORLD_SIZE": "1"}
        ended = self.vernier(*self.command, "--shard", "auto", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--shard auto: 1/1, from torchrun, which has started this process alone",
                      ended.out + ended.err)


class JoinedOutputs(PartsCase):
    def setUp(self):
        super().setUp()
        words = [*self.command, "--iterations", "7"]
        self.outputs = [f"o.shard-000{i}-of-0003.npz" for i in (1, 2, 3)]
        for number in (1, 2, 3):
            self.shard(number, *words, "--save-outputs", "o.npz", count=3)
        self.words = words

    def join(self, *files):
        return self.vernier("data", "concat", *files, "-o", "joined.npz")

    def test_joined_outputs_are_those_of_one_process(self):
        whole = self.vernier(*self.words, "--save-outputs", "whole.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        other = self.vernier(*self.words, "--seed", "5", "--save-outputs", "other.npz")
        self.assertEqual(other.code, 0, other.out + other.err)
        ended = self.join(*self.outputs)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        with np.load(self.path("whole.npz")) as expected, \
                np.load(self.path("joined.npz")) as joined:
            ours = [joined[name] for name in sorted(joined.files) if name.endswith("/y")]
            theirs = [expected[name] for name in sorted(expected.files) if name.endswith("/y")]
            self.assertEqual(len(ours), 14)
            for a, b in zip(ours, theirs):
                np.testing.assert_array_equal(a, b)
        # They still know what they were made from.
        ended = self.vernier("compare", "joined.npz", "other.npz")
        self.assertIn("made from other inputs", ended.out + ended.err)

    def test_what_is_missing_double_or_in_disorder_is_refused(self):
        one, two, three = self.outputs
        for files, said in (((one, three), "shard 2 of 3 of 'o.npz' is missing before"),
                            ((one, two), "shard 3 of 3 of 'o.npz' is missing"),
                            ((one, two, two, three), "is shard 2 of 3 again"),
                            ((two, one, three), "is shard 2 of 3 and stands before shard 1")):
            ended = self.join(*files)
            self.assertEqual(ended.code, 2, (files, ended.out + ended.err))
            self.assertIn(said, ended.err)
            self.assertFalse(self.path("joined.npz").exists())

    def test_shards_without_iterations_and_of_batches_are_joined(self):
        self.save_model("free.onnx", shape=("n", 4))
        run = ["run", "free.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[1,4]",
               "--iterations", "7"]
        for more, count, form in (((), 9, "npz"), ((), 9, "json"), ((), 9, "safetensors"),
                                  (("--batch-feeds", "3"), 4, "npz"), ((), 9, "")):
            stem = f"w{form}{len(more)}"
            dot = f".{form}" if form else ""
            self.assertEqual(self.vernier(*run, *more, "--save-outputs", f"{stem}.npz",
                                          "--save-inputs", f"{stem}-in.npz").code, 0)
            for number in range(1, count + 1):
                ended = self.vernier(*run, *more, "--shard", f"{number}/{count}", "--shard-exit",
                                     "done", "--save-record", "r.json", "--save-outputs",
                                     f"{stem}o{dot}", "--save-inputs", f"{stem}i{dot}")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
            for kind, whole in (("o", f"{stem}.npz"), ("i", f"{stem}-in.npz")):
                files = [f"{stem}{kind}.shard-{number:04}-of-{count:04}{dot}"
                         for number in range(1, count + 1)]
                ended = self.join(*files)
                self.assertEqual(ended.code, 0, (more, form, ended.out + ended.err))
                with np.load(self.path(whole)) as expected, \
                        np.load(self.path("joined.npz")) as joined:
                    self.assertEqual(len(joined.files), len(expected.files), (kind, form))
                    names = [[name for name in sorted(file.files) if name.endswith(("/x", "/y"))]
                             for file in (joined, expected)]
                    self.assertEqual(len(names[0]), 14 if kind == "o" else 7)
                    for ours, theirs in zip(*names):
                        np.testing.assert_array_equal(joined[ours], expected[theirs])
                # The last file is not there: that it would have been empty is not known.
                ended = self.join(*files[:-1])
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(f"shard {count} of {count} of '{stem}{kind}{dot}' is missing",
                              ended.err)

    def test_a_folder_of_shards_is_read_if_it_is_whole_and_in_order(self):
        self.assertEqual(self.vernier(*self.words, "--save-outputs", "whole.json").code, 0)
        for form in ("json", "npz", "safetensors"):
            with self.subTest(form=form):
                self.read_folders(form)

    def read_folders(self, form):
        for rule, mark in (("contiguous", ""), ("stride", "-stride")):
            for number in (1, 2, 3):
                self.shard(number, *self.words, "--shard-by", rule, "--save-outputs", f"p.{form}",
                           "--save-inputs", f"i.{form}", count=3, record=f"{rule}.json")
            for kind in "pi":
                self.path(f"{form}/{rule}-{kind}").mkdir(parents=True)
                for number in (1, 2, 3):
                    name = f"{kind}.shard-000{number}-of-0003{mark}.{form}"
                    self.path(name).rename(self.path(f"{form}/{rule}-{kind}/{name}"))
        load = [*self.command, "--load-outputs", "whole.json", "--load-inputs"]
        joined = ["data", "concat", f"{form}/stride-i", "-o", f"{form}-i.{form}"]
        for words, said in ((["compare", f"{form}/contiguous-p", "whole.json"], "in 7 iterations"),
                            (["compare", f"{form}/stride-p", "whole.json"], "in 7 iterations"),
                            ([*load, f"{form}/contiguous-i"], "in 7 iterations"),
                            (joined, ""), ([*load, f"{form}-i.{form}"], "in 7 iterations")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(said, ended.out)
        ended = self.vernier(*load, f"{form}/stride-i")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("join them with `vernier data concat` first", ended.err)
        for kind in "pi":
            self.path(f"{form}/contiguous-{kind}/{kind}.shard-0002-of-0003.{form}").unlink()
        folder = f"{form}/contiguous-p"
        for words in (["compare", folder, folder], ["data", "concat", folder, "-o", f"j.{form}"],
                      [*self.command, "--load-inputs", f"{form}/contiguous-i"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, (words, ended.out + ended.err))
            self.assertIn("shard 2 of 3 of ", ended.err)
            self.assertIn("is missing before", ended.err)

    def test_shards_by_their_names_are_read_as_their_folder_is(self):
        whole = self.vernier(*self.words, "--save-outputs", "whole.npz", "--save-inputs", "in.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for rule in ("contiguous", "stride"):
            for number in (1, 2, 3):
                self.shard(number, *self.words, "--shard-by", rule, "--save-inputs",
                           f"{rule}/i.npz", count=3, record="r.json")
        load = [*self.command, "--load-inputs"]
        files = [f"contiguous/i.shard-000{number}-of-0003.npz" for number in (1, 2, 3)]
        for listed in (["contiguous/*"], files):
            ended = self.vernier(*load, *listed, "--load-outputs", "whole.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn("in 7 iterations", ended.out)
        ended = self.vernier(*load, files[1])  # a shard alone is meant
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for listed, said in ((["stride/*"], "join them with `vernier data concat` first"),
                             (files[:2], "shard 3 of 3 of 'contiguous/i.npz' is missing"),
                             ([files[1], files[0], files[2]], "and stands before shard 1")):
            ended = self.vernier(*load, *listed)
            self.assertEqual(ended.code, 2, (listed, ended.out + ended.err))
            self.assertIn(said, ended.err)
        ended = self.vernier("compare", *self.outputs[:2])
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("are shards of one run, and would be compared with each other", ended.err)
        self.path(files[1]).unlink()
        ended = self.vernier(*load, "contiguous/*")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("shard 2 of 3 of 'contiguous/i.npz' is missing before", ended.err)
        ended = self.vernier("data", "show", "contiguous")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("shard 2 of 3 of 'contiguous/i.npz' is missing before", ended.out + ended.err)

    def test_a_folder_with_the_whole_beside_its_shards_is_not_read(self):
        whole = self.vernier(*self.words, "--save-outputs", "all/whole.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for name in self.outputs:
            self.path(name).rename(self.path(f"all/{name}"))
        said = "'all' has 'all/whole.npz' beside files of shards, which would be read with them"
        for words in (["data", "concat", "all", "-o", "j.npz"], ["compare", "all", "all"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, (words, ended.out + ended.err))
            self.assertIn(said, ended.err)
        ended = self.vernier("data", "show", "all")
        self.assertIn(said, ended.out + ended.err)

    def test_a_folder_of_two_forms_is_no_folder_of_shards(self):
        self.path("both").mkdir()
        for name in ("a.npz", "b.safetensors"):
            self.assertEqual(self.vernier(*self.words, "--save-outputs", f"both/{name}").code, 0)
        ended = self.vernier("compare", "both", "both")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("directory 'both' has both '*.npz' and '*.safetensors' files", ended.err)

    def test_shards_by_stride_are_joined_to_the_tensors_of_the_whole(self):
        self.save_model("free.onnx", shape=("n", 4))
        run = ["run", "free.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[1,4]",
               "--iterations", "7"]
        for form in ("npz", "json", "safetensors", ""):
            dot = f".{form}" if form else ""
            for more, count, mark in (((), 3, "-stride"), ((), 9, "-stride"),
                                      (("--batch-feeds", "2"), 2, "-stride-2")):
                stem = f"{form}{count}{len(more)}"
                ended = self.vernier(*run, *more, "--reproducible", "--save-outputs", "o.npz",
                                     "--save-inputs", "i.npz")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                for number in range(1, count + 1):
                    self.shard(number, *run, *more, "--shard-exit", "done", "--shard-by", "stride",
                               "--save-outputs", f"po{stem}{dot}",
                               "--save-inputs", f"pi{stem}{dot}", count=count, record="r.json")
                for kind in "oi":
                    files = [f"p{kind}{stem}.shard-{number:04}-of-{count:04}{mark}{dot}"
                             for number in range(1, count + 1)]
                    ended = self.join(*files)
                    self.assertEqual(ended.code, 0, ended.out + ended.err)
                    self.same_tensors("joined.npz", f"{kind}.npz")

    def same_tensors(self, joined, whole):
        with np.load(self.path(joined)) as ours, np.load(self.path(whole)) as theirs:
            names = [name for name in theirs.files if name.endswith(("/x", "/y"))]
            self.assertEqual(len(names), 14 if whole == "o.npz" else 7)
            self.assertEqual(sorted(ours.files), sorted(theirs.files))
            for name in names:
                self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)

    def test_a_shard_by_stride_that_is_short_is_no_part_of_the_whole(self):
        for number in (1, 2):
            self.shard(number, *self.words, "--shard-by", "stride", "--save-outputs", "s.npz",
                       record="s.json")
        one, two = "s.shard-0001-of-0002-stride.npz", "s.shard-0002-of-0002-stride.npz"
        ended = self.vernier("data", "select", two, "--iterations", "0-1", "-o", "short.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.path("short.npz").rename(self.path(two))
        ended = self.join(one, two)
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn(f"'{one}' has 4 iterations, and shard 1 of 2 by stride has 3 of 6", ended.err)
        self.path("alone").mkdir()
        self.path(one).rename(self.path(f"alone/{one}"))
        self.path(two).rename(self.path(f"alone/{two}"))
        ended = self.vernier("compare", "alone", "alone")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("a shard has not saved all of its share", ended.err)


class Page(unittest.TestCase):
    def test_the_page_names_all_that_is_refused_with_shard(self):
        source = (ROOT / "src/session/plan_shard.cc").read_text(encoding="utf-8")
        table = source.split("conflicts[] = {")[1].split("};")[0]
        known = set(re.findall(r'"(--[a-z-]+)', table))
        self.assertGreater(len(known), 10)
        page = (ROOT / "docs/how-to/many-machines.md").read_text(encoding="utf-8")
        section = page.split("## What cannot be divided")[1].split("\n## ")[0]
        rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")][1:]
        listed = {flag for row in rows if not row.strip().startswith("pictures")
                  for flag in re.findall(r"`(--[a-z-]+)", row)}
        self.assertEqual(listed, known)
        for path in sorted((ROOT / "src").rglob("*.cc")):
            for what in re.findall(r'"--shard cannot go with ([^":]+)',
                                   path.read_text(encoding="utf-8")):
                self.assertIn(what.split(" of ")[0].strip(), section.replace("`", ""), path.name)


if __name__ == "__main__":
    unittest.main()
