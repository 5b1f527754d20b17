"""Small models for the recordings of TensorRT's calls: their names are in trace_cases.py."""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def weights(name, *shape):
    values = np.random.default_rng(len(name)).uniform(-0.5, 0.5, shape)
    return numpy_helper.from_array(values.astype(np.float32), name)


def save(path, nodes, inputs, outputs, initializers=()):
    def infos(tensors):
        return [helper.make_tensor_value_info(*tensor) for tensor in tensors]

    graph = helper.make_graph(nodes, path.stem, infos(inputs), infos(outputs), list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)


def write_all(folder):
    folder = pathlib.Path(folder)
    node = helper.make_node
    save(folder / "identity.onnx", [node("Identity", ["x"], ["y"], name="copy")],
         [("x", FLOAT, [1, 2, "height", "width"])], [("y", FLOAT, [1, 2, "height", "width"])])
    save(folder / "conv.onnx",
         [node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
          node("Relu", ["a"], ["b"], name="relu"),
          node("GlobalAveragePool", ["b"], ["y"], name="pool")],
         [("x", FLOAT, [1, 16, 8, 8])], [("y", FLOAT, [1, 32, 1, 1])], [weights("w", 32, 16, 3, 3)])
    save(folder / "folds.onnx",
         [node("Reshape", ["x", "rows"], ["a"]), node("Reshape", ["a", "row"], ["y"])],
         [("x", FLOAT, [1, "width"])], [("y", FLOAT, [1, "other"])],
         [helper.make_tensor(name, INT64, [2], values)
          for name, values in (("rows", [-1, 4]), ("row", [1, -1]))])
    save(folder / "matmul.onnx",
         [node("MatMul", ["x", "w"], ["a"], name="first"), node("Tanh", ["a"], ["b"], name="tanh"),
          node("MatMul", ["b", "v"], ["y"], name="second")],
         [("x", FLOAT, [4, 16])], [("y", FLOAT, [4, 8])], [weights("w", 16, 32), weights("v", 32, 8)])
    save(folder / "places.onnx", [node("NonZero", ["x"], ["y"], name="places")],
         [("x", FLOAT, [4, 8])], [("y", INT64, [2, "count"])])
    save(folder / "expand.onnx", [node("Expand", ["x", "shape"], ["y"], name="expand")],
         [("x", FLOAT, [1, 6]), ("shape", INT64, [2])], [("y", FLOAT, ["rows", "columns"])])
