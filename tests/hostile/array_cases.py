"""Malformed npy, npz, safetensors and ONNX test data."""

import json
import struct
import zlib

from corpus import INCOMPLETE, MALFORMED
from results_cases import npy
from wire import external_tensor, integer, message, tensor

OK = 0
ONE = b"\0\0\x80?"


def raw_npy(header, data=ONE * 2, version=b"\1\0", length=None):
    header = header.encode()
    size = len(header) if length is None else length
    return b"\x93NUMPY" + version + size.to_bytes(2 if version[0] == 1 else 4, "little") + (
        header + data)


def header(descr="'<f4'", fortran="False", shape="(2,)", more=""):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, {more}}}\n"


def npy_cases(corpus):
    def case(name, data, expect=MALFORMED):
        corpus.inputs("npy", name, ".npy", data, expect)

    good = npy()
    # The name of the file is that of the input.
    corpus.write("npy/good/x.npy", good)
    corpus.inputs_file("npy", "good", "@/npy/good/x.npy", OK)
    for size in range(len(good)):
        case(f"cut_{size}", good[:size])
    for at in range(6):
        case(f"magic_{at}", good[:at] + b"?" + good[at + 1:])
    for major, minor in ((0, 0), (1, 1), (4, 0), (255, 255), (2, 1)):
        case(f"version_{major}_{minor}", good[:6] + bytes([major, minor]) + good[8:])
    case("header_longer_than_file", raw_npy(header(), b"", length=60000))
    case("header_4_gib", raw_npy(header(), version=b"\2\0", length=2**32 - 1))
    case("header_empty", raw_npy(""))
    case("header_million", raw_npy(header(more=" " * 10**6), version=b"\2\0"))
    shapes = {"huge": "(65536, 65536)", "largest": "(9223372036854775807,)",
              "overflow": "(4294967296, 4294967296, 4294967296)", "overflow_times_4":
              "(4611686018427387904,)", "negative": "(-1,)", "negatives": "(-1, -2)",
              "beyond": "(9223372036854775808,)", "digits": f"({'9' * 5000},)",
              "one_too_many": "(3,)", "number": "2", "list": "[2]", "text": "'2'", "none": "None",
              "nested": "((2,),)", "float": "(2.0,)", "no_comma": "(2)", "open": "(2,",
              "rank_65": "(" + "1," * 65 + ")", "depth": "(" * 5000}
    for name, shape in shapes.items():
        case(f"shape_{name}", raw_npy(header(shape=shape)))
    descrs = {"object": "'|O'", "object_8": "'O8'", "record": "[('a', '<f4')]",
              "nested_record": "[('a', [('b', '<f4')])]", "empty": "''", "unknown": "'<q9'",
              "width": "'<f3'", "long": "'<f" + "9" * 30 + "'", "number": "4", "none": "None",
              "bytes": "b'<f4'", "datetime": "'<M8[ns]'", "zero_width": "'<U0'", "word": "float",
              "void_huge": "'|V9999999999'", "escape": "'\\x3cf4'"}
    for name, descr in descrs.items():
        case(f"descr_{name}", raw_npy(header(descr=descr)))
    code = {"import": "__import__('os').system('touch pwned')", "lambda": "(lambda: 0)()",
            "exec": "exec('open(\"pwned\",\"w\")')", "arithmetic": "(1+1,)",
            "comprehension": "tuple(i for i in range(2))", "f_string": "f'{1}'"}
    for name, text in code.items():
        case(f"code_{name}_shape", raw_npy(header(shape=text)))
        case(f"code_{name}", raw_npy(text))
        case(f"code_{name}_more", raw_npy(header(more=f"'x': {text}")))
    for name, text in {"list": "[1, 2]", "missing_shape": "{'descr': '<f4'}", "nothing": "{}",
                       "open": "{'descr': '<f4'", "fortran": header(fortran="Maybe"),
                       "fortran_number": header(fortran="1"), "trailing": header() + "x",
                       "number_key": header(more="1: 2"), "extra": header(more="'a': 1"),
                       "comment": header(more="# x"), "deep": "{" * 5000}.items():
        case(f"header_{name}", raw_npy(text))
    case("header_duplicate", raw_npy(header(more="'shape': (2,)")), {OK, MALFORMED})


