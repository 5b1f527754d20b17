"""A PyTorch nn.Module, run eagerly, with any of its sub-modules' outputs.

    vernier run model.onnx --onnxrt --model-runner pytorch_eager.py

Change `build` to make your own module. Its inputs are passed in the order of INPUTS and its results
get the names of OUTPUTS. To see inside, mark sub-modules by the names that `named_modules` gives:

    VERNIER_MODULES='conv1 layer1.0' vernier run --model-runner pytorch_eager.py ...

Their outputs come back under these names, beside the model's own.
"""

import os

import torch

INPUTS = {"x": (torch.float32, (1, 3))}
OUTPUTS = ["y"]


def build(model_path):
    """The module to run: here one without weights; torch.load(model_path) for your own."""
    return torch.nn.Sequential(torch.nn.ReLU())


class Eager:
    """Calls the module and collects what its marked sub-modules return."""

    def __init__(self, module, marked):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.module = module.eval().to(self.device)
        self.precision = str(next(module.parameters(), torch.zeros(0)).dtype)[len("torch."):]
        self.input_metadata = {name: (str(dtype)[len("torch."):], shape)
                               for name, (dtype, shape) in INPUTS.items()}
        self.seen = {}
        known = dict(self.module.named_modules())
        for name in marked:
            if name not in known:
                raise KeyError(f"there is no sub-module '{name}'; there are: {', '.join(known)}")
            known[name].register_forward_hook(self.keeper(name))

    def keeper(self, name):
        def keep(_module, _inputs, output):
            self.seen[name] = output
        return keep

    def infer(self, feed):
        self.seen = {}
        inputs = [torch.from_numpy(feed[name]).to(self.device) for name in INPUTS]
        with torch.inference_mode():
            results = self.module(*inputs)
        if not isinstance(results, (tuple, list)):
            results = [results]
        return {**dict(zip(OUTPUTS, results)), **self.seen}


def load(model_path):
    return Eager(build(model_path), os.environ.get("VERNIER_MODULES", "").split())
