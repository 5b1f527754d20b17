"""Malformed ONNX models."""

import gzip
import io
import pickle
import zipfile

import wire
from corpus import MALFORMED, NOT_SAVED
from wire import (attribute, function, graph, identity, integer, message, model, model_fields, node,
                  tag, tensor, value, varint)

OK = 0
MARK_ALL = ("--onnx-outputs", "mark", "all")

X, Y = value("x"), value("y")
RELU = node("Relu", ["x"], ["y"])
GRAPH = graph([RELU], [X], [Y])


def branch(op):
    return graph([node(op, ["x"], ["b"])], [], [value("b")], name="branch")


def small_models():
    """Models whose every byte means something to the reader: name -> fields of the model."""
    weights = tensor("w", [2, 3], b"\0\0\x80?" * 6)
    choice = node("If", ["c"], ["y"], attribute("then_branch", g=branch("Relu")),
                  attribute("else_branch", g=branch("Neg")))
    local = function("F", ["a"], ["b"], [node("Relu", ["a"], ["b"])])
    conv = node("Conv", ["x", "w"], ["y"], attribute("pads", ints=[1, 1, 1, 1]),
                attribute("group", i=1), name="conv")
    typed = message(4, b"\0\0\x80?" * 6) + message(8, "v") + integer(2, 1) + integer(1, 6)
    return {
        "identity": model_fields(GRAPH),
        "weights": model_fields(graph([node("Add", ["x", "w"], ["y"])], [X], [Y], [weights])),
        "if": model_fields(graph([choice], [X, value("c", [], 9)], [Y])),
        "function": model_fields(graph([node("F", ["x"], ["y"], domain="local")], [X], [Y]),
                                 [local], ["local"]),
        "conv": model_fields(graph([conv], [value("x", [1, 2, 4, 4])], [value("y", None)],
                                   [tensor("w", [1, 2, 3, 3], bytes(72))], [value("z", ["N"])])),
        "typed_weights": model_fields(graph([node("Mul", ["x", "v"], ["y"])],
                                            [value("x", [6])], [value("y", [6])], [typed])),
    }


def truncated(corpus):
    for name, fields in small_models().items():
        data = b"".join(fields)
        # Whole fields are a valid file, with a graph from the third field on.
        whole = {sum(map(len, fields[:count])) for count in range(3, len(fields) + 1)}
        for size in range(len(data)):
            corpus.model("onnx_cut", f"{name}_{size}", data[:size],
                         OK if size in whole else MALFORMED)


