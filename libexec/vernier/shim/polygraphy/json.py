"""save_json and load_json: Polygraphy's JSON."""

import os

from . import encoding, errors, exception, host
from .comparator import accuracy  # noqa: F401, whose classes files may hold
from .encoding import from_json, to_json
from .results import IterationResult, RunResults, load_inputs, save_inputs

__all__ = ["from_json", "load_json", "save_json", "to_json"]


def _is_feeds(obj):
    return isinstance(obj, (list, tuple)) and bool(obj) and all(
        hasattr(feed, "items") and not isinstance(feed, IterationResult) and bool(feed)
        and all(hasattr(value, "dtype") for value in feed.values()) for feed in obj)


def save_json(obj, dest, description=None):
    """Writes an object to a path or an open file."""
    if hasattr(dest, "write"):
        encoding.write(dest, to_json(obj))
    elif isinstance(obj, RunResults):
        obj.save(dest)
    elif _is_feeds(obj):
        save_inputs(obj, dest)
    else:
        encoding.write(dest, to_json(obj))


def load_json(src, description=None):
    """Reads an object from a path or an open file."""
    if hasattr(src, "read"):
        return from_json(encoding.read(src))
    try:
        with open(src, encoding="utf-8") as file:
            start = "".join(file.read(256).split())
    except (OSError, UnicodeDecodeError) as error:
        raise errors.Malformed(f"'{os.fspath(src)}' cannot be read: {error}") from error
    if start.startswith('{"lst":[["'):  # a runner's name
        return RunResults.load(src)
    if start.startswith('[{"'):
        feeds = _feeds_of(src)
        if feeds is not None:
            return feeds
    return from_json(encoding.read(src))


def _feeds_of(src):
    """Feeds, by the host's reader; None where it has none, or the list is of something else."""
    try:
        if host.open_results(os.fsdecode(src), True) is None:
            return None
        return [dict(feed) for feed in load_inputs(src)]
    except errors.Malformed:
        return None


__getattr__ = exception.missing(__name__)
