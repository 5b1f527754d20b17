"""Arguments that are of no use, named in one sentence."""

import os

from . import errors


def kind_of(value):
    """What a value is, for messages: "an int", "None"."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


def path_of(value, name):
    """The path that an argument of that name is."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise errors.InvalidArgument(f"{name}: expected a path, got {kind_of(value)}") from None


def listed(value, name, expected):
    """The entries of an argument that has to be iterable."""
    try:
        return list(value)
    except TypeError:
        if hasattr(value, "__iter__"):
            raise  # of its own making
        raise errors.InvalidArgument(f"{name}: expected {expected}, got {kind_of(value)}") from None
