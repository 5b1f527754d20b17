"""vernier data concat, merge, convert and show, held against the peer's tools and its loaders."""

import contextlib
import io
import json
import resource
import signal
import subprocess
import time
import unittest

import numpy as np
import onnx
import onnx.numpy_helper
from polygraphy.comparator import RunResults
from polygraphy.json import load_json

from program import VERNIER, Case, ramp, same_tensors


def small_files_only():
    """Writing fails beyond 60 KB, as it does on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


def load_runs(path):
    """{runner: [iteration]} and the names inside iterations, as the peer reads a file."""
    with contextlib.redirect_stdout(io.StringIO()):
        return RunResults.load(str(path))


def load_feeds(path):
    return load_json(str(path))


class DataCase(Case):
    def does(self, *words, code=0):
        ended = self.vernier("data", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def same_runs(self, ours, theirs):
        self.assertEqual(list(ours.keys()), list(theirs.keys()))
        for name, iterations in theirs.items():
            self.assertEqual(len(ours[name]), len(iterations))
            for a, b in zip(ours[name], iterations):
                self.assertEqual((a.runner_name, a.runtime), (b.runner_name, b.runtime))
                same_tensors(self, dict(a.items()), dict(b.items()))

    def same_feeds(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        for a, b in zip(ours, theirs):
            same_tensors(self, a, b)

    def refuses(self, code, text, *words):
        """An error of one line, and no file."""
        before = sorted(path.name for path in self.folder.iterdir())
        said = self.does(*words, code=code)
        self.assertIn(text, said)
        self.assertEqual(len([line for line in said.splitlines() if "[!]" in line]), 1, said)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)


class Concat(DataCase):
    def against_the_peer(self, *paths):
        theirs = self.peer("data", "concat", *paths, "-o", "theirs.json")
        ours = self.lenient("data", "concat", *paths, "-o", "ours.json")
        self.assertEqual((theirs.code, ours.code), (0, 0), theirs.err + ours.err)
        self.assertEqual([line.replace("ours.json", "theirs.json") for line in ours.lines()],
                         theirs.lines())

    def test_outputs_are_joined_by_runner(self):
        self.save_runs("a.json", [("A", ramp(2)), ("B", ramp(1, 5))])
        self.save_runs("b.json", [("B", ramp(3, 7)), ("C", ramp(1))])
        self.against_the_peer("a.json", "b.json")
        self.same_runs(load_runs(self.path("ours.json")), load_runs(self.path("theirs.json")))
        self.assertEqual(len(load_runs(self.path("ours.json"))["B"]), 4)

    def test_runners_of_one_name_in_a_file_become_one(self):
        self.save_runs("a.json", [("A", ramp(1)), ("A", ramp(2, 3))])
        self.against_the_peer("a.json")
        self.same_runs(load_runs(self.path("ours.json")), load_runs(self.path("theirs.json")))

    def test_inputs(self):
        self.save_feeds("a.json", ramp(2))
        self.save_feeds("b.json", [{"x": np.arange(3.0)}])  # other names: a warning
        self.against_the_peer("a.json", "b.json", "a.json")
        self.same_feeds(load_feeds(self.path("ours.json")), load_feeds(self.path("theirs.json")))
        self.assertEqual(len(load_feeds(self.path("ours.json"))), 5)

    def test_inputs_and_outputs_do_not_mix(self):
        self.save_feeds("in.json", ramp(1))
        self.save_runs("out.json", [("A", ramp(1))])
        for paths in (["in.json", "out.json"], ["out.json", "in.json"]):
            theirs = self.peer("data", "concat", *paths, "-o", "x.json")
            self.assertEqual(theirs.code, 1)
            self.refuses(2, theirs.lines()[0], "concat", *paths, "-o", "x.json")

    def test_a_path_without_extension_is_a_file(self):
        self.save_feeds("a.json", ramp(2))
        self.does("concat", "a.json", "-o", "joined")
        self.same_feeds(load_feeds(self.path("joined")), ramp(2))

    def test_other_formats(self):
        self.save_runs("a.json", [("A", ramp(2))])
        self.does("concat", "a.json", "-o", "a.npz")
        self.does("concat", "a.npz", "a.json", "-o", "b.safetensors")
        self.does("concat", "b.safetensors", "-o", "back.json")
        self.same_runs(load_runs(self.path("back.json")),
                       RunResults([("A", list(load_runs(self.path("a.json"))["A"]) * 2)]))

    def test_bad_command_lines_and_files(self):
        self.save_runs("a.json", [("A", ramp(1))])
        for words in (["a.json"], ["-o", "x.json"], []):
            theirs = self.peer("data", "concat", *words)
            ours = self.lenient("data", "concat", *words)
            self.assertEqual((ours.code, theirs.code), (2, 2))
            self.assertEqual(ours.err.splitlines()[-1].split("error: ")[1],
                             theirs.err.splitlines()[-1].split("error: ")[1])
        self.refuses(3, "'nosuch.json'", "concat", "a.json", "nosuch.json", "-o", "x.json")
        self.path("cut.json").write_bytes(self.path("a.json").read_bytes()[:600])
        self.refuses(3, "cut.json", "concat", "a.json", "cut.json", "-o", "x.json")
        before = self.path("a.json").read_bytes()
        self.refuses(2, "name another file", "concat", "a.json", "-o", "a.json")
        self.refuses(2, "name another file", "concat", "a.json", "-o", "./a.json")
        self.assertEqual(self.path("a.json").read_bytes(), before)
        self.refuses(7, "nowhere", "concat", "a.json", "-o", "/dev/null/nowhere.json")


class Unfinished(DataCase):
    """What ends early leaves neither half a file nor parts of one."""

    def test_a_damaged_iteration(self):
        self.save_runs("a.json", [("A", ramp(40))])
        text = self.path("a.json").read_text()
        last = text.rindex('"array": "') + 40
        self.path("bad.json").write_text(text[:last] + "!" + text[last + 1:])
        for command in ("concat", "convert", "merge"):
            for name in ("out.json", "out.npz"):
                self.refuses(3, "bad.json", command, "bad.json", "-o", name)

    def test_an_interrupt(self):
        many = np.zeros((200, 500), np.float32)
        self.save_runs("a.json", [("A", [{"y": many}] * 40)])
        self.path("out.json").write_text("old")
        before = sorted(path.name for path in self.folder.iterdir())
        process = subprocess.Popen([VERNIER, "data", "concat", *["a.json"] * 200, "-o",
                                    "out.json"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        partial = self.path("out.json.partial")
        end = time.monotonic() + 60
        while not partial.exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted", said)
        self.assertEqual(self.path("out.json").read_text(), "old")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)


class Merge(DataCase):
    def test_one_iteration_is_as_the_peers(self):
        self.save_runs("out.json", [("A", [{"h": np.arange(4.0), "x": np.zeros(2)}])])
        self.save_feeds("in.json", [{"x": np.ones(2), "mask": np.array([True, False])}])
        theirs = self.peer("data", "merge", "in.json", "out.json", "-o", "theirs.json")
        ours = self.lenient("data", "merge", "in.json", "out.json", "-o", "ours.json")
        self.assertEqual((theirs.code, ours.code), (0, 0))
        self.assertEqual([line.replace("ours.json", "theirs.json") for line in ours.lines()],
                         theirs.lines())
        self.assertIn("Overwriting input 'x'", ours.out)
        self.same_feeds(load_feeds(self.path("ours.json")), load_feeds(self.path("theirs.json")))

    # Polygraphy makes all iterations the last one (one dictionary under several names).
    def test_several_iterations_stay_apart(self):
        self.save_runs("out.json", [("A", ramp(3))])
        self.save_feeds("in.json", [{"x": np.full(2, i)} for i in range(3)])
        for name in ("merge", "to-input"):
            said = self.does(name, "in.json", "out.json", "-o", f"{name}.json")
            self.assertNotIn("[W]", said)
            self.assertIn("Saving input file containing 3 iteration(s)", said)
            expected = [{"x": np.full(2, i), **outputs} for i, outputs in enumerate(ramp(3))]
            self.same_feeds(load_feeds(self.path(f"{name}.json")), expected)

    def test_fewer_iterations_are_warned_of(self):
        self.save_feeds("a.json", [{"x": np.zeros(1)}] * 2)
        self.save_feeds("b.json", [{"y": np.zeros(1)}] * 3)
        said = self.does("merge", "a.json", "b.json", "-o", "c.json")
        self.assertIn("[W] The provided files have different numbers of iterations.", said)
        self.assertEqual([list(feed) for feed in load_feeds(self.path("c.json"))],
                         [["x", "y"], ["x", "y"], ["y"]])

    def test_what_was_merged_is_an_input(self):
        self.save_runs("out.json", [("A", ramp(2))])
        self.does("merge", "out.json", "-o", "in.npz")
        self.does("convert", "in.npz", "-o", "in.json")
        self.same_feeds(load_feeds(self.path("in.json")), ramp(2))


ARRAYS = {
    "f32": np.array([[1, -2.5], [np.nan, np.inf]], np.float32),
    "f16": np.arange(3, dtype=np.float16),
    "f64": np.array(3.25),
    "i8": np.array([-128, 127], np.int8),
    "u64": np.array([2**64 - 1], np.uint64),
    "flag": np.array([True, False]),
    "none": np.zeros((0, 3), np.int32),
}


class Convert(DataCase):
    def test_outputs_through_every_format(self):
        self.save_runs("a.json", [("A", [ARRAYS, ARRAYS]), ("b/é", [ARRAYS])])
        self.does("convert", "a.json", "-o", "a.npz")
        self.does("convert", "a.npz", "-o", "a.safetensors")
        self.does("convert", "a.safetensors", "-o", "folder")
        self.assertEqual(len(list(self.path("folder").glob("*.json"))), 2)
        self.does("convert", "folder", "-o", "back.json")
        self.same_runs(load_runs(self.path("back.json")), load_runs(self.path("a.json")))

    def test_inputs_through_every_format(self):
        self.save_feeds("a.json", [ARRAYS, {"x": np.arange(4)}])
        self.does("convert", "a.json", "-o", "a.safetensors")
        self.does("convert", "a.safetensors", "-o", "a.npz")
        self.does("convert", "a.npz", "-o", "folder")
        self.does("convert", "folder", "-o", "back.json")
        self.same_feeds(load_feeds(self.path("back.json")), load_feeds(self.path("a.json")))

    def test_an_archive_of_another_program(self):
        np.savez_compressed(self.path("plain.npz"), **ARRAYS)
        self.does("convert", "plain.npz", "-o", "in.json")
        self.same_feeds(load_feeds(self.path("in.json")), [ARRAYS])
        self.does("convert", "plain.npz", "-o", "out.json", "--as", "outputs", "--runner", "gold")
        runs = load_runs(self.path("out.json"))
        self.assertEqual(list(runs.keys()), ["gold"])
        self.assertEqual(runs["gold"][0].runner_name, "gold")
        same_tensors(self, dict(runs["gold"][0].items()), ARRAYS)

    def test_one_runner_of_several(self):
        self.save_runs("two.json", [("A", ramp(2)), ("B", ramp(2, 1))])
        self.does("convert", "two.json", "-o", "b.json", "--runner", "B")
        self.assertEqual(list(load_runs(self.path("b.json")).keys()), ["B"])
        self.does("convert", "two.json", "-o", "in.json", "--runner", "B", "--as", "inputs")
        self.same_feeds(load_feeds(self.path("in.json")), ramp(2, 1))
        self.refuses(2, "there are ['A', 'B']", "convert", "two.json", "-o", "x.json", "--runner",
                     "C")
        self.refuses(2, "name the one", "convert", "two.json", "-o", "x.json", "--as", "inputs")

    def test_one_tensor_to_npy(self):
        self.save_feeds("one.json", [{"x": ARRAYS["f32"]}])
        self.does("convert", "one.json", "-o", "x.npy")
        np.testing.assert_array_equal(np.load(self.path("x.npy")), ARRAYS["f32"])
        self.save_feeds("more.json", ramp(1))
        self.refuses(2, "one tensor", "convert", "more.json", "-o", "y.npy")

    def test_onnx_test_data_and_back(self):
        self.save_runs("a.json", [("A", [ARRAYS, ARRAYS])])
        self.does("convert", "a.json", "-o", "model", "--format", "pb")
        self.save_feeds("in.json", ramp(2))
        self.does("convert", "in.json", "-o", "model", "--format", "pb")
        for i in range(2):
            files = sorted(self.path(f"model/test_data_set_{i}").glob("output_*.pb"))
            found = {}
            for file in files:
                tensor = onnx.TensorProto.FromString(file.read_bytes())
                found[tensor.name] = onnx.numpy_helper.to_array(tensor)
            same_tensors(self, found, ARRAYS)
        self.does("convert", "model", "-o", "back.json")
        self.same_feeds(load_feeds(self.path("back.json")), ramp(2))
        self.does("convert", "model", "-o", "out.json", "--as", "outputs", "--runner", "A")
        same_tensors(self, dict(load_runs(self.path("out.json"))["A"][1].items()), ARRAYS)

    def test_a_named_format_beats_the_extension(self):
        self.save_feeds("a.json", ramp(1))
        self.does("convert", "a.json", "-o", "a.bin", "--format", "npz")
        with np.load(self.path("a.bin")) as archive:
            self.assertEqual(archive["0000000000/count"].tolist(), [0, 1, 2])

    def test_refusals(self):
        self.save_feeds("a.json", ramp(1))
        self.refuses(3, "'nosuch'", "convert", "nosuch", "-o", "x.json")
        self.refuses(2, "name another file", "convert", "a.json", "-o", "a.json")
        self.path("full").mkdir()
        self.path("full/0000000000.json").write_text("{}")
        self.refuses(7, "full", "convert", "a.json", "-o", "full")


# Polygraphy rounds or overflows statistics of half and small integers (docs/differences.md).
LIKE_THE_PEERS = {name: ARRAYS[name] for name in ("f32", "f64", "flag", "none")}


class InspectData(DataCase):
    """Every line that the peer's `inspect data` prints."""

    def setUp(self):
        super().setUp()
        long = np.arange(3000, dtype=np.float32).reshape(30, 100)
        self.save_runs("runs.json", [("first", [{"y": long, **LIKE_THE_PEERS}] * 2), ("b", ramp(1))])
        self.save_feeds("feeds.json", ramp(3))
        self.save_feeds("scalar.json", [{"s": np.array(2.0), "e": np.zeros((0, 2))}])

    def check(self, *words):
        theirs = self.peer("inspect", "data", *words)
        ours = self.lenient("inspect", "data", *words)
        self.assertEqual((theirs.code, ours.code), (0, 0), ours.err)
        expected = [line for line in theirs.lines() if "Loading input data from" not in line]
        self.assertGreater(len(expected), 2)
        self.assertEqual(ours.lines(), expected)

    def test_runs(self):
        self.check("runs.json")

    def test_all_runs_with_values(self):
        self.check("runs.json", "-a", "-s")

    def test_histograms_and_more_values(self):
        self.check("runs.json", "--histogram", "-s", "-n", "5", "--line-width", "120")

    def test_no_limits(self):
        self.check("runs.json", "-s", "-n", "-1", "--line-width", "-1")

    def test_inputs(self):
        self.check("feeds.json", "--all")
        self.check("scalar.json", "-s", "--histogram")

    def test_a_folder(self):
        self.path("folder").mkdir()
        for i, feed in enumerate(ramp(2)):
            self.save_feeds(f"folder/{i:010}.json", [feed])
        self.check("folder", "-a")


