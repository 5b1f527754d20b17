"""Outputs of runners, iteration by iteration: RunResults as Polygraphy has it, over files of any
size."""

import os
import threading
from collections.abc import MutableMapping, Sequence

from . import _native
from ._errors import InvalidArgument, Malformed, NotFound
from ._json import from_json, read_text, to_json, write_text

MAPPED = (".npz", ".safetensors")  # formats whose arrays are maps of the file
CUSTOM = "custom_runner"  # Polygraphy's name of what has none


class IterationResult(MutableMapping):
    """What one runner computed for one feed: names of outputs to arrays, in their order.

    Arrays that came from a runner or from a .npz or .safetensors file share its memory and cannot be
    written to; those of JSON can.
    """

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        self._outputs = dict(outputs) if outputs is not None else {}
        self._read = None
        self._ours = False  # arrays are copied when they are looked at, and can be written to
        self._runtime = runtime
        self._runner_name = runner_name if runner_name is not None else CUSTOM

    @classmethod
    def _lazy(cls, read, runner_name, ours=False):
        """`read` gives (runner, seconds, pairs) when something is asked for."""
        result = cls(None, None, runner_name)
        result._read = read
        result._ours = ours
        return result

    @classmethod
    def _of(cls, iteration):
        runner, seconds, pairs = iteration
        return cls(dict(pairs), seconds, runner or CUSTOM)

    def _load(self):
        if self._read is None:
            return
        runner, self._runtime, pairs = self._read()
        self._runner_name = runner or self._runner_name
        self._outputs = dict(pairs)
        self._read = None

    @property
    def runtime(self):
        """Seconds of the inference; None where that is not known."""
        self._load()
        return self._runtime

    @runtime.setter
    def runtime(self, seconds):
        self._load()
        self._runtime = seconds

    @property
    def runner_name(self):
        self._load()
        return self._runner_name

    @runner_name.setter
    def runner_name(self, name):
        self._load()
        self._runner_name = name

    def __getitem__(self, name):
        self._load()
        if name not in self._outputs:
            raise NotFound(f"there is no output '{name}'; there are: {', '.join(self._outputs)}")
        value = self._outputs[name]
        if isinstance(value, _native.Tensor):
            from ._arrays import to_array
            value = to_array(value)
            if self._ours:
                value = self._keep(name, value)
        return value

    def _keep(self, name, array):
        """An array that can be written to, and stays."""
        import numpy as np
        array = np.asarray(array)
        if array.dtype.name.startswith("void"):  # a type that NumPy lacks stays a tensor
            return array
        self._outputs[name] = np.array(array)
        return self._outputs[name]

    def _own(self):
        """The same, with arrays that can be written to, whatever they came from."""
        for name in self:
            self._keep(name, self[name])
        return self

    def __deepcopy__(self, memo):
        self._load()
        return IterationResult(self._outputs, self._runtime, self._runner_name)._own()

    def __reduce__(self):
        import numpy as np
        arrays = {name: np.asarray(self[name]) for name in self}
        return IterationResult, (arrays, self.runtime, self.runner_name)

    def __setitem__(self, name, value):
        self._load()
        self._outputs[name] = value

    def __delitem__(self, name):
        self._load()
        del self._outputs[name]

    def __iter__(self):
        self._load()
        return iter(self._outputs)

    def __len__(self):
        self._load()
        return len(self._outputs)

    def __contains__(self, name):
        self._load()
        return name in self._outputs

    def __eq__(self, other):
        if not isinstance(other, IterationResult):
            return NotImplemented
        import numpy as np
        if (self.runtime, self.runner_name, list(self)) != (
                other.runtime, other.runner_name, list(other)):
            return False
        return all(np.array_equal(self[name], other[name]) for name in self)

    __hash__ = None

    def dlpack(self, name):
        """An object with __dlpack__ that shares an output's memory, in the output's own type."""
        from ._arrays import DlpackView, to_tensor
        self[name]  # that it is there
        return DlpackView(to_tensor(self._outputs[name], f"output '{name}'"))

    def _tensors(self, copies=None):
        from ._arrays import to_tensor
        self._load()
        return [(str(name), to_tensor(value, f"output '{name}'", copies))
                for name, value in self._outputs.items()]

    def _tuple(self):
        return (self.runner_name, self.runtime, self._tensors())

    def _encode(self):
        """For Polygraphy's JSON."""
        import numpy as np
        outputs = {name: {"values": np.asarray(array), "polygraphy_class": "LazyArray"}
                   for name, array in self.items()}
        return {"outputs": outputs, "runtime": self.runtime, "runner_name": self.runner_name,
                "polygraphy_class": "IterationResult"}

    def __repr__(self):
        if self._read is not None:
            return f"IterationResult(<not read yet>, runner_name={self._runner_name!r})"
        parts = (f"{name}: {_describe(self[name])}" for name in self)
        return f"IterationResult({{{', '.join(parts)}}}, runner_name={self.runner_name!r})"

    def _repr_html_(self):
        from ._html import table
        rows = [(name, str(self[name].dtype), str(self[name].shape)) for name in self]
        return table(("output", "type", "shape"), rows, f"{self.runner_name}")


def _describe(value):
    return f"{getattr(value, 'dtype', type(value).__name__)}{list(getattr(value, 'shape', ()))}"


