"""ONNX models: read by the package onnx, where a script asks for the object."""

from .common import call


class OnnxFromPath:
    """A model by its path; vernier's runners take the path and never load it."""

    def __init__(self, path, external_data_dir=None, ignore_external_data=None):
        self.path = path
        self.options = {}  # as vernier's runners have them
        if external_data_dir is not None:
            self.options["external_data_dir"] = external_data_dir
        if ignore_external_data:
            self.options["ignore_external_data"] = True

    def __call__(self):
        import onnx
        from onnx import external_data_helper
        model = onnx.load(self.path, load_external_data=not self.options)
        folder = self.options.get("external_data_dir")
        if folder is not None and "ignore_external_data" not in self.options:
            external_data_helper.load_external_data_for_model(model, folder)
        return model


class BytesFromOnnx:
    def __init__(self, model):
        self.model = model

    def __call__(self):
        return call(self.model).SerializeToString()


def onnx_from_path(path, **words):
    return OnnxFromPath(path, **words)()
