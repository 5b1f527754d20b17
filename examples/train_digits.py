#!/usr/bin/env python3
"""Trains the network of the demo and writes the files beside this script.

A small convolutional network is trained on the handwritten digits that scikit-learn ships, in plain
NumPy: forward and backward passes are short enough to read, and nothing larger has to be installed.
See README.md in this folder for what the files are and how to run this.
"""

import base64
import io
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 2718
TEST_IMAGES = 360
EPOCHS = 40
BATCH = 32
LEARNING_RATE = 2e-3
# Keeps the logits within about ten, where float16 still resolves steps of less than 0.01: the two
# models then differ by rounding alone.
WEIGHT_DECAY = 1.0
BN_MOMENTUM = 0.9
BN_EPSILON = 1e-5
CHANNELS = (12, 24)
CLASSES = 10
IMAGES_PER_CLASS = 2


def windows(images):
    """All 3x3 windows of zero-padded NCHW images, as (N, H, W, C, 3, 3)."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5)


def convolve(images, weight, bias):
    n, _, height, width = images.shape
    columns = windows(images).reshape(n * height * width, -1)
    flat = columns @ weight.reshape(len(weight), -1).T + bias
    return flat.reshape(n, height, width, -1).transpose(0, 3, 1, 2), columns


def convolve_backward(grad, columns, weight):
    """Gradients of weight, bias and images."""
    flat = grad.transpose(0, 2, 3, 1).reshape(-1, len(weight))
    grad_weight = (flat.T @ columns).reshape(weight.shape)
    # The gradient of the images is a convolution with the kernel turned by 180 degrees.
    turned = np.ascontiguousarray(weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3))
    grad_images, _ = convolve(grad, turned, np.zeros(len(turned), grad.dtype))
    return grad_weight, flat.sum(axis=0), grad_images


def pool(images):
    """2x2 maximum, and the mask that says which pixel each maximum came from."""
    n, channels, height, width = images.shape
    blocks = images.reshape(n, channels, height // 2, 2, width // 2, 2)
    highest = blocks.max(axis=(3, 5), keepdims=True)
    mask = blocks == highest
    return highest[:, :, :, 0, :, 0], mask / mask.sum(axis=(3, 5), keepdims=True)


def pool_backward(grad, mask):
    n, channels, height, _, width, _ = mask.shape
    blocks = grad[:, :, :, None, :, None] * mask
    return blocks.reshape(n, channels, height * 2, width * 2)


class Network:
    """conv - batch norm - relu - max pool - conv - relu - fully connected - softmax."""

    def __init__(self, random):
        first, second = CHANNELS
        self.parameters = {
            "conv1.weight": random.normal(0, np.sqrt(2 / 9), (first, 1, 3, 3)),
            "conv1.bias": np.zeros(first),
            "bn1.scale": np.ones(first),
            "bn1.bias": np.zeros(first),
            "conv2.weight": random.normal(0, np.sqrt(2 / (9 * first)), (second, first, 3, 3)),
            "conv2.bias": np.zeros(second),
            "fc.weight": random.normal(0, np.sqrt(1 / (second * 16)), (CLASSES, second * 16)),
            "fc.bias": np.zeros(CLASSES),
        }
        self.parameters = {k: v.astype(np.float32) for k, v in self.parameters.items()}
        self.mean = np.zeros(first, np.float32)
        self.variance = np.ones(first, np.float32)

    def logits(self, images):
        """The network as it is exported: batch norm with the statistics of the training."""
        p = self.parameters
        hidden, _ = convolve(images, p["conv1.weight"], p["conv1.bias"])
        deviation = np.sqrt(per_channel(self.variance) + BN_EPSILON)
        hidden = (hidden - per_channel(self.mean)) / deviation
        hidden = hidden * per_channel(p["bn1.scale"]) + per_channel(p["bn1.bias"])
        hidden, _ = pool(np.maximum(hidden, 0))
        hidden, _ = convolve(hidden, p["conv2.weight"], p["conv2.bias"])
        hidden = np.maximum(hidden, 0).reshape(len(images), -1)
        return hidden @ p["fc.weight"].T + p["fc.bias"]

    def gradients(self, images, labels):
        """Cross-entropy gradients of one batch; also moves the batch norm statistics along."""
        p = self.parameters
        conv1, columns1 = convolve(images, p["conv1.weight"], p["conv1.bias"])
        mean = conv1.mean(axis=(0, 2, 3))
        variance = conv1.var(axis=(0, 2, 3))
        self.mean = BN_MOMENTUM * self.mean + (1 - BN_MOMENTUM) * mean
        self.variance = BN_MOMENTUM * self.variance + (1 - BN_MOMENTUM) * variance
        deviation = np.sqrt(per_channel(variance) + BN_EPSILON)
        normal = (conv1 - per_channel(mean)) / deviation
        scaled = normal * per_channel(p["bn1.scale"]) + per_channel(p["bn1.bias"])
        pooled, mask = pool(np.maximum(scaled, 0))
        conv2, columns2 = convolve(pooled, p["conv2.weight"], p["conv2.bias"])
        flat = np.maximum(conv2, 0).reshape(len(images), -1)
        grad = softmax(flat @ p["fc.weight"].T + p["fc.bias"])
        grad[np.arange(len(labels)), labels] -= 1
        grad /= np.float32(len(labels))

        out = {"fc.weight": grad.T @ flat, "fc.bias": grad.sum(axis=0)}
        grad = (grad @ p["fc.weight"]).reshape(conv2.shape) * (conv2 > 0)
        out["conv2.weight"], out["conv2.bias"], grad = convolve_backward(
            grad, columns2, p["conv2.weight"])
        grad = pool_backward(grad, mask) * (scaled > 0)
        out["bn1.scale"] = (grad * normal).sum(axis=(0, 2, 3))
        out["bn1.bias"] = grad.sum(axis=(0, 2, 3))
        grad = grad * per_channel(p["bn1.scale"])
        along_normal = (grad * normal).mean(axis=(0, 2, 3), keepdims=True)
        grad = (grad - grad.mean(axis=(0, 2, 3), keepdims=True) - normal * along_normal) / deviation
        out["conv1.weight"], out["conv1.bias"], _ = convolve_backward(
            grad, columns1, p["conv1.weight"])
        return out


def per_channel(values):
    return values[None, :, None, None]


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def train(images, labels, random):
    """Adam with decoupled weight decay and a learning rate that falls along a cosine."""
    network = Network(random)
    first = {name: np.zeros_like(value) for name, value in network.parameters.items()}
    second = {name: np.zeros_like(value) for name, value in network.parameters.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            batch = order[start:start + BATCH]
            step += 1
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for name, grad in network.gradients(images[batch], labels[batch]).items():
                value = network.parameters[name]
                first[name] += 0.1 * (grad - first[name])
                second[name] += 0.001 * (grad * grad - second[name])
                move = first[name] / (1 - 0.9**step)
                move /= np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                if name.endswith("weight"):
                    move += WEIGHT_DECAY * value
                network.parameters[name] = (value - rate * move).astype(np.float32)
    return network


def onnx_model(network, dtype):
    """The network as ONNX. Inputs and outputs are float32; inside it computes in `dtype`."""
    arrays = dict(network.parameters, **{"bn1.mean": network.mean, "bn1.var": network.variance})
    initializers = [
        numpy_helper.from_array(np.asarray(value, dtype), name) for name, value in arrays.items()
    ]
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    half = dtype == np.float16
    ends = ("image_fp16", "logits_fp16", "probabilities_fp16") if half else (
        "image", "logits", "probabilities")
    node = helper.make_node
    nodes = [
        node("Conv", [ends[0], "conv1.weight", "conv1.bias"], ["conv1"], "conv1", **conv),
        node("BatchNormalization", ["conv1", "bn1.scale", "bn1.bias", "bn1.mean", "bn1.var"],
             ["bn1"], "bn1", epsilon=BN_EPSILON),
        node("Relu", ["bn1"], ["relu1"], "relu1"),
        node("MaxPool", ["relu1"], ["pool1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["pool1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2", **conv),
        node("Relu", ["conv2"], ["relu2"], "relu2"),
        node("Flatten", ["relu2"], ["features"], "flatten"),
        node("Gemm", ["features", "fc.weight", "fc.bias"], [ends[1]], "fc", transB=1),
        node("Softmax", [ends[1]], [ends[2]], "softmax", axis=1),
    ]
    if half:
        nodes.insert(0, node("Cast", ["image"], [ends[0]], "to_fp16", to=TensorProto.FLOAT16))
        for name in ("logits", "probabilities"):
            nodes.append(node("Cast", [name + "_fp16"], [name], name + "_to_fp32",
                              to=TensorProto.FLOAT))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "digits_fp16" if half else "digits",
        [value("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [value(name, TensorProto.FLOAT, ["batch", CLASSES])
         for name in ("logits", "probabilities")],
        initializers)
    # Opset 17 and IR 8 are read by every runtime of the last years.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                              producer_name="train_digits.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def encoded(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray"}


def main():
    here = pathlib.Path(__file__).resolve().parent
    random = np.random.RandomState(SEED)
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    order = random.permutation(len(images))
    test, training = order[:TEST_IMAGES], order[TEST_IMAGES:]

    network = train(images[training], digits.target[training], random)
    right = network.logits(images[test]).argmax(axis=1) == digits.target[test]
    print(f"test accuracy: {right.mean():.2%} ({right.sum()} of {len(test)} images)")

    onnx.save(onnx_model(network, np.float32), here / "digits.onnx")
    onnx.save(onnx_model(network, np.float16), here / "digits_fp16.onnx")
    shown = [i for label in range(CLASSES)
             for i in test[digits.target[test] == label][:IMAGES_PER_CLASS]]
    feeds = [{"image": encoded(images[i:i + 1])} for i in shown]
    (here / "digits_inputs.json").write_text(json.dumps(feeds, indent=4))


if __name__ == "__main__":
    main()
