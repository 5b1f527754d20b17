"""Outputs of runners: the classes of Polygraphy's API, over files of any size."""

from ._polygraphy.iterations import IterationResult, Iterations, fresh  # noqa: F401
from ._polygraphy.results import (RunResults, as_iteration, load_inputs,  # noqa: F401
                                  load_results, save_inputs)
