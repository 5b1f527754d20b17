"""An input that is called like a mask and marks no positions is not passed over in silence."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from program import Case

NOTE = "so all positions are compared (--mask none says so, --mask INPUT names another input)"


class UnfitMasks(Case):
    def said(self, mask, *words):
        kind = helper.np_dtype_to_tensor_dtype(mask.dtype)
        info = {n: helper.make_tensor_value_info(n, t, s) for n, t, s in (
            ("x", TensorProto.FLOAT, ["b", "n"]), ("attention_mask", kind, ["b", "n"]),
            ("y", TensorProto.FLOAT, ["b", "n"]))}
        nodes = [helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
                 helper.make_node("Add", ["x", "m"], ["y"])]
        graph = helper.make_graph(nodes, "g", [info["x"], info["attention_mask"]], [info["y"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        if not words or words[0] != "--seed":
            self.save_feeds("feeds.json", [{"x": np.ones(mask.shape, "f4"),
                                            "attention_mask": mask}])
            words = ("--load-inputs", "feeds.json", *words)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        return ended.out + ended.err

    def test_what_marks_nothing_is_named(self):
        for mask, why in ((np.array([[0, 2, 1]], "i8"), "holds 2"),
                          (np.array([[True, False, True]]), "is bool"),
                          (np.array([[0, -10000, 0]], "f4"), "is float32")):
            with self.subTest(why):
                said = self.said(mask)
                self.assertEqual(said.count(f"the input 'attention_mask' {why}, where 1 and 0 "
                                            f"would mark positions, {NOTE}"), 1, said)
                self.assertNotIn(NOTE, self.said(mask, "--mask", "none"))

    def test_a_mask_and_random_inputs_need_no_word(self):
        self.assertNotIn(NOTE, self.said(np.array([[0, 1, 1]], "i8")))
        self.assertNotIn(NOTE, self.said(np.array([[0, 2, 1]], "i8"), "--seed", "3"))


if __name__ == "__main__":
    unittest.main()
