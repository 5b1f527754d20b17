"""Does a neural network still compute the same under another framework, precision or release?

The package drives the same C++ libraries as the command `vernier`; docs/python-package.md explains
it. Everything is loaded on first use, so importing the package costs nothing.
"""

import importlib

_PLACES = {
    "BackendError": "_errors", "Error": "_errors", "InternalError": "_errors",
    "InvalidArgument": "_errors", "Malformed": "_errors", "NotFound": "_errors",
    "SaveError": "_errors", "Unavailable": "_errors", "Unimplemented": "_errors",
    "IterationResult": "_results", "RunResults": "_results", "load_inputs": "_results",
    "load_results": "_results", "save_inputs": "_results",
    "compare": "_comparison", "Record": "_record", "load_record": "_record",
    "BlameRecord": "_investigations", "ProfileRecord": "_investigations",
    "blame": "_investigations", "profile": "_investigations",
    "ConsistencyRecord": "_checks", "ExtremesRecord": "_checks", "LintRecord": "_checks",
    "check_consistency": "_checks", "check_extremes": "_checks", "check_lint": "_checks",
    "run": "_running",
    "Identity": "_runners", "OnnxReference": "_runners", "OnnxRuntime": "_runners",
    "OpenVino": "_runners", "PluginReference": "_runners", "Runner": "_runners",
    "TensorFlow": "_runners", "TensorRt": "_runners", "Torch": "_runners",
}
__all__ = sorted(_PLACES)


def __getattr__(name):
    if name == "__version__":
        value = importlib.import_module("._native", __name__).VERSION
    elif name in _PLACES:
        value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    else:
        raise AttributeError(f"module 'vernier' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__, "__version__"])
