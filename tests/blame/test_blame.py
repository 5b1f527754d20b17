"""`vernier blame` as a user meets it: sides that are missing or fail, batches, interrupted searches."""

import json
import subprocess
import unittest
from pathlib import Path

import onnx
from onnx import TensorProto, helper

import planted
from models import chain
from program import VERNIER, Case, blame, two_models


class Blame(Case):
    def test_a_runner_that_fails_is_named(self):
        onnx.save(chain(1), "good.onnx")
        Path("bad.onnx").write_bytes(chain(1).SerializeToString().replace(b"MatMul", b"NoSuch"))
        for first, second in (("good", "bad"), ("bad", "good")):
            ended, _ = blame(self.folder.name, "--runner", f"one=onnxrt {first}.onnx", "--runner",
                             f"two=openvino {second}.onnx", "--reference", "one")
            self.assertIn(ended.returncode, (3, 6), ended.stderr)
            self.assertIn(f"[!] '{'one' if first == 'bad' else 'two'}': ", ended.stderr)

    def test_runners_that_both_fail_count_as_in_run(self):
        Path("bad.onnx").write_bytes(chain(1).SerializeToString().replace(b"MatMul", b"NoSuch"))
        ended, _ = blame(self.folder.name, "bad.onnx", "--onnxrt", "--openvino")
        self.assertEqual(ended.returncode, 6, ended.stderr)
        self.assertIn("onnxrt", ended.stderr)
        self.assertIn("openvino", ended.stderr)

    def test_a_search_that_compared_nothing_is_no_pass(self):
        for rows, code, says in ((0, 4, "nothing was compared: no tensor has an element"),
                                 (2, 0, "Nothing is to blame, but that shows nothing: every tensor "
                                        "holds one value only.")):
            with self.subTest(rows=rows):
                x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [rows, 4]) for n in "xy")
                graph = helper.make_graph([helper.make_node("Sub", ["x", "x"], ["y"])], "g", [x], [y])
                onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                            ir_version=8), "m.onnx")
                ended = subprocess.run([VERNIER, "blame", "m.onnx", "--onnxrt", "--onnxrt",
                                        "--report", "o.md"], capture_output=True, text=True)
                self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
                self.assertIn(says, ended.stdout + ended.stderr)
                self.assertIn(f"1 tensor of 1 layer compared, {4 * rows} element", ended.stdout)
                if rows:
                    self.assertIn("Nothing is to blame, but that shows nothing.",
                                  Path("o.md").read_text())

    def test_a_constant_that_is_not_finite_is_named(self):
        numbers = [float("nan"), float("inf"), -float("inf"), 0.0]
        values = helper.make_tensor("k", TensorProto.FLOAT, [4], numbers)
        for kind in ("Constant", "Initializer"):
            with self.subTest(kind):
                nodes = [helper.make_node("Add", ["x", "k"], ["y"], name="add")]
                if kind == "Constant":
                    nodes.insert(0, helper.make_node("Constant", [], ["k"], value=values))
                x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in "xy")
                graph = helper.make_graph(nodes, "g", [x], [y],
                                          [values] if kind == "Initializer" else [])
                onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                            ir_version=8), "m.onnx")
                ended, found = blame(self.folder.name, "m.onnx", "--onnxrt", "--onnxrt")
                self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
                self.assertEqual([c["node"] for c in found["culprits"]], ["add"])
                self.assertIn("its constant 'k' holds values that are not finite",
                              found["culprits"][0]["why"])

    def test_one_side_is_not_enough(self):
        onnx.save(chain(), "chain.onnx")
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt")
        self.assertEqual(ended.returncode, 2)

    def test_run_with_blame(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        ended = subprocess.run([VERNIER, "run", *words, "--blame", "--save-blame", "b.json"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        found = json.loads(Path("b.json").read_text())
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])
        self.assertIn("To blame:", ended.stdout)

    def test_batches_without_memory_are_as_small_as_can_be(self):
        network = planted.plant(0, "scale_weights")
        ended, found = blame(self.folder.name, *two_models(network), "--max-host-mem", "40K")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertGreater(found["batches"], 3)
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])

    def test_an_interrupted_search_goes_on(self):
        network = planted.plant(0, "scale_weights")
        words = [*two_models(network), "--max-host-mem", "40K", "--resume", "state.json"]
        _, whole = blame(self.folder.name, *words)
        state = json.loads(Path("state.json").read_text())
        half = len(state["layers"]) // 2
        kept = state["layers"][:half]
        state["layers"] = kept
        Path("state.json").write_text(json.dumps(state))
        ended, again = blame(self.folder.name, *words)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([c["node"] for c in again["culprits"]],
                         [c["node"] for c in whole["culprits"]])
        self.assertEqual([layer["node"] for layer in again["layers"]],
                         [layer["node"] for layer in whole["layers"]])
        ended, _ = blame(self.folder.name, *words, "--seed", "5")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("another command", ended.stderr)

    def test_a_search_is_resumed_by_blame(self):
        onnx.save(chain(1), "chain.onnx")
        ended = subprocess.run([VERNIER, "run", "chain.onnx", "--onnxrt", "--openvino", "--blame",
                                "--resume", "st.json"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("Unrecognized Options: ['st.json']", ended.stdout)
        self.assertIn("`vernier blame --resume st.json`", ended.stdout)

if __name__ == "__main__":
    unittest.main()
