"""`vernier blame` holds what it planned, all its processes together, and plans what it was given."""

import json
import re
import subprocess
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from process_tree import peak_of
from program import VERNIER, Case

MIB = 1 << 20


def tower(wrong=1.0, layers=12, channels=64, size=112):
    """Convolutions and what follows each; by default tensors of 3 MiB."""
    random = np.random.default_rng(3)
    nodes, weights, tip = [], [], "x"
    for i in range(layers):
        values = random.normal(size=(channels, channels, 3, 3)) * (2 / channels / 9) ** 0.5
        values *= wrong if i == layers // 2 else 1
        weights.append(numpy_helper.from_array(values.astype(np.float32), f"w{i}"))
        nodes += [helper.make_node("Conv", [tip, f"w{i}"], [f"c{i}"], name=f"conv{i}",
                                   kernel_shape=[3, 3], pads=[1] * 4),
                  helper.make_node("Relu", [f"c{i}"], [f"r{i}"], name=f"relu{i}")]
        tip = f"r{i}"
    shape = [1, channels, size, size]
    graph = helper.make_graph(
        nodes, "tower", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(tip, TensorProto.FLOAT, shape)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@unittest.skipIf(b"__asan_init" in Path(VERNIER).read_bytes(), "sanitizers keep freed memory back")
class Memory(Case):
    def setUp(self):
        super().setUp()
        onnx.save(tower(), "good.onnx")
        onnx.save(tower(wrong=1.05), "bad.onnx")

    def search(self, *words):
        code, peak = peak_of([VERNIER, "blame", *words, "-qq", "--save-blame", "b.json"])
        self.assertEqual(code, 1)
        found = json.loads(Path("b.json").read_text())
        self.assertEqual(found["culprits"][0]["node"], "conv6")
        self.assertEqual(found["compared"], 24)
        self.assertLessEqual(peak, found["planned_bytes"])
        # A plan that promises anything would hold as well.
        self.assertLess(found["planned_bytes"], 4 * peak)
        return found, peak

    def test_the_plan_holds_and_so_does_the_limit(self):
        for candidate in ("onnxrt", "openvino"):
            runners = ["--runner", "gold=onnxrt good.onnx", "--runner",
                       f"new={candidate} bad.onnx", "--reference", "gold"]
            whole, most = self.search(*runners, "--max-host-mem", "16G")
            self.assertEqual(whole["batches"], 1)
            limit = whole["planned_bytes"] * 2 // 3
            parts, less = self.search(*runners, "--max-host-mem", str(limit))
            self.assertGreater(parts["batches"], 1)
            self.assertLessEqual(parts["planned_bytes"], limit)
            self.assertLess(less, most)

    def test_sessions_of_batches_before_are_gone(self):
        """Each has weights of 28 MiB: a dozen of them would not pass unseen."""
        onnx.save(tower(channels=256, size=8), "good.onnx")
        onnx.save(tower(wrong=1.05, channels=256, size=8), "bad.onnx")
        words = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--reference", "gold", "--max-host-mem", "1M"]
        found, _ = self.search(*words)
        self.assertGreater(found["batches"], 8)

    def test_several_feeds(self):
        words = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--reference", "gold", "--iterations", "3"]
        kept, _ = self.search(*words, "--max-host-mem", "16G")
        closed, _ = self.search(*words, "--max-host-mem", str(kept["planned_bytes"] * 2 // 3))
        for a, b in zip(kept["layers"], closed["layers"], strict=True):
            self.assertEqual((a["node"], a["own_error"]), (b["node"], b["own_error"]))

    def test_the_plan_is_for_the_largest_feed(self):
        """Whichever comes first."""
        nodes = [helper.make_node("Tanh", [f"t{i}"], [f"t{i + 1}"], name=f"n{i}") for i in range(20)]
        graph = helper.make_graph(
            nodes, "chain", [helper.make_tensor_value_info("t0", TensorProto.FLOAT, ["n"])],
            [helper.make_tensor_value_info("t20", TensorProto.FLOAT, ["n"])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), "chain.onnx")
        large, small = np.zeros(MIB, np.float32), np.zeros(8, np.float32)  # 4 MiB a tensor
        planned = []
        for name, feeds in (("down", (large, small)), ("up", (small, large))):
            np.savez(name + ".npz", **{f"{i:010d}/t0": feed for i, feed in enumerate(feeds)})
            ended = subprocess.run([VERNIER, "blame", "chain.onnx", "--onnxrt", "--openvino",
                                    "--load-inputs", name + ".npz", "--save-blame", "b.json"],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            found = json.loads(Path("b.json").read_text())
            self.assertEqual(found["iterations"], 2)
            planned.append(found["planned_bytes"])
        # The tensors alone are 80 MiB a side.
        self.assertGreater(planned[1], planned[0] - 60 * MIB)

    def test_a_table_does_not_make_small_tensors_large(self):
        """Sizes of the chain follow from nothing that the graph declares; the table's do."""
        nodes = [helper.make_node("Cast", ["table8"], ["table"], to=TensorProto.FLOAT),
                 helper.make_node("Gather", ["table", "ids"], ["rows"]),
                 helper.make_node("Shape", ["rows"], ["shape"]),
                 helper.make_node("Slice", ["shape", "first", "end"], ["sizes"]),
                 helper.make_node("Reshape", ["rows", "sizes"], ["t0"])]
        nodes += [helper.make_node("Tanh", [f"t{i}"], [f"t{i + 1}"], name=f"n{i}")
                  for i in range(60)]
        graph = helper.make_graph(
            nodes, "rows", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
            [helper.make_tensor_value_info("t60", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(np.tile(np.arange(-64, 64, dtype=np.int8), (8192, 4)),
                                     "table8"),
             numpy_helper.from_array(np.array([0]), "first"),
             numpy_helper.from_array(np.array([2]), "end")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), "rows.onnx")
        ended = subprocess.run([VERNIER, "blame", "rows.onnx", "--onnxrt", "--openvino",
                                "--input-shapes", "ids:[16]", "--val-range", "ids:[0,8191]",
                                "--max-host-mem", "2G", "--save-blame", "b.json"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertEqual(json.loads(Path("b.json").read_text())["batches"], 1)

    def test_a_single_layer_that_is_too_large_is_said(self):
        """Not that runners and the model are, which have room here."""
        shape = [8 * MIB]  # 32 MiB a tensor
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"], name="relu")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), "large.onnx")
        words = [VERNIER, "blame", "large.onnx", "--onnxrt", "--openvino"]
        ended = subprocess.run([*words, "-v"], capture_output=True, text=True)
        held, most = [float(n) for n in
                      re.search(r"Memory: ([\d.]+) MiB for runners and the model, up to ([\d.]+) MiB",
                                ended.stdout).groups()]
        self.assertGreater(most, held + 60, ended.stdout)
        self.assertRegex(ended.stdout, r"Took \S+ s without probes\n")
        self.assertRegex(ended.stdout, r"Took \S+ s for the tensors of both sides, \S+ s for their "
                                       r"total errors, \S+ s for the layers alone\n")
        ended = subprocess.run([*words, "--max-host-mem", f"{int(held + most) // 2}M"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("cannot be kept: a single layer's tensors need", ended.stdout)
        self.assertNotIn("by themselves", ended.stdout)

    def test_a_limit_that_cannot_be_kept_is_said(self):
        ended = subprocess.run([VERNIER, "blame", "good.onnx", "--onnxrt", "--openvino",
                                "--max-host-mem", "1M"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"--max-host-mem 1.0 MiB cannot be kept: runners and the model "
                                       r"take [\d.]+ MiB by themselves")


if __name__ == "__main__":
    unittest.main()
