#!/usr/bin/env python3
"""Writes the fuzz targets' seeds: small good inputs, one of each kind.

Usage: make_seeds.py [FOLDER]   (needs numpy, onnx and Polygraphy: .deps/peer/bin/python)

What a target once failed on is kept beside them under the name regression-*, which this leaves alone.
"""

import base64
import io
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent / "seeds"


def write(target, name, data):
    folder = ROOT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, **options)
    return out.getvalue()


ARRAYS = {
    "float": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.int64).reshape(3, 2)),
    "scalar": np.array(1.5),
    "empty": np.zeros((0, 3), np.float16),
    "strings": np.array(["a", "bcd"]),
    "big_endian": np.arange(4, dtype=">i2"),
    "bools": np.array([True, False]),
}


def arrays():
    for name, array in ARRAYS.items():
        write("npy", name, npy(array))
    write("npy", "version2", npy(ARRAYS["float"], version=(2, 0)))
    for name, save in {"stored": np.savez, "deflated": np.savez_compressed}.items():
        out = io.BytesIO()
        save(out, **{k: ARRAYS[k] for k in ("float", "empty", "bools")})
        write("npz", name, out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = b"a comment"
        with archive.open("large.npy", "w", force_zip64=True) as member:
            member.write(npy(ARRAYS["float"]))
    write("npz", "zip64", out.getvalue())
    hostile_archives()


def hostile_archives():
    """A bomb, and two members that are the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("bomb.npy", npy(np.zeros(200_000, np.uint8)))
    write("npz", "bomb", out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x.npy", npy(ARRAYS["float"]))
        archive.writestr("y.npy", npy(ARRAYS["float"]))
        archive.filelist[1].header_offset = archive.filelist[0].header_offset
        archive.filelist[1].filename = archive.filelist[0].filename
    write("npz", "overlap", out.getvalue())


def safetensors(entries, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, values) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def base64_texts():
    for size in range(5):
        write("base64", f"bytes{size}", base64.b64encode(bytes(range(size))))
    write("base64", "block", base64.b64encode(bytes(i * 7 % 256 for i in range(200))))
    write("base64", "bad", b"AAA=AAA")


def saved_json():
    from polygraphy.comparator import RunResults
    from polygraphy.json import to_json

    results = RunResults()
    results.add([{"y": ARRAYS["float"], "z": ARRAYS["bools"]}, {"y": ARRAYS["float"]}], "first")
    results.add([{"y": ARRAYS["float"] + 1}], "second")
    write("results_json", "outputs", to_json(results))
    write("results_json", "inputs", to_json([{"x": ARRAYS["float"]}, {"x": ARRAYS["scalar"]}]))
    write("results_json", "one_feed", to_json({"x": ARRAYS["empty"]}))
    write("results_json", "escapes", '{"a\\u00e9\\ud83d\\ude00": [1, -2.5e3, true, null, "\\n"]}')


def write_model(name, model):
    for target in ("onnx", "model_tools"):
        write(target, name, model.SerializeToString())


def models():
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3])
    weight = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("Softmax", ["r"], ["y"], axis=-1),
    ]
    plain = helper.make_graph(nodes, "g", [value("x")], [value("y")], [weight])
    write_model("chain", helper.make_model(plain))

    branch = lambda op: helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [value(op)])
    conditional = helper.make_node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs"))
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    graph = helper.make_graph([conditional], "g", [condition, value("x")], [value("y")])
    write_model("branches", helper.make_model(graph))

    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)])
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["y"], domain="own")], "g",
                              [value("x")], [value("y")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, functions=[function], opset_imports=opsets)
    write_model("function", model)

    outside = numpy_helper.from_array(np.ones((3, 3), np.float32), "w")
    onnx.external_data_helper.set_external_data(outside, "weights.bin", offset=0, length=36)
    outside.ClearField("raw_data")
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], [outside])
    write_model("external", helper.make_model(graph))
    write("model_tools", "indices", indices().SerializeToString())


def indices():
    """Integers that mean something, a body that reads from outside, and a weight of some size."""
    state = helper.make_tensor_value_info("state", TensorProto.FLOAT, [4, 8])
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]),
         helper.make_node("Add", ["state", "rows"], ["next"])], "body",
        [helper.make_tensor_value_info("round", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []), state],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [4, 8])])
    nodes = [
        helper.make_node("Cast", ["i"], ["wide"], to=TensorProto.INT64),
        helper.make_node("Sub", ["wide", "one"], ["places"]),
        helper.make_node("Gather", ["table", "places"], ["rows"]),
        helper.make_node("Loop", ["n", "", "rows"], ["sum"], body=body),
        helper.make_node("Slice", ["sum", "s", "e"], ["part"]),
        helper.make_node("Reshape", ["part", "shape"], ["y"]),
    ]
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)
    inputs = [value("i", TensorProto.INT32, [4]), value("n", TensorProto.INT64, []),
              *(value(name, TensorProto.INT64, [2]) for name in ("s", "e", "shape"))]
    weights = [numpy_helper.from_array(np.ones((40, 8), np.float32), "table"),
               numpy_helper.from_array(np.array(1), "one")]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, [value("y", 1, None)], weights))


def tensors():
    for name in ("float", "empty", "scalar", "bools"):
        write("tensor_proto", name, numpy_helper.from_array(ARRAYS[name], name).SerializeToString())
    typed = helper.make_tensor("typed", TensorProto.INT32, [3], [1, 2, 3])
    write("tensor_proto", "typed", typed.SerializeToString())
    words = helper.make_tensor("words", TensorProto.STRING, [2], [b"a", b"\xff"])
    write("tensor_proto", "strings", words.SerializeToString())
    half = helper.make_tensor("half", TensorProto.FLOAT16, [2], [1.0, 2.0])
    write("tensor_proto", "half", half.SerializeToString())


LINES = {
    "run": "model.onnx --onnxrt --openvino --rtol 1e-3 y:1e-5 --input-shapes X:[1,3,224,224]",
    "runner": "--runner gold='onnxrt a.onnx' --runner new=\"openvino b.onnx\" -vv --seed=-1",
    "ranges": "m.onnx --val-range [0,1] x:[-1.5,inf] --load-inputs a.json b.npz -- tail",
    "prefixes": "--onnx-out mark all --check-error-s mean y:max --iter 3",
    "sizes": "--trt-min-shapes X:[1] --pool-limit workspace:16M dla_local_dram:1e9 --silent",
}


def messages():
    text = lambda word: struct.pack("<Q", len(word)) + word
    options = struct.pack("<Q", 1) + text(b"device") + text(b"CPU")
    write("worker_messages", "load", b"\x00" + struct.pack("<Q", 1) + text(b"plugin.so") + options)
    write("worker_messages", "zeros", b"\x02" + bytes(200))
    write("worker_messages", "words", b"\x05" + struct.pack("<I", 3) + text(b"why"))
    number = lambda value: struct.pack("<Q", value)
    frame = struct.pack("<IIQ", 0x31524E56, 3, 4) + b"body"
    write("worker_messages", "frames", b"f" + frame + frame)
    write("worker_messages", "trial", b"\x06" + number(1) + number(32) + b"\x01\x55")
    write("worker_messages", "report", b"\x07" + number(1) + text(b"x") + number(4) + number(0) +
          number(2))
    tensor = text(b"y") + text(b"") + b"\x01" + number(1) + number(2) + number(0) + number(8)
    write("worker_messages", "block", b"b" + number(1) + tensor + b"\x01" + number(8) + bytes(8))


def journal():
    """`run`, `blame` and `accuracy` of that folder are what vernier wrote itself, and so are the
    seeds of `rows` and `parts`."""
    lines = [{"layout": 0, "tensors": [{"name": "y", "dtype": "float32", "shape": [2],
                                        "bytes": 8}]},
             {"runner": 0, "iteration": 0, "begin": 0, "end": 8, "layout": 0, "runtime": 0.5,
              "xxh3": "0123456789abcdef"},
             {"runner": 1, "iteration": 0, "begin": 8, "end": 16, "layout": 0,
              "runner_name": "b"},
             {"runner": 0, "iteration": 1, "begin": 16, "end": 24}]
    write("records", "journal", "j" + "".join(json.dumps(line) + "\n" for line in lines))


def images():
    """Those of decode_test.cc, which Pillow wrote; `progressive` is another one."""
    source = Path(__file__).resolve().parents[2] / "src/images/decode_test.cc"
    for name, text in re.findall(r'k(\w+) =((?:\s*"[0-9a-f]+")+);', source.read_text()):
        write("images", name, bytes.fromhex("".join(re.findall(r"[0-9a-f]{2,}", text))))


COCO = {"images": [{"id": 1, "width": 9, "height": 9, "file_name": "a/b.png"}, {"id": 2}],
        "annotations": [{"id": 3, "image_id": 1, "category_id": 5, "bbox": [0, 0, 4, 4.5],
                         "area": 9, "iscrowd": 0},
                        {"id": 4, "image_id": 2, "category_id": 6, "bbox": [1, 1, 3, 3],
                         "iscrowd": 1, "segmentation": [[1, 2]]}],
        "categories": [{"id": 5, "name": "dog"}, {"id": 6}]}


def labels():
    """Behind a letter for the format: two samples in each of three iterations."""
    classes = np.array([1, 2, 0, 3, 1, 0])
    for name, array in {"classes": classes, "sets": np.eye(6, 4, dtype=bool),
                        "maps": np.ones((6, 2, 2), np.uint8),
                        "numbers": np.linspace(0, 1, 18).astype(np.float32).reshape(6, 3)}.items():
        write("labels", f"npy_{name}", b"a" + npy(array))
        out = io.BytesIO()
        np.savez(out, **{f"{i:010}/label": array[2 * i:2 * i + 2] for i in range(3)})
        write("labels", f"npz_{name}", b"z" + out.getvalue())
    write("labels", "lines", "t1\n2 3\n\n-1\n1\n0\n")
    write("labels", "json_lines", 'j1\n[2, 3]\ntrue\n{"id": {"a": [1]}, "label": [0]}\n[]\n0\n')
    write("labels", "coco", "c" + json.dumps(COCO))
    write("labels", "names", "ncat\ndog\n\n")


def main():
    global ROOT
    if len(sys.argv) > 1:
        ROOT = Path(sys.argv[1])
    arrays()
    write("safetensors", "two", safetensors(
        {"a": ("F32", [2], bytes(8)), "b": ("I64", [], bytes(8))}, {"format": "pt"}))
    write("safetensors", "none", safetensors({}))
    base64_texts()
    journal()
    images()
    labels()
    saved_json()
    models()
    tensors()
    for name, line in LINES.items():
        write("command_line", name, line)
    messages()


if __name__ == "__main__":
    main()
