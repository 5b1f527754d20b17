"""Polygraphy's JSON of one object, as a text."""

from ._errors import InvalidArgument, Malformed


def _array(value):
    import base64
    import io
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
    from ._results import IterationResult, RunResults
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
    import base64
    import io
    import numpy as np
    found = dict(pairs)
    kind = found.get("polygraphy_class")
    if kind is None:
        return found
    if kind == "ndarray":
        return np.load(io.BytesIO(base64.b64decode(found["array"])), allow_pickle=False)
    if kind in ("LazyArray", "LazyNumpyArray"):
        return found["values"]
    from ._results import IterationResult, RunResults
    if kind == "IterationResult":
        return IterationResult(found["outputs"], found["runtime"], found["runner_name"])
    if kind == "RunResults":
        return RunResults((name, iterations) for name, iterations in found["lst"])
    raise Malformed(f"the JSON holds a {kind}, which vernier does not know")


def to_json(obj):
    """The text of an object."""
    import json
    return json.dumps(obj, default=_encode, indent=4)


def from_json(src):
    """The object of a text."""
    import json
    try:
        return json.loads(src, object_pairs_hook=_decode)
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"this is no JSON of Polygraphy: {error}") from error


def read_text(file):
    """Of an open file, of text or of bytes."""
    content = file.read()
    if isinstance(content, str):
        return content
    try:
        return bytes(content).decode()
    except UnicodeDecodeError as error:
        raise Malformed(f"this is no JSON of Polygraphy: {error}") from error


def write_text(file, text):
    """To an open file, of text or of bytes."""
    try:
        file.write(text)
    except TypeError:
        file.write(text.encode())
