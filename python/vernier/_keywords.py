"""Keywords of Python for the options of the program, of its option rows."""

import collections
import functools

from . import _native

NONE, ONE, OPTIONAL, STAR, PLUS = range(5)  # Arity in src/options/table/option_table.h
STORE, APPEND, COUNT, RUNNER, HELP = range(5)  # OptionAction

# Commands that functions of the package stand for.
COMMANDS = ("run", "compare", "blame", "profile", "check consistency", "check extremes",
            "check lint")
# What all commands with runners have, and yet is not one runner's.
_OF_INPUTS = frozenset(("backend_dir", "input_shapes", "inputs_from_graph", "like", "seed",
                        "load_inputs_paths", "val_range"))

# What only whole runs do, by dest: vernier.compare refuses it.
_OF_RUNS = {"save_rows": "writes no rows", "shard": "always compares all iterations",
            "shard_by": "always compares all iterations",
            "shard_exit": "always compares all iterations"}

# An option: its flags, how many values it takes, what does the same instead of it where calls do
# not take it, whether it is only for vernier.blame, and its keywords: those of its long flags, and
# its dest.
Row = collections.namedtuple("Row", "dest flags arity action elsewhere of_blame names")


@functools.lru_cache(maxsize=None)
def rows(command):
    """Every option of a command, but for those that add a runner."""
    found = []
    for dest, flags, arity, action, _, of_blame, elsewhere in _native.option_rows(command):
        if flags and action not in (RUNNER, HELP):
            if of_blame and command == "run":
                elsewhere = "vernier.blame does that"
            if command == "compare" and dest in _OF_RUNS:
                elsewhere = (f"vernier.compare {_OF_RUNS[dest]}; save each side with "
                             "RunResults.save, and give the files to vernier.run as "
                             'runners=["a.npz", "b.npz"]')
            names = [spelled(flag) for flag in flags if flag.startswith("--")]
            found.append(Row(dest, tuple(flags), arity, action, elsewhere or None, of_blame,
                             tuple(dict.fromkeys([*names, dest]))))
    return found


@functools.lru_cache(maxsize=None)
def keywords(command):
    """Every keyword of a command with its row."""
    found = {}
    for row in rows(command):
        found.update((spelled(flag), row) for flag in row.flags if flag.startswith("--"))
        found.setdefault(row.dest, row)
    return found


def elsewhere(keyword):
    """What to use instead of an option that only the program has, whichever function was called;
    None of any other."""
    row = keywords("run").get(keyword)
    return row.elsewhere if row is not None and not row.of_blame else None


@functools.lru_cache(maxsize=None)
def rows_of(command):
    """Every long flag of a command with its row, where calls take it."""
    return {flag: row for row in rows(command) if row.elsewhere is None
            for flag in row.flags if flag.startswith("--")}


@functools.lru_cache(maxsize=None)
def runner_switches():
    """The flags that add a runner."""
    return frozenset(flag for _, flags, _, action, *_ in _native.option_rows("run")
                     if action == RUNNER for flag in flags)


@functools.lru_cache(maxsize=None)
def of_runners():
    """The dests of the options of one runner: all commands with runners have them, and
    comparisons have not."""
    found = {command: frozenset(row.dest for row in rows(command)) for command in COMMANDS}
    without = found.pop("compare") | _OF_INPUTS
    return frozenset.intersection(*found.values()) - without | {"python"}


@functools.lru_cache(maxsize=None)
def owner_of(flag):
    """A flag's row and the first of the functions that take it. Without a function the row is one
    that only the program has, and without a row no such command has the flag."""
    for command in COMMANDS:
        row = rows_of(command).get(flag)
        if row is not None:
            return row, command.replace(" ", "_")
    return next((row for command in COMMANDS for row in rows(command) if flag in row.flags),
                None), None


def spelled(flag):
    """A flag as a keyword."""
    return flag.lstrip("-").replace("-", "_")
