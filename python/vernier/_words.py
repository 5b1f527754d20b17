"""Keywords of Python to words of a command line: the option rows of the program say how."""

import difflib
import os
import re

from ._errors import InvalidArgument
from ._keywords import APPEND, COUNT, NONE, ONE, OPTIONAL, PLUS, STAR, keywords, spelled

_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+|-")  # words that the parser takes for values


def _text(value):
    if isinstance(value, (list, tuple)):  # entry by entry, as NumPy's numbers have long names
        return "[" + ", ".join(map(_text, value)) + "]"
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


def _range(value):
    """(low, high) is one range, as Polygraphy's DataLoader has it."""
    numbers = isinstance(value, (list, tuple)) and len(value) == 2 and not any(
        isinstance(entry, (str, list, tuple)) for entry in value)
    return _text(list(value)) if numbers else value


def _values(value):
    """The words of a value: a dictionary has one for each entry."""
    if isinstance(value, dict):
        return [(f"{name}:" if name else "") + _text(entry) for name, entry in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [_text(entry) for entry in value]
    return [_text(value)]


def words(command, options):
    """The words of a dictionary of keywords."""
    known = keywords(command)
    out = []
    for keyword, value in options.items():
        row = known.get(keyword)
        if row is None:
            near = difflib.get_close_matches(keyword, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise InvalidArgument(f"there is no option '{keyword}'{hint}")
        if value is None or value is False:
            continue
        flag, _, _, elsewhere = row
        if flag == "--val-range":
            value = _range(value)
        if flag == "--dim" and isinstance(value, dict):
            value = [f"{name}={_text(size)}" for name, size in value.items()]
        if elsewhere:
            raise InvalidArgument(f"{spelled(flag)}: {elsewhere}")
        out += _row_words(row, value)
    return out


def _occurrences(arity, value):
    """The words of each occurrence of a flag that may be repeated: of lists in a list, one each."""
    if arity not in (STAR, PLUS):
        return [[word] for word in _values(value)]
    nested = isinstance(value, (list, tuple)) and value and all(
        isinstance(entry, (list, tuple, dict)) for entry in value)
    return [_values(entry) for entry in (value if nested else [value])]


def _row_words(row, value):
    flag, arity, action, _ = row
    if action == COUNT:
        return [flag] * int(value)
    if value is True and arity in (NONE, OPTIONAL, STAR):
        return [flag]
    if arity == NONE:
        raise InvalidArgument(f"{spelled(flag)}: expected True or False, got {value!r}")
    if action == APPEND:
        return [word for entry in _occurrences(arity, value) for word in _joined(flag, entry)]
    values = _values(value)
    if arity in (ONE, OPTIONAL) and len(values) != 1:
        raise InvalidArgument(f"{spelled(flag)}: expected one value, got {value!r}")
    if arity in (ONE, OPTIONAL):
        return [f"{flag}={values[0]}"]
    return _joined(flag, values)


def _joined(flag, values):
    """A value that looks like a flag is taken behind =, where there is no place for a second one."""
    if len(values) == 1 and values[0].startswith("-"):
        return [f"{flag}={values[0]}"]
    for value in values:
        if value.startswith("-") and not _NEGATIVE.fullmatch(value):
            raise InvalidArgument(f"{spelled(flag)}: '{value}' begins with a dash, and such a value "
                                  f"has to be the only one; got {len(values)}")
    return [flag, *values]