def given_models(corpus, models, most):
    """Models made elsewhere, cut at about `most` places each."""
    for path in models:
        data = path.read_bytes()
        ends = set(wire.top_level_ends(data)) | {0, len(data)}
        step = max(1, len(data) // most)
        for size in range(len(data) - 1, 0, -step):
            if size not in ends:
                corpus.model("onnx_cut_given", f"{path.stem}_{size}", data[:size])


def wire_format(corpus):
    def case(name, data, expect=MALFORMED):
        corpus.model("onnx_wire", name, data, expect)

    good = model(GRAPH)
    # Wire types that no field has, in the model, its graph and its node.
    for kind in (3, 4, 6, 7):
        field = varint(7 << 3 | kind)
        case(f"wire_type_{kind}", good + field)
        case(f"wire_type_{kind}_in_graph", model(GRAPH + field))
        case(f"wire_type_{kind}_in_node", model(graph([RELU + field], [X], [Y])))
    case("field_zero", good + b"\2\0")
    case("field_zero_alone", b"\0")
    case("field_number_2_to_29", good + varint((1 << 29) << 3) + b"\0")
    # Only for fields that the schema has is the wire type known to be wrong.
    for field, name in ((7, "graph"), (8, "opset"), (25, "function"), (14, "metadata")):
        case(f"{name}_as_varint", good + integer(field, 3), {OK, MALFORMED})
        case(f"{name}_as_fixed64", good + tag(field, wire.FIXED64) + bytes(8), {OK, MALFORMED})
        case(f"{name}_as_fixed64_cut", good + tag(field, wire.FIXED64) + bytes(7))
        case(f"{name}_as_fixed32_cut", good + tag(field, wire.FIXED32) + bytes(3))
    for size in (11, 12, 64):
        case(f"varint_of_{size}_bytes", good + tag(1, wire.VARINT) + b"\x80" * (size - 1) + b"\1")
        case(f"length_of_{size}_bytes", good + tag(7, wire.BYTES) + b"\x80" * (size - 1) + b"\1")
        case(f"tag_of_{size}_bytes", good + b"\x80" * (size - 1) + b"\1")
    case("varint_never_ends", good + tag(1, wire.VARINT) + b"\xff" * 100)
    for length in (1, 127, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1):
        case(f"length_{length}", good + tag(7, wire.BYTES) + varint(length))
        case(f"name_length_{length}",
             model(graph([], [X], [Y]) + tag(2, wire.BYTES) + varint(length)))
        case(f"unknown_field_length_{length}", good + tag(999, wire.BYTES) + varint(length))
    case("length_one_too_long", tag(7, wire.BYTES) + varint(len(GRAPH) + 1) + GRAPH)
    case("child_longer_than_parent", model(tag(1, wire.BYTES) + varint(50) + RELU))
    case("packed_dims_cut", model(graph([], [X], [Y], [message(1, b"\x80") + message(8, "w")])))
    case("packed_floats_odd", model(graph([RELU], [X], [Y], [tensor("w", [1], more=message(
        4, b"abc"))])))
    case("garbage_appended", good + b"\xde\xad\xbe\xef")
    case("text_appended", good + b"\nnot protobuf\n")
    case("zeros_appended", good + bytes(64))
    case("two_graphs", good + message(7, graph([node("Neg", ["y"], ["z"])], [], [value("z")])), OK)
    case("graph_twice", good + message(7, GRAPH), {OK, MALFORMED})
    case("no_graph", integer(1, 8) + message(8, wire.opset()))
    case("empty_graph", model(b""))
    case("random", bytes((i * 7919 + 13) % 251 for i in range(4096)))
    case("all_ff", b"\xff" * 4096)
    case("all_zero", bytes(4096))


def nested(depth):
    """If nodes inside of each other; each level is three messages: node, attribute, graph."""
    inner = graph([node("Relu", ["x"], ["b"])], [], [value("b")])
    for _ in range(depth):
        inner = graph([node("If", ["c"], ["b"], attribute("then_branch", g=inner))], [],
                      [value("b")])
    return inner


def depth(corpus):
    corpus.model("onnx_depth", "levels_30", model(nested(30)), {OK, MALFORMED})
    for levels in (34, 101, 1000, 3000):
        corpus.model("onnx_depth", f"levels_{levels}", model(nested(levels)))
    # 4,000 messages of a type that nests in itself: a sequence of sequences.
    kind = wire.tensor_type(1, [2])
    for _ in range(2000):
        kind = message(4, message(1, kind))
    corpus.model("onnx_depth", "types", model(graph([RELU], [message(1, "x") + message(2, kind)],
                                                    [Y])))


def meaning(corpus):
    def case(name, data, expect=MALFORMED, extra=(), **more):
        corpus.model("onnx_meaning", name, data, expect, extra, **more)

    # The identity runner runs no graph: what only matters for running may pass here, and is given
    # to the frameworks by framework_cases. With mark all the graph is walked.
    either = {OK, MALFORMED}
    a = value("a")
    graphs = {
        "cycle": graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], [X], [a]),
        "self_cycle": graph([node("Add", ["x", "a"], ["a"])], [X], [a]),
        "dangling": graph([node("Add", ["x", "nowhere"], ["a"])], [X], [a]),
        "dangling_output": graph([RELU], [X], [value("nowhere")]),
        "defined_twice": graph([node("Relu", ["x"], ["a"]), node("Neg", ["x"], ["a"])], [X], [a]),
        "input_twice": graph([node("Relu", ["x"], ["a"])], [X, X], [a]),
        "output_twice": graph([node("Relu", ["x"], ["a"])], [X], [a, a]),
        "output_without_name": graph([node("Relu", ["x"], ["a"])], [X], [value("")]),
        "weight_twice": graph([node("Relu", ["x"], ["a"])], [X], [a],
                              [tensor("w", [1], bytes(4))] * 2),
        "weight_data_too_short": graph([node("Add", ["x", "w"], ["a"])], [X], [a],
                                       [tensor("w", [2, 3], bytes(23))]),
        "weight_data_too_long": graph([node("Add", ["x", "w"], ["a"])], [X], [a],
                                      [tensor("w", [2, 3], bytes(25))]),
        "weight_too_large": graph([node("Add", ["x", "w"], ["a"])], [X], [a],
                                  [tensor("w", [2**62, 8], b"")]),
        "weight_negative": graph([node("Add", ["x", "w"], ["a"])], [X], [a],
                                 [tensor("w", [-1], b"")]),
        "weight_type_30": graph([node("Add", ["x", "w"], ["a"])], [X], [a],
                                [tensor("w", [1], bytes(4), 30)]),
        "big_constant": graph([node("ConstantOfShape", ["s"], ["a"])], [X], [a],
                              [tensor("s", [1], (2**62).to_bytes(8, "little"), wire.INT64)]),
    }
    for name, content in graphs.items():
        case(name, model(content), either)
        case(f"{name}_marked", model(content), either, MARK_ALL)
    unknown = {f"input_type_{dtype}": dtype for dtype in (0, 30, 255, -1, 2**31 - 1)}
    for name, dtype in unknown.items():
        case(name, identity(dtype=dtype))
    case("input_too_large", identity(dims=(2**62, 8)))
    case("input_longest", identity(dims=(2**63 - 1,)))
    case("input_4_tib", identity(dims=(2**40,)))
    # A dimension below zero is how some exporters write "unknown".
    case("input_negative", identity(dims=(-3, 2)), either)
    case("input_rank_65", identity(dims=(1,) * 65), either)
    case("input_rank_10000", identity(dims=(1,) * 10000), either)
    call = node("F", ["x"], ["y"], domain="local")
    again = function("F", ["x"], ["y"], [call])
    f, g = (function(name, ["x"], ["y"], [node(callee, ["x"], ["y"], domain="local")])
            for name, callee in (("F", "G"), ("G", "F")))
    for name, functions in (("recursive", [again]), ("mutually_recursive", [f, g]),
                            ("function_twice", [again, again])):
        content = model(graph([call], [X], [Y]), functions, ["local"])
        case(name, content, either)
        case(f"{name}_marked", content, either, MARK_ALL)
    inner = graph([node("Relu", ["x"], ["b"])], [], [value("b")])
    for _ in range(12):
        inner = graph([node("If", ["c"], ["b"], attribute("then_branch", g=inner),
                            attribute("else_branch", g=inner))], [], [value("b")])
    case("if_in_both_branches", model(inner), either | {1}, MARK_ALL)


