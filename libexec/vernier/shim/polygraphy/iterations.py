"""Outputs of one runner, iteration by iteration; they can be read when they are first asked for."""

from collections.abc import MutableMapping, Sequence

from . import encoding, errors, host
from .arguments import kind_of

CUSTOM = "custom_runner"  # Polygraphy's name of what has none


class IterationResult(MutableMapping):
    """What one runner computed for one feed: names of outputs to arrays, in their order.

    Arrays that came from a runner or from a .npz or .safetensors file share its memory and cannot
    be written to; those of JSON can.
    """

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        try:
            self._outputs = dict(outputs) if outputs is not None else {}
        except (TypeError, ValueError):
            raise errors.InvalidArgument("outputs: expected a mapping of names to arrays, got "
                                         + kind_of(outputs)) from None
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
            raise errors.NotFound(
                f"there is no output '{name}'; there are: {', '.join(self._outputs)}")
        value = self._outputs[name]
        if isinstance(value, host.TENSORS):
            value = host.array_of(value)
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
        self[name]  # that it is there
        return host.shared(host.tensor_of(self._outputs[name], f"output '{name}'"))

    def _tensors(self, copies=None):
        self._load()
        return [(str(name), host.tensor_of(value, f"output '{name}'", copies))
                for name, value in self._outputs.items()]

    def _tuple(self):
        return (self.runner_name, self.runtime, self._tensors())

    def _encode(self):
        """For Polygraphy's JSON."""
        import numpy as np
        outputs = {name: {"values": np.asarray(array), encoding.CLASS: "LazyArray"}
                   for name, array in self.items()}
        return {"outputs": outputs, "runtime": self.runtime, "runner_name": self.runner_name,
                encoding.CLASS: "IterationResult"}

    def __repr__(self):
        if self._read is not None:
            return f"IterationResult(<not read yet>, runner_name={self._runner_name!r})"
        parts = (f"{name}: {_describe(self[name])}" for name in self)
        return f"IterationResult({{{', '.join(parts)}}}, runner_name={self.runner_name!r})"

    def _repr_html_(self):
        rows = [(name, str(self[name].dtype), str(self[name].shape)) for name in self]
        return host.table(("output", "type", "shape"), rows, f"{self.runner_name}")


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


def fresh(iterations, index):
    """An iteration for one use: those of a file are not kept."""
    return iterations.fresh(index) if isinstance(iterations, Iterations) and (
        iterations._made[index] is None) else iterations[index]


encoding.decoders["IterationResult"] = lambda found: IterationResult(**found)
