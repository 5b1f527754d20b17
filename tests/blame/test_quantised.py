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


class StepsWithinOperators(Case):
    """ONNX Runtime rounds what these read to steps; OpenVINO computes them in floats."""

    def save(self, path, op, scale=0.01):
        random = np.random.default_rng(5)
        # Weights of seven bits: with eight, products saturate on processors without VNNI.
        words, kept = {}, {"s": np.float32(scale), "z": np.int8(0),
                           "w": random.integers(-63, 63, (WIDTH, WIDTH)).astype(np.int8)}
        if op == "MatMulNBits":
            words = {"K": WIDTH, "N": WIDTH, "bits": 4, "block_size": 32, "accuracy_level": 4}
            kept = {"w": random.integers(0, 255, (WIDTH, 1, 16)).astype(np.uint8),
                    "s": np.full(WIDTH, scale, np.float32)}
        node = helper.make_node(op, ["x", *(name for name in ("w", "s", "z") if name in kept)],
                                ["y"], name="product", domain="com.microsoft", **words)
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [8, WIDTH]) for n in "xy")
        kept = [numpy_helper.from_array(np.array(array), name) for name, array in kept.items()]
        graph = helper.make_graph([node], "g", [x], [y], kept)
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]), path)

    def test_they_are_no_fault_and_hide_none(self):
        for op in ("DynamicQuantizeMatMul", "MatMulNBits"):
            with self.subTest(op):
                self.save("good.onnx", op)
                self.save("bad.onnx", op, 0.012)
                for path, code in (("good.onnx", 0), ("bad.onnx", 1)):
                    words = ["--runner", "gold=onnxrt good.onnx", "--runner",
                             f"new=openvino {path}"]
                    ended = subprocess.run([VERNIER, "run", *words, "--tolerance", "auto"],
                                           capture_output=True, text=True)
                    self.assertEqual(ended.returncode, code, ended.stdout)
                    self.assertIn("1 quantiser of one side", ended.stdout)
                    ended, found = blame(self.folder.name, *words)
                    self.assertEqual([c["node"] for c in found["culprits"]],
                                     ["product"] if code else [], ended.stdout)


class SaturatedMeans(Case):
    """Means of what is left of a sigmoid near 0, which runtimes compute in different ways."""

    def save(self, path, factor=1):
        kept = [numpy_helper.from_array(np.float32(factor), "f")]
        nodes = [helper.make_node("Sigmoid", ["x"], ["s"], name="gate"),
                 helper.make_node("Mul", ["s", "f"], ["t"], name="scale"),
                 helper.make_node("ReduceMean", ["s" if factor == 1 else "t"], ["y"], name="mean",
                                  axes=[1])]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 1])
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], kept), ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]), path)

    def test_they_are_no_fault_and_hide_none(self):
        self.save("good.onnx")
        self.save("bad.onnx", 1.2)
        for path, code in (("good.onnx", 0), ("bad.onnx", 1)):
            for seed in "123":
                ended = subprocess.run(
                    [VERNIER, "run", "--runner", "gold=onnxrt good.onnx", "--runner",
                     f"new=openvino {path}", "--tolerance", "auto", "--val-range", "[-11,-10]",
                     "--seed", seed], capture_output=True, text=True)
                self.assertEqual(ended.returncode, code, ended.stdout)
                self.assertNotIn("ill-conditioned", ended.stdout.split("repro:")[0]
                                 if code == 0 else "")


if __name__ == "__main__":
    unittest.main()
