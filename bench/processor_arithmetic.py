#!/usr/bin/env python3
"""What OpenVINO and ONNX Runtime make of int8 products and bfloat16 roundings on this processor.

    bench/processor_arithmetic.py

Needs a Python with numpy, onnx, ml_dtypes, onnxruntime and openvino. Prints root mean square errors
relative to the exact result, to pairs of products that saturate in 16 bits, and to roundings that
are left out. Under `qemu-x86_64 -cpu Haswell` it shows a processor with AVX2 alone (qemu 7.2
computes some of OpenVINO's other functions wrongly there, Tanh among them).
"""

from __future__ import annotations

import pathlib
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

LENGTH = 256
SCALE = 0.01


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def model(nodes, shape, made, constants) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "arithmetic",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, made)],
                              constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def both(network: onnx.ModelProto, x: np.ndarray) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(network.SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(network, path)
        compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        return {"ONNX Runtime": session.run(None, {"x": x})[0],
                "OpenVINO": np.array(compiled({"x": x})[0])}


def error(values: np.ndarray, reference: np.ndarray) -> float:
    return float(np.sqrt(np.mean((values - reference) ** 2) / np.mean(reference ** 2)))


def int8(largest: int) -> None:
    random = np.random.default_rng(0)
    weights = random.integers(-largest, largest + 1, (LENGTH, 64)).astype(np.int8)
    weights[:, :8] = largest
    nodes = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"]),
             helper.make_node("MatMul", ["d", "wd"], ["y"])]
    constants = [constant("xs", np.float32(1 / 127)), constant("xz", np.uint8(0)),
                 constant("w", weights), constant("ws", np.float32(SCALE)),
                 constant("wz", np.int8(0))]
    x = np.random.default_rng(1).uniform(0, 2, (32, LENGTH)).astype(np.float32)
    q = np.clip(np.rint(x.astype(np.float64) * 127), 0, 255)
    products = q[:, None, :] * weights.T.astype(np.float64)[None]
    exact = products.sum(-1) * SCALE / 127
    pairs = np.clip(products[..., 0::2] + products[..., 1::2], -32768, 32767)
    saturated = pairs.sum(-1) * SCALE / 127
    for name, values in both(model(nodes, [32, LENGTH], [32, 64], constants), x).items():
        print(f"int8, weights up to {largest}: {name} is off by {error(values, exact):.1e}, and "
              f"from sums that saturate in 16 bits by {error(values, saturated):.1e}")


def bfloat16() -> None:
    random = np.random.default_rng(0)
    weights = [(random.normal(size=(64, 64)) / 8).astype(np.float32) for _ in range(3)]
    nodes, name = [], "x"
    for i in range(len(weights)):
        made = "y" if i + 1 == len(weights) else f"y{i}"
        nodes += [helper.make_node("Cast", [name], [f"b{i}"], to=TensorProto.BFLOAT16),
                  helper.make_node("Cast", [f"b{i}"], [f"f{i}"], to=TensorProto.FLOAT),
                  helper.make_node("MatMul", [f"f{i}", f"w{i}"], [made])]
        name = made
    x = np.random.default_rng(1).normal(size=(32, 64)).astype(np.float32)
    rounded, exact = x.astype(np.float64), x.astype(np.float64)
    for weight in weights:
        short = rounded.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
        rounded, exact = short @ weight, exact @ weight
    constants = [constant(f"w{i}", weight) for i, weight in enumerate(weights)]
    for runtime, values in both(model(nodes, [32, 64], [32, 64], constants), x).items():
        print(f"bfloat16: {runtime} is off by {error(values, rounded):.1e}, and from the network "
              f"without roundings by {error(values, exact):.1e}")


def main() -> None:
    int8(127)
    int8(63)
    bfloat16()


if __name__ == "__main__":
    main()
