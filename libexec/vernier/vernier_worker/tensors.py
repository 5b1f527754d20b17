"""NumPy arrays to tensors in shared memory and back.

The layout of src/backend/wire/tensor_block.cc: a description of all tensors, then their bytes in
one
sealed memfd, or in the message itself when they are few.
"""

import fcntl
import os

import numpy as np

from . import shared_blocks, wire

ALIGNMENT = 64
INLINE_LIMIT = 32 * 1024
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL

# ONNX's numbers for element types.
STRING = 8
NUMPY_CODES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
    "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14,
    "complex128": 15,
}
# Those that NumPy knows through the package ml_dtypes only.
EXTRA_CODES = {
    "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19,
    "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23,
}
CODES = {**NUMPY_CODES, **EXTRA_CODES}
NAMES = {code: name for name, code in CODES.items()}
PACKED = {21, 22, 23}  # two elements a byte, the first in the low half


def dtype_of(code, who="a tensor"):
    """The NumPy type of an element type."""
    if code == STRING:
        return np.dtype(object)
    name = NAMES.get(code)
    if name is None:
        raise wire.Failure(wire.INTERNAL, f"{who} has the unknown element type {code}")
    if name in NUMPY_CODES:
        return np.dtype(name)
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise wire.Failure(
            wire.UNAVAILABLE, f"{who} is {name}, which NumPy does not have: "
            "'pip install ml_dtypes' adds it") from None


def code_of(dtype, who):
    """The element type of a NumPy type."""
    if dtype.kind in "USO" or dtype.kind == "T":
        return STRING
    code = CODES.get(dtype.name)
    if code is None:
        raise wire.Failure(wire.BACKEND, f"{who} has NumPy's type {dtype}, which no runner has; "
                           "convert it with astype()")
    return code


# Numbers and lists are arrays, too, in feeds, and where a program serves its own objects (the
# Python package); among a script's outputs they are more often a mistake.
takes_plain_values = False


def to_numpy(value, who, takes_plain=False):
    """An array of what frameworks hand out."""
    if type(value) is not np.ndarray:
        _check_unmasked(value, who)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    kind = type(value)
    if callable(getattr(value, "detach", None)) and callable(getattr(value, "cpu", None)):
        return _from_torch(value.detach().cpu(), who)
    if hasattr(value, "__cuda_array_interface__") and callable(getattr(value, "get", None)):
        return np.asarray(value.get())  # CuPy
    if callable(getattr(value, "numpy", None)):  # TensorFlow, Polygraphy's device views
        return np.asarray(value.numpy())
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value, who)
    is_plain = isinstance(value, (int, float, bool, complex, list, tuple))
    if is_plain and (takes_plain or takes_plain_values):
        try:
            return np.asarray(value)
        except ValueError as error:  # rows of several lengths
            raise wire.Failure(wire.BACKEND, f"{who} is not an array: {error}") from error
    raise wire.Failure(
        wire.BACKEND, f"{who} is {wire.a(kind)}; expected a NumPy array, a tensor of torch, "
        "JAX or TensorFlow, or anything with __dlpack__")


def _check_unmasked(value, who):
    """What lies under a mask is not meant to be a value."""
    for one in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one):
            raise wire.Failure(
                wire.BACKEND, f"{who} has masked values, which a tensor cannot hold: "
                ".filled(VALUE) puts a value in their place")


def _from_dlpack(value, who):
    try:
        return np.from_dlpack(value)
    except Exception as error:
        raise wire.Failure(wire.BACKEND, f"{who}: its __dlpack__ could not be used: {error}") from error


def _from_torch(value, who):
    for resolve in ("resolve_conj", "resolve_neg"):  # what is only marked so is made so
        value = getattr(value, resolve, lambda: value)()
    name = str(value.dtype).replace("torch.", "")
    if name not in EXTRA_CODES:
        return value.contiguous().numpy()
    import torch
    bits = torch.int16 if name == "bfloat16" else torch.uint8
    return value.contiguous().view(bits).numpy().view(dtype_of(EXTRA_CODES[name], who))


def _strings(array, who):
    """Arrow's layout: offsets, then the UTF-8 bytes of all elements."""
    texts = []
    for element in array.reshape(-1).tolist():
        if isinstance(element, str):
            element = element.encode("utf-8")
        if isinstance(element, int):
            raise wire.Failure(
                wire.BACKEND, f"{who} holds {element}, which fits no type of 64 bits")
        if not isinstance(element, bytes):
            raise wire.Failure(wire.BACKEND, f"{who} holds {wire.a(type(element))}; an array of "
                               "Python objects may hold texts only")
        texts.append(element)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(t) for t in texts], out=offsets[1:])
    return offsets.tobytes() + b"".join(texts)


def _bytes_of(array, code, who):
    if code == STRING:
        return _strings(array, who)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    flat = np.ascontiguousarray(array).reshape(-1)
    if code in PACKED:
        nibbles = flat.view(np.uint8) & 0xF
        nibbles = np.append(nibbles, np.zeros(nibbles.size % 2, np.uint8))
        return (nibbles[0::2] | nibbles[1::2] << 4).tobytes()
    return memoryview(flat.view(np.uint8)) if flat.size else b""


