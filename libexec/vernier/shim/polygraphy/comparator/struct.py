"""What runners produced, and what comparing it found."""

from .. import exception
from ..results import IterationResult, RunResults
from .accuracy import AccuracyResult, AccuracyResults

__all__ = ["AccuracyResult", "AccuracyResults", "IterationResult", "RunResults"]
__getattr__ = exception.missing(__name__)
