"""--shape-inference: what Polygraphy does with onnx, on a model without its weights."""

import os
import platform
import sys
import tempfile

import numpy as np

from . import wire

FALLBACK = (
    "Falling back to `onnx.shape_inference` because `onnxruntime.tools.symbolic_shape_infer` either"
    " could not be loaded or did not run successfully.\n")
PACKAGES = (
    "It needs the packages onnxruntime and sympy in {python}: '{python} -m pip install onnxruntime"
    " sympy' adds them; --no-onnxruntime-shape-inference does without.")


def _onnx():
    try:
        import onnx
        import onnx.shape_inference
        return onnx
    except ImportError as error:
        raise wire.Failure(
            wire.UNAVAILABLE,
            f"--shape-inference needs the Python package onnx, which {sys.executable} (Python "
            f"{platform.python_version()}) does not have ({error}): '{sys.executable} -m pip "
            "install onnx' adds it, or --python names another interpreter") from None


def _tool():
    """ONNX Runtime's, which asks for the values of weights: large ones are not in this model."""
    import onnx
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
    if getattr(SymbolicShapeInference, "knows_of_missing_weights", False):
        return SymbolicShapeInference
    values = SymbolicShapeInference._try_get_value

    def known_values(self, node, index):
        name = node.input[index] if index < len(node.input) else ""
        weight = self.initializers_.get(name)
        missing = weight is not None and weight.data_location == onnx.TensorProto.EXTERNAL
        return None if missing else values(self, node, index)

    SymbolicShapeInference._try_get_value = known_values
    SymbolicShapeInference.knows_of_missing_weights = True
    return SymbolicShapeInference


def _symbolic(model):
    tool = _tool()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch:  # where it leaves a model when it fails
        os.chdir(scratch)
        try:
            return tool.infer_shapes(model, auto_merge=True)
        finally:
            os.chdir(here)


def _attempt(onnx, raw, use_symbolic, notes):
    model = onnx.load_model_from_string(raw)
    if use_symbolic:
        try:
            inferred = _symbolic(model)
            notes.append("V Inferred shapes in the model with "
                         "`onnxruntime.tools.symbolic_shape_infer`.\nNote: To force "
                         "`onnx.shape_inference` instead, use the "
                         "`--no-onnxruntime-shape-inference` command-line option.")
            return inferred
        except Exception as error:
            notes.append("X Error while running `onnxruntime.tools.symbolic_shape_infer`:\n"
                         f"{error}")
            why = (PACKAGES.format(python=sys.executable) if isinstance(error, ImportError)
                   else f"{type(error).__name__}: {error}")
            notes.append("W " + FALLBACK + why)
            model = onnx.load_model_from_string(raw)  # it may have been half changed
    return onnx.shape_inference.infer_shapes(model)


def infer(raw, use_symbolic):
    """The model's bytes with shapes, and notes, each with a letter for its severity before it."""
    onnx = _onnx()
    notes = ["V Starting shape inference"]
    try:
        raw = _attempt(onnx, raw, use_symbolic, notes).SerializeToString()
        notes.append("V Shape inference completed successfully")
    except Exception as error:
        notes.append(f"W ONNX shape inference exited with an error:\n{error}")
    return [("model", np.frombuffer(raw, np.uint8)), ("notes", np.array(notes, dtype=object))]
