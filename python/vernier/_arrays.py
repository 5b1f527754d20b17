"""NumPy arrays and what speaks DLPack to tensors of the libraries and back, without a copy."""

import numpy as np

from . import _native
from ._copies import device_of
from ._errors import InvalidArgument

NUMPY_TYPES = frozenset((
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool", "complex64", "complex128"))
# Types that NumPy knows through ml_dtypes only, and their bytes without it.
EXTRA_TYPES = {"bfloat16": "V2", "float8_e4m3fn": "V1", "float8_e4m3fnuz": "V1",
               "float8_e5m2": "V1", "float8_e5m2fnuz": "V1", "int4": "V1", "uint4": "V1",
               "float4_e2m1fn": "V1"}
PACKED = frozenset(("int4", "uint4", "float4_e2m1fn"))  # two elements a byte in the libraries
CPU = 1  # DLPack's number
ESCAPED = "surrogateescape"  # how Python keeps bytes in a text that are not UTF-8


def numpy_type(name):
    """NumPy's type of an element type; raw bytes where neither it nor ml_dtypes has one."""
    if name in NUMPY_TYPES:
        return np.dtype(name)
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        return np.dtype(EXTRA_TYPES[name])


def _unpacked(raw, name, shape):
    nibbles = np.empty(raw.size * 2, np.uint8)
    nibbles[0::2], nibbles[1::2] = raw & 0xF, raw >> 4
    if name == "int4":  # sign-extended, as ml_dtypes keeps it
        nibbles = (nibbles ^ 8) - np.uint8(8)
    return nibbles[:int(np.prod(shape, dtype=np.int64))].view(numpy_type(name)).reshape(shape)


def to_array(tensor):
    """The array of a tensor. It shares the bytes, and cannot be written to."""
    name, shape = tensor.dtype, tensor.shape
    if name == "string":
        return np.array([text.decode("utf-8", ESCAPED) for text in tensor.texts()],
                        dtype=np.str_).reshape(shape)
    raw = tensor.data()
    if name in PACKED:
        return _unpacked(raw, name, shape)
    if raw.size == 0:
        return np.empty(shape, numpy_type(name))
    return raw.view(numpy_type(name)).reshape(shape)


def _of_torch(value, who):
    """A tensor of PyTorch, whose small floats NumPy has no words for."""
    try:
        value = value.detach().cpu().contiguous()
        for resolve in ("resolve_conj", "resolve_neg"):  # what is only marked so is made so
            value = getattr(value, resolve, lambda: value)()
        name = str(value.dtype).replace("torch.", "")
        if name not in EXTRA_TYPES:
            return value.numpy(), None
        import torch
        return value.view(torch.int16 if name == "bfloat16" else torch.uint8).numpy(), name
    except (RuntimeError, TypeError, NotImplementedError) as error:  # sparse, quantised, without data
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InvalidArgument(f"{who} cannot be converted to an array: {reason}") from error


def _of_dlpack(value, who):
    try:
        if value.__dlpack_device__()[0] != CPU:
            return np.from_dlpack(_ToHost(value))
        return np.from_dlpack(value)
    except Exception as error:
        raise InvalidArgument(f"{who}: its __dlpack__ could not be used: {error}") from error


class DlpackView:
    """A tensor for other libraries: torch.from_dlpack(view) shares its memory."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, **_):
        return self._tensor.dlpack()

    def __dlpack_device__(self):
        return (CPU, 0)


class _ToHost:
    """Asks another library's array for its bytes on this side of the bus."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **words):
        return self.value.__dlpack__(**{**words, "stream": None, "dl_device": (CPU, 0)})

    def __dlpack_device__(self):
        return (CPU, 0)


def _numpy_of(value, who):
    """The array, and the element type where the array itself does not say it."""
    if type(value) is not np.ndarray:
        _check_unmasked(value, who)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value), None
    if callable(getattr(value, "detach", None)) and callable(getattr(value, "cpu", None)):
        return _of_torch(value, who)
    if hasattr(value, "__cuda_array_interface__") and callable(getattr(value, "get", None)):
        return np.asarray(value.get()), None  # CuPy
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return _of_dlpack(value, who), None
    if callable(getattr(value, "numpy", None)):  # TensorFlow, Polygraphy's device views
        return np.asarray(value.numpy()), None
    if hasattr(value, "__array__") or isinstance(value, (int, float, bool, complex, list, tuple)):
        return _plain_array(value, who), None
    kind = "None" if value is None else f"of type {type(value).__name__}"
    raise InvalidArgument(f"{who} is {kind}; expected a number, a list, a NumPy array, a tensor of "
                          "torch, JAX or TensorFlow, or anything with __dlpack__")


def _check_unmasked(value, who):
    """What lies under a mask is not meant to be a value."""
    for one in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one):
            raise InvalidArgument(f"{who} has masked values, which a tensor cannot hold: "
                                  ".filled(VALUE) puts a value in their place")


