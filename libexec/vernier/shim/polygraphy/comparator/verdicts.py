"""What comparison functions return: Polygraphy's classes, and their JSON."""

from collections import OrderedDict

from .. import encoding, errors
from . import thresholds


class CompareResult:
    """The verdict on one output of one iteration, and what was measured; true where it matched.

    Metrics have Polygraphy's names, and are None where they could not be computed. The verdict is
    that of `thresholds` on them, unless one was given. Of a result that the program made, `data` is
    its record of the output.
    """

    _THRESHOLD_CLASS = None  # of thresholds that look at these metrics; Polygraphy's name
    FIELDS = ()  # of a class that no single threshold looks at

    def __init__(self, thresholds=None):
        self.thresholds = thresholds
        self.output0_name = self.output1_name = None
        self.data = None
        self._decided = None  # the program's verdict
        self._unmeasured = False

    @classmethod
    def _of(cls, output, metrics):
        """Of the program's record of an output and its metrics, which may be none."""
        known = {name: metrics.get(name) for name in cls.metric_fields()}
        if "passed" in metrics:
            known["passed"] = metrics["passed"]
        if cls._THRESHOLD_CLASS:
            known["thresholds"] = _threshold(metrics.get("thresholds"))
        result = cls(**known)
        result.data, result._decided = output, output["passed"]
        result._unmeasured = not metrics
        result.output0_name, result.output1_name = output["name"], output["other_name"]
        return result

    def __bool__(self):
        if self._decided is not None:
            return self._decided
        if self.thresholds is None:
            raise errors.InvalidArgument(
                f"a {type(self).__name__} without thresholds is neither a match "
                "nor a mismatch")
        return self.thresholds.passed(self.metric_values())

    def set_thresholds(self, thresholds):
        """The verdict is theirs from now on."""
        self.thresholds, self._decided = thresholds, None

    @classmethod
    def metric_fields(cls):
        known = cls._THRESHOLD_CLASS
        return known.metric_fields() if known else list(cls.FIELDS)

    def metric_values(self):
        return OrderedDict((name, getattr(self, name)) for name in self.metric_fields())

    def describe(self):
        """A line on the one metric, and whether it passed; None where there are several."""
        return self.thresholds.describe(self.metric_values()) if self.thresholds else None

    def _encode(self):
        """As Polygraphy's JSON has it: where nothing was measured, the verdict alone."""
        if self._unmeasured or self._THRESHOLD_CLASS is None:
            return bool(self)
        kind = type(self).__name__
        if CLASSES.get(kind) is not type(self):
            raise errors.InvalidArgument(f"a {kind} cannot be saved as JSON: nothing would read it")
        return {**self.metric_values(), "thresholds": self.thresholds, encoding.CLASS: kind}

    def __repr__(self):
        words = [f"passed={self._decided}"] if self._decided is not None else []
        words += [f"{name}={value}" for name, value in self.metric_values().items()]
        return f"{type(self).__name__}({', '.join(words)})"


def _threshold(found):
    """Of a JSON object that was read by others."""
    if not found:
        return None
    return DECODERS[found[encoding.CLASS]](
        {name: value for name, value in found.items() if name != encoding.CLASS})


class OutputCompareResult(CompareResult):
    _THRESHOLD_CLASS = thresholds.SimpleThreshold

    def __init__(self, max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff,
                 median_reldiff, quantile_absdiff, quantile_reldiff, thresholds=None, passed=None):
        super().__init__(thresholds)
        self._passed = passed  # the elementwise verdict, which does not follow from the metrics
        given = (max_absdiff, max_reldiff, mean_absdiff, mean_reldiff, median_absdiff,
                 median_reldiff, quantile_absdiff, quantile_reldiff)
        for name, value in zip(self.metric_fields(), given):
            setattr(self, name, None if value is None else float(value))

    def __str__(self):
        return f"(atol={self.max_absdiff}, rtol={self.max_reldiff})"

    def __bool__(self):
        if self._decided is None and self._passed is not None:
            return self._passed
        return super().__bool__()

    def set_thresholds(self, thresholds):
        super().set_thresholds(thresholds)
        self._passed = None

    def _encode(self):
        encoded = super()._encode()
        if not isinstance(encoded, dict):
            return encoded
        kind = encoded.pop(encoding.CLASS)
        return {**encoded, "passed": self._passed, encoding.CLASS: kind}  # in their order


class PerceptualMetricsResult(CompareResult):
    _THRESHOLD_CLASS = thresholds.LpipsThreshold

    def __init__(self, lpips=None, thresholds=None):
        super().__init__(thresholds)
        self.lpips = lpips


class L2Result(CompareResult):
    _THRESHOLD_CLASS = thresholds.L2Threshold

    def __init__(self, l2_norm, thresholds=None):
        super().__init__(thresholds)
        self.l2_norm = l2_norm


class CosineSimilarityResult(CompareResult):
    _THRESHOLD_CLASS = thresholds.CosineSimilarityThreshold

    def __init__(self, cosine_similarity, thresholds=None):
        super().__init__(thresholds)
        self.cosine_similarity = cosine_similarity


class PsnrResult(CompareResult):
    _THRESHOLD_CLASS = thresholds.PsnrThreshold

    def __init__(self, psnr, thresholds=None):
        super().__init__(thresholds)
        self.psnr = psnr


class SnrResult(CompareResult):
    _THRESHOLD_CLASS = thresholds.SnrThreshold

    def __init__(self, snr, thresholds=None):
        super().__init__(thresholds)
        self.snr = snr


class _OfTwoFunctions(CompareResult):
    """Of releases before 0.50: two metrics with a threshold each."""

    def __init__(self, *values, passed=None, thresholds=None, **named):
        super().__init__(thresholds)
        self._decided = passed
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
DECODERS = {**thresholds.DECODERS,
            **{name: thresholds.decoder_of(known) for name, known in CLASSES.items()}}
