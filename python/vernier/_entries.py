"""What records hold, as objects: dictionaries whose keys are attributes, too."""

import json
import os

from ._errors import SaveError

# Keys of numbers, of which JSON has no words for those that are not finite.
_NUMBERS = frozenset(("min", "max", "largest", "moved", "times_over", "float16_overflow",
                      "float16_denormal", "times_over_tolerance"))
_ENDS = ("_error", "_rms", "_bound")
_NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Entry(dict):
    """A part of a record: entry["node"] and entry.node are the same."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}' here; there are: {', '.join(self)}") from None

    def __dir__(self):
        return sorted([*super().__dir__(), *self])


def _entry(pairs):
    entry = Entry(pairs)
    for key, value in entry.items():
        number = _NOT_FINITE.get(value) if isinstance(value, str) else None
        if number is not None and (key in _NUMBERS or key.endswith(_ENDS)):
            entry[key] = number
    return entry


def entries(text):
    """JSON of the libraries, objects as entries, "inf" and the like as numbers."""
    return json.loads(text, object_pairs_hook=_entry)


_TEXTS = frozenset(("name", "other_name", "paired_by", "dtype", "function", "verdict", "why", "vacuous",
                    "suggestion", "missing"))


def with_numbers(part, texts=_TEXTS):
    """What a record says of outputs, with "inf" and the like as numbers; in place."""
    if isinstance(part, dict) and "worst_elements" in part and _has_words(part):
        texts = texts | {"first", "second"}  # the elements themselves
    for key, value in list(part.items() if isinstance(part, dict) else enumerate(part)):
        if isinstance(value, list) and key in texts:
            value = [entry for entry in value if not isinstance(entry, str)]  # the others are texts
        if isinstance(value, (dict, list)):
            with_numbers(value, texts)
        elif isinstance(value, str) and key not in texts and value in _NOT_FINITE:
            part[key] = _NOT_FINITE[value]
    return part


def _has_words(figures):
    return any((figures.get(side) or {}).get("dtype") == "string" for side in ("first", "second"))


def save_text(text, path):
    """Writes a file that is there whole or not at all."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise SaveError(f"'{os.fspath(path)}' cannot be written: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
