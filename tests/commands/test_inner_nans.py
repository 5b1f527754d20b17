"""NaN within a model that no output shows, and advice where NaN and infinities differ."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class InnerNan(Case):
    def setUp(self):
        super().setUp()
        float_ = TensorProto.FLOAT
        graph = helper.make_graph(
            [helper.make_node("Sin", ["x"], ["s"]), helper.make_node("Div", ["s", "x"], ["d"]),
             helper.make_node("Equal", ["x", "zero"], ["e"]),
             helper.make_node("Where", ["e", "one", "d"], ["y"])],
            "g", [helper.make_tensor_value_info("x", float_, [5])],
            [helper.make_tensor_value_info("y", float_, [5])],
            [numpy_helper.from_array(np.float32(0), "zero"),
             numpy_helper.from_array(np.float32(1), "one")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("sinc.onnx")))
        np.savez(self.path("x.npz"), x=np.array([-1, -0.5, 0, 0.5, 1], "f4"))

    def test_nan_that_no_output_shows_is_a_note(self):
        words = ["--onnxrt", "--openvino", "--load-inputs", "x.npz"]
        ended = self.vernier("run", "sinc.onnx", *words, "--mark-all", "--tolerance", "auto")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("NaN in the same places on both sides of 'd' reaches no output", said)
        ended = self.vernier("blame", "sinc.onnx", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_nan_on_one_side_fails(self):
        x = np.array([-1, -0.5, 0, 0.5, 1], "f4")
        divided = np.divide(np.sin(x), x, out=np.zeros(5, "f4"), where=x != 0)
        outputs = {"s": np.sin(x), "d": divided, "e": x == 0, "y": np.where(x == 0, 1, divided)}
        self.save_runs("saved.json", [("saved", [{n: np.asarray(t, t.dtype)
                                                  for n, t in outputs.items()}])])
        ended = self.vernier("run", "sinc.onnx", "--onnxrt", "--load-inputs", "x.npz", "--mark-all",
                             "--load-outputs", "saved.json", "--tolerance", "auto")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 1, said)
        self.assertIn("first failing output, in the graph's order: d", said)

    def test_advice_names_what_the_command_has_not(self):
        float_ = TensorProto.FLOAT
        graph = helper.make_graph(
            [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.DOUBLE)], "g",
            [helper.make_tensor_value_info("x", float_, [3])],
            [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("cast.onnx")))
        np.savez(self.path("x.npz"), x=np.array([-np.inf, 1, np.inf], "f4"))
        # OpenVINO has numbers in place of infinities here.
        words = ["run", "cast.onnx", "--onnxrt", "--openvino", "--load-inputs", "x.npz"]
        said = self.vernier(*words).out
        self.assertIn("find where they start: add --onnx-outputs '*' --validate\n", said)
        said = self.vernier(*words, "--mark-all").out
        self.assertIn("find where they start: add --validate\n", said)


if __name__ == "__main__":
    unittest.main()
