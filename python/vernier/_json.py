"""Polygraphy's JSON of one object, as a text."""

from . import _encoding  # of libexec/vernier/shim/polygraphy
from ._errors import InvalidArgument, Malformed

decoders = {}  # of classes by their names; vernier.polygraphy_compat adds its own


def _decoders():
    from ._results import IterationResult, RunResults
    return {"IterationResult": lambda found: IterationResult(**found),
            "RunResults": lambda found: RunResults(map(tuple, found["lst"])), **decoders}


_text = _encoding.Encoding(
    _decoders, lambda kind: InvalidArgument(f"a {kind} cannot be saved as JSON"),
    lambda kind: Malformed(f"the JSON holds a {kind}, which vernier does not know"))
to_json = _text.to_json


def from_json(src):
    """The object of a text."""
    try:
        return _text.from_json(src)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, Malformed):
            raise
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
