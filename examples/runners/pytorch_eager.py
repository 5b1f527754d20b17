"""A PyTorch nn.Module, run eagerly, with any of its sub-modules' outputs.

    vernier run model.onnx --onnxrt --model-runner pytorch_eager.py

Change `load` to make your own module: its inputs, which are passed in this order, and the names of
its outputs. To see inside, mark sub-modules by the names that `named_modules` gives; their outputs
come back under these names, beside the model's own:

    vernier run --model-runner pytorch_eager.py --mark-all
    vernier run --model-runner pytorch_eager.py --onnx-outputs conv1 'layer*'
"""

import fnmatch

import torch


class Eager:
    """Calls the module and collects what its marked sub-modules return."""

    def __init__(self, module, inputs, outputs, marked):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.module = module.eval().to(self.device)
        self.precision = str(next(module.parameters(), torch.zeros(0)).dtype)[len("torch."):]
        self.input_metadata = {name: (str(dtype)[len("torch."):], shape)
                               for name, (dtype, shape) in inputs.items()}
        self.outputs = outputs
        self.seen = {}
        known = {name: inner for name, inner in module.named_modules() if name}
        for pattern in marked:
            found = fnmatch.filter(known, pattern)
            if not found:
                raise KeyError(f"nothing is called '{pattern}'; there are: {', '.join(known)}")
            for name in found:
                known[name].register_forward_hook(self.keeper(name))

    def keeper(self, name):
        def keep(_module, _inputs, output):
            self.seen[name] = output
        return keep

    def infer(self, feed):
        self.seen = {}
        inputs = [torch.from_numpy(feed[name]).to(self.device) for name in self.input_metadata]
        with torch.inference_mode():
            results = self.module(*inputs)
        if not isinstance(results, (tuple, list)):
            results = [results]
        return {**dict(zip(self.outputs, results)), **self.seen}


def load(model_path, marked):
    """Here a module without weights; for your own build it and load_state_dict(model_path)."""
    module = torch.nn.Sequential(torch.nn.ReLU())
    return Eager(module, {"x": (torch.float32, (1, 3))}, ["y"], marked)
