"""Saved outputs as the reference."""

import subprocess
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import planted
from models import chain
from program import VERNIER, Case, blame


class SavedReferences(Case):
    def saved(self, model, name, *words):
        """Inputs and outputs of a model: NAME.in.npz, NAME.npz."""
        subprocess.run([VERNIER, "run", model, "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", name + ".in.npz", "--save-outputs", name + ".npz", "-qq",
                        *words], check=True, capture_output=True)

    def test_saved_outputs_are_a_reference(self):
        network = planted.plant(0, "scale_weights")
        onnx.save(network.good, "good.onnx")
        onnx.save(network.bad, "bad.onnx")
        subprocess.run([VERNIER, "run", "good.onnx", "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", "in.npz", "--save-outputs", "gold.npz", "-qq"],
                       check=True, capture_output=True)
        ended, found = blame(self.folder.name, "bad.onnx", "--onnxrt", "--load-inputs", "in.npz",
                             "--load-outputs", "gold.npz")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])

    def test_outputs_of_other_names_are_paired_by_their_values(self):
        rng = np.random.default_rng(3)
        matrix, other = rng.standard_normal((2, 8, 8)).astype(np.float32)

        def net(path, names, scale=1.0):
            nodes = [onnx.helper.make_node("MatMul", ["x", "a"], [names[0]], "first"),
                     onnx.helper.make_node("MatMul", ["x", "b"], [names[1]], "second")]
            values = [onnx.helper.make_tensor_value_info(name, 1, [4, 8])
                      for name in ("x", *names)]
            weights = [numpy_helper.from_array(matrix * np.float32(scale), "a"),
                       numpy_helper.from_array(other, "b")]
            graph = onnx.helper.make_graph(nodes, "g", values[:1], values[1:], weights)
            opset = [onnx.helper.make_opsetid("", 13)]
            onnx.save(onnx.helper.make_model(graph, ir_version=8, opset_imports=opset), path)

        net("good.onnx", ("logits", "mask"))
        net("renamed.onnx", ("StatefulPartitionedCall:1", "StatefulPartitionedCall:0"))
        net("bad.onnx", ("StatefulPartitionedCall:1", "StatefulPartitionedCall:0"), 1.03)
        subprocess.run([VERNIER, "run", "good.onnx", "--onnxrt", "--save-inputs", "in.npz",
                        "--save-outputs", "gold.npz", "-qq"], check=True, capture_output=True)
        words = ["--onnxrt", "--load-inputs", "in.npz", "--load-outputs", "gold.npz"]
        ended, found = blame(self.folder.name, "renamed.onnx", *words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(sum(len(layer["outputs"]) for layer in found["layers"]), 2)
        ended, found = blame(self.folder.name, "bad.onnx", *words)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([one["node"] for one in found["culprits"]], ["first"])

    def test_fewer_iterations_than_the_other_side_are_no_pass(self):
        onnx.save(chain(2), "chain.onnx")
        self.saved("chain.onnx", "two", "--iterations", "2")
        self.saved("chain.onnx", "three", "--iterations", "3")
        for inputs, outputs in (("two", "three"), ("three", "two")):
            words = ["chain.onnx", "--onnxrt", "--load-inputs", inputs + ".in.npz",
                     "--load-outputs", outputs + ".npz"]
            ended = subprocess.run([VERNIER, "blame", *words, "--report", "o.md"],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 4, ended.stdout)
            self.assertIn("only the first 2 of both were looked at", ended.stdout)
            self.assertNotIn("\u2705", Path("o.md").read_text())
            self.assertIn("only the first 2 of both", Path("o.md").read_text())
            _, found = blame(self.folder.name, *words)
            self.assertEqual(found["iterations"], 2)

    def test_inputs_that_the_saved_outputs_were_not_made_from(self):
        model = chain(2)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
        onnx.save(model, "chain.onnx")
        self.saved("chain.onnx", "gold")
        self.saved("chain.onnx", "other", "--seed", "7")
        self.saved("chain.onnx", "long", "--input-shapes", "x:[6,16]")
        words = ["chain.onnx", "--onnxrt", "--load-outputs", "gold.npz", "--load-inputs"]
        doubt = "or these are not the inputs that the saved outputs were made from"
        ended, found = blame(self.folder.name, *words, "other.in.npz")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([c["node"] for c in found["culprits"]], ["MatMul_0"])
        self.assertIn(doubt, found["culprits"][0]["why"])
        ended, found = blame(self.folder.name, *words, "long.in.npz")
        self.assertEqual(ended.returncode, 3, ended.stdout)
        self.assertIn("the saved tensor 't0m' has the shape", ended.stderr)
        self.assertIn("must come from the same run", ended.stderr)
        self.assertEqual(found["culprits"], [])
        # What reads more than the inputs is accused without reservation.
        weight = next(w for w in model.graph.initializer if w.name == "w1")
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(2), "w1"))
        onnx.save(model, "chain.onnx")
        _, found = blame(self.folder.name, *words, "gold.in.npz")
        self.assertEqual([c["node"] for c in found["culprits"]], ["MatMul_1"])
        self.assertNotIn(doubt, found["culprits"][0]["why"])

    def test_saved_outputs_need_their_inputs(self):
        onnx.save(chain(), "chain.onnx")
        subprocess.run([VERNIER, "run", "chain.onnx", "--onnxrt", "--save-outputs", "gold.npz",
                        "-qq"], check=True, capture_output=True)
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt", "--load-outputs", "gold.npz")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--load-inputs", ended.stderr)

if __name__ == "__main__":
    unittest.main()
