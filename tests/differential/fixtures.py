#!/usr/bin/env python3
"""Write the result files, input files and scripts that the differential cases load.

    fixtures.py OUTDIR        (needs numpy and onnx; the JSON layout is Polygraphy's, written by hand)

Kept apart from the models because these are data with one chosen property each: a type, a special
value, a damaged byte.
"""

import base64
import io
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT = np.float32


def ndarray(array):
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    return {"array": base64.b64encode(buffer.getvalue()).decode(), "polygraphy_class": "ndarray"}


def lazy(array):
    return {"values": ndarray(array), "polygraphy_class": "LazyArray"}


def runner_entry(name, iterations, wrap=lazy):
    return [name, [{"outputs": {key: wrap(array) for key, array in outputs.items()},
                    "runtime": 0.001, "runner_name": name,
                    "polygraphy_class": "IterationResult"} for outputs in iterations]]


def results(*entries):
    return {"lst": list(entries), "polygraphy_class": "RunResults"}


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)

    def json(self, name, document):
        (self.path / name).write_text(json.dumps(document, indent=4))

    def text(self, name, text):
        (self.path / name).write_text(text)

    def outputs(self, name, runner, *iterations, wrap=lazy):
        self.json(name, results(runner_entry(runner, iterations, wrap)))

    def pair(self, stem, first, second):
        self.outputs(f"{stem}_a.json", "A", *first)
        self.outputs(f"{stem}_b.json", "B", *second)


def write_types(folder):
    """One pair with an output of each type, all wrong by a little."""
    kinds = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
             "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16,
             "f32": np.float32, "f64": np.float64}
    first = {key: np.arange(1, 7).reshape(2, 3).astype(kind) for key, kind in kinds.items()}
    second = {key: array.copy() for key, array in first.items()}
    for key in ("i8", "u16", "i64", "f16", "f64"):
        second[key][1, 0] += 2
    second["u8"][0, 0] = 0
    second["i32"][0, 1] = 0
    first["u64"][0, 0] = 5
    first["flag"] = np.array([[True, False, True]])
    second["flag"] = np.array([[True, True, True]])
    folder.pair("types", [first], [second])
    mixed = {key: array.astype(other) for (key, array), other in
             zip(list(first.items())[:6],
                 (np.float32, np.float16, np.int64, np.uint64, np.int8, np.float64))}
    folder.pair("mixed_types", [dict(list(first.items())[:6])], [mixed])
    folder.pair("int8_ends", [{"y": np.array([-128, 1], np.int8)}],
                [{"y": np.array([127, 1], np.int8)}])
    folder.pair("int32_wrap", [{"y": np.array([2147483647], np.int32)}],
                [{"y": np.array([-2147483648], np.int32)}])
    folder.pair("big_ints", [{"y": np.array([60000, 50000], np.int32)}],
                [{"y": np.array([60000, 50000], np.int32)}])
    folder.pair("uint64_wrap", [{"y": np.array([1], np.uint64)}], [{"y": np.array([2], np.uint64)}])


