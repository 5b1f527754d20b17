"""The program in a process of its own: commands, and the comparison of two iterations."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from urllib.parse import quote

from . import errors

_DONE = (0, 1, 4)  # exit codes with which there are verdicts: docs/exit-codes.md
# On a disk the time to make answers safe, and to take files away, would be the most of a call.
_SHARED_MEMORY = "/dev/shm"
_INDENT = "    "  # of what a comparison function logs, below its iteration


def run(words):
    """Runs the program to its end; where that was no success, what it said is an exception."""
    done = start(words)
    if done.returncode != 0:
        raise failure_of(done)


def start(words):
    """How the program ended, with what it printed."""
    return subprocess.run([_program(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def failure_of(done):
    """The exception of what the program said when it failed."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    said = [line[4:] for line in lines if line.startswith("[!]")] or lines[-1:]
    return errors.of_exit(done.returncode, said[0] if said else "")


def _program():
    """Who started this worker; the Python package, which is no program, has one in its folder."""
    try:
        parent = os.readlink(f"/proc/{os.getppid()}/exe")
    except OSError:
        parent = ""
    if os.path.basename(parent) == "vernier":
        return parent
    # bin/ beside libexec/vernier/shim/polygraphy.
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(here, *[os.pardir] * 4, "bin", "vernier"))


def _folder(*results):
    """For files of a moment: in memory, unless that has little room for the arrays."""
    size = sum(getattr(array, "nbytes", 0) for result in results for array in result.values())
    place = None
    if os.access(_SHARED_MEMORY, os.W_OK | os.X_OK):
        there = os.statvfs(_SHARED_MEMORY)
        place = _SHARED_MEMORY if 4 * size < there.f_bavail * there.f_frsize else None
    return tempfile.TemporaryDirectory(prefix="vernier-", dir=place)


def _part(text):
    """A part of a member's name, as docs/files.md has it."""
    return quote(text, safe="").replace(".", "%2E")


def _save(folder, index, result):
    """The outputs, of a runner that is called by the path of the file."""
    import numpy as np
    path = os.path.join(folder, str(index))
    # Not savez(), whose own keywords an output may have for its name.
    with zipfile.ZipFile(path + ".npz", "w") as archive:
        for name, array in result.items():
            array = np.asarray(array)
            if array.dtype.hasobject:
                raise errors.InvalidArgument(
                    f"output '{name}' is an array of Python objects, which cannot be compared")
            member = f"{_part(path)}/{0:010}/{_part(name)}.npy"
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return path + ".npz"


def _words(options):
    """The command line's words for keywords."""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
            continue
        entries = value.items() if isinstance(value, dict) else [("", value)]
        values = [f"{key}:{entry}" if key else str(entry) for key, entry in entries]
        if len(values) == 1:  # in one word it cannot be taken for an option
            words.append(f"{flag}={values[0]}")
            continue
        for text in values:
            if text.startswith("-"):
                raise errors.InvalidArgument(
                    f"{name}: '{text}' begins with '-', and would be taken for an option")
        words += [flag, *values]
    return words


def _log_of(lines, folder, names):
    """What the comparison of the iteration logged: Polygraphy's letters, and messages."""
    messages, inside = [], False
    for line in lines:
        letter, text = line[1:2], line[4:]  # of lines that go on, blanks
        if not text.startswith(_INDENT):
            inside = text.startswith("Iteration:")
        elif text.startswith(_INDENT + folder):
            inside = False  # the arrays that were compared: whoever calls the function shows them
        elif inside:
            for path, name in names.items():
                text = text.replace(path, name)
            text = text[len(_INDENT):]
            if letter.strip():
                messages.append([letter, text])
            else:
                messages[-1][1] += "\n" + text
    return messages


def compare(a, b, functions, options):
    """As host.compare() says, by `vernier compare`."""
    with _folder(a, b) as folder:
        measured, record = os.path.join(folder, "m.json"), os.path.join(folder, "r.json")
        paths = [_save(folder, 0, a), _save(folder, 1, b)]
        words = ["compare", *paths, "--lenient", "--compare", *functions,
                 "--save-accuracy-results", measured, "--save-record", record, "--python",
                 sys.executable, *_words(options)]
        done = start(words)
        if done.returncode not in _DONE or not os.path.exists(record):
            raise failure_of(done)
        names = {}
        for path, side in zip(paths, (a, b)):
            names[path] = names[path[:-len(".npz")]] = str(side.runner_name)
        log = _log_of(done.stdout.splitlines(), folder, names)
        with open(record, encoding="utf-8") as file:
            outputs = [output for pair in json.load(file)["pairs"] for output in pair["outputs"]]
        metrics = {}
        if os.path.exists(measured):
            with open(measured, encoding="utf-8") as file:
                metrics = json.load(file)
    return outputs, metrics, log