class Zip:
    """An archive written field by field."""

    def __init__(self):
        self.body, self.directory, self.count = b"", b"", 0

    def add(self, name, data, packed=None, **lies):
        name = name.encode()
        packed = data if packed is None else packed
        fields = {"flags": 0, "method": 0, "crc": zlib.crc32(data), "packed_size": len(packed),
                  "size": len(data), "offset": len(self.body), "local_name": name, "extra": b"",
                  **lies}
        common = struct.pack("<HHHHIIIHH", fields["flags"], fields["method"], 0, 33,
                             fields["crc"], fields["packed_size"], fields["size"], len(name),
                             len(fields["extra"]))
        local = struct.pack("<HHHHIIIHH", fields["flags"], fields["method"], 0, 33,
                            fields["crc"], fields["packed_size"], fields["size"],
                            len(fields["local_name"]), 0)
        self.body += b"PK\3\4" + struct.pack("<H", 20) + local + fields["local_name"] + packed
        self.directory += (b"PK\1\2" + struct.pack("<HH", 20, 20) + common +
                           struct.pack("<HHHII", 0, 0, 0, 0, fields["offset"] % 2**32) + name +
                           fields["extra"])
        self.count += 1
        return self

    def bytes(self, **lies):
        end = {"count": self.count, "size": len(self.directory), "offset": len(self.body),
               "comment": 0, "disk": 0, **lies}
        return self.body + self.directory + b"PK\5\6" + struct.pack(
            "<HHHHIIH", end["disk"], 0, end["count"] & 0xffff, end["count"] & 0xffff,
            end["size"], end["offset"], end["comment"])


