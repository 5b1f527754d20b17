"""Which code this process has read: scripts also run some without importing it."""

import os
import sys


class _Kept:
    watched = False
    paths = set()


def _note(event, arguments):
    if event != "open":
        return
    path, mode = arguments[:2]
    code = isinstance(path, str) and path.endswith(".py")
    if code and isinstance(mode, str) and mode.startswith("r"):
        try:
            _Kept.paths.add(os.path.abspath(path))
        except OSError:  # there is no current folder
            pass


def watch():
    """From now on, for as long as the process lives."""
    if not _Kept.watched:
        _Kept.watched = True
        sys.addaudithook(_note)


def paths():
    return set(_Kept.paths)