HOSTILE_NAMES = {
    "nul": "a\0b", "escape": "\x1b[31mred\x1b[0m", "title": "\x1b]0;owned\x07", "bell": "\a\b\r",
    "newline": "x\n[I] PASSED", "c1": "\x9b31mred", "bidi": "\u202egnp.exe",
    "script": "<script>alert(1)</script>", "quote": "\"'`$(id);&|", "dots": "../../../../evil",
    "dot": ".", "dotdot": "..", "absolute": "/etc/passwd", "backslash": "..\\..\\x",
    "percent": "%2e%2e%2f%n%s", "format": "{} {0} %s %n", "long": "n" * 65536,
    "not_utf8": b"\xff\xfe\xc0\x80", "surrogate": b"\xed\xa0\x80", "emoji": "\U0001f600",
    "empty": "", "space": " ", "colon": "x:[1,2]", "slash_end": "a/b/",
}


def names(corpus):
    """Names are text to escape, not to obey: the run works or is refused, and writes only what it
    was asked to."""
    for name, text in HOSTILE_NAMES.items():
        # A name that is no UTF-8, or none at all, is malformed; all others are only odd.
        expect = {OK, MALFORMED} if name in ("not_utf8", "surrogate", "empty") else OK
        data = identity(input_name=text, output_name=text or "y")
        file = corpus.write(f"onnx_names/{name}.onnx", data)
        for suffix in ("json", "npz", "safetensors"):
            # A name in a zip file is at most 65,535 bytes long.
            too_long = (name, suffix) == ("long", "npz")
            corpus.case("onnx_names", f"{name}_{suffix}",
                        ["run", file, "--identity", "--identity", "--save-outputs",
                         f"o.{suffix}", "--save-inputs", f"i.{suffix}"],
                        NOT_SAVED if too_long else expect,
                        may_leave=[f"o.{suffix}", f"i.{suffix}"])
    for name in ("dots", "absolute", "dotdot"):
        corpus.case("onnx_names", f"{name}_blob",
                    ["run", f"@/onnx_names/{name}.onnx", "--identity", "--save-input-blob", "b"],
                    {OK, 2, 3, 7}, may_leave=["b"])


def not_models(corpus):
    def case(name, data):
        corpus.model("onnx_other", name, data)

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("model.onnx"), model(GRAPH))
    case("empty", b"")
    case("gzip", gzip.compress(model(GRAPH), mtime=0))
    case("zip", packed.getvalue())
    case("pickle", pickle.dumps({"a": [1, 2, 3]}, protocol=4))
    case("engine", b"ftrt" + bytes(200))
    case("text", "this is no model\n" * 20)
    case("json", '{"graph": {}}')
    case("html", "<!DOCTYPE html><html><body>404</body></html>")
    case("git_lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n")
    corpus.path("onnx_other/folder.onnx").mkdir()
    corpus.model_file("onnx_other", "folder", "@/onnx_other/folder.onnx")
    corpus.model_file("onnx_other", "missing", "@/onnx_other/missing.onnx")
    corpus.model_file("onnx_other", "fifo", corpus.fifo("onnx_other/fifo.onnx"))
    corpus.path("onnx_other/zero.onnx").symlink_to("/dev/zero")
    corpus.model_file("onnx_other", "dev_zero", "@/onnx_other/zero.onnx")
    corpus.path("onnx_other/loop.onnx").symlink_to("loop.onnx")
    corpus.model_file("onnx_other", "link_loop", "@/onnx_other/loop.onnx")
    corpus.model_file("onnx_other", "huge_sparse", corpus.sparse("onnx_other/huge.onnx", 1 << 36))


def add(corpus, given=(), most=40):
    truncated(corpus)
    given_models(corpus, given, most)
    wire_format(corpus)
    depth(corpus)
    meaning(corpus)
    names(corpus)
    not_models(corpus)
