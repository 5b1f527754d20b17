"""--decision script:FILE.py[:FUNCTION]: what a function of the user decides from outputs."""

import sys

from . import comparison, decided_values, scripts, wire

AGREES, CLEAR, INVALID = 0, 2, 3  # of include/vernier/decision_record.h


def _same_of(path, function):
    """The function that compares two decisions, beside the one that makes them; None: `==` does."""
    same = getattr(function, "same", None)
    if same is None and path not in scripts.given:
        module = sys.modules.get(getattr(function, "__module__", None) or type(function).__module__)
        same = getattr(module, "same", None)
    return same


class Decision:
    """A function of one side's outputs: a list (or a generator) has a decision for each sample,
    anything else is the decision about a single one."""

    def __init__(self, path, name):
        self.where, self.function = comparison._function(path, name)
        self.same = _same_of(path, self.function)
        if self.same is not None and not callable(self.same):
            raise wire.Failure(wire.MALFORMED, f"{self.where}: 'same' beside it is not a function "
                               f"but {wire.a(type(self.same))}")

    def decide(self, a, b, out):
        first, second = self._samples(a), self._samples(b)
        if len(first) != len(second):
            out.text(f"{self.where} decides about {len(first)} samples of the first side and "
                     f"{len(second)} of the second")
            out.u64(0)
            return
        out.text("")
        out.u64(len(first))
        for one, other in zip(first, second):
            flip, similarity = self._compared(one, other)
            out.text(decided_values.text(one))
            out.text(decided_values.text(other))
            out.u8(flip)
            out.f64(similarity)

    def _samples(self, iteration):
        with scripts.guard(self.where):
            returned = self.function(iteration)
            decided = decided_values.plain(returned)
        samples = decided if isinstance(decided, list) else [decided]
        for number, sample in enumerate(samples):
            if sample is None:
                what = "None" if returned is None else (
                    f"no value (None, or a masked one) for sample {number}")
                raise wire.Failure(wire.BACKEND, f"{self.where} returned {what}; expected a "
                                   "decision, or a list with one for each sample")
        return samples

    def _compared(self, one, other):
        with scripts.guard(self.where):
            if decided_values.has_nan(one) or decided_values.has_nan(other):
                return INVALID, 0.0
            same = (decided_values.equal(one, other, self.where) if self.same is None
                    else self.same(one, other))
        try:
            similarity = float(same)
        except (OverflowError, TypeError, ValueError):
            similarity = -1.0
        if not 0 <= similarity <= 1:
            raise wire.Failure(wire.BACKEND, f"{self.where}: same() returned "
                               f"{decided_values.text(same)}; expected True, False or a number "
                               "from 0 to 1")
        return (AGREES if similarity == 1 else CLEAR), similarity
