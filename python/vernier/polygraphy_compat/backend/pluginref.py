"""PluginRefRunner."""

import vernier
from vernier._polygraphy.backend.onnx import GsFromOnnx

from .base import FrameworkRunner, label_of

__all__ = ["PluginRefRunner"]


class PluginRefRunner(FrameworkRunner):
    """TensorRT's plugins by their definitions; the graph is a model, or a loader of one."""

    def __init__(self, graph, name=None):
        super().__init__(name, "pluginref-runner")
        self.graph = graph

    def vernier_runner(self):
        graph = self.graph.model if isinstance(self.graph, GsFromOnnx) else self.graph
        return vernier.PluginReference(self.path_of(graph), name=label_of(self.name),
                                       **getattr(graph, "options", {}))
