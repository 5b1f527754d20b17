"""The log of the libraries, as Python's: the logger "vernier"."""

import logging

# Polygraphy's levels that Python lacks.
NAMES = {22: "START", 28: "FINISH", 5: "EXTRA_VERBOSE"}
LOWEST = 5  # everything below VERBOSE, whose number is DEBUG's


def logger():
    return logging.getLogger("vernier")


def sink():
    """What writes a line, and the lowest number that is wanted at all."""
    log = logger()
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # silent until the program sets logging up
    for number, name in NAMES.items():
        if logging.getLevelName(number) == f"Level {number}":
            logging.addLevelName(number, name)

    def write(severity, text, area):
        log.log(max(severity, LOWEST), "%s", text, extra={"area": area})

    level = log.getEffectiveLevel()
    return write, level if level > LOWEST else -100