def deflate(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def npz_cases(corpus):
    def case(name, data, expect=MALFORMED, **more):
        corpus.inputs("npz", name, ".npz", data, expect, **more)

    good = npy()
    whole = Zip().add("x.npy", good).bytes()
    case("good", whole, OK)
    packed = deflate(good)
    case("good_deflated", Zip().add("x.npy", good, packed, method=8).bytes(), OK)
    for size in range(0, len(whole), 2):
        case(f"cut_{size}", whole[:size])
    # A bomb: 64 MiB and more from a thousandth, and 4 GiB that are only claimed.
    zeros = npy(shape=f"({80 << 18},)", data=bytes(80 << 20))
    case("bomb_80_mib", Zip().add("x.npy", zeros, deflate(zeros), method=8).bytes())
    for claimed in (2**31, 2**32 - 2):
        case(f"bomb_claims_{claimed}", Zip().add("x.npy", good, packed, method=8,
                                                 size=claimed).bytes())
    case("larger_than_declared", Zip().add("x.npy", good, packed, method=8, size=50).bytes())
    case("smaller_than_declared", Zip().add("x.npy", good, packed, method=8, size=500).bytes())
    case("quine", Zip().add("x.npy", whole).bytes())
    case("duplicate", Zip().add("x.npy", good).add("x.npy", good).bytes())
    case("encrypted", Zip().add("x.npy", good, flags=1).bytes())
    case("strongly_encrypted", Zip().add("x.npy", good, flags=0x41).bytes())
    for method in (1, 6, 9, 12, 14, 93, 99):
        case(f"method_{method}", Zip().add("x.npy", good, method=method).bytes())
    case("overlap", Zip().add("x.npy", good).add("y.npy", good, b"", packed_size=len(good),
                                                 local_name=b"x.npy", offset=0).bytes())
    case("overlap_same_name", Zip().add("x.npy", good).add("x2.npy", good, b"", offset=0,
                                                           packed_size=len(good)).bytes())
    case("offset_past_end", Zip().add("x.npy", good, offset=10**6).bytes())
    case("offset_in_data", Zip().add("x.npy", good, offset=10).bytes())
    case("packed_size_past_end", Zip().add("x.npy", good, packed_size=10**6, size=10**6).bytes())
    case("crc", Zip().add("x.npy", good, crc=1).bytes())
    case("crc_deflated", Zip().add("x.npy", good, packed, method=8, crc=1).bytes())
    case("deflate_garbage", Zip().add("x.npy", good, b"\xff" * 40, method=8).bytes())
    case("zip64_missing", Zip().add("x.npy", good, size=2**32 - 1, packed_size=2**32 - 1).bytes())
    case("zip64_short", Zip().add("x.npy", good, size=2**32 - 1, packed_size=2**32 - 1,
                                  extra=b"\1\0\4\0abcd").bytes())
    case("zip64_lies", Zip().add("x.npy", good, size=2**32 - 1, packed_size=2**32 - 1,
                                 extra=struct.pack("<HHQQ", 1, 16, 2**63, 2**63)).bytes())
    case("extra_past_end", Zip().add("x.npy", good, size=2**32 - 1,
                                     extra=b"\1\0\xff\xff").bytes())
    for name, lies in {"count_more": {"count": 2}, "count_less": {"count": 0},
                       "count_65535": {"count": 65535}, "size": {"size": 10**6},
                       "size_small": {"size": 3}, "offset": {"offset": 10**6},
                       "offset_max": {"offset": 2**32 - 1}, "comment": {"comment": 9},
                       "disk": {"disk": 1}}.items():
        case(f"directory_{name}", Zip().add("x.npy", good).bytes(**lies),
             {OK, MALFORMED} if name == "count_less" else MALFORMED)
    case("empty_archive", Zip().bytes())
    case("no_array", Zip().add("x.txt", b"hello").bytes())
    case("object_array", Zip().add("x.npy", npy("|O")).bytes())
    case("pickle", Zip().add("x.npy", b"\x80\4K\1.").bytes())
    case("array_cut", Zip().add("x.npy", good[:-1]).bytes())
    # Names are names of tensors, never of files: read, and nothing written.
    for name, member in {"slip": "../../../../evil.npy", "absolute": "/nowhere/evil.npy",
                         "nul": "x\0y.npy", "escape": "\x1b[2J.npy", "empty": "", "dots": "..npy",
                         "long": "n" * 65000 + ".npy"}.items():
        case(f"name_{name}", Zip().add(member, good).bytes())
        case(f"name_{name}_beside", Zip().add("x.npy", good).add(member, good).bytes(),
             {OK, MALFORMED})
    metadata = {"not_json": b"{", "list": b"[]", "number": b"1", "empty": b"", "depth": b"[" * 9999,
                "runs_number": b'{"schema_version":1,"runs":7}',
                "version": b'{"schema_version":99}',
                "types": b'{"schema_version":1,"runs":[],"types":{"x":"nonsense"}}',
                "runs_text": b'{"schema_version":1,"runs":["r"],"types":{}}'}
    for name, content in metadata.items():
        data = Zip().add("r/0000000000/x.npy", good).add("__vernier__.json", content).bytes()
        corpus.results("npz", f"metadata_{name}", ".npz", data, {OK, MALFORMED, INCOMPLETE, 1})


def safetensors(entries, data=ONE * 2, text=None, length=None):
    content = json.dumps(entries) if text is None else text
    content = content.encode() if isinstance(content, str) else content
    size = len(content) if length is None else length
    return struct.pack("<Q", size) + content + data


def entry(begin=0, end=8, dtype="F32", shape=(2,)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def safetensors_cases(corpus):
    def case(name, data, expect=MALFORMED):
        corpus.inputs("safetensors", name, ".safetensors", data, expect)

    good = safetensors({"x": entry()})
    case("good", good, OK)
    for size in range(len(good)):
        case(f"cut_{size}", good[:size])
    for length in (len(good), 10**8, 10**8 + 1, 2**32, 2**40, 2**63, 2**64 - 1, 2**64 - 8):
        case(f"header_{length}", safetensors({"x": entry()}, length=length))
    case("header_one_short", safetensors({"x": entry()}, length=len(good) - 17))
    case("header_empty", safetensors({}, text=""))
    for name, text in {"list": "[]", "number": "1", "space": ' {"x": 1}', "no_json": "{x}",
                       "depth": '{"x":' * 100000, "array_depth": '{"x":' + "[" * 100000,
                       "nul": "{}\0"}.items():
        case(f"header_{name}", safetensors({}, text=text))
    case("nothing", safetensors({}, b""))
    case("hole", safetensors({"x": entry(), "y": entry(12, 20)}, bytes(20)))
    case("hole_at_start", safetensors({"x": entry(4, 12)}, bytes(12)))
    case("overlap", safetensors({"x": entry(), "y": entry(4, 12)}, bytes(12)))
    case("same_range", safetensors({"x": entry(), "y": entry()}))
    case("trailing", safetensors({"x": entry()}, bytes(9)))
    case("too_short", safetensors({"x": entry()}, bytes(7)))
    case("duplicate", safetensors({}, text='{"x":%s,"x":%s}' % ((json.dumps(entry()),) * 2)))
    case("duplicate_escaped",
         safetensors({}, text='{"x":%s,"\\u0078":%s}' % ((json.dumps(entry()),) * 2)))
    case("reversed", safetensors({"x": entry(8, 0)}))
    for name, offsets in {"one": [8], "three": [0, 4, 8], "negative": [-8, 0], "float": [0.0, 8.0],
                          "text": ["0", "8"], "huge": [0, 2**64], "wrap": [2**64 - 8, 2**64],
                          "object": {}, "past_end": [8, 16]}.items():
        case(f"offsets_{name}", safetensors({"x": {**entry(), "data_offsets": offsets}}))
    for name, shape in {"size": [3], "negative": [-2], "product": [2**32, 2**32, 4],
                        "wrap_to_8": [2**61 + 1, 2, 2**61], "float": [2.0], "text": "2",
                        "number": 2, "null": None, "nested": [[2]], "huge": [2**64]}.items():
        case(f"shape_{name}", safetensors({"x": {**entry(), "shape": shape}}))
    for name, dtype in {"unknown": "F99", "lower": "f32", "number": 1, "null": None, "size": "F64",
                        "list": ["F32"]}.items():
        case(f"dtype_{name}", safetensors({"x": {**entry(), "dtype": dtype}}))
    for key in ("dtype", "shape", "data_offsets"):
        case(f"without_{key}", safetensors({"x": {k: v for k, v in entry().items() if k != key}}))
    for name, value in {"number": 1, "null": None, "list": [], "text": "t"}.items():
        case(f"entry_{name}", safetensors({"x": value}))
        case(f"metadata_{name}", safetensors({"__metadata__": value, "x": entry()}),
             {OK, MALFORMED})
    case("not_utf8", safetensors({}, text=b'{"\xff":' + json.dumps(entry()).encode() + b"}"))
    many = {f"t{i}": entry(8 * i, 8 * i + 8) for i in range(20000)}
    case("many_tensors", safetensors(many, bytes(8 * len(many))))


def test_data_cases(corpus):
    """Folders of ONNX test data, one .pb file an input."""
    def case(name, data, expect=MALFORMED):
        folder = f"test_data/{name}"
        corpus.write(f"{folder}/input_0.pb", data)
        corpus.inputs_file("test_data", name, f"@/{folder}", expect, mentions=["input_0.pb"])

    good = tensor("x", [2], ONE * 2)
    case("good", good, OK)
    for size in range(1, len(good)):
        case(f"cut_{size}", good[:size])
    case("empty", b"")
    case("garbage", b"\xff" * 50)
    for name, data in {
            "negative": tensor("x", [-2], ONE * 2), "too_large": tensor("x", [2**62, 8], b""),
            "short": tensor("x", [3], ONE * 2), "long": tensor("x", [1], ONE * 2),
            "no_data": tensor("x", [2**40]), "type_0": tensor("x", [2], ONE * 2, 0),
            "type_99": tensor("x", [2], ONE * 2, 99),
            "both": tensor("x", [2], ONE * 2, more=message(4, ONE * 2)),
            "segment": tensor("x", [2], ONE * 2, more=message(3, integer(1, 0))),
            "external": external_tensor("x", [2], [("location", "../../outside.bin")]),
            "floats_odd": tensor("x", [2], more=message(4, b"abc")),
            "type_twice": tensor("x", [2], ONE * 2, more=integer(2, 7)),
            "strings_few": tensor("x", [3], dtype=8, more=message(6, "a")),
            "odd_nibbles": tensor("x", [3], b"\0", 22)}.items():
        case(name, data, {OK, MALFORMED} if name == "both" else MALFORMED)
    corpus.path("test_data/nothing/.").mkdir(parents=True, exist_ok=True)
    corpus.inputs_file("test_data", "nothing", "@/test_data/nothing", MALFORMED,
                       mentions=["nothing"])
    corpus.fifo("test_data/pipe/input_0.pb")
    corpus.inputs_file("test_data", "pipe", "@/test_data/pipe", MALFORMED,
                       mentions=["input_0.pb"])


def add(corpus):
    npy_cases(corpus)
    npz_cases(corpus)
    safetensors_cases(corpus)
    test_data_cases(corpus)
