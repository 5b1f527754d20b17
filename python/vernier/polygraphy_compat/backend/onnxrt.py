"""OnnxrtRunner."""

import vernier

from .base import FrameworkRunner
from .common import call


class SessionFromOnnx:
    """What OnnxrtRunner opens: a model (a path, its bytes, or a loader of them) and providers."""

    def __init__(self, model_bytes, providers=None, graph_optimization_level=None):
        self.model = model_bytes
        self.providers = providers
        self.graph_optimization_level = graph_optimization_level

    def __call__(self):
        return self


def session_from_onnx(model_bytes, **words):
    return SessionFromOnnx(model_bytes, **words)


class OnnxrtRunner(FrameworkRunner):
    def __init__(self, sess, name=None):
        super().__init__(name, "onnxrt-runner")
        self.session = sess

    def vernier_runner(self):
        session = self.session
        if not isinstance(session, SessionFromOnnx) and callable(session):
            session = call(session)
        if not isinstance(session, SessionFromOnnx):
            session = SessionFromOnnx(session)
        options = dict(getattr(session.model, "options", {}))
        if session.providers is not None:
            options["providers"] = list(session.providers)
        if session.graph_optimization_level is not None:
            level = session.graph_optimization_level
            options["graph_optimization_level"] = getattr(level, "name", level)
        return vernier.OnnxRuntime(self.path_of(session.model), name=self.name, **options)
