"""save_json and load_json: Polygraphy's JSON."""

import os

from vernier import Malformed, load_inputs, load_results, save_inputs
from vernier._json import from_json, read_text, to_json, write_text
from vernier._results import IterationResult, RunResults

from . import _accuracy  # noqa: F401, whose classes files may hold

__all__ = ["from_json", "load_json", "save_json", "to_json"]


def _is_feeds(obj):
    return isinstance(obj, (list, tuple)) and bool(obj) and all(
        hasattr(feed, "items") and not isinstance(feed, IterationResult) and bool(feed)
        and all(hasattr(value, "dtype") for value in feed.values()) for feed in obj)


def save_json(obj, dest, description=None):
    """Writes an object to a path or an open file."""
    if hasattr(dest, "write"):
        write_text(dest, to_json(obj))
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
        return from_json(read_text(src))
    try:
        with open(src, encoding="utf-8") as file:
            start = "".join(file.read(256).split())
    except (OSError, UnicodeDecodeError) as error:
        raise Malformed(f"'{os.fspath(src)}' cannot be read: {error}") from error
    if start.startswith('{"lst":[["'):  # a runner's name
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