class ShowJson(DataCase):
    def test_statistics_of_tensors(self):
        self.save_runs("runs.json", [("first", ramp(2)), ("second", ramp(1))])
        seen = json.loads(self.vernier("inspect", "data", "runs.json", "--format", "json").out)
        self.assertEqual([(run["runner"], run["iteration_count"]) for run in seen],
                         [("first", 2), ("second", 1)])
        shown = seen[0]["iterations"]
        self.assertEqual(len(shown), 1)
        y = {t["name"]: t for t in shown[0]}["y"]
        array = ramp(1)[0]["y"]
        self.assertEqual((y["dtype"], y["shape"]), ("float32", [3, 4]))
        self.assertEqual((y["min"], y["max"], y["mean"]), (array.min(), array.max(), array.mean()))
        seen = json.loads(self.vernier("data", "show", "runs.json", "--all", "--format", "json").out)
        self.assertEqual(len(seen[0]["iterations"]), 2)

    def test_what_is_not_finite_and_inputs(self):
        self.save_feeds("feeds.json", [{"s": np.array([np.nan, 1], np.float32),
                                        "e": np.zeros((0, 2), np.float32)}])
        seen = json.loads(self.vernier("inspect", "data", "feeds.json", "--format", "json").out)
        tensors = {t["name"]: t for t in seen[0]["iterations"][0]}
        self.assertIsNone(seen[0]["runner"])
        self.assertEqual((tensors["s"]["mean"], tensors["s"]["nan_count"]), ("nan", 1))
        self.assertEqual(tensors["e"], {"name": "e", "dtype": "float32", "shape": [0, 2]})
        ended = self.vernier("inspect", "data", "feeds.json", "--format", "json", "-s")
        self.assertEqual(ended.code, 2)
        self.assertIn("--format json", ended.err)


