"""The options of `vernier run --trt` as its plug-in gets them, for TensorRT's Python interface."""

import fnmatch

from vernier_worker import wire


def refuse(text, code=wire.INVALID):
    raise wire.Failure(code, text)


def flag_of(key):
    """The flag of the command line for an option that the host hands over under this key."""
    return "--trt-safety-restricted" if key == "restricted" else "--" + key.replace("_", "-")


class Options:
    """By key all occurrences; the words of one are lines of a text. A switch has the value "1"."""

    def __init__(self, lists):
        self.lists = lists

    def on(self, key):
        return key in self.lists

    def value(self, key, fallback=None):
        return self.lists[key][-1] if key in self.lists else fallback

    def words(self, key):
        """None where the option was not given."""
        text = self.value(key)
        return None if text is None else [word for word in text.split("\n") if word]

    def number(self, key, option):
        text = self.value(key)
        try:
            return None if text is None else int(text)
        except ValueError:
            refuse(f"{option}: expected a whole number, got '{text}'")


# Keywords of Polygraphy's API whose option has another name.
_KEYWORDS = {"memory_pool_limits": "memory_pool_limit"}


def _word(value):
    """A value as the command line has it."""
    if isinstance(value, bool):
        return "1"
    return str(getattr(value, "name", value))


def _kinds(kind):
    if isinstance(kind, (list, tuple, set)):
        return "[" + ",".join(map(_word, kind)) + "]"
    return _word(kind)


def of_keywords(**keywords):
    """The Options of keywords of Polygraphy's API; None and False are left out."""
    lists = {}
    for key, value in keywords.items():
        if value is None or value is False:
            continue
        if isinstance(value, dict):
            value = [f"{_word(name)}:{_kinds(kind)}" for name, kind in value.items()]
        if isinstance(value, (list, tuple, set)):
            value = "\n".join(map(_word, value))
        lists[_KEYWORDS.get(key, key)] = [_word(value)]
    return Options(lists)


def profile_lines(profiles):
    """The lines of "profile" of mappings of inputs to (min, opt, max)."""
    return [f"{index}\t{which}\t{name}\t{','.join(map(str, dims))}"
            for index, profile in enumerate(profiles) for name, three in profile.items()
            for which, dims in zip(("min", "opt", "max"), three)]


def missing(option, trt):
    refuse(f"{option} is not available in TensorRT {trt.__version__}", wire.UNAVAILABLE)


def member(trt, enumeration, word, option):
    """A member of one of TensorRT's enumerations by its name, in any case."""
    kind = getattr(trt, enumeration, None)
    if kind is None:
        missing(option, trt)
    members = kind.__members__
    if word.upper() not in members:
        refuse(f"{option}: expected one of {', '.join(sorted(members))}, got '{word}'")
    return members[word.upper()]


def mask(trt, enumeration, words, option):
    return sum(1 << int(member(trt, enumeration, word, option)) for word in words)


def split_named(word, option):
    name, colon, value = word.rpartition(":")
    if not colon or not value:
        refuse(f"{option}: expected NAME:VALUE, got '{word}'")
    return name, value


TYPES = {"float32": "FLOAT", "float16": "HALF", "fp32": "FLOAT", "fp16": "HALF", "int8": "INT8",
         "int32": "INT32", "int64": "INT64", "uint8": "UINT8", "bool": "BOOL", "bfloat16": "BF16",
         "float8": "FP8", "int4": "INT4"}


def data_type(trt, word, option):
    return member(trt, "DataType", TYPES.get(word.lower(), word), option)


def select(names, patterns, option):
    """Names that are given or that a pattern fits, in the order of the words."""
    chosen = []
    for pattern in patterns:
        is_pattern = any(c in pattern for c in "*?[")
        found = fnmatch.filter(names, pattern) if is_pattern else [n for n in names if n == pattern]
        if not found and is_pattern:
            print(f"[W] {option}: no tensor matches '{pattern}'")
        elif not found:
            refuse(f"{option}: there is no tensor '{pattern}'; there are {', '.join(names)}")
        chosen += [name for name in found if name not in chosen]
    return chosen
