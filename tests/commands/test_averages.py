"""Means that decide, tolerances that let everything pass, words that are read as others."""

import json
import pathlib
import sys
import unittest

import numpy as np

from program import Case

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "reports"))
from page_file import data_of  # noqa: E402


class InfiniteTolerances(Case):
    def compare(self, left, right, *words, code):
        self.save_runs("a.json", [("a", [left])])
        self.save_runs("b.json", [("b", [right])])
        self.ended = self.vernier("compare", "a.json", "b.json", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)

    def test_they_show_nothing(self):
        near, far = {"y": np.float32([1, 2])}, {"y": np.float32([5, -3])}
        for words, what in ((["--atol", "inf"], "tolerance"), (["--rtol", "y:inf"], "tolerance"),
                            (["--compare", "l2", "--l2-threshold", "inf"], "threshold")):
            self.compare(near, far, *words, code=0)
            self.assertIn(f"; shows nothing: y (the {what} is infinite)", self.ended.out)
            self.compare(near, far, *words, "--strict", code=1)
        self.compare(near, near, "--atol", "inf", "--compare", "simple", "ulp", "--strict", code=0)


class Averages(Case):
    def judge(self, *words, code):
        """Iterations 0.1 and 0 apart, by every report."""
        ones = np.ones(4, "f4")
        far = ones + np.float32([0.1, 0, 0, 0])
        self.save_runs("a.json", [("a", [{"y": ones}] * 2)])
        self.save_runs("b.json", [("b", [{"y": far}, {"y": ones}])])
        files = ["r.xml", "r.md", "r.jsonl", "r.html"]
        ended = self.vernier("compare", "a.json", "b.json", "--compare", "l2", "--save-record",
                             "r.json", *(word for file in files for word in ("--report", file)),
                             *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        lines = [json.loads(line) for line in self.path("r.jsonl").read_text().splitlines()]
        (line,) = [line for line in lines if line["kind"] == "output"]
        texts = data_of(self.path("r.html").read_text())["texts"]
        passed = code == 0
        self.assertEqual((output["passed"], line["passed"],
                          texts["pairs"][0]["outputs"][0]["verdict"]),
                         (passed, passed, "passed" if passed else "failed"))
        self.assertEqual("<failure" in self.path("r.xml").read_text(), not passed)
        self.assertEqual("**failed**" in self.path("r.md").read_text(), not passed)
        return ended.out, output

    def test_a_mean_decides_in_every_report(self):
        out, output = self.judge("--check-average", "--l2-threshold", "0.06", code=0)
        self.assertIn("PASSED, compared 1 output in 2 iterations", out)
        self.assertIn("; over the threshold, but not on average: y (1 of 2 iterations)", out)
        self.assertEqual((output["average_verdict"], output["passed_iterations"]), ("passed", 1))
        self.assertIn("1 of 2 iterations passed, and the mean", self.path("r.xml").read_text())

    def test_a_mean_that_fails_is_named(self):
        _, output = self.judge("--check-average", "--l2-threshold", "0.01", code=1)
        self.assertEqual(output["average_verdict"], "failed")
        self.assertIn("the mean l2 is 0.05, the threshold is 0.01",
                      self.path("r.xml").read_text())

    def test_without_it_iterations_decide(self):
        _, output = self.judge("--l2-threshold", "0.06", code=1)
        self.assertNotIn("average_verdict", output)


class Abbreviations(Case):
    def test_an_abbreviation_without_its_value(self):
        ended = self.vernier("debug", "precision", "m.onnx", "--onnxrt")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("argument --onnxrt-lib: expected one argument; '--onnxrt' is read as short "
                      "for it", ended.err)


if __name__ == "__main__":
    unittest.main()
