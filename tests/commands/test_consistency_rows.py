"""vernier check consistency: rows that meet in a model are no batch."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from program import Case

ROWS = ("identical-rows", "permuted-rows", "batch-of-one")


class MeetingRows(Case):
    def properties(self, *words):
        ended = self.vernier("check", "consistency", *words, "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def save_nodes(self, name, nodes, outputs, weights=()):
        """x of ["sequence_length", 3] to `outputs`, whose first dimension is named alike."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["sequence_length", 3])
        out = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["sequence_length", None])
               for n in outputs]
        tensors = [onnx.numpy_helper.from_array(value, n) for n, value in dict(weights).items()]
        graph = helper.make_graph(nodes, "g", [x], out, tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_the_summary_has_short_names(self):
        self.save_nodes("m.onnx", [helper.make_node("Identity", ["x"], ["y"])], ["y"])
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only",
                             "repeated-runs")
        self.assertRegex(ended.out, r"(?m)^\[I\] onnxrt: of 1 properties 1 hold ")

    def test_rows_that_meet_in_the_model_are_no_batch(self):
        random = np.random.default_rng(1)
        weights = {"w": random.standard_normal((1, 16, 3)).astype("f4"),
                   "r": random.standard_normal((1, 16, 4)).astype("f4"),
                   "one": np.array([1]), "two": np.array([1, 2]),
                   "axes": np.array([0], "i8")}
        lstm = [helper.make_node("Unsqueeze", ["x", "one"], ["u"]),
                helper.make_node("LSTM", ["u", "w", "r"], ["l"], "recurrence", hidden_size=4),
                helper.make_node("Squeeze", ["l", "two"], ["y"])]
        attention = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
                     helper.make_node("MatMul", ["x", "t"], ["s"], "scores"),
                     helper.make_node("Softmax", ["s"], ["p"], axis=1),
                     helper.make_node("MatMul", ["p", "x"], ["y"])]
        mean = [helper.make_node("ReduceMean", ["x"], ["m"], "mean", axes=[0]),
                helper.make_node("Sub", ["x", "m"], ["y"])]
        cases = {"node 'recurrence' (LSTM) goes along the rows": lstm,
                 "node 'scores' (MatMul) pairs each row with others": attention,
                 "node 'mean' (ReduceMean) combines rows": mean}
        for why, nodes in cases.items():
            with self.subTest(why):
                self.save_nodes("m.onnx", nodes, ["y"], weights)
                ended, properties = self.properties("m.onnx", "--onnxrt")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                for name in ROWS:
                    self.assertEqual(properties[name]["verdict"], "not applicable")
                    self.assertEqual(properties[name]["detail"],
                                     f"the first dimension of 'x' is no batch: {why}")

    def test_outputs_whose_rows_do_not_meet_are_tried_beside_others(self):
        nodes = [helper.make_node("CumSum", ["x", "zero"], ["sums"], "sum"),
                 helper.make_node("Relu", ["x"], ["y"])]
        self.save_nodes("m.onnx", nodes, ["sums", "y"], {"zero": np.array(0)})
        ended, properties = self.properties("m.onnx", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for name in ROWS:
            self.assertEqual(properties[name]["verdict"], "holds")
            self.assertEqual(properties[name]["left_out"], [
                {"output": "sums",
                 "why": "its rows are made of several: node 'sum' (CumSum) combines rows"}])


if __name__ == "__main__":
    unittest.main()
