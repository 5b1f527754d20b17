"""Runners of ONNX Runtime: those of vernier's Python package, where there is one."""

from polygraphy import exception

__getattr__ = exception.missing("backend.onnxrt")
