"""Models for run_onnxrt_providers.sh: an 8-layer convolutional network, a block of a transformer, and
models with an operator that ONNX Runtime has for CPUs only.

    python3 provider_models.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node


def save(path, nodes, shape, out, weights=()):
    graph = helper.make_graph(
        nodes, path.stem, [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
        [numpy_helper.from_array(np.asarray(value, np.float32), name)
         for name, value in dict(weights).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def convolutions(path, random):
    nodes, weights, last, channels = [], {}, "x", 3
    for i in range(8):
        weights[f"w{i}"] = random.normal(size=(32, channels, 3, 3)) * (2 / (9 * channels)) ** 0.5
        made = "y" if i == 7 else f"r{i}"
        nodes += [node("Conv", [last, f"w{i}"], [f"c{i}"], name=f"conv{i}", pads=[1] * 4),
                  node("Relu", [f"c{i}"], [made], name=f"relu{i}")]
        last, channels = made, 32
    save(path, nodes, [1, 3, 64, 64], [1, 32, 64, 64], weights)


def attention(path, random, width=64):
    weights = {"scale": width ** -0.5, "gain": np.ones(width), "bias": np.zeros(width)}
    for name in ("q", "k", "v", "up", "down"):
        weights["w_" + name] = random.normal(size=(width, width)) * width ** -0.5
    nodes = [node("MatMul", ["x", "w_" + name], [name]) for name in ("q", "k", "v")]
    nodes += [node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["s"]),
              node("Mul", ["s", "scale"], ["scaled"]), node("Softmax", ["scaled"], ["p"], axis=-1),
              node("MatMul", ["p", "v"], ["a"]), node("Add", ["a", "x"], ["r"]),
              node("LayerNormalization", ["r", "gain", "bias"], ["n"], axis=-1),
              node("MatMul", ["n", "w_up"], ["u"]), node("Relu", ["u"], ["g"]),
              node("MatMul", ["g", "w_down"], ["d"]), node("Add", ["d", "n"], ["y"])]
    save(path, nodes, ["batch", "tokens", width], ["batch", "tokens", width], weights)


def main(folder):
    random = np.random.default_rng(7)
    convolutions(folder / "conv.onnx", random)
    attention(folder / "attention.onnx", random)
    save(folder / "det.onnx", [node("Relu", ["x"], ["r"], name="fine"),
                               node("Det", ["r"], ["y"], name="strange")], [2, 4, 4], [2])
    save(folder / "lone_det.onnx", [node("Det", ["x"], ["y"], name="strange")], [2, 4, 4], [2])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
