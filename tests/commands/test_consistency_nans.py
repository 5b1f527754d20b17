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


if __name__ == "__main__":
    unittest.main()
