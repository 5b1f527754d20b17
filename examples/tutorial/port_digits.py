#!/usr/bin/env python3
"""The exporter of docs/tutorial.md: writes the network of ../digits.onnx anew, with a fault.

Usage: port_digits.py OUT.onnx

Stands for any program that carries weights from one framework to another: it takes the weights of
digits.onnx and builds the layers from what it believes them to be. Needs the package onnx.
"""

import pathlib
import sys

import onnx
from onnx import TensorProto, helper

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "digits.onnx"

# What batch normalisation adds to the variance. The network was trained with 1e-5; this is the
# default of the framework that the network is carried to.
BN_EPSILON = 1e-3


def layers():
    """The network, layer by layer, under the names that it has in digits.onnx."""
    node = helper.make_node
    return [
        node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "conv1",
             pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["conv1", "bn1.scale", "bn1.bias", "bn1.mean", "bn1.var"],
             ["bn1"], "bn1", epsilon=BN_EPSILON),
        node("Relu", ["bn1"], ["relu1"], "relu1"),
        node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2",
             pads=[1, 1, 1, 1]),
        node("Relu", ["conv2"], ["relu2"], "relu2"),
        node("Flatten", ["relu2"], ["features"], "flatten"),
        node("Gemm", ["features", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]


def main(path):
    weights = onnx.load(SOURCE).graph.initializer
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        layers(), "digits", [value("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [value(name, TensorProto.FLOAT, ["batch", 10]) for name in ("logits", "probabilities")],
        list(weights))
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
