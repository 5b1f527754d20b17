"""ONNX models: read by the package onnx, where a script asks for the object."""

import os
import tempfile

from .. import errors, exception, host
from ..constants import MARK_ALL
from ..logger import G_LOGGER
from .common import at_once, call
from .onnx_changes import (ConvertToFp16, ExtractSubgraph, FoldConstants, GsFromOnnx, InferShapes,
                           OnnxFromPath, SetUpperBound)

__all__ = ["BytesFromOnnx", "ConvertToFp16", "ExtractSubgraph", "FoldConstants", "GsFromOnnx",
           "InferShapes", "ModifyOutputs", "OnnxFromBytes", "OnnxFromPath", "SaveOnnx",
           "SetUpperBound", "bytes_from_onnx", "convert_to_fp16", "extract_subgraph",
           "fold_constants", "gs_from_onnx", "infer_shapes", "modify_outputs", "onnx_from_bytes",
           "onnx_from_path", "save_onnx", "set_upper_bound"]


class OnnxFromBytes:
    def __init__(self, serialized_onnx):
        self.serialized = serialized_onnx

    def __call__(self):
        import onnx
        return onnx.load_from_string(call(self.serialized))


class ModifyOutputs:
    """A model with other outputs: names, or constants.MARK_ALL for every tensor; or those of all
    nodes with the operators of mark_types, in any case.

    Of a model that is known by its path, vernier's runners mark them themselves.
    """

    def __init__(self, model, outputs=None, exclude_outputs=None, copy=None, mark_types=None):
        if isinstance(model, (str, os.PathLike)):
            model = OnnxFromPath(model)
        self.model, self.outputs, self.exclude_outputs = model, outputs, exclude_outputs
        self.copy, self.mark_types = copy, mark_types
        if not hasattr(model, "path"):
            return
        self.path, self.options = model.path, dict(model.options)
        if outputs is not None:
            self.options["onnx_outputs"] = (
                ["mark", "all"] if outputs == MARK_ALL else list(outputs))
        if exclude_outputs:
            self.options["onnx_exclude_outputs"] = list(exclude_outputs)
        if mark_types:
            self.options["onnx_outputs_by_type"] = list(mark_types)

    def __call__(self):
        import onnx
        model = call(self.model)
        if self.copy:
            model = type(model).FromString(model.SerializeToString())
        graph = model.graph
        known = {info.name: info for info in (*graph.value_info, *graph.input, *graph.output)}
        made = [name for node in graph.node for name in node.output if name]
        names = [info.name for info in graph.output] if self.outputs is None else (
            made if self.outputs == MARK_ALL else list(self.outputs))
        names = _of_types(graph, self.mark_types or ()) or names
        for name in names:
            if name not in known and name not in made:
                raise errors.NotFound(f"the model has no tensor '{name}'")
        wanted = [known.get(name) or onnx.helper.make_empty_tensor_value_info(name)
                  for name in names if name not in (self.exclude_outputs or ())]
        wanted = [onnx.ValueInfoProto.FromString(info.SerializeToString()) for info in wanted]
        del graph.output[:]
        graph.output.extend(wanted)
        return model


def _of_types(graph, types):
    """The outputs of the nodes with these operators; an unknown one is logged."""
    wanted = {kind.lower() for kind in types}
    for kind in types:
        if kind.lower() not in {node.op_type.lower() for node in graph.node}:
            G_LOGGER.error(f"No ONNX nodes of op type '{kind}' were found in the model.")
    return list(dict.fromkeys(name for node in graph.node if node.op_type.lower() in wanted
                              for name in node.output if name))


