"""vernier check lint: weights that are not finite."""

import unittest

import numpy as np
from onnx import TensorProto, helper

from lint_case import LintCase
from lint_models import model, node, weight


class LintWeights(LintCase):
    def test_weights_of_every_float_type_are_looked_at(self):
        values = [1, np.inf, np.nan]
        for made in (weight("w", np.array(values, "f2")), weight("w", np.array(values, "f8")),
                     helper.make_tensor("w", TensorProto.BFLOAT16, [3], values)):
            with self.subTest(made.data_type):
                ended, said = self.lint(
                    model([node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
                           node("Add", ["x", "c"], ["y"])], weights=[made]), "--no-run")
                self.assertEqual(self.rules(said), {"non-finite-weight"}, ended.out + ended.err)
                self.assertIn("2 of 3 values", said["lint_entries"][0]["message"])

    def test_a_clip_without_an_end_is_no_fault(self):
        bounds = [weight("low", np.array(-np.inf, "f4")), weight("high", np.array(np.inf, "f4"))]
        clip = [node("Clip", ["x", "low", "high"], ["y"])]
        ended, said = self.lint(model(clip, weights=bounds), "--no-run")
        self.assertEqual(self.rules(said), set(), ended.out + ended.err)
        # Where something else reads it, or the bound is no number, it is one.
        also = [node("Clip", ["x", "low", "high"], ["c"]), node("Add", ["c", "high"], ["y"])]
        _, said = self.lint(model(also, weights=bounds), "--no-run")
        self.assertEqual(self.rules(said), {"non-finite-weight"})
        bounds[1] = weight("high", np.array(np.nan, "f4"))
        _, said = self.lint(model(clip, weights=bounds), "--no-run")
        self.assertEqual(self.rules(said), {"non-finite-weight"})


if __name__ == "__main__":
    unittest.main()
