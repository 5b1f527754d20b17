"""Polygraphy's comparison functions and what they return, over whoever compares.

The wheel installs this file with vernier.polygraphy_compat, too.
"""

from collections import OrderedDict
from types import SimpleNamespace

from . import exception
from . import thresholds as bars


class CompareResult:
    """The verdict on one output of one iteration, and what was measured; true where it matched.

    Measures have Polygraphy's names, and are None where they could not be taken. The verdict is
    that of `thresholds` on them, unless one was given. Of a result that the program made, `data` is
    its record of the output.
    """

    _THRESHOLD_CLASS = None  # of thresholds that look at these measures; Polygraphy's name
    FIELDS = ()  # of a class that no single threshold looks at

    def __init__(self, thresholds=None):
        self.thresholds = thresholds
        self.output0_name = self.output1_name = None
        self.data = None
        self._told = None  # the program's verdict
        self._unmeasured = False

    @classmethod
    def _of(cls, output, measures):
        """Of the program's record of an output and its measures, which may be none."""
        known = {name: measures.get(name) for name in cls.metric_fields()}
        if "passed" in measures:
            known["passed"] = measures["passed"]
        if cls._THRESHOLD_CLASS:
            known["thresholds"] = _threshold(measures.get("thresholds"))
        result = cls(**known)
        result.data, result._told = output, output["passed"]
        result._unmeasured = not measures
        result.output0_name, result.output1_name = output["name"], output["other_name"]
        return result

    def __bool__(self):
        if self._told is not None:
            return self._told
        if self.thresholds is None:
            raise exception.invalid(f"a {type(self).__name__} without thresholds is neither a match "
                                    "nor a mismatch")
        return self.thresholds.passed(self.metric_values())

    def set_thresholds(self, thresholds):
        """The verdict is theirs from now on."""
        self.thresholds, self._told = thresholds, None

    @classmethod
    def metric_fields(cls):
        known = cls._THRESHOLD_CLASS
        return known.metric_fields() if known else list(cls.FIELDS)

    def metric_values(self):
        return OrderedDict((name, getattr(self, name)) for name in self.metric_fields())

    def describe(self):
        """A line on the one measure, and whether it passed; None where there are several."""
        return self.thresholds.describe(self.metric_values()) if self.thresholds else None

    def _encode(self):
        """As Polygraphy's JSON has it: where nothing was measured, the verdict alone."""
        if self._unmeasured or self._THRESHOLD_CLASS is None:
            return bool(self)
        kind = type(self).__name__
        if CLASSES.get(kind) is not type(self):
            raise exception.invalid(f"a {kind} cannot be saved as JSON: nothing would read it")
        return {**self.metric_values(), "thresholds": self.thresholds, "polygraphy_class": kind}

    def __repr__(self):
        words = [f"passed={self._told}"] if self._told is not None else []
        words += [f"{name}={value}" for name, value in self.metric_values().items()]
        return f"{type(self).__name__}({', '.join(words)})"


def _threshold(found):
    """Of a JSON object that was read by others."""
    if not found:
        return None
    return DECODERS[found["polygraphy_class"]](
        {name: value for name, value in found.items() if name != "polygraphy_class"})


class OutputCompareResult(CompareResult):
    _THRESHOLD_CLASS = bars.SimpleThreshold

    def __init__(self, max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff,
                 median_reldiff, quantile_absdiff, quantile_reldiff, thresholds=None, passed=None):
        super().__init__(thresholds)
        self._passed = passed  # of the look at each element, which the measures do not tell
        given = (max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff,
                 median_reldiff, quantile_absdiff, quantile_reldiff)
        for name, value in zip(self.metric_fields(), given):
            setattr(self, name, None if value is None else float(value))

    def __str__(self):
        return f"(atol={self.max_absdiff}, rtol={self.max_reldiff})"

    def __bool__(self):
        if self._told is None and self._passed is not None:
            return self._passed
        return super().__bool__()

    def set_thresholds(self, thresholds):
        super().set_thresholds(thresholds)
        self._passed = None

    def _encode(self):
        encoded = super()._encode()
        if not isinstance(encoded, dict):
            return encoded
        kind = encoded.pop("polygraphy_class")
        return {**encoded, "passed": self._passed, "polygraphy_class": kind}  # in their order


class PerceptualMetricsResult(CompareResult):
    _THRESHOLD_CLASS = bars.LpipsThreshold

    def __init__(self, lpips=None, thresholds=None):
        super().__init__(thresholds)
        self.lpips = lpips


class L2Result(CompareResult):
    _THRESHOLD_CLASS = bars.L2Threshold

    def __init__(self, l2_norm, thresholds=None):
        super().__init__(thresholds)
        self.l2_norm = l2_norm


class CosineSimilarityResult(CompareResult):
    _THRESHOLD_CLASS = bars.CosineSimilarityThreshold

    def __init__(self, cosine_similarity, thresholds=None):
        super().__init__(thresholds)
        self.cosine_similarity = cosine_similarity


class PsnrResult(CompareResult):
    _THRESHOLD_CLASS = bars.PsnrThreshold

    def __init__(self, psnr, thresholds=None):
        super().__init__(thresholds)
        self.psnr = psnr


class SnrResult(CompareResult):
    _THRESHOLD_CLASS = bars.SnrThreshold

    def __init__(self, snr, thresholds=None):
        super().__init__(thresholds)
        self.snr = snr


