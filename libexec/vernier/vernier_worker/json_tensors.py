"""Arrays in JSON: Polygraphy's encoding, or plain nested lists."""

import base64
import io

import numpy as np

from . import wire


def encode(array):
    """Polygraphy's object of an .npy stream in base64, with the plain values beside it."""
    if array.dtype == object:
        return {"values": array.tolist(), "dtype": "str", "shape": list(array.shape)}
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray",
            "dtype": str(array.dtype), "shape": list(array.shape), "values": array.tolist()}


def _of_lists(value, dtype):
    """Without a type to take: NumPy's for whole numbers and texts, float32 for others."""
    array = np.array(value)
    if dtype is not None:
        return array.astype(dtype)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def decode(value, dtype, who):
    """The array of what a program wrote. `dtype` is for plain lists; None: as they look."""
    try:
        if not isinstance(value, dict):
            array = _of_lists(value, dtype)
        elif "array" in value:
            return np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)
        else:
            array = _of_lists(value["values"], value.get("dtype", dtype))
            array = array.reshape(value.get("shape", array.shape))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise wire.Failure(
            wire.BACKEND, f"{who} is not an array: {error}; expected nested lists of numbers, "
            "{\"values\": [...], \"dtype\": ..., \"shape\": [...]}, or Polygraphy's encoding"
        ) from None
    if array.dtype == object:
        raise wire.Failure(wire.BACKEND, f"{who} is not an array: its lists have different lengths")
    return array
