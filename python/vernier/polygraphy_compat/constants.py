"""Words of Polygraphy's API."""

MARK_ALL = "mark-all"
