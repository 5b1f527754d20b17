"""Where the package's own files are: of the wheel, or of the source tree."""

import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_INSTALLED = os.path.join(_HERE, "_program")


def program():
    """The path of the executable."""
    return os.path.join(_INSTALLED, "bin", "vernier")


def libexec():
    """The folder of the Python worker, its runners and the stand-in for Polygraphy."""
    prefix = _INSTALLED if os.path.isdir(_INSTALLED) else os.path.dirname(os.path.dirname(_HERE))
    return os.path.join(prefix, "libexec", "vernier")
