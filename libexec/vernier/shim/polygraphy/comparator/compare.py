"""Comparison functions: what the program says of two iterations."""

from collections import OrderedDict

from .. import errors, exception, host
from ..iterations import IterationResult
from ..logger import G_LOGGER, SEVERITIES
from .thresholds import (CosineSimilarityThreshold, L2Threshold, LpipsThreshold, PsnrThreshold,
                         SimpleThreshold, SnrThreshold, Threshold)
from .verdicts import (CompareResult, CosineSimilarityResult, DistanceMetricsResult, L2Result,
                       OutputCompareResult, PerceptualMetricsResult, PsnrResult,
                       QualityMetricsResult, SnrResult)


class BaseCompareFunc:
    """A base for functions of one's own.

    thresholds_for(output_name) gives the thresholds of the results, where the averages of their
    metrics can be compared with them.
    """

    def __call__(self, iter_result0, iter_result1):
        raise NotImplementedError

    def thresholds_for(self, output_name):
        raise NotImplementedError


class Function(BaseCompareFunc):
    """A function of the program; `functions` are its names there, `result` a verdict's class."""

    functions = ("simple",)
    result = OutputCompareResult

    def __init__(self, find_output_func=None, check_shapes=None, **options):
        self.options = {key: value for key, value in options.items()
                        if value is not None and value is not False}
        if check_shapes is False:
            self.options["no_shape_check"] = True
        self.find_output_func = find_output_func
        self.fail_fast = bool(self.options.get("fail_fast"))

    def __call__(self, iter_result0, iter_result1):
        if not len(iter_result0) and not len(iter_result1):
            raise errors.InvalidArgument("neither side has an output to compare")
        if self.find_output_func is None:
            verdicts = self._compared(iter_result0, iter_result1)
        else:
            verdicts = self._compared_as_paired(iter_result0, iter_result1)
        if not verdicts:  # all() of nothing is true
            raise errors.InvalidArgument(
                "All outputs were skipped, no common outputs found: "
                + " and ".join(f"'{result.runner_name}' has {', '.join(result) or 'none'}"
                               for result in (iter_result0, iter_result1)))
        return verdicts

    def _compared_as_paired(self, iter_result0, iter_result1):
        verdicts = OrderedDict()
        for first, second in self._pairs(iter_result0, iter_result1):
            found = self._compared(_one(iter_result0, first, first),
                                   _one(iter_result1, second, first))
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
                    G_LOGGER.warning(
                        f"For output: '{first}' [{a.runner_name}], skipping corresponding output: "
                        f"'{second}' [{b.runner_name}], since the output was not found")
                    continue
                yield first, second

    def _compared(self, a, b):
        verdicts = OrderedDict()
        outputs, saved, log = host.compare(a, b, self.functions, self.options)
        for letter, text in log:
            G_LOGGER.log(text, SEVERITIES[letter])
        metrics = _metrics_of(saved)
        for output in outputs:
            name = output["name"]
            if output.get("not_verified_iterations"):
                raise errors.Unimplemented(f"output '{name}' was not verified: {_reason(output)}")
            verdicts[name] = self.result._of(output, metrics.get(name, {}))
        return verdicts


def _one(result, name, new_name):
    """One output of a result, under another name."""
    return IterationResult({new_name: result[name]}, result.runtime, result.runner_name)


def _reason(output):
    """Why an output has no verdict."""
    gates = (output.get("worst_iteration") or {}).get("gates", ())
    return next((gate["why"] for gate in gates if gate.get("why")), "nothing was measured")


def _metrics_of(saved):
    """Output to what was measured, of Polygraphy's file of metrics: all functions together."""
    found = {}
    for function in saved.get("lst", ()):
        for _, iterations in function["lst"]:
            for name, metrics in iterations[0].items() if iterations else ():
                found.setdefault(name, {}).update(metrics if isinstance(metrics, dict) else {})
    return found


def _of_output(value, name, default):
    """An option's value for one output: one for all, or by name, where "" is for the others."""
    if hasattr(value, "get"):
        value = value.get(name, value.get("", None))
    return default if value is None else value


