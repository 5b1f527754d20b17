"""What runners produced, functions that compare it, random inputs."""

from polygraphy import exception
from polygraphy.comparator.compare import *  # noqa: F401,F403
from polygraphy.comparator.data_loader import *  # noqa: F401,F403
from polygraphy.comparator.postprocess import *  # noqa: F401,F403
from polygraphy.comparator.struct import IterationResult, RunResults  # noqa: F401

__getattr__ = exception.missing("comparator")
