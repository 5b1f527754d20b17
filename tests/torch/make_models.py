"""Writes the models of the tests into a folder: make_models.py FOLDER. Needs torch, any version.

The same small network throughout: y = fc2(relu(fc1(x))) + bias, p = softmax(y). Its weights go into
net.npz too, so that the tests can state it in other words.
"""

import sys
import types
from typing import Dict, List, Tuple

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


class Again(Tally):
    """The same, which starts anew with another sum than at first."""

    @torch.jit.export
    def reset_states(self, at: float = 100.0):  # a constant would be folded, and then written to
        self.total = torch.full([1, 4], at)


# The same, with the sum in other places than a buffer that the code names where it writes to it.


class TallyInList(torch.nn.Module):
    kept: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        both = torch.zeros(2, 1, 4)
        self.kept = [both[0], both[1]]

    def forward(self, x):
        for kept in self.kept:
            kept += x
        self.kept[0].mul_(-1)
        return self.kept[1].clone()


class TallyInDict(torch.nn.Module):
    kept: Dict[str, torch.Tensor]

    def __init__(self):
        super().__init__()
        self.kept = {"x": torch.zeros(1, 4)}

    def forward(self, x):
        return self.kept["x"].add_(x).clone()


class TallyInTuple(torch.nn.Module):
    kept: Tuple[torch.Tensor, torch.Tensor]

    def __init__(self):
        super().__init__()
        self.kept = (torch.zeros(1, 4), torch.zeros(1, 4))

    def forward(self, x):
        _, total = self.kept
        total.add_(x)
        return total.clone()


class TallyOfList(Tally):
    """Its list is made anew, of a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("other", torch.zeros(1, 4))

    def forward(self, x):
        for kept in [self.other, self.total]:
            kept += x
        return self.total.clone()


class TallyOfBranch(TallyOfList):
    def forward(self, x):
        kept = self.total if x.numel() > 1 else self.other
        torch.add(kept, x, out=kept)
        return self.total.clone()


class TallyInFork(Tally):
    def add(self, x):
        self.total += x
        return self.total.clone()

    def forward(self, x):
        return torch.jit.wait(torch.jit.fork(self.add, x))


@torch.jit.interface
class Adds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Adder(Tally):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total.clone()


class TallyBehindInterface(torch.nn.Module):
    inner: Adds

    def __init__(self):
        super().__init__()
        self.inner = Adder()

    def forward(self, x):
        return self.inner.forward(x)


CONSTANT = torch.zeros(1, 4)


class TallyInConstant(torch.nn.Module):
    def forward(self, x):
        return CONSTANT.add_(x).clone()


@torch.jit.script
class Box(object):
    def __init__(self, value: torch.Tensor):
        self.value = value

    def double(self):
        self.value = self.value * 2


class Stateless(torch.nn.Module):
    """It reads lists and buffers, and writes to what is new alone."""
    parts: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.parts = [torch.zeros(1, 4), torch.zeros(1, 4)]
        self.register_buffer("last", torch.zeros(1, 4))

    def forward(self, x):
        box = Box(x)
        box.double()
        made: List[torch.Tensor] = []
        for part in self.parts:
            new = box.value + part
            new.mul_(0.5)
            made.append(new)
        made.append(self.last)
        total = torch.stack(made).sum(0)
        total += self.last
        return total / 2


class Trains(torch.nn.Module):
    """A normalisation that moves its mean with each call, and gives the mean."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("variance", torch.ones(1))

    def forward(self, x):
        torch.batch_norm(x.reshape(-1, 1), None, None, self.mean, self.variance, True, 0.1, 1e-5,
                         False)
        return self.mean.expand(1, 4).clone()


class Normalises(torch.nn.Module):
    """Normalisations that do not train."""

    def __init__(self):
        super().__init__()
        self.batch = torch.nn.BatchNorm1d(4)
        self.sample = torch.nn.InstanceNorm1d(2, track_running_stats=True)

    def forward(self, x):
        return self.sample(self.batch(x).reshape(1, 2, 2)).reshape(1, 4)


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
                     (Sum(), "sum.pt"), (Tally(), "tally.pt"), (Hundred(), "hundred.pt"),
                     (Again(), "again.pt"),
                     (TallyInList(), "in_list.pt"), (TallyInDict(), "in_dict.pt"),
                     (TallyInTuple(), "in_tuple.pt"), (TallyOfList(), "of_list.pt"),
                     (TallyOfBranch(), "of_branch.pt"), (TallyInFork(), "in_fork.pt"),
                     (TallyBehindInterface(), "interface.pt"), (Stateless(), "stateless.pt"),
                     (Trains(), "trains.pt"), (Normalises().eval(), "normalises.pt")):
    save(module, name)
traced = torch.jit.trace(TallyInConstant(), (torch.zeros(1, 4),), check_trace=False)
torch.jit.save(traced, f"{FOLDER}/in_constant.pt")
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
# Eagerly run, of a class that is found beside it.
with open(f"{FOLDER}/eager_tally.py", "w", encoding="utf-8") as file:
    file.write("""
import torch


class Tally(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = [torch.zeros(1, 4)]

    def forward(self, x):
        self.kept[0] += x
        return self.kept[0].clone()
""")
sys.path.insert(0, FOLDER)
torch.save(__import__("eager_tally").Tally(), f"{FOLDER}/eager_tally.pt")
if hasattr(torch, "export"):
    batch = torch.export.Dim("n", min=2)
    inputs = (torch.randn(2, 6), torch.randn(3))
    program = torch.export.export(net, inputs, dynamic_shapes={"x": {0: batch}, "bias": None})
    torch.export.save(program, f"{FOLDER}/export.pt2")
    if "--compiled" in sys.argv:
        torch._inductor.aoti_compile_and_package(torch.export.export(net, inputs),
                                                 package_path=f"{FOLDER}/compiled.pt2")
