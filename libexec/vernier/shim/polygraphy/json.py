"""Polygraphy's JSON."""

from polygraphy import exception
from polygraphy.encoding import Encoding


def _decoders():
    from polygraphy.comparator import IterationResult, RunResults, verdicts
    return {"IterationResult": lambda found: IterationResult(**found),
            "RunResults": lambda found: RunResults(map(tuple, found["lst"])),
            **verdicts.DECODERS}


def _unknown(kind):
    return exception.PolygraphyException(
        f"Could not decode serialized type: {kind}. vernier's stand-in for Polygraphy does not "
        "know it: 'pip install polygraphy' brings the real one")


def _unsavable(kind):
    return TypeError(f"Object of type {kind} is not JSON serializable")


_encoding = Encoding(_decoders, _unsavable, _unknown)
to_json, from_json = _encoding.to_json, _encoding.from_json


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