class _OfTwoFunctions(CompareResult):
    """Of releases before 0.50: two measures with a threshold each."""

    def __init__(self, *values, passed=None, thresholds=None, **named):
        super().__init__(thresholds)
        self._told = passed
        given = {**dict(zip(self.FIELDS, values)), **named}
        for name in self.FIELDS:
            setattr(self, name, given.get(name))


class DistanceMetricsResult(_OfTwoFunctions):
    FIELDS = ("l2_norm", "cosine_similarity")


class QualityMetricsResult(_OfTwoFunctions):
    FIELDS = ("psnr", "snr")


CLASSES = {known.__name__: known for known in (
    OutputCompareResult, PerceptualMetricsResult, L2Result, CosineSimilarityResult, PsnrResult,
    SnrResult)}
DECODERS = {**bars.DECODERS,
            **{name: bars.decoder_of(known) for name, known in CLASSES.items()}}


class BaseCompareFunc:
    """A base for functions of one's own.

    thresholds_for(output_name) gives the thresholds of the results, where the averages of their
    measures can be held against them.
    """

    def __call__(self, iter_result0, iter_result1):
        raise NotImplementedError

    def thresholds_for(self, output_name):
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
            verdicts = self._compared(iter_result0, iter_result1)
        else:
            verdicts = self._compared_as_paired(iter_result0, iter_result1)
        if not verdicts and (len(iter_result0) or len(iter_result1)):  # all() of nothing is true
            self.refuse("All outputs were skipped, no common outputs found: "
                        + " and ".join(f"'{result.runner_name}' has {', '.join(result) or 'none'}"
                                       for result in (iter_result0, iter_result1)))
        return verdicts

    def _compared_as_paired(self, iter_result0, iter_result1):
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
            verdicts[output["name"]] = self.result._of(output, measures)
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


def _of_output(value, name, default):
    """An option's value for one output: one for all, or by name; the empty name is for the others."""
    if hasattr(value, "get"):
        value = value.get(name, value.get("", None))
    return default if value is None else value


def _of_thresholds(base, name, functions, result, **thresholds):
    """A class of functions with a threshold each: Polygraphy's keywords and the program's."""
    places = (*thresholds, "check_shapes", "fail_fast", "find_output_func")

    class OfThresholds(base):
        def __init__(self, *values, **named):
            if len(values) > len(places):
                self.refuse(f"{name}: takes at most {len(places)} values, got {len(values)}")
            named = {**dict(zip(places, values)), **named}
            for keyword in named:
                if keyword not in places:
                    self.refuse(f"{name}: there is no '{keyword}'")
            super().__init__(named.pop("find_output_func", None), named.pop("check_shapes", None),
                             fail_fast=named.pop("fail_fast", None),
                             **{thresholds[keyword]: value for keyword, value in named.items()})
    OfThresholds.functions, OfThresholds.result = functions, result
    OfThresholds.__name__ = OfThresholds.__qualname__ = name
    return OfThresholds


def _of_one_threshold(base, name, function, result, default):
    keyword = ("lpips" if function == "perceptual_metrics" else function) + "_threshold"
    made = _of_thresholds(base, name, (function,), result, **{keyword: keyword})
    made.thresholds_for = lambda self, output_name: result._THRESHOLD_CLASS(
        _of_output(self.options.get(keyword), output_name, default))
    return made


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
                             infinities_compare_equal=infinities_compare_equal,
                             save_heatmaps=save_heatmaps, show_heatmaps=show_heatmaps,
                             save_error_metrics_plot=save_error_metrics_plot,
                             show_error_metrics_plot=show_error_metrics_plot)

        def thresholds_for(self, output_name):
            statistic, atol, rtol = (
                _of_output(self.options.get(option), output_name, default) for option, default in
                (("check_error_stat", "elemwise"), ("atol", 1e-5), ("rtol", 1e-5)))
            return bars.SimpleThreshold(statistic, atol, rtol)

    class IndicesCompareFunc(base):
        functions = ("indices",)
        result = CompareResult

        def __init__(self, index_tolerance=None, fail_fast=None):
            super().__init__(index_tolerance=index_tolerance, fail_fast=fail_fast)

    return SimpleNamespace(
        simple=SimpleCompareFunc, indices=IndicesCompareFunc,
        l2=_of_one_threshold(base, "L2CompareFunc", "l2", L2Result, 1e-5),
        cosine_similarity=_of_one_threshold(base, "CosineSimilarityCompareFunc",
                                            "cosine_similarity", CosineSimilarityResult, 0.997),
        psnr=_of_one_threshold(base, "PsnrCompareFunc", "psnr", PsnrResult, 30.0),
        snr=_of_one_threshold(base, "SnrCompareFunc", "snr", SnrResult, 20.0),
        perceptual_metrics=_of_one_threshold(base, "PerceptualMetricsCompareFunc",
                                             "perceptual_metrics", PerceptualMetricsResult, 0.1),
        distance_metrics=_of_thresholds(
            base, "CompareFunc.distance_metrics", ("l2", "cosine_similarity"),
            DistanceMetricsResult, l2_tolerance="l2_threshold",
            cosine_similarity_threshold="cosine_similarity_threshold"),
        quality_metrics=_of_thresholds(
            base, "CompareFunc.quality_metrics", ("psnr", "snr"), QualityMetricsResult,
            psnr_tolerance="psnr_threshold", snr_tolerance="snr_threshold"))
