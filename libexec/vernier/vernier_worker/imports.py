"""What code this process has run: shards that ran other code do not merge."""

import hashlib
import os
import sys
import sysconfig

from . import opened

LARGEST_HASHED = 64 << 20
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _within(path, folder):
    return path.startswith(folder + os.sep)


def _is_installed(path):
    return any(f"{os.sep}{name}{os.sep}" in path for name in ("site-packages", "dist-packages"))


def _version_of(name):
    """Of a package; "" where nothing says it."""
    version = vars(sys.modules[name]).get("__version__")
    if isinstance(version, str):
        return str(version)
    from importlib import metadata
    try:
        return str(metadata.version(name))
    except Exception:  # not only a distribution of another name: also damaged metadata
        return ""


def _content_of(path):
    """A hash; of very large files, which are libraries, the size alone."""
    try:
        size = os.path.getsize(path)
        if size > LARGEST_HASHED:
            return f"{size} bytes"
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:  # a member of an archive, say
        return ""


def _files():
    """The file of each module that has one; some put objects in sys.modules that are none."""
    for name, module in list(sys.modules.items()):
        try:
            path = vars(module).get("__file__")
        except TypeError:
            continue
        if isinstance(path, str):
            yield name, os.path.abspath(path)


class _Kept:
    """What was listed last: it is asked for often. Files are hashed soon after they were imported,
    and once."""
    known = None
    entries = ()
    values = {}  # by (name, path)


def _value_of(name, path):
    key = (name, path)
    if key not in _Kept.values:
        _Kept.values[key] = _content_of(path) if path else _version_of(name)
    return _Kept.values[key]


def listed():
    """(name, version, content, path): of each package that is installed its version, of each
    other module that is neither Python's nor vernier's the hash of its file, and where that is.
    The same of code that was read otherwise, under the name of its file."""
    known = list(sys.modules), opened.paths()
    if known != _Kept.known:
        _Kept.known, _Kept.entries = known, _list(known[1])
    return _Kept.entries


def _list(read):
    python = [os.path.abspath(sysconfig.get_path(path)) for path in ("stdlib", "platstdlib")]
    python.append(os.path.dirname(os.path.abspath(os.__file__)))
    files = dict(_files())
    others = [(os.path.basename(path), path) for path in read.difference(files.values())
              if not _is_installed(path)]
    found = set()
    for name, path in [*files.items(), *others]:
        if _is_installed(path):
            parts = name.split(".")
            tops = (".".join(parts[:size]) for size in range(1, len(parts) + 1))
            top = next((top for top in tops if top in files), name)
            if _is_installed(files[top]):
                found.add((top, ""))
        elif not _within(path, OWN_FOLDER) and not any(_within(path, own) for own in python):
            found.add((name, path))
    entries = [(name, "", _value_of(name, path), path) if path
               else (name, _value_of(name, ""), "", "")
               for name, path in sorted(found)]
    return [entry for entry in entries if entry[1] or entry[2]]
