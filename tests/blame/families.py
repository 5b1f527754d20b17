"""Networks without any normalisation, with one known fault: convolutions, recurrence, attention.

Normalising layers, which planted.py has, bring every disturbance back to one size; without them it
grows and fades. `plant(seed)` takes the families in turn.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import planted

CHANNELS, SIDE = 6, 8
STEPS, STATE = 5, 12
ROWS, WIDTH = planted.ROWS, planted.WIDTH


class Plain(planted.Network):
    """A chain of one block with an activation between: no two of these families differ in more."""

    shape: list
    blocks = 6

    def model(self):
        graph = helper.make_graph(
            self.nodes, "planted",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(self.tip, TensorProto.FLOAT, self.shape)],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", planted.OPSET)],
                                 ir_version=8)

    def make(self):
        for _ in range(self.blocks):
            self.block()
            self.activation()
        self.block()
        return self.model()


class Convolutions(Plain):
    shape = [1, CHANNELS, SIDE, SIDE]

    def block(self):
        start, name = self.tip, f"w{self.count}"
        self.weight(name, self.normal(CHANNELS, CHANNELS, 3, 3) / np.sqrt(9 * CHANNELS))
        self.weight(name + "b", self.normal(CHANNELS) * 0.1)
        self.tip = self.node("Conv", [self.tip, name, name + "b"], pads=[1, 1, 1, 1])
        if self.random.integers(2):
            self.tip = self.node("Add", [self.tip, start])
        else:
            self.tip = self.node("AveragePool", [self.tip], kernel_shape=[3, 3],
                                 pads=[1, 1, 1, 1], count_include_pad=1)


class Recurrence(Plain):
    shape = [STEPS, 1, STATE]
    blocks = 3

    def block(self):
        op = str(self.random.choice(["GRU", "LSTM"]))
        gates = {"GRU": 3, "LSTM": 4}[op]
        name, axis = f"w{self.count}", self.weight(f"a{self.count}", np.array([1], np.int64))
        size = np.sqrt(STATE)
        self.weight(name, self.normal(1, gates * STATE, STATE) / size)
        self.weight(name + "r", self.normal(1, gates * STATE, STATE) / size)
        self.weight(name + "b", self.normal(1, 2 * gates * STATE) * 0.3)
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        directions = self.node(op, [self.tip, name, name + "r", name + "b"], hidden_size=STATE,
                               **more)
        self.tip = self.node("Squeeze", [directions, axis])


class Attention(Plain):
    shape = [ROWS, WIDTH]
    blocks = 3

    def times(self):
        name = self.weight(f"w{self.count}", self.normal(WIDTH, WIDTH) / np.sqrt(WIDTH))
        return self.node("MatMul", [self.tip, name])

    def block(self):
        queries, keys, values = self.times(), self.times(), self.times()
        turned = self.node("Transpose", [keys], perm=[1, 0])
        size = self.weight(f"d{self.count}", np.float32(np.sqrt(WIDTH)))
        scores = self.node("Div", [self.node("MatMul", [queries, turned]), size])
        mixed = self.node("MatMul", [self.node("Softmax", [scores], axis=1), values])
        self.tip = self.node("Add", [self.tip, mixed])


def _attribute(node, name):
    return next(each for each in node.attribute if each.name == name)


def _larger_weights(model, random, op, place):
    node = random.choice([each for each in planted.nodes(model, op)
                          if each.input[place] in {w.name for w in model.graph.initializer}])
    planted.replace(model, node.input[place], lambda w: (w * np.float32(1.02)).astype(np.float32))
    return [node.name]


def larger_kernel(model, random):
    return _larger_weights(model, random, "Conv", 1)


def moved_padding(model, random):
    node = random.choice(planted.nodes(model, "Conv"))
    _attribute(node, "pads").ints[:] = [0, 2, 2, 0]
    return [node.name]


def unpadded_average(model, random):
    pools = planted.nodes(model, "AveragePool")
    if not pools:
        return larger_kernel(model, random)
    node = random.choice(pools)
    _attribute(node, "count_include_pad").i = 0
    return [node.name]


def larger_recurrence(model, random):
    op = random.choice(planted.nodes(model, "GRU", "LSTM")).op_type
    return _larger_weights(model, random, op, 2)


def other_reset(model, random):
    gates = planted.nodes(model, "GRU")
    if not gates:
        return larger_recurrence(model, random)
    node = random.choice(gates)
    _attribute(node, "linear_before_reset").i = 0
    return [node.name]


def larger_projection(model, random):
    return _larger_weights(model, random, "MatMul", 1)


def wrong_scale(model, random):
    node = random.choice(planted.nodes(model, "Div"))
    planted.replace(model, node.input[1], lambda d: np.float32(d * 1.05))
    return [node.name]


def wrong_axis(model, random):
    node = random.choice(planted.nodes(model, "Softmax"))
    _attribute(node, "axis").i = 0
    return [node.name]


FAMILIES = {Convolutions: (larger_kernel, moved_padding, unpadded_average),
            Recurrence: (larger_recurrence, other_reset),
            Attention: (larger_projection, wrong_scale, wrong_axis)}


def _family(seed):
    return list(FAMILIES)[seed % len(FAMILIES)]


def make(seed):
    """A network without a fault."""
    return _family(seed)(seed).make()


def plant(seed):
    family, turn = _family(seed), seed // len(FAMILIES)
    fault = FAMILIES[family][turn % len(FAMILIES[family])]
    good, bad = make(seed), onnx.ModelProto()
    bad.CopyFrom(good)
    culprits = fault(bad, planted.Chooser(seed))
    return planted.Planted(good, bad, f"{family.__name__}, {fault.__name__}", culprits)
