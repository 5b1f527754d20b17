"""What tests of steps share: a recurrent network, its inputs, and two runners of it."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class StepsCase(Case):
    def recurrent(self, name, gain=1.0, state="h"):
        """h_new = tanh(h W + x) * gain, y = sum of h_new. `state` is the name of h."""
        new = state + "n"
        weights = np.random.default_rng(3).normal(0, 0.4, (4, 4)).astype("f4")
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
                for n, s in (("x", [1, 4]), (state, [1, 4]), ("y", [1, 1]), (new, [1, 4]))}
        nodes = [helper.make_node("MatMul", [state, "w"], ["hw"]),
                 helper.make_node("Add", ["hw", "x"], ["sum"]),
                 helper.make_node("Tanh", ["sum"], ["t"]),
                 helper.make_node("Mul", ["t", "gain"], [new]),
                 helper.make_node("ReduceSum", [new, "axes"], ["y"], keepdims=1)]
        graph = helper.make_graph(
            nodes, "g", [info["x"], info[state]], [info["y"], info[new]],
            [numpy_helper.from_array(weights, "w"),
             numpy_helper.from_array(np.float32(gain), "gain"),
             numpy_helper.from_array(np.array([1], "i8"), "axes")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))
        return weights

    def late(self, name):
        """As recurrent(), but h has a tenth more weight, which the first step does not show."""
        self.recurrent(name)
        model = onnx.load(str(self.path(name)))
        (weights,) = [w for w in model.graph.initializer if w.name == "w"]
        weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights) * np.float32(1.1),
                                                 "w"))
        onnx.save(model, str(self.path(name)))

    def record(self):
        return json.loads(self.path("r.json").read_text(encoding="utf-8"))

    def recordings(self, steps=5):
        random = np.random.default_rng(5)
        return [{"x": random.normal(size=(1, 4 * steps)).astype("f4")} for _ in range(2)]

    def run_two(self, *words, gain=1.0, code=0, feed_back="hn:h"):
        self.recurrent("a.onnx")
        self.recurrent("b.onnx", gain)
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--iterations", "2", "--feed-back", feed_back, "--save-record",
                             "r.json", *words)
        said = ended.out + ended.err
        if code is not None:
            self.assertEqual(ended.code, code, said)
        return said

    def times(self):
        return {o["name"]: o["time"] for o in self.record()["pairs"][0]["outputs"]}
