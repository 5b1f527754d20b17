"""--state cross and --tolerance auto: bounds of steps whose state both sides were given."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from steps_case import StepsCase


class CrossedBounds(StepsCase):
    def rotation(self, name, angle):
        """Turns four phases by an angle at each step, and pushes them; y is a sum of both parts."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, dims)
                for n, dims in (("x", ["B", 1, 4]), ("phase", ["B", 4, 2]), ("y", ["B", 4]),
                                ("new_phase", ["B", 4, 2]))}
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]], "f4")
        nodes = [helper.make_node("MatMul", ["phase", "turn"], ["turned"]),
                 helper.make_node("Squeeze", ["x", "one"], ["flat"]),
                 helper.make_node("Unsqueeze", ["flat", "two"], ["pushes"]),
                 helper.make_node("Mul", ["pushes", "push"], ["pushed"]),
                 helper.make_node("Add", ["turned", "pushed"], ["new_phase"]),
                 helper.make_node("ReduceSum", ["new_phase", "two"], ["y"], keepdims=0)]
        graph = helper.make_graph(
            nodes, "g", [info["x"], info["phase"]], [info["y"], info["new_phase"]],
            [numpy_helper.from_array(turn, "turn"),
             numpy_helper.from_array(np.array([1], "i8"), "one"),
             numpy_helper.from_array(np.array([2], "i8"), "two"),
             numpy_helper.from_array(np.array([0.01, 0], "f4"), "push")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def run_state(self, state, angle):
        self.rotation("a.onnx", 0.3)
        self.rotation("b.onnx", angle)
        x = np.abs(np.random.default_rng(1).normal(size=(2, 400, 4))).astype("f4") + 1
        np.savez(self.path("in.npz"), x=x)
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "in.npz", "--feed-back", "new_phase:phase",
                             "--step-slice", "x:axis=1,size=1", "--tolerance", "auto", "--state",
                             state, "--report", "out.html")
        return ended.code, ended.out + ended.err

    def test_rounding_moves_a_state_that_both_were_given(self):
        """An angle that is a rounding step off: the error adds up, and no step is to blame."""
        code, said = self.run_state("reference", 0.3 + 3e-7)
        self.assertEqual(code, 0, said)
        code, said = self.run_state("cross", 0.3 + 3e-7)
        self.assertEqual(code, 1, said)
        self.assertNotIn("wrong by itself", said)

    def test_a_step_that_is_wrong_is_still_named(self):
        code, said = self.run_state("cross", 0.3 + 1e-4)
        self.assertEqual(code, 1, said)
        self.assertIn("wrong by itself", said)


if __name__ == "__main__":
    unittest.main()
