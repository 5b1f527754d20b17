"""Polygraphy's Python names over vernier: scripts run with changed imports alone.

    from vernier.polygraphy_compat.comparator import Comparator, DataLoader
    from vernier.polygraphy_compat.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

Modules have Polygraphy's places below this one; all names are here, too. What is not there says so.
Frameworks run in processes of their own, and files are those of vernier and Polygraphy alike.
"""

import importlib
import sys

from vernier._polygraphy import submodules

# Modules that are those of the shared package (libexec/vernier/shim/polygraphy) as they are, and
# modules here that add what runs a framework.
_SHARED = ("common", "constants", "datatype", "exception", "func", "json", "logger", "mod", "util")
_OWN = ("backend.base", "backend.common", "backend.onnx", "backend.onnxrt", "backend.pluginref",
        "backend.trt", "comparator")

for _name in _SHARED:  # the logger sets the log up as Polygraphy does
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = importlib.import_module(
        f"vernier._polygraphy.{_name}")
submodules.register(__name__, __path__[0])

__all__ = []
for _name in (*_SHARED, *_OWN):
    _module = importlib.import_module(f"{__name__}.{_name}")
    for _one in getattr(_module, "__all__", ()):
        globals()[_one] = getattr(_module, _one)
        __all__.append(_one)
__all__.sort()


def __getattr__(name):
    raise AttributeError(f"vernier.polygraphy_compat has no '{name}': polygraphy itself, or "
                         "vernier's own functions, may have it")
