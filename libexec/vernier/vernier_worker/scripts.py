"""Finding functions in scripts, and telling what went wrong there."""

import contextlib
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import traceback

from . import wire

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
SHIM_FOLDER = os.path.join(os.path.dirname(OWN_FOLDER), "shim")


def _stand_in_for_polygraphy():
    """Scripts import Polygraphy for its types: without it, ours have the same names."""
    if SHIM_FOLDER in sys.path or "polygraphy" in sys.modules:
        return
    if importlib.util.find_spec("polygraphy") is None:
        sys.path.append(SHIM_FOLDER)


# First lines that say no more than where in its own sources a framework was: OpenVINO's,
# TorchScript's and TensorFlow's.
_ONLY_A_PLACE = re.compile(
    r"Exception from \S+:\d+:|Check .* failed at \S+:\d+:|Graph execution error:"
    r"|The following operation failed in the TorchScript interpreter\.")
# Last lines that name no cause either: the node of a graph, a frame of C++.
_NO_CAUSE = re.compile(r"\s*(\[\[\{\{node |\[Op:|frame #\d+)")


def _first_words(text):
    """The line of a framework's message that says what is wrong: the first, or else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not _ONLY_A_PLACE.fullmatch(lines[0]):
        return lines[0]
    causes = [line for line in lines[1:] if not _NO_CAUSE.match(line)
              and not _ONLY_A_PLACE.fullmatch(line)]
    return re.sub(r"^RuntimeError: ", "", causes[-1]) if causes else lines[0]


def _named(error):
    if isinstance(error, SystemExit):
        return f"the script called exit({'' if error.code is None else repr(error.code)})"
    text = str(error).strip()
    name = type(error).__name__
    return f"{name}: {_first_words(text)}" if text else name


def _cause(error):
    """With what it was raised from, which often says what is wrong."""
    said = _named(error)
    return said if error.__cause__ is None else f"{said}; from {_named(error.__cause__)}"


def _missing_module(error):
    """The module that an import did not find, unless the script itself is behind that."""
    return error.name if isinstance(error, ModuleNotFoundError) and error.name else None


def describe(error):
    """One line with the cause, then the traceback through the script."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not f.filename.startswith((OWN_FOLDER, "<frozen"))]
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    lines = [_cause(error) + where]
    if own:
        lines += ["Traceback (most recent call last):"]
        lines += "".join(traceback.format_list(own)).rstrip("\n").splitlines()
    said = str(error).strip().splitlines()
    rest = said if said and _ONLY_A_PLACE.fullmatch(said[0].strip()) else said[1:]
    return "\n".join(lines + rest)


@contextlib.contextmanager
def guard(where, code=wire.BACKEND):
    """Whatever a script raises becomes one failure that names it."""
    try:
        yield
    except wire.Failure:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt as well
        missing = _missing_module(error)
        if missing is not None:
            raise wire.Failure(
                wire.UNAVAILABLE, f"{where} needs the Python module '{missing}', which "
                f"{sys.executable} does not have: install it there, or name another interpreter "
                f"with --python\n{describe(error)}", error) from None
        raise wire.Failure(code, f"{where}: {describe(error)}", error) from None


def _load_module(path):
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # a script may be called json.py
        name = "vernier_script_" + name
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module  # where pickle and dataclasses look
    loader.exec_module(module)
    return module


def forget_beside(path):
    """The next load of the script imports what lies in its folder anew: such modules may keep
    state, too."""
    folder = os.path.dirname(os.path.abspath(path)) + os.sep
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        own = file.startswith((OWN_FOLDER + os.sep, SHIM_FOLDER + os.sep))
        rest = file[len(folder):].split(os.sep)
        installed = "site-packages" in rest or "dist-packages" in rest
        if file.startswith(folder) and file.endswith(".py") and not own and not installed:
            del sys.modules[name]


def built_in(path):
    """The file of a script of our own, "builtin:NAME"; any other path as it is."""
    if not path.startswith("builtin:"):
        return path
    return os.path.join(os.path.dirname(OWN_FOLDER), "runners", path[len("builtin:"):] + "_model.py")


def polygraphys_words(path, name):
    """How Polygraphy begins to say that a script is of no use."""
    return f"Could not import symbol: {name} from script: {path}\nNote: Error was"


# Objects of the program that serves itself (the Python package), by paths that no file has.
given = {}


def find(path, names, where, code=wire.MALFORMED):
    """The first of `names` that the script has, with its name; `where` begins what goes wrong."""
    if path in given:
        return names[0], given[path]
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)  # stays: modules beside the script may be imported late
    _stand_in_for_polygraphy()
    if not os.path.exists(path):
        raise wire.Failure(wire.MALFORMED, f"{where}: there is no such file")
    with guard(where, code):
        module = _load_module(path)
    for name in names:
        if hasattr(module, name):
            return name, getattr(module, name)
    here = [n for n, v in vars(module).items()
            if callable(v) and getattr(v, "__module__", None) == module.__name__]
    hint = f"; it has: {', '.join(here)}" if here else ""
    raise wire.Failure(code, f"{where}: the script defines no '{names[0]}'{hint}")


def instance(symbol):
    """Classes stand for an object made without arguments, as in Polygraphy."""
    return symbol() if isinstance(symbol, type) else symbol


def accepts(function, word):
    """Can the function be given this keyword?"""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return word in parameters
