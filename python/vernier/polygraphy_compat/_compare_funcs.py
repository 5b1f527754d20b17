"""Comparison functions: the program's, called with two IterationResults."""

import json
import os
import tempfile
from collections import OrderedDict

import vernier
from vernier import InvalidArgument
from vernier._results import IterationResult


class CompareResult:
    """The verdict on one output of one iteration, and what was measured; true where it matched.

    Measures have Polygraphy's names, and are None where they could not be taken.
    """

    MEASURES = ()

    def __init__(self, output, measures):
        self.passed = output["passed"]
        self.data = output
        for name in self.MEASURES:
            setattr(self, name, measures.get(name))
        self.output0_name, self.output1_name = output["name"], output["other_name"]

    def __bool__(self):
        return self.passed

    def metric_values(self):
        return {name: getattr(self, name) for name in self.MEASURES}

    def __repr__(self):
        words = ", ".join(f"{name}={value}" for name, value in self.metric_values().items())
        return f"{type(self).__name__}(passed={self.passed}, {words})"


class OutputCompareResult(CompareResult):
    MEASURES = ("max_absdiff", "max_reldiff", "mean_absdiff", "mean_reldiff", "median_absdiff",
                "median_reldiff", "quantile_absdiff", "quantile_reldiff")

    def __str__(self):
        return f"(atol={self.max_absdiff}, rtol={self.max_reldiff})"


def _result(name, *measures):
    return type(name, (CompareResult,), {"MEASURES": measures, "__doc__": CompareResult.__doc__,
                                         "__module__": __name__})


L2Result = _result("L2Result", "l2_norm")
CosineSimilarityResult = _result("CosineSimilarityResult", "cosine_similarity")
PsnrResult = _result("PsnrResult", "psnr")
SnrResult = _result("SnrResult", "snr")
PerceptualMetricsResult = _result("PerceptualMetricsResult", "lpips")
# Of releases before 0.50.
DistanceMetricsResult = _result("DistanceMetricsResult", "l2_norm", "cosine_similarity")
QualityMetricsResult = _result("QualityMetricsResult", "psnr", "snr")


class BaseCompareFunc:
    """A base for functions of one's own."""

    def __call__(self, iter_result0, iter_result1):
        raise NotImplementedError


class _Function(BaseCompareFunc):
    """Functions of the program; `functions` are their names, `result` is the class of a verdict."""

    functions = ("simple",)
    result = OutputCompareResult

    def __init__(self, find_output_func=None, check_shapes=None, **options):
        self.options = {key: value for key, value in options.items() if value is not None}
        if check_shapes is False:
            self.options["no_shape_check"] = True
        self.find_output_func = find_output_func
        self.fail_fast = bool(self.options.get("fail_fast"))

    def __call__(self, iter_result0, iter_result1):
        if self.find_output_func is None:
            return self._compared(iter_result0, iter_result1)
        verdicts = OrderedDict()
        for first, second in self._pairs(iter_result0, iter_result1):
            found = self._compared(_one(iter_result0, first), _one(iter_result1, second, first))
            # Of several partners a later match does not undo a mismatch.
            if verdicts.get(first, True):
                verdicts[first] = found[first]
            if self.fail_fast and not verdicts[first]:
                break
        return verdicts

    def _pairs(self, a, b):
        """What find_output_func pairs; outputs that are not there are skipped with a word."""
        for index, first in enumerate(a):
            for second in self.find_output_func(first, index, b) or ():
                if second is None or second not in b:
                    from .logger import G_LOGGER
                    G_LOGGER.warning(
                        f"For output: '{first}' [{a.runner_name}], skipping corresponding output: "
                        f"'{second}' [{b.runner_name}], since the output was not found")
                    continue
                yield first, second

    def _compared(self, a, b):
        names = (a.runner_name, b.runner_name)
        if names[0] == names[1]:
            names = tuple(f"{name}-{index}" for index, name in enumerate(names))
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            path = os.path.join(folder, "accuracy.json")
            record = vernier.compare([a], [b], names=names, lenient=True,
                                     compare=list(self.functions), save_accuracy_results=path,
                                     **self.options)
            measures = _measures(path)
        return OrderedDict(
            (output["name"], self.result(output, measures.get(output["name"], {})))
            for _, _, output in record.outputs())


