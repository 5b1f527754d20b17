"""Memory is that of an iteration, whatever the size of the files."""

import contextlib
import io
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from program import VERNIER, Case, is_sanitized

MIB = 1 << 20
ITERATIONS = 24
FLOATS = 1 << 20  # 4 MiB an iteration, 96 MiB a file
LIMIT = 64 * MIB

# A process counts the memory of the one that started it: this one is small.
MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Memory(Case):
    def setUp(self):
        super().setUp()
        values = np.random.default_rng(1).random(FLOATS, dtype=np.float32)
        with contextlib.redirect_stdout(io.StringIO()):
            self.save_runs("a.json", [("A", ({"y": values + i} for i in range(ITERATIONS)))])
        self.runs("data", "convert", "a.json", "-o", "b.npz")
        self.runs("data", "convert", "b.npz", "-o", "c.safetensors")

    def runs(self, *words):
        ended = subprocess.run([sys.executable, "-S", "-c", MEASURE, VERNIER, *words],
                               cwd=self.folder, capture_output=True, text=True, timeout=120,
                               check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        if not is_sanitized():  # which keeps freed memory back
            self.assertLess(int(ended.stderr.split()[-1]) * 1024, LIMIT, words)

    def test_every_command(self):
        self.assertGreater(self.path("a.json").stat().st_size, 2 * LIMIT)
        self.runs("compare", "a.json", "b.npz", "-q")
        self.runs("compare", "b.npz", "c.safetensors", "a.json")
        self.runs("data", "concat", "a.json", "c.safetensors", "-o", "d.npz")
        self.runs("data", "merge", "a.json", "b.npz", "-o", "e.json")
        self.runs("data", "convert", "a.json", "-o", "folder")
        self.runs("data", "show", "a.json", "-a", "-v")
        self.runs("compare", "folder", "b.npz", "-q")

    def test_of_a_large_weight_the_corners_are_read(self):
        side = 1 << 13  # 256 MiB
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[side, side],
                             data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="w.bin")
        with open(self.path("w.bin"), "wb") as file:
            file.truncate(4 * side * side)
            file.seek(-4, 2)
            file.write(np.float32(7).tobytes())
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, side])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, side])], [tensor])
        onnx.save(helper.make_model(graph), str(self.path("m.onnx")))
        self.runs("inspect", "model", "m.onnx", "--show", "weights")
        shown = self.vernier("inspect", "model", "m.onnx", "--show", "weights").out
        self.assertIn("[0. 0. 0. ... 0. 0. 7.]]", shown)


if __name__ == "__main__":
    unittest.main()
