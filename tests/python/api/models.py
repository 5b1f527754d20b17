"""Loaders of ONNX models."""
import onnx
from onnx import TensorProto, helper
from PREFIX import constants
from PREFIX.backend.common import BytesFromPath, InvokeFromScript, SaveBytes
from PREFIX.backend.onnx import (BytesFromOnnx, InferShapes, ModifyOutputs, OnnxFromBytes,
                                 OnnxFromPath, SaveOnnx, modify_outputs, onnx_from_path)
from PREFIX.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.CRITICAL
info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Abs", ["r"], ["a"]),
         helper.make_node("Neg", ["a"], ["y"])]
onnx.save(helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:]), ir_version=8,
                            opset_imports=[helper.make_opsetid("", 17)]), "m.onnx")


def outputs(model):
    return [output.name for output in model.graph.output]


load = OnnxFromPath("m.onnx")
print(outputs(load()), outputs(onnx_from_path("m.onnx")))
print(outputs(ModifyOutputs(load, outputs=["r"])()))
print(outputs(ModifyOutputs(load, outputs=constants.MARK_ALL)()))
print(outputs(ModifyOutputs(load, outputs=constants.MARK_ALL, exclude_outputs=["a"])()))
print(outputs(modify_outputs(load, outputs=["a", "r"])))
content = BytesFromOnnx(load)()
print(outputs(OnnxFromBytes(content)()), content == load().SerializeToString())
print(outputs(SaveOnnx(load, "saved.onnx")()), outputs(onnx.load("saved.onnx")))
print([(v.name, len(v.type.tensor_type.shape.dim)) for v in InferShapes(load)().graph.value_info])
print(SaveBytes(lambda: b"abc", "bytes")(), BytesFromPath("bytes")())
with open("own.py", "w") as file:
    file.write("def add(a, b=1):\n    return a + b\n")
print(InvokeFromScript("own.py", "add")(1, b=4))
print(constants.DEFAULT_SEED, repr(constants.TAB), constants.MARK_ALL)
