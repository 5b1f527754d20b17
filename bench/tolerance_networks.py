"""Seeded networks for the proof of `--tolerance auto`.

Every block's result is an output, after the last layer's, as in models that return their hidden
states. A network is built once, as a list of operators with He-initialised weights in float64, and written
as ONNX in one of six dtypes, with or without a fault. The same seed gives the same network.
"""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DTYPES = ("float64", "float32", "float16", "bfloat16", "int8", "uint8")
EPSILON = 1e-5
WRONG_EPSILON = 1e-2
WEIGHT_FAULT = 0.02

_ONNX_TYPES = {"float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16}
_ARRAY_TYPES = {"float64": np.float64, "float16": np.float16}


@dataclasses.dataclass
class Op:
    kind: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict


@dataclasses.dataclass
class Network:
    family: str
    ops: list[Op]
    input_shape: list[int]
    shapes: dict[str, list[int]]
    constants: dict[str, np.ndarray]
    weights: list[str]  # matrices and kernels, which a fault may change
    norms: list[tuple[str, str | int]]  # ("constant", name) or ("attribute", index of the operator)
    outputs: list[str]
    longest_sum: int


class Builder:
    """Adds operators; keeps shapes; remembers where faults can be made."""

    def __init__(self, rng: np.random.Generator, scale: float, dtype: str):
        self.rng = rng
        self.dtype = dtype  # ONNX Runtime has no Erf and no convolution in float64
        self.scale = scale  # standard deviation of what goes into normalisations
        self.ops: list[Op] = []
        self.shapes: dict[str, list[int]] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.weights: list[str] = []
        self.norms: list[tuple[str, str | int]] = []
        self.longest = 1

    def add(self, kind: str, inputs: list[str], shape: list[int], **attributes) -> str:
        name = f"t{len(self.ops)}"
        self.ops.append(Op(kind, inputs, [name], attributes))
        self.shapes[name] = list(shape)
        return name

    def constant(self, value) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def weight(self, shape: list[int], fan_in: int, gain: float) -> str:
        name = self.constant(self.rng.standard_normal(shape) * np.sqrt(gain / fan_in))
        self.weights.append(name)
        self.longest = max(self.longest, fan_in)
        return name

    def linear(self, x: str, width: int, gain: float = 1.0) -> str:
        shape = self.shapes[x]
        w = self.weight([shape[-1], width], shape[-1], gain)
        bias = self.constant(self.rng.standard_normal(width) * 0.1 * np.sqrt(gain))
        out = shape[:-1] + [width]
        if len(shape) == 2 and self.rng.random() < 0.5:
            return self.add("Gemm", [x, w, bias], out)
        return self.add("Add", [self.add("MatMul", [x, w], out), bias], out)

    def activation(self, x: str) -> str:
        kinds = ["Relu", "LeakyRelu", "Tanh", "Sigmoid", "Swish"]
        kind = self.rng.choice(kinds if self.dtype == "float64" else [*kinds, "Gelu"])
        shape = self.shapes[x]
        if kind == "Swish":
            return self.add("Mul", [x, self.add("Sigmoid", [x], shape)], shape)
        if kind == "Gelu":
            half = self.add("Mul", [x, self.constant(np.sqrt(0.5))], shape)
            gate = self.add("Add", [self.add("Erf", [half], shape), self.constant(1.0)], shape)
            twice = self.add("Mul", [x, gate], shape)
            return self.add("Mul", [twice, self.constant(0.5)], shape)
        return self.add(kind, [x], shape)

    def gains(self, width: int) -> tuple[str, str]:
        return (self.constant(1 + 0.2 * self.rng.standard_normal(width)),
                self.constant(0.1 * self.rng.standard_normal(width)))

    def layer_norm(self, x: str) -> str:
        """One operator, or the same (or its root-mean-square kind) as the exporters spell it."""
        shape = self.shapes[x]
        self.longest = max(self.longest, shape[-1])
        scale, shift = self.gains(shape[-1])
        how = self.rng.choice(["fused", "spelled", "rms"])
        if how == "fused":
            y = self.add("LayerNormalization", [x, scale, shift], shape, axis=-1, epsilon=EPSILON)
            self.norms.append(("attribute", len(self.ops) - 1))
            return y
        reduced = shape[:-1] + [1]
        if how == "spelled":
            x = self.add("Sub", [x, self.add("ReduceMean", [x], reduced, axes=[-1])], shape)
        square = self.add("Mul", [x, x], shape)
        mean = self.add("ReduceMean", [square], reduced, axes=[-1])
        epsilon = self.constant(EPSILON)
        self.norms.append(("constant", epsilon))
        root = self.add("Sqrt", [self.add("Add", [mean, epsilon], reduced)], reduced)
        y = self.add("Mul", [self.add("Div", [x, root], shape), scale], shape)
        return self.add("Add", [y, shift], shape) if how == "spelled" else y

    def conv(self, x: str, channels: int, *, kernel: int = 3, groups: int = 1,
             gain: float = 1.0) -> str:
        batch, before, height, width = self.shapes[x]
        fan_in = before // groups * kernel * kernel
        w = self.weight([channels, before // groups, kernel, kernel], fan_in, gain)
        bias = self.constant(self.rng.standard_normal(channels) * 0.1 * np.sqrt(gain))
        pad = kernel // 2
        return self.add("Conv", [x, w, bias], [batch, channels, height, width],
                        kernel_shape=[kernel, kernel], pads=[pad] * 4, group=groups)

    def channel_norm(self, x: str) -> str:
        shape = self.shapes[x]
        channels = shape[1]
        scale, shift = self.gains(channels)
        if self.rng.random() < 0.4:
            y = self.add("InstanceNormalization", [x, scale, shift], shape, epsilon=EPSILON)
        else:
            mean = self.constant(0.3 * self.scale * self.rng.standard_normal(channels))
            variance = self.constant(self.scale**2 * 2 ** self.rng.uniform(-1, 1, channels))
            y = self.add("BatchNormalization", [x, scale, shift, mean, variance], shape,
                         epsilon=EPSILON)
        self.norms.append(("attribute", len(self.ops) - 1))
        return y

    def finish(self, family: str, input_shape: list[int], outputs: list[str]) -> Network:
        return Network(family, self.ops, input_shape, self.shapes, self.constants, self.weights,
                       self.norms, outputs, self.longest)


def _head(b: Builder, x: str) -> str:
    """What networks end with."""
    width = int(b.rng.integers(8, 65))
    kind = b.rng.choice(["linear", "softmax", "logsoftmax", "norm", "none"])
    if kind == "none":
        return x
    x = b.linear(x, width)
    shape = b.shapes[x]
    if kind == "softmax":
        return b.add("Softmax", [x], shape, axis=-1)
    if kind == "logsoftmax":
        return b.add("LogSoftmax", [x], shape, axis=-1)
    return b.layer_norm(x) if kind == "norm" else x


def _chain(b: Builder) -> tuple[list[int], list[str]]:
    """Linear layers, activations, some normalisations; K from 1 to 2048."""
    shape = [int(b.rng.integers(2, 17)), int(2 ** b.rng.uniform(0, 11))]
    b.shapes["x"] = shape
    x, blocks = "x", []
    for _ in range(int(b.rng.integers(1, 7))):
        x = b.linear(x, int(2 ** b.rng.uniform(4, 8)), 2 * b.scale**2)
        if b.rng.random() < 0.6:
            x = b.layer_norm(x)
        x = b.activation(x)
        blocks.append(x)
    return shape, [_head(b, x), *blocks]


def _long(b: Builder) -> tuple[list[int], list[str]]:
    """One sum of up to 100,000 terms, then a little more."""
    k = int(10 ** b.rng.uniform(3, 5))
    shape = [int(b.rng.integers(2, 9)), k]
    b.shapes["x"] = shape
    x = b.linear("x", int(b.rng.integers(8, 25)), b.scale**2)
    if b.rng.random() < 0.7:
        x = b.layer_norm(x)
    x = b.activation(x)
    return shape, [_head(b, x), x]


def _reduce(b: Builder) -> tuple[list[int], list[str]]:
    """Reductions over 1 to 100,000 elements between pointwise functions."""
    k = int(10 ** b.rng.uniform(0, 5))
    rows = int(b.rng.integers(16, 33))
    shape = [rows, k]
    b.shapes["x"] = shape
    b.longest = max(b.longest, k)
    kind = b.rng.choice(["ReduceMean", "ReduceSum", "ReduceL2"])
    x = b.activation("x")
    attributes = {"axes": [-1]}
    x = b.add(kind, [x], [rows, 1], **attributes)
    if kind != "ReduceMean":  # back to the size of a mean
        x = b.add("Mul", [x, b.constant(1.0 / (k if kind == "ReduceSum" else np.sqrt(k)))],
                  [rows, 1])
    x = b.linear(x, int(b.rng.integers(8, 65)), b.scale**2)
    if b.rng.random() < 0.7:
        x = b.layer_norm(x)
    x = b.activation(x)
    return shape, [_head(b, x), x]


def _residual(b: Builder) -> tuple[list[int], list[str]]:
    """Pre-norm or post-norm residual blocks over vectors."""
    width = int(2 ** b.rng.uniform(5, 9))
    shape = [int(b.rng.integers(4, 17)), int(2 ** b.rng.uniform(4, 9))]
    b.shapes["x"] = shape
    x = b.linear("x", width, b.scale**2)
    before, blocks = b.rng.random() < 0.5, [x]
    for _ in range(int(b.rng.integers(1, 6))):
        y = b.layer_norm(x) if before else x
        y = b.activation(b.linear(y, width * 2, 2.0))
        y = b.linear(y, width, b.scale**2)
        x = b.add("Add", [x, y], b.shapes[x])
        x = x if before else b.layer_norm(x)
        blocks.append(x)
    if before:
        x = b.layer_norm(x)
    return shape, [_head(b, x), *blocks]


def _attention(b: Builder) -> tuple[list[int], list[str]]:
    """Encoder layers: attention and a feed-forward block."""
    heads, depth = int(b.rng.integers(1, 5)), int(b.rng.integers(8, 17))
    batch, tokens = int(b.rng.integers(1, 3)), int(b.rng.integers(8, 33))
    width = heads * depth
    shape = [batch, tokens, int(2 ** b.rng.uniform(4, 8))]
    b.shapes["x"] = shape
    x = b.linear("x", width, b.scale**2)
    split = b.constant(np.array([0, 0, heads, depth], dtype=np.int64))
    blocks = [x]
    join = b.constant(np.array([0, 0, width], dtype=np.int64))
    for _ in range(int(b.rng.integers(1, 4))):
        y = b.layer_norm(x)
        parts = []
        for part in range(3):
            t = b.linear(y, width)
            t = b.add("Reshape", [t, split], [batch, tokens, heads, depth])
            order = [0, 2, 3, 1] if part == 1 else [0, 2, 1, 3]
            end = [depth, tokens] if part == 1 else [tokens, depth]
            parts.append(b.add("Transpose", [t], [batch, heads] + end, perm=order))
        square = [batch, heads, tokens, tokens]
        scores = b.add("MatMul", parts[:2], square)
        scores = b.add("Mul", [scores, b.constant(1 / np.sqrt(depth))], square)
        weights = b.add("Softmax", [scores], square, axis=-1)
        y = b.add("MatMul", [weights, parts[2]], [batch, heads, tokens, depth])
        y = b.add("Transpose", [y], [batch, tokens, heads, depth], perm=[0, 2, 1, 3])
        y = b.linear(b.add("Reshape", [y, join], [batch, tokens, width]), width, b.scale**2)
        x = b.add("Add", [x, y], b.shapes[x])
        blocks.append(x)
        y = b.activation(b.linear(b.layer_norm(x), 2 * width, 2.0))
        x = b.add("Add", [x, b.linear(y, width, b.scale**2)], b.shapes[x])
        blocks.append(x)
    return shape, [_head(b, b.layer_norm(x)), *blocks]


def _convolution(b: Builder) -> tuple[list[int], list[str]]:
    """Residual convolution blocks, pooling, a classifier."""
    side, channels = int(b.rng.integers(8, 17)), int(2 ** b.rng.integers(3, 6))
    shape = [int(b.rng.integers(1, 4)), int(b.rng.integers(1, 5)), side, side]
    b.shapes["x"] = shape
    x = b.conv("x", channels, gain=b.scale**2)
    x = b.add("Relu", [b.channel_norm(x)], b.shapes[x])
    blocks = [x]
    for _ in range(int(b.rng.integers(1, 5))):
        y = b.conv(x, channels, gain=b.scale**2)
        y = b.add("Relu", [b.channel_norm(y)], b.shapes[y])
        if b.rng.random() < 0.4:
            y = b.conv(y, channels, groups=channels, gain=2.0)
        y = b.channel_norm(b.conv(y, channels, kernel=int(b.rng.choice([1, 3])), gain=b.scale**2))
        x = b.add("Relu", [b.add("Add", [x, y], b.shapes[x])], b.shapes[x])
        blocks.append(x)
    pooled = b.shapes[x][:2] + [side // 2, side // 2]
    kind = b.rng.choice(["MaxPool", "AveragePool"])
    x = b.add(kind, [x], pooled, kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("GlobalAveragePool", [x], b.shapes[x][:2] + [1, 1])
    return shape, [_head(b, b.add("Flatten", [x], b.shapes[x][:2])), *blocks]


_FAMILIES = {"chain": _chain, "long": _long, "reduce": _reduce, "residual": _residual,
             "attention": _attention, "convolution": _convolution}


def make_network(seed: int, dtype: str) -> Network:
    rng = np.random.default_rng([seed, DTYPES.index(dtype)])
    names = [n for n in _FAMILIES if n != "convolution" or dtype not in ("float64", "uint8")]
    family = names[seed % len(names)]
    builder = Builder(rng, 10 ** rng.uniform(-1, 0), dtype)
    input_shape, outputs = _FAMILIES[family](builder)
    unique = [o for i, o in enumerate(outputs) if o not in outputs[:i]]
    return builder.finish(family, input_shape, unique)


# --- faults ----------------------------------------------------------------------------------


def with_weight_fault(network: Network, seed: int, *, uniform: bool) -> Network:
    """One weight matrix is off by 2 %: every element up or down, or the whole matrix larger."""
    rng = np.random.default_rng([seed, 77])
    name = network.weights[int(rng.integers(len(network.weights)))]
    constants = dict(network.constants)
    value = constants[name]
    signs = 1.0 if uniform else rng.choice([-1.0, 1.0], value.shape)
    constants[name] = value * (1 + WEIGHT_FAULT * signs)
    return dataclasses.replace(network, constants=constants)


def with_epsilon_fault(network: Network, seed: int) -> Network | None:
    """One normalisation has an epsilon of 1e-2 instead of 1e-5; None without normalisations."""
    if not network.norms:
        return None
    rng = np.random.default_rng([seed, 78])
    kind, place = network.norms[int(rng.integers(len(network.norms)))]
    if kind == "constant":
        return dataclasses.replace(
            network, constants={**network.constants, place: np.asarray(WRONG_EPSILON)})
    ops = list(network.ops)
    ops[place] = dataclasses.replace(
        ops[place], attributes={**ops[place].attributes, "epsilon": WRONG_EPSILON})
    return dataclasses.replace(network, ops=ops)


# --- ONNX ------------------------------------------------------------------------------------


class Writer:
    """A network as an ONNX graph of one dtype."""

    def __init__(self, network: Network, dtype: str, ranges: dict[str, float], original: Network):
        self.network = network
        self.dtype = dtype
        self.ranges = ranges
        self.original = original  # its weights give the scales of quantised ones
        self.type = _ONNX_TYPES.get(dtype, TensorProto.FLOAT)
        self.array = _ARRAY_TYPES.get(dtype, np.float32)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.quantised: dict[str, str] = {}

    def model(self, all_outputs: bool = False) -> onnx.ModelProto:
        for name, value in self.network.constants.items():
            integer = value.dtype == np.int64
            if name not in self.network.weights or self.dtype not in ("int8", "uint8"):
                self.store(name, value if integer else value.astype(self.array))
        for op in self.network.ops:
            self.write(op)
        shapes = self.network.shapes
        names = [op.outputs[0] for op in self.network.ops] if all_outputs else self.network.outputs
        outputs = [helper.make_tensor_value_info(n, self.type, shapes[n]) for n in names]
        feed = helper.make_tensor_value_info("x", self.type, self.network.input_shape)
        graph = helper.make_graph(self.nodes, self.network.family, [feed], outputs,
                                  self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def store(self, name: str, value: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def write(self, op: Op) -> None:
        weight = len(op.inputs) > 1 and op.inputs[1] in self.network.weights
        if weight and self.dtype == "int8":
            return self.write_static(op)
        if weight and self.dtype == "uint8":
            return self.write_dynamic(op)
        if self.dtype == "bfloat16":
            return self.write_bfloat16(op)
        kind, inputs, attributes = op.kind, list(op.inputs), dict(op.attributes)
        if kind == "ReduceSum":  # opset 13 moved its axes to an input
            inputs.append(self.store(op.outputs[0] + "_axes", np.array(attributes.pop("axes"))))
        self.node(kind, inputs, op.outputs[0], **attributes)

    def write_bfloat16(self, op: Op) -> None:
        """Computes in float32 and keeps every tensor in bfloat16, weights included."""
        inputs = []
        for name in op.inputs:
            if name in self.network.weights:
                value = self.network.constants[name].astype(ml_dtypes.bfloat16)
                self.initializers = [t for t in self.initializers if t.name != name]
                self.store(name, value)
                inputs.append(self.node("Cast", [name], name + "_wide", to=TensorProto.FLOAT))
            else:
                inputs.append(name)
        out, attributes = op.outputs[0], dict(op.attributes)
        if op.kind == "ReduceSum":
            inputs.append(self.store(out + "_axes", np.array(attributes.pop("axes"))))
        self.node(op.kind, inputs, out + "_exact", **attributes)
        self.node("Cast", [out + "_exact"], out + "_narrow", to=TensorProto.BFLOAT16)
        self.node("Cast", [out + "_narrow"], out, to=TensorProto.FLOAT)

    def quantised_weight(self, name: str, axis: int) -> tuple[str, str, str]:
        """int8, symmetrical; the scale is that of the faultless weight."""
        value, original = self.network.constants[name], self.original.constants[name]
        rest = tuple(i for i in range(value.ndim) if i != axis)
        scale = np.maximum(np.abs(original).max(axis=None if self.dtype == "uint8" else rest),
                           1e-8) / 127
        shape = [-1 if i == axis else 1 for i in range(value.ndim)]
        spread = np.reshape(scale, shape) if np.ndim(scale) else scale
        values = np.clip(np.rint(value / spread), -127, 127).astype(np.int8)
        return (self.store(name, values), self.store(name + "_scale", scale.astype(np.float32)),
                self.store(name + "_zero", np.zeros(np.shape(scale), np.int8)))

    def round_trip(self, name: str) -> str:
        """QuantizeLinear and DequantizeLinear to int8 with a range seen on a sample."""
        if name not in self.quantised:
            scale = self.store(name + "_qs", np.float32(max(self.ranges[name], 1e-6) / 127))
            zero = self.store(name + "_qz", np.int8(0))
            steps = self.node("QuantizeLinear", [name, scale, zero], name + "_q")
            self.quantised[name] = self.node("DequantizeLinear", [steps, scale, zero],
                                             name + "_dq")
        return self.quantised[name]

    def write_static(self, op: Op) -> None:
        axis = 0 if op.kind == "Conv" else 1
        weight, scale, zero = self.quantised_weight(op.inputs[1], axis)
        wide = self.node("DequantizeLinear", [weight, scale, zero], weight + "_dq", axis=axis)
        self.node(op.kind, [self.round_trip(op.inputs[0]), wide] + op.inputs[2:], op.outputs[0],
                  **op.attributes)

    def write_dynamic(self, op: Op) -> None:
        """As onnxruntime's quantize_dynamic writes it."""
        x, out = op.inputs[0], op.outputs[0]
        weight, scale, zero = self.quantised_weight(op.inputs[1], 1)
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x],
                                           [out + "_x", out + "_xs", out + "_xz"]))
        self.node("MatMulInteger", [out + "_x", weight, out + "_xz", zero], out + "_sum")
        self.node("Cast", [out + "_sum"], out + "_wide", to=TensorProto.FLOAT)
        self.node("Mul", [out + "_xs", scale], out + "_scale")
        if op.kind == "Gemm":
            self.node("Mul", [out + "_wide", out + "_scale"], out + "_product")
            self.node("Add", [out + "_product", op.inputs[2]], out)
        else:
            self.node("Mul", [out + "_wide", out + "_scale"], out)


def sample_ranges(network: Network, feed: np.ndarray) -> dict[str, float]:
    """The largest magnitude of every tensor, from one inference in float32."""
    import onnxruntime  # only the quantised dtypes need it

    model = Writer(network, "float32", {}, network).model(all_outputs=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    values = session.run(None, {"x": feed.astype(np.float32)})
    ranges = {o.name: float(np.abs(v).max()) for o, v in zip(session.get_outputs(), values)}
    return {"x": float(np.abs(feed).max()), **ranges}


def write_models(network: Network, seed: int, dtype: str, low: float,
                 high: float) -> dict[str, onnx.ModelProto]:
    """The faultless model and its faulty variants, by name."""
    ranges = {}
    if dtype == "int8":
        feed = np.random.default_rng([seed, 99]).uniform(low, high, network.input_shape)
        ranges = sample_ranges(network, feed)
    variants = {"good": network,
                "weight": with_weight_fault(network, seed, uniform=False),
                "scaled": with_weight_fault(network, seed, uniform=True),
                "epsilon": with_epsilon_fault(network, seed)}
    return {name: Writer(variant, dtype, ranges, network).model()
            for name, variant in variants.items() if variant is not None}
