"""Polygraphy's error is vernier's."""

from vernier import Error as PolygraphyException

__all__ = ["PolygraphyException"]
