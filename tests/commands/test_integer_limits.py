"""check extremes: the limits of integers are tried where that is asked for, else it says so."""

import json
import sys
import unittest

import onnx
from onnx import TensorProto, helper

from program import Case

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def model(nodes, inputs, output=FLOAT):
    graph = helper.make_graph(nodes, "g", inputs,
                              [helper.make_tensor_value_info(nodes[-1].output[0], output, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


class IntegerLimits(Case):
    def test_inputs_that_keep_their_values_are_named(self):
        node = helper.make_node("Mul", ["x", "n"], ["y"])
        cast = helper.make_node("Cast", ["i"], ["n"], to=FLOAT)
        onnx.save(model([cast, node], [value("x", [4]), value("i", [4], INT64)]),
                  str(self.path("m.onnx")))
        ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("not tried: the limits of integers; kept the values that they had: i "
                      "(--sets limits tries them)", ended.out)
        self.assertEqual(json.loads(self.path("r.json").read_text())["integers_kept"], ["i"])

    def test_the_limits_of_integers_are_tried_when_asked_for(self):
        node = helper.make_node("Identity", ["i"], ["y"])
        onnx.save(model([node], [value("i", [4], INT64)], output=INT64), str(self.path("m.onnx")))
        ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("--sets limits tries the limits of integers", ended.out + ended.err)
        ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--onnxrt", "--sets",
                             "limits", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("not tried", ended.out)
        answers = json.loads(self.path("r.json").read_text())["answers"]
        self.assertEqual([(a["set"], a["compared"]) for a in answers],
                         [("limits", 0), ("limits", 4)])
        self.assertEqual(answers[1]["other_exact"], 0)

    def test_other_integers_at_the_limits_are_a_failure(self):
        onnx.save(model([helper.make_node("Identity", ["i"], ["y"])], [value("i", [4], INT64)],
                        output=INT64), str(self.path("m.onnx")))
        self.path("narrow.py").write_text(
            "import numpy as np\ndef infer(feed):\n"
            "    return {'y': np.clip(feed['i'], -2**31, 2**31 - 1)}\n")
        ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--runner", "b=narrow.py",
                             "--python", sys.executable, "--sets", "limits")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("[E] runners differ in integers, booleans or strings with: limits",
                      ended.out + ended.err)

    def test_one_element_gets_both_limits(self):
        limits = [helper.make_tensor("top", INT64, [], [2**63 - 1])]
        for shape in ([], [1], ["n"]):
            node = helper.make_node("Equal", ["i", "top"], ["y"])
            graph = helper.make_graph([node], "g", [value("i", shape, INT64)],
                                      [value("y", None, TensorProto.BOOL)], limits)
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                        ir_version=8), str(self.path("m.onnx")))
            ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--sets", "limits",
                                 "--save-record", "r.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            answers = json.loads(self.path("r.json").read_text())["answers"]
            self.assertEqual([(a["set"], a["zero"], a["elements"]) for a in answers],
                             [("limits", 1, 1), ("limits (largest first)", 0, 1)])
            self.assertRegex(ended.out, r"limits \(largest first\) +onnxrt +0 ")

    def test_a_set_asked_for_by_name_must_be_tried(self):
        for dtype, sets, missing in ((FLOAT, ["limits", "nan"], "limits"),
                                     (INT64, ["limits", "nan"], "nan")):
            node = helper.make_node("Identity", ["i"], ["y"])
            onnx.save(model([node], [value("i", [4], dtype)], output=dtype),
                      str(self.path("m.onnx")))
            ended = self.vernier("check", "extremes", "m.onnx", "--onnxrt", "--sets", *sets)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertIn("not tried, as no input's type has such values: " + missing,
                          ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
