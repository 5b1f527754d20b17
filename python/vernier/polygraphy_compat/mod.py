"""Imports that are put off."""

import importlib
import importlib.util
import re


class _Lazy:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)

    def is_installed(self):
        return importlib.util.find_spec(self._name) is not None


def lazy_import(name, *_args, **_kwargs):
    """A module that is imported when it is first used; versions are not looked at."""
    return _Lazy(re.split("[=<>~!]", name)[0].strip())


def export(*_args, **_kwargs):
    """A decorator that changes nothing."""
    return lambda thing: thing
