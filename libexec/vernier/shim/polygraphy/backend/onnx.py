"""Loaders of ONNX models: by the onnx package, and by the program where models are changed."""

import os
import tempfile

from polygraphy import constants, exception, vernier_program
from polygraphy.logger import G_LOGGER

_LARGEST = 2 << 30  # of one protocol buffer


class _Loader:
    """Called, it gives a model."""

    def __call__(self):
        return self.call_impl()


def _model(given):
    """A model, of a loader, a path or one."""
    import onnx
    given = given() if callable(given) else given
    return onnx.load(given) if isinstance(given, (str, os.PathLike)) else given


class OnnxFromPath(_Loader):
    def __init__(self, path, external_data_dir=None, ignore_external_data=None):
        self.path, self.folder = path, external_data_dir
        self.ignore = bool(ignore_external_data)

    def call_impl(self):
        import onnx
        path = self.path() if callable(self.path) else self.path
        model = onnx.load(path, load_external_data=not self.ignore and self.folder is None)
        if self.folder is not None and not self.ignore:
            onnx.load_external_data_for_model(model, self.folder)
        return model


class GsFromOnnx(_Loader):
    """A graph of onnx_graphsurgeon."""

    def __init__(self, model):
        self.model = model

    def call_impl(self):
        import onnx_graphsurgeon
        return onnx_graphsurgeon.import_onnx(_model(self.model))


def _save(model, path):
    import onnx
    onnx.save(model, path, save_as_external_data=model.ByteSize() >= _LARGEST)


class InferShapes(_Loader):
    """The model with the shapes that ONNX Runtime's symbolic tool infers, else onnx; as it was, and
    a warning, where neither can."""

    def __init__(self, model, error_ok=None, external_data_dir=None,
                 save_to_disk_threshold_bytes=None, allow_onnxruntime=None):
        self.model, self.folder = model, external_data_dir
        self.error_ok = error_ok is not False
        self.symbolic = allow_onnxruntime is not False

    def call_impl(self):
        given = self.model() if callable(self.model) else self.model
        if isinstance(given, (str, os.PathLike)):
            given = OnnxFromPath(given, self.folder)()
        try:
            return self._symbolic(given) or self._plain(given)
        except Exception as error:  # of any kind: it is about the model
            if not self.error_ok or isinstance(error, ImportError):
                raise
            G_LOGGER.warning(f"ONNX shape inference exited with an error:\n{error}")
            return given

    def _symbolic(self, model):
        """None where there is no such tool, or it cannot."""
        if not self.symbolic:
            return None
        try:
            from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
            return SymbolicShapeInference.infer_shapes(model, auto_merge=True,
                                                       guess_output_rank=True)
        except Exception as error:
            G_LOGGER.extra_verbose(f"Error while using ONNX Runtime's shape inference: {error}")
            return None

    @staticmethod
    def _plain(model):
        import onnx
        if model.ByteSize() < _LARGEST:
            return onnx.shape_inference.infer_shapes(model)
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            before, after = (os.path.join(folder, name) for name in ("model.onnx", "new.onnx"))
            _save(model, before)
            onnx.shape_inference.infer_shapes_path(before, after)
            return onnx.load(after)


class _Converted(_Loader):
    """A model that the program has changed, by words of `vernier convert`."""

    def __init__(self, model, words):
        self.model, self.words = model, words

    def call_impl(self):
        import onnx
        model = _model(self.model)
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            before, after = (os.path.join(folder, name) for name in ("model.onnx", "new.onnx"))
            _save(model, before)
            done = vernier_program.run(["convert", before, "-o", after, *self.words])
            if done.returncode != 0:
                vernier_program.fail(done)
            return onnx.load(after)


class ModifyOutputs(_Converted):
    def __init__(self, model, outputs=None, exclude_outputs=None, copy=None):
        words = []
        if outputs:
            names = ["mark", "all"] if outputs == constants.MARK_ALL else list(outputs)
            words += ["--onnx-outputs", *names]
        if exclude_outputs:
            words += ["--onnx-exclude-outputs", *exclude_outputs]
        super().__init__(model, words)


class ConvertToFp16(_Converted):
    def __init__(self, model, copy=None):
        super().__init__(model, ["--fp-to-fp16"])


__getattr__ = exception.missing("backend.onnx")
