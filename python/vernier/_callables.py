"""Python's own objects in a run: they are served in threads of this process.

The libraries speak with them as with any Python worker (libexec/vernier/vernier_worker), over a
socket pair: large tensors travel as shared memory, and nothing in the libraries knows that there is
no other process.
"""

import importlib.util
import itertools
import os
import socket
import sys
import threading

from . import _places

PACKAGE = "vernier._worker"
_numbers = itertools.count()


def worker():
    """The package of the Python worker, which the wheel carries with the program."""
    if PACKAGE in sys.modules:
        return sys.modules[PACKAGE]
    folder = os.path.join(_places.libexec(), "vernier_worker")
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
    importlib.import_module(PACKAGE + ".tensors").takes_plain_values = True
    return module


def _name_of(value):
    return getattr(value, "__qualname__", None) or type(value).__name__


def feeds_of(inputs, calls=None, refuse=lambda error: None):
    """The iterable of feeds that `inputs` means: a feed, an iterable of them, or a function that
    returns one of these; a function that returns a feed is called `calls` times (None: once).
    `refuse` hears of an error before it is raised."""
    from ._errors import InvalidArgument
    if hasattr(inputs, "keys"):
        return [inputs]
    if not callable(inputs) or hasattr(inputs, "__iter__"):
        return inputs
    made = inputs()
    if hasattr(made, "keys"):
        return itertools.chain([made], (inputs() for _ in range(1, calls or 1)))
    if calls is not None:
        error = InvalidArgument(f"iterations={calls}: the function of inputs= returned all feeds "
                                "at once, which are as many as they are; leave iterations= out")
        refuse(error)
        raise error
    return made


# Options that say otherwise where feeds come from, or what random ones are like.
_OTHER_FEEDS = ("load_inputs", "load_input_data", "data_loader_script", "val_range",
                "float_min", "float_max", "int_min", "int_max", "inputs_from_graph", "like")


def calls_of(inputs, options):
    """How often a function of inputs= is to be called (None: not said), and the other options."""
    from ._errors import InvalidArgument
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


class _CheckedFeeds:
    """Feeds as the worker takes them; `refuse` hears why one is none. A loader is told of the
    model's inputs."""

    def __init__(self, feeds, refuse):
        self.__dict__.update(_feeds=feeds, _refuse=refuse)

    def __setattr__(self, name, value):
        setattr(self._feeds, name, value)

    def __iter__(self):
        from ._errors import InvalidArgument
        try:
            return self._checked(iter(self._feeds))
        except TypeError as error:
            refused = InvalidArgument(f"inputs: expected feeds, got {type(self._feeds).__name__}: "
                                      f"{error}")
            self._refuse(refused)
            raise refused from error

    def _checked(self, feeds):
        from ._arrays import checked_feed
        from ._errors import InvalidArgument
        for index, feed in enumerate(feeds):
            try:
                checked = checked_feed(feed, f"inputs[{index}]")
            except InvalidArgument as error:
                self._refuse(error)
                raise
            yield checked


class Callables:
    """The objects of one run. Threads end when the libraries close their connections."""

    def __init__(self):
        self.objects = {}  # by path and function, as messages name them
        self.runners = []
        self.functions = {}
        self.errors = []
        self.refused = None  # what was wrong with a feed
        self.threads = []

    def _add(self, value, name):
        """The place of an object: a path that no file has, and its name."""
        path = f"<python {next(_numbers)}>"
        self.objects[path] = value
        return path, name

    def add_runner(self, position, label, value):
        name = _name_of(value)
        path, function = self._add(value, name)
        taken = {row[1] for row in self.runners}
        label = label or getattr(value, "name", None) or name.rpartition(".")[2]
        unique, count = label, 0
        while unique in taken:
            count += 1
            unique = f"{label}-{count}"
        self.runners.append((position, unique, path, function))

    def add_function(self, role, value):
        if not callable(value):
            from ._errors import InvalidArgument
            raise InvalidArgument(f"{role}: expected a function, got a {type(value).__name__}")
        self.functions[role] = self._add(value, _name_of(value))

    def add_feeds(self, value, calls=None):
        """Feeds, as feeds_of takes them."""
        self.functions["feeds"] = self._add(
            lambda: _CheckedFeeds(feeds_of(value, calls, self._refuse), self._refuse),
            _name_of(value))

    def _refuse(self, error):
        self.refused = error

    def said(self):
        """As src/caller.h reads it."""
        if not self.objects:
            return {}
        return {"connect": self.connect, "runners": self.runners, **self.functions}

    def connect(self):
        """A socket at whose other end a thread serves the objects."""
        worker()
        from vernier._worker import scripts
        scripts.given.update(self.objects)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        thread = threading.Thread(target=self._serve, args=(theirs.detach(),), daemon=True,
                                  name="vernier objects")
        self.threads.append(thread)
        thread.start()
        return ours.detach()

    def _serve(self, descriptor):
        from vernier._worker import server, wire
        server.Server(wire.Channel(descriptor), self.errors.append, _iteration).serve()

    def first_error(self):
        return self.errors[0] if self.errors else None

    def cause_of(self, error):
        """The error, with what a callable raised as its cause; what refused a feed is the error
        itself, with the other's record."""
        if self.refused is not None:
            self.refused.record = getattr(error, "record", None)
            return self.refused
        if self.errors:
            error.__cause__ = self.errors[0]
        return error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.threads:
            return
        from vernier._worker import scripts
        for path in self.objects:
            scripts.given.pop(path, None)
        for thread in self.threads:
            thread.join(timeout=1)  # one that hangs is left behind: it is a daemon


def _iteration(outputs, runtime, runner_name):
    from ._results import IterationResult
    return IterationResult(dict(outputs), runtime, runner_name)
