"""Keywords of Python for the options of the program, of its option rows."""

import functools

from . import _native

NONE, ONE, OPTIONAL, STAR, PLUS = range(5)  # Arity in src/cli/option_table.h
STORE, APPEND, COUNT, RUNNER, HELP = range(5)  # OptionAction

# Options that the program has and calls have not, and what does the same.
_LOG = "the log is Python's logger 'vernier': set its level and handlers"
_PROGRAM = "only the program does that: `python -m vernier`"
_BLAME = "vernier.blame does that"
ELSEWHERE = {
    **dict.fromkeys(("verbose", "quiet", "verbosity", "silent", "log_format", "log_file"), _LOG),
    **dict.fromkeys(("resume_run", "gen_script", "run_file", "save_run_file"), _PROGRAM),
}
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
    name = spelled(flag)
    for command in _COMMANDS:
        row = keywords(command).get(name)
        if row is not None and row[3] is None:
            return name, row[1] != NONE
    return None, False


def spelled(flag):
    """A flag as a keyword."""
    return flag.lstrip("-").replace("-", "_")
