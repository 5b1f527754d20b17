"""check lint: sizes that nobody gave, and constants of one name, are no fault of the model."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


def padded(shape, pads, after=()):
    """Pad reflect: the padded dimensions have to be larger than what is added to them."""
    nodes = [helper.make_node("Pad", ["x", "pads"], ["p"], "pad", mode="reflect"), *after]
    out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, [None] * len(shape))
    graph = helper.make_graph(nodes, "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [out],
                              [numpy_helper.from_array(np.array(pads), "pads"),
                               numpy_helper.from_array(np.array([7, 13]), "want")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class LintSizes(Case):
    def lint(self, model, *words):
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "lint", "m.onnx", "-o", "report.json", "--onnxrt", *words)
        entries = json.loads(self.path("report.json").read_text())["lint_entries"]
        return ended, [(e["level"], e["rule"]) for e in entries if e["rule"] != "unused-weight"]

    def test_sizes_that_work_are_found(self):
        ended, rules = self.lint(padded(["batch", "length"], [0, 40, 0, 40]))
        self.assertEqual((ended.code, rules), (0, []), ended.out)
        self.assertIn("[I] With free dimensions of size 1 the model failed in onnxrt", ended.out)
        self.assertIn("; it ran with x (1, 48)", ended.out)

    def test_where_none_work_sizes_are_asked_for(self):
        reshape = helper.make_node("Reshape", ["p", "want"], ["y"], "reshape")
        model = padded(["batch", "length"], [0, 1, 0, 1], [reshape])
        ended, rules = self.lint(model)
        self.assertEqual((ended.code, rules), (0, [("warning", "sizes-needed")]), ended.out)
        self.assertIn("--input-shapes", ended.out)
        ended, rules = self.lint(model, "--input-shapes", "x:[7,11]")
        self.assertEqual((ended.code, rules), (0, []), ended.out)

    def test_given_sizes_that_fail_are_an_exception(self):
        ended, rules = self.lint(padded(["batch", "length"], [0, 40, 0, 40]), "--input-shapes",
                                 "x:[1,2]")
        self.assertEqual((ended.code, rules), (1, [("exception", "runner-failed")]), ended.out)

    def test_fixed_sizes_that_fail_are_an_exception(self):
        ended, rules = self.lint(padded([1, 2], [0, 40, 0, 40]))
        self.assertEqual(ended.code, 1, ended.out)
        self.assertIn("exception", {level for level, _ in rules})

    def test_constants_of_one_name_are_a_warning(self):
        nodes = [helper.make_node("Constant", [], [f"c{i}"], "same",
                                  value=numpy_helper.from_array(np.float32([i + 1])))
                 for i in range(3)]
        nodes += [helper.make_node("Sum", ["x", "c0", "c1", "c2"], ["y"], "sum")]
        value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy"]
        model = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:]),
                                  opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        ended, rules = self.lint(model)
        self.assertEqual((ended.code, rules), (0, [("warning", "duplicate-node-name")]), ended.out)


if __name__ == "__main__":
    unittest.main()
