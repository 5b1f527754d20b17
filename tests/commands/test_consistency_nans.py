"""check consistency of outputs that hold nothing but NaN, which agrees with itself."""

import sys
import unittest

from program import Case

RUNNER = """
import numpy as np

def get_input_metadata():
    return {{"x": ((2, 3), "float32")}}

def infer(feed):
    return {{"y": feed["x"] * np.nan{more}}}
"""


class ConsistencyNans(Case):
    def test_an_output_of_nan_alone_is_no_pass(self):
        for more in ("", ', "z": feed["x"]'):
            self.path("runner.py").write_text(RUNNER.format(more=more), encoding="utf-8")
            words = ("check", "consistency", "--model-runner", "runner.py", "--python",
                     sys.executable, "--input-shapes", "x:[2,3]", "--only", "repeated-runs")
            for lenient, code in (((), 4), (("--lenient",), 0)):
                with self.subTest(more=more, lenient=lenient):
                    ended = self.vernier(*words, *lenient)
                    said = ended.out + ended.err
                    self.assertEqual(ended.code, code, said)
                    self.assertIn("nothing was shown of outputs that hold no number: y (all "
                                  "elements are NaN): give inputs for which they do", said)

    def test_nan_in_some_elements_is_noted(self):
        script = RUNNER.format(more="").replace("np.nan}", "np.array([1, np.nan, 1], 'f4')}")
        for text, noted in ((script, True), (script.replace("np.nan", "1"), False)):
            self.path("runner.py").write_text(text, encoding="utf-8")
            ended = self.vernier("check", "consistency", "--model-runner", "runner.py", "--python",
                                 sys.executable, "--input-shapes", "x:[2,3]", "--only",
                                 "repeated-runs")
            said = ended.out + ended.err
            self.assertEqual(ended.code, 0, said)
            self.assertEqual("output 'y': 2 of 6 elements are NaN, of which nothing is shown"
                             in said, noted, said)


if __name__ == "__main__":
    unittest.main()
