"""Where parts come from: other builds, packages and modules do not merge in silence; hosts and
times of shards are kept apart, and reports of a shard say which it is."""

import json
import pathlib
import shutil
import socket
import unittest

import numpy as np

from parts_case import PartsCase
from program import VERNIER, ramp

# What it computes with is found by way of folders of its own.
IMPORTS = """
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "lib"), os.path.join(here, "env", "site-packages")]
import factor
import scaling

def load(path):
    return lambda feed: {"y": feed["x"] * float(factor.FACTOR)}
"""


class PartOrigins(PartsCase):
    def setUp(self):
        super().setUp()
        for folder in ("lib", "env/site-packages"):
            self.path(folder).mkdir(parents=True)
        self.path("imports.py").write_text(IMPORTS, encoding="utf-8")
        self.save_module("lib/factor.py", "FACTOR = 1")
        self.save_module("env/site-packages/scaling.py", "__version__ = '1.5'")
        self.scripted = ["run", "m.onnx", "--onnxrt", "--model-runner", "imports.py",
                         "--iterations", "4"]

    def save_module(self, path, text):
        self.path(path).write_text(text + "\n", encoding="utf-8")

    def merged(self, parts, *words, code=0):
        ended = self.vernier("merge", *parts, "-o", "merged.json", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return json.loads(self.path("merged.json").read_text(encoding="utf-8"))

    def test_modules_from_any_folder_must_be_the_same(self):
        first = self.shard(1, *self.scripted)
        self.save_module("lib/factor.py", "FACTOR = 3")
        second = self.shard(2, *self.scripted)
        self.refused([first, second], "the Python module 'factor', which a script imports, has "
                     f"other content in '{second}' than in '{first}'")
        ended = self.vernier("merge", first, second, "-o", "merged.json", "--mixed")
        self.assertEqual(ended.code, 3, ended.out + ended.err)

    def test_code_that_is_run_without_being_imported_must_be_the_same(self):
        ways = {"loads": "import importlib.util as u\nspec = u.spec_from_file_location('k', FILE)\n"
                         "k = u.module_from_spec(spec)\nspec.loader.exec_module(k)\n",
                "execs": "import types\nk = types.SimpleNamespace()\n"
                         "exec(open(FILE).read(), k.__dict__)\n"}
        for name, code in ways.items():
            self.path(f"{name}.py").write_text(
                "import os\nFILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib', "
                f"'factor.py')\n{code}"
                "load = lambda path: lambda feed: {'y': feed['x'] * float(k.FACTOR)}\n",
                encoding="utf-8")
            words = [*self.scripted, "--model-runner", f"{name}.py"]
            words.remove("imports.py")
            words.remove("--model-runner")
            self.save_module("lib/factor.py", "FACTOR = 1")
            first = self.shard(1, *words)
            same = self.shard(2, *words)
            self.merged([first, same])
            self.path("merged.json").unlink()
            self.save_module("lib/factor.py", "FACTOR = 3")
            second = self.shard(2, *words)
            self.refused([first, second], "the Python module 'factor.py', which a script imports, "
                         f"has other content in '{second}' than in '{first}'")

    def test_other_versions_of_packages_merge_with_mixed_alone(self):
        parts = [self.shard(1, *self.scripted), self.shard(2, *self.scripted)]
        self.assertEqual(self.merged(parts)["notes"], [])
        self.path("merged.json").unlink()
        self.save_module("env/site-packages/scaling.py", "__version__ = '2.0'")
        parts[1] = self.shard(2, *self.scripted)
        what = "the Python package 'scaling' was 1.5 in {}, and 2.0 in {}"
        self.refused(parts, what.format(f"'{parts[0]}'", f"'{parts[1]}'") +
                     " (--mixed takes such parts)")
        self.assertEqual(self.merged(parts, "--mixed")["notes"],
                         ["--mixed: " + what.format("shard 1", "shard 2")])

    def test_what_mixed_notes_does_not_depend_on_what_was_merged_first(self):
        parts = []
        for number, threads, version in ((1, 1, "1.5"), (2, 2, "2.0"), (3, 1, "2.0"),
                                         (4, 3, "1.5")):
            self.variables = {"OMP_NUM_THREADS": str(threads)}
            self.save_module("env/site-packages/scaling.py", f"__version__ = '{version}'")
            parts.append(self.shard(number, *self.scripted, count=4))
        direct = self.merged(parts, "--mixed", "--reproducible")
        notes = [note for note in direct["notes"] if note.startswith("--mixed: ")]
        self.assertEqual(notes[-1], "--mixed: the Python package 'scaling' was 1.5 in shard 1, and "
                         "2.0 in shard 2")
        self.assertTrue(any("3 threads in shard 4" in note for note in notes), notes)
        for some, others in (((0, 1), (2, 3)), ((1, 3), (0, 2)), ((3, 2, 1), (0,))):
            ended = self.vernier("merge", *(parts[i] for i in some), "--mixed", "--partial", "-o",
                                 "some.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            grouped = self.merged(["some.json", *(parts[i] for i in others)], "--mixed",
                                  "--reproducible")
            self.assertEqual(grouped, direct, some)

    def test_a_module_that_one_shard_alone_has_imported_is_no_difference(self):
        text = self.path("imports.py").read_text(encoding="utf-8")
        self.path("imports.py").write_text(
            text.replace("import scaling\n", "") +
            "\nif os.environ.get('MORE'):\n    import scaling\n", encoding="utf-8")
        first = self.shard(1, *self.scripted)
        self.variables = {"MORE": "1"}
        self.merged([first, self.shard(2, *self.scripted)])

    def other_build(self):
        """A copy of the program that the linker gave another identity."""
        program = pathlib.Path(shutil.copy(VERNIER, self.path("other-build")))
        content = bytearray(program.read_bytes())
        note = content.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
        self.assertGreater(note, 0, "the program has no build ID")
        content[note + 16] ^= 0xFF
        program.write_bytes(content)
        return program

    def test_parts_of_other_builds_merge_with_mixed_alone(self):
        for name in ("a", "b"):
            self.save_runs(f"{name}.json", [(name.upper(), ramp(4))])
        words = ["compare", "a.json", "b.json", "--save-record", "r.json", "--shard"]
        for program, shard in ((VERNIER, "1/2"), (self.other_build(), "2/2")):
            ended = self.start(program, [*words, shard])
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        parts = ["r.shard-0001-of-0002.json", "r.shard-0002-of-0002.json"]
        self.refused(parts, "was one build of it in", "and another in 'r.shard-0002-of-0002.json'",
                     "(--mixed takes such parts)")
        [note] = self.merged(parts, "--mixed")["notes"]
        self.assertIn("--mixed: vernier", note)
        # The part of both does not forget it.
        ended = self.vernier("merge", *parts, "--mixed", "--partial", "-o", "both.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.path("merged.json").unlink()
        self.refused(["both.json"], "in 'both.json'", "(--mixed takes such parts)")
        self.assertEqual(self.merged(["both.json"], "--mixed")["notes"], [note])
        ended = self.start(self.path("other-build"), [*words, "1/2"])
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier("merge", *parts, "-o", "merged.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("was written by another build of vernier", ended.out + ended.err)

    def test_hosts_and_times_are_kept_for_each_shard(self):
        words = [*self.command, "--iterations", "5"]
        parts = [self.shard(number, *words, count=3) for number in (1, 2, 3)]
        grouped = self.vernier("merge", parts[2], parts[0], "--partial", "-o", "some.json")
        self.assertEqual(grouped.code, 0, grouped.out + grouped.err)
        for given in (parts, ["some.json", parts[1]]):
            shards = self.merged(given)["shards"]
            self.assertEqual([shard["number"] for shard in shards], [1, 2, 3])
            self.assertEqual({shard["host"] for shard in shards}, {socket.gethostname()})
            self.assertEqual(len({shard["process"] for shard in shards}), 3)
            for shard in shards:
                self.assertRegex(shard["started"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                self.assertGreater(shard["seconds"], 0)
                self.assertEqual(len(shard["runners"]), 2)
                self.assertGreater(shard["runners"][0]["latency_seconds"]["median"], 0)
        shards = self.merged([*parts, "some.json"])["shards"]  # copies count once
        self.assertEqual([shard["number"] for shard in shards], [1, 2, 3])
        self.assertNotIn("shards", self.merged(parts, "--reproducible"))

    def test_reports_of_a_shard_say_which_it_is(self):
        self.shard(2, *self.command, "--iterations", "5", "--report", "r.md")
        ended = self.vernier(*self.command, "--iterations", "5", "--shard", "2/3",
                             "--save-record", "r.json", "--report", "r.html")
        self.assertIn("\nshard 2 of 3: these are its own iterations", ended.out)
        heading = self.path("r.shard-0002-of-0002.md").read_text(encoding="utf-8").splitlines()[0]
        self.assertIn("Shard 2 of 2", heading)
        self.assertIn("Shard 2 of 3", self.path("r.shard-0002-of-0003.html").read_text(
            encoding="utf-8"))
        whole = self.vernier(*self.command, "--iterations", "5", "--report", "w.md")
        self.assertNotIn("hard ", self.path("w.md").read_text(encoding="utf-8").splitlines()[0],
                         whole.out)

    def test_quantiles_are_those_of_all_iterations(self):
        rng = np.random.default_rng(8)
        for name, scale in (("a", 0), ("b", 1e-3)):
            self.save_runs(f"{name}.json", [
                (name.upper(), [{"y": np.full(6, i, np.float64) +
                                 scale * rng.normal(size=6)} for i in range(37)])])
        words = ["compare", "a.json", "b.json", "--compare", "simple", "l2"]
        self.vernier(*words, "--save-rows", "rows.npz", "--reproducible", "--save-record",
                     "whole.json")
        rows = np.load(self.path("rows.npz"))
        parts = [self.shard(number, *words, count=4) for number in (1, 2, 3, 4)]
        record = self.merged(parts, "--reproducible", code=1)
        self.assertEqual(record, json.loads(self.path("whole.json").read_text(encoding="utf-8")))
        quantiles = {found["statistic"]: found
                     for found in record["pairs"][0]["outputs"][0]["quantiles"]}
        self.assertEqual(set(quantiles), {"max_absolute_error", "max_relative_error",
                                          "mean_absolute_error", "l2"})
        for statistic, found in quantiles.items():
            values = rows[f"y/{statistic}"]
            self.assertEqual((found["iterations"], found["nan"]), (37, 0))
            for name, share in (("p1", 0.01), ("p5", 0.05), ("median", 0.5), ("p95", 0.95),
                                ("p99", 0.99)):
                self.assertEqual(found[name], np.quantile(values, share), (statistic, name))

    def test_quantiles_of_elements_are_those_of_all_iterations(self):
        rng = np.random.default_rng(9)
        runs = {"a": [], "b": []}
        for i in range(23):
            one = rng.normal(size=4000)
            other = one + 1e-3 * rng.normal(size=4000)
            if i == 7:
                one[:3], other[:3] = (np.nan, 1, 0), (1, np.inf, 0)
            runs["a"].append(one)
            runs["b"].append(other)
        for name, arrays in runs.items():
            self.save_runs(f"{name}.json", [(name.upper(), [
                {"y": array, "z": array[:40].astype(np.float32)}
                for array in arrays])])
        words = ["compare", "a.json", "b.json", "--check-error-stat", "z:median", "z:quantile"]
        self.expect_element_quantiles(words, runs, "z", 40, np.float32, 4)
        # More different ones than are kept: a little too small, whoever counts them.
        words = [*words, "y:mean", "y:median"]
        rounded = self.expect_element_quantiles(words, runs, "y", 4000, np.float64, 3)
        self.assertIn("output 'y': quantiles over all elements may be too small by up to",
                      " ".join(rounded["notes"]))

    def expect_element_quantiles(self, words, runs, output, size, dtype, count):
        self.vernier(*words, "--reproducible", "--save-record", "whole.json")
        parts = [self.shard(number, *words, count=count) for number in range(1, count + 1)]
        grouped = self.vernier("merge", parts[1], parts[0], "--partial", "-o", "some.json")
        self.assertEqual(grouped.code, 0, grouped.out + grouped.err)
        whole = json.loads(self.path("whole.json").read_text(encoding="utf-8"))
        for given in (parts[::-1], ["some.json", *parts[1:]]):
            self.assertEqual(self.merged(given, "--reproducible", code=1), whole)
        outputs = {one["name"]: one for one in whole["pairs"][0]["outputs"]}
        found = {one["statistic"]: one for one in outputs[output]["quantiles"]
                 if "elements" in one}
        self.assertEqual(set(found), {"absolute_error", "relative_error"})
        with np.errstate(all="ignore"):
            one, other = (np.stack([array[:size].astype(dtype) for array in runs[name]])
                          for name in ("a", "b"))
            errors = np.abs(one - other).astype(np.float64).ravel()
        errors = errors[~np.isnan(errors)]
        self.assertEqual(found["absolute_error"]["elements"], errors.size)
        self.assertEqual(found["absolute_error"]["nan"], 23 * size - errors.size)
        for name, share in (("p1", 0.01), ("p5", 0.05), ("median", 0.5), ("p95", 0.95),
                            ("p99", 0.99)):
            exact, value = np.quantile(errors, share), found["absolute_error"][name]
            if size == 40:
                self.assertEqual(value, exact, name)
            else:
                self.assertLessEqual(value, exact, name)
                self.assertGreater(value, exact * 0.998, name)
        return whole


if __name__ == "__main__":
    unittest.main()