class SaveOnnx:
    """Writes the model and gives it on: by the package onnx where it is called, by the program for
    vernier's runners, which take a model's path."""

    def __init__(self, model, path, external_data_path=None, size_threshold=None,
                 all_tensors_to_one_file=None):
        self.model, self.file = model, path
        self.words, self._is_saved = {}, False
        if external_data_path is not None:
            self.words = {"save_as_external_data": True, "location": external_data_path or None,
                          "size_threshold": 1024 if size_threshold is None else size_threshold,
                          "all_tensors_to_one_file": all_tensors_to_one_file is not False}

    @property
    def options(self):
        """Of vernier's runners, where the model is known by its path."""
        return self.model.options

    @property
    def path(self):
        """The model's own, which is saved by then."""
        path = os.fspath(call(self.model.path))
        if not self._is_saved:
            file = os.path.abspath(self.file)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            host.run(["convert", path, "-o", file, "--convert-to", "onnx", "--lenient",
                      *self._words_of_program()])
            self._is_saved = True
        return path

    def _words_of_program(self):
        words = []
        for name, value in self.options.items():
            words.append("--" + name.replace("_", "-"))
            words += [] if value is True else [value] if isinstance(value, str) else value
        if self.words:
            place = self.words["location"]
            words.append("--save-external-data" + (f"={place}" if place else ""))
            words += ["--external-data-size-threshold", str(self.words["size_threshold"])]
            if not self.words["all_tensors_to_one_file"]:
                words.append("--no-save-all-tensors-to-one-file")
        return words

    def __call__(self):
        model = call(self.model)
        file = os.path.abspath(self.file)
        self._check_place(model)
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".vernier-", dir=os.path.dirname(file)) as made:
                self._save(model, os.path.join(made, os.path.basename(file)))
                _move(made, file)
        except OSError as error:  # some of onnx's have a text alone
            raise errors.SaveError(
                f"'{self.file}' cannot be written: {error.strerror or error}") from error
        return model

    def _check_place(self, model):
        """onnx looks at these after it has written, or not at all."""
        place = self.words.get("location")
        if place is None:
            return
        if os.path.isabs(place) or ".." in place.split("/"):
            raise errors.InvalidArgument(
                f"external_data_path: expected a path within the model's folder, got "
                f"'{place}'")
        for tensor in model.graph.initializer:
            kept = {entry.key: entry.value for entry in tensor.external_data}.get("location")
            if kept is not None and os.path.normpath(kept) == os.path.normpath(place):
                raise errors.InvalidArgument(
                    f"external_data_path: '{place}' has weights of this model that "
                    f"were not loaded ('{tensor.name}')")

    def _save(self, model, path):
        import onnx
        place = self.words.get("location") or ""
        os.makedirs(os.path.join(os.path.dirname(path), os.path.dirname(place)), exist_ok=True)
        onnx.save(model, path, **self.words)


def _move(made, file):
    """The files of a folder to that of `file`, which is the last."""
    for folder, _, names in os.walk(made):
        there = os.path.join(os.path.dirname(file), os.path.relpath(folder, made))
        os.makedirs(there, exist_ok=True)
        for name in names:
            if os.path.join(folder, name) != os.path.join(made, os.path.basename(file)):
                os.replace(os.path.join(folder, name), os.path.join(there, name))
    os.replace(os.path.join(made, os.path.basename(file)), file)


class BytesFromOnnx:
    """Runners take the path of a model that is known by one, and no bytes."""

    def __init__(self, model):
        self.model = model

    @property
    def options(self):
        return self.model.options

    @property
    def path(self):
        return self.model.path

    def __call__(self):
        return call(self.model).SerializeToString()


modify_outputs = at_once(ModifyOutputs)
save_onnx = at_once(SaveOnnx)
bytes_from_onnx = at_once(BytesFromOnnx)
onnx_from_path = at_once(OnnxFromPath)
onnx_from_bytes = at_once(OnnxFromBytes)
infer_shapes = at_once(InferShapes)
fold_constants = at_once(FoldConstants)
set_upper_bound = at_once(SetUpperBound)
convert_to_fp16 = at_once(ConvertToFp16)
extract_subgraph = at_once(ExtractSubgraph)
gs_from_onnx = at_once(GsFromOnnx)


__getattr__ = exception.missing(__name__)
