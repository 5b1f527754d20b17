#!/usr/bin/env python3
"""Makes the models and other files that pages of the documentation speak of.

Usage: make_models.py NAME OUT.onnx, or make_models.py replays|photos FOLDER
"""

import json
import pathlib
import struct
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, *shape):
    random = np.random.default_rng(len(name))
    return numpy_helper.from_array(random.normal(0, 0.1, shape).astype(np.float32), name)


def model(nodes, inputs, outputs, weights=(), opset=17):
    graph = helper.make_graph(nodes, "shown", inputs, outputs, list(weights))
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])


def tokens():
    """Tokens and a mask of the same two dimensions."""
    node = helper.make_node
    shape = ["batch", "sequence"]
    return model(
        [node("Gather", ["words", "ids"], ["rows"], "embed"),
         node("Unsqueeze", ["mask", "last"], ["column"], "column"),
         node("Mul", ["rows", "column"], ["y"], "hide")],
        [value("ids", shape, INT64), value("mask", shape)], [value("y", [*shape, 8])],
        [weight("words", 64, 8), numpy_helper.from_array(np.array([-1]), "last")])


def frames():
    """Sound that is mirrored at its ends by more than one sample."""
    return model([helper.make_node("Pad", ["sound", "ends"], ["y"], "mirror", mode="reflect")],
                 [value("sound", ["batch", "samples"])], [value("y", ["batch", None])],
                 [numpy_helper.from_array(np.array([0, 40, 0, 40]), "ends")])


def text():
    """Token numbers and a mask."""
    node = helper.make_node
    one = numpy_helper.from_array(np.array(1, np.float32), "one")
    return model(
        [node("Gather", ["words", "ids"], ["rows"], "embed"),
         node("Cast", ["mask"], ["kept"], "kept", to=FLOAT),
         node("Sub", ["one", "kept"], ["dropped"], "turn"),
         node("Unsqueeze", ["dropped", "last"], ["column"], "column"),
         node("Sub", ["rows", "column"], ["masked"], "apply"),
         node("MatMul", ["masked", "head"], ["logits"], "head")],
        [value("ids", [1, 8], INT64), value("mask", [1, 8], INT64)],
        [value("logits", [1, 8, 4])],
        [weight("words", 30522, 16), one, numpy_helper.from_array(np.array([-1], np.int64), "last"),
         weight("head", 16, 4)])


def hashed():
    """Rows that a computed number looks up."""
    return model([helper.make_node("Mul", ["key", "key"], ["place"], "square"),
                  helper.make_node("Gather", ["rows", "place"], ["y"], "look_up")],
                 [value("key", [8], INT64)], [value("y", [8, 4])], [weight("rows", 100, 4)])


def faulty():
    """Concat without its axis, and an input that nothing reads."""
    node = helper.make_node
    return model([node("Relu", ["x"], ["left"], "left"), node("Neg", ["x"], ["right"], "right"),
                  node("Concat", ["left", "right"], ["y"], "join")],
                 [value("x", [2, 3]), value("mask", [2, 3])], [value("y", [2, 6])])


def norm():
    """What TensorRT has a plug-in for."""
    return model([helper.make_node("InstanceNormalization", ["x", "s", "b"], ["n"], "norm"),
                  helper.make_node("Identity", ["n"], ["y"], "last")],
                 [value("x", [1, 3, 4, 4])], [value("y", [1, 3, 4, 4])],
                 [weight("s", 3), weight("b", 3)])


def scale():
    """One that doubles its input, where denormals show."""
    half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
    return model([helper.make_node("Mul", ["x", "half"], ["y"], "scale")], [value("x", [16])],
                 [value("y", [16])], [half])


def scaled():
    """Two weights that float16 does not have, and that cancel each other."""
    node = helper.make_node
    return model([node("Relu", ["x"], ["a"], "first"), node("Mul", ["a", "tiny"], ["b"], "down"),
                  node("Mul", ["b", "huge"], ["c"], "up"), node("Neg", ["c"], ["y"], "last")],
                 [value("x", [4, 8])], [value("y", [4, 8])],
                 [numpy_helper.from_array(np.array(1e-8, np.float32), "tiny"),
                  numpy_helper.from_array(np.array(1e8, np.float32), "huge")])


def replays(folder):
    """A good and a bad replay of TensorRT's tactics, which differ in one layer."""
    for kind, tactic in (("good", 1), ("bad", 2)):
        algorithm = {"implementation": 7, "tactic": tactic, "inputs": [], "outputs": [],
                     "polygraphy_class": "Algorithm"}
        file = pathlib.Path(folder) / kind / "replay.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"replay": {"conv1": algorithm},
                                    "polygraphy_class": "TacticReplayData"}), encoding="utf-8")


def photos(folder):
    """A network for images, and three images, one of them damaged."""
    folder = pathlib.Path(folder)
    (folder / "photos").mkdir()

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    for name, height, width in (("cat", 300, 400), ("dog", 280, 260), ("torn", 240, 240)):
        pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
        rows = b"".join(b"\0" + row.tobytes() for row in pixels)
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        file = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
        size = len(file) // 2 if name == "torn" else len(file)
        (folder / "photos" / f"{name}.png").write_bytes(file[:size])
    onnx.save(model([helper.make_node("GlobalAveragePool", ["pixels"], ["y"], "pool")],
                    [value("pixels", ["batch", 3, 224, 224])], [value("y", ["batch", 3, 1, 1])]),
              folder / "model.onnx")


def main(name, path):
    if name in ("replays", "photos"):
        {"replays": replays, "photos": photos}[name](path)
        return
    made = {"text": text, "tokens": tokens, "frames": frames, "hashed": hashed, "faulty": faulty,
            "norm": norm, "scale": scale, "scaled": scaled}[name]()
    onnx.save(made, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