def write_specials(folder):
    ramp = np.array([1, 2, 3, 4], FLOAT)
    near = np.array([1, 2.5, 3, 4.00001], FLOAT)
    folder.pair("ramp", [{"y": ramp}], [{"y": near}])
    folder.pair("either", [{"y": np.array([0, 1, 2, 3], FLOAT)}],
                [{"y": np.array([0.15, 1.25, 2.5, 3.75], FLOAT)}])
    folder.pair("nan", [{"y": np.array([1, np.nan, 3], FLOAT)}],
                [{"y": np.array([1, np.nan, 3], FLOAT)}])
    infinite = np.array([1, np.inf, -np.inf], FLOAT)
    folder.pair("inf", [{"y": infinite}], [{"y": infinite}])
    folder.pair("inf_signs", [{"y": infinite}], [{"y": np.array([1, -np.inf, np.inf], FLOAT)}])
    folder.pair("zeros", [{"y": np.zeros(5, FLOAT)}],
                [{"y": np.array([0, 0, 0, 0, 1e-4], FLOAT)}])
    folder.pair("zero_divisor", [{"y": ramp}], [{"y": np.array([1, 0, -0.0, 4], FLOAT)}])
    folder.pair("empty", [{"y": np.zeros((0, 2), FLOAT)}], [{"y": np.ones((0, 2), FLOAT)}])
    nothing = {"zero": np.zeros(3, FLOAT), "constant": np.full((2, 2), 7, FLOAT),
               "empty": np.zeros((0, 2), FLOAT), "telling": ramp}
    folder.pair("nothing", [nothing], [nothing])
    folder.pair("all_nan", [{"y": np.full(3, np.nan, FLOAT)}], [{"y": np.full(3, np.nan, FLOAT)}])
    folder.pair("scalar", [{"y": np.array(0, FLOAT)}], [{"y": np.array(1, FLOAT)}])
    folder.pair("subnormal", [{"y": np.array([1e-42, 2e-42, 3.4e38], FLOAT)}],
                [{"y": np.array([2e-42, 2e-42, 3.3e38], FLOAT)}])
    random = np.random.RandomState(7)
    noisy = random.standard_normal((40, 50)).astype(FLOAT)
    folder.pair("noisy", [{"y": noisy, "z": noisy * 3}],
                [{"y": noisy + random.standard_normal((40, 50)).astype(FLOAT) * FLOAT(1e-3),
                  "z": noisy * FLOAT(3.0003)}])
    folder.pair("half", [{"y": np.array([0, 0.1, 0.5, 0.75, 1], np.float16)}],
                [{"y": np.full(5, 2, np.float16)}])
    quarter = [{"y": np.array([0.1, 0.2, 0.3, 0.4 + i], FLOAT)} for i in range(4)]
    steady = [{"y": np.array([0.1, 0.2, 0.3, 0.4], FLOAT)} for _ in range(4)]
    folder.pair("drift", quarter, steady)
    folder.pair("close_drift", [{"y": it["y"] + FLOAT(0.01)} for it in steady], steady)


def write_shapes_and_names(folder):
    block = np.arange(6, dtype=FLOAT)
    folder.pair("shape", [{"out": block.reshape(2, 3)}], [{"out": block.reshape(3, 2)}])
    folder.pair("flat", [{"out": block.reshape(2, 3)}], [{"out": block}])
    folder.pair("volume", [{"out": block}], [{"out": np.arange(4, dtype=FLOAT)}])
    one = {"out": block}
    folder.outputs("plain.json", "A", one)
    folder.outputs("out_2_1.json", "B", {"out_2": block + 1, "out_1": block})
    folder.outputs("out_and_2.json", "C", {"out": block, "out_2": block + 1})
    folder.outputs("upper.json", "D", {"OUT": block, "OUT_2": block + 1})
    folder.outputs("abc.json", "E", {"a": block, "b": block, "c": block})
    folder.outputs("q.json", "F", {"q": block})
    folder.outputs("none.json", "G", {})
    folder.outputs("no_iterations.json", "H")
    folder.outputs("three.json", "I", one, one, one)
    folder.outputs("five.json", "J", one, one, one, one, one)
    folder.json("no_runners.json", results())
    folder.json("two_runners.json", results(runner_entry("left", [one, one]),
                                            runner_entry("right", [one, {"out": block + 1}])))
    folder.json("uneven_runners.json", results(runner_entry("left", [one, one]),
                                               runner_entry("right", [one])))
    folder.outputs("bare_arrays.json", "K", one, wrap=ndarray)
    folder.outputs("fortran.json", "L", {"out": np.asfortranarray(block.reshape(2, 3))})
    folder.outputs("big_endian.json", "M", {"out": block.reshape(2, 3).astype(">f4")})


def write_ranks(folder):
    def index(*rows):
        return {"y": np.array(rows if len(rows) > 1 else rows[0], np.int64)}

    folder.pair("swap", [index([1, 0, 2, 3])], [index([0, 1, 2, 3])])
    folder.pair("far", [index([0, 1, 2, 3, 4, 5, 6])], [index([0, 3, 2, 1, 4, 5, 6])])
    folder.pair("absent", [index([1, 0, 2, 7])], [index([0, 1, 2, 3])])
    folder.pair("rank2", [index([2, 3, 4], [5, 6, 9])], [index([3, 2, 4], [5, 9, 6])])
    scores = np.array([[5, 6, 5], [6, 5, 6]], FLOAT)
    folder.pair("scores", [{"y": scores, "n": -scores}],
                [{"y": scores + FLOAT(0.25) * np.eye(2, 3, dtype=FLOAT), "n": -scores}])
    flags = np.array([False, True, False, True])
    folder.pair("bool_scores", [{"y": flags}], [{"y": flags}])
    folder.pair("unsigned_scores", [{"y": np.array([0, 3, 1], np.uint8)}],
                [{"y": np.array([0, 3, 1], np.uint8)}])


