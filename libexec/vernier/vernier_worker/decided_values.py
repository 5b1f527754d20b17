"""What a function of the user decided, as values that `==` compares as a whole."""

import collections
import copy
import dataclasses
import decimal
import types
from collections import abc

from . import wire

SHOWN = 200  # characters of a decision
_LEAVES = (str, bytes, bytearray, int, range)  # nothing is within them, nor can they be NaN
_NUMBERS_AND_TEXTS = frozenset("biufcSU")  # kinds of NumPy's types


def plain(value):
    """Arrays and tensors as lists and numbers, at any depth. Generators, and what else can be read
    once, are read: two of them would never be equal. Other values stay what they are."""
    if type(value) in (str, int, float, bool, bytes, range, type(None)) or isinstance(value, type):
        return value
    if hasattr(value, "tolist"):
        return _of_array(value)
    if isinstance(value, (abc.Iterator, abc.ValuesView)):
        return [plain(one) for one in value]
    if isinstance(value, abc.ItemsView):
        return plain(dict(value))
    if isinstance(value, abc.Mapping):
        return _of_mapping(value)
    if isinstance(value, abc.Set):
        return _of_set(value)
    if isinstance(value, abc.Sequence) and not isinstance(value, _LEAVES):
        return _of_sequence(value)
    return _of_object(value)


def _of_array(value):
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("M", "m"):  # of which tolist() makes integers, and None of NaT
        return [plain(one) for one in value] if value.ndim else value
    made = value.tolist()
    nested = isinstance(made, (list, tuple)) and kind not in _NUMBERS_AND_TEXTS
    return plain(made) if nested else made


def _of_mapping(value):
    made = {key: plain(one) for key, one in value.items()}
    changed = {key: one for key, one in made.items() if one is not value[key]}
    if not changed or not isinstance(value, dict):
        return made if changed else value
    made = copy.copy(value)
    for key, one in changed.items():
        made[key] = one
    return made


def _of_set(value):
    """Of tensors with one value, which are equal to themselves alone."""
    made = [plain(one) for one in value]
    if _are_same(made, value) or any(isinstance(one, list) for one in made):
        return value
    return frozenset(made)


def _are_same(made, value):
    return all(one is old for one, old in zip(made, value))


def _of_sequence(value):
    made = [plain(one) for one in value]
    if _are_same(made, value):
        return value
    if isinstance(value, collections.deque):
        return collections.deque(made, value.maxlen)
    if hasattr(value, "_make"):  # a named tuple
        return value._make(made)
    return tuple(made) if isinstance(value, tuple) else made


def _parts(value):
    """The names and values that `==` of an object compares; None: it is not known."""
    if dataclasses.is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)
                if one.compare}
    return vars(value) if isinstance(value, types.SimpleNamespace) else None


def _of_object(value):
    parts = _parts(value) or {}
    changed = {name: made for name, one in parts.items() if (made := plain(one)) is not one}
    if not changed:
        return value
    copied = copy.copy(value)
    for name, one in changed.items():
        object.__setattr__(copied, name, one)  # of frozen dataclasses as well
    return copied


def has_nan(value):
    """Whether there is NaN, or what else does not equal itself, in a value of plain()."""
    if type(value) is float:
        return value != value
    if isinstance(value, _LEAVES):
        return False
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # comparing one that signals raises
    if isinstance(value, abc.Mapping):
        return any(has_nan(key) or has_nan(one) for key, one in value.items())
    if isinstance(value, (abc.Sequence, abc.Set)):
        return any(map(has_nan, value))
    parts = None if isinstance(value, type) else _parts(value)
    if parts is not None:
        return any(map(has_nan, parts.values()))
    try:
        return bool(value != value)
    except Exception:
        return False  # equal() says so


def equal(one, other, where):
    try:
        return bool(one == other)
    except Exception as error:
        raise wire.Failure(
            wire.BACKEND, f"{where}: its decisions, {wire.a(type(one))} and {wire.a(type(other))}, "
            f"cannot be compared by '==' ({type(error).__name__}: {error}): return numbers, texts, "
            "lists or dictionaries of them, or define same(a, b) beside it", error) from None


def text(value):
    """For people; of what cannot be written, such as an integer of 10,000 digits, its type."""
    try:
        written = value if isinstance(value, str) else repr(value)
    except Exception as error:
        written = f"<{wire.a(type(value))}: {error}>"
    written = written.encode("utf-8", "backslashreplace").decode("utf-8")
    return written if len(written) <= SHOWN else written[:SHOWN - 3] + "..."
