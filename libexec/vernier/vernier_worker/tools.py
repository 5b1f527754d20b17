"""Commands of vernier that work with Python packages: ../tools/NAME.py, with the options given."""

import importlib
import os
import sys

from . import scripts, wire

FOLDER = os.path.join(os.path.dirname(scripts.OWN_FOLDER), "tools")


class Options:
    """What was given on the command line: by key the words of its last occurrence."""

    def __init__(self, text):
        self._given = {}
        for record in text.split("\x1e"):
            if record:
                key, *words = record.split("\x1f")
                self._given[key] = words

    def __contains__(self, key):
        return key in self._given

    def keys(self):
        return self._given.keys()

    def with_words(self, key, words):
        """A copy in which one option is given so."""
        copy = Options("")
        copy._given = {**self._given, key: words}
        return copy

    def words(self, key):
        return self._given.get(key, [])

    def value(self, key, fallback=None):
        words = self.words(key)
        return words[-1] if words else fallback

    def number(self, key, fallback=None):
        value = self.value(key)
        return fallback if value is None else int(value)

    def numbers(self, key):
        """None where the option was not given."""
        return [int(word) for word in self.words(key)] if key in self else None


class Tool:
    """Runs a tool when it is made: the answer to the request says how that ended."""

    def __init__(self, name, options):
        if FOLDER not in sys.path:
            sys.path.insert(0, FOLDER)
        module = importlib.import_module(name)
        with scripts.guard(f"the tool '{name}'", wire.BACKEND):
            module.run(Options(options))