def write_inputs(folder):
    ramp = np.arange(6, dtype=FLOAT).reshape(2, 3) / 10
    folder.json("in_two.json", [{"x": ndarray(ramp)}, {"x": ndarray(ramp + 1)}])
    folder.json("in_object.json", {"x": ndarray(ramp - 1)})
    folder.json("in_double.json", [{"x": ndarray(ramp.astype(np.float64))}])
    folder.json("in_int.json", [{"x": ndarray(np.arange(6).reshape(2, 3))}])
    folder.json("in_flat.json", [{"x": ndarray(ramp.reshape(6))}])
    folder.json("in_upright.json", [{"x": ndarray(ramp.reshape(3, 2))}])
    folder.json("in_five.json", [{"x": ndarray(np.arange(5, dtype=FLOAT))}])
    folder.json("in_other_name.json", [{"z": ndarray(ramp)}])
    folder.json("in_extra.json", [{"x": ndarray(ramp), "unused": ndarray(ramp)}])
    folder.json("in_nothing.json", [{}])
    folder.json("in_empty_list.json", [])
    folder.json("in_lists.json", [{"x": [1, 2, 3]}])
    kinds = {"float32": FLOAT, "float64": np.float64, "float16": np.float16, "int32": np.int32,
             "int64": np.int64, "uint8": np.uint8, "bool": np.bool_}
    folder.json("in_mixed.json", [{f"in_{key}": ndarray((np.arange(8).reshape(2, 4) + i)
                                                       .astype(kind)) for key, kind in
                                   kinds.items()} for i in range(2)])
    nested = folder.path / "in_dir"
    nested.mkdir(exist_ok=True)
    for i in range(3):
        (nested / f"{i:010}.json").write_text(json.dumps({"x": ndarray(ramp * (i + 1))}))
    (folder.path / "empty_dir").mkdir(exist_ok=True)


def write_damaged(folder):
    whole = json.dumps(results(runner_entry("A", [{"out": np.arange(6, dtype=FLOAT)}])), indent=4)
    folder.text("truncated.json", whole[:-60])
    folder.text("bad_base64.json", whole.replace('"k05VTVBZ', '"!!!!'))
    folder.text("bad_npy.json", whole.replace('"k05VTVBZ', '"AAAAAAAA'))
    folder.text("unknown_class.json", whole.replace('"RunResults"', '"NoSuchClass"'))
    folder.text("a_list.json", "[]")
    folder.text("not_json.json", "certainly not JSON")
    folder.text("empty_file.json", "")
    folder.text("garbage.onnx", "this is not a model")
    folder.text("empty.onnx", "")


def write_models(folder):
    # Its output is longer than it says, and long enough to be made where it is sent from.
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "declared",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [300_000])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder.path / "declared_shape.onnx"))
    # Both of the operators of Polygraphy's reference that compute something.
    floats = lambda name, values: onnx.numpy_helper.from_array(np.array(values, FLOAT), name)
    graph = helper.make_graph(
        [helper.make_node("InstanceNormalization", ["x", "scale", "shift"], ["n"], epsilon=1e-3),
         helper.make_node("MeanVarianceNormalization", ["n"], ["y"], axes=[0, 2, 3])], "normalized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 4, 5])],
        [helper.make_tensor_value_info("n", TensorProto.FLOAT, [2, 3, 4, 5]),
         helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3, 4, 5])],
        [floats("scale", [1, 2, 0.5]), floats("shift", [0, -1, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder.path / "normalized.onnx"))


def write_scripts(folder):
    folder.text("loader.py", "import numpy as np\n\n\ndef load_data():\n    for i in range(2):\n"
                "        yield {'x': np.full((2, 3), i, np.float32)}\n")
    folder.text("compare_script.py", "def compare_outputs(a, b):\n    return {'y': False}\n")
    folder.text("postprocess_script.py", "def postprocess_outputs(result):\n    return result\n")


def main():
    folder = Folder(sys.argv[1])
    write_types(folder)
    write_specials(folder)
    write_shapes_and_names(folder)
    write_ranks(folder)
    write_inputs(folder)
    write_damaged(folder)
    write_models(folder)
    write_scripts(folder)


if __name__ == "__main__":
    main()
