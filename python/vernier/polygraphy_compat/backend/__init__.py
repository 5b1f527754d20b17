"""Frameworks."""

import importlib
import sys

# Those of the shared package (libexec/vernier/shim/polygraphy) as they are.
for _name in ("common", "onnx"):
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = importlib.import_module(
        f"vernier._polygraphy.backend.{_name}")
