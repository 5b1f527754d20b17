"""Faults within the bodies of Loop and Scan."""

import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

ROWS, WIDTH, ROUNDS = 4, 8, 5


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(path, nodes, result, constants):
    graph = helper.make_graph(
        [helper.make_node("Tanh", ["x"], ["t"], name="before"), *nodes,
         helper.make_node("Relu", [result], ["y"], name="after")],
        "bodies", [value("x", [ROWS, WIDTH])], [value("y", None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def weights():
    random = np.random.default_rng(11)
    return {"w": (random.normal(size=(WIDTH, WIDTH)) / WIDTH ** 0.5).astype(np.float32)}


def step(state, after, activation, scale):
    """state @ w, an activation, times something that the graph around it made."""
    return [helper.make_node("MatMul", [state, "w"], ["m"], name="inner_matmul"),
            helper.make_node(activation, ["m"], ["a"], name="inner_activation"),
            helper.make_node("Mul", ["a", scale], [after], name="inner_mul")]


def loop(path, activation):
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"], name="inner_condition"),
         *step("state", "next", activation, "t")], "body",
        [value("round", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("state", [ROWS, WIDTH])],
        [value("goes_on", [], TensorProto.BOOL), value("next", [ROWS, WIDTH])])
    save(path, [helper.make_node("Loop", ["rounds", "", "t"], ["last"], name="the_loop",
                                 body=body)], "last",
         {**weights(), "rounds": np.array(ROUNDS, np.int64)})


def scan(path, activation):
    body = helper.make_graph(
        [*step("state", "next", activation, "slice"),
         helper.make_node("Identity", ["next"], ["kept"], name="inner_keep")], "body",
        [value("state", [1, WIDTH]), value("slice", [WIDTH])],
        [value("next", [1, WIDTH]), value("kept", [1, WIDTH])])
    save(path, [helper.make_node("Scan", ["start", "t"], ["last", "all"], name="the_scan",
                                 num_scan_inputs=1, body=body)], "all",
         {**weights(), "start": np.full((1, WIDTH), 0.7, np.float32)})


def only_later(path, wrong, rounds=ROUNDS, most=5.5):
    """The fault shows in later rounds: Clip cuts off what has grown, twofold in each."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"], name="inner_condition"),
         helper.make_node("Add", ["state", "state"], ["grown"], name="inner_add"),
         helper.make_node("Clip", ["grown", "", "most"], ["next"], name="inner_clip")], "body",
        [value("round", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("state", [ROWS, WIDTH])],
        [value("goes_on", [], TensorProto.BOOL), value("next", [ROWS, WIDTH])])
    save(path, [helper.make_node("Loop", ["rounds", "", "t"], ["last"], name="the_loop",
                                 body=body)], "last",
         {"rounds": np.array(rounds, np.int64),
          "most": np.array(most if wrong else 1e6, np.float32)})


class Bodies(Case):
    def search(self, candidate="onnxrt"):
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             f"new={candidate} bad.onnx", "--reference", "gold")
        self.assertIn(ended.returncode, (0, 1), ended.stdout + ended.stderr)
        return [(culprit["node"], culprit["why"]) for culprit in found["culprits"]]

    def test_the_node_within_the_body(self):
        for make, outer in ((loop, "the_loop"), (scan, "the_scan")):
            with self.subTest(outer):
                make("good.onnx", "Sigmoid")
                make("bad.onnx", "Softplus")
                (first, why), (second, _), *others = self.search()
                self.assertEqual((first, second, others), ("inner_activation", outer, []))
                self.assertIn(f"in the body of '{outer}'", why)

    def test_a_fault_of_later_rounds(self):
        only_later("good.onnx", False)
        only_later("bad.onnx", True)
        self.assertEqual([node for node, _ in self.search()], ["inner_clip", "the_loop"])

    def test_rounds_that_are_not_looked_at_are_told(self):
        only_later("good.onnx", False, 12, 700)
        only_later("bad.onnx", True, 12, 700)
        (node, why), *others = self.search()
        self.assertEqual((node, others), ("the_loop", []))
        self.assertIn("within its body nothing is to blame in the first 8 rounds", why)

    def test_bodies_that_are_not_searched_are_told(self):
        loop("good.onnx", "Sigmoid")
        loop("bad.onnx", "Softplus")
        subprocess.run([VERNIER, "run", "good.onnx", "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", "in.npz", "--save-outputs", "gold.npz", "-qq"],
                       check=True, capture_output=True)
        _, found = blame(self.folder.name, "bad.onnx", "--onnxrt", "--load-inputs", "in.npz",
                         "--load-outputs", "gold.npz")
        (culprit,) = found["culprits"]
        self.assertEqual(culprit["node"], "the_loop")
        self.assertIn("its body is not searched against saved outputs", culprit["why"])

    def test_no_fault(self):
        for make in (loop, scan):
            for candidate in ("onnxrt", "openvino"):
                make("good.onnx", "Sigmoid")
                make("bad.onnx", "Sigmoid")
                self.assertEqual(self.search(candidate), [])


if __name__ == "__main__":
    unittest.main()
