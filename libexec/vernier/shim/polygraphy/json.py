"""Polygraphy's JSON: arrays are .npy streams in base64."""

import base64
import io
import json as _json

from polygraphy import exception


def _encode(value):
    import numpy as np
    if isinstance(value, np.ndarray):
        stream = io.BytesIO()
        np.save(stream, value, allow_pickle=False)
        return {"array": base64.b64encode(stream.getvalue()).decode(),
                "polygraphy_class": "ndarray"}
    encode = getattr(value, "_encode", None)
    if encode is None:
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return encode()


def _decode(pairs):
    import numpy as np
    dct = dict(pairs)
    kind = dct.get("polygraphy_class")
    if kind is None:
        return dct
    if kind == "ndarray":
        return np.load(io.BytesIO(base64.b64decode(dct["array"])), allow_pickle=False)
    if kind in ("LazyArray", "LazyNumpyArray"):
        return dct["values"]
    from polygraphy import comparator
    if kind == "IterationResult":
        return comparator.IterationResult(dct["outputs"], dct["runtime"], dct["runner_name"])
    if kind == "RunResults":
        return comparator.RunResults([(name, results) for name, results in dct["lst"]])
    raise exception.PolygraphyException(
        f"Could not decode serialized type: {kind}. vernier's stand-in for Polygraphy does not "
        "know it: 'pip install polygraphy' brings the real one")


def to_json(obj):
    """The text of an object."""
    return _json.dumps(obj, default=_encode, indent=4)


def from_json(text):
    """The object of a text."""
    return _json.loads(text, object_pairs_hook=_decode)


def save_json(obj, dest, description=None):
    """Writes an object to a path or a file."""
    if hasattr(dest, "write"):
        dest.write(to_json(obj))
        return
    with open(dest, "w", encoding="utf-8") as file:
        file.write(to_json(obj))


def load_json(src, description=None):
    """Reads an object from a path or a file."""
    if hasattr(src, "read"):
        return from_json(src.read())
    with open(src, encoding="utf-8") as file:
        return from_json(file.read())


__getattr__ = exception.missing("json")
