"""What metrics of an output are compared with: Polygraphy's classes, and their JSON."""

from .. import encoding, errors

STATISTICS = ("max", "mean", "median", "quantile")
DIGITS = range(5, 18)  # to tell two numbers apart


class Threshold:
    """A base for criteria of one's own, over the metrics that METRIC_FIELDS names."""

    METRIC_FIELDS = []

    @classmethod
    def metric_fields(cls):
        return list(cls.METRIC_FIELDS)

    def passed(self, metric_values):
        raise NotImplementedError

    def describe(self, metric_values):
        """A line on the one metric, and whether it passed; None where there are several."""
        return None


class SimpleThreshold(Threshold):
    """One statistic of the errors: its absolute or relative value has to be within tolerance."""

    METRIC_FIELDS = [f"{statistic}_{kind}diff" for statistic in STATISTICS
                     for kind in ("abs", "rel")]

    def __init__(self, check_error_stat, atol, rtol):
        self.check_error_stat, self.atol, self.rtol = check_error_stat, atol, rtol

    def passed(self, metric_values):
        statistic = self.check_error_stat
        if statistic not in STATISTICS:
            why = (", which looks at each element: statistics cannot tell whether it passes"
                   if statistic == "elemwise" else "")
            raise errors.InvalidArgument(
                f"check_error_stat: expected one of {', '.join(STATISTICS)}, got "
                f"'{statistic}'{why}")
        found = [metric_values.get(f"{statistic}_{kind}diff") for kind in ("abs", "rel")]
        if None in found:
            raise errors.InvalidArgument(
                f"check_error_stat: there is no {statistic} among the metrics")
        return bool(found[0] <= self.atol or found[1] <= self.rtol)  # NaN is within nothing

    def _encode(self):
        return _as_json(self, "check_error_stat", "atol", "rtol")


def _distinct_texts(value, limit):
    """Both as text, with as many digits as show on which side of the limit the value is."""
    for digits in DIGITS:
        texts = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if value == limit or texts[0] != texts[1]:
            break
    return texts


class _OfOneMetric(Threshold):
    LABEL, UNIT = "", ""
    LEAST = False  # the metric has to be at least, not at most, so large
    WITHOUT = False  # what a metric that could not be computed counts as

    def __init__(self, threshold):
        self.threshold = threshold

    def passed(self, metric_values):
        value = metric_values.get(self.METRIC_FIELDS[0])
        if value is None:
            return self.WITHOUT
        return bool(value >= self.threshold if self.LEAST else value <= self.threshold)

    def describe(self, metric_values):
        value = metric_values.get(self.METRIC_FIELDS[0])
        if value is None:
            return None
        passed = self.passed(metric_values)
        shown, limit = _distinct_texts(value, self.threshold)
        word = "min required" if self.LEAST else "tolerance"
        return (f"{self.LABEL}: {shown}{self.UNIT} ({word}: {limit}{self.UNIT}) | "
                + ("PASSED" if passed else "FAILED"), passed)

    def _encode(self):
        return _as_json(self, "threshold")


class L2Threshold(_OfOneMetric):
    METRIC_FIELDS, LABEL = ["l2_norm"], "L2 Norm"


class CosineSimilarityThreshold(_OfOneMetric):
    METRIC_FIELDS, LABEL, LEAST = ["cosine_similarity"], "Cosine Similarity", True


class PsnrThreshold(_OfOneMetric):
    METRIC_FIELDS, LABEL, UNIT, LEAST = ["psnr"], "PSNR", " dB", True


class SnrThreshold(_OfOneMetric):
    METRIC_FIELDS, LABEL, UNIT, LEAST = ["snr"], "SNR", " dB", True


class LpipsThreshold(_OfOneMetric):
    METRIC_FIELDS, LABEL, WITHOUT = ["lpips"], "LPIPS", True


CLASSES = {known.__name__: known for known in (
    SimpleThreshold, L2Threshold, CosineSimilarityThreshold, PsnrThreshold, SnrThreshold,
    LpipsThreshold)}


def _as_json(threshold, *names):
    kind = type(threshold).__name__
    if CLASSES.get(kind) is not type(threshold):
        raise errors.InvalidArgument(f"a {kind} cannot be saved as JSON: nothing would read it")
    return {**{name: getattr(threshold, name) for name in names}, encoding.CLASS: kind}


def decoder_of(known):
    """A function that makes such an object of its JSON's members."""
    return lambda found: known(**found)


DECODERS = {name: decoder_of(known) for name, known in CLASSES.items()}
