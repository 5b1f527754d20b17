"""Values with a meaning."""

from polygraphy import exception

MARK_ALL = "mark-all"

__getattr__ = exception.missing("constants")
