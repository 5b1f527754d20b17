"""A LiteRT (TensorFlow Lite) model, .tflite, with any of its tensors.

    vernier run net.tflite --model-runner litert_model.py --runner onnx='onnxrt net.onnx'

Needs ai-edge-litert, or TensorFlow with its tf.lite, in the interpreter that --python names. Inputs
and outputs have the names of the signature if there is one, else those of the tensors.
--onnx-outputs marks tensors by name. Quantised inputs and outputs keep their integers.
"""

import fnmatch

try:
    from ai_edge_litert.interpreter import Interpreter
except ImportError:
    from tensorflow.lite.python.interpreter import Interpreter


class LiteRTModel:
    """One model; the interpreter is resized to each feed whose shapes are new."""

    def __init__(self, model_path, marked):
        self.interpreter = Interpreter(model_path,
                                       experimental_preserve_all_tensors=bool(marked))
        self.inputs = self.named("inputs", self.interpreter.get_input_details())
        self.outputs = self.named("outputs", self.interpreter.get_output_details())
        self.interpreter.allocate_tensors()
        self.outputs |= self.marked_tensors(marked)
        self.input_metadata = {name: (tensor["dtype"], self.free_shape(tensor))
                               for name, tensor in self.inputs.items()}

    def named(self, kind, tensors):
        """Tensors by their names in the only signature; without one, by their own names."""
        signatures = list(self.interpreter.get_signature_list())
        if len(signatures) != 1:
            return {tensor["name"]: tensor for tensor in tensors}
        runner = self.interpreter.get_signature_runner(signatures[0])
        details = runner.get_input_details if kind == "inputs" else runner.get_output_details
        return dict(details())

    def marked_tensors(self, marked):
        """What matches a pattern, of the tensors that operators compute."""
        known = {}
        for operator in self.interpreter._get_ops_details():
            for index in operator["outputs"]:
                tensor = next((one for one in self.interpreter.get_tensor_details()
                               if one["index"] == index), None)
                if tensor is not None and tensor["name"]:
                    known[tensor["name"]] = tensor
        found = {}
        for pattern in marked:
            names = fnmatch.filter(known, pattern)
            if not names:
                raise KeyError(f"nothing is called '{pattern}'; there are: {', '.join(known)}")
            found |= {name: known[name] for name in names}
        return found

    @staticmethod
    def free_shape(tensor):
        signature = tensor.get("shape_signature", ())
        shape = signature if len(signature) else tensor["shape"]
        return tuple(None if size < 0 else int(size) for size in shape)

    def infer(self, feed):
        for name, tensor in self.inputs.items():
            if tuple(tensor["shape"]) != feed[name].shape:
                self.interpreter.resize_tensor_input(tensor["index"], feed[name].shape)
                tensor["shape"] = feed[name].shape
        self.interpreter.allocate_tensors()
        for name, tensor in self.inputs.items():
            self.interpreter.set_tensor(tensor["index"], feed[name])
        self.interpreter.invoke()
        return {name: self.interpreter.get_tensor(tensor["index"])
                for name, tensor in self.outputs.items()}


def load(model_path, marked):
    return LiteRTModel(model_path, marked)
