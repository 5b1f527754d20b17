"""The words of verdicts: incomplete comparisons, averages, names, types and constants."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from test_verdicts import Verdicts


class Words(Verdicts):
    RAMP = np.arange(3, dtype=np.float32)

    def test_part_of_the_outputs_is_incomplete(self):
        record = self.compare({"y": self.RAMP, "w": self.RAMP}, {"y": self.RAMP}, code=4)
        self.says("a vs. b: INCOMPLETE, compared 1 of 2 outputs in 1 iteration, 3 elements")
        self.assertTrue(record["pairs"][0]["incomplete"])
        self.compare({"y": self.RAMP, "w": self.RAMP}, {"y": self.RAMP}, "--lenient", code=0)
        self.says("a vs. b: PASSED, compared 1 of 2 outputs")

    def test_an_average_has_a_verdict(self):
        for shift, code, word in ((0, 0, "PASSED"), (1, 1, "FAILED")):
            self.compare({"y": self.RAMP}, {"y": self.RAMP + np.float32(shift)}, "--compare", "l2",
                         "--check-average", code=code)
            self.says(f"a vs. b: {word}, compared 1 output")

    def test_shapes_that_differ_are_not_counted(self):
        record = self.compare({"x": np.ones((2, 3), np.float32), "y": self.RAMP},
                              {"x": np.ones((4, 3), np.float32), "y": self.RAMP}, code=1)
        self.says("FAILED, compared 1 of 2 outputs in 1 iteration, 3 elements; could not be "
                  "compared: x (the shapes are (2, 3) and (4, 3), which hold different numbers of "
                  "elements)\n")
        self.assertNotIn("shows nothing", self.ended.out)
        self.assertEqual(record["pairs"][0]["coverage"]["outputs_without_numbers"], 1)

    def test_names_that_differ_in_case(self):
        self.compare({"y": self.RAMP, "z": self.RAMP}, {"Y": self.RAMP, "z:0": self.RAMP}, code=0)
        self.says("; names differ in case or ':0' only: y with Y, z with z:0\n")
        self.compare({"y": self.RAMP}, {"Y": self.RAMP}, code=0)
        self.says("; names differ in case only: y with Y\n")

    def test_a_float_constant_is_a_precision(self):
        x = helper.make_tensor_value_info("x", TensorProto.INT64, [3])
        y = helper.make_tensor_value_info("y", TensorProto.INT64, [3])
        half = helper.make_tensor("half", TensorProto.FLOAT, [], [0.5])
        nodes = [helper.make_node("Constant", [], ["c"], value=half),
                 helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
                 helper.make_node("Mul", ["f", "c"], ["m"]),
                 helper.make_node("Cast", ["m"], ["y"], to=TensorProto.INT64)]
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.err)
        (runner,) = json.loads(self.path("r.json").read_text())["runners"]
        self.assertEqual(runner["precision"], "float32")

    def test_blame_says_why_constants_have_no_layer(self):
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
        z = helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])
        ones = helper.make_tensor("v", TensorProto.FLOAT, [2], [1, 1])
        nodes = [helper.make_node("Constant", [], ["y"], value=ones),
                 helper.make_node("Relu", ["x"], ["z"])]
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y, z]), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model, str(self.path("m.onnx")))
        self.save_feeds("in.json", [{"x": np.ones(2, np.float32)}])
        self.save_runs("ref.json", [("r", [{"y": np.ones(2, np.float32)}])])
        ended = self.vernier("blame", "m.onnx", "--onnxrt", "--load-outputs", "ref.json",
                             "--load-inputs", "in.json")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("'y' is a constant", ended.out + ended.err)
        self.assertNotIn("have to agree", ended.out + ended.err)

    def test_strings_reach_runners_whole(self):
        x = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
        y = helper.make_tensor_value_info("y", TensorProto.STRING, [4])
        nodes = [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)]
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model, str(self.path("m.onnx")))
        np.savez(self.path("in.npz"), x=np.array(["a\0b", "üñ " + 40 * "x"]))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--openvino", "--load-inputs", "in.npz",
                             "--tolerance", "auto")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("strings, exact", ended.out)
        self.assertNotIn("integers, exact", ended.out)


if __name__ == "__main__":
    unittest.main()
