#!/usr/bin/env python3
"""Write the small ONNX models of the differential tests into a folder.

    make_models.py OUTDIR            the small models (about 100 kB)
    make_models.py OUTDIR --light    the nine topologies of onnx/backend/test/data/light as well,
                                     with seeded He-initialised weights (about 600 MB)
    make_models.py OUTDIR --check    run every model that was written in ONNX Runtime and OpenVINO

Every byte is determined by this file and by the version of the onnx package: random weights come
from numpy's frozen RandomState, seeded with the name of the model.
"""

import argparse
import pathlib
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Fixed, so that a newer onnx package does not write files that an older runtime refuses.
OPSET = 17
IR_VERSION = 8

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64
BOOL = TensorProto.BOOL

# The types for which a chain of Identity nodes is written. The last four exist in the format but
# not in NumPy, or not in the CPU runtimes; they are mostly there for readers of files.
CHAIN_TYPES = {
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
    "bfloat16": TensorProto.BFLOAT16,
    "float8e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8e5m2": TensorProto.FLOAT8E5M2,
    "complex64": TensorProto.COMPLEX64,
}
NEEDS_OPSET_21 = {"float8e4m3fn", "float8e5m2"}


def random_for(name):
    return np.random.RandomState(zlib.crc32(name.encode()))


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or f"{op}_{outputs[0]}", **attributes)


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


