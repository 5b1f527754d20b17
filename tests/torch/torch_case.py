"""What the tests of --torch share: an interpreter with torch, models that it wrote, and vernier.

    VERNIER=... VERNIER_TORCH_PYTHON=/usr/bin/python3 VERNIER_TORCH_PLUGIN=1 PEER/bin/python -m unittest

VERNIER_TORCH_PLUGIN is set where the TorchScript plug-in was built against the same torch.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from script_case import VERNIER, ScriptCase  # noqa: E402,F401

PYTHON = os.environ["VERNIER_TORCH_PYTHON"]
PLUGIN = os.environ.get("VERNIER_TORCH_PLUGIN") == "1"
PLACES = ["python", "plugin"] if PLUGIN else ["python"]
# It has no NumPy 2: ours must not come before its own.
CLEAN = {"PYTHONNOUSERSITE": "1"}


class TorchCase(ScriptCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-torch-")
        cls.addClassCleanup(scratch.cleanup)
        cls.models = pathlib.Path(scratch.name)
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        subprocess.run([PYTHON, str(pathlib.Path(__file__).with_name("make_models.py")),
                        str(cls.models)], check=True, env=environment, capture_output=True)

    def setUp(self):
        super().setUp()
        for model in self.models.iterdir():
            (self.folder / model.name).symlink_to(model)

    def run_torch(self, *words, env=None):
        return self.vernier(*words, python=PYTHON, env={**CLEAN, **(env or {})})

    def passes(self, *words, **options):
        done = self.run_torch(*words, **options)
        self.assertEqual(done.code, 0, str(done))
        return done

    def outputs(self, *words):
        """Of the one iteration of the one runner, by name."""
        self.passes(*words, "--save-outputs", "out.npz")
        with np.load(self.folder / "out.npz") as saved:
            return {name.split("/")[-1]: saved[name] for name in saved.files
                    if not name.startswith("__")}

    def write_twin(self):
        """twin.onnx computes what net.pt does."""
        with np.load(self.folder / "net.npz") as weights:
            constants = [numpy_helper.from_array(weights[name], name) for name in weights.files]
        nodes = [helper.make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["h"], transB=1),
                 helper.make_node("Relu", ["h"], ["r"]),
                 helper.make_node("Gemm", ["r", "fc2.weight", "fc2.bias"], ["g"], transB=1),
                 helper.make_node("Add", ["g", "bias"], ["y"]),
                 helper.make_node("Softmax", ["y"], ["p"], axis=-1)]

        def info(name, shape):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(nodes, "twin", [info("x", ["n", 6]), info("bias", [3])],
                                  [info("y", ["n", 3]), info("p", ["n", 3])], constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.folder / "twin.onnx")