def _one(result, name, new_name=None):
    return IterationResult({new_name or name: result[name]}, result.runtime, result.runner_name)


def _measures(path):
    """Output to what was measured, of Polygraphy's file of measures: all functions together."""
    if not os.path.exists(path):  # nothing was compared
        return {}
    with open(path, encoding="utf-8") as file:
        saved = json.load(file)
    found = {}
    for function in saved["lst"]:
        for _, iterations in function["lst"]:
            for name, measures in iterations[0].items() if iterations else ():
                found.setdefault(name, {}).update(measures if isinstance(measures, dict) else {})
    return found


class SimpleCompareFunc(_Function):
    def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None,
                 find_output_func=None, check_error_stat=None, infinities_compare_equal=None,
                 save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
                 show_error_metrics_plot=None, error_quantile=None):
        super().__init__(find_output_func, check_shapes, rtol=rtol, atol=atol, fail_fast=fail_fast,
                         check_error_stat=check_error_stat, error_quantile=error_quantile,
                         infinities_compare_equal=infinities_compare_equal)
        if any((save_heatmaps, show_heatmaps, save_error_metrics_plot, show_error_metrics_plot)):
            raise vernier.Unimplemented("CompareFunc.simple: pictures are drawn by vernier.run "
                                        "(save_heatmaps=...) and the program")


class IndicesCompareFunc(_Function):
    functions = ("indices",)
    result = CompareResult

    def __init__(self, index_tolerance=None, fail_fast=None):
        super().__init__(index_tolerance=index_tolerance, fail_fast=fail_fast)


def _of_thresholds(name, functions, result, **thresholds):
    """A class of functions with a threshold each: Polygraphy's keywords and the program's."""
    class Function(_Function):
        def __init__(self, *values, check_shapes=None, fail_fast=None, find_output_func=None,
                     **named):
            named = {**dict(zip(thresholds, values)), **named}
            for keyword in named:
                if keyword not in thresholds:
                    raise InvalidArgument(f"{name}: there is no '{keyword}'")
            super().__init__(find_output_func, check_shapes, fail_fast=fail_fast,
                             **{thresholds[keyword]: value for keyword, value in named.items()})
    Function.functions, Function.result = functions, result
    Function.__name__ = Function.__qualname__ = name
    return Function


L2CompareFunc = _of_thresholds("L2CompareFunc", ("l2",), L2Result, l2_threshold="l2_threshold")
CosineSimilarityCompareFunc = _of_thresholds(
    "CosineSimilarityCompareFunc", ("cosine_similarity",), CosineSimilarityResult,
    cosine_similarity_threshold="cosine_similarity_threshold")
PsnrCompareFunc = _of_thresholds("PsnrCompareFunc", ("psnr",), PsnrResult,
                                 psnr_threshold="psnr_threshold")
SnrCompareFunc = _of_thresholds("SnrCompareFunc", ("snr",), SnrResult,
                                snr_threshold="snr_threshold")
PerceptualMetricsCompareFunc = _of_thresholds(
    "PerceptualMetricsCompareFunc", ("perceptual_metrics",), PerceptualMetricsResult,
    lpips_threshold="lpips_threshold")
DistanceMetricsCompareFunc = _of_thresholds(
    "CompareFunc.distance_metrics", ("l2", "cosine_similarity"), DistanceMetricsResult,
    l2_tolerance="l2_threshold", cosine_similarity_threshold="cosine_similarity_threshold")
QualityMetricsCompareFunc = _of_thresholds(
    "CompareFunc.quality_metrics", ("psnr", "snr"), QualityMetricsResult,
    psnr_tolerance="psnr_threshold", snr_tolerance="snr_threshold")


class CompareFunc:
    """The older names."""

    simple = SimpleCompareFunc
    indices = IndicesCompareFunc
    perceptual_metrics = PerceptualMetricsCompareFunc
    distance_metrics = DistanceMetricsCompareFunc
    quality_metrics = QualityMetricsCompareFunc
