"""Values with a meaning."""

from . import exception

MARK_ALL = "mark-all"
DEFAULT_SEED = 1
DEFAULT_SHAPE_VALUE = 1
TAB = " " * 4

__all__ = ["DEFAULT_SEED", "DEFAULT_SHAPE_VALUE", "MARK_ALL", "TAB"]
__getattr__ = exception.missing(__name__)
