"""Models for test_surgeon.py, and what Polygraphy's surgeon made of them (surgeon_peer.json).

Polygraphy's surgeon needs onnx_graphsurgeon, which these tests do without: what it does is recorded
by recordings.py, which scripts/deep.sh asks whether it is still so.
"""

import hashlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node


def value(name, shape=("N", 8), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, shape=(8, 8), dtype=np.float32, seed=0):
    random = np.random.default_rng(seed or sum(map(ord, name)))
    return numpy_helper.from_array(np.asarray(random.normal(size=shape) * 4).astype(dtype), name)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, weights=(), values=(), opset=17, functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights), value_info=list(values))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8,
                             functions=list(functions))


def constant(name, array):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))


def foldable():
    """Constants that lead to one weight; one branch hangs."""
    return model(
        [constant("two", np.float32(2)),
         constant("three", np.float32(3)),
         node("Mul", ["two", "three"], ["six"]),
         node("Add", ["w", "six"], ["shifted"]),
         node("Transpose", ["shifted"], ["turned"], perm=[1, 0]),
         node("MatMul", ["x", "turned"], ["h"]),
         node("Relu", ["h"], ["y"]),
         node("Sigmoid", ["h"], ["nobody"])],
        [value("x")], [value("y")], [weight("w"), weight("unused", (3,))])


def shapes():
    """Reshape to sizes that are computed from Shape; the first is open."""
    return model(
        [node("Relu", ["x"], ["r"]), node("Shape", ["r"], ["s"]),
         node("Gather", ["s", "one"], ["last"], axis=0),
         node("Mul", ["last", "two"], ["double"]),
         node("Concat", ["minus", "double"], ["target"], axis=0),
         node("Reshape", ["r", "target"], ["y"])],
        [value("x")], [value("y", ("M", 16))], [ints("one", 1), ints("two", 2), ints("minus", -1)])


def fixed_shape():
    return model(
        [node("Shape", ["x"], ["s"]), node("Slice", ["s", "a", "b"], ["part"]),
         node("ConstantOfShape", ["part"], ["zeros"]), node("Add", ["x", "zeros"], ["y"])],
        [value("x", (4, 8))], [value("y", (4, 8))], [ints("a", 1), ints("b", 2)])


def branches(condition=True):
    """An If with a constant condition around one that is not."""
    inner = {}
    for which, op in (("then_branch", "Tanh"), ("else_branch", "Relu")):
        inner[which] = helper.make_graph([node(op, ["m"], [which])], which, [], [value(which)])
    outer = helper.make_graph(
        [node("Mul", ["x", "k"], ["m"]), node("If", ["c"], ["o"], **inner)],
        "taken", [], [value("o")], [weight("k", (8,))])
    other = helper.make_graph([node("Identity", ["x"], ["p"])], "other", [], [value("p")])
    graphs = {"then_branch": outer, "else_branch": other}
    if not condition:
        graphs = {"then_branch": other, "else_branch": outer}
    return model([constant("yes", np.array(condition)), node("If", ["yes"], ["y"], **graphs)],
                 [value("x"), value("c", (), TensorProto.BOOL)], [value("y")])


def unsorted():
    return model([node("Relu", ["b"], ["y"]), node("Tanh", ["a"], ["b"]), node("Abs", ["x"], ["a"])],
                 [value("x")], [value("y")])


def large():
    """A constant of 64 KiB from one of 4 bytes."""
    return model([node("Expand", ["small", "size"], ["wide"]), node("Neg", ["wide"], ["negative"]),
                  node("Add", ["x", "negative"], ["y"])],
                 [value("x", (128, 128))], [value("y", (128, 128))],
                 [weight("small", ()), ints("size", 128, 128)])


def ranges():
    """A size that depends on data."""
    return model([node("ReduceMax", ["x"], ["top"], keepdims=0),
                  node("Range", ["zero", "top", "one"], ["y"])],
                 [value("x", ("N",), TensorProto.INT64)], [value("y", ("K",), TensorProto.INT64)],
                 [numpy_helper.from_array(np.array(0, np.int64), "zero"),
                  numpy_helper.from_array(np.array(1, np.int64), "one")])


def chain():
    return model([node("Relu", ["x"], ["a"], name="n1"), node("Tanh", ["a"], ["b"], name="n2"),
                  node("MatMul", ["b", "w"], ["c"], name="n3"), node("Abs", ["c"], ["y"], name="n4"),
                  node("Neg", ["b"], ["z"], name="n5")],
                 [value("x")], [value("y"), value("z")], [weight("w")])


def weights():
    """Weights of Conv, Gemm and MatMul, some behind others, some that cannot be sparse."""
    return model(
        [node("Conv", ["x", "conv"], ["c"], pads=[1, 1, 1, 1]),
         node("ReduceMean", ["c"], ["m"], axes=[2, 3], keepdims=0),
         node("Gemm", ["m", "gemm", "bias"], ["g"], transB=1),
         node("Transpose", ["turned"], ["t"], perm=[1, 0]),
         node("MatMul", ["g", "t"], ["h"]),
         node("Cast", ["half"], ["wide"], to=TensorProto.FLOAT),
         node("MatMul", ["h", "wide"], ["i"]),
         node("MatMul", ["i", "odd"], ["y"])],
        [value("x", ("N", 4, 8, 8))], [value("y", ("N", 3))],
        [weight("conv", (16, 4, 3, 3)), weight("gemm", (20, 16)), weight("bias", (20,)),
         weight("turned", (8, 20)), weight("half", (8, 6), np.float16), weight("odd", (6, 3))])


