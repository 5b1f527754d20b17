"""Polygraphy's Python API without what runs a framework: our one implementation of it.

Scripts in workers import it as `polygraphy` where Polygraphy is not installed. Names that it lacks
are then those of vernier's Python package, where the interpreter has that. The package itself loads
these files as vernier._polygraphy, with its own `host` and `errors` (docs/architecture.md), for
which reason imports within are relative.
"""

from . import exception, mod, submodules  # noqa: F401

__version__ = "0.53.6"
IS_VERNIER_STAND_IN = True
submodules.register(__name__, __path__[0])
