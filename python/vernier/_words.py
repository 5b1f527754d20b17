"""Keywords of Python to words of a command line: the option rows of the program say how."""

import difflib
import functools
import os
import re

from . import _native
from ._errors import InvalidArgument

NONE, ONE, OPTIONAL, STAR, PLUS = range(5)  # Arity in src/cli/option_table.h
STORE, APPEND, COUNT, RUNNER, HELP = range(5)  # OptionAction

# Options that the program has and calls have not, and what does the same.
_LOG = "the log is Python's logger 'vernier': set its level and handlers"
_PROGRAM = "only the program does that: `python -m vernier`"
_BLAME = "vernier.blame does that"
ELSEWHERE = {
    **dict.fromkeys(("verbose", "quiet", "verbosity", "silent", "log_format", "log_file"), _LOG),
    **dict.fromkeys(("resume_run", "gen_script"), _PROGRAM),
}
_NEGATIVE = re.compile(r"-\d+|-\d*\.\d+|-")  # words that the parser takes for values
# After a run; of vernier.blame they are options.
OF_BLAME = frozenset(("blame", "save_blame", "bundle", "max_host_mem", "max_gpu_mem"))


@functools.lru_cache(maxsize=None)
def keywords(command):
    """Every keyword of a command with its row: the names of flags with underscores, and dests."""
    found = {}
    for dest, flags, arity, action, _ in _native.option_rows(command):
        if not flags or action in (RUNNER, HELP):
            continue
        elsewhere = _BLAME if command == "run" and dest in OF_BLAME else ELSEWHERE.get(dest)
        row = (flags[0], arity, action, elsewhere)
        for flag in flags:
            if flag.startswith("--"):
                found[flag[2:].replace("-", "_")] = row
        found.setdefault(dest, row)
    return found


# Commands that functions of the package stand for.
_COMMANDS = ("run", "compare", "blame", "profile", "check consistency", "check extremes",
             "check lint")


@functools.lru_cache(maxsize=None)
def keyword_of(flag):
    """The keyword of a flag and whether it takes a value; None where no function takes it."""
    name = _keyword(flag)
    for command in _COMMANDS:
        row = keywords(command).get(name)
        if row is not None and row[3] is None:
            return name, row[1] != NONE
    return None, False


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
            raise InvalidArgument(f"{_keyword(flag)}: {elsewhere}")
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
        raise InvalidArgument(f"{_keyword(flag)}: expected True or False, got {value!r}")
    if action == APPEND:
        return [word for entry in _occurrences(arity, value) for word in _joined(flag, entry)]
    values = _values(value)
    if arity in (ONE, OPTIONAL) and len(values) != 1:
        raise InvalidArgument(f"{_keyword(flag)}: expected one value, got {value!r}")
    if arity in (ONE, OPTIONAL):
        return [f"{flag}={values[0]}"]
    return _joined(flag, values)


def _keyword(flag):
    return flag.lstrip("-").replace("-", "_")


def _joined(flag, values):
    """A value that looks like a flag is taken behind =, where there is no place for a second one."""
    if len(values) == 1 and values[0].startswith("-"):
        return [f"{flag}={values[0]}"]
    for value in values:
        if value.startswith("-") and not _NEGATIVE.fullmatch(value):
            raise InvalidArgument(f"{_keyword(flag)}: '{value}' begins with a dash, and such a value "
                                  f"has to be the only one; got {len(values)}")
    return [flag, *values]
