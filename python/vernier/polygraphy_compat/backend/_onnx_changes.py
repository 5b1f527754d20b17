"""Changed ONNX models: the work is the program's, on files; `onnx` reads what it wrote."""

import os
import tempfile

from vernier import InvalidArgument, Unimplemented, _commands
from vernier._words import words

from .common import call


def _is_graph(model):
    """Of ONNX-GraphSurgeon, which takes any attribute that is asked for as an operator."""
    return type(model).__module__.startswith("onnx_graphsurgeon")


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
            _commands.run([*command, self._given(folder.name), "-o", made, *more])
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
        with open(path, "wb") as file:
            file.write(model if isinstance(model, bytes) else model.SerializeToString())
        return path

    def __call__(self):
        import onnx
        model = onnx.load(self.path)
        if not self._gives_graph:
            return model
        import onnx_graphsurgeon
        return onnx_graphsurgeon.import_onnx(model)


class InferShapes(Changed):
    """A model with types and shapes of its tensors, of onnx; what cannot be inferred is left out
    unless error_ok=False. Runners take the model as it is: they infer shapes themselves.

    ONNX Runtime's tool, which allow_onnxruntime would allow, is not asked, and no model is saved to
    disk on the way: onnx says so of one that is too large for its memory format."""

    def __init__(self, model, error_ok=None, external_data_dir=None,
                 save_to_disk_threshold_bytes=None, allow_onnxruntime=None):
        super().__init__(model)
        self.error_ok = error_ok is not False
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
        import onnx
        model = self.model
        if isinstance(model, (str, os.PathLike)):
            from .onnx import OnnxFromPath
            model = OnnxFromPath(model, self.options.get("external_data_dir"))
        model = call(model)
        try:
            return onnx.shape_inference.infer_shapes(model, strict_mode=not self.error_ok,
                                                     data_prop=True)
        except onnx.shape_inference.InferenceError as error:
            raise InvalidArgument(f"InferShapes: {error}") from error


class FoldConstants(Changed):
    def __init__(self, model, num_passes=None, do_shape_inference=None, partitioning=None,
                 fold_shapes=None, copy=None, error_ok=None, size_threshold=None,
                 allow_onnxruntime_shape_inference=None):
        if error_ok is False:
            raise Unimplemented("FoldConstants: error_ok: vernier leaves what cannot be folded as "
                                "it is")
        if allow_onnxruntime_shape_inference is False and do_shape_inference is not False:
            raise Unimplemented("FoldConstants: allow_onnxruntime_shape_inference: vernier has no "
                                "choice of what infers shapes between passes")
        super().__init__(model)
        self.settings = {"fold_constants": True, "num_passes": num_passes,
                         "partitioning": partitioning, "fold_size_threshold": size_threshold,
                         "no_fold_shapes": fold_shapes is False,
                         "no_per_pass_shape_inference": do_shape_inference is False}

    def _words(self):
        return ["surgeon", "sanitize"], words("surgeon sanitize", self.settings)


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
