"""Keywords of Python to words of a command line: the option rows of the program say how."""

import difflib
import os
import re

from ._errors import InvalidArgument
from ._keywords import APPEND, COUNT, NONE, ONE, OPTIONAL, PLUS, STAR, keywords, runner_switches

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
            raise InvalidArgument(f"there is no option '{keyword}'{_meant(command, keyword)}")
        if value is None or value is False:
            continue
        if row.dest == "val_range":
            value = _range(value)
        if row.dest == "dims" and isinstance(value, dict):
            value = [f"{name}={_text(size)}" for name, size in value.items()]
        if row.elsewhere:
            raise InvalidArgument(f"{keyword}: {row.elsewhere}")
        out += _row_words(keyword, row, value)
    return out


def _meant(command, keyword):
    """What may have been meant by a keyword that is none, behind a sentence."""
    if command != "compare" and "--" + keyword.replace("_", "-") in runner_switches():
        runner = "script.py" if keyword in ("runner", "model_runner") else keyword
        return f": runners are an argument, as in runners=[\"{runner}\"]"
    near = difflib.get_close_matches(
        keyword, [name for name, row in keywords(command).items() if row.elsewhere is None], 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _occurrences(arity, value):
    """The words of each occurrence of a flag that may be repeated: of lists in a list, one each."""
    if arity not in (STAR, PLUS):
        return [[word] for word in _values(value)]
    nested = isinstance(value, (list, tuple)) and value and all(
        isinstance(entry, (list, tuple, dict)) for entry in value)
    return [_values(entry) for entry in (value if nested else [value])]


def _row_words(keyword, row, value):
    flag, arity, action = row.flags[0], row.arity, row.action
    if action == COUNT:
        return [flag] * int(value)
    if value is True and arity in (NONE, OPTIONAL, STAR):
        return [flag]
    if arity == NONE:
        raise InvalidArgument(f"{keyword}: expected True or False, got {value!r}")
    if action == APPEND:
        return [word for entry in _occurrences(arity, value) for word in _joined(keyword, flag, entry)]
    values = _values(value)
    if arity in (ONE, OPTIONAL) and len(values) != 1:
        raise InvalidArgument(f"{keyword}: expected one value, got {value!r}")
    if arity in (ONE, OPTIONAL):
        return [f"{flag}={values[0]}"]
    return _joined(keyword, flag, values)


def _joined(keyword, flag, values):
    """A value that looks like a flag is taken behind =, where there is no place for a second one."""
    if len(values) == 1 and values[0].startswith("-"):
        return [f"{flag}={values[0]}"]
    for value in values:
        if value.startswith("-") and not _NEGATIVE.fullmatch(value):
            raise InvalidArgument(f"{keyword}: '{value}' begins with a dash, and such a value "
                                  f"has to be the only one; got {len(values)}")
    return [flag, *values]
