"""Parts of shards that do not belong together are refused with a sentence: other files, other
scripts, other options, other results. What shards are called, and how to make one again."""

import json
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

    def test_a_model_that_takes_the_place_of_one_as_large_and_as_old_is_seen(self):
        self.path("swaps.py").write_text(
            "import os\nPUT = {'move': lambda: os.rename('other.onnx', 'm.onnx'),\n"
            "       'copy': lambda: open('m.onnx', 'wb').write(open('other.onnx', 'rb').read())}\n"
            "def load(path):\n    stamp = os.stat('m.onnx')\n    def infer(feed):\n"
            "        if os.path.exists('other.onnx'):\n"
            "            PUT[os.environ['HOW']]()\n"
            "            times = (stamp.st_atime_ns, stamp.st_mtime_ns)\n"
            "            os.utime('m.onnx', ns=times)\n"
            "        return {'y': feed['x']}\n    return infer\n", encoding="utf-8")
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "swaps.py", "--iterations", "2",
                 "--python", sys.executable, "--save-record", "r.json"]
        for how in ("move", "copy"):
            self.variables = {"HOW": how}
            self.save_model("m.onnx")
            self.save_model("other.onnx", op="Tanh")
            ended = self.vernier(*words, "--shard", "1/1")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertRegex(ended.err, r"meanwhile: model '.*m\.onnx' has other content")
            self.assertFalse(list(self.folder.glob("r.*")))
        self.variables = {"HOW": "move"}
        self.save_model("m.onnx")
        self.save_model("other.onnx", op="Tanh")
        said = "m.onnx' was replaced or written to while this run went on"
        for there in (True, False):
            ended = self.vernier(*words)
            self.assertIn(ended.code, (0, 1), ended.out + ended.err)
            noted = [note for note in json.loads(self.path("r.json").read_text()).get("notes", [])
                     if said in note]
            self.assertEqual(len(noted), there, ended.out)
            self.assertEqual(said in ended.out, there, ended.out)
            self.path("other.onnx").unlink(missing_ok=True)

    def test_status_ends_as_merge_does_beside_a_foreign_file(self):
        words = [*self.command, "--iterations", "4"]
        parts = [self.shard(1, *words), self.shard(2, *words)]
        self.path("r.shard-0003-of-0003.json").write_text("{}", encoding="utf-8")
        self.path("r.shard-0002-of-0002.json.partial").write_text("", encoding="utf-8")
        self.refused([*parts, "r.shard-0003-of-0003.json"], "'r.shard-0003-of-0003.json'")
        merged = self.vernier("merge", *parts, "r.shard-0003-of-0003.json", "-o", "m.json")
        ended = self.vernier("merge", "--status", *parts, "r.shard-0003-of-0003.json")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn(merged.err.strip().removeprefix("[!] "), ended.err)
        ended = self.vernier("merge", "--status", *parts, "r.shard-0002-of-0002.json.partial")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

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
        ended = self.vernier("merge", *parts, "-o", "both.json", "--mixed", "--partial")
        self.assertIn(ended.code, (0, 1), ended.out + ended.err)
        self.path("merged.json").unlink()
        self.refused(["both.json"], ", 2 threads in 'both.json' (--mixed takes such parts)")
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
        self.assertIn("--shard auto: 1/1, from torchrun, which started only this process",
                      ended.out + ended.err)


class Page(unittest.TestCase):
    def test_the_page_names_all_that_is_refused_with_shard(self):
        source = (ROOT / "src/session/plan/plan_shard.cc").read_text(encoding="utf-8")
        table = source.split("conflicts[] = {")[1].split("};")[0]
        steps = (ROOT / "src/session/plan/step_flag.h").read_text(encoding="utf-8")
        known = set(re.findall(r'"(--[a-z-]+)', table + steps))
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
