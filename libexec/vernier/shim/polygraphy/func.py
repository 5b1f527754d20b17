"""Functions that go on where others end."""

import functools
import inspect

from polygraphy import exception


def extend(before):
    """The function gets what `before` returns, behind `before`'s own arguments where it has room for
    them. What it returns counts, unless that is None."""
    def decorate(function):
        room = len(inspect.signature(function).parameters)

        @functools.wraps(function)
        def extended(*args, **kwargs):
            made = before(*args, **kwargs)
            results = made if isinstance(made, tuple) else (made,)
            if room == len(results):
                returned = function(*results)
            elif room == len(results) + len(args) + len(kwargs):
                names = list(inspect.signature(function).parameters)[-len(results):]
                returned = function(*args, **kwargs, **dict(zip(names, results)))
            elif room == 0 and made is None:
                returned = function()
            else:
                raise exception.PolygraphyException(
                    f"Function: {function.__name__} accepts {room} parameter(s), but needs to "
                    f"accept {len(results)}: what {getattr(before, '__name__', before)} returns")
            return made if returned is None else returned
        return extended
    return decorate


__getattr__ = exception.missing("func")
