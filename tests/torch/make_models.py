"""Writes the models of the tests into a folder: make_models.py FOLDER. Needs torch, any version.

The same small network throughout: y = fc2(relu(fc1(x))) + bias, p = softmax(y). Its weights go into
net.npz too, so that the tests can state it in other words.
"""

import sys
import types
from typing import Dict

import numpy as np
import torch

FOLDER = sys.argv[1]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(6, 8)
        self.act = torch.nn.ReLU()
        self.fc2 = torch.nn.Linear(8, 3)

    def forward(self, x, bias):
        y = self.fc2(self.act(self.fc1(x))) + bias
        return y, torch.softmax(y, -1)


class ByName(torch.nn.Module):
    def forward(self, x):
        return {"twice": x + x}


class Several(torch.nn.Module):
    def forward(self, ids, mask, flag: bool = True):
        return ids * 2, (mask, ids.to(torch.float64) / 4), ids + 0


class InPlace(torch.nn.Module):
    def forward(self, x):
        return x.add_(1)


class Delay(torch.nn.Module):
    """Gives what it was given the time before."""

    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(300, 300)

    def forward(self, x):
        before = self.kept
        self.kept = x
        return before


class Record(torch.nn.Module):
    """The same, with a dictionary."""
    kept: Dict[str, torch.Tensor]

    def __init__(self):
        super().__init__()
        self.kept = {"x": torch.zeros(300, 300)}

    def forward(self, x):
        before = self.kept["x"]
        self.kept.update({"x": x})
        return before


class Tally(torch.nn.Module):
    """The sum of all that it was given, in a buffer that it writes to."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))

    def forward(self, x):
        self.total += x
        return self.total.clone()


class Hundred(Tally):
    """The same, which one of its methods lets begin at a hundred."""

    @torch.jit.export
    def reset_states(self):
        self.total.zero_()

    @torch.jit.export
    def begin(self, at: float = 100.0):
        self.total = torch.full([1, 4], at)


class Sum(torch.nn.Module):
    def forward(self, x):
        return x.sum(), (x * x).mean()


class Count(torch.nn.Module):
    def forward(self, x, n: int):
        return x * n


def save(module, name):
    torch.jit.save(torch.jit.script(module), f"{FOLDER}/{name}")


torch.manual_seed(0)
net = Net().eval()
np.savez(f"{FOLDER}/net.npz", **{k: v.numpy() for k, v in net.state_dict().items()})
save(net, "net.pt")
torch.jit.save(torch.jit.trace(net, (torch.randn(2, 6), torch.randn(3))), f"{FOLDER}/traced.pt")
save(net.double(), "double.pt")
for module, name in ((ByName(), "dict.pt"), (Several(), "several.pt"), (InPlace(), "inplace.pt"),
                     (Count(), "count.pt"), (Delay(), "delay.pt"), (Record(), "record.pt"),
                     (Sum(), "sum.pt"), (Tally(), "tally.pt"), (Hundred(), "hundred.pt")):
    save(module, name)
net = net.float()
torch.save(net.state_dict(), f"{FOLDER}/weights.pt")
layers = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
torch.save(layers, f"{FOLDER}/module.pt")
# Of classes that whoever loads them does not have: of a program, and of a module.
torch.save(ByName(), f"{FOLDER}/main.pt")
sys.modules["elsewhere"] = types.ModuleType("elsewhere")
sys.modules["elsewhere"].InPlace = InPlace
InPlace.__module__ = "elsewhere"
torch.save(InPlace(), f"{FOLDER}/elsewhere.pt")
torch.save(layers, f"{FOLDER}/legacy.pt", _use_new_zipfile_serialization=False)
save(layers.eval(), "module_script.pt")
if hasattr(torch, "export"):
    batch = torch.export.Dim("n", min=2)
    inputs = (torch.randn(2, 6), torch.randn(3))
    program = torch.export.export(net, inputs, dynamic_shapes={"x": {0: batch}, "bias": None})
    torch.export.save(program, f"{FOLDER}/export.pt2")
    if "--compiled" in sys.argv:
        torch._inductor.aoti_compile_and_package(torch.export.export(net, inputs),
                                                 package_path=f"{FOLDER}/compiled.pt2")
