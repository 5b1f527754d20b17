"""Models that several tests of this folder look at."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def chain(length=6, names="t"):
    """MatMul and Add by turns."""
    random = np.random.default_rng(7)
    nodes, weights, tip = [], [], "x"
    for i in range(length):
        weight = random.normal(size=(16, 16)).astype(np.float32) / 4
        bias = random.normal(size=16).astype(np.float32)
        weights += [numpy_helper.from_array(weight, f"w{i}"),
                    numpy_helper.from_array(bias, f"b{i}")]
        nodes += [helper.make_node("MatMul", [tip, f"w{i}"], [f"{names}{i}m"], name=f"MatMul_{i}"),
                  helper.make_node("Add", [f"{names}{i}m", f"b{i}"], [f"{names}{i}"],
                                   name=f"Add_{i}")]
        tip = f"{names}{i}"
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info(tip, TensorProto.FLOAT, [4, 16])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cancelling(scale=1.0):
    """Normalised twice by hand: the second mean is nothing but the rounding of the first."""
    random = np.random.default_rng(11)
    weight = (random.normal(size=(48, 48)) / 7 * scale).astype(np.float32)
    weights = [numpy_helper.from_array(weight, "w"),
               numpy_helper.from_array(np.ones(48, np.float32), "one"),
               numpy_helper.from_array(np.zeros(48, np.float32), "zero"),
               numpy_helper.from_array(np.float32(1e-5), "epsilon")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], name="project"),
             helper.make_node("LayerNormalization", ["p", "one", "zero"], ["n"], name="norm"),
             helper.make_node("ReduceMean", ["n"], ["mean"], name="mean", axes=[-1]),
             helper.make_node("Sub", ["n", "mean"], ["c"], name="centre"),
             helper.make_node("Mul", ["c", "c"], ["s"], name="square"),
             helper.make_node("ReduceMean", ["s"], ["v"], name="variance", axes=[-1]),
             helper.make_node("Add", ["v", "epsilon"], ["ve"], name="add"),
             helper.make_node("Sqrt", ["ve"], ["d"], name="root"),
             helper.make_node("Div", ["c", "d"], ["y"], name="divide")]
    graph = helper.make_graph(
        nodes, "cancelling", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16, 48])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16, 48])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def centred(scale=1.0):
    """Normalised twice: of the second norm's outputs the mean is nothing but rounding."""
    random = np.random.default_rng(11)
    weight = (random.normal(size=(48, 48)) / 7).astype(np.float32)
    weights = [numpy_helper.from_array(weight, "w"),
               numpy_helper.from_array(np.ones(48, np.float32), "one"),
               numpy_helper.from_array(np.full(48, scale, np.float32), "scale")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], name="project"),
             helper.make_node("LayerNormalization", ["p", "one"], ["n"], name="norm"),
             helper.make_node("LayerNormalization", ["n", "scale"], ["y", "mean"], name="again")]
    graph = helper.make_graph(
        nodes, "centred", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16, 48])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16, 48]),
         helper.make_tensor_value_info("mean", TensorProto.FLOAT, [4, 16, 1])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def offset():
    """LayerNormalization of large values that differ little."""
    ones = numpy_helper.from_array(np.ones(64, np.float32), "one")
    thousand = numpy_helper.from_array(np.float32(1000), "thousand")
    nodes = [helper.make_node("Add", ["x", "thousand"], ["a"], name="offset"),
             helper.make_node("LayerNormalization", ["a", "one"], ["n"], name="norm"),
             helper.make_node("Tanh", ["n"], ["y"], name="tanh")]
    graph = helper.make_graph(
        nodes, "offset", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 64])], [ones, thousand])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
