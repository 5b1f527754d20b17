"""--fp-to-fp16: copies of recurrent networks open, whatever form their nodes have."""

import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from program import Case
from test_float16 import model, value, weight


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


if __name__ == "__main__":
    unittest.main()
