"""`vernier blame` where the candidate's runtime tells which nodes it fuses."""

import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame


def network(scale=1.0):
    """Conv, Relu, Conv + shortcut, Relu, pool, Gemm, Tanh: both runtimes fuse most of it."""
    random = np.random.default_rng(5)
    weights = []

    def weight(name, *shape):
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        values = (random.normal(size=shape) * (2 / fan) ** 0.5).astype(np.float32)
        if name == "w2":
            values = (values * scale).astype(np.float32)
        weights.append(numpy_helper.from_array(values, name))
        return name

    def node(op, inputs, output, **attributes):
        return helper.make_node(op, inputs, [output], name=output + "_node", **attributes)

    pads = {"kernel_shape": [3, 3], "pads": [1] * 4}
    nodes = [node("Conv", ["x", weight("w1", 16, 3, 3, 3), weight("b1", 16)], "c1", **pads),
             node("Relu", ["c1"], "r1"),
             node("Conv", ["r1", weight("w2", 16, 16, 3, 3), weight("b2", 16)], "c2", **pads),
             node("Add", ["c2", "r1"], "a2"),
             node("Relu", ["a2"], "r2"),
             node("GlobalAveragePool", ["r2"], "p"),
             node("Flatten", ["p"], "f"),
             node("Gemm", ["f", weight("w3", 16, 10), weight("b3", 10)], "g"),
             node("Tanh", ["g"], "y")]
    graph = helper.make_graph(
        nodes, "fused", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def dense():
    """MatMul, Add, Softplus; LayerNormalization, Sigmoid; a sum of both."""
    random = np.random.default_rng(6)
    weights = [numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)
               for name, shape in (("w", (32, 32)), ("b", (32,)), ("g", (32,)), ("h", (32,)))]
    nodes = [helper.make_node(op, inputs, [output], name=output + "_node")
             for op, inputs, output in (("MatMul", ["x", "w"], "m"), ("Add", ["m", "b"], "s"),
                                        ("Softplus", ["s"], "p"),
                                        ("LayerNormalization", ["p", "g", "h"], "n"),
                                        ("Sigmoid", ["n"], "q"), ("Add", ["q", "p"], "y"))]
    graph = helper.make_graph(
        nodes, "dense", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 32])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Fusion(Case):
    def groups(self, candidate, *words):
        onnx.save(network(), "good.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             f"new={candidate} good.onnx", "--reference", "gold", *words)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(found["compared"], 9)
        layers = {layer["node"]: layer for layer in found["layers"]}
        for layer in layers.values():
            self.assertEqual(bool(layer["fused"]), layer["fused_error"] is not None, layer)
            self.assertLess(layer["fused_error"] or 0, 1)
        return found, layers

    def test_onnx_runtime_tells_its_graph(self):
        found, layers = self.groups("onnxrt")
        # c2 to r2 are one node of its own layout, whose tensors have other names.
        self.assertEqual(found["fused_away"], ["c1", "c2", "a2", "g"])
        self.assertEqual(layers["r1_node"]["fused"], ["c1_node", "r1_node"])
        self.assertEqual(layers["r2_node"]["fused"], ["c2_node", "a2_node", "r2_node"])
        self.assertEqual(layers["y_node"]["fused"], ["g_node", "y_node"])
        self.assertEqual(layers["p_node"]["fused"], [])

    def test_without_optimisation_nothing_is_fused(self):
        found, _ = self.groups("onnxrt --graph-optimization-level ORT_DISABLE_ALL")
        self.assertEqual(found["fused_away"], [])

    def test_openvino_tells_what_its_kernels_are_made_of(self):
        onnx.save(dense(), "dense.onnx")
        ended, found = blame(self.folder.name, "dense.onnx", "--onnxrt", "--openvino")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        # A sum and its bias, and what is done to each element behind them; the same behind a norm.
        self.assertLessEqual({"m", "s", "n"}, set(found["fused_away"]))
        layers = {layer["node"]: layer for layer in found["layers"]}
        self.assertEqual(layers["p_node"]["fused"], ["m_node", "s_node", "p_node"])
        self.assertEqual(layers["q_node"]["fused"], ["n_node", "q_node"])

    def test_openvino_tells_its_kernels(self):
        found, layers = self.groups("openvino")
        # Whether it adds within a convolution depends on the processor.
        self.assertLessEqual({"c1", "a2", "g"}, set(found["fused_away"]))
        self.assertEqual(layers["r1_node"]["fused"], ["c1_node", "r1_node"])
        self.assertEqual(layers["y_node"]["fused"], ["g_node", "y_node"])

    def test_a_node_within_a_fused_group_is_still_named(self):
        onnx.save(network(), "good.onnx")
        onnx.save(network(scale=1.05), "bad.onnx")
        for candidate in ("onnxrt", "openvino"):
            ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                                 f"new={candidate} bad.onnx", "--reference", "gold")
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["c2_node"])

    def test_layers_are_sorted_by_what_is_shown(self):
        onnx.save(network(), "good.onnx")
        onnx.save(network(scale=1.05), "bad.onnx")
        for candidate in ("onnxrt", "openvino"):
            ended = subprocess.run([VERNIER, "blame", "--runner", "gold=onnxrt good.onnx", "--runner",
                                    f"new={candidate} bad.onnx", "--reference", "gold"],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            lines = ended.stdout.splitlines()
            start = next(i for i, line in enumerate(lines) if line.startswith("Layers by own error"))
            self.assertEqual(lines[start + 1].split()[:4], ["own", "fused/in", "place", "total"])
            rows = [line.split() for line in lines[start + 2:start + 11]]
            self.assertIn("c2_node", [row[3] for row in rows])
            worst = [max(float(n) for n in row[:2] if n != "-") for row in rows]
            self.assertEqual(worst, sorted(worst, reverse=True), rows)

    def test_groups_are_planned_for(self):
        """Batches of a node or two, whose groups read what lies before the batch."""
        found, layers = self.groups("onnxrt", "--max-host-mem", "600K")
        self.assertGreater(found["batches"], 1)
        self.assertEqual(layers["r2_node"]["fused"], ["c2_node", "a2_node", "r2_node"])

    def test_the_log_stays_quiet(self):
        onnx.save(network(), "good.onnx")
        ended = subprocess.run([VERNIER, "blame", "good.onnx", "--runner", "gold=openvino",
                                "--runner", "new=onnxrt", "--reference", "gold"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("[W]", ended.stdout)
        self.assertIn("Fused away in the candidate: 4 tensors (c1, c2, a2, g)", ended.stdout)


if __name__ == "__main__":
    unittest.main()
