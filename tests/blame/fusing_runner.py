"""A stand-in for a backend whose fusion is wrong: the model is computed by the onnx package, and
tensors between a MatMul and the Add behind it are hidden from it unless they are outputs.

Environment: FUSING names a tensor that must be exposed for a right result; BREAKING one that makes
the result wrong when it is exposed; REFUSING one that the model cannot be built with; DYING one that
kills the process; CROWDED how many outputs may be exposed at once. Names are those of the whole model, so islands are never affected.
"""

import os

import onnx
from onnx import helper, numpy_helper, reference


def _spoil(model, name):
    """The node that reads `name` gets five per cent more of it."""
    for node in list(model.graph.node):
        if name not in node.input:
            continue
        place = list(model.graph.node).index(node)
        spoilt = name + "_spoilt"
        node.input[list(node.input).index(name)] = spoilt
        factor = numpy_helper.from_array(__import__("numpy").float32(1.05), name + "_factor")
        model.graph.initializer.append(factor)
        model.graph.node.insert(place, helper.make_node("Mul", [name, name + "_factor"], [spoilt]))
        return


class Model:
    def __init__(self, model):
        exposed = {output.name for output in model.graph.output}
        if os.environ.get("REFUSING") in exposed:
            raise RuntimeError("this tensor cannot be an output")
        if os.environ.get("DYING") in exposed:
            os._exit(9)
        if len(exposed) > int(os.environ.get("CROWDED", 99)):
            raise RuntimeError("too many outputs")
        fused = os.environ.get("FUSING")
        if fused and fused not in exposed:
            _spoil(model, fused)
        breaking = os.environ.get("BREAKING")
        if breaking in exposed:
            _spoil(model, breaking)
        self.evaluator = reference.ReferenceEvaluator(model)

    def infer(self, feed):
        names = self.evaluator.output_names
        return dict(zip(names, self.evaluator.run(None, feed)))


def load(model_path, model_bytes=None):
    return Model(onnx.load(model_path) if model_bytes is None else
                 onnx.load_from_string(model_bytes))
