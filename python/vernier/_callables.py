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

PACKAGE = "vernier._worker"
_numbers = itertools.count()


def worker():
    """The package of the Python worker, which the wheel carries with the program."""
    if PACKAGE in sys.modules:
        return sys.modules[PACKAGE]
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "libexec",
                          "vernier", "vernier_worker")
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
    return module


def _name_of(value):
    return getattr(value, "__qualname__", None) or type(value).__name__


class Callables:
    """The objects of one run. Threads end when the libraries close their connections."""

    def __init__(self):
        self.objects = {}  # by path and function, as messages name them
        self.runners = []
        self.functions = {}
        self.errors = []
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

    def add_feeds(self, value):
        """An iterable of feeds, or a function that returns one."""
        def make():
            made = value() if callable(value) and not hasattr(value, "__iter__") else value
            return [made] if hasattr(made, "keys") else made
        self.functions["feeds"] = self._add(make, _name_of(value))

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
        """The error, with what a callable raised as its cause."""
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
