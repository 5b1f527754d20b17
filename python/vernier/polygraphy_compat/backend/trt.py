"""TensorRT: loaders say what is to be built, and TrtRunner has vernier build it."""

import vernier

from ._trt_engines import (BytesFromEngine, EngineBytesFromNetwork, EngineFromBytes,
                           EngineFromNetwork, EngineFromPath, SaveEngine, bytes_from_engine,
                           engine_bytes_from_network, engine_from_bytes, engine_from_network,
                           engine_from_path, save_engine)
from ._trt_networks import (Calibrator, CreateConfig, CreateNetwork, LoadPlugins,
                            ModifyNetworkOutputs, NetworkFromOnnxBytes, NetworkFromOnnxPath,
                            PostprocessNetwork, Profile, SetLayerPrecisions, SetTensorDatatypes,
                            SetTensorFormats, create_config, options_of)
from .base import FrameworkRunner
from .common import call

__all__ = ["BytesFromEngine", "Calibrator", "CreateConfig", "CreateNetwork",
           "EngineBytesFromNetwork", "EngineFromBytes", "EngineFromNetwork", "EngineFromPath",
           "LoadPlugins", "ModifyNetworkOutputs", "NetworkFromOnnxBytes", "NetworkFromOnnxPath",
           "PostprocessNetwork", "Profile", "SaveEngine", "SetLayerPrecisions",
           "SetTensorDatatypes", "SetTensorFormats", "TrtRunner", "bytes_from_engine",
           "create_config", "create_network", "engine_bytes_from_network", "engine_from_bytes",
           "engine_from_network", "engine_from_path", "load_plugins", "modify_network_outputs",
           "network_from_onnx_bytes", "network_from_onnx_path", "postprocess_network",
           "save_engine", "set_layer_precisions", "set_tensor_datatypes", "set_tensor_formats"]

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
                f"TrtRunner: a {type(engine).__name__} is no engine of this package: save it to a "
                "file, and load that with EngineFromPath")
        model, options = engine.model_and_options()
        return vernier.TensorRt(self.path_of(model), name=self.name, **{**options, **self.options})

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


def _at_once(loader):
    """Polygraphy's function of a loader that describes a network."""
    def function(*args, **settings):
        return loader(*args, **settings)
    return function


create_network = _at_once(CreateNetwork)
network_from_onnx_bytes = _at_once(NetworkFromOnnxBytes)
network_from_onnx_path = _at_once(NetworkFromOnnxPath)
modify_network_outputs = _at_once(ModifyNetworkOutputs)
postprocess_network = _at_once(PostprocessNetwork)
set_layer_precisions = _at_once(SetLayerPrecisions)
set_tensor_datatypes = _at_once(SetTensorDatatypes)
set_tensor_formats = _at_once(SetTensorFormats)


def load_plugins(plugins=None, obj=None):
    return LoadPlugins(plugins, obj)()
