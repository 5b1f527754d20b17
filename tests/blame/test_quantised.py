"""A float model against its int8 copy: what quantisers lose is expected, ranges that do not fit are
not."""

import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

LAYERS, WIDTH = 4, 32


def weight(index):
    random = np.random.default_rng(100 + index)
    return (random.normal(size=(WIDTH, WIDTH)) / WIDTH ** 0.5).astype(np.float32)


def feed():
    return np.random.default_rng(3).normal(size=(8, WIDTH)).astype(np.float32)


def activations():
    tip, found = feed(), []
    for i in range(LAYERS):
        tip = np.maximum(tip @ weight(i), 0)
        found.append(tip)
    return found


def save(path, nodes, constants):
    graph = helper.make_graph(
        nodes, "layers", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, WIDTH])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def save_float(path):
    nodes, constants, tip = [], {}, "x"
    for i in range(LAYERS):
        constants[f"w{i}"] = weight(i)
        nodes += [helper.make_node("MatMul", [tip, f"w{i}"], [f"m{i}"], name=f"dense{i}"),
                  helper.make_node("Relu", [f"m{i}"], [f"r{i}"], name=f"relu{i}")]
        tip = f"r{i}"
    nodes.append(helper.make_node("Identity", [tip], ["y"], name="end"))
    save(path, nodes, constants)


def save_int8(path, stretched=None, times=1.0):
    """As quantisation tools write it: rectifiers are left to the quantiser behind them, which holds
    nothing below zero. The range of one layer may be made larger or smaller."""
    nodes, constants, tip = [], {}, "x"
    for i, values in enumerate(activations()):
        steps = np.float32(np.abs(weight(i)).max() / 127)
        constants[f"w{i}_q"] = np.round(weight(i) / steps).astype(np.int8)
        constants[f"w{i}_s"] = steps
        scale = values.max() / 255 * (times if i == stretched else 1)
        constants[f"r{i}_s"] = np.float32(scale)
        constants[f"r{i}_z"] = np.array(-128, np.int8)
        pair = [f"r{i}_s", f"r{i}_z"]
        nodes += [helper.make_node("DequantizeLinear", [f"w{i}_q", f"w{i}_s"], [f"w{i}"],
                                   name=f"weight{i}"),
                  helper.make_node("MatMul", [tip, f"w{i}"], [f"r{i}"], name=f"dense{i}"),
                  helper.make_node("QuantizeLinear", [f"r{i}", *pair], [f"r{i}_q"],
                                   name=f"quantise{i}"),
                  helper.make_node("DequantizeLinear", [f"r{i}_q", *pair], [f"r{i}_d"],
                                   name=f"dequantise{i}")]
        tip = f"r{i}_d"
    nodes.append(helper.make_node("Identity", [tip], ["y"], name="end"))
    save(path, nodes, constants)


class Quantised(Case):
    def setUp(self):
        super().setUp()
        save_float("float.onnx")
        np.savez("in.npz", x=feed())
        self.inputs = ["--load-inputs", "in.npz"]
        self.sides = ["--runner", "float=onnxrt float.onnx", "--runner", "int8=onnxrt int8.onnx",
                      "--reference", "float", *self.inputs]

    def test_good_ranges_are_nobodys_fault(self):
        save_int8("int8.onnx")
        ended, found = blame(".", *self.sides)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue(found["quantises_alone"])
        self.assertEqual(found["compared"], LAYERS + 1)
        self.assertGreater(max(layer["total_error"] for layer in found["layers"]), 0.01)

    def test_a_range_that_clips_is_named_with_what_it_clips(self):
        for layer in range(LAYERS):
            save_int8("int8.onnx", stretched=layer, times=0.25)
            ended, found = blame(".", *self.sides)
            self.assertEqual(ended.returncode, 1)
            culprit = found["culprits"][0]
            self.assertEqual(culprit["outputs"], [f"r{layer}"], culprit)
            self.assertIn(f"quantise{layer} clips ", culprit["why"])
            self.assertEqual(len(found["culprits"]), 1)

    def test_a_range_that_is_far_too_wide_is_named(self):
        save_int8("int8.onnx", stretched=2, times=40)
        ended, found = blame(".", *self.sides)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(found["culprits"][0]["outputs"], ["r2"])
        self.assertIn("quantise2 is too coarse", found["culprits"][0]["why"])

    def test_saved_outputs_of_the_float_model_are_as_good(self):
        subprocess.run([VERNIER, "run", "float.onnx", "--onnxrt", "--onnx-outputs", "mark", "all",
                        *self.inputs, "--save-outputs", "gold.json", "-q"], check=True)
        words = ["int8.onnx", "--onnxrt", *self.inputs, "--load-outputs", "gold.json"]
        save_int8("int8.onnx")
        ended, _ = blame(".", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        save_int8("int8.onnx", stretched=1, times=0.25)
        ended, found = blame(".", *words)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual([c["outputs"] for c in found["culprits"]], [["r1"]])


if __name__ == "__main__":
    unittest.main()
