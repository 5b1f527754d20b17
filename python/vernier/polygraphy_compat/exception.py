"""Polygraphy's errors are vernier's."""

from vernier import Error as PolygraphyException
from vernier import InternalError as PolygraphyInternalException
from vernier import InvalidArgument as invalid  # noqa: F401, what verdicts.py raises
from vernier import Malformed as DataTypeConversionException

__all__ = ["DataTypeConversionException", "PolygraphyException", "PolygraphyInternalException"]
