"""vernier check consistency on TorchScript: in the plug-in and in Python, with PyTorch's own settings."""

import json
import os
import subprocess
import unittest

from torch_case import CLEAN, PLACES, PYTHON, TorchCase, VERNIER

PATIENCE_S = 120
SHAPES = ["--input-shapes", "x:[2,6]", "bias:[3]"]
MANY = ["--input-shapes", "x:[1000001]"]


class Consistency(TorchCase):
    def check(self, model, *words, what="consistency", code=0):
        """Exit code and all that was said; the properties by name."""
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        environment.update(CLEAN)
        done = subprocess.run([VERNIER, "check", what, model, "--torch", "--python", PYTHON,
                               "--save-record", "record.json", *words], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, text)
        if code not in (0, 1):
            return text, {}
        runner = json.loads((self.folder / "record.json").read_text())["runners"][0]
        return text, {p["name"]: p for p in runner.get("properties", [])}

    def test_a_network_holds_in_both_places(self):
        for place in PLACES:
            with self.subTest(place=place):
                text, properties = self.check("net.pt", "--torch-in", place, *SHAPES)
                tried = {n for n, p in properties.items() if p["verdict"] == "holds"}
                self.assertEqual(tried, {"repeated-runs", "fresh-session", "identical-rows",
                                         "permuted-rows", "batch-of-one", "other-settings",
                                         "read-only-inputs", "input-alignment",
                                         "uninitialised-memory", "later-runs"}, text)
                self.assertIn("| 3 settings, ", text)
                self.assertIn("NOT TRIED | shape-sweep | the model does not declare which", text)

    def test_the_number_of_threads_reaches_pytorch(self):
        """A sum is split among threads, and rounds otherwise: within bounds, not the same bits."""
        for place in PLACES:
            only = ["--torch-in", place, "--only", "other-settings"]
            with self.subTest(place=place):
                text, properties = self.check("sum.pt", *only, *MANY)
                self.assertIn("times what rounding may differ by", text)
                text, properties = self.check("sum.pt", *only, *MANY, "--atol", "0", "--rtol", "0",
                                              code=1)
                broken = properties["other-settings"]
                self.assertIn("OMP_NUM_THREADS=", broken["smallest_case"])
                expected, found = broken["detail"].split(": ")[1].split(",")[0].split(" against ")
                self.assertNotEqual(float(expected), float(found), text)

    def test_a_reset_that_does_not_restore_the_first_state_is_found(self):
        words = ("--input-shapes", "x:[1,4]", "--only", "repeated-runs", "fresh-session")
        for place in PLACES:
            with self.subTest(place=place):
                text, properties = self.check("hundred.pt", "--torch-in", place, *words)
                self.assertIn("2 more processes, the same bits; 4 inferences after", text)
                text, properties = self.check("again.pt", "--torch-in", place, *words, code=1)
                self.assertEqual(properties["repeated-runs"]["verdict"], "holds", text)
                self.assertEqual(properties["fresh-session"]["verdict"], "broken", text)
                self.assertEqual(properties["fresh-session"]["smallest_case"],
                                 "a session that was not reset before its first inference")

    def test_a_module_that_remembers_is_reset(self):
        for place in PLACES:
            with self.subTest(place=place):
                text, properties = self.check("delay.pt", "--torch-in", place, "--input-shapes",
                                              "x:[300,300]")
                tried = {n for n, p in properties.items() if p["verdict"] == "holds"}
                self.assertEqual(tried, {"repeated-runs", "fresh-session", "other-settings",
                                         "read-only-inputs", "input-alignment",
                                         "uninitialised-memory", "later-runs"}, text)

    def test_without_shapes_it_says_what_to_give(self):
        text, _ = self.check("net.pt", code=2)
        self.assertIn("give --input-shapes NAME:[...]", text)
        text, _ = self.check("net.pt", "--input-shapes", "x:[2,6]", code=2)
        self.assertIn("the shape of input 'bias'", text)

    def test_extreme_values(self):
        text, _ = self.check("net.pt", *SHAPES, what="extremes")
        for name in ("denormals", "zeros", "large", "nan", "inf"):
            self.assertRegex(text, rf"\n +{name} +pytorch .* 12\n")


if __name__ == "__main__":
    unittest.main()
