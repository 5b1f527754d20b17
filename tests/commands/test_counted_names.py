"""Two exports of one network, whose tensors are counted: a node more gives all others new names."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

LAYERS = 4


class CountedNames(Case):
    def net(self, name, extra=(), wrong=None):
        """`extra` operators at first, and layer `wrong` with a weight of its own."""
        steps = [(op, []) for op in extra] + [("Add", ["s"])]
        for layer in range(LAYERS):
            steps += [("MatMul", [f"w{layer}"]), ("Tanh", [])]
        nodes, last = [], "x"
        for i, (op, more) in enumerate(steps):
            nodes.append(helper.make_node(op, [last, *more], [f"val_{i + 1}"]))
            last = f"val_{i + 1}"
        nodes.append(helper.make_node("Identity", [last], ["y"]))
        weights = np.random.default_rng(3).normal(size=(LAYERS, 8, 8)).astype("f4") / 3
        if wrong is not None:
            weights[wrong] *= 1.03
        float_ = TensorProto.FLOAT
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info(n, float_, [1, 8]) for n in ("x", "s")],
            [helper.make_tensor_value_info("y", float_, [1, 8])],
            [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def ended(self, command, *words, code):
        saves = "--save-blame" if command == "blame" else "--save-record"
        ended = self.vernier(command, "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             saves, "record.json", *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said, json.loads(self.path("record.json").read_text(encoding="utf-8"))

    def test_a_node_more_accuses_no_layer(self):
        self.net("a.onnx")
        for extra in (["Identity"], ["Neg", "Neg"]):
            self.net("b.onnx", extra)
            said, record = self.ended("blame", code=0)
            self.assertIn("the same names mean other tensors", said)
            self.assertEqual(record["culprits"], [])
            self.assertEqual(len(record["layers"]), 2 * LAYERS + 2)

    def test_a_fault_among_them_is_named(self):
        self.net("a.onnx")
        self.net("b.onnx", ["Neg", "Neg"], wrong=2)
        said, record = self.ended("blame", code=1)
        culprits = [(c["node"], c["outputs"]) for c in record["culprits"]]
        self.assertEqual(culprits, [("val_8", ["val_6"])], said)
        said, record = self.ended("run", "--mark-all", "--tolerance", "auto", code=1)
        outputs = record["pairs"][0]["outputs"]
        failed = [o["name"] for o in outputs if not o["passed"]]
        self.assertEqual(failed[0], "val_6", said)

    def test_marked_tensors_are_paired_by_structure(self):
        self.net("a.onnx")
        self.net("b.onnx", ["Neg", "Neg"])
        said, record = self.ended("run", "--mark-all", "--tolerance", "auto", code=0)
        self.assertIn("the same names mean other tensors in the two graphs", said)
        (pair,) = record["pairs"]
        paired = {o["name"]: (o["other_name"], o["paired_by"]) for o in pair["outputs"]}
        self.assertEqual(paired["val_1"], ("val_3", "structure"))
        self.assertEqual(paired["y"], ("y", "exact"))
        self.assertEqual(len(paired), 2 * LAYERS + 2)
        said, record = self.ended("run", "--mark-all", "--tolerance", "auto", "--lenient", code=1)
        self.assertNotIn("other tensors", said)


if __name__ == "__main__":
    unittest.main()
