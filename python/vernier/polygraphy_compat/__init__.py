"""Polygraphy's Python names over vernier: scripts run with changed imports alone.

    from vernier.polygraphy_compat.comparator import Comparator, DataLoader
    from vernier.polygraphy_compat.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

Modules have Polygraphy's places below this one; all names are here, too. What is not there says so.
Frameworks run in processes of their own, and files are those of vernier and Polygraphy alike.
"""

import importlib

from .logger import G_LOGGER  # sets the log up as Polygraphy does

_PLACES = {
    "backend.base": ("BaseRunner",),
    "backend.common": ("BytesFromPath", "SaveBytes", "bytes_from_path", "save_bytes"),
    "backend.onnx": ("BytesFromOnnx", "ModifyOutputs", "OnnxFromPath", "SaveOnnx",
                     "bytes_from_onnx", "modify_outputs", "onnx_from_path", "save_onnx"),
    "backend.onnxrt": ("OnnxrtRunner", "SessionFromOnnx", "session_from_onnx"),
    "backend.trt": ("CreateConfig", "EngineBytesFromNetwork", "EngineFromBytes",
                    "EngineFromNetwork", "EngineFromPath", "NetworkFromOnnxPath", "Profile",
                    "SaveEngine", "TrtRunner", "create_config", "engine_from_bytes",
                    "engine_from_network", "engine_from_path", "network_from_onnx_path",
                    "save_engine"),
    "common": ("TensorMetadata",),
    "comparator": ("AccuracyResult", "AccuracyResults", "Comparator", "CompareFunc",
                   "CosineSimilarityCompareFunc", "DataLoader", "IndicesCompareFunc",
                   "IterationResult", "L2CompareFunc", "OutputCompareResult",
                   "PerceptualMetricsCompareFunc", "PostprocessFunc", "PsnrCompareFunc",
                   "RunResults", "SimpleCompareFunc", "SnrCompareFunc", "TopKPostprocessFunc"),
    "constants": ("MARK_ALL",),
    "exception": ("PolygraphyException",),
    "json": ("from_json", "load_json", "save_json", "to_json"),
    "logger": ("G_LOGGER",),
}
__all__ = sorted(name for names in _PLACES.values() for name in names)
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"vernier.polygraphy_compat has no '{name}': polygraphy itself, or "
                             "vernier's own functions, may have it")
    value = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
