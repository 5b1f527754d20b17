"""Polygraphy's comparison functions and what they return, over whoever compares.

The wheel installs this file with vernier.polygraphy_compat, too.
"""

from collections import OrderedDict
from types import SimpleNamespace


class CompareResult:
    """The verdict on one output of one iteration, and what was measured; true where it matched.

    Measures have Polygraphy's names, and are None where they could not be taken. `data` is the
    program's record of the output, `saved` what --save-accuracy-results has of it.
    """

    MEASURES = ()

    def __init__(self, output, measures):
        self.passed = output["passed"]
        self.data, self.saved = output, measures
        for name in self.MEASURES:
            setattr(self, name, measures.get(name))
        self.output0_name, self.output1_name = output["name"], output["other_name"]

    def __bool__(self):
        return self.passed

    def metric_values(self):
        return {name: getattr(self, name) for name in self.MEASURES}

    def _encode(self):
        """For the stand-in's JSON."""
        return self.saved or self.passed

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


class Function(BaseCompareFunc):
    """A function of the program; `functions` are its names there, `result` a verdict's class.

    Who compares is a subclass: judge(a, b) gives pairs of an output's record and its measures;
    one(result, name, new_name) a result of one output; warn(text) tells, refuse(text)
    and lack(text) end with what cannot be and what is not there.
    """

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
        if self.find_output_func is None:
            return self._compared(iter_result0, iter_result1)
        verdicts = OrderedDict()
        for first, second in self._pairs(iter_result0, iter_result1):
            found = self._compared(self.one(iter_result0, first, first),
                                   self.one(iter_result1, second, first))
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
                    self.warn(f"For output: '{first}' [{a.runner_name}], skipping corresponding "
                              f"output: '{second}' [{b.runner_name}], since the output was not "
                              "found")
                    continue
                yield first, second

    def _compared(self, a, b):
        verdicts = OrderedDict()
        for output, measures in self.judge(a, b):
            if output.get("not_verified_iterations"):
                self.lack(f"output '{output['name']}' was not verified: {_reason(output)}")
            verdicts[output["name"]] = self.result(output, measures)
        return verdicts


def _reason(output):
    """Why an output has no verdict."""
    gates = (output.get("worst_iteration") or {}).get("gates", ())
    return next((gate["why"] for gate in gates if gate.get("why")), "nothing was measured")


def measures_of(saved):
    """Output to what was measured, of Polygraphy's file of measures: all functions together."""
    found = {}
    for function in saved["lst"]:
        for _, iterations in function["lst"]:
            for name, measures in iterations[0].items() if iterations else ():
                found.setdefault(name, {}).update(measures if isinstance(measures, dict) else {})
    return found


def _of_thresholds(base, name, functions, result, **thresholds):
    """A class of functions with a threshold each: Polygraphy's keywords and the program's."""
    class OfThresholds(base):
        def __init__(self, *values, check_shapes=None, fail_fast=None, find_output_func=None,
                     **named):
            named = {**dict(zip(thresholds, values)), **named}
            for keyword in named:
                if keyword not in thresholds:
                    self.refuse(f"{name}: there is no '{keyword}'")
            super().__init__(find_output_func, check_shapes, fail_fast=fail_fast,
                             **{thresholds[keyword]: value for keyword, value in named.items()})
    OfThresholds.functions, OfThresholds.result = functions, result
    OfThresholds.__name__ = OfThresholds.__qualname__ = name
    return OfThresholds


def _of_one_threshold(base, name, function, result):
    keyword = ("lpips" if function == "perceptual_metrics" else function) + "_threshold"
    return _of_thresholds(base, name, (function,), result, **{keyword: keyword})


def functions_of(base):
    """The classes of comparison functions over `base`, a subclass of Function."""

    class SimpleCompareFunc(base):
        def __init__(self, check_shapes=None, rtol=None, atol=None, fail_fast=None,
                     find_output_func=None, check_error_stat=None, infinities_compare_equal=None,
                     save_heatmaps=None, show_heatmaps=None, save_error_metrics_plot=None,
                     show_error_metrics_plot=None, error_quantile=None):
            super().__init__(find_output_func, check_shapes, rtol=rtol, atol=atol,
                             fail_fast=fail_fast, check_error_stat=check_error_stat,
                             error_quantile=error_quantile,
                             infinities_compare_equal=infinities_compare_equal)
            if any((save_heatmaps, show_heatmaps, save_error_metrics_plot,
                    show_error_metrics_plot)):
                self.lack("CompareFunc.simple: pictures are drawn by vernier.run "
                          "(save_heatmaps=...) and the program")

    class IndicesCompareFunc(base):
        functions = ("indices",)
        result = CompareResult

        def __init__(self, index_tolerance=None, fail_fast=None):
            super().__init__(index_tolerance=index_tolerance, fail_fast=fail_fast)

    return SimpleNamespace(
        simple=SimpleCompareFunc, indices=IndicesCompareFunc,
        l2=_of_one_threshold(base, "L2CompareFunc", "l2", L2Result),
        cosine_similarity=_of_one_threshold(base, "CosineSimilarityCompareFunc",
                                            "cosine_similarity", CosineSimilarityResult),
        psnr=_of_one_threshold(base, "PsnrCompareFunc", "psnr", PsnrResult),
        snr=_of_one_threshold(base, "SnrCompareFunc", "snr", SnrResult),
        perceptual_metrics=_of_one_threshold(base, "PerceptualMetricsCompareFunc",
                                             "perceptual_metrics", PerceptualMetricsResult),
        distance_metrics=_of_thresholds(
            base, "CompareFunc.distance_metrics", ("l2", "cosine_similarity"),
            DistanceMetricsResult, l2_tolerance="l2_threshold",
            cosine_similarity_threshold="cosine_similarity_threshold"),
        quality_metrics=_of_thresholds(
            base, "CompareFunc.quality_metrics", ("psnr", "snr"), QualityMetricsResult,
            psnr_tolerance="psnr_threshold", snr_tolerance="snr_threshold"))
