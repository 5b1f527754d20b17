"""Files of shards whose nodes share no disk: what they read goes with them through Ray's object
store, and what they write comes back."""

import glob
import hashlib
import os
import re
import tempfile

AUTO = "auto"


class NotShipped(Exception):
    """Why a file cannot go along, in a sentence."""


def _is_pattern(name):
    return any(mark in name for mark in "*?[")


def _files_of(name):
    """The files that a name stands for: itself, those in a folder, those that fit a pattern."""
    found = sorted(glob.glob(name, recursive=True)) if _is_pattern(name) else [name]
    files = []
    for path in found:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                files += [os.path.join(folder, each) for each in sorted(names)]
        elif os.path.isfile(path):
            files.append(path)
    return files


def _check(path):
    """A path has to mean the same in the folder of a node."""
    if not os.path.isabs(path) and not os.path.normpath(path).startswith(".."):
        return os.path.normpath(path)
    raise NotShipped(f"--ship: '{path}' is not in the folder in which this is started: give what "
                     "is in it, by its path from there")


def _names_in(words):
    """What words may name: themselves, and their parts, as of a runner or of OUTPUT:FILE."""
    for word in words:
        yield word
        parts = re.split(r"[\s=:,]+", word)
        if len(parts) > 1:
            yield from parts


def files_to_ship(wanted, words):
    """The files of --ship, by their paths from here: `wanted` are its values, `words` those of the
    shards. With each file goes what has its name before its own, as weights of a model have."""
    files = set()
    for name in wanted:
        if name == AUTO:
            continue
        found = _files_of(_check(name))
        if not found:
            raise NotShipped(f"--ship: there is no file '{name}'")
        files.update(map(_check, found))
    for name in _names_in(words) if AUTO in wanted else ():
        # "." and ".." are never meant as a whole; an absolute path is one of the node's.
        if name.strip("./") and not os.path.isabs(name):
            files.update(map(_check, _files_of(name)))
    for path in sorted(files) if AUTO in wanted else ():
        files.update(map(os.path.normpath, _files_of(glob.escape(path) + "[._]data*")))
    return sorted(files)


def ship(wanted, words, record, put):
    """Each file as its path, the hash of its bytes, and what `put` has made of them, once for all
    shards."""
    _check(record)
    shipped = []
    for path in files_to_ship(wanted, words):
        with open(path, "rb") as file:
            data = file.read()
        shipped.append((path, hashlib.sha256(data).hexdigest(), put(data)))
    if not shipped:
        raise NotShipped("--ship auto: no word names a file in this folder")
    return shipped


def unpack(folder, shipped, get):
    """Puts the files into the folder, which has the same path on every node: parts of one run have
    the paths of their models in common. What is there already stays; it may be another shard's."""
    for path, known, data in shipped:
        place = os.path.join(folder, path)
        if os.path.exists(place):
            with open(place, "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() == known:
                    continue
            raise NotShipped(f"there is another file '{place}' on this node: remove it there")
        _write(place, get(data))


def _write(place, data):
    """The file is whole or absent."""
    folder = os.path.dirname(place) or "."
    os.makedirs(folder, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=folder, suffix=".partial")
    with open(handle, "wb") as file:
        file.write(data)
    os.replace(part, place)


def written(folder, shard):
    """What a shard has saved in the folder, as pairs of a path and its bytes: all of it has the
    shard in its name, or in that of a folder that it has saved."""
    found = []
    for path in _files_of(folder):
        name = os.path.relpath(path, folder)
        if shard not in name or path.endswith(".partial"):
            continue
        with open(path, "rb") as file:
            found.append((name, file.read()))
    return found


def take_back(files):
    """Writes what a shard has saved into this folder."""
    for path, data in files:
        _write(_check(path), data)
