"""--onnxref: the reference evaluator of the user's own `onnx` package."""

import os

import onnx
from onnx import reference


class OnnxReference:
    """One model under the evaluator."""

    def __init__(self, model):
        self.evaluator = reference.ReferenceEvaluator(model)
        self.precision = "as in the model"

    def infer(self, feed):
        outputs = self.evaluator.run(None, feed)
        return dict(zip(self.evaluator.output_names, outputs))


def load(model_path, model_bytes=None, options=None):
    """The model at the path, or its edited bytes with the weights beside the path."""
    if model_bytes is None:
        model = onnx.load(model_path, load_external_data=False)
    else:
        model = onnx.load_from_string(model_bytes)
    folder = (options or {}).get("external_data_dir") or os.path.dirname(os.path.abspath(model_path))
    onnx.external_data_helper.load_external_data_for_model(model, folder)
    return OnnxReference(model)
