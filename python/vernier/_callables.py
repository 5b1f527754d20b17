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
from ._errors import InvalidArgument

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


def check_function(value, argument):
    if not callable(value):
        from ._polygraphy.arguments import kind_of
        raise InvalidArgument(f"{argument}: expected a function, got {kind_of(value)}")


class Callables:
    """The objects of one run. Threads end when the libraries close their connections."""

    def __init__(self):
        self.objects = {}  # by path and function, as messages name them
        self.runners = []
        self.functions = {}
        self.errors = []
        self.feeds = None
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

    def add_function(self, role, value, argument):
        """`argument` is for messages."""
        check_function(value, argument)
        self.functions[role] = self._add(value, _name_of(value))

    def name_decisions(self, options):
        """The options with words of --decision in the place of functions."""
        for keyword in ("decision", "decisions"):
            values = options.get(keyword)
            values = list(values) if isinstance(values, (list, tuple)) else [values]
            if not any(map(callable, values)):
                continue
            names = [_name_of(value).rsplit(".", 1)[-1] for value in values if callable(value)]
            for name in names:
                if names.count(name) > 1:
                    raise InvalidArgument(f"{keyword}: two functions are named {name!r}; gates "
                                          "and records identify functions by name, so rename one")
            for i, value in enumerate(values):
                if callable(value):
                    values[i] = "script:%s:%s" % self._add(value, _name_of(value))
            self.functions["decides"] = True
            options = {**options, keyword: values}
        return options

    def add_feeds(self, value, calls=None):
        """Feeds, as Feeds takes them."""
        from ._feeds import Feeds
        from ._sentences import name_places
        self.feeds = Feeds(value, calls)
        name_places(self.feeds.places)
        self.functions["feeds"] = self._add(self.feeds, _name_of(value))

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

    def cause_of(self, error):
        """The error, with what a callable raised as its cause. What refused a feed is the error
        itself, with the other's record; so is what is no Exception, such as KeyboardInterrupt."""
        if self.feeds is not None and self.feeds.refused is not None:
            self.feeds.refused.record = getattr(error, "record", None)
            return self.feeds.refused
        errors, self.errors[:] = list(self.errors), ()  # which hold what is raised here
        for raised in errors:
            if not isinstance(raised, Exception):
                return raised
        if errors:
            error.__cause__ = errors[0]
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
