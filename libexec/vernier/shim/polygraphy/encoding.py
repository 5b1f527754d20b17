"""Polygraphy's JSON: arrays are .npy streams in base64, other objects name their class."""

import base64
import io
import json

from . import errors
from .arguments import kind_of

CLASS = "polygraphy_class"
decoders = {}  # functions of JSON objects by names of classes, which the classes' modules add


class NotSerializable(errors.InvalidArgument, TypeError):
    """What JSON has no form for."""


def of_array(value):
    """The JSON object of an array."""
    import numpy as np
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), CLASS: "ndarray"}


def _array(found):
    import numpy as np
    return np.load(io.BytesIO(base64.b64decode(found["array"])), allow_pickle=False)


decoders.update(ndarray=_array, LazyArray=lambda found: found["values"],
                LazyNumpyArray=lambda found: found["values"])


def to_json(obj):
    """The text of an object; those of classes that have _encode() encode themselves."""
    return json.dumps(obj, default=_encode, indent=4)


def from_json(src):
    """The object of a text."""
    try:
        return json.loads(src, object_pairs_hook=_decode)
    except errors.Malformed:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise errors.Malformed(f"this is not JSON of Polygraphy: {error}") from error


def _encode(value):
    import numpy as np
    if isinstance(value, np.ndarray):
        return of_array(value)
    if isinstance(value, np.generic):
        return value.item()
    encode = getattr(value, "_encode", None)
    if encode is None:
        raise NotSerializable(f"{kind_of(value)} cannot be saved as JSON")
    return encode()


def _decode(pairs):
    found = dict(pairs)
    kind = found.pop(CLASS, None)
    if kind is None:
        return found
    if kind not in decoders:
        raise errors.Malformed(
            f"the JSON holds a {kind}, which vernier does not know: 'pip install "
            "polygraphy' brings the real Polygraphy")
    return decoders[kind](found)


def read(src):
    """The text of a path, or of an open file of text or of bytes."""
    if not hasattr(src, "read"):
        with open(src, encoding="utf-8") as file:
            return file.read()
    content = src.read()
    if isinstance(content, str):
        return content
    try:
        return bytes(content).decode()
    except UnicodeDecodeError as error:
        raise errors.Malformed(f"this is not JSON of Polygraphy: {error}") from error


def write(dest, text):
    """To a path, or an open file of text or of bytes."""
    if not hasattr(dest, "write"):
        with open(dest, "w", encoding="utf-8") as file:
            file.write(text)
        return
    try:
        dest.write(text)
    except TypeError:
        dest.write(text.encode())


def checked(made, kind, name):
    """An object that was read, which has to be of a class; `name` says so in an error."""
    if not isinstance(made, kind):
        raise errors.Malformed(f"the JSON holds {kind_of(made)}, not {name}")
    return made