def _of_thresholds(name, functions, result, **thresholds):
    """A class of functions with a threshold each: Polygraphy's keywords and the program's."""
    places = (*thresholds, "check_shapes", "fail_fast", "find_output_func")

    class OfThresholds(Function):
        def __init__(self, *values, **named):
            if len(values) > len(places):
                raise errors.InvalidArgument(
                    f"{name}: takes at most {len(places)} values, got {len(values)}")
            named = {**dict(zip(places, values)), **named}
            for keyword in named:
                if keyword not in places:
                    raise errors.InvalidArgument(f"{name}: there is no '{keyword}'")
            super().__init__(named.pop("find_output_func", None), named.pop("check_shapes", None),
                             fail_fast=named.pop("fail_fast", None),
                             **{thresholds[keyword]: value for keyword, value in named.items()})
    OfThresholds.functions, OfThresholds.result = functions, result
    OfThresholds.__name__ = OfThresholds.__qualname__ = name
    return OfThresholds


def _of_one_threshold(name, function, result, default):
    keyword = ("lpips" if function == "perceptual_metrics" else function) + "_threshold"
    made = _of_thresholds(name, (function,), result, **{keyword: keyword})
    made.thresholds_for = lambda self, output_name: result._THRESHOLD_CLASS(
        _of_output(self.options.get(keyword), output_name, default))
    return made


class SimpleCompareFunc(Function):
    def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None,
                 find_output_func=None, check_error_stat=None, infinities_compare_equal=None,
                 save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
                 show_error_metrics_plot=None, error_quantile=None):
        super().__init__(find_output_func, check_shapes, rtol=rtol, atol=atol, fail_fast=fail_fast,
                         check_error_stat=check_error_stat, error_quantile=error_quantile,
                         infinities_compare_equal=infinities_compare_equal,
                         save_heatmaps=save_heatmaps, show_heatmaps=show_heatmaps,
                         save_error_metrics_plot=save_error_metrics_plot,
                         show_error_metrics_plot=show_error_metrics_plot)

    def thresholds_for(self, output_name):
        statistic, atol, rtol = (
            _of_output(self.options.get(option), output_name, default) for option, default in
            (("check_error_stat", "elemwise"), ("atol", 1e-5), ("rtol", 1e-5)))
        return SimpleThreshold(statistic, atol, rtol)


class IndicesCompareFunc(Function):
    functions = ("indices",)
    result = CompareResult

    def __init__(self, index_tolerance=None, fail_fast=None):
        super().__init__(index_tolerance=index_tolerance, fail_fast=fail_fast)


L2CompareFunc = _of_one_threshold("L2CompareFunc", "l2", L2Result, 1e-5)
CosineSimilarityCompareFunc = _of_one_threshold(
    "CosineSimilarityCompareFunc", "cosine_similarity", CosineSimilarityResult, 0.997)
PsnrCompareFunc = _of_one_threshold("PsnrCompareFunc", "psnr", PsnrResult, 30.0)
SnrCompareFunc = _of_one_threshold("SnrCompareFunc", "snr", SnrResult, 20.0)
PerceptualMetricsCompareFunc = _of_one_threshold(
    "PerceptualMetricsCompareFunc", "perceptual_metrics", PerceptualMetricsResult, 0.1)
DistanceMetricsCompareFunc = _of_thresholds(
    "CompareFunc.distance_metrics", ("l2", "cosine_similarity"), DistanceMetricsResult,
    l2_tolerance="l2_threshold", cosine_similarity_threshold="cosine_similarity_threshold")
QualityMetricsCompareFunc = _of_thresholds(
    "CompareFunc.quality_metrics", ("psnr", "snr"), QualityMetricsResult,
    psnr_tolerance="psnr_threshold", snr_tolerance="snr_threshold")


class CompareFunc:
    """The older names."""

    simple, indices = SimpleCompareFunc, IndicesCompareFunc
    perceptual_metrics = PerceptualMetricsCompareFunc
    distance_metrics, quality_metrics = DistanceMetricsCompareFunc, QualityMetricsCompareFunc


__all__ = ["BaseCompareFunc", "CompareFunc", "CompareResult", "CosineSimilarityCompareFunc",
           "CosineSimilarityResult", "CosineSimilarityThreshold", "DistanceMetricsCompareFunc",
           "DistanceMetricsResult", "IndicesCompareFunc", "L2CompareFunc", "L2Result",
           "L2Threshold", "LpipsThreshold", "OutputCompareResult", "PerceptualMetricsCompareFunc",
           "PerceptualMetricsResult", "PsnrCompareFunc", "PsnrResult", "PsnrThreshold",
           "QualityMetricsCompareFunc", "QualityMetricsResult", "SimpleCompareFunc",
           "SimpleThreshold", "SnrCompareFunc", "SnrResult", "SnrThreshold", "Threshold"]
__getattr__ = exception.missing(__name__)
