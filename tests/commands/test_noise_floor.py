"""--noise-floor of the real ONNX Runtime: what its package in Python differs from itself by."""

import json

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import Case

LAYERS, SHAPE = 12, (1, 16, 16, 16)


def convolutions():
    """Whose sums ONNX Runtime orders otherwise where it may choose their layout."""
    random = np.random.default_rng(4)
    nodes, weights = [], []
    for i in range(LAYERS):
        kernel = random.standard_normal((16, 16, 3, 3)) * np.sqrt(2 / (9 * 16))
        weights.append(numpy_helper.from_array(kernel.astype(np.float32), f"w{i}"))
        nodes += [helper.make_node("Conv", [f"t{i}", f"w{i}"], [f"c{i}"], pads=[1, 1, 1, 1]),
                  helper.make_node("Relu", [f"c{i}"], [f"t{i + 1}"])]
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE)
                   for name in ("t0", f"t{LAYERS}"))
    graph = helper.make_graph(nodes, "convolutions", [given], [made], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rms(array):
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64))))


class NoiseFloor(Case):
    def outputs(self, feed, plainly):
        options = onnxruntime.SessionOptions()
        if plainly:
            options.intra_op_num_threads = 1
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(self.path("m.onnx")), options,
                                               providers=["CPUExecutionProvider"])
        return session.run(None, {"t0": feed})[0]

    def test_the_tolerance_is_eight_times_the_noise(self):
        onnx.save(convolutions(), str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--noise-floor",
                             "--save-inputs", "in.npz", "--save-record", "record.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        with np.load(self.path("in.npz")) as saved:
            feed = next(saved[name] for name in saved.files if saved[name].shape == SHAPE)
        usual, plain = self.outputs(feed, False), self.outputs(feed, True)
        noise = rms(usual - plain) / rms(usual)
        judged = json.loads(self.path("record.json").read_text())["pairs"][0]["outputs"][0]
        auto = judged["auto_tolerance"]
        if noise == 0:  # a processor for which both have one layout
            self.assertIn("no noise measured", auto["why"])
            return
        self.assertIn("measured, 8 times the noise", auto["why"])
        smallest = 32 * 2.0 ** -24
        self.assertAlmostEqual(auto["bound"] / max(8 * noise, smallest), 1, delta=0.02)
