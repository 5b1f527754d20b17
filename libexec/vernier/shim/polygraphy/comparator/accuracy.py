"""Verdicts of whole comparisons: iterations, averages over them, and files of them."""

from collections import OrderedDict
from collections.abc import MutableMapping, MutableSequence

from .. import encoding, errors
from . import verdicts

PER_SAMPLE, AVERAGE = "per_sample", "average"


def _measured(verdict):
    return hasattr(verdict, "metric_fields") and bool(verdict.metric_fields())


class AccuracyResult(MutableMapping):
    """Pairs of runner names to the verdicts of their iterations, under one function.

    `aggregation` says what counts: each iteration ("per_sample"), or the metrics' averages.
    """

    def __init__(self, dct=None, aggregation=PER_SAMPLE):
        self.dct = OrderedDict(dct or {})
        self.aggregation = aggregation

    def __getitem__(self, pair):
        return self.dct[pair]

    def __setitem__(self, pair, iterations):
        self.dct[pair] = iterations

    def __delitem__(self, pair):
        del self.dct[pair]

    def __iter__(self):
        return iter(self.dct)

    def __len__(self):
        return len(self.dct)

    def __repr__(self):
        return f"AccuracyResult({dict(self.dct)!r}, aggregation={self.aggregation!r})"

    def __bool__(self):
        if self.aggregation == AVERAGE:
            return all(bool(verdict) for pair in self
                       for verdict in self.average_results(pair).values())
        return all(bool(verdict) for iterations in self.values() for found in iterations
                   for verdict in found.values())

    def _iterations(self, pair):
        if pair is None and not len(self):
            raise errors.InvalidArgument("there are no runners in this result, and no iterations")
        return self[next(iter(self)) if pair is None else pair]

    def stats(self, runner_pair=None):
        """Iterations that matched, that did not, and all."""
        iterations = self._iterations(runner_pair)
        matched = sum(all(map(bool, found.values())) for found in iterations)
        return matched, len(iterations) - matched, len(iterations)

    def percentage(self, runner_pair=None):
        if not len(self):  # bool() asks for the verdict
            return 1.0
        matched, _, total = self.stats(runner_pair)
        return matched / total if total else 1.0

    def output_names(self):
        return list(dict.fromkeys(name for iterations in self.values() for found in iterations
                                  for name in found))

    def metric_fields(self):
        """What was measured; nothing of bare verdicts."""
        return next((verdict.metric_fields() for iterations in self.values()
                     for found in iterations for verdict in found.values() if _measured(verdict)),
                    [])

    def average_results(self, runner_pair=None):
        """Output name to a result of the averages of its metrics, with its thresholds."""
        iterations = self._iterations(runner_pair)
        names = dict.fromkeys(name for found in iterations for name in found)
        return OrderedDict((name, _average(name, [found[name] for found in iterations
                                                  if name in found])) for name in names)

    def describe_average(self, runner_pair=None):
        """Output name to a line on the average of its one metric, and whether it passed."""
        lines = ((name, result.describe())
                 for name, result in self.average_results(runner_pair).items())
        return OrderedDict((name, description) for name, description in lines if description)

    def reevaluate(self, thresholds, aggregation=None):
        """Re-evaluates the saved metrics with new thresholds: one for all outputs, or by name."""
        changes = [(verdict, _threshold_for(name, thresholds, verdict))
                   for iterations in self.values() for found in iterations
                   for name, verdict in found.items()]
        for verdict, threshold in changes:  # none where one of them cannot be
            verdict.set_thresholds(threshold)
        self.aggregation = aggregation or self.aggregation
        return self

    def _encode(self):
        return {"lst": [[list(pair), iterations] for pair, iterations in self.items()],
                "aggregation": self.aggregation, encoding.CLASS: "AccuracyResult"}


def _average(name, results):
    if not all(_measured(result) and not getattr(result, "_unmeasured", False)
               for result in results):
        raise errors.InvalidArgument(
            f"output '{name}' was not measured in every iteration (a function "
            "gave a bare verdict, or shapes differ): there is no average")
    averages = {}
    for field in results[0].metric_fields():
        values = [getattr(result, field) for result in results]
        values = [value for value in values if value is not None]
        averages[field] = sum(values) / len(values) if values else None
    return type(results[0])(**averages, thresholds=results[0].thresholds)


