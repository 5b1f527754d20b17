"""Files of Polygraphy's modules, which scripts import from, too: each is the module here."""

import importlib
import os
import sys
import types

_FILES = {
    "backend.base": ("loader", "runner"),
    "backend.common": ("loader",),
    "backend.onnx": ("loader",),
    "backend.onnxrt": ("loader", "runner"),
    "backend.pluginref": ("runner",),
    "backend.trt": ("calibrator", "config", "loader", "profile", "runner"),
    "common": ("struct",),
    "comparator": ("comparator", "compare", "data_loader", "postprocess", "struct"),
    "datatype": ("datatype",),
    "exception": ("exception",),
    "func": ("func",),
    "json": ("serde",),
    "logger": ("logger",),
    "mod": ("exporter", "importer"),
    "util": ("util",),
}


class _File(types.ModuleType):
    """A file of a module: what the module has."""

    def __init__(self, module, file):
        super().__init__(f"{module}.{file}")
        self.__package__ = module

    def __getattr__(self, name):
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__package__), name)


def register(package, folder):
    """Makes the files of a package that has none of them in its folder.

    Imports of a module below another one look into sys.modules before they ask for a folder.
    """
    for module, files in _FILES.items():
        for file in files:
            if not os.path.exists(os.path.join(folder, *module.split("."), file + ".py")):
                place = _File(f"{package}.{module}", file)
                sys.modules.setdefault(place.__name__, place)
