"""The head of the Python programs of this folder: --help, and modules that are missing."""

import importlib.util
import sys


def begin(about, *modules):
    """With --help prints what stands at the program's head; ends where a module is missing."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(about.strip())
        sys.exit(0)
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{sys.argv[0]}: {sys.executable} has no {' and '.join(missing)}: type "
                 f".deps/peer/bin/python {' '.join(sys.argv)}")
