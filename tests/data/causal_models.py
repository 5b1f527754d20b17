#!/usr/bin/env python3
"""Write a small causal transformer with caches, sound or with one of eight planted faults.

    causal_models.py OUTDIR [--check]     sound.onnx and one file per fault

Four layers with grouped heads and rotary positions; the weights are seeded. Inputs: `input_ids` and
`position_ids` [batch, n], `attention_mask` [batch, past + n], `past_key_values.L.key` and `.value`
[batch, 2, past, 8]. Outputs: `logits` [batch, n, 64], `present.L.key` and `.value`.
"""

import argparse
import collections
import dataclasses
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
VOCABULARY, WIDTH, HIDDEN = 64, 32, 64
LAYERS, HEADS, CACHED_HEADS, HEAD = 4, 4, 2, 8


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of a model; the defaults are those of the small one."""
    vocabulary: int = VOCABULARY
    width: int = WIDTH
    hidden: int = HIDDEN
    layers: int = LAYERS
    heads: int = HEADS
    cached_heads: int = CACHED_HEADS
    head: int = HEAD
    base: float = 10000.0
    epsilon: float = 1e-5


# Each name with what is wrong, and where.
FAULTS = {
    "position-off-by-one": "every position behind a past is one too large",
    "swapped-key-value": "layer 2 takes the cached keys for values and the values for keys",
    "cache-not-reset": "an empty past still holds one token of another sequence",
    "padding-not-masked": "attention_mask is not looked at",
    "transposed-cache": "layer 1 hands out its keys as [batch, past, heads, 8] in the same bytes",
    "rotary-base": "the base of the rotary positions is 5000 instead of 10000",
    "head-scale": "the scores of head 1 of layer 3 are 1.25 times as large",
    "stale-scale": "layer 2 has weights that were dequantised with the scales of others",
}


class Writer:
    """Nodes and weights of one graph. A sub-class may have weights of its own."""

    def __init__(self, fault=None, sizes=Sizes()):
        self.fault, self.sizes = fault, sizes
        self.nodes, self.weights, self.random = [], {}, np.random.RandomState(2024)
        self.part, self.counts = "", collections.Counter()

    def op(self, kind, *inputs, out=None, **attributes):
        if out is None:  # a fault changes no names but in its own part
            out = f"{self.part}{kind}_{self.counts[self.part, kind]}"
            self.counts[self.part, kind] += 1
        self.nodes.append(helper.make_node(kind, list(inputs), [out], out, **attributes))
        return out

    def const(self, array, name=None):
        name = name or f"const_{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def ints(self, *values):
        return self.const(np.array(values, "i8"))

    def dense(self, x, name, rows, columns):
        return self.op("MatMul", x, self.const(self.weight(name, rows, columns), name),
                       out=name + "_out")

    def weight(self, _name, rows, columns):
        return self.random.normal(0, rows ** -0.5, (rows, columns)).astype("f4")

    def scales(self, _name):
        return self.random.uniform(0.8, 1.2, self.sizes.width).astype("f4")

    def embedding(self):
        return self.random.normal(size=(self.sizes.vocabulary, self.sizes.width)).astype("f4")

    def dequantised(self, x, name, rows, columns, stale):
        """Weights that were quantised once. They are dequantised in the file: a runtime that finds
        8-bit weights may quantise what they are multiplied with, too."""
        weight = self.random.normal(0, rows ** -0.5, (rows, columns))
        scales = np.abs(weight).max(axis=0) / 127
        levels = np.round(weight / scales)
        read_with = np.roll(scales, 1) * 1.2 if stale else scales
        weight = (levels * read_with).astype("f4")
        return self.op("MatMul", x, self.const(weight, name), out=name + "_out")

    def norm(self, x, name):
        square = self.op("ReduceMean", self.op("Mul", x, x), axes=[-1])
        root = self.op("Sqrt", self.op("Add", square, self.const(np.float32(self.sizes.epsilon))))
        return self.op("Mul", self.op("Div", x, root), self.const(self.scales(name), name))

    def size(self, x, axis):
        return self.op("Gather", self.op("Shape", x), self.ints(axis), axis=0)

    def heads(self, x, count):
        split = self.op("Reshape", x, self.ints(0, 0, count, self.sizes.head))
        return self.op("Transpose", split, perm=[0, 2, 1, 3])


def _rotations(g, past):
    """cos and sin of the positions, [batch, 1, n, 8]."""
    positions = "position_ids"
    if g.fault == "position-off-by-one":
        positions = g.op("Add", positions, g.op("Min", past, g.ints(1)))
    base = 5000.0 if g.fault == "rotary-base" else g.sizes.base
    speeds = base ** (-np.arange(0, g.sizes.head, 2) / g.sizes.head)
    speeds = g.const(np.concatenate([speeds, speeds]).astype("f4"))
    places = g.op("Unsqueeze", g.op("Cast", positions, to=TensorProto.FLOAT), g.ints(1, 3))
    angles = g.op("Mul", places, speeds)
    return g.op("Cos", angles), g.op("Sin", angles)


def _rotate(g, x, rotations):
    half, end = g.ints(g.sizes.head // 2), g.ints(g.sizes.head)
    first = g.op("Slice", x, g.ints(0), half, g.ints(3))
    second = g.op("Slice", x, half, end, g.ints(3))
    turned = g.op("Concat", g.op("Neg", second), first, axis=3)
    return g.op("Add", g.op("Mul", x, rotations[0]), g.op("Mul", turned, rotations[1]))


def _leftover(g, past):
    """How many tokens of another sequence precede the past, [1]: none but with the fault."""
    return g.op("Sub", g.ints(1), g.op("Min", past, g.ints(1)))


def _penalties(g, past, left):
    """What is added to scores, [batch, 1, n, past + n]: 0, or -1e9 for what must not be seen."""
    columns = g.op("Squeeze", g.size("attention_mask", 1), g.ints(0))
    place = g.op("Range", g.const(np.int64(0)), columns, g.const(np.int64(1)))
    old = g.op("Squeeze", past, g.ints(0))
    row = g.op("Unsqueeze", g.op("Range", old, columns, g.const(np.int64(1))), g.ints(1))
    seen = g.op("LessOrEqual", place, row)
    if g.fault != "padding-not-masked":
        real = g.op("Cast", g.op("Unsqueeze", "attention_mask", g.ints(1, 2)), to=TensorProto.BOOL)
        seen = g.op("And", seen, real)
    else:
        seen = g.op("Unsqueeze", seen, g.ints(0, 1))
    penalty = g.op("Where", seen, g.const(np.float32(0)), g.const(np.float32(-1e9)))
    if not left:
        return penalty
    none, zero = g.ints(0), g.const(np.zeros(1, "i8"))
    pads = g.op("Concat", none, none, none, left, zero, zero, zero, zero, axis=0)
    return g.op("Pad", penalty, pads)


def _repeated(g, x):
    """Each cached head for as many heads as share it."""
    sizes = g.sizes
    copies = [g.op("Unsqueeze", x, g.ints(2))] * (sizes.heads // sizes.cached_heads)
    return g.op("Reshape", g.op("Concat", *copies, axis=2),
                g.ints(0, sizes.heads, -1, sizes.head))


def _with_leftover(g, layer, x, left, batch):
    if not left:
        return x
    g.part = f"layer{layer}.leftover."
    shape = (1, g.sizes.cached_heads, 1, g.sizes.head)
    stale = g.const(np.random.RandomState(layer).normal(size=shape).astype("f4"))
    stale = g.op("Slice", stale, g.ints(0), left, g.ints(2))
    shape = g.op("Concat", batch, g.ints(1), g.ints(1), g.ints(1), axis=0)
    joined = g.op("Concat", g.op("Expand", stale, shape), x, axis=2)
    g.part = f"layer{layer}."
    return joined


def _caches(g, layer, key, value):
    """Keys and values of past and present; they are handed out."""
    old_key, old_value = (f"past_key_values.{layer}.{part}" for part in ("key", "value"))
    if g.fault == "swapped-key-value" and layer == 2:
        old_key, old_value = old_value, old_key
    name = f"present.{layer}."
    if g.fault == "transposed-cache" and layer == 1:
        g.part = "layer1.transposed."
        keys = g.op("Concat", old_key, key, axis=2)
        turned = g.op("Transpose", keys, perm=[0, 2, 1, 3])
        g.op("Reshape", turned, g.op("Shape", keys), out=name + "key")
        g.part = "layer1."
    else:
        keys = g.op("Concat", old_key, key, axis=2, out=name + "key")
    return keys, g.op("Concat", old_value, value, axis=2, out=name + "value")


def _attention(g, layer, x, shared):
    name, sizes = f"layer{layer}.", g.sizes
    width, cached = sizes.width, sizes.cached_heads * sizes.head
    query = g.heads(g.dense(x, name + "q", width, width), sizes.heads)
    key = g.heads(g.dense(x, name + "k", width, cached), sizes.cached_heads)
    value = g.heads(g.dense(x, name + "v", width, cached), sizes.cached_heads)
    query, key = _rotate(g, query, shared["rotations"]), _rotate(g, key, shared["rotations"])
    keys, values = (_repeated(g, _with_leftover(g, layer, cache, shared["left"], shared["batch"]))
                    for cache in _caches(g, layer, key, value))
    scores = g.op("MatMul", query, g.op("Transpose", keys, perm=[0, 1, 3, 2]))
    scales = np.full((sizes.heads, 1, 1), sizes.head ** -0.5, "f4")
    if g.fault == "head-scale" and layer == 3:
        scales[1] *= 1.25
    scores = g.op("Add", g.op("Mul", scores, g.const(scales)), shared["penalties"],
                  out=name + "scores")
    mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), values)
    joined = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), g.ints(0, 0, width))
    return g.dense(joined, name + "o", width, width)


def _layer(g, layer, x, shared):
    name, width, hidden = f"layer{layer}.", g.sizes.width, g.sizes.hidden
    x = g.op("Add", x, _attention(g, layer, g.norm(x, name + "norm1"), shared))
    inner = g.norm(x, name + "norm2")
    gate = g.dense(inner, name + "gate", width, hidden)
    gate = g.op("Mul", gate, g.op("Sigmoid", gate))
    inner = g.op("Mul", gate, g.dense(inner, name + "up", width, hidden))
    stale = g.fault == "stale-scale" and layer == 2
    return g.op("Add", x, g.dequantised(inner, name + "down", hidden, width, stale),
                out=name + "out")


def causal_model(fault=None):
    """An onnx.ModelProto; `fault` is one of FAULTS."""
    if fault is not None and fault not in FAULTS:
        raise ValueError(f"there is no fault {fault!r}; there are {', '.join(FAULTS)}")
    return causal_model_of(Writer(fault))


def causal_model_of(g):
    """The same with the sizes and weights of a Writer."""
    past = g.size("past_key_values.0.key", 2)
    g.part = "leftover."
    left = _leftover(g, past) if g.fault == "cache-not-reset" else None
    g.part = "rotations."
    rotations = _rotations(g, past)
    g.part = "penalties."
    shared = {"rotations": rotations, "left": left, "batch": g.size("input_ids", 0),
              "penalties": _penalties(g, past, left)}
    g.part = ""
    x = g.op("Gather", g.const(g.embedding(), "embedding"), "input_ids")
    for layer in range(g.sizes.layers):
        g.part = f"layer{layer}."
        x = _layer(g, layer, x, shared)
    g.part = ""
    x = g.norm(x, "last_norm")
    head = g.weight("head", g.sizes.width, g.sizes.vocabulary)
    g.op("MatMul", x, g.const(head, "head"), out="logits")
    return _finished(g)


def _finished(g):
    def info(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, ["batch", *shape])

    inputs = [info("input_ids", TensorProto.INT64, "tokens"),
              info("attention_mask", TensorProto.INT64, "past + tokens"),
              info("position_ids", TensorProto.INT64, "tokens")]
    outputs = [info("logits", TensorProto.FLOAT, "tokens", g.sizes.vocabulary)]
    for layer in range(g.sizes.layers):
        for part in ("key", "value"):
            inputs.append(info(f"past_key_values.{layer}.{part}", TensorProto.FLOAT,
                               g.sizes.cached_heads, "past", g.sizes.head))
            outputs.append(info(f"present.{layer}.{part}", TensorProto.FLOAT, g.sizes.cached_heads,
                                "past + tokens", g.sizes.head))
    weights = [numpy_helper.from_array(array, name) for name, array in g.weights.items()]
    graph = helper.make_graph(g.nodes, "causal", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model


def empty_caches(batch=1):
    """The past of a sequence that begins."""
    return {f"past_key_values.{layer}.{part}": np.zeros((batch, CACHED_HEADS, 0, HEAD), "f4")
            for layer in range(LAYERS) for part in ("key", "value")}


def decode(infer, tokens, chunk):
    """The logits of all tokens [batch, n] and the last caches, `chunk` tokens at a time. `infer`
    takes a dict of arrays and returns one."""
    caches, logits = empty_caches(len(tokens)), []
    for start in range(0, tokens.shape[1], chunk):
        part = tokens[:, start:start + chunk]
        end = start + part.shape[1]
        positions = np.broadcast_to(np.arange(start, end), part.shape)
        outputs = infer({"input_ids": part, "position_ids": np.ascontiguousarray(positions),
                         "attention_mask": np.ones((len(tokens), end), "i8"), **caches})
        logits.append(outputs.pop("logits"))
        caches = {name.replace("present", "past_key_values"): cache
                  for name, cache in outputs.items()}
    return np.concatenate(logits, axis=1), caches


def _apart(path):
    """The largest difference between prefill and decode, and the logits of the prefill."""
    import onnxruntime
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]

    def infer(feed):
        return dict(zip(names, session.run(None, feed)))

    tokens = np.random.RandomState(7).randint(0, VOCABULARY, (2, 8)).astype("i8")
    whole, caches = decode(infer, tokens, 8)
    worst = 0.0
    for chunk in (1, 3):
        found, found_caches = decode(infer, tokens, chunk)
        worst = max([worst, np.abs(whole - found).max()]
                    + [np.abs(caches[name] - found_caches[name]).max() for name in caches])
    return worst, whole


def write_causal(folder):
    """{None or fault: path} of all of them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for fault in (None, *FAULTS):
        paths[fault] = folder / f"{fault or 'sound'}.onnx"
        onnx.save(causal_model(fault), str(paths[fault]))
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir")
    parser.add_argument("--check", action="store_true",
                        help="print how far prefill is from decode, and the logits from the sound")
    arguments = parser.parse_args()
    paths = write_causal(arguments.outdir)
    sound = None
    for fault, path in paths.items() if arguments.check else ():
        apart, logits = _apart(path)
        sound = logits if sound is None else sound
        print(f"{fault or 'sound':20}  prefill against decode {apart:8.2g}  "
              f"logits against sound {np.abs(logits - sound).max():8.2g}")
        if fault is None and not apart < 1e-5:
            raise SystemExit("prefill is not decode")


if __name__ == "__main__":
    main()
