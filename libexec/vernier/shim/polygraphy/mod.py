"""Imports that are put off, and names that a module exports."""

import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import types

from . import errors, exception

# Enumerations whose names our own runners take, where the package itself is not needed.
_WORDS = {("onnxruntime", "GraphOptimizationLevel"): types.SimpleNamespace(
    **{level: level for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED",
                                  "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL")})}


class _Lazy:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        try:
            module = importlib.import_module(self._name)
        except ModuleNotFoundError:
            if (self._name, attribute) not in _WORDS:
                raise
            return _WORDS[self._name, attribute]
        return getattr(module, attribute)

    def is_installed(self):
        return importlib.util.find_spec(self._name) is not None


def lazy_import(name, *_args, **_kwargs):
    """A module that is imported when it is first used; versions are not looked at."""
    return _Lazy(re.split("[=<>~!]", name)[0].strip())


def has_mod(name, *_args, **_kwargs):
    return lazy_import(name).is_installed()


def import_from_script(path, name):
    """What a script calls `name`; modules beside the script can be imported there."""
    path = os.fspath(path)
    module = os.path.splitext(os.path.basename(path))[0]
    loader = importlib.machinery.SourceFileLoader(module, path)
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader(module, loader))
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)  # stays: such modules may be imported late
    try:
        loader.exec_module(script)
    except OSError as error:
        raise errors.Malformed(f"'{path}' cannot be read: {error.strerror}") from error
    if not hasattr(script, name):
        raise errors.InvalidArgument(f"'{path}' has no '{name}'")
    return getattr(script, name)


def export(funcify=False, func_name=None):
    """A decorator that adds the name to its module's __all__.

    With funcify, a loader gets a function beside it, of its name in snake case or of func_name,
    that makes the loader and calls it at once: with the parameters of __init__ and of call_impl,
    those without defaults first.
    """
    module = sys._getframe(1).f_globals

    def exported(thing):
        names = [thing.__name__]
        if funcify:
            made = _function_of(thing, func_name or snake_case(thing.__name__))
            if made.__name__ in module:
                raise errors.InvalidArgument(f"export: there is a '{made.__name__}' already")
            module[made.__name__] = made
            made.__module__ = thing.__module__
            names.append(made.__name__)
        module.setdefault("__all__", []).extend(names)
        return thing
    return exported


def snake_case(name):
    """OnnxFromPath: onnx_from_path."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _function_of(loader, name):
    if not (inspect.isclass(loader) and hasattr(loader, "call_impl")):
        raise errors.InvalidArgument(
            f"export: funcify: {loader.__name__} is no class of a BaseLoader")
    making, calling = (list(inspect.signature(method).parameters.values())[1:]
                       for method in (loader.__init__, loader.call_impl))
    try:
        signature = inspect.Signature(sorted(map(_by_place, making + calling), key=_rank))
    except ValueError as error:
        raise errors.InvalidArgument(
            f"export: funcify: __init__ and call_impl of {loader.__name__} do "
            f"not go together: {error}") from error

    def function(*values, **named):
        bound = signature.bind(*values, **named)
        bound.apply_defaults()
        first, words = _arguments(making, bound.arguments)
        second, more = _arguments(calling, bound.arguments)
        return loader(*first, **words)(*second, **more)
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = f"What a {loader.__name__} gives, at once."
    return function


def _by_place(parameter):
    """Parameters by keyword alone are by place, too, in the function."""
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter if variadic else parameter.replace(kind=parameter.POSITIONAL_OR_KEYWORD)


def _rank(parameter):
    if parameter.kind != parameter.POSITIONAL_OR_KEYWORD:
        return parameter.kind
    return -1 if parameter.default is parameter.empty else 0


def _arguments(parameters, values):
    """What a method is called with, by place and by keyword."""
    places, named = [], {}
    for parameter in parameters:
        value = values[parameter.name]
        if parameter.kind == parameter.VAR_POSITIONAL:
            places += value
        elif parameter.kind == parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.kind == parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            places.append(value)
    return places, named


__all__ = ["export", "has_mod", "import_from_script", "lazy_import"]
__getattr__ = exception.missing(__name__)
