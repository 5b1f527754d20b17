"""ONNX's backend tests: all of them with ONNX Runtime; scripts/deep.sh has the other runners."""

import os
import unittest

import backend_suite


class BackendTests(unittest.TestCase):
    def check(self, runner):
        lines, passed = backend_suite.deviations(os.environ["VERNIER"], runner)
        self.assertEqual(lines, [], "\n".join(lines))
        self.assertGreater(passed, 0)

    def test_onnxruntime(self):
        self.check("onnxrt")


if __name__ == "__main__":
    unittest.main()
