"""Models of the cases `blame` and `report`: a network of the size of ResNet-50, and long chains.

    .deps/peer/bin/python blame_models.py FOLDER
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        values = self.random.normal(size=shape).astype(np.float32) * np.float32((2 / fan) ** 0.5)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(op, list(inputs), [f"t{self.count}"],
                                           name=f"{op}_{self.count}", **attributes))
        return f"t{self.count}"

    def save(self, path, shape, output):
        graph = helper.make_graph(
            self.nodes, "bench", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)


def resnet50(path):
    b = Builder()

    def conv(x, channels, out, kernel, stride=1, relu=True):
        x = b.node("Conv", x, b.weight(out, channels, kernel, kernel), b.weight(out),
                   kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        return b.node("Relu", x) if relu else x

    x = conv("x", 3, 64, 7, 2)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            shortcut = x
            if block == 0:
                shortcut = conv(x, channels, 4 * width, 1, stride, relu=False)
            y = conv(x, channels, width, 1)
            y = conv(y, width, width, 3, stride)
            y = conv(y, width, 4 * width, 1, relu=False)
            x = b.node("Relu", b.node("Add", y, shortcut))
            channels = 4 * width
    x = b.node("Flatten", b.node("GlobalAveragePool", x))
    x = b.node("Gemm", x, b.weight(channels, 1000), b.weight(1000))
    b.save(path, [1, 3, 224, 224], x)


def chain(path, layers, shape):
    b = Builder()
    x = "x"
    scale = b.weight(shape[-1])
    for i in range(layers):
        x = b.node("Mul", x, scale) if i % 4 == 0 else b.node(("Relu", "Tanh", "Sigmoid")[i % 3], x)
    b.save(path, shape, x)


def main():
    folder = pathlib.Path(sys.argv[1])
    resnet50(folder / "resnet50.onnx")
    chain(folder / "chain10000.onnx", 10_000, [2, 8])
    chain(folder / "chain1000.onnx", 1_000, [16, 256])


if __name__ == "__main__":
    main()
