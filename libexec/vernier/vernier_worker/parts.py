"""Sequences, maps and optionals as tensors with names of their own.

The names of include/vernier/part_names.h: NAME[] is the length of a sequence and NAME[0] its first
element, NAME{} the number of keys of a map and NAME{KEY} the value of one, NAME? whether an
optional is there; what it holds is called NAME.
"""

import re

import numpy as np


def belongs_to(name, whole):
    """Could a tensor of that name be a part of `whole`?"""
    rest = name[len(whole):]
    return name.startswith(whole) and (
        rest == "?" or (len(rest) > 1 and rest[0] + rest[-1] in ("[]", "[}", "{}")))


def flatten(name, value, is_optional=False):
    """The (name, array) pairs of a list, a dict, None or an array."""
    if is_optional:
        presence = [(f"{name}?", np.asarray(value is not None))]
        return presence + ([] if value is None else flatten(name, value))
    if isinstance(value, dict):
        values = [part for key, item in value.items() for part in flatten(f"{name}{{{key}}}", item)]
        return [(f"{name}{{}}", np.asarray(len(value), np.int64)), *values]
    if isinstance(value, (list, tuple)):
        elements = [part for i, item in enumerate(value) for part in flatten(f"{name}[{i}]", item)]
        return [(f"{name}[]", np.asarray(len(value), np.int64)), *elements]
    return [(name, value)]


def assemble(whole, feed):
    """The list, dict, None or array that `feed` holds in parts. KeyError names a part that is not
    there."""
    if f"{whole}?" in feed and not feed[f"{whole}?"]:
        return None
    if whole in feed:
        return feed[whole]
    keys = [name[len(whole) + 1:-1] for name in feed
            if name.startswith(f"{whole}{{") and name.endswith("}")]
    if f"{whole}{{}}" in feed or keys:
        return {key: feed[f"{whole}{{{key}}}"] for key in keys if key}
    indices = [int(found[1]) for name in feed
               if (found := re.match(re.escape(whole) + r"\[(\d+)\]", name))]
    length = int(feed.get(f"{whole}[]", max(indices, default=-1) + 1))
    return [assemble(f"{whole}[{i}]", feed) for i in range(length)] if (
        f"{whole}[]" in feed or indices) else feed[whole]
