"""Dynamic quantisers on both sides: codes at the ends of steps are no fault, and faults are."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case, blame

ROWS, WIDTH, LARGE = 16, 64, 8


def feed():
    """Mostly so large that Tanh gives 1 or -1, which are half-way between two codes."""
    random = np.random.default_rng(7)
    x = random.normal(size=(ROWS, WIDTH)) * LARGE
    return np.where(np.abs(x) < 0.5, x, np.sign(x) * 20).astype(np.float32)


def save(path, share=1e-5, scale=1.0, zero=0, swapped=False):
    """What the quantiser makes is a small or large share of the output, so that codes that flip
    do or do not show there. Its scale and its zero point may be wrong, and two channels of the
    weights be swapped."""
    weights = np.random.default_rng(8).integers(-127, 127, (WIDTH, WIDTH)).astype(np.int8)
    if swapped:
        weights[:, [0, 1]] = weights[:, [1, 0]]
    nodes = [helper.make_node("Tanh", ["x"], ["t"], name="tanh"),
             helper.make_node("DynamicQuantizeLinear", ["t"], ["q", "s", "z0"], name="quantise"),
             helper.make_node("Mul", ["s", "times"], ["scales"], name="scale"),
             helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"], name="product"),
             helper.make_node("Cast", ["sums"], ["floats"], to=TensorProto.FLOAT, name="cast"),
             helper.make_node("Mul", ["floats", "scales"], ["part"], name="rescale"),
             helper.make_node("Add", ["part", "x"], ["y"], name="residual")]
    nodes.insert(2, helper.make_node("Add" if zero else "Identity",
                                     ["z0", "one"] if zero else ["z0"], ["z"], name="zero_point"))
    constants = {"w": weights, "times": np.float32(share * scale), "one": np.uint8(1)}
    graph = helper.make_graph(
        nodes, "dynamic", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, WIDTH])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class DynamicQuantisers(Case):
    def setUp(self):
        super().setUp()
        np.savez("in.npz", x=feed())

    def blamed(self, reference, candidate):
        return blame(".", "--runner", f"a={reference} good.onnx", "--runner",
                     f"b={candidate} bad.onnx", "--reference", "a", "--load-inputs", "in.npz")

    def test_codes_at_the_end_of_a_step_may_be_either(self):
        save("good.onnx")
        save("bad.onnx")
        for sides in (("onnxrt", "openvino"), ("openvino", "onnxrt")):
            ended, found = self.blamed(*sides)
            self.assertEqual(ended.returncode, 0, (sides, found and found["culprits"]))
            errors = [layer["own_error"] for layer in found["layers"]
                      if layer["op_type"] == "DynamicQuantizeLinear"]
            self.assertEqual(len(errors), 1)
            self.assertLess(errors[0], 1)

    def test_faults_beside_them_are_named(self):
        for node, fault in (("scale", {"scale": 1.03}), ("zero_point", {"zero": 1}),
                            ("product", {"swapped": True})):
            save("good.onnx", share=1)
            save("bad.onnx", share=1, **fault)
            ended, found = self.blamed("openvino", "onnxrt")
            self.assertEqual(ended.returncode, 1, node)
            self.assertEqual(found["culprits"][0]["node"], node, found["culprits"])


if __name__ == "__main__":
    unittest.main()
