"""What post-processing and comparison scripts are given: one iteration of one runner."""

import sys


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
    """The model's inputs as a loader's `input_metadata`: name to (dtype, shape)."""
    common = sys.modules.get("polygraphy.common")
    metadata_type = getattr(common, "TensorMetadata", None)
    if metadata_type is None:
        return dict((name, (dtype, shape)) for name, dtype, shape in infos)
    metadata = metadata_type()
    for name, dtype, shape in infos:
        metadata.add(name, dtype=dtype, shape=shape)
    return metadata
