"""--data-loader-backend-module torch: the numbers of Polygraphy's loader with the same torch."""

import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import polygraphy
from onnx import TensorProto, helper

from torch_case import CLEAN, PYTHON, TorchCase

# Runs where torch is, with Polygraphy alone from here.
PEER = """
import sys, json
import numpy as np
import torch
torch.__version__ = torch.__version__.split("a")[0]  # of 1.13.0a0 Polygraphy makes no number
sys.path.append(sys.argv[1])
from polygraphy.comparator import DataLoader
from polygraphy.common import TensorMetadata
words = json.loads(sys.argv[2])
metadata = TensorMetadata()
for name, dtype, shape in words["inputs"]:
    metadata.add(name, np.dtype(dtype), tuple(shape))
ranges = {name: tuple(range) for name, range in words["ranges"].items()}
loader = DataLoader(seed=words["seed"], iterations=words["iterations"], val_range=ranges or None,
                    data_loader_backend_module="torch")
loader.input_metadata = metadata
feeds = {f"{i}/{name}": np.asarray(value) for i, feed in enumerate(loader)
         for name, value in feed.items()}
np.savez(sys.argv[3], **feeds)
"""

INPUTS = [("f", "float32", [3, 4]), ("d", "float64", [2, 2]), ("h", "float16", [5]),
          ("i", "int32", [7]), ("l", "int64", [3]), ("u", "uint8", [4]), ("c", "int8", [2, 3]),
          ("b", "bool", [9])]
# Polygraphy's call for bool is one that torch refuses.
OF_PEER = INPUTS[:-1]


class Draws(TorchCase):
    def setUp(self):
        super().setUp()
        values, nodes = {}, []
        for name, dtype, shape in INPUTS:
            code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            values[name] = [helper.make_tensor_value_info(n, code, shape) for n in (name, name + "o")]
            nodes.append(helper.make_node("Identity", [name], [name + "o"]))
        graph = helper.make_graph(nodes, "g", [v[0] for v in values.values()],
                                  [v[1] for v in values.values()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.folder / "types.onnx")

    def draw(self, *words):
        return self.passes("types.onnx", "--identity", "--data-loader-backend-module", "torch",
                           "--save-inputs", "in.json", *words)

    def peer_draws(self, seed, iterations, ranges):
        import json
        with tempfile.TemporaryDirectory() as folder:
            # Not the whole of our packages: their NumPy is not that torch's.
            os.symlink(pathlib.Path(polygraphy.__file__).parent, folder + "/polygraphy")
            words = {"inputs": OF_PEER, "seed": seed, "iterations": iterations, "ranges": ranges}
            subprocess.run([PYTHON, "-c", PEER, folder, json.dumps(words), folder + "/out.npz"],
                           check=True, env={**os.environ, **CLEAN})
            with np.load(folder + "/out.npz") as saved:
                return {name: saved[name] for name in saved.files}

    def assert_same(self, seed, iterations, ranges, *words):
        self.draw("--seed", str(seed), "--iterations", str(iterations), *words)
        expected = self.peer_draws(seed, iterations, ranges)
        feeds = self.saved_inputs()
        self.assertEqual(len(feeds), iterations)
        for i, feed in enumerate(feeds):
            self.assertEqual(feed.pop("b").dtype, bool)
            for name, value in feed.items():
                np.testing.assert_array_equal(value, expected[f"{i}/{name}"], f"{name} of feed {i}")
                self.assertEqual(value.dtype, expected[f"{i}/{name}"].dtype)

    def test_the_peers_numbers(self):
        self.assert_same(1, 3, {})
        self.assert_same(7, 2, {"": (0, 1), "i": (-50, 60), "u": (3, 200)}, "--val-range", "[0,1]",
                         "i:[-50,60]", "u:[3,200]")

    def test_they_are_not_numpys(self):
        self.draw()
        first = self.saved_inputs()[0]["f"]
        self.passes("types.onnx", "--identity", "--save-inputs", "in.json")
        self.assertFalse(np.array_equal(first, self.saved_inputs()[0]["f"]))

    def test_ranges_of_floats_hold_here(self):
        self.draw("--val-range", "f:[-5,-3]")
        values = self.saved_inputs()[0]["f"]
        self.assertTrue(((values >= -5) & (values <= -3)).all(), values)
        # As Polygraphy, which leaves them out, but not without a word.
        link = self.folder / "polygraphy"
        from script_case import VERNIER
        link.symlink_to(VERNIER)
        done = self.start([str(link), "run"],
                          ["types.onnx", "--identity", "--data-loader-backend-module", "torch",
                           "--val-range", "f:[-5,-3]", "--save-inputs", "in.json"], python=PYTHON)
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"Input tensor: f \| with torch, .* the range \[-5, -3\] is ignored")
        self.assertTrue((self.saved_inputs()[0]["f"] >= 0).all())

    def test_sequential_runners_see_the_same(self):
        done = self.passes("types.onnx", "--identity", "--identity", "--sequential-runners",
                           "--data-loader-backend-module", "torch", "--iterations", "2")
        self.assertIn("compared 8 outputs in 2 iterations", done.out)

    def test_types_that_torch_lacks(self):
        value = [helper.make_tensor_value_info(n, TensorProto.STRING, [2]) for n in "xy"]
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", value[:1], value[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.folder / "text.onnx")
        done = self.run_torch("text.onnx", "--identity", "--data-loader-backend-module", "torch")
        self.assert_fails(done, 3, "input 'x' is string, which torch")
