"""TensorRT: loaders say what is to be built, and TrtRunner has vernier build it."""

import vernier
from vernier._polygraphy.arguments import kind_of
from vernier._polygraphy.backend import trt as networks
from vernier._polygraphy.backend.common import call
from vernier._polygraphy.backend.trt import *  # noqa: F401,F403
from vernier._polygraphy.backend.trt.networks import options_of

from . import _trt_engines as engines
from ._trt_engines import *  # noqa: F401,F403
from .base import FrameworkRunner, label_of

__all__ = sorted([*networks.__all__, *engines.__all__, "TrtRunner"])

RUNNER = {"optimization_profile": "optimization_profile",
          "allocation_strategy": "allocation_strategy",
          "weight_streaming_budget": "weight_streaming_budget"}


class TrtRunner(FrameworkRunner):
    def __init__(self, engine, name=None, **settings):
        super().__init__(name, "trt-runner")
        self.engine = engine
        self.options = options_of("TrtRunner", settings, RUNNER)

    def vernier_runner(self):
        engine = call(self.engine)
        if not hasattr(engine, "model_and_options"):
            raise vernier.Unimplemented(
                f"TrtRunner: {kind_of(engine)} is no engine of this package: save it to a "
                "file, and load that with EngineFromPath")
        model, options = engine.model_and_options()
        return vernier.TensorRt(self.path_of(model), name=label_of(self.name),
                                **{**options, **self.options})

    def set_profile(self, index):
        """The optimization profile from now on. The engine is opened again."""
        if not self.is_active:
            raise vernier.InvalidArgument(
                f"{self.name:35} | Must be activated prior to calling set_profile()")
        if index == self.options.get("optimization_profile", 0):
            return
        self.options["optimization_profile"] = index
        self.deactivate()
        self.activate()

    def infer_impl(self, feed_dict, copy_outputs_to_host=True):
        if not copy_outputs_to_host:
            raise vernier.Unimplemented("infer: copy_outputs_to_host=False: outputs come from a "
                                        "process of its own, to the host")
        return super().infer_impl(feed_dict)
