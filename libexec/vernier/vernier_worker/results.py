"""What post-processing and comparison scripts are given: one iteration of one runner."""

import sys
from collections import namedtuple

Input = namedtuple("Input", ("dtype", "shape"))


class Iteration(dict):
    """Output names to arrays, with the name of their runner and the time in seconds.

    A script that has imported Polygraphy's own types is given those instead.
    """

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        super().__init__(outputs or {})
        self.runtime = runtime
        self.runner_name = runner_name if runner_name is not None else "custom_runner"


def iteration_type():
    """The class that scripts expect."""
    comparator = sys.modules.get("polygraphy.comparator")
    return getattr(comparator, "IterationResult", None) or Iteration


def make(outputs, runtime, runner_name):
    return iteration_type()(outputs=dict(outputs), runtime=runtime, runner_name=runner_name)


def input_metadata(infos):
    """The model's inputs as a loader's `input_metadata`: name to (dtype, shape), of Polygraphy's
    class where the script has imported it."""
    metadata_type = None
    for package in ("polygraphy", "vernier.polygraphy_compat"):
        common = sys.modules.get(f"{package}.common")
        metadata_type = metadata_type or getattr(common, "TensorMetadata", None)
    if metadata_type is None:
        return dict((name, Input(dtype, shape)) for name, dtype, shape in infos)
    metadata = metadata_type()
    for name, dtype, shape in infos:
        metadata.add(name, dtype=dtype, shape=shape)
    return metadata
