"""Comparison functions: the program's, called with two IterationResults."""

import json
import os
import tempfile

import vernier
from vernier import InvalidArgument
from vernier._logging import without
from vernier._results import IterationResult

from . import thresholds, verdicts  # of libexec/vernier/shim/polygraphy/comparator, installed here


# A file of a moment: on a disk the time to make it safe would be the most of a call.
SHARED_MEMORY = "/dev/shm"


# Lines that are not about one iteration: Comparator.compare_accuracy tells them.
OF_ALL_ITERATIONS = ("Accuracy Comparison |", "Iteration: ", "Accuracy Summary |",
                     "Saving accuracy results to")


def _folder():
    there = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
    return tempfile.TemporaryDirectory(prefix="vernier-", dir=SHARED_MEMORY if there else None)


class _Judged(verdicts.Function):
    def __call__(self, iter_result0, iter_result1):
        if not len(iter_result0) and not len(iter_result1):
            self.refuse("neither side has an output to compare")
        return super().__call__(iter_result0, iter_result1)

    def judge(self, a, b):
        names = (a.runner_name, b.runner_name)
        if names[0] == names[1]:
            names = tuple(f"{name}-{index}" for index, name in enumerate(names))
        with without(*OF_ALL_ITERATIONS), _folder() as folder:
            path = os.path.join(folder, "accuracy.json")
            record = vernier.compare([a], [b], names=names, lenient=True,
                                     compare=list(self.functions), save_accuracy_results=path,
                                     **self.options)
            measures = _measures(path)
        return [(output, measures.get(output["name"], {})) for _, _, output in record.outputs()]

    def one(self, result, name, new_name):
        return IterationResult({new_name: result[name]}, result.runtime, result.runner_name)

    def warn(self, text):
        from .logger import G_LOGGER
        G_LOGGER.warning(text)

    def refuse(self, text):
        raise InvalidArgument(text)

    def lack(self, text):
        raise vernier.Unimplemented(text)


def _measures(path):
    if not os.path.exists(path):  # nothing was compared
        return {}
    with open(path, encoding="utf-8") as file:
        return verdicts.measures_of(json.load(file))


Threshold, SimpleThreshold = thresholds.Threshold, thresholds.SimpleThreshold
L2Threshold, LpipsThreshold = thresholds.L2Threshold, thresholds.LpipsThreshold
CosineSimilarityThreshold = thresholds.CosineSimilarityThreshold
PsnrThreshold, SnrThreshold = thresholds.PsnrThreshold, thresholds.SnrThreshold
BaseCompareFunc, CompareResult = verdicts.BaseCompareFunc, verdicts.CompareResult
OutputCompareResult, L2Result = verdicts.OutputCompareResult, verdicts.L2Result
CosineSimilarityResult = verdicts.CosineSimilarityResult
PsnrResult, SnrResult = verdicts.PsnrResult, verdicts.SnrResult
PerceptualMetricsResult = verdicts.PerceptualMetricsResult
DistanceMetricsResult = verdicts.DistanceMetricsResult
QualityMetricsResult = verdicts.QualityMetricsResult

_functions = verdicts.functions_of(_Judged)
SimpleCompareFunc, IndicesCompareFunc = _functions.simple, _functions.indices
L2CompareFunc, CosineSimilarityCompareFunc = _functions.l2, _functions.cosine_similarity
PsnrCompareFunc, SnrCompareFunc = _functions.psnr, _functions.snr
PerceptualMetricsCompareFunc = _functions.perceptual_metrics
DistanceMetricsCompareFunc = _functions.distance_metrics
QualityMetricsCompareFunc = _functions.quality_metrics


class CompareFunc:
    """The older names."""

    simple = SimpleCompareFunc
    indices = IndicesCompareFunc
    perceptual_metrics = PerceptualMetricsCompareFunc
    distance_metrics = DistanceMetricsCompareFunc
    quality_metrics = QualityMetricsCompareFunc
