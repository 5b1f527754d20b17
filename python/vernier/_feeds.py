"""What `inputs` may be in every function: a feed, feeds, or a function that returns either."""

import collections.abc
import contextlib
import itertools
import re

from ._arrays import checked_feed, type_name
from ._errors import InvalidArgument
from ._polygraphy.arguments import kind_of

EXPECTED = ("a feed (a mapping of input names to arrays), an iterable of feeds, a function that "
            "returns either, or the path of a file")

# Options that say otherwise where feeds come from, or what random ones are like.
_OTHER_FEEDS = ("load_inputs", "load_input_data", "data_loader_script", "val_range",
                "float_min", "float_max", "int_min", "int_max", "inputs_from_graph", "like")

# What the libraries say of a feed that does not fit a model.
_UNFIT = re.compile(r"input '(?P<name>[^'\n]*)': (?P<expected>expected [^\n]*?), found "
                    r"(?P<type>\w+) of shape (?P<shape>\([^)\n]*\)) in the input data")
_LACKING = re.compile(r"input '(?P<name>[^'\n]*)': expected a tensor of that name, found "
                      r"(?P<names>\[[^\n]*?\]) in the input data; (?P<do>rename|add) it there")


def calls_of(inputs, options):
    """How often a function of inputs= is to be called (None: not said), and the other options."""
    for name in _OTHER_FEEDS:
        if options.get(name) not in (None, False):
            raise InvalidArgument(f"{name}: inputs= is given, too; one of them is enough")
    calls = options.get("iterations")
    if calls is None:
        return None, options
    is_function = callable(inputs) and not hasattr(inputs, "__iter__")
    if not is_function or hasattr(inputs, "keys"):
        raise InvalidArgument(f"iterations={calls!r}: there are as many iterations as inputs= "
                              "holds feeds; leave one of the two out, or give a function that "
                              "returns a feed, which is called for each")
    if not isinstance(calls, int) or isinstance(calls, bool) or calls < 1:
        raise InvalidArgument(f"iterations: expected a whole number > 0, got {calls!r}")
    return calls, {name: value for name, value in options.items() if name != "iterations"}


def _length_of(feeds):
    """Of what Python goes through by its indices until an IndexError; else None."""
    kind = type(feeds)
    by_index = hasattr(kind, "__getitem__") and not hasattr(kind, "__iter__")
    if by_index or isinstance(feeds, collections.abc.Sequence):
        with contextlib.suppress(TypeError, NotImplementedError):
            return len(feeds)
    return None


class Feeds:
    """The feeds that `inputs` means, as the worker and the files of the libraries take them.

    A function that returns a feed is called `calls` times (None: once). `refused` is the error that
    ended them, if one did; `places` knows what there was. A loader learns the model's inputs
    through an attribute.
    """

    def __init__(self, inputs, calls=None):
        self.__dict__.update(_inputs=inputs, _calls=calls, _feeds=None, places=Places(),
                             refused=None)

    def __setattr__(self, name, value):
        if name in self.__dict__:
            self.__dict__[name] = value
        else:
            setattr(self._opened(), name, value)

    def __call__(self):
        """As a script's function: itself, from the beginning."""
        self._feeds = None
        self._opened()
        return self

    def _opened(self):
        if self._feeds is None:
            self._feeds = self._of_inputs()
        return self._feeds

    def _of_inputs(self):
        inputs = self._inputs
        if hasattr(inputs, "keys"):
            return [inputs]
        if not callable(inputs) or hasattr(inputs, "__iter__"):
            return inputs
        made = inputs()
        if hasattr(made, "keys"):
            return itertools.chain([made], (inputs() for _ in range(1, self._calls or 1)))
        if self._calls is not None:
            self._refuse(InvalidArgument(
                f"iterations={self._calls}: the function of inputs= returned all feeds at once, "
                "which are as many as they are; leave iterations= out"))
        return made

    def _refuse(self, error):
        self.refused = error
        raise error

    def __iter__(self):
        feeds = self._opened()
        length = _length_of(feeds)
        try:
            feeds = iter(feeds)
        except TypeError:
            if hasattr(feeds, "__iter__"):
                raise  # of its own making
            expected = f"expected {EXPECTED}" if feeds is self._inputs else (
                "the function must return a feed or an iterable of feeds")
            self._refuse(InvalidArgument(f"inputs: {expected}; got {kind_of(feeds)}"))
        return self._checked(feeds, length)

    def _checked(self, feeds, length):
        made = 0
        for index, feed in enumerate(itertools.islice(feeds, length)):
            made = index + 1
            try:
                checked = checked_feed(feed, f"inputs[{index}]")
            except InvalidArgument as error:
                self._refuse(error)
            self.places.add(f"inputs[{index}]", [
                (name, type_name(value), tuple(value.shape)) for name, value in checked.items()])
            yield checked
        if length is not None and made < length:
            self._refuse(InvalidArgument(
                f"inputs: a data set of the length {length} has no feed {made}: its __getitem__ "
                "raised IndexError"))


class Places:
    """The arrays of feeds, for what the libraries say of one that does not fit a model."""

    def __init__(self):
        self._first = {}  # by name, type and shape, and by all names

    def add(self, place, feed):
        """Of a feed: name, type and shape of each array."""
        for array in feed:
            self._first.setdefault(array, place)
        self._first.setdefault(tuple(name for name, _, _ in feed), place)

    def named(self, message):
        """The message with inputs[0]['x'] for an array that does not fit, where it is known."""
        return _UNFIT.sub(self._unfit, _LACKING.sub(self._lacking, message))

    def _unfit(self, found):
        shape = tuple(map(int, re.findall(r"\d+", found["shape"])))
        place = self._first.get((found["name"], found["type"], shape))
        return found[0] if place is None else (
            f"{place}[{found['name']!r}]: {found['expected']}, found {found['type']} of shape "
            f"{found['shape']}")

    def _lacking(self, found):
        place = next((place for names, place in self._first.items()
                      if str(list(names)) == found["names"]), None)
        return found[0] if place is None else (
            f"{place}: expected an array called '{found['name']}', found {found['names']}; "
            f"{found['do']} it")
