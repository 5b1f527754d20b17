"""Runners and their outputs: RunResults as Polygraphy has it, over files of any size where the host
has readers of those."""

import copy
import os
import re
import threading

from . import encoding, errors, host
from .arguments import kind_of, listed, path_of
from .iterations import CUSTOM, IterationResult, Iterations, fresh

MAPPED = (".npz", ".safetensors")  # formats whose arrays are maps of the file

# In the name of an unnamed runner, "onnxrt-runner-N0-11/22/26-14:05:09".
_NUMBER = re.compile(r"(-runner)?-N\d+")
_TIME = re.compile(r"-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d")
_LEAST_DIGITS = 8  # of the time as other locales write it


class RunResults:
    """Runners and the lists of their iterations, in order; names may repeat.

    As Polygraphy's class of that name: a list of (name, iterations) that can be asked by name. A
    runner that has no name is found by its kind, too, where it is the only one: results["onnxrt"].
    """

    def __init__(self, lst=None):
        self.lst = listed(lst, "lst", "pairs of a name and iterations") if lst is not None else []
        self._reader = None

    @classmethod
    def load(cls, path):
        """A file or folder of saved outputs, in any of vernier's formats.

        Files in .npz and .safetensors are mapped, and must not change while arrays of them live;
        JSON is read an iteration at a time, when it is asked for, and its arrays can be changed. An
        open file is read at once, and has to be JSON.
        """
        reader = None if hasattr(path, "read") else host.open_results(path_of(path, "path"))
        if reader is None:
            return cls.from_json(encoding.read(path))
        path = path_of(path, "path")
        results = cls()
        results._reader = reader
        lock = threading.Lock()
        ours = not path.endswith(MAPPED)
        for run, (name, count) in enumerate(reader.runs()):
            name = name or CUSTOM
            results.lst.append((name, Iterations(reader, run, name, count, lock, ours)))
        return results

    def save(self, path, description=None):
        """Saves as .npz, .safetensors, or for any other extension as Polygraphy's JSON.

        A path without an extension becomes a folder of one JSON file for each iteration. An open
        file gets JSON.
        """
        if hasattr(path, "write"):
            return encoding.write(path, self.to_json())
        path = path_of(path, "path")
        if not self.lst:
            raise errors.InvalidArgument(f"'{path}': there are no runners to save")
        writer = host.create_results(path, [name for name, _ in self.lst])
        if writer is None:
            return encoding.write(path, self.to_json())
        longest = max((len(iterations) for _, iterations in self.lst), default=0)
        try:
            for index in range(longest):
                for run, (_, iterations) in enumerate(self.lst):
                    if index < len(iterations):
                        writer.append(run, as_iteration(fresh(iterations, index))._tuple())
            self.check_intact()
            writer.publish(longest)
        except BaseException:
            writer.discard()
            raise

    def _encode(self):
        """For Polygraphy's JSON."""
        return {"lst": [[name, list(iterations)] for name, iterations in self.items()],
                encoding.CLASS: "RunResults"}

    def to_json(self):
        """The text of Polygraphy's JSON."""
        return encoding.to_json(self)

    @classmethod
    def from_json(cls, src):
        """Of such a text."""
        return encoding.checked(encoding.from_json(src), RunResults, "a RunResults")

    def check_intact(self):
        """Raises Malformed where a mapped file was changed while arrays of it were in use."""
        if self._reader is not None:
            self._reader.check_intact()

    def __reduce__(self):
        return RunResults, ([(name, list(iterations)) for name, iterations in self.lst],)

    def __deepcopy__(self, memo):
        return RunResults((name, [copy.deepcopy(it, memo) for it in iterations])
                          for name, iterations in self.lst)

    def items(self):
        return iter(self.lst)

    def keys(self):
        return (name for name, _ in self.lst)

    def values(self):
        return (iterations for _, iterations in self.lst)

    def append(self, item):
        self.lst.append(item)

    def extend(self, items):
        for item in items:
            self.append(item)

    def __iadd__(self, items):
        self.extend(items)
        return self

    def update(self, other):
        for name, iterations in other.items():
            self[name] = iterations
        return self

    def add(self, out_list, runtime=None, runner_name=None):
        """Makes a runner of a list of mappings of names to arrays."""
        name = runner_name if runner_name is not None else CUSTOM
        if hasattr(out_list, "items"):
            raise errors.InvalidArgument(
                "out_list: expected a list of mappings, one for each iteration, got "
                "one mapping")
        self[name] = [IterationResult(out, runtime, name) for out in out_list]

    def split(self):
        """One RunResults for each iteration."""
        for index in range(max((len(its) for _, its in self.lst), default=0)):
            yield RunResults((name, [its[index]]) for name, its in self.lst if index < len(its))

    def _fresh_ones(self):
        """As split(), of iterations that this object does not keep."""
        for index in range(max((len(its) for _, its in self.lst), default=0)):
            yield RunResults((name, [fresh(its, index)]) for name, its in self.lst
                             if index < len(its))

    @classmethod
    def load_streaming(cls, path, allow_dirs=True):
        """One RunResults for each iteration of a file or a folder, or of a list of those."""
        paths = [path] if isinstance(path, (str, os.PathLike)) else path
        for one in paths:
            if not allow_dirs and os.path.isdir(one):
                raise errors.InvalidArgument(
                    f"'{os.fspath(one)}' is a folder, and allow_dirs is False")
            yield from cls.load(one)._fresh_ones()

    @staticmethod
    def concat(runs):
        """The inverse of split()."""
        combined = {}
        for run in runs:
            for name, iterations in run.items():
                combined.setdefault(name, []).extend(iterations)
        return RunResults(combined.items())

    def __getitem__(self, key):
        if isinstance(key, (int, slice)):
            return self.lst[key]
        found = self._called(key)
        if len(found) == 1:
            return found[0][1]
        there = ", ".join(name for name, _ in found or self.lst) or "none"
        raise errors.NotFound(f"'{key}' stands for {len(found)} runners: {there}" if found else
                              f"there is no runner '{key}'; there are: {there}")

    def _called(self, key):
        """The runner of that name; else those without a name of their own that are of that kind."""
        exactly = [entry for entry in self.lst if entry[0] == key]
        return exactly[:1] or [entry for entry in self.lst if _is_called(entry[0], key)]

    def __setitem__(self, key, value):
        if isinstance(key, int):
            self.lst[key] = value
            return
        for index, (name, _) in enumerate(self.lst):
            if name == key:
                self.lst[index] = (key, value)
                return
        self.lst.append((key, value))

    def __contains__(self, key):
        return len(self._called(key)) == 1 if isinstance(key, str) else key in self.lst

    def __iter__(self):
        return iter(self.lst)

    def __len__(self):
        return len(self.lst)

    def __eq__(self, other):
        if not isinstance(other, RunResults):
            return NotImplemented
        return len(self) == len(other) and all(
            a == b and len(left) == len(right) and all(x == y for x, y in zip(left, right))
            for (a, left), (b, right) in zip(self.lst, other.lst))

    __hash__ = None

    def __repr__(self):
        return "RunResults(" + ", ".join(f"{n!r}: {len(i)} iterations" for n, i in self.lst) + ")"

    def _repr_html_(self):
        rows = []
        for name, iterations in self.lst:
            outputs = ", ".join(iterations[0]) if len(iterations) else ""
            rows.append((name, len(iterations), outputs))
        return host.table(("runner", "iterations", "outputs"), rows)


