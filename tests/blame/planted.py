"""Networks with one known fault, made from seeds: what `vernier blame` is held against.

A network is a chain of blocks of random kinds. The faulty twin has the same tensor names; one node
of it is altered. `plant(seed)` returns both models and the names of the altered nodes.
"""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
WIDTH = 24
ROWS = 6


class Network:
    """Builds a chain; every block reads `self.tip` and moves it on."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], {}
        self.tip = "x"
        self.count = 0

    def weight(self, name, values):
        values = np.asarray(values)
        floats = values.dtype.kind == "f"
        self.weights[name] = values.astype(np.float32) if floats else values
        return name

    def node(self, op, inputs, outputs=None, **attributes):
        self.count += 1
        outputs = outputs or [f"t{self.count}"]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{self.count}",
                                           **attributes))
        return outputs[0]

    def normal(self, *shape):
        return self.random.normal(size=shape).astype(np.float32)

    def linear(self):
        name = f"w{self.count}"
        self.weight(name, self.normal(WIDTH, WIDTH) / np.sqrt(WIDTH))
        self.weight(name + "b", self.normal(WIDTH) * 0.1)
        self.tip = self.node("MatMul", [self.tip, name])
        self.tip = self.node("Add", [self.tip, name + "b"])

    def norm(self):
        name = f"n{self.count}"
        self.weight(name, 1 + 0.1 * self.normal(WIDTH))
        self.weight(name + "b", 0.1 * self.normal(WIDTH))
        self.tip = self.node("LayerNormalization", [self.tip, name, name + "b"], axis=-1,
                             epsilon=1e-5)

    def activation(self):
        self.tip = self.node(str(self.random.choice(["Relu", "Tanh", "Sigmoid", "Softplus"])),
                             [self.tip])

    def residual(self):
        start = self.tip
        self.linear()
        self.activation()
        self.tip = self.node("Add", [self.tip, start])

    def turn(self):
        """Swaps two axes of equal size and back: wrong axes keep the shape."""
        shape = self.weight(f"s{self.count}", np.array([ROWS, 2, 2, 6], np.int64))
        back = self.weight(f"r{self.count}", np.array([ROWS, WIDTH], np.int64))
        shaped = self.node("Reshape", [self.tip, shape])
        turned = self.node("Transpose", [shaped], perm=[0, 2, 1, 3])
        self.tip = self.node("Reshape", [turned, back])

    def steps(self):
        """Through integers and back, as a quantiser does it by hand."""
        scale = self.weight(f"q{self.count}", np.float32(8))
        large = self.node("Mul", [self.tip, scale])
        whole = self.node("Cast", [large], to=TensorProto.INT32)
        back = self.node("Cast", [whole], to=TensorProto.FLOAT)
        small = self.node("Div", [back, scale])
        self.tip = self.node("Add", [small, self.tip])

    def root(self):
        """Sqrt of what cannot be negative, unless something is wrong."""
        one = self.weight(f"o{self.count}", np.float32(1))
        squared = self.node("Mul", [self.tip, self.tip])
        shifted = self.node("Add", [squared, one])
        self.tip = self.node("Sqrt", [shifted])

    def branch(self):
        """An If whose bodies read the tensor outside."""
        name = f"c{self.count}"
        self.weight(name, np.array(True))
        outer = self.tip
        self.weight(name + "w", self.normal(WIDTH, WIDTH) / np.sqrt(WIDTH))
        result = f"t{self.count + 1}"
        bodies = {}
        for which, op in (("then_branch", "Tanh"), ("else_branch", "Sigmoid")):
            inner, out = f"{result}_{which}_a", f"{result}_{which}"
            bodies[which] = helper.make_graph(
                [helper.make_node("MatMul", [outer, name + "w"], [inner], name=f"{inner}_node"),
                 helper.make_node(op, [inner], [out], name=f"{out}_node")],
                which, [],
                [helper.make_tensor_value_info(out, TensorProto.FLOAT, [ROWS, WIDTH])])
        self.tip = self.node("If", [name], [result], **bodies)

    def cancel(self):
        """Something is added and taken away again."""
        name = self.weight(f"k{self.count}", self.normal(WIDTH))
        scaled = self.node("Mul", [self.tip, name])
        more = self.node("Add", [self.tip, scaled])
        self.tip = self.node("Sub", [more, scaled])

    def model(self):
        graph = helper.make_graph(
            self.nodes, "planted",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, WIDTH])],
            [helper.make_tensor_value_info(self.tip, TensorProto.FLOAT, [ROWS, WIDTH])],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                 ir_version=8)


def make(seed, blocks=8):
    network = Network(seed)
    kinds = [network.linear, network.norm, network.activation, network.residual, network.turn,
             network.steps, network.root, network.branch, network.cancel]
    # Every kind at least once, so that every fault has a place.
    chosen = list(kinds) + [network.random.choice(len(kinds)) for _ in range(blocks)]
    network.random.shuffle(chosen)
    for kind in chosen:
        (kind if callable(kind) else kinds[kind])()
        network.norm()
    network.linear()
    return network.model()


def _weight(model, name):
    return next(w for w in model.graph.initializer if w.name == name)


def replace(model, name, change):
    weight = _weight(model, name)
    weight.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(weight)), name))


def nodes(model, *ops):
    return [n for n in model.graph.node if n.op_type in ops]


def scale_weights(model, random):
    node = random.choice(nodes(model, "MatMul"))
    replace(model, node.input[1], lambda w: (w * np.float32(1.02)).astype(np.float32))
    return [node.name]


def wrong_epsilon(model, random):
    node = random.choice(nodes(model, "LayerNormalization"))
    next(a for a in node.attribute if a.name == "epsilon").f = 1e-2
    return [node.name]


def swap_axes(model, random):
    node = random.choice(nodes(model, "Transpose"))
    node.attribute[0].ints[:] = [0, 1, 2, 3]
    return [node.name]


def saturate(model, random):
    node = random.choice([n for n in nodes(model, "Cast")
                          if n.attribute[0].i == TensorProto.INT32])
    out = node.output[0]
    place = list(model.graph.node).index(node)
    low = helper.make_node("Cast", [node.input[0]], [out + "_low"], name=node.name,
                           to=TensorProto.FLOAT)
    limit = helper.make_tensor(out + "_limit", TensorProto.FLOAT, [], [2.0])
    model.graph.initializer.append(limit)
    clip = helper.make_node("Clip", [out + "_low", "", out + "_limit"], [out + "_clip"],
                            name=node.name + "_clip")
    cast = helper.make_node("Cast", [out + "_clip"], [out], name=node.name + "_cast",
                            to=TensorProto.INT32)
    model.graph.node.remove(node)
    for offset, new in enumerate([low, clip, cast]):
        model.graph.node.insert(place + offset, new)
    return [node.name + "_cast", node.name, node.name + "_clip"]


def make_nan(model, random):
    node = random.choice(nodes(model, "Sqrt"))
    before = next(n for n in model.graph.node if node.input[0] in n.output)
    replace(model, before.input[1], lambda w: np.float32(-1))
    return [before.name]


def cancel_later(model, random):
    node = random.choice(nodes(model, "Sub"))
    scaled = next(n for n in model.graph.node if node.input[1] in n.output)
    replace(model, scaled.input[1], lambda w: (w * np.float32(1.05)).astype(np.float32))
    return [scaled.name]


def two_faults(model, random):
    return wrong_epsilon(model, random) + scale_weights(model, random)


def in_body(model, random):
    node = random.choice(nodes(model, "If"))
    body = next(a for a in node.attribute if a.name == "then_branch").g
    body.node[1].op_type = "Erf"
    return [node.name, body.node[1].name]


FAULTS = {f.__name__: f for f in (scale_weights, wrong_epsilon, swap_axes, saturate, make_nan,
                                  cancel_later, two_faults, in_body)}


@dataclasses.dataclass
class Planted:
    good: onnx.ModelProto
    bad: onnx.ModelProto
    fault: str
    culprits: list  # names of nodes, any of which may be named first


class Chooser:
    """Of node objects NumPy would make arrays."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed + 10_000)

    def choice(self, items):
        return items[int(self.random.integers(len(items)))]


def plant(seed, fault=None):
    good = make(seed)
    bad = onnx.ModelProto()
    bad.CopyFrom(good)
    fault = fault or list(FAULTS)[seed % len(FAULTS)]
    return Planted(good, bad, fault, FAULTS[fault](bad, Chooser(seed)))
