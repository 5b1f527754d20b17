"""Writes models whose shapes depend on data, transformer blocks, and a model with an operator that
TensorRT does not have: python3 shape_models.py FOLDER (needs onnx)."""
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


def transformer_of_convolutions(folder):
    """The same with 1x1 convolutions as projections, which TensorRT 8 builds without cuBLAS, too."""
    node, width, places = helper.make_node, 32, 16
    weights = [numpy_helper.from_array(np.float32(width ** -0.5), "scale"),
               numpy_helper.from_array(np.float32(1e-5), "eps")]

    def project(taken, given, inner, outer):
        values = np.random.default_rng(ord(given[0])).normal(0, inner ** -0.5, (outer, inner, 1, 1))
        weights.append(numpy_helper.from_array(values.astype(np.float32), "w_" + given))
        return node("Conv", [taken, "w_" + given], [given])

    nodes = [project("x", given, width, width) for given in "qkv"]
    nodes += [node("Transpose", ["q"], ["qt"], perm=[0, 3, 2, 1]),
              node("Transpose", ["k"], ["kt"], perm=[0, 3, 1, 2]),
              node("Transpose", ["v"], ["vt"], perm=[0, 3, 2, 1]),
              node("MatMul", ["qt", "kt"], ["s"]), node("Mul", ["s", "scale"], ["scaled"]),
              node("Softmax", ["scaled"], ["p"], axis=-1), node("MatMul", ["p", "vt"], ["at"]),
              node("Transpose", ["at"], ["a"], perm=[0, 3, 2, 1]), node("Add", ["a", "x"], ["r"]),
              node("ReduceMean", ["r"], ["mean"], axes=[1]), node("Sub", ["r", "mean"], ["c"]),
              node("Mul", ["c", "c"], ["cc"]), node("ReduceMean", ["cc"], ["var"], axes=[1]),
              node("Add", ["var", "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"]),
              node("Div", ["c", "sd"], ["n"]), project("n", "h", width, 64),
              node("Relu", ["h"], ["g"]), project("g", "d", 64, width),
              node("Add", ["d", "n"], ["y"])]
    shape = [1, width, places, 1]
    save(folder, "transformer_conv", nodes, [("x", FLOAT, shape)], [("y", FLOAT, shape)], weights)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    transformer(folder)
    transformer_of_convolutions(folder)
    # No release of TensorRT has a layer for it.
    save(folder, "determinant", [helper.make_node("Relu", ["x"], ["r"], name="fine"),
                                 helper.make_node("Det", ["r"], ["y"], name="strange")],
         [("x", FLOAT, [2, 4, 4])], [("y", FLOAT, [2])])
    # How many places there are is known when they have been counted.
    save(folder, "places", [helper.make_node("NonZero", ["x"], ["y"])],
         [("x", FLOAT, [16, 64])], [("y", INT64, [2, "count"])])
    # The second input is a shape, which TensorRT reads on the host.
    save(folder, "expand", [helper.make_node("Expand", ["x", "shape"], ["y"])],
         [("x", FLOAT, [1, 6]), ("shape", INT64, [2])], [("y", FLOAT, ["rows", "columns"])])


main(sys.argv[1])
