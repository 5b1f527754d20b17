"""Loaders of ONNX models: those of vernier's Python package, where there is one."""

from polygraphy import exception

__getattr__ = exception.missing("backend.onnx")
