"""The reference runner: that of vernier's Python package, where there is one."""

from polygraphy import exception

__getattr__ = exception.missing("backend.pluginref")
