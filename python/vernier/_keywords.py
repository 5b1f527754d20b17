"""Keywords of Python for the options of the program, of its option rows."""

import collections
import functools

from . import _native

NONE, ONE, OPTIONAL, STAR, PLUS = range(5)  # Arity in src/cli/option_table.h
STORE, APPEND, COUNT, RUNNER, HELP = range(5)  # OptionAction

# Options that the program has and calls have not, and what does the same.
_LOG = "the log is Python's logger 'vernier': set its level and handlers"
_PROGRAM = "only the program does that: `python -m vernier`"
_BLAME = "vernier.blame does that"
# Run files, which all functions refuse in the same words.
RUN_FILES = {
    "run_file": "only the program carries run files out: `python -m vernier run --run-file FILE`; "
                "vernier.load_record reads the record that the file's run saves",
    "save_run_file": "only the program writes run files: `python -m vernier run ... "
                     "--save-run-file FILE`; here a function that calls vernier.run is one",
}
ELSEWHERE = {
    **dict.fromkeys(("verbose", "quiet", "verbosity", "silent", "log_format", "log_file"), _LOG),
    **dict.fromkeys(("resume_run", "gen_script"), _PROGRAM),
    **RUN_FILES,
}
# After a run; of vernier.blame they are options.
OF_BLAME = frozenset(("blame", "save_blame", "bundle", "max_host_mem", "max_gpu_mem",
                      "on_flips", "reference"))

# Commands that functions of the package stand for.
COMMANDS = ("run", "compare", "blame", "profile", "check consistency", "check extremes",
            "check lint")
# What all commands with runners have, and yet is not one runner's.
_OF_INPUTS = frozenset(("backend_dir", "input_shapes", "inputs_from_graph", "like", "seed",
                        "load_inputs_paths", "val_range"))

# An option: its flags, how many values it takes, what does the same instead of it where calls do
# not take it, and its keywords: those of its long flags, and its dest.
Row = collections.namedtuple("Row", "dest flags arity action elsewhere names")


@functools.lru_cache(maxsize=None)
def rows(command):
    """Every option of a command, but for those that add a runner."""
    found = []
    for dest, flags, arity, action, _ in _native.option_rows(command):
        if flags and action not in (RUNNER, HELP):
            elsewhere = _BLAME if command == "run" and dest in OF_BLAME else ELSEWHERE.get(dest)
            names = [spelled(flag) for flag in flags if flag.startswith("--")]
            found.append(Row(dest, tuple(flags), arity, action, elsewhere,
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


@functools.lru_cache(maxsize=None)
def rows_of(command):
    """Every long flag of a command with its row, where calls take it."""
    return {flag: row for row in rows(command) if row.elsewhere is None
            for flag in row.flags if flag.startswith("--")}


@functools.lru_cache(maxsize=None)
def runner_switches():
    """The flags that add a runner."""
    return frozenset(flag for _, flags, _, action, _ in _native.option_rows("run")
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
