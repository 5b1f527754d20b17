"""Functions that go on where others end."""

import functools
import inspect

from . import errors, exception


def extend(before):
    """A decorator: the function is called with what `before` returns.

    Where it has room for them, `before`'s own arguments come first. What the function returns
    counts, unless that is None: then it is what `before` returned.
    """
    def decorate(function):
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def extended(*args, **kwargs):
            made = before(*args, **kwargs)
            results = made if type(made) is tuple else (made,)
            if len(names) == 0 and results == (None,):
                returned = function()
            elif len(names) == len(results):
                returned = function(*results)
            elif len(names) == len(args) + len(kwargs) + len(results):
                returned = function(*args, **kwargs, **dict(zip(names[-len(results):], results)))
            else:
                raise errors.InvalidArgument(
                    f"Function: {function.__name__} accepts {len(names)} parameter(s), but needs "
                    f"to accept {len(results)} parameter(s) from: "
                    f"{getattr(before, '__name__', before)} instead.")
            return made if returned is None else returned
        return extended
    return decorate


def constantmethod(function):
    """A decorator that says something to readers alone, as Polygraphy's does by default."""
    return function


__all__ = ["constantmethod", "extend"]
__getattr__ = exception.missing(__name__)