def quantized():
    scale = numpy_helper.from_array(np.float32(0.5), "s")
    zero = numpy_helper.from_array(np.array(0, np.int8), "z")
    return model(
        [node("QuantizeLinear", ["W", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
         node("MatMul", ["x", "d"], ["a"]),
         node("Transpose", ["T"], ["t"], perm=[1, 0]), node("MatMul", ["a", "t"], ["b"]),
         node("Transpose", ["S"], ["s2"], perm=[1, 0]), node("MatMul", ["b", "s2"], ["c"]),
         node("Relu", ["s2"], ["z2"]),
         node("Gather", ["table", "ids"], ["e"]), node("Gather", ["little", "ids"], ["f"]),
         node("Slice", ["sliced", "from", "to"], ["l"])],
        [value("x"), value("ids", ("M",), TensorProto.INT64)],
        [value("c"), value("z2", (8, 8)), value("e", ("M", 8)), value("f", ("M", 2)),
         value("l", (4, 8))],
        [weight("W"), scale, zero, weight("T"), weight("S"), weight("table", (256, 8)),
         weight("little", (4, 2)), weight("sliced", (256, 8)), ints("from", 0), ints("to", 4)])


# Name: (model, words of the surgeon). What they write is called o.onnx.
CASES = {
    "fold": (foldable, ["sanitize", "--fold-constants"]),
    "fold-cleanup": (foldable, ["sanitize", "--cleanup"]),
    "fold-once": (foldable, ["sanitize", "--fold-constants", "--num-passes", "1"]),
    "fold-shapes": (shapes, ["sanitize", "--fold-constants"]),
    "fold-no-shapes": (shapes, ["sanitize", "--fold-constants", "--no-fold-shapes"]),
    "fold-fixed-shape": (fixed_shape, ["sanitize", "--fold-constants"]),
    "fold-then": (branches, ["sanitize", "--fold-constants"]),
    "fold-else": (lambda: branches(False), ["sanitize", "--fold-constants"]),
    "fold-small": (large, ["sanitize", "--fold-constants", "--fold-size-threshold", "1K"]),
    "fold-large": (large, ["sanitize", "--fold-constants"]),
    "fold-basic": (foldable, ["sanitize", "--fold-constants", "--partitioning", "basic"]),
    "override": (shapes, ["sanitize", "--fold-constants", "--override-inputs", "x:[4,8]"]),
    "outputs": (chain, ["sanitize", "--outputs", "b", "--cleanup"]),
    "outputs-by-type": (chain, ["sanitize", "--outputs-by-type", "Tanh", "--cleanup"]),
    "exclude-outputs": (chain, ["sanitize", "--exclude-outputs", "z", "--cleanup"]),
    "bound": (ranges, ["sanitize", "--set-unbounded-dds-upper-bound", "1000"]),
    "bound-named": (ranges, ["sanitize", "--set-unbounded-dds-upper-bound", "5", "top:70"]),
    "insert-between": (chain, ["insert", "--inputs", "a", "--outputs", "c", "--op", "Softmax",
                               "--name", "new", "--attrs", "axis=1"]),
    "insert-behind": (chain, ["insert", "--inputs", "b", "--outputs", "b", "--op", "Softplus"]),
    "insert-last": (chain, ["insert", "--inputs", "y", "--outputs", "y", "--op", "Sqrt"]),
    "insert-first": (chain, ["insert", "--inputs", "x", "--outputs", "x", "--op", "Sign"]),
    "insert-attributes": (chain, ["insert", "--inputs", "a", "w", "--outputs", "b", "--op", "Mine",
                                  "--attrs", "i=3", "f=0.5", "s=word", "q='53'", "li=[1,2]",
                                  "lf=[0.5,1.5]", "ls=[a,b]"]),
    "prune": (weights, ["prune"]),
    "strip": (weights, ["weight-strip"]),
    "strip-quantized": (quantized, ["weight-strip"]),
}


def describe(path):
    """What is compared of a model: nodes as a set, outputs, and the bits of weights."""
    made = onnx.load(str(path))
    graph = made.graph

    def attributes(of):
        return sorted([a.name, text(a)] for a in of.attribute)

    def text(a):
        if a.HasField("g"):
            return "graph"
        return str(numpy_helper.to_array(a.t) if a.HasField("t") else helper.get_attribute_value(a))

    return {
        "nodes": sorted([n.op_type, n.name, list(n.input), list(n.output), attributes(n)]
                        for n in graph.node),
        "inputs": sorted(i.name for i in graph.input),
        "outputs": [o.name for o in graph.output],
        "weights": {w.name: [list(w.dims), w.data_type, hashlib.md5(
            numpy_helper.to_array(w).tobytes()).hexdigest() if w.raw_data or not w.doc_string
            else w.doc_string] for w in sorted(graph.initializer, key=lambda w: w.name)},
        "doc": made.doc_string,
    }


def record(polygraphy, folder):
    described = {}
    for name, (make, words) in CASES.items():
        onnx.save(make(), str(folder / "m.onnx"))
        subprocess.run([polygraphy, "surgeon", words[0], "m.onnx", *words[1:], "-o", "o.onnx"],
                       cwd=folder, check=True, capture_output=True)
        described[name] = describe(folder / "o.onnx")
    return described
