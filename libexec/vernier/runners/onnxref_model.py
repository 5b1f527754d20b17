"""--onnxref: the reference evaluator of the user's own `onnx` package."""

import os

import onnx
from onnx import reference
from vernier_worker import parts


def kinds_of(values):
    """Kinds of what is no tensor: {name: "sequence_type"}."""
    kinds = {value.name: value.type.WhichOneof("value") for value in values}
    return {name: kind for name, kind in kinds.items()
            if kind in ("sequence_type", "map_type", "optional_type")}


def optional_tensors_of(values):
    """Names of what may be a tensor or nothing."""
    return {value.name for value in values
            if value.type.optional_type.elem_type.WhichOneof("value") == "tensor_type"}


class OnnxReference:
    """One model under the evaluator."""

    def __init__(self, model):
        self.evaluator = reference.ReferenceEvaluator(model)
        self.precision = "as in the model"
        weights = {weight.name for weight in model.graph.initializer}
        self.nested_inputs = list(kinds_of(
            value for value in model.graph.input if value.name not in weights))
        self.optional_tensors = optional_tensors_of(model.graph.input)
        self.nested = kinds_of(model.graph.output)
        self.optional_outputs = optional_tensors_of(model.graph.output)
        self.nested_outputs = list(self.nested)

    def _assembled(self, feed):
        """The feed with lists, dicts and None for what came in parts."""
        whole = {name: value for name, value in feed.items()
                 if not any(parts.belongs_to(name, nested) for nested in self.nested_inputs)}
        for name in self.nested_inputs:
            try:
                value = parts.assemble(name, feed)
                # ONNX's test data do not tell an optional tensor from a sequence of one.
                single = isinstance(value, list) and name in self.optional_tensors
                whole[name] = value[0] if single else value
            except KeyError as error:
                raise ValueError(f"the feed has no part {error} of input '{name}'") from None
        return whole

    def _parts_of(self, name, value):
        if name not in self.nested:
            return [(name, value)]
        # The evaluator's Optional gives a list of what it holds.
        if name in self.optional_outputs and isinstance(value, list):
            value = value[0] if value else None
        return parts.flatten(name, value, self.nested[name] == "optional_type")

    def infer(self, feed):
        outputs = self.evaluator.run(None, self._assembled(feed))
        return dict(part for name, value in zip(self.evaluator.output_names, outputs)
                    for part in self._parts_of(name, value))


def load(model_path, model_bytes=None, options=None):
    """The model at the path, or its edited bytes with the weights beside the path."""
    if model_bytes is None:
        model = onnx.load(model_path, load_external_data=False)
    else:
        model = onnx.load_from_string(model_bytes)
    folder = (options or {}).get("external_data_dir") or os.path.dirname(os.path.abspath(model_path))
    onnx.external_data_helper.load_external_data_for_model(model, folder)
    return OnnxReference(model)
