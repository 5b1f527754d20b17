"""The log of the libraries, as Python's logger "vernier"; a child of it is Polygraphy's."""

import contextlib
import logging
import threading

# Polygraphy's levels that Python lacks.
NAMES = {22: "START", 28: "FINISH", 5: "EXTRA_VERBOSE"}
LOWEST = 5  # everything below VERBOSE, whose number is DEBUG's


POLYGRAPHY = "vernier.polygraphy"
_of_thread = threading.local()


def logger():
    """That of this thread's calls."""
    return logging.getLogger(getattr(_of_thread, "name", "vernier"))


def logger_of_polygraphy():
    """G_LOGGER's, which has a level of its own."""
    return logging.getLogger(POLYGRAPHY)


@contextlib.contextmanager
def as_polygraphy():
    """For a with statement: this thread's calls log as Polygraphy's API does."""
    before = getattr(_of_thread, "name", "vernier")
    _of_thread.name = POLYGRAPHY
    try:
        yield
    finally:
        _of_thread.name = before


@contextlib.contextmanager
def without(*beginnings):
    """For a with statement: lines that begin so are not logged for this thread's calls."""
    before = getattr(_of_thread, "dropped", ())
    _of_thread.dropped = before + beginnings
    try:
        yield
    finally:
        _of_thread.dropped = before


def sink():
    """What writes a line, and the lowest number that is wanted at all. `critical` of what writes
    has the critical lines, also where the log is silent."""
    log = logger()
    dropped = getattr(_of_thread, "dropped", ())  # lines come from threads of the libraries
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # silent until the program sets logging up
    for number, name in NAMES.items():
        if logging.getLevelName(number) == f"Level {number}":
            logging.addLevelName(number, name)

    def write(severity, text, area):
        if severity >= logging.CRITICAL:
            write.critical.append(text.strip())
        if dropped and text.startswith(dropped):
            return
        log.log(max(severity, LOWEST), "%s", text, extra={"area": area})

    write.critical = []
    level = min(log.getEffectiveLevel(), logging.CRITICAL)
    return write, level if level > LOWEST else -100