def bytes_of(array, who):
    """An array's bytes as they lie in a block."""
    return _bytes_of(array, code_of(array.dtype, who), who)


def _align(offset):
    return (offset + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _write_memory(pieces, total):
    memory = os.memfd_create("vernier-tensors", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, total)
        for offset, data in pieces:
            view = memoryview(data)
            while view:
                written = os.pwrite(memory, view, offset)
                view = view[written:]
                offset += written
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(memory)
        raise
    return memory


def _describe(name, array, code, place, out):
    """One tensor; `place` is its offset and size in the block."""
    out.text(name)
    out.text("")
    out.u8(code)
    out.u64(array.ndim)
    for dim in array.shape:
        out.i64(dim)
    out.u64(place[0])
    out.u64(place[1])


def _pass_on(named, codes):
    """Description and memory where all tensors are the parent's own, as they came; else None."""
    arrays = [array for _, array in named]
    dense = all(c != STRING and c not in PACKED and a.dtype.isnative for c, a in zip(codes, arrays))
    found = shared_blocks.common_block(arrays, ALIGNMENT) if dense else None
    if found is None or sum(array.nbytes for array in arrays) <= INLINE_LIMIT:
        return None
    block, offsets = found
    out = wire.Writer()
    out.u64(len(named))
    for (name, array), code, offset in zip(named, codes, offsets):
        _describe(name, array, code, (offset, array.nbytes), out)
    out.u8(False)
    return out.finish(), os.dup(block.descriptor)


def encode(items, what, pool=None, takes_plain=False):
    """Encodes (name, value) pairs; `what` says of what they are: "output".

    Returns the description and the descriptor of their memory, which may be None. A pool lends its
    memory where they are many bytes.
    """
    named = [(name, to_numpy(value, f"{what} '{name}'", takes_plain)) for name, value in items]
    codes = [code_of(array.dtype, f"{what} '{name}'") for name, array in named]
    passed_on = _pass_on(named, codes)
    if passed_on is not None:
        return passed_on
    out = wire.Writer()
    pieces = []
    total = 0
    out.u64(len(named))
    for (name, array), code in zip(named, codes):
        data = _bytes_of(array, code, f"{what} '{name}'")
        _describe(name, array, code, (total, len(data)), out)
        pieces.append((total, data))
        total = _align(total + len(data))
    is_inline = total <= INLINE_LIMIT
    out.u8(is_inline)
    if not is_inline:
        lent = None if pool is None else pool.lend(pieces, total)
        return out.finish(), _write_memory(pieces, total) if lent is None else lent
    out.u64(total)
    for offset, data in pieces:
        out.raw(data)
        out.raw(bytes(_align(offset + len(data)) - offset - len(data)))
    return out.finish(), None


def _array(block, offset, size, code, dims, who):
    if code == STRING:
        count = int(np.prod(dims, dtype=np.int64))
        offsets = np.frombuffer(block, np.int64, count + 1, offset)
        start = offset + offsets.nbytes
        texts = [bytes(block[start + a:start + b]).decode("utf-8", "replace")
                 for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist())]
        out = np.empty(count, dtype=object)
        out[:] = texts
        return out.reshape(dims)
    dtype = dtype_of(code, who)
    if size == 0:
        return np.empty(dims, dtype)
    if code in PACKED:
        raw = np.frombuffer(block, np.uint8, size, offset)
        nibbles = np.empty(raw.size * 2, np.uint8)
        nibbles[0::2], nibbles[1::2] = raw & 0xF, raw >> 4
        count = int(np.prod(dims, dtype=np.int64))
        if NAMES[code] == "int4":  # sign-extended, as ml_dtypes keeps it
            nibbles = (nibbles ^ 8) - np.uint8(8)
        return nibbles[:count].view(dtype).reshape(dims)
    count = size // dtype.itemsize
    return np.frombuffer(block, dtype, count, offset).reshape(dims)


def _aligned_copy(data):
    """What arrives in a message begins where shared memory would: results that depend on addresses
    must not differ from process to process by chance."""
    memory = np.empty(len(data) + ALIGNMENT, np.uint8)
    begin = -memory.__array_interface__["data"][0] % ALIGNMENT
    block = memoryview(memory)[begin:begin + len(data)]
    block[:] = data
    return block


def decode(reader, memory):
    """The (name, array) pairs of a block, in order. Takes over the descriptor `memory`."""
    entries = []
    for _ in range(reader.u64()):
        name, _skipped, code = reader.text(), reader.text(), reader.u8()
        dims = [reader.i64() for _ in range(reader.u64())]
        entries.append((name, code, dims, reader.u64(), reader.u64()))
    if reader.u8():
        block = _aligned_copy(reader.raw(reader.u64()))
    else:
        block = shared_blocks.Block(memory)
    return [(name, _array(block, offset, size, code, dims, f"tensor '{name}'"))
            for name, code, dims, offset, size in entries]
