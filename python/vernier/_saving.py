"""What was to be saved and was not: sentences for SaveError."""

import os
import pathlib
import re

# What options of files that are written begin with.
_SAVING = ("save", "report", "output", "bundle")
UNSAVED = 7  # the exit code where nothing else is wrong


def unsaved(options, code, critical, faults=()):
    """A sentence for each file that options ask for and that was not saved.

    critical and faults are what the libraries reported. With exit code 7 something was not
    saved, and all that is critical is about it where no sentence names a file of the options.
    """
    sentences = list(dict.fromkeys([*critical, *faults]))
    paths = [path for name, value in options.items() if name.startswith(_SAVING)
             for place in _places(value) for path in _spellings(place)]
    folders = {os.fspath(folder) for path in paths for folder in pathlib.PurePath(path).parents}
    places = [re.escape(path) for path in paths]
    named = []
    if places:
        file = re.compile(rf"'(?:{'|'.join(places)})(?:['/]|\.partial')"
                          rf"|'(?:{'|'.join(map(re.escape, folders))})' cannot be")
        named = [sentence for sentence in sentences if file.search(_plain(sentence))]
    return named or (sentences if code == UNSAVED else [])


def _plain(text):
    """Paths without what makes no difference: a//b, a/./b and a/b/. are a/b, ./a is a."""
    return re.sub(r"(?<![^'])\./", "", re.sub(r"/\.(?=['/]|\Z)", "", re.sub(r"/+", "/", text)))


def _spellings(path):
    """The ways in which the libraries may spell a path."""
    return dict.fromkeys((_plain(path), os.path.normpath(path), os.path.abspath(path),
                          os.path.realpath(path)))


def _places(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set)):
        return [place for entry in value for place in _places(entry)]
    if not isinstance(value, (str, bytes, os.PathLike)):
        return []
    path = os.fsdecode(value)
    return [path.rstrip("/") or path] if path else []


def joined(reason, lost):
    """Why a call was not done, and what was not saved, each once."""
    return "\n".join(([reason] if reason else [])
                     + [sentence for sentence in lost if sentence not in reason])
