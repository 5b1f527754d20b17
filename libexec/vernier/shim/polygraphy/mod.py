"""Imports that are put off."""

import importlib
import importlib.util

from polygraphy import exception


class _Lazy:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)


def lazy_import(name, *_args, **_kwargs):
    """A module that is imported when it is first used; versions are not looked at."""
    return _Lazy(name.split("=")[0].split("<")[0].split(">")[0].strip())


def export(*_args, **_kwargs):
    """A decorator that changes nothing."""
    return lambda thing: thing


def has_mod(name, *_args, **_kwargs):
    return importlib.util.find_spec(name) is not None


__getattr__ = exception.missing("mod")
