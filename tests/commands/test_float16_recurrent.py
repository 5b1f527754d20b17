"""--fp-to-fp16: copies of recurrent networks open, whatever form their nodes have."""

import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from program import Case
from test_float16 import model, node, value, weight


class RecurrentFloat16(Case):
    def test_recurrences_of_every_form_open_in_float16(self):
        kinds = {"GRU": (3, [{}, {"linear_before_reset": 1}]), "LSTM": (4, [{}]), "RNN": (1, [{}])}
        nodes, inits, outputs = [], [numpy_helper.from_array(np.array([5, 4], "i4"), "lengths")], []
        for op, (gates, variants) in kinds.items():
            for way in ("forward", "reverse", "bidirectional"):
                count = 2 if way == "bidirectional" else 1
                of = f"{op}_{way}"
                inits += [weight(f"{of}_w", count, gates * 4, 3, scale=0.3),
                          weight(f"{of}_r", count, gates * 4, 4, scale=0.3),
                          weight(f"{of}_b", count, gates * 8, scale=0.1),
                          weight(f"{of}_h", count, 2, 4, scale=0.1)]
                optional = [["", "", ""], [f"{of}_b", "", f"{of}_h"], [f"{of}_b", "lengths", ""]]
                for variant in variants:
                    for more in optional:
                        name = f"y{len(outputs)}"
                        last = [name] if len(outputs) % 2 else ["", name]
                        inputs = ["x", f"{of}_w", f"{of}_r", *more]
                        nodes.append(helper.make_node(op, inputs, last, f"{of}_{name}",
                                                      hidden_size=4, direction=way, **variant))
                        rank = 4 if len(outputs) % 2 else 3
                        outputs.append(value(name, [None] * rank))
        onnx.save(model(nodes, [value("x", [5, 2, 3])], outputs, inits), str(self.path("m.onnx")))
        # In a worker: a runtime that dies of a model must not take the test along.
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner",
                             "half=onnxrt --fp-to-fp16", "--rtol", "0.02", "--atol", "0.02")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn(f"{len(outputs)} outputs", ended.out)

    def test_a_transposition_that_kills_onnxruntime_stays_in_float32(self):
        """It fuses a float16 Transpose that moves the first axis back with the MatMul behind, and
        dies of that while it opens the model (1.31.1). Exports with batch_first have both."""
        shapes = {(1, 0, 2): [5, 1, 8], (1, 2, 0): [8, 5, 3], (1, 2, 0, 3): [2, 3, 4, 8],
                  (1, 2, 3, 0): [8, 3, 4, 2]}
        for order, shape in shapes.items():
            with self.subTest(order=order):
                nodes = [node("Transpose", ["x"], ["t"], perm=order),
                         node("MatMul", ["t", "w"], ["m"]), node("Relu", ["m"], ["y"])]
                onnx.save(model(nodes, [value("x", shape)], [value("y", None)],
                                [weight("w", 8, 4)]), str(self.path("m.onnx")))
                ended = self.vernier("convert", "m.onnx", "-o", "half.onnx", "--fp-to-fp16")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner",
                                     "half=onnxrt half.onnx", "--rtol", "0.02", "--atol", "0.02")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                made = onnx.shape_inference.infer_shapes(onnx.load(str(self.path("half.onnx"))))
                types = {v.name: v.type.tensor_type.elem_type for v in made.graph.value_info}
                of = {n.op_type: types.get(n.output[0]) for n in made.graph.node}
                self.assertEqual(of["Transpose"], onnx.TensorProto.FLOAT)
                self.assertEqual(of["MatMul"], onnx.TensorProto.FLOAT16)


if __name__ == "__main__":
    unittest.main()
