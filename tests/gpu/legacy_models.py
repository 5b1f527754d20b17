"""Writes the same small networks as Caffe, UFF and ONNX: python3 legacy_models.py FOLDER (needs onnx).

    conv.prototxt, conv.caffemodel, conv_same.onnx    Conv, Relu, inner product
    relu.uff, relu_same.onnx                          Relu
"""
import os
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def content(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def blob(array):
    """caffe.BlobProto"""
    shape = content(1, b"".join(varint(size) for size in array.shape))
    return content(7, shape) + content(5, struct.pack(f"<{array.size}f", *array.ravel()))


def caffe_layer(name, kind, bottom, top, *blobs):
    """caffe.LayerParameter within caffe.NetParameter"""
    return content(100, content(1, name) + content(2, kind) + content(3, bottom) + content(4, top) +
                   b"".join(content(7, blob(array)) for array in blobs))


PROTOTXT = """name: "small"
input: "x"
input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
layer { name: "conv" type: "Convolution" bottom: "x" top: "c"
        convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: "relu" type: "ReLU" bottom: "c" top: "r" }
layer { name: "dense" type: "InnerProduct" bottom: "r" top: "y"
        inner_product_param { num_output: 5 } }
"""


def write_caffe(folder):
    random = np.random.default_rng(7)
    w, b, v, d = (random.normal(0, 0.3, shape).astype(np.float32)
                  for shape in ((4, 3, 3, 3), (4,), (5, 256), (5,)))
    with open(os.path.join(folder, "conv.prototxt"), "w", encoding="utf-8") as file:
        file.write(PROTOTXT)
    with open(os.path.join(folder, "conv.caffemodel"), "wb") as file:
        file.write(content(1, "small") + caffe_layer("conv", "Convolution", "x", "c", w, b) +
                   caffe_layer("relu", "ReLU", "c", "r") +
                   caffe_layer("dense", "InnerProduct", "r", "y", v, d))
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Flatten", ["r"], ["f"]),
             helper.make_node("Gemm", ["f", "v", "d"], ["g"], transB=1),
             helper.make_node("Reshape", ["g", "shape"], ["y"])]
    weights = [numpy_helper.from_array(array, name)
               for array, name in ((w, "w"), (b, "b"), (v, "v"), (d, "d"),
                                   (np.array([1, 5, 1, 1]), "shape"))]
    save_onnx(folder, "conv_same", nodes, [1, 3, 8, 8], [1, 5, 1, 1], weights)


def uff_field(name, data):
    """An entry of a map from names to uff.Data"""
    return content(4, content(1, name) + content(2, data))


def uff_node(name, operation, inputs=(), *fields):
    return content(2, content(1, name) + b"".join(content(2, each) for each in inputs) +
                   content(3, operation) + b"".join(fields))


def write_uff(folder):
    float32 = 131104
    shape = content(8, content(1, b"".join(varint(size) for size in (1, 3, 4, 4))))
    graph = (content(1, "main") +
             uff_node("x", "Input", (), uff_field("dtype", number(101, float32)),
                      uff_field("shape", shape)) +
             uff_node("y", "Activation", ("x",), uff_field("func", content(1, "relu"))) +
             uff_node("MarkOutput_0", "MarkOutput", ("y",)))
    with open(os.path.join(folder, "relu.uff"), "wb") as file:
        file.write(number(1, 1) + number(2, 1) + content(4, graph))
    save_onnx(folder, "relu_same", [helper.make_node("Relu", ["x"], ["y"])], [1, 3, 4, 4],
              [1, 3, 4, 4])


def save_onnx(folder, name, nodes, taken, given, weights=()):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, taken)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, given)], list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    write_caffe(folder)
    write_uff(folder)


if __name__ == "__main__":
    main(sys.argv[1])
