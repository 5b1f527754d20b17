"""`vernier blame` with little memory."""

import json
import subprocess
import time
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

MIB = 1 << 20


def large_chain(path, layers, elements):
    """Cheap nodes with large tensors; one of the bad model's is wrong."""
    for name, factor in (("good", 1.0), ("bad", 1.01)):
        nodes, tip = [], "x"
        for i in range(layers):
            scale = "wrong" if i == layers // 2 else "scale"
            nodes.append(helper.make_node("Mul" if i % 2 else "Tanh",
                                          [tip, scale] if i % 2 else [tip], [f"t{i}"], name=f"n{i}"))
            tip = f"t{i}"
        weights = [numpy_helper.from_array(np.float32(1.5), "scale"),
                   numpy_helper.from_array(np.float32(1.5 * factor), "wrong")]
        assert layers // 2 % 2, "the node in the middle has to multiply"
        graph = helper.make_graph(
            nodes, "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [elements])],
            [helper.make_tensor_value_info(tip, TensorProto.FLOAT, [elements])], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path / f"{name}.onnx")


def high_water(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024 for line in file
                         if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


class Limits(Case):
    words = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
             "--reference", "gold"]

    def peak(self, *words):
        """The most memory that vernier itself held, its workers not included."""
        process = subprocess.Popen([VERNIER, "blame", *self.words, *words, "-qq", "--save-blame",
                                    "b.json"], stdout=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            # Not wait4's figure: that of the process that forked is carried over into it.
            peak = max(peak, high_water(process.pid))
            time.sleep(0.002)
        self.assertEqual(process.returncode, 1)
        return peak, json.loads(Path("b.json").read_text())

    def test_activations_that_exceed_memory(self):
        layers = 42
        large_chain(Path("."), layers, MIB)  # 4 MiB each, 42 of them on two sides and more
        more, whole = self.peak("--max-host-mem", "8G")
        self.assertEqual(whole["batches"], 1)
        # All at once are 168 MiB a side, and there are copies of them.
        limit = whole["planned_bytes"] - 5 * layers * 4 * MIB
        used, found = self.peak("--max-host-mem", str(limit))
        self.assertEqual(found["compared"], layers)
        self.assertGreater(found["batches"], 2)
        self.assertLessEqual(found["planned_bytes"], limit)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["n21"])
        self.assertLess(2 * used, more)

    def test_a_device_with_little_memory(self):
        large_chain(Path("."), 10, MIB)
        _, found = self.peak("--max-gpu-mem", "24M", "--max-host-mem", "8G")
        self.assertGreater(found["batches"], 2)
        self.assertEqual(found["compared"], 10)
        for words in (("--max-gpu-mem", "0"), ("--max-host-mem", "some"), ("--max-gpu-mem", "-1G")):
            ended, _ = blame(self.folder.name, *self.words, *words)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(words[0], ended.stderr)


if __name__ == "__main__":
    unittest.main()
