"""Polygraphy's errors, and names that are not here."""

import importlib


class PolygraphyException(Exception):
    """What G_LOGGER.critical() raises."""


class PolygraphyInternalException(Exception):
    """What G_LOGGER.internal_error() raises."""


class DataTypeConversionException(PolygraphyException):
    """A type that another library lacks."""


def invalid(text):
    """What is raised of an argument that makes no sense."""
    return PolygraphyException(text)


def _of_package(module, name):
    """What vernier's Python package calls so, where the interpreter has it."""
    for place in (module, module.rpartition(".")[0]):
        try:
            return getattr(importlib.import_module(f"vernier.polygraphy_compat.{place}"), name)
        except (ImportError, AttributeError):
            continue
    return None


def missing(module):
    """A module's __getattr__: names that the stand-in does not have."""
    def getattribute(name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = _of_package(module, name)
        if found is not None:
            return found
        raise ImportError(f"vernier's stand-in for Polygraphy has no {module}.{name}: "
                          "vernier's Python package may have it, 'pip install polygraphy' brings "
                          "the real one")
    return getattribute
