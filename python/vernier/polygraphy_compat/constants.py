"""Words of Polygraphy's API."""

MARK_ALL = "mark-all"
DEFAULT_SEED = 1
DEFAULT_SHAPE_VALUE = 1
TAB = " " * 4
