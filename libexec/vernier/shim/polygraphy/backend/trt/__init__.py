"""Networks and configurations of TensorRT. Engines, runners and calibrators are vernier's Python
package's."""

from ... import exception
from .networks import (  # noqa: F401
    CreateConfig, CreateNetwork, LoadPlugins, ModifyNetworkOutputs, NetworkFromOnnxBytes,
    NetworkFromOnnxPath, PostprocessConfig, PostprocessNetwork, Profile, SetLayerPrecisions,
    SetTensorDatatypes, SetTensorFormats, create_config, create_network, load_plugins,
    modify_network_outputs, network_from_onnx_bytes, network_from_onnx_path, postprocess_network,
    set_layer_precisions, set_tensor_datatypes, set_tensor_formats)

__all__ = [
    "CreateConfig", "CreateNetwork", "LoadPlugins", "ModifyNetworkOutputs",
    "NetworkFromOnnxBytes", "NetworkFromOnnxPath", "PostprocessConfig", "PostprocessNetwork",
    "Profile", "SetLayerPrecisions", "SetTensorDatatypes", "SetTensorFormats", "create_config",
    "create_network", "load_plugins", "modify_network_outputs", "network_from_onnx_bytes",
    "network_from_onnx_path", "postprocess_network", "set_layer_precisions",
    "set_tensor_datatypes", "set_tensor_formats"]
__getattr__ = exception.missing(__name__)
