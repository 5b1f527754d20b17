"""Runs vernier and Polygraphy for the tests of this folder, and makes the files that they read."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import save_json

VERNIER = pathlib.Path(os.environ["VERNIER"]).resolve()
PEER = pathlib.Path(sys.executable).parent / "polygraphy"

# Line beginnings of Polygraphy's log that are not about its work.
NOISE = ("[W] 'colored' module", "[V] Loaded Module", "[V] Model:", "[V] Loaded extension")


def is_sanitized():
    """Whether vernier was built with AddressSanitizer."""
    return b"__asan_init" in VERNIER.read_bytes()


class Ended:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def lines(self):
        """What was said, critical lines last, without what differs from run to run."""
        kept = []
        critical = [line for line in self.err.splitlines() if line.startswith("[!]")]
        for line in self.out.splitlines() + critical:
            if line.startswith(NOISE) or "| Command: " in line:
                continue
            kept.append(re.sub(r"\s+$", "", line))
        return kept


class Case(unittest.TestCase):
    """A folder of its own for each test."""

    maxDiff = None

    def setUp(self):
        self.variables = {}
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "polygraphy").symlink_to(VERNIER)

    def start(self, program, words):
        return Ended(subprocess.run([str(program), *map(str, words)], cwd=self.folder, text=True,
                                    capture_output=True, timeout=120,
                                    env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1",
                                         **self.variables}))

    def hide_packages(self, *modules):
        """From now on no Python of these programs finds the modules, whether they are installed or
        not."""
        folder = self.path("hidden")
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(
            f"import sys\nsys.modules.update(dict.fromkeys({modules}))\n", encoding="utf-8")
        self.variables = {"PYTHONPATH": str(folder)}

    def vernier(self, *words):
        return self.start(VERNIER, words)

    def lenient(self, *words):
        """vernier called by the peer's name."""
        return self.start(self.folder / "polygraphy", words)

    def peer(self, *words):
        return self.start(PEER, words)

    def path(self, name):
        return self.folder / name

    def save_runs(self, name, runs):
        """`runs`: a list of (runner, iterations), each iteration a map of arrays."""
        RunResults([(runner, [IterationResult(dict(outputs), runner_name=runner)
                              for outputs in iterations])
                    for runner, iterations in runs]).save(str(self.path(name)))
        return name

    def save_model(self, name, op="Relu", shape=(4,)):
        """One node from `x` to `y`."""
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "xy")
        graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], "n")], "g", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def save_feeds(self, name, feeds):
        save_json([dict(feed) for feed in feeds], str(self.path(name)))
        return name


def ramp(iterations, shift=0.0, dtype=np.float32):
    """Iterations with a float and an integer output."""
    return [{"y": (np.arange(1, 13).reshape(3, 4) + i + shift).astype(dtype),
             "count": np.arange(3, dtype=np.int64) + i} for i in range(iterations)]


def same_tensors(case, ours, theirs):
    """Two maps of arrays: the same names in the same order, types, shapes and bits."""
    case.assertEqual(list(ours), list(theirs))
    for name in theirs:
        case.assertEqual(ours[name].dtype, theirs[name].dtype, name)
        case.assertEqual(ours[name].shape, theirs[name].shape, name)
        case.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)
