"""vernier check consistency finds every fault that the fake backend commits, and nothing else."""

import json
import os
import subprocess
import unittest

from fault_run import FAKE_DIR, FaultTest, PATIENCE_S, VERNIER, is_sanitized

# Property, how the fake backend breaks it, and what is said of it.
FAULTS = [
    ("repeated-runs", "lie=wrong iteration=3", "run 4", "output 'x' at (0, 0)"),
    ("fresh-session", "lie=process", "a second process", "output 'x' at (0, 0)"),
    ("identical-rows", "lie=rows", "row 1 of a batch of 2 equal rows", "output 'x'"),
    ("permuted-rows", "lie=rows", "a batch of 2 rows reversed", "output 'x'"),
    ("batch-of-one", "lie=batch", "row 0 of a batch of 2", "output 'x'"),
    ("shape-sweep", "lie=three", "'n' of size 3", "three is too many"),
    ("read-only-inputs", "lie=write_input", "one run", "input 'x' at (0, 0) was written to"),
    ("input-alignment", "lie=misaligned", "inputs that begin 32 bytes after a multiple of 64",
     "output 'x' at (0, 0)"),
    ("input-alignment", "lie=misaligned align=8",
     "inputs that begin 4 bytes after a multiple of 64", "output 'x' at (0, 0)"),
    ("input-alignment", "lie=misaligned align=16",
     "inputs that begin 8 bytes after a multiple of 64", "output 'x' at (0, 0)"),
    ("poisoned-outputs", "lie=unwritten", "one run",
     "output 'x' at (0, 2): 1 of 3 elements still hold what was there before"),
    ("poisoned-outputs", "lie=own_unwritten", "one run, free dimensions of size 3",
     "output 'x' at (2, 2): 1 of 9 elements still hold what was there before"),
    ("uninitialised-memory", "lie=uninitialised", "memory filled with 0x", "output 'x' at (0, 0)"),
    ("later-runs", "lie=wrong iteration=10", "run 5 after all else, free dimensions of size 3",
     "output 'x' at (0, 0)"),
]
# What a sanitizer sees first, or does instead.
NOT_SANITIZED = ("uninitialised-memory",)


class Consistency(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("rows.onnx", ["x"], ["n", 3])

    def check(self, behaviour, *words, model=None):
        record = self.folder / "record.json"
        ended = subprocess.run(
            [VERNIER, "check", "consistency", model or self.model, "--runner", "bad=fake",
             "--backend-dir", FAKE_DIR, "--save-record", record, *words],
            env=dict(os.environ, VERNIER_FAKE=behaviour), capture_output=True, text=True,
            timeout=PATIENCE_S, check=False)
        runner = json.loads(record.read_text())["runners"][0]
        return ended, runner, {p["name"]: p for p in runner["properties"]}

    def test_every_fault_is_found_with_its_smallest_case(self):
        for name, behaviour, case, words in FAULTS:
            if name in NOT_SANITIZED and is_sanitized():
                continue
            with self.subTest(property=name, behaviour=behaviour):
                ended, _, properties = self.check(behaviour, "--only", name)
                self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
                self.assertEqual(properties[name]["verdict"], "broken")
                self.assertIn(case, properties[name]["smallest_case"])
                self.assertIn(words, properties[name]["detail"])
                self.assertIn(f"FAILED | {name} | expected ", ended.stdout + ended.stderr)

    def test_who_differs_from_process_to_process_is_accused_of_that_alone(self):
        ended, _, properties = self.check("lie=process")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(properties["fresh-session"]["verdict"], "broken")
        for name in ("read-only-inputs", "input-alignment", "poisoned-outputs",
                     "uninitialised-memory"):
            self.assertEqual(properties[name]["verdict"], "not applicable")
            self.assertIn("see fresh-session", properties[name]["detail"])
        # What was written to is seen whatever comes out.
        ended, _, properties = self.check("lie=write_input")
        broken = [name for name, p in properties.items() if p["verdict"] == "broken"]
        self.assertEqual(broken, ["read-only-inputs"], ended.stdout + ended.stderr)

    def test_a_clean_backend_holds_everything(self):
        ended, _, properties = self.check("")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        tried = {name: p["verdict"] for name, p in properties.items() if name != "other-settings"}
        # Which it has none of.
        caches = ("permuted-states", "prefill-decode", "padded-sequence", "fresh-sequence")
        for name in caches:
            self.assertEqual(tried.pop(name), "not applicable", name)
        self.assertEqual(set(tried.values()), {"holds"}, tried)
        self.assertEqual(len(tried), 11)

    def test_sizes_whose_outputs_could_be_filled_are_told(self):
        ended, _, properties = self.check("lie=own", "--only", "poisoned-outputs")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(properties["poisoned-outputs"]["verdict"], "holds")
        self.assertIn("; filled for free dimensions of size 3 alone: the other outputs are in memory of "
                      "the runner's own", properties["poisoned-outputs"]["detail"])

    def test_who_writes_into_large_inputs_dies_and_is_told_why(self):
        large = self.write_model("large.onnx", ["x"], [100, 100])
        ended, runner, properties = self.check("lie=write_input", model=large)
        self.assertEqual(ended.returncode, 6, ended.stdout + ended.stderr)
        self.assertIn("died of SIG", runner["failure"])
        self.assertIn("it writes into its input 'x', which is read-only", runner["failure"])
        self.assertEqual(properties, {})

    def test_a_crash_in_unusual_circumstances_is_a_broken_property_and_not_the_end(self):
        # Session 0 of every process: the first inference of the checked one is iteration 0, as are
        # those of the others; iteration 1 is the second run of the first.
        ended, _, properties = self.check("crash=SIGSEGV iteration=1", "--only", "repeated-runs",
                                          "fresh-session")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(properties["repeated-runs"]["verdict"], "broken")
        self.assertIn("died of SIGSEGV", properties["repeated-runs"]["detail"])
        self.assertEqual(properties["fresh-session"]["verdict"], "holds")


if __name__ == "__main__":
    unittest.main()