def _plain_array(value, who):
    try:
        return np.asarray(value)
    except ValueError as error:  # rows of several lengths
        raise InvalidArgument(f"{who} is not an array: {error}") from error


def _unfit(element):
    """What is wrong with an element of an array of Python objects."""
    if isinstance(element, int):
        return f"{element}, which fits no type of 64 bits; give it as a float"
    return (f"an element of type {type(element).__name__}; an array of Python objects may hold "
            "texts only")


def _text_list(array, who):
    """The elements of an array of texts, as bytes."""
    texts = []
    for element in array.reshape(-1).tolist():
        if isinstance(element, str):
            element = element.encode("utf-8", ESCAPED)
        if not isinstance(element, bytes):
            raise InvalidArgument(f"{who} holds {_unfit(element)}")
        texts.append(element)
    return texts


def type_name(value):
    """The libraries' name of the element type of what checked_feed() gives."""
    kind = getattr(value.dtype, "kind", "")
    if kind and kind in "USOT":
        return "string"
    return _type_name(value, None, "") if kind else str(value.dtype).replace("torch.", "")


def _type_name(array, name, who):
    """The libraries' name of an array's element type; `name` where the array does not say it."""
    name = name or array.dtype.name
    if array.dtype.kind == "V" and name not in EXTRA_TYPES:  # as Polygraphy has what NumPy lacks
        name = {1: "uint8", 2: "bfloat16"}.get(array.dtype.itemsize)
    if name not in NUMPY_TYPES and name not in EXTRA_TYPES:
        raise InvalidArgument(f"{who} has NumPy's type {array.dtype}, which no runner has; convert "
                              "it with astype()")
    return name


def to_tensor(value, who, copies=None):
    """The tensor of an array, which it keeps and must not be changed. `who` is for messages.

    `copies` receives an array that had to be copied from a device.
    """
    if isinstance(value, _native.Tensor):
        return value
    array, name = _numpy_of(value, who)
    if copies is not None:
        copies.add(device_of(value), array.nbytes)
    if array.dtype.kind in "USOT":
        return _native.text_tensor(list(array.shape), _text_list(array, who))
    name = _type_name(array, name, who)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    shape = list(array.shape)
    flat = np.require(array, requirements=["C", "A"]).reshape(-1).view(np.uint8)
    if name in PACKED:
        nibbles = np.append(flat & 0xF, np.zeros(flat.size % 2, np.uint8))
        flat = nibbles[0::2] | nibbles[1::2] << 4
    return _native.tensor(name, shape, flat)


def to_pairs(mapping, who, copies=None):
    """The (name, tensor) pairs of a mapping of names to arrays."""
    own = getattr(mapping, "_tensors", None)
    if own is not None:
        return own(copies)
    return [(name, to_tensor(value, f"{who}[{name!r}]", copies))
            for name, value in _items(mapping, who)]


def _items(mapping, who):
    """The (name, value) pairs of a mapping, names being texts."""
    try:
        items = list(mapping.items())
    except (AttributeError, TypeError):
        raise InvalidArgument(f"{who} is of type {type(mapping).__name__}; expected a mapping of "
                              "names to arrays") from None
    for name, _ in items:
        if not isinstance(name, str):
            raise InvalidArgument(f"{who} has the name {name!r}; names are texts")
    return items


def checked_feed(mapping, who):
    """A feed for the worker, names to arrays; what to_pairs would refuse is refused in its words."""
    return {name: _checked(value, f"{who}[{name!r}]") for name, value in _items(mapping, who)}


def _checked(value, who):
    array, name = _numpy_of(value, who)
    if array.dtype.kind in "USOT":
        _text_list(array, who)
    else:
        _type_name(array, name, who)
    return value if name is not None else array  # torch's small floats are the worker's to read