class ModelFolder:
    """Writes models into one folder and remembers their names."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.written = []

    def write(self, name, nodes, inputs, outputs, initializers=(), functions=(), opset=OPSET,
              check=True):
        graph = helper.make_graph(nodes, name.replace("-", "_"), inputs, outputs,
                                  list(initializers))
        imports = [helper.make_opsetid("", opset)]
        imports += [helper.make_opsetid(f.domain, 1) for f in functions]
        model = helper.make_model(graph, opset_imports=imports, functions=list(functions),
                                  producer_name="make_models")
        model.ir_version = IR_VERSION if opset == OPSET else 10
        self.write_model(name, model, check)
        return model

    def write_model(self, name, model, check=True, **save_options):
        if check:
            onnx.checker.check_model(model)
        onnx.save(model, str(self.folder / f"{name}.onnx"), **save_options)
        self.written.append(name)


def write_basic(out):
    x23 = value("x", [2, 3])
    out.write("two", [node("Relu", ["x"], ["relu_out"]),
                      node("Softmax", ["x"], ["prob"], axis=-1)],
              [x23], [value("relu_out", [2, 3]), value("prob", [2, 3])])
    # NaN is zero over zero, infinity is x over zero: both made at run time, so that the inputs
    # stay ordinary numbers.
    out.write("nan", [node("Sub", ["x", "x"], ["z"]), node("Div", ["z", "z"], ["y"]),
                      node("Div", ["x", "z"], ["w"])],
              [x23], [value("y", [2, 3]), value("w", [2, 3])])
    out.write("inf", [node("Sub", ["x", "x"], ["z"]), node("Div", ["x", "z"], ["w"])],
              [x23], [value("w", [2, 3])])
    out.write("topk", [node("Softmax", ["x"], ["y"], axis=-1)],
              [value("x", [2, 10])], [value("y", [2, 10])])
    out.write("topk_multi", [node("Softmax", ["x"], ["y"], axis=-1), node("Neg", ["x"], ["n"])],
              [value("x", [4, 6])], [value("y", [4, 6]), value("n", [4, 6])])
    out.write("identity", [node("Identity", ["x"], ["y"])],
              [value("x", [1, 1, 2, 2])], [value("y", [1, 1, 2, 2])])
    out.write("chain", [node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["b"]),
                        node("Exp", ["b"], ["c"])], [x23], [value("c", [2, 3])])
    out.write("big_values", [node("Mul", ["x", "k"], ["y"])],
              [value("x", [20, 30])], [value("y", [20, 30])],
              [tensor("k", random_for("big_values").standard_normal((20, 30)).astype("f4"))])
    out.write("scalar", [node("Exp", ["x"], ["y"])], [value("x", [])], [value("y", [])])
    out.write("zero_size", [node("Relu", ["x"], ["y"]), node("ReduceSum", ["x"], ["s"])],
              [value("x", [0, 3])], [value("y", [0, 3]), value("s", [1, 1])])


def write_names(out):
    """Models whose output names meet those of another model in one particular way."""
    x23 = value("x", [2, 3])

    def branches(name, *outputs):
        ops = ["Relu", "Exp", "Neg", "Abs"]
        out.write(name, [node(ops[i], ["x"], [o]) for i, o in enumerate(outputs)], [x23],
                  [value(o, [2, 3]) for o in outputs])

    branches("names_out", "out", "out_2")
    branches("names_out_reversed", "out_2", "out")
    branches("names_abc", "a", "b", "c")
    branches("names_q", "q")
    branches("names_only_out", "out")
    branches("names_case", "OUT", "Out_2")
    branches("names_suffixes", "out_2", "out_1")
    branches("names_colon", "out:0", "scope/out:1")
    out.write("names_wide", [node("Exp", ["x"], ["e"]), node("Transpose", ["e"], ["out"])],
              [x23], [value("out", [3, 2])])
    out.write("names_flat", [node("Exp", ["x"], ["e"]), node("Reshape", ["e", "s"], ["out"])],
              [x23], [value("out", [6])], [tensor("s", np.array([6], np.int64))])
    out.write("names_upright", [node("Exp", ["x"], ["out"])], [x23], [value("out", [2, 3])])


def write_dtypes(out):
    for name, dtype in CHAIN_TYPES.items():
        opset = 21 if name in NEEDS_OPSET_21 else OPSET
        out.write(f"id_{name}",
                  [node("Identity", ["x"], ["mid"]), node("Identity", ["mid"], ["y"]),
                   node("Transpose", ["mid"], ["t"])],
                  [value("x", [3, 4], dtype)],
                  [value("y", [3, 4], dtype), value("t", [4, 3], dtype)], opset=opset,
                  check=opset == OPSET)
    kinds = ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]
    out.write("mixed", [node("Identity", [f"in_{k}"], [f"out_{k}"]) for k in kinds],
              [value(f"in_{k}", [2, 4], CHAIN_TYPES[k]) for k in kinds],
              [value(f"out_{k}", [2, 4], CHAIN_TYPES[k]) for k in kinds])
    out.write("two_inputs", [node("Add", ["inp_a", "inp_b"], ["sum"]),
                             node("Mul", ["inp_a", "inp_b"], ["product"])],
              [value("inp_a", [2, 3]), value("inp_b", [2, 3])],
              [value("sum", [2, 3]), value("product", [2, 3])])


def write_dynamic(out):
    out.write("dynamic", [node("Relu", ["x"], ["y"])],
              [value("x", ["batch", 3])], [value("y", ["batch", 3])])
    out.write("dynamic_two", [node("Relu", ["first"], ["y"]), node("Neg", ["second"], ["z"])],
              [value("first", ["batch", 3]), value("second", ["batch", "width"])],
              [value("y", ["batch", 3]), value("z", ["batch", "width"])])
    out.write("dynamic_open", [node("Abs", ["x"], ["y"])],
              [value("x", [None, None])], [value("y", [None, None])])
    # A one-dimensional integer input of fixed size: the data loader may take a shape given for it
    # as the values of the tensor.
    out.write("shape_tensor", [node("Expand", ["x", "shape"], ["y"])],
              [value("x", [1, 3]), value("shape", [2], INT64)], [value("y", [None, None])])


def write_weights(out):
    """Weights, in the file and beside it; and pairs that differ by a known amount."""
    random = random_for("mlp")
    first = random.standard_normal((8, 32)).astype("f4")
    second = random.standard_normal((32, 4)).astype("f4")
    noise = random.uniform(-1, 1, (32, 4)).astype("f4")

    def mlp(name, last):
        return out.write(
            name, [node("MatMul", ["x", "w1"], ["hidden"]), node("Tanh", ["hidden"], ["act"]),
                   node("MatMul", ["act", "w2"], ["logits"]),
                   node("Softmax", ["logits"], ["prob"], axis=-1)],
            [value("x", [4, 8])], [value("logits", [4, 4]), value("prob", [4, 4])],
            [tensor("w1", first), tensor("w2", last)])

    mlp("mlp", second)
    mlp("mlp_off_1e-3", second + np.float32(1e-3) * noise)
    mlp("mlp_off_1e-6", second + np.float32(1e-6) * noise)
    outlier = second.copy()
    outlier[3, 2] += 2
    mlp("mlp_outlier", outlier)

    weight = random_for("ext").standard_normal((64, 32)).astype("f4")
    bias = random_for("ext_bias").standard_normal(32).astype("f4")
    model = helper.make_model(
        helper.make_graph([node("MatMul", ["x", "w"], ["m"]), node("Add", ["m", "b"], ["y"])],
                          "ext", [value("x", [2, 64])], [value("y", [2, 32])],
                          [tensor("w", weight), tensor("b", bias)]),
        opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    out.write_model("inline_weights", model)
    # onnx.save appends to a data file that is already there.
    (out.folder / "ext.data").unlink(missing_ok=True)
    out.write_model("ext", model, save_as_external_data=True, location="ext.data",
                    size_threshold=1024, all_tensors_to_one_file=True)
    # The same model with its data in another folder.
    moved = out.folder / "weights_elsewhere"
    moved.mkdir(exist_ok=True)
    (moved / "ext_moved.data").unlink(missing_ok=True)
    model = onnx.load(str(out.folder / "inline_weights.onnx"))
    onnx.save(model, str(moved / "ext_moved.onnx"), save_as_external_data=True,
              location="ext_moved.data", size_threshold=1024)
    (moved / "ext_moved.onnx").replace(out.folder / "ext_moved.onnx")


def write_network(out):
    """A convolutional network with every kind of name that marking outputs has to handle."""
    random = random_for("cnn")

    def weight(name, *shape):
        fan_in = np.prod(shape[1:])
        return tensor(name, (random.standard_normal(shape) * np.sqrt(2 / fan_in)).astype("f4"))

    norm = [tensor(f"bn_{part}", random.uniform(0.5, 1.5, 4).astype("f4"))
            for part in ("scale", "bias", "mean", "var")]
    out.write(
        "cnn",
        [helper.make_node("Constant", [], ["half"], name="half_node",
                          value=tensor("half_value", np.array(0.5, np.float32))),
         node("Conv", ["image", "w1"], ["conv_1"], pads=[1, 1, 1, 1]),
         node("BatchNormalization", ["conv_1", "bn_scale", "bn_bias", "bn_mean", "bn_var"],
              ["norm_1"]),
         node("Relu", ["norm_1"], ["relu_1"]),
         node("MaxPool", ["relu_1"], ["pool_1"], kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["pool_1", "w2"], ["conv_2"]),
         node("Relu", ["conv_2"], ["relu_2"]),
         node("GlobalAveragePool", ["relu_2"], ["pooled"]),
         node("Flatten", ["pooled"], ["flat"]),
         node("Mul", ["flat", "half"], ["scaled"]),
         node("MatMul", ["scaled", "w3"], ["logits"]),
         node("Softmax", ["logits"], ["prob"], axis=-1)],
        [value("image", [1, 2, 8, 8])], [value("prob", [1, 5])],
        [weight("w1", 4, 2, 3, 3), weight("w2", 6, 4, 3, 3),
         tensor("w3", random.standard_normal((6, 5)).astype("f4"))] + norm)
    # Unfused, the convolution overflows before it is scaled down; fused, the weights are scaled
    # first. So the graph optimisation level of ONNX Runtime is visible in the result.
    huge = np.full((1, 4, 1, 1), 3e38, np.float32)
    out.write("overflow_unless_fused",
              [node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "k"], ["y"])],
              [value("x", [1, 4, 3, 3])], [value("y", [1, 1, 3, 3])],
              [tensor("w", huge), tensor("k", np.full((1, 1, 1, 1), 1e-38, np.float32))])
    out.write("odd_names",
              [node("Relu", ["x/in:0"], ["a/b:0"]), node("Neg", ["a/b:0"], ["weird name"]),
               node("Exp", ["weird name"], ["ünïcode"])],
              [value("x/in:0", [2, 3])], [value("a/b:0", [2, 3]), value("ünïcode", [2, 3])])


def write_control_flow(out):
    x23 = value("x", [2, 3])
    then = helper.make_graph([node("Exp", ["x"], ["then_y"])], "then", [],
                             [value("then_y", [2, 3])])
    other = helper.make_graph([node("Neg", ["x"], ["else_y"])], "else", [],
                              [value("else_y", [2, 3])])
    out.write("if", [node("If", ["cond"], ["y"], then_branch=then, else_branch=other)],
              [value("cond", [], BOOL), x23], [value("y", [2, 3])])

    body = helper.make_graph(
        [node("Identity", ["go_in"], ["go_out"]), node("Add", ["sum_in", "x"], ["sum_out"]),
         node("Identity", ["sum_out"], ["scanned"])], "body",
        [value("i", [], INT64), value("go_in", [], BOOL), value("sum_in", [2, 3])],
        [value("go_out", [], BOOL), value("sum_out", [2, 3]), value("scanned", [2, 3])])
    out.write("loop", [node("Loop", ["trips", "go", "x"], ["total", "steps"], body=body)],
              [x23], [value("total", [2, 3]), value("steps", [None, 2, 3])],
              [tensor("trips", np.array(3, np.int64)), tensor("go", np.array(True))])

    scan = helper.make_graph(
        [node("Add", ["state_in", "row"], ["state_out"]), node("Neg", ["state_out"], ["emit"])],
        "scan_body", [value("state_in", [3]), value("row", [3])],
        [value("state_out", [3]), value("emit", [3])])
    out.write("scan", [node("Scan", ["start", "x"], ["final", "rows"], body=scan,
                            num_scan_inputs=1)],
              [value("x", [4, 3])], [value("final", [3]), value("rows", [4, 3])],
              [tensor("start", np.zeros(3, np.float32))])

    scaled_relu = helper.make_function(
        "local", "ScaledRelu", ["value"], ["result"],
        [helper.make_node("Constant", [], ["two"], value_float=2.0),
         node("Relu", ["value"], ["positive"]), node("Mul", ["positive", "two"], ["result"])],
        [helper.make_opsetid("", OPSET)])
    call = helper.make_node("ScaledRelu", ["x"], ["y"], name="call", domain="local")
    out.write("function", [call, node("Exp", ["y"], ["z"])], [x23],
              [value("y", [2, 3]), value("z", [2, 3])], functions=[scaled_relu])


def write_small(folder):
    out = ModelFolder(folder)
    write_basic(out)
    write_names(out)
    write_dtypes(out)
    write_dynamic(out)
    write_weights(out)
    write_network(out)
    write_control_flow(out)
    return out.written


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("outdir")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    names = write_small(options.outdir)
    if options.light:
        from light_models import write_light
        names += write_light(options.outdir)
    print(f"wrote {len(names)} models to {options.outdir}")
    if options.check:
        from check_models import check_all
        raise SystemExit(check_all(options.outdir, names))


if __name__ == "__main__":
    main()