class Iterations(Sequence):
    """The iterations of one runner in a file. Each is read when it is first looked at."""

    def __init__(self, reader, run, name, count, lock, ours=False):
        self._reader, self._run, self._name, self._ours = reader, run, name, ours
        self._made = [None] * count
        self._lock = lock  # readers serve one thread at a time

    def __len__(self):
        return len(self._made)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"runner '{self._name}' has {len(self)} iterations")
        if self._made[index] is None:
            self._made[index] = self.fresh(index)
        return self._made[index]

    def fresh(self, index):
        """An iteration that this object does not keep."""
        return IterationResult._lazy(lambda: self._read(index), self._name, self._ours)

    def _read(self, index):
        with self._lock:
            return self._reader.read(self._run, index)

    def __repr__(self):
        return f"<{len(self)} iterations of {self._name!r}>"


class RunResults:
    """Runners and the lists of their iterations, in order; names may repeat.

    As Polygraphy's class of that name: a list of (name, iterations) that can be asked by name.
    """

    def __init__(self, lst=None):
        self.lst = list(lst) if lst is not None else []
        self._reader = None

    @classmethod
    def load(cls, path):
        """A file or folder of saved outputs, in any of vernier's formats.

        Files in .npz and .safetensors are mapped, and must not change while arrays of them live;
        JSON is read an iteration at a time, when it is asked for, and its arrays can be changed. An open
        file is read at once, and has to be JSON.
        """
        if hasattr(path, "read"):
            return cls.from_json(read_text(path))
        path = os.fsdecode(path)
        reader = _native.open_results(path, False)
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
            return write_text(path, self.to_json())
        path = os.fsdecode(path)
        if not self.lst:
            raise InvalidArgument(f"'{path}': there are no runners to save")
        writer = _native.create_results(path, [name for name, _ in self.lst])
        longest = max((len(iterations) for _, iterations in self.lst), default=0)
        try:
            for index in range(longest):
                for run, (_, iterations) in enumerate(self.lst):
                    if index < len(iterations):
                        writer.append(run, _as_iteration(_fresh(iterations, index))._tuple())
            self.check_intact()
            writer.publish(longest)
        except BaseException:
            writer.discard()
            raise

    def _encode(self):
        """For Polygraphy's JSON."""
        return {"lst": [[name, list(iterations)] for name, iterations in self.items()],
                "polygraphy_class": "RunResults"}

    def to_json(self):
        """The text of Polygraphy's JSON."""
        return to_json(self)

    @classmethod
    def from_json(cls, src):
        """Of such a text."""
        made = from_json(src)
        if not isinstance(made, RunResults):
            raise Malformed(f"the JSON holds a {type(made).__name__}, not a RunResults")
        return made

    def check_intact(self):
        """Raises Malformed where a mapped file was changed while arrays of it were in use."""
        if self._reader is not None:
            self._reader.check_intact()

    def __reduce__(self):
        return RunResults, ([(name, list(iterations)) for name, iterations in self.lst],)

    def __deepcopy__(self, memo):
        import copy
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
            raise InvalidArgument("out_list: expected a list of mappings, one for each iteration, got "
                                  "one mapping")
        self[name] = [IterationResult(out, runtime, name) for out in out_list]

    def split(self):
        """One RunResults for each iteration."""
        for index in range(max((len(its) for _, its in self.lst), default=0)):
            yield RunResults((name, [its[index]]) for name, its in self.lst if index < len(its))

    def _fresh_ones(self):
        """As split(), of iterations that this object does not keep."""
        for index in range(max((len(its) for _, its in self.lst), default=0)):
            yield RunResults((name, [_fresh(its, index)]) for name, its in self.lst
                             if index < len(its))

    @classmethod
    def load_streaming(cls, path, allow_dirs=True):
        """One RunResults for each iteration of a file or a folder, or of a list of those."""
        paths = [path] if isinstance(path, (str, os.PathLike)) else path
        for one in paths:
            if not allow_dirs and os.path.isdir(one):
                raise InvalidArgument(f"'{os.fspath(one)}' is a folder, and allow_dirs is False")
            yield from cls.load(one)._fresh_ones()

    @staticmethod
    def concat(runs):
        """The inverse of split()."""
        combined = RunResults()
        for run in runs:
            for name, iterations in run.items():
                if name in combined:
                    combined[name].extend(iterations)
                else:
                    combined.append((name, list(iterations)))
        return combined

    def __getitem__(self, key):
        if isinstance(key, (int, slice)):
            return self.lst[key]
        for name, iterations in self.lst:
            if name == key:
                return iterations
        there = ", ".join(self.keys()) or "none"
        raise NotFound(f"there is no runner '{key}'; there are: {there}")

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
        return key in self.keys() if isinstance(key, str) else key in self.lst

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
        from ._html import table
        rows = []
        for name, iterations in self.lst:
            outputs = ", ".join(iterations[0]) if len(iterations) else ""
            rows.append((name, len(iterations), outputs))
        return table(("runner", "iterations", "outputs"), rows)


def _fresh(iterations, index):
    """An iteration for one use: those of a file are not kept."""
    return iterations.fresh(index) if isinstance(iterations, Iterations) and (
        iterations._made[index] is None) else iterations[index]


def _as_iteration(value):
    return value if isinstance(value, IterationResult) else IterationResult(value)


def load_results(path):
    """RunResults of a file or a folder."""
    return RunResults.load(path)


def load_inputs(path):
    """The feeds of a file of saved inputs: a sequence of mappings of names to arrays."""
    reader = _native.open_results(os.fsdecode(path), True)
    (name, count), = reader.runs()[:1] or [("", 0)]
    return Iterations(reader, 0, name or "inputs", count, threading.Lock())


def save_inputs(feeds, path):
    """Saves feeds for --load-inputs, in the format that the path's extension names."""
    from ._arrays import to_pairs
    writer = _native.create_feeds(os.fsdecode(path))
    for index, feed in enumerate(feeds):
        writer.append(to_pairs(feed, f"inputs[{index}]"))
    writer.finish()
