"""Models for the tests, written as bytes: the package's environment has no onnx."""

import numpy as np

FLOAT = 1


def _varint(value):
    out = b""
    while True:
        out += bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
        value >>= 7
        if not value:
            return out


def _field(number, payload):
    """A field of ONNX's protobuf: bytes and texts with their length, numbers as varints."""
    if isinstance(payload, int):
        return _varint(number << 3) + _varint(payload)
    payload = payload.encode() if isinstance(payload, str) else payload
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _value_info(name, dims):
    shape = b""
    for dim in dims:
        shape += _field(1, _field(2, dim) if isinstance(dim, str) else _field(1, dim))
    tensor_type = _field(1, FLOAT) + _field(2, shape)
    return _field(1, name) + _field(2, _field(1, tensor_type))


def _weight(name, array):
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, FLOAT) + _field(8, name) + _field(9, array.astype("<f4").tobytes())


def _node(op, inputs, output, name):
    return (b"".join(_field(1, i) for i in inputs) + _field(2, output) + _field(3, name)
            + _field(4, op))


WEIGHTS = np.arange(6, dtype=np.float32).reshape(3, 2) / 4


def small_model():
    """y = relu(x) @ WEIGHTS; x is (n, 3)."""
    graph = (_field(1, _node("Relu", ["x"], "h", "relu"))
             + _field(1, _node("MatMul", ["h", "w"], "y", "matmul"))
             + _field(2, "small") + _field(5, _weight("w", WEIGHTS))
             + _field(11, _value_info("x", ["n", 3])) + _field(12, _value_info("y", ["n", 2])))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 17))


def layered_model(scale):
    """y = relu(x) * scale + 1, in nodes called relu, scale and shift; x is (n, 3)."""
    one = np.ones((1,), np.float32)
    graph = (_field(1, _node("Relu", ["x"], "h", "relu"))
             + _field(1, _node("Mul", ["h", "s"], "scaled", "scale"))
             + _field(1, _node("Add", ["scaled", "one"], "y", "shift")) + _field(2, "layered")
             + _field(5, _weight("s", one * scale)) + _field(5, _weight("one", one))
             + _field(11, _value_info("x", ["n", 3])) + _field(12, _value_info("y", ["n", 3])))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 17))


def expected(x):
    return np.maximum(x, 0) @ WEIGHTS


