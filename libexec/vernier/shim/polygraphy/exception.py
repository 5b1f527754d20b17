"""Polygraphy's exceptions, and names that are not here."""

import importlib

from . import errors

PolygraphyException, PolygraphyInternalException = errors.Error, errors.InternalError


class DataTypeConversionException(errors.Malformed):
    """A type that another library lacks."""


STAND_IN = "polygraphy"  # the name of this package in workers


def _of_package(module, name):
    """What vernier's Python package calls so, where the interpreter has it."""
    for place in (module, module.rpartition(".")[0]):
        try:
            return getattr(importlib.import_module(f"vernier.polygraphy_compat.{place}"), name)
        except (ImportError, AttributeError):
            continue
    return None


def missing(module):
    """The __getattr__ of a module by its whole name: names that are not here."""
    package, _, place = module.partition(".")

    def getattribute(name):
        if name.startswith("__") or package != STAND_IN:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        found = _of_package(place, name)
        if found is not None:
            return found
        raise ImportError(f"vernier's stand-in for Polygraphy has no {place}.{name}: "
                          "vernier's Python package may have it, 'pip install polygraphy' brings "
                          "the real one")
    return getattribute


__all__ = ["DataTypeConversionException", "PolygraphyException", "PolygraphyInternalException"]
__getattr__ = missing(__name__)
