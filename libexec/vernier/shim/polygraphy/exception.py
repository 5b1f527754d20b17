"""Polygraphy's error."""


class PolygraphyException(Exception):
    """What G_LOGGER.critical() raises."""


def missing(module):
    """A module's __getattr__: names that the stand-in does not have."""
    def getattribute(name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"vernier's stand-in for Polygraphy has no {module}.{name}: "
                          "'pip install polygraphy' brings the real one")
    return getattribute
