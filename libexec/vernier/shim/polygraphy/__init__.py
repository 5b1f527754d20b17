"""A stand-in for Polygraphy, for scripts that import its types where it is not installed.

It has what data loaders, comparison and post-processing functions use: IterationResult, RunResults,
TensorMetadata, save_json and load_json, G_LOGGER; and what scripts of `vernier template` use of
TensorRT. For more, install Polygraphy itself.
"""

from polygraphy import exception, mod  # noqa: F401

__version__ = "0.53.6"
IS_VERNIER_STAND_IN = True