def _is_called(name, word):
    """Does a word stand for an unnamed runner: without the time, or the number too?"""
    for number in _NUMBER.finditer(name) if isinstance(name, str) else ():
        rest = name[number.end():]
        if _TIME.fullmatch(rest) or (number[1] and rest.startswith("-") and sum(
                letter.isdigit() for letter in rest) >= _LEAST_DIGITS):
            return word in (name[:number.start()], name[:number.end()])
    return False


def as_iteration(value):
    return value if isinstance(value, IterationResult) else IterationResult(value)


def load_results(path):
    """RunResults of a file or a folder."""
    return RunResults.load(path)


def load_inputs(path):
    """The feeds of a file of saved inputs: a sequence of mappings of names to arrays."""
    reader = host.open_results(path_of(path, "path"), True)
    if reader is None:
        return _json_feeds(path)
    (name, count), = reader.runs()[:1] or [("", 0)]
    return Iterations(reader, 0, name or "inputs", count, threading.Lock())


def _json_feeds(path):
    """Of one file, or of a folder of those."""
    names = [path]
    if os.path.isdir(path):
        names = [os.path.join(path, name) for name in sorted(os.listdir(path))
                 if name.endswith(".json")]
    feeds = []
    for name in names:
        found = encoding.from_json(encoding.read(name))
        feeds += found if isinstance(found, list) else [found]
    return feeds


def save_inputs(feeds, path):
    """Saves feeds for --load-inputs, in the format that the path's extension names."""
    path = path_of(path, "path")
    if not hasattr(feeds, "__iter__") and not hasattr(feeds, "__getitem__"):
        raise errors.InvalidArgument("feeds: expected mappings of names to arrays, got "
                                     + kind_of(feeds))
    writer = host.create_feeds(path)
    if writer is None:
        return encoding.write(path, encoding.to_json(list(feeds)))
    for feed in feeds:
        writer.append(feed)
    writer.finish()


encoding.decoders["RunResults"] = lambda found: RunResults(map(tuple, found["lst"]))
