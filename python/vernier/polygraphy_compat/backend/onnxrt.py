"""OnnxrtRunner."""

import vernier
from vernier._polygraphy.backend.common import at_once, call

from .base import FrameworkRunner, label_of

__all__ = ["OnnxrtRunner", "SessionFromOnnx", "session_from_onnx"]


class SessionFromOnnx:
    """What OnnxrtRunner opens: a model (a path, its bytes, or a loader of them) and providers.

    The runner has vernier's own ONNX Runtime open it. Called, it gives a session of the package
    onnxruntime, or itself where that is not installed.
    """

    def __init__(self, model_bytes, providers=None, graph_optimization_level=None):
        self.model = model_bytes
        self.providers = providers
        self.graph_optimization_level = graph_optimization_level

    def __call__(self):
        try:
            import onnxruntime
        except ImportError:
            return self
        settings = onnxruntime.SessionOptions()
        if self.graph_optimization_level is not None:
            settings.graph_optimization_level = self.graph_optimization_level
        there = onnxruntime.get_available_providers()
        providers = [_provider(wanted, there) for wanted in self.providers or ["cpu"]]
        model = call(self.model)
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        try:
            return onnxruntime.InferenceSession(model, sess_options=settings, providers=providers)
        except Exception as error:  # ONNX Runtime has a class of its own for each cause
            raise vernier.BackendError(f"onnxruntime: {error}") from error


session_from_onnx = at_once(SessionFromOnnx)


def _provider(wanted, there):
    """The whole name of a provider, which may be a part of it, or a pair of that and options."""
    name, *options = wanted if isinstance(wanted, tuple) else (wanted,)
    for known in there:
        if name.lower() in known.lower():
            return (known, *options) if options else known
    raise vernier.InvalidArgument(f"there is no execution provider '{name}'; this onnxruntime has: "
                                  + ", ".join(there))


class _Session:
    """A session that the script has opened: it runs in this process."""

    def __init__(self, session, name):
        self.session, self.name = session, name
        self.inputs = {node.name: (_dtype(node.type), _shape(node.shape))
                       for node in session.get_inputs()}

    def activate(self):
        pass

    def deactivate(self):
        pass

    def infer(self, feed_dict):
        import time
        import numpy as np
        feed = {name: np.asarray(value) for name, value in feed_dict.items()}
        start = time.perf_counter()
        outputs = self.session.run(None, feed)
        runtime = time.perf_counter() - start
        names = [node.name for node in self.session.get_outputs()]
        return vernier.IterationResult(dict(zip(names, outputs)), runtime, self.name)


def _dtype(text):
    """NumPy's name of "tensor(float)" and its like."""
    name = text[text.find("(") + 1:-1]
    return {"float": "float32", "double": "float64", "string": "str"}.get(name, name)


def _shape(dims):
    return tuple(-1 if dim is None else dim for dim in dims)


class OnnxrtRunner(FrameworkRunner):
    """Of a SessionFromOnnx, of a session of the package onnxruntime, or of what gives one of them."""

    def __init__(self, sess, name=None):
        super().__init__(name, "onnxrt-runner")
        self.session = sess
        self._looked_at = None  # what a loader gave for_run: it is called once

    def for_run(self):
        self._looked_at = self._opened()
        return self if hasattr(self._looked_at, "get_inputs") else self.vernier_runner()

    def _opened(self):
        given, self._looked_at = self._looked_at, None
        if given is not None:
            return given
        return self.session if isinstance(self.session, SessionFromOnnx) else call(self.session)

    def vernier_runner(self):
        session = self._opened()
        if hasattr(session, "get_inputs"):
            return _Session(session, self.name)
        if not isinstance(session, SessionFromOnnx):
            session = SessionFromOnnx(session)
        options = dict(getattr(session.model, "options", {}))
        if session.providers is not None:
            options["providers"] = list(session.providers)
        if session.graph_optimization_level is not None:
            level = session.graph_optimization_level
            options["graph_optimization_level"] = getattr(level, "name", level)
        return vernier.OnnxRuntime(self.path_of(session.model), name=label_of(self.name), **options)
