"""ONNX files byte by byte: what the onnx package would refuse to write as well."""

import struct

FLOAT, INT64, STRING = 1, 7, 8
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number):
    number &= 2**64 - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(field, wire_type):
    return varint(field << 3 | wire_type)


def integer(field, number):
    return tag(field, VARINT) + varint(number)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return tag(field, BYTES) + varint(len(content)) + content


def single(field, number):
    return tag(field, FIXED32) + struct.pack("<f", number)


def many(field, items):
    return b"".join(message(field, item) for item in items)


# The messages of onnx.proto that the corpus needs.

def dimension(dim):
    if dim is None:
        return b""
    return message(2, dim) if isinstance(dim, str) else integer(1, dim)


def tensor_type(dtype, dims):
    shape = b"" if dims is None else message(2, many(1, map(dimension, dims)))
    return message(1, integer(1, dtype) + shape)


def value(name, dims=(2, 3), dtype=FLOAT):
    return message(1, name) + message(2, tensor_type(dtype, dims))


def tensor(name, dims, raw=None, dtype=FLOAT, more=b""):
    content = b"".join(integer(1, d) for d in dims) + integer(2, dtype) + message(8, name)
    return content + (b"" if raw is None else message(9, raw)) + more


def external_tensor(name, dims, entries, dtype=FLOAT):
    fields = b"".join(message(13, message(1, key) + message(2, text)) for key, text in entries)
    return tensor(name, dims, dtype=dtype, more=fields + integer(14, 1))


def attribute(name, **content):
    out = message(1, name)
    if "i" in content:
        out += integer(3, content["i"]) + integer(20, 2)
    if "s" in content:
        out += message(4, content["s"]) + integer(20, 3)
    if "f" in content:
        out += single(2, content["f"]) + integer(20, 1)
    if "t" in content:
        out += message(5, content["t"]) + integer(20, 4)
    if "g" in content:
        out += message(6, content["g"]) + integer(20, 5)
    if "ints" in content:
        out += message(8, b"".join(map(varint, content["ints"]))) + integer(20, 7)
    return out


def node(op, inputs, outputs, *attributes, name="", domain=""):
    content = many(1, inputs) + many(2, outputs) + message(4, op) + many(5, attributes)
    return content + (message(3, name) if name else b"") + (message(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, tensors=(), infos=(), name="g"):
    return (many(1, nodes) + message(2, name) + many(5, tensors) + many(11, inputs) +
            many(12, outputs) + many(13, infos))


def opset(version=17, domain=""):
    return (message(1, domain) if domain else b"") + integer(2, version)


def function(name, inputs, outputs, nodes, domain="local"):
    return (message(1, name) + many(4, inputs) + many(5, outputs) + many(7, nodes) +
            message(9, opset()) + message(9, opset(1, domain)) + message(10, domain))


def model_fields(graph_bytes, functions=(), domains=()):
    """The fields of a model one by one."""
    fields = [integer(1, 8), message(2, "corpus"), message(7, graph_bytes), message(8, opset())]
    fields += [message(8, opset(1, domain)) for domain in domains]
    return fields + [message(25, f) for f in functions]


def model(graph_bytes, functions=(), domains=()):
    return b"".join(model_fields(graph_bytes, functions, domains))


def identity(dims=(2, 3), dtype=FLOAT, input_name="x", output_name="y"):
    return model(graph([node("Identity", [input_name], [output_name])],
                       [value(input_name, dims, dtype)], [value(output_name, dims, dtype)]))


def top_level_ends(data):
    """Where each field of a message ends."""
    ends, at = [], 0

    def number():
        nonlocal at
        result = shift = 0
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    while at < len(data):
        wire_type = number() & 7
        if wire_type == VARINT:
            number()
        elif wire_type == BYTES:
            length = number()
            at += length
        else:
            at += 8 if wire_type == FIXED64 else 4
        ends.append(at)
    return ends
