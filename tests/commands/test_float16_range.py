"""float16 ends at 65504, and Polygraphy's converter at 10,000: weights beyond."""

import sys
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

from program import Case
from surgeon_models import model, node, value

# The model has the weight as it was.
CHECK = """
import sys, onnx
from onnx import numpy_helper
weights = onnx.load(sys.argv[1]).graph.initializer
sys.exit(0 if any(20000 in numpy_helper.to_array(w) for w in weights) else 1)
"""


class Float16Range(Case):
    def setUp(self):
        super().setUp()
        made = model([node("Mul", ["x", "wide"], ["y"], name="widen")], [value("x", (2,))],
                     [value("y", (2,))],
                     [numpy_helper.from_array(np.array([20000, 3], np.float32), "wide")])
        onnx.save(made, str(self.path("m.onnx")))

    def weights(self, path):
        (weight,) = onnx.load(str(self.path(path))).graph.initializer
        return numpy_helper.to_array(weight).tolist()

    def test_surgeon_clamps_by_the_name_of_polygraphy_alone(self):
        words = ["surgeon", "sanitize", "m.onnx", "--fp-to-fp16", "-o"]
        self.assertEqual(self.vernier(*words, "ours.onnx").code, 0)
        self.assertEqual(self.weights("ours.onnx"), [20000, 3])
        self.assertEqual(self.lenient(*words, "theirs.onnx").code, 0)
        self.assertEqual(self.weights("theirs.onnx"), [10000, 3])

    def test_debug_precision_tries_the_weights_as_they_are(self):
        self.path("check.py").write_text(CHECK)
        ended = self.vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx", "--check",
                             sys.executable, "check.py", "polygraphy_debug.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("none needs float32", ended.out)
        self.assertEqual(self.weights("mixed.onnx"), [20000, 3])


if __name__ == "__main__":
    unittest.main()
