"""Small functions that scripts use."""

from . import exception


def default(value, default):
    return default if value is None else value


def is_sequence(obj):
    return hasattr(obj, "__iter__") and not isinstance(obj, (dict, str, bytes))


def volume(obj):
    """The number of elements of a shape."""
    count = 1
    for size in obj:
        count *= size
    return count


def value_or_from_dict(obj, key, default=None):
    """A value that is given for all keys, or by key with "" for the others."""
    if not isinstance(obj, dict):
        return obj
    return obj.get(key, obj.get("", default))


def invoke_if_callable(func, *args, **kwargs):
    """What a callable returns, and whether it was one."""
    return (func(*args, **kwargs), True) if callable(func) else (func, False)


__getattr__ = exception.missing(__name__)
