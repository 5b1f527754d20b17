"""ONNX models: read by the package onnx, where a script asks for the object."""

from .common import call


class OnnxFromPath:
    """A model by its path; vernier's runners take the path and never load it."""

    def __init__(self, path, external_data_dir=None, ignore_external_data=None):
        self.path = path

    def __call__(self):
        import onnx
        return onnx.load(self.path)


class BytesFromOnnx:
    def __init__(self, model):
        self.model = model

    def __call__(self):
        return call(self.model).SerializeToString()


def onnx_from_path(path, **words):
    return OnnxFromPath(path, **words)()
