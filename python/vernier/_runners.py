"""Runners: frameworks as objects, for vernier.run or alone."""

import contextlib
import os
import shlex
import sys

from . import _native
from ._errors import InvalidArgument
from ._feeds import Places
from ._keywords import of_runners
from ._logging import sink
from ._polygraphy.arguments import path_of
from ._results import IterationResult
from ._sentences import answers, name_places
from ._words import texts, words


def environment():
    """Of workers: frameworks are looked for where this Python has its packages."""
    if "VIRTUAL_ENV" in os.environ or sys.prefix == sys.base_prefix:
        return []
    return ["VIRTUAL_ENV=" + sys.prefix]


@contextlib.contextmanager
def served_here(options):
    """For a with statement: with in_process=True this process looks for frameworks as a worker."""
    before = os.environ.get("VIRTUAL_ENV")
    found = dict(word.split("=", 1) for word in environment()) if options.get("in_process") else {}
    os.environ.update(found)
    try:
        yield
    finally:
        if found and before is None:
            del os.environ["VIRTUAL_ENV"]


def label_of(label, argument):
    """A runner's label, which stands before an "=" in the words of the libraries."""
    if not isinstance(label, str) or not label or "=" in label:
        raise InvalidArgument(f"{argument}: a label is a text that is not empty and has no '=', "
                              f"got {label!r}")
    return label


_of_parents = []  # sessions that a forked process must not end


class Runner:
    """A framework with a model, in a process of its own.

        with vernier.OnnxRuntime("model.onnx") as runner:
            outputs = runner.infer({"x": x})

    In vernier.run the model may be left out: it is the run's. Options are those of the program, as
    providers="cuda" for --providers cuda. `backend` names any plug-in.
    """

    backend = None

    def __init__(self, model=None, *, name=None, backend=None, **options):
        self.backend = backend or self.backend
        if not self.backend:
            raise InvalidArgument("Runner: backend: expected the name of a backend")
        self.model = None if model is None else path_of(model, "model")
        self.name = None if name is None else label_of(name, "name")
        self.options = options
        self._open = None
        self._process = None
        self._names = frozenset()

    def _definition(self):
        """BACKEND [MODEL] [OPTIONS], as --runner takes it."""
        parts = [self.backend] + ([self.model] if self.model else [])
        return shlex.join(parts + words("run", self.options))

    def _words(self, label=None):
        """The words that add this runner to a run."""
        return ["--runner", f"{label or self.name or self.backend}={self._definition()}"]

    @answers("run", of_runners)
    def activate(self):
        """Opens the model. `with` does it, too."""
        if self._open is not None:
            return
        if self.model is None:
            raise InvalidArgument(f"{type(self).__name__}: model: expected the path of a model")
        write, level = sink()
        self._open = _native.OpenRunner([texts(*self._words())], environment(), sys.executable,
                                        write, level)
        self._process = os.getpid()
        self._names = {name for name, _, _ in self._open.inputs()}

    @answers("run", of_runners)
    def deactivate(self):
        """Closes the model and ends its process."""
        opened, self._open = self._open, None
        if opened is not None and self._process != os.getpid():
            _of_parents.append(opened)  # its end would be the end of the parent's
        elif opened is not None:
            opened.close()

    @answers("run", of_runners)
    def infer(self, feed):
        """The IterationResult of one feed, a mapping of input names to arrays."""
        from ._arrays import to_pairs
        session = self._session()
        extra = [str(name) for name in feed if name not in self._names] if self._names else []
        if extra:
            raise InvalidArgument(f"the feed has inputs that the model lacks: {', '.join(extra)}; it "
                                  f"has: {', '.join(sorted(self._names))}")
        pairs = to_pairs(feed, "feed")
        places = Places()
        places.add("feed", [(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in pairs])
        name_places(places)
        return IterationResult._of(session.infer(pairs))

    def _session(self):
        if self._open is None:
            raise InvalidArgument(f"the runner '{self.name or self.backend}' is not open: use it "
                                  "in a with statement, or call activate()")
        if self._process != os.getpid():
            raise InvalidArgument(f"the runner '{self.name or self.backend}' was opened before this "
                                  "process was forked, and its worker serves the parent: open one "
                                  "in each process")
        return self._open

    @property
    def inputs(self):
        """Name to (type, shape) of each input, as far as the framework says."""
        return {name: (dtype, shape) for name, dtype, shape in self._session().inputs()}

    @property
    def outputs(self):
        return {name: (dtype, shape) for name, dtype, shape in self._session().outputs()}

    def __enter__(self):
        self.activate()
        return self

    def __exit__(self, *_):
        self.deactivate()

    def __repr__(self):
        state = "open" if self._open is not None else "not open"
        try:
            described = self._definition()
        except InvalidArgument as error:  # reported when it is opened
            described = str(error)
        return f"<{type(self).__name__} {described!r}, {state}>"


class OnnxRuntime(Runner):
    """ONNX Runtime (--onnxrt)."""

    backend = "onnxrt"


class OpenVino(Runner):
    """OpenVINO (--openvino)."""

    backend = "openvino"


class TensorRt(Runner):
    """TensorRT (--trt); options as fp16=True, save_engine="m.engine"."""

    backend = "trt"


class TensorFlow(Runner):
    """TensorFlow (--tf)."""

    backend = "tf"


class Torch(Runner):
    """PyTorch (--torch)."""

    backend = "torch"


class OnnxReference(Runner):
    """ONNX's reference evaluator (--onnxref), in this Python."""

    backend = "onnxref"


class PluginReference(Runner):
    """TensorRT's plugins by their definitions (--pluginref)."""

    backend = "pluginref"


class Identity(Runner):
    """Returns its inputs; for trying things out."""

    backend = "identity"
