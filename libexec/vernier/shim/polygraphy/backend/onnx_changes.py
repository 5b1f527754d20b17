"""Changed ONNX models: the work is the program's, on files; `onnx` reads what it wrote."""

import os
import tempfile

from .. import errors, host
from ..logger import G_LOGGER
from .common import call

_LARGEST = 2 << 30  # of one protocol buffer


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
        model = onnx.load(call(self.path), load_external_data=not self.options)
        folder = self.options.get("external_data_dir")
        if folder is not None and "ignore_external_data" not in self.options:
            external_data_helper.load_external_data_for_model(model, folder)
        return model


def _is_graph(model):
    """Of ONNX-GraphSurgeon, which takes any attribute that is asked for as an operator."""
    return type(model).__module__.startswith("onnx_graphsurgeon")


def _save(model, path):
    import onnx
    onnx.save(model, path, save_as_external_data=model.ByteSize() >= _LARGEST)


class Changed:
    """A model that a command makes of another one, once, when it is wanted."""

    def __init__(self, model):
        self.model, self.options = model, {}
        self._folder = None
        self._gives_graph = False  # of ONNX-GraphSurgeon, as it was given

    def _words(self):
        """Those of the command, and those behind the model and the output."""
        raise NotImplementedError

    @property
    def path(self):
        """A file that lives as long as this loader."""
        if self._folder is None:
            folder = tempfile.TemporaryDirectory(prefix="vernier-")
            made = os.path.join(folder.name, "changed.onnx")
            command, more = self._words()
            host.run([*command, self._given(folder.name), "-o", made, *more])
            self._folder = folder
        return os.path.join(self._folder.name, "changed.onnx")

    def _given(self, folder):
        model = self.model
        if isinstance(model, (str, os.PathLike)):
            return os.fspath(model)
        if not _is_graph(model) and hasattr(model, "path") and not model.options:
            return os.fspath(model.path)
        model = call(model)
        if isinstance(model, (str, os.PathLike)):
            return os.fspath(model)
        if _is_graph(model):
            import onnx_graphsurgeon
            model, self._gives_graph = onnx_graphsurgeon.export_onnx(model), True
        path = os.path.join(folder, "given.onnx")
        if isinstance(model, bytes):
            with open(path, "wb") as file:
                file.write(model)
        else:
            _save(model, path)
        return path

    def __call__(self):
        import onnx
        model = onnx.load(self.path)
        if not self._gives_graph:
            return model
        import onnx_graphsurgeon
        return onnx_graphsurgeon.import_onnx(model)


class InferShapes(Changed):
    """A model with the types and shapes that ONNX Runtime's symbolic tool infers, or else onnx.

    Where neither can, it is the model as it was, and a warning, unless error_ok=False. Runners take
    the model as it is: they infer shapes themselves.
    """

    def __init__(self, model, error_ok=None, external_data_dir=None,
                 save_to_disk_threshold_bytes=None, allow_onnxruntime=None):
        super().__init__(model)
        self.error_ok = error_ok is not False
        self.symbolic = allow_onnxruntime is not False
        if external_data_dir is not None:
            self.options["external_data_dir"] = external_data_dir

    @property
    def path(self):
        if isinstance(self.model, (str, os.PathLike)):
            return os.fspath(self.model)
        if not hasattr(self.model, "path"):
            raise AttributeError("path")
        self.options = {**self.model.options, **self.options}
        return self.model.path

    def __call__(self):
        model = self.model
        if isinstance(model, (str, os.PathLike)):
            model = OnnxFromPath(model, self.options.get("external_data_dir"))
        model = call(model)
        if isinstance(model, (str, os.PathLike)):
            model = OnnxFromPath(model, self.options.get("external_data_dir"))()
        try:
            return self._symbolic(model) or self._plain(model)
        except Exception as error:  # of any kind: it is about the model
            if isinstance(error, ImportError):
                raise
            if not self.error_ok:
                raise errors.InvalidArgument(f"InferShapes: {error}") from error
            G_LOGGER.warning(f"ONNX shape inference exited with an error:\n{error}")
            return model

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

    def _plain(self, model):
        import onnx
        words = {"strict_mode": not self.error_ok, "data_prop": True}
        if model.ByteSize() < _LARGEST:
            return onnx.shape_inference.infer_shapes(model, **words)
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            before, after = (os.path.join(folder, name) for name in ("model.onnx", "new.onnx"))
            _save(model, before)
            onnx.shape_inference.infer_shapes_path(before, after, **words)
            return onnx.load(after)


class FoldConstants(Changed):
    def __init__(self, model, num_passes=None, do_shape_inference=None, partitioning=None,
                 fold_shapes=None, copy=None, error_ok=None, size_threshold=None,
                 allow_onnxruntime_shape_inference=None):
        if error_ok is False:
            raise errors.Unimplemented(
                "FoldConstants: error_ok: vernier leaves what cannot be folded as "
                "it is")
        if allow_onnxruntime_shape_inference is False and do_shape_inference is not False:
            raise errors.Unimplemented(
                "FoldConstants: allow_onnxruntime_shape_inference: vernier has no "
                "choice of what infers shapes between passes")
        super().__init__(model)
        self.words = ["--fold-constants"]
        for flag, value in (("--num-passes", num_passes), ("--partitioning", partitioning),
                            ("--fold-size-threshold", size_threshold)):
            self.words += [] if value is None else [flag, str(value)]
        self.words += ["--no-fold-shapes"] if fold_shapes is False else []
        self.words += ["--no-per-pass-shape-inference"] if do_shape_inference is False else []

    def _words(self):
        return ["surgeon", "sanitize"], self.words


class SetUpperBound(Changed):
    """Bounds of tensors whose sizes follow from data: a number, or one for each name."""

    def __init__(self, model, upper_bounds, copy=None):
        super().__init__(model)
        bounds = upper_bounds if isinstance(upper_bounds, dict) else {"": upper_bounds}
        self.bounds = [f"{name}:{bound}" if name else str(bound) for name, bound in bounds.items()]

    def _words(self):
        return ["surgeon", "sanitize"], ["--set-unbounded-dds-upper-bound", *self.bounds]


class ConvertToFp16(Changed):
    def __init__(self, model, copy=None):
        super().__init__(model)

    def _words(self):
        return ["convert"], ["--convert-to", "onnx", "--fp-to-fp16"]


class ExtractSubgraph(Changed):
    """What lies between tensors; metadata without a shape or a type is found out."""

    def __init__(self, model, input_metadata=None, output_metadata=None, check_meta=None):
        super().__init__(model)
        self.inputs, self.outputs = input_metadata, output_metadata

    def _words(self):
        line = []
        if self.inputs is not None:
            line += ["--inputs", *(f"{name}:{_shape(shape)}:{_type(dtype)}"
                                   for name, (dtype, shape) in self.inputs.items())]
        if self.outputs is not None:
            line += ["--outputs", *(f"{name}:{_type(dtype)}"
                                    for name, (dtype, _) in self.outputs.items())]
        return ["surgeon", "extract"], line


def _shape(shape):
    return "auto" if shape is None else "[" + ",".join(map(str, shape)) + "]"


def _type(dtype):
    if dtype is None:
        return "auto"
    import numpy as np
    return np.dtype(dtype).name


class GsFromOnnx:
    """A graph of ONNX-GraphSurgeon, which has to be installed."""

    def __init__(self, model):
        self.model = model

    def __call__(self):
        import onnx_graphsurgeon
        return onnx_graphsurgeon.import_onnx(call(self.model))
