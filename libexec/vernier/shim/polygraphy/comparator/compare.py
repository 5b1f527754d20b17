"""Comparison functions: what the program says of two iterations."""

from polygraphy import exception
from polygraphy.comparator import program, thresholds, verdicts
from polygraphy.comparator.struct import IterationResult
from polygraphy.logger import G_LOGGER


class _Judged(verdicts.Function):
    """Asks the program, and logs what it says on the way."""

    def judge(self, a, b):
        return program.compare(a, b, self.functions, self.options)

    def one(self, result, name, new_name):
        return IterationResult({new_name: result[name]}, result.runtime, result.runner_name)

    def warn(self, text):
        G_LOGGER.warning(text)

    def refuse(self, text):
        raise exception.PolygraphyException(text)

    lack = refuse


Threshold, SimpleThreshold = thresholds.Threshold, thresholds.SimpleThreshold
L2Threshold, LpipsThreshold = thresholds.L2Threshold, thresholds.LpipsThreshold
CosineSimilarityThreshold = thresholds.CosineSimilarityThreshold
PsnrThreshold, SnrThreshold = thresholds.PsnrThreshold, thresholds.SnrThreshold
BaseCompareFunc, CompareResult = verdicts.BaseCompareFunc, verdicts.CompareResult
OutputCompareResult, L2Result = verdicts.OutputCompareResult, verdicts.L2Result
CosineSimilarityResult = verdicts.CosineSimilarityResult
PsnrResult, SnrResult = verdicts.PsnrResult, verdicts.SnrResult
PerceptualMetricsResult = verdicts.PerceptualMetricsResult

_functions = verdicts.functions_of(_Judged)
SimpleCompareFunc, IndicesCompareFunc = _functions.simple, _functions.indices
L2CompareFunc, CosineSimilarityCompareFunc = _functions.l2, _functions.cosine_similarity
PsnrCompareFunc, SnrCompareFunc = _functions.psnr, _functions.snr
PerceptualMetricsCompareFunc = _functions.perceptual_metrics


class CompareFunc:
    """The older names."""

    simple, indices = SimpleCompareFunc, IndicesCompareFunc
    perceptual_metrics = PerceptualMetricsCompareFunc
    distance_metrics = _functions.distance_metrics
    quality_metrics = _functions.quality_metrics


__all__ = ["BaseCompareFunc", "CompareFunc", "CompareResult", "CosineSimilarityCompareFunc",
           "CosineSimilarityResult", "CosineSimilarityThreshold", "IndicesCompareFunc",
           "L2CompareFunc", "L2Result", "L2Threshold", "LpipsThreshold", "OutputCompareResult",
           "PerceptualMetricsCompareFunc", "PerceptualMetricsResult", "PsnrCompareFunc",
           "PsnrResult", "PsnrThreshold", "SimpleCompareFunc", "SimpleThreshold",
           "SnrCompareFunc", "SnrResult", "SnrThreshold", "Threshold"]
__getattr__ = exception.missing("comparator.compare")
