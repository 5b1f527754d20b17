"""labels= as arrays and lists: the libraries read them from files."""

import collections.abc
import contextlib
import json
import os
import tempfile

from ._errors import InvalidArgument
from ._polygraphy.arguments import kind_of


@contextlib.contextmanager
def as_files(options):
    """The options with files in the place of labels that are none, for as long as they are read."""
    value = _listed(options.get("labels"))
    _check_texts(value)
    named = ([(name, _listed(entry)) for name, entry in value.items()]
             if isinstance(value, dict) else [("", value)])
    if not any(_is_data(entry) for _, entry in named):
        yield options
        return
    with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
        files = []
        for place, (name, entry) in enumerate(named):
            if _is_data(entry):
                os.mkdir(os.path.join(folder, str(place)))
                entry = _save(entry, os.path.join(folder, str(place), "labels"))
            files.append((str(name) if name else "", entry))
        yield {**options, "labels": dict(files)}


def _listed(value):
    """A range or another sequence, as a list."""
    is_other = isinstance(value, collections.abc.Sequence) and not isinstance(
        value, (str, bytes, list, tuple))
    return list(value) if is_other else value


def _check_texts(value):
    """Texts are names of files, of which an output has one."""
    if not isinstance(value, (list, tuple)):
        return
    texts = [one for one in value if isinstance(one, str)]
    if len(texts) > 1 and not any("." in one or one.partition("=")[0].rpartition(":")[2] in
                                  ("loader", "folder") for one in texts):
        raise InvalidArgument(f"labels: expected classes as numbers, or names of files, got "
                              f"{', '.join(map(repr, texts[:3]))}"
                              f"{', ...' if len(texts) > 3 else ''}")


def _is_data(value):
    """Whether it is labels, not the names of files with labels."""
    if isinstance(value, (list, tuple)):
        return bool(value) and not any(isinstance(one, (str, bytes, os.PathLike)) for one in value)
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def _save(value, path):
    """Writes an array, or a list of classes, of lists of them or of an array for each iteration.
    Returns the file's path."""
    import numpy as np
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if np.ma.is_masked(one):
            raise InvalidArgument("labels: expected arrays without a mask: .filled(VALUE) makes "
                                  "one, and in a map of classes 255 does not count")
    if isinstance(value, (list, tuple)) and all(getattr(one, "ndim", 0) for one in value):
        np.savez(path + ".npz", *map(_array, value))
        return path + ".npz"
    if isinstance(value, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in value):
        with open(path + ".jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(_plain(one)) + "\n" for one in value)
        return path + ".jsonl"
    array = _array(value) if hasattr(value, "__dlpack__") else np.asarray(value)
    if array.dtype.hasobject:
        odd = next((i for i, one in enumerate(value) if _is_odd(one)), None)
        got = kind_of(value) if odd is None else f"{kind_of(value[odd])} at {odd}"
        raise InvalidArgument(f"labels: expected an array of numbers, a list of classes, or a list "
                              f"with a list of them for each sample, got {got}")
    np.save(path + ".npy", array)
    return path + ".npy"


def _is_odd(label):
    import numpy as np
    return np.asarray(label).dtype.hasobject


def _array(value):
    import numpy as np
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if hasattr(value, "detach"):  # torch's, which may be on a GPU
        value = value.detach().cpu()
    return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)


def _plain(label):
    """Of one sample, as JSON has it."""
    if hasattr(label, "tolist"):
        return label.tolist()
    return [_plain(one) for one in label] if isinstance(label, (list, tuple)) else label
