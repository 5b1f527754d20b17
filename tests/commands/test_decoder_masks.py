"""The mask of a decoder with a cache: its length, its values, and what --advance appends to it."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class DecoderMasks(Case):
    """present = past and the rows of the tokens; logits are of the sum of all that the mask
    leaves."""

    def model(self, name, mask_axis="total"):
        draw = np.random.default_rng(7)
        table = draw.normal(size=(8, 4)).astype("f4")
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
                 helper.make_node("Unsqueeze", ["rows", "one"], ["new"]),
                 helper.make_node("Concat", ["past", "new"], ["present"], axis=2),
                 helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
                 helper.make_node("Unsqueeze", ["mask", "both"], ["wide"]),
                 helper.make_node("Mul", ["present", "wide"], ["seen"]),
                 helper.make_node("ReduceSum", ["seen", "two"], ["sum"], keepdims=0),
                 helper.make_node("Add", ["rows", "sum"], ["mixed"]),
                 helper.make_node("MatMul", ["mixed", "out"], ["logits"])]
        told = [helper.make_tensor_value_info(*value) for value in (
            ("input_ids", INT64, ["b", "n"]), ("attention_mask", INT64, ["b", mask_axis]),
            ("past", FLOAT, ["b", 1, "p", 4]), ("logits", FLOAT, ["b", "n", 8]),
            ("present", FLOAT, ["b", 1, "q", 4]))]
        constants = [numpy_helper.from_array(value, name) for name, value in (
            ("table", table), ("out", draw.normal(size=(4, 8)).astype("f4")),
            ("one", np.array([1], "i8")), ("two", np.array([1, 2], "i8")),
            ("both", np.array([1, 3], "i8")))]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", told[:3], told[3:], constants),
                                    opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(self.path(name)))

    def run_two(self, mask, *words, code, past=0):
        np.savez(self.path("x.npz"), input_ids=np.array([[1, 2, 3]], "i8"),
                 attention_mask=np.array([mask]), past=np.zeros((1, 1, past, 4), "f4"))
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "x.npz", *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    DECODE = ("--feed-back", "present:past", "--decode", "greedy", "--steps", "3", "--advance")

    def test_appending_0_hides_each_new_token(self):
        self.model("a.onnx")
        self.model("b.onnx")
        why = ("--advance attention_mask:append 0: 0 excludes each token that is decoded, and the "
               "last position chooses the next one: append 1; if 0 is a token in this mask, and 1 "
               "padding, add --mask none")
        words = (*self.DECODE, "attention_mask:append 0")
        self.assertIn(why, self.run_two([1, 1, 1], *words, code=2))
        self.run_two([1, 1, 1], *words, "--mask", "none", code=0)
        self.run_two([1, 1, 1], *self.DECODE, "attention_mask:append 1", code=0)
        self.assertIn("append 2: a mask marks positions by 1 and 0: append 1, or add --mask none",
                      self.run_two([1, 1, 1], *self.DECODE, "attention_mask:append 2", code=2))

    def test_another_length_is_named_before_the_runtime_does(self):
        self.model("a.onnx")
        self.model("b.onnx")
        for words in ((*self.DECODE, "attention_mask:append 1"), ()):
            with self.subTest(words):
                said = self.run_two([1] * 6, *words, past=1, code=6)
                why = ("'attention_mask' has 6 values in a row, and a past of 1 position with 3 "
                       "new tokens makes 4: give it that length")
                self.assertLess(said.index(f"| {why}"), said.index("FAILED:"), said)
                self.assertNotIn(why, self.run_two([1] * 4, *words, past=1, code=0))

    def test_a_value_that_is_neither_0_nor_1_is_no_mark(self):
        self.model("a.onnx", mask_axis="n")
        self.model("b.onnx", mask_axis="n")
        why = ("the input 'attention_mask' holds 2, where 1 marks positions that are compared and "
               "0 those that are left out: correct it, or add --mask none to compare all positions")
        for words in ((), ("--compare", "logits")):
            self.assertIn(why, self.run_two([1, 2, 1], *words, code=3))
            self.run_two([1, 2, 1], *words, "--mask", "none", code=0)

        self.run_two([1, 2, 1], "--lenient", code=0)  # which leaves out nothing
        self.run_two([0, -9, 0], code=0)  # which is added to scores


if __name__ == "__main__":
    unittest.main()
