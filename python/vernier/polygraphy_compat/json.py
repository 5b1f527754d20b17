"""save_json and load_json: Polygraphy's JSON."""

import base64
import io
import json as _json
import os

from vernier import InvalidArgument, Malformed, load_inputs, load_results, save_inputs
from vernier._results import IterationResult, RunResults


def _array(value):
    import numpy as np
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray"}


def _encode(value):
    import numpy as np
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, IterationResult):
        outputs = {name: {"values": _array(np.asarray(array)), "polygraphy_class": "LazyArray"}
                   for name, array in value.items()}
        return {"outputs": outputs, "runtime": value.runtime, "runner_name": value.runner_name,
                "polygraphy_class": "IterationResult"}
    if isinstance(value, RunResults):
        lst = [[name, list(iterations)] for name, iterations in value.items()]
        return {"lst": lst, "polygraphy_class": "RunResults"}
    raise InvalidArgument(f"a {type(value).__name__} cannot be saved as JSON")


def _decode(pairs):
    import numpy as np
    found = dict(pairs)
    kind = found.get("polygraphy_class")
    if kind is None:
        return found
    if kind == "ndarray":
        return np.load(io.BytesIO(base64.b64decode(found["array"])), allow_pickle=False)
    if kind in ("LazyArray", "LazyNumpyArray"):
        return found["values"]
    if kind == "IterationResult":
        return IterationResult(found["outputs"], found["runtime"], found["runner_name"])
    if kind == "RunResults":
        return RunResults((name, iterations) for name, iterations in found["lst"])
    raise Malformed(f"the JSON holds a {kind}, which vernier.polygraphy_compat does not know")


def to_json(obj):
    """The text of an object."""
    return _json.dumps(obj, default=_encode, indent=4)


def from_json(src):
    """The object of a text."""
    try:
        return _json.loads(src, object_pairs_hook=_decode)
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"this is no JSON of Polygraphy: {error}") from error


def _is_feeds(obj):
    return isinstance(obj, (list, tuple)) and bool(obj) and all(
        hasattr(feed, "items") and not isinstance(feed, IterationResult) and bool(feed)
        and all(hasattr(value, "dtype") for value in feed.values()) for feed in obj)


def save_json(obj, dest, description=None):
    """Writes an object to a path or an open file."""
    if hasattr(dest, "write"):
        dest.write(to_json(obj))
    elif isinstance(obj, RunResults):
        obj.save(dest)
    elif _is_feeds(obj):
        save_inputs(obj, dest)
    else:
        text = to_json(obj)
        with open(dest, "w", encoding="utf-8") as file:
            file.write(text)


def load_json(src, description=None):
    """Reads an object from a path or an open file."""
    if hasattr(src, "read"):
        return from_json(src.read())
    try:
        with open(src, encoding="utf-8") as file:
            start = "".join(file.read(256).split())
    except (OSError, UnicodeDecodeError) as error:
        raise Malformed(f"'{os.fspath(src)}' cannot be read: {error}") from error
    if start.startswith('{"lst":'):
        return load_results(src)
    if start.startswith('[{"'):
        feeds = _feeds_of(src)
        if feeds is not None:
            return feeds
    with open(src, encoding="utf-8") as file:
        return from_json(file.read())


def _feeds_of(src):
    """Feeds, read by the program's reader; None where the list is one of something else."""
    try:
        return [dict(feed) for feed in load_inputs(src)]
    except Malformed:
        return None
