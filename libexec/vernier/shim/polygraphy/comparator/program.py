"""The program that this stand-in belongs to, called for two iterations."""

import json
import os
import subprocess
import sys
import tempfile

from polygraphy import exception
from polygraphy.comparator import verdicts

_FAULTS = (2, 3, 5, 6, 7, 70)  # exit codes with which nothing was compared: docs/exit-codes.md
_INDENT = "    "  # of what a comparison function logs, below its iteration


def _program():
    """Who started this worker; the Python package, which is no program, has one in its folder."""
    try:
        parent = os.readlink(f"/proc/{os.getppid()}/exe")
    except OSError:
        parent = ""
    if os.path.basename(parent) == "vernier":
        return parent
    # bin/ beside libexec/vernier/shim/polygraphy/comparator.
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(here, *[os.pardir] * 5, "bin", "vernier"))


def _save(folder, index, result):
    import numpy as np
    path = os.path.join(folder, f"{index}.npz")
    np.savez(path, **{name: np.asarray(array) for name, array in result.items()})
    return path


def _words(options):
    """The command line's words for keywords."""
    words = []
    for name, value in options.items():
        words.append("--" + name.replace("_", "-"))
        if isinstance(value, dict):
            words += [f"{key}:{entry}" if key else str(entry) for key, entry in value.items()]
        elif value is not True:
            words.append(str(value))
    return words


def _relay(lines, folder):
    """What the comparison of the iteration logged, as if it were this function's."""
    inside = False
    for line in lines:
        level, text = line[:4], line[4:]  # of lines that go on, blanks
        if not text.startswith(_INDENT):
            inside = text.startswith("Iteration:")
        elif text.startswith(_INDENT + folder):
            inside = False  # the arrays that were compared: whoever calls the function shows them
        elif inside:
            print(level + text[len(_INDENT):])
    sys.stdout.flush()


def compare(a, b, functions, options):
    """Pairs of an output's record and its measures, of `vernier compare`."""
    with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
        measured, record = os.path.join(folder, "m.json"), os.path.join(folder, "r.json")
        program = _program()
        command = [program, "compare", _save(folder, 0, a), _save(folder, 1, b), "--lenient",
                   "--compare", *functions, "--save-accuracy-results", measured, "--save-record",
                   record, *_words(options)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode in _FAULTS or not os.path.exists(record):
            told = [line for line in (done.stderr + done.stdout).splitlines()
                    if line.startswith("[!]")]
            raise exception.PolygraphyException(
                told[0][4:] if told else f"{program} ended with {done.returncode}")
        _relay(done.stdout.splitlines(), folder)
        with open(record, encoding="utf-8") as file:
            outputs = [output for pair in json.load(file)["pairs"] for output in pair["outputs"]]
        measures = {}
        if os.path.exists(measured):
            with open(measured, encoding="utf-8") as file:
                measures = verdicts.measures_of(json.load(file))
    return [(output, measures.get(output["name"], {})) for output in outputs]
