"""Keywords of Python to options of the libraries, as the option rows of the program say; and to words,
for the program itself and for --runner."""

import difflib
import os
import re

from ._errors import InvalidArgument
from ._keywords import (APPEND, COUNT, NONE, ONE, OPTIONAL, PLUS, STAR, elsewhere, keywords,
                        runner_switches)

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


def _entries(value):
    """The entries of a value: the name of an output or "", what it has, and that as a text."""
    if isinstance(value, dict):
        return [(str(name) if name else "", entry, _text(entry)) for name, entry in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [("", entry, _text(entry)) for entry in value]
    return [("", value, _text(value))]


def texts(flag, *values):
    """An option of the libraries that has these texts; an operand by its dest."""
    return flag, [("", value, value) for value in values]


def chosen(command, options):
    """The options of a dictionary of keywords, as the libraries take them: flags with entries."""
    return [(row.flags[0], entries) for _, row, entries in _options(command, options)]


def words(command, options):
    """The same as words of a command line."""
    return [word for keyword, row, entries in _options(command, options)
            for word in _joined(keyword, row, entries)]


def _options(command, options):
    """(keyword, row, entries) of each occurrence of an option."""
    known = keywords(command)
    for keyword, value in options.items():
        row = known.get(keyword)
        if row is None and elsewhere(keyword):
            raise InvalidArgument(f"{keyword}: {elsewhere(keyword)}")
        if row is None:
            raise InvalidArgument(f"there is no option '{keyword}'{_meant(command, keyword)}")
        if value is None or value is False:
            continue
        if row.dest == "val_range":
            value = _range(value)
        if row.dest in ("dims", "env") and isinstance(value, dict):
            value = [f"{name}={_text(size)}" for name, size in value.items()]
        if row.elsewhere:
            raise InvalidArgument(f"{keyword}: {row.elsewhere}")
        for entries in _occurrences(keyword, row, value):
            yield keyword, row, entries


def _meant(command, keyword):
    """What may have been meant by a keyword that is none, behind a sentence."""
    if command != "compare" and "--" + keyword.replace("_", "-") in runner_switches():
        runner = "script.py" if keyword in ("runner", "model_runner") else keyword
        return f": runners are an argument, as in runners=[\"{runner}\"]"
    near = difflib.get_close_matches(
        keyword, [name for name, row in keywords(command).items() if row.elsewhere is None], 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _occurrences(keyword, row, value):
    """The entries of each occurrence of a flag: of one that may be repeated, lists in a list have
    one each."""
    if row.action == COUNT:
        return [[]] * int(value)
    if value is True and row.arity in (NONE, OPTIONAL, STAR):
        return [[]]
    if row.arity == NONE:
        raise InvalidArgument(f"{keyword}: expected True or False, got {value!r}")
    entries = _entries(value)
    if row.action != APPEND:
        if row.arity in (ONE, OPTIONAL) and len(entries) != 1:
            raise InvalidArgument(f"{keyword}: expected one value, got {value!r}")
        return [entries]
    if row.arity not in (STAR, PLUS):
        return [[entry] for entry in entries]
    nested = isinstance(value, (list, tuple)) and value and all(
        isinstance(entry, (list, tuple, dict)) for entry in value)
    return [_entries(entry) for entry in value] if nested else [entries]


def _joined(keyword, row, entries):
    """A value that looks like a flag is taken behind =, where there is no place for a second one."""
    flag = row.flags[0]
    values = [(f"{name}:" if name else "") + text for name, _, text in entries]
    single = row.arity in (ONE, OPTIONAL) and row.action != APPEND
    if len(values) == 1 and (single or values[0].startswith("-")):
        return [f"{flag}={values[0]}"]
    for value in values:
        if value.startswith("-") and not _NEGATIVE.fullmatch(value):
            raise InvalidArgument(f"{keyword}: '{value}' begins with a dash, and such a value "
                                  f"has to be the only one; got {len(values)}")
    return [flag, *values]
