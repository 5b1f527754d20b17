"""Polygraphy's Python names over vernier: scripts run with changed imports alone.

    from vernier.polygraphy_compat.comparator import Comparator, DataLoader
    from vernier.polygraphy_compat.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

Modules have Polygraphy's places below this one; all names are here, too. What is not there says so.
Frameworks run in processes of their own, and files are those of vernier and Polygraphy alike.
"""

import importlib
import sys

from vernier._polygraphy import submodules
from vernier._polygraphy.logger import G_LOGGER  # noqa: F401  # sets the log up as Polygraphy does

_PLACES = {
    "backend.base": ("BaseLoader", "BaseRunner"),
    "backend.common": ("BytesFromPath", "InvokeFromScript", "SaveBytes", "bytes_from_path",
                       "invoke_from_script", "save_bytes"),
    "backend.onnx": ("BytesFromOnnx", "ConvertToFp16", "ExtractSubgraph", "FoldConstants",
                     "GsFromOnnx", "InferShapes", "ModifyOutputs", "OnnxFromBytes", "OnnxFromPath",
                     "SaveOnnx", "SetUpperBound", "bytes_from_onnx", "convert_to_fp16",
                     "extract_subgraph", "fold_constants", "gs_from_onnx", "infer_shapes",
                     "modify_outputs", "onnx_from_bytes", "onnx_from_path", "save_onnx",
                     "set_upper_bound"),
    "backend.onnxrt": ("OnnxrtRunner", "SessionFromOnnx", "session_from_onnx"),
    "backend.pluginref": ("PluginRefRunner",),
    "backend.trt": ("BytesFromEngine", "Calibrator", "CreateConfig", "CreateNetwork",
                    "EngineBytesFromNetwork", "EngineFromBytes", "EngineFromNetwork",
                    "EngineFromPath", "LoadPlugins", "ModifyNetworkOutputs",
                    "NetworkFromOnnxBytes", "NetworkFromOnnxPath", "PostprocessConfig",
                    "PostprocessNetwork", "Profile",
                    "SaveEngine", "SetLayerPrecisions", "SetTensorDatatypes", "SetTensorFormats",
                    "TrtRunner", "bytes_from_engine", "create_config", "create_network",
                    "engine_bytes_from_network", "engine_from_bytes", "engine_from_network",
                    "engine_from_path", "load_plugins", "modify_network_outputs",
                    "network_from_onnx_bytes", "network_from_onnx_path", "postprocess_network",
                    "save_engine", "set_layer_precisions", "set_tensor_datatypes",
                    "set_tensor_formats"),
    "common": ("BoundedShape", "TensorMetadata"),
    "comparator": ("AccuracyResult", "AccuracyResults", "BaseCompareFunc", "BasePostprocessFunc",
                   "Comparator", "CompareFunc", "CompareResult", "CosineSimilarityCompareFunc",
                   "CosineSimilarityResult", "CosineSimilarityThreshold", "DataLoader",
                   "DistanceMetricsResult", "IndicesCompareFunc", "IterationResult",
                   "L2CompareFunc", "L2Result", "L2Threshold", "LpipsThreshold",
                   "OutputCompareResult", "PerceptualMetricsCompareFunc",
                   "PerceptualMetricsResult", "PostprocessFunc", "PsnrCompareFunc", "PsnrResult",
                   "PsnrThreshold", "QualityMetricsResult", "RunResults", "SimpleCompareFunc",
                   "SimpleThreshold", "SnrCompareFunc", "SnrResult", "SnrThreshold",
                   "StreamingDataLoader", "Threshold", "TopKPostprocessFunc"),
    "constants": ("DEFAULT_SEED", "DEFAULT_SHAPE_VALUE", "MARK_ALL", "TAB"),
    "datatype": ("DataType",),
    "exception": ("DataTypeConversionException", "PolygraphyException",
                  "PolygraphyInternalException"),
    "func": ("constantmethod", "extend"),
    "json": ("from_json", "load_json", "save_json", "to_json"),
    "logger": ("G_LOGGER", "LogMode"),
    "mod": ("export", "has_mod", "import_from_script", "lazy_import"),
}
__all__ = sorted(name for names in _PLACES.values() for name in names)
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


# Modules that are those of the shared package (libexec/vernier/shim/polygraphy) as they are.
for _name in ("common", "constants", "datatype", "exception", "func", "json", "logger", "mod",
              "util"):
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = importlib.import_module(
        f"vernier._polygraphy.{_name}")


submodules.register(__name__, __path__[0])


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"vernier.polygraphy_compat has no '{name}': polygraphy itself, or "
                             "vernier's own functions, may have it")
    value = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