def _threshold_for(name, thresholds, verdict):
    if hasattr(thresholds, "get"):
        thresholds = thresholds.get(name, thresholds.get(""))
    if thresholds is None:
        raise errors.InvalidArgument(f"thresholds: there is none for output '{name}'")
    missing = set(_fields_of(thresholds))
    if _measured(verdict) and not getattr(verdict, "_unmeasured", False):
        missing -= set(verdict.metric_fields())
    if missing:
        raise errors.InvalidArgument(
            f"output '{name}' has no metric {', '.join(sorted(missing))} that "
            f"a {type(thresholds).__name__} could be compared with")
    return thresholds


def _fields_of(threshold):
    if isinstance(threshold, type) or not hasattr(threshold, "metric_fields"):
        raise errors.InvalidArgument(
            "thresholds: expected one such as L2Threshold(0.5), or a mapping of "
            f"output names to those, got {threshold!r}")
    return threshold.metric_fields()


class AccuracyResults(MutableSequence):
    """One AccuracyResult for each comparison function. True where all of them are."""

    def __init__(self, lst=None):
        self.lst = list(lst or [])

    def __bool__(self):
        return all(bool(result) for result in self)

    def __getitem__(self, key):
        if isinstance(key, tuple) and len(self) == 1:
            return self.lst[0][key]
        return self.lst[key]

    def __setitem__(self, index, result):
        self.lst[index] = result

    def __delitem__(self, index):
        del self.lst[index]

    def __len__(self):
        return len(self.lst)

    def insert(self, index, result):
        self.lst.insert(index, result)

    def __getattr__(self, name):
        # As the single result that older scripts expect.
        if name in ("items", "keys", "values", "stats", "percentage") and len(self) == 1:
            return getattr(self.lst[0], name)
        raise AttributeError(name)

    def __eq__(self, other):
        return isinstance(other, AccuracyResults) and self.lst == other.lst

    __hash__ = None

    def __repr__(self):
        return f"AccuracyResults({self.lst!r})"

    def output_names(self):
        return list(dict.fromkeys(name for result in self for name in result.output_names()))

    def reevaluate(self, thresholds, aggregation=None):
        """Keeps the results that a threshold is for, and compares them with it."""
        listed = thresholds if isinstance(thresholds, (list, tuple)) else [thresholds]
        left, kept = list(self), []
        for one in listed:
            fields = _fields_of(next(iter(one.values()), one) if hasattr(one, "values") else one)
            result = next((r for r in left if r.metric_fields() == fields), None)
            if result is None:
                raise errors.InvalidArgument(
                    f"thresholds: no result has the metrics {', '.join(fields)}")
            left = [other for other in left if other is not result]
            kept.append(result.reevaluate(one, aggregation))
        self.lst = kept
        return self

    def _encode(self):
        return {"lst": self.lst, encoding.CLASS: "AccuracyResults"}

    def to_json(self):
        """The text of Polygraphy's JSON."""
        return encoding.to_json(self)

    def save(self, dest):
        """To a path or an open file."""
        encoding.write(dest, self.to_json())

    @staticmethod
    def from_json(src):
        """Of such a text."""
        return encoding.checked(encoding.from_json(src), AccuracyResults, "AccuracyResults")

    @staticmethod
    def load(src):
        """Of a path or an open file: of these functions, of Polygraphy or of the program."""
        return AccuracyResults.from_json(encoding.read(src))


def _result(found):
    # Lists of JSON would not be found in a mapping by pairs of names.
    return AccuracyResult([(tuple(pair), [OrderedDict(one) for one in iterations])
                           for pair, iterations in found["lst"]], found["aggregation"])


encoding.decoders.update(verdicts.DECODERS, AccuracyResult=_result,
                         AccuracyResults=lambda found: AccuracyResults(found["lst"]))
