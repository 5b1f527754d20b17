"""A stand-in for Polygraphy, for scripts that import its types where it is not installed.

It has what data loaders, comparison and post-processing functions use: IterationResult, RunResults,
CompareFunc, DataLoader, TensorMetadata, save_json and load_json, G_LOGGER; and what scripts of
`vernier template` use of TensorRT. Other names are those of vernier's Python package, where the
interpreter has it. For more, install Polygraphy itself.
"""

from . import exception, mod, submodules  # noqa: F401

__version__ = "0.53.6"
IS_VERNIER_STAND_IN = True
submodules.register(__name__, __path__[0])
