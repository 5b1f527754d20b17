"""--decision script:FILE.py[:FUNCTION]: what a function of the user decides from outputs."""

import collections.abc
import dataclasses
import sys

from . import comparison, scripts, wire

SHOWN = 200  # characters of a decision
AGREES, CLEAR, INVALID = 0, 2, 3  # of include/vernier/decision_record.h


def _plain(value):
    """Arrays and tensors as lists and numbers, which `==` compares as a whole. Generators, and what
    else can be read once, are read; two of them would never be equal."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (collections.abc.Iterator, collections.abc.ValuesView)):
        return [_plain(one) for one in value]
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value
    return value


def _has_nan(value):
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_has_nan, value))
    if isinstance(value, dict):
        return any(map(_has_nan, value.items()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(_has_nan(getattr(value, one.name)) for one in dataclasses.fields(value))
    return isinstance(value, (float, complex)) and value != value


def _text(value):
    text = value if isinstance(value, str) else repr(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."


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
            raise wire.Failure(wire.MALFORMED, f"{self.where}: 'same' beside it is no function but "
                               f"{wire.a(type(self.same))}")

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
            out.text(_text(one))
            out.text(_text(other))
            out.u8(flip)
            out.f64(similarity)

    def _samples(self, iteration):
        with scripts.guard(self.where):
            decided = _plain(self.function(iteration))
        samples = decided if isinstance(decided, list) else [decided]
        if any(sample is None for sample in samples):
            raise wire.Failure(wire.BACKEND, f"{self.where} returned None; expected a decision, or "
                               "a list with one for each sample")
        return samples

    def _compared(self, one, other):
        if _has_nan(one) or _has_nan(other):
            return INVALID, 0.0
        with scripts.guard(self.where):
            same = one == other if self.same is None else self.same(one, other)
            similarity = float(same)
        if not 0 <= similarity <= 1:
            raise wire.Failure(wire.BACKEND, f"{self.where}: same() returned {_text(same)}; "
                               "expected True, False or a number from 0 to 1")
        return (AGREES if similarity == 1 else CLEAR), similarity
