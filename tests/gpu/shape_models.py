"""Writes models whose shapes depend on data: python3 shape_models.py FOLDER (needs onnx)."""
import os
import sys

import onnx
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def save(folder, name, nodes, inputs, outputs):
    def infos(tensors):
        return [helper.make_tensor_value_info(*tensor) for tensor in tensors]

    graph = helper.make_graph(nodes, name, infos(inputs), infos(outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    # How many places there are is known when they have been counted.
    save(folder, "places", [helper.make_node("NonZero", ["x"], ["y"])],
         [("x", FLOAT, [16, 64])], [("y", INT64, [2, "count"])])
    # The second input is a shape, which TensorRT reads on the host.
    save(folder, "expand", [helper.make_node("Expand", ["x", "shape"], ["y"])],
         [("x", FLOAT, [1, 6]), ("shape", INT64, [2])], [("y", FLOAT, ["rows", "columns"])])


main(sys.argv[1])