class Show(DataCase):
    def test_names_types_and_shapes_of_any_format(self):
        np.savez(self.path("a.npz"), **ramp(1)[0])
        self.assertIn("y [dtype=float32, shape=(3, 4)]\n    count [dtype=int64, shape=(3,)]",
                      self.does("show", "a.npz"))
        self.assertNotIn("Stats", self.does("show", "a.npz"))
        self.assertIn("Stats: mean=6.5", self.does("show", "a.npz", "-v"))

    def test_every_runner(self):
        self.save_runs("a.json", [("A", ramp(2)), ("B", ramp(1))])
        said = self.does("show", "a.json")
        self.assertIn("---- A (2 iterations) ----", said)
        self.assertIn("---- B (1 iteration) ----", said)

    def test_bad_files_and_numbers(self):
        self.save_feeds("a.json", ramp(1))
        self.refuses(3, "'nosuch.json'", "show", "nosuch.json")
        self.refuses(2, "-n: expected -1 or a number >= 1", "show", "a.json", "-n", "0")
        self.path("text.json").write_text("hello")
        self.refuses(3, "text.json", "show", "text.json")

    def test_a_full_disk_is_not_kept_full(self):
        big = [{"y": np.random.default_rng(i).random(2_000)} for i in range(30)]
        self.save_runs("big.json", [("r", big)])
        self.save_feeds("feeds.json", big)
        for source in ("big.json", "feeds.json"):
            before = sorted(path.name for path in self.folder.iterdir())
            ended = subprocess.run(
                [VERNIER, "data", "convert", source, "-o", "out.npz"], cwd=self.folder, text=True,
                capture_output=True, timeout=120,
                preexec_fn=small_files_only)
            self.assertEqual(ended.returncode, 7, ended.stdout + ended.stderr)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)


if __name__ == "__main__":
    unittest.main()
