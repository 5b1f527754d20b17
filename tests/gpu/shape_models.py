"""Writes models whose shapes depend on data, and a transformer block: python3 shape_models.py FOLDER
(needs onnx)."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def save(folder, name, nodes, inputs, outputs, weights=()):
    def infos(tensors):
        return [helper.make_tensor_value_info(*tensor) for tensor in tensors]

    graph = helper.make_graph(nodes, name, infos(inputs), infos(outputs), list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def weight(name, *shape):
    values = np.random.default_rng(len(name)).normal(0, shape[0] ** -0.5, shape)
    return numpy_helper.from_array(values.astype(np.float32), name)


def transformer(folder):
    """Attention over 16 places of 32 numbers, and the two layers after it, as one head."""
    node, width = helper.make_node, 32
    nodes = [node("MatMul", ["x", w], [o]) for w, o in (("wq", "q"), ("wk_", "k"), ("wv__", "v"))]
    nodes += [node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["s"]),
              node("Mul", ["s", "scale"], ["scaled"]), node("Softmax", ["scaled"], ["p"], axis=-1),
              node("MatMul", ["p", "v"], ["a"]), node("Add", ["a", "x"], ["r"]),
              node("ReduceMean", ["r"], ["mean"], axes=[-1]), node("Sub", ["r", "mean"], ["c"]),
              node("Mul", ["c", "c"], ["cc"]), node("ReduceMean", ["cc"], ["var"], axes=[-1]),
              node("Add", ["var", "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"]),
              node("Div", ["c", "sd"], ["n"]), node("MatMul", ["n", "up"], ["h"]),
              node("Relu", ["h"], ["g"]), node("MatMul", ["g", "down"], ["d"]),
              node("Add", ["d", "n"], ["y"])]
    weights = [weight("wq", width, width), weight("wk_", width, width), weight("wv__", width, width),
               weight("up", width, 64), weight("down", 64, width),
               numpy_helper.from_array(np.float32(width ** -0.5), "scale"),
               numpy_helper.from_array(np.float32(1e-5), "eps")]
    shape = [1, 16, width]
    save(folder, "transformer", nodes, [("x", FLOAT, shape)], [("y", FLOAT, shape)], weights)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    transformer(folder)
    # How many places there are is known when they have been counted.
    save(folder, "places", [helper.make_node("NonZero", ["x"], ["y"])],
         [("x", FLOAT, [16, 64])], [("y", INT64, [2, "count"])])
    # The second input is a shape, which TensorRT reads on the host.
    save(folder, "expand", [helper.make_node("Expand", ["x", "shape"], ["y"])],
         [("x", FLOAT, [1, 6]), ("shape", INT64, [2])], [("y", FLOAT, ["rows", "columns"])])


main(sys.argv[1])
