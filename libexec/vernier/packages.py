"""Tells which packages an interpreter has, without importing them.

Usage: packages.py MODULE...

One line each: name, version and folder, with tabs between; a package that is missing has none.
Before them "python", with the version and the interpreter, and "managed", with 1 where the
distribution lets only itself install packages.
"""

import importlib.util
import os
import platform
import sys
import sysconfig

# Packages whose distribution has another name than their module.
DISTRIBUTIONS = {"yaml": "PyYAML", "tensorflow": "tensorflow tensorflow-cpu"}


def version_of(module):
    from importlib import metadata
    for name in DISTRIBUTIONS.get(module, module).split():
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""


def place_of(module):
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or [])
    return folders[0] if folders else spec.origin or ""


def main(modules):
    del sys.path[0]  # this folder answers to no import
    own = sys.prefix != sys.base_prefix
    marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    print("python", platform.python_version(), sys.executable, sep="\t")
    print("managed", int(not own and os.path.exists(marker)), "", sep="\t")
    for module in modules:
        place = place_of(module)
        # A folder of that name on the path is no package.
        version = version_of(module) if place is not None else ""
        print(module, version, place or "", sep="\t")


main(sys.argv[1:])
