"""inspect model of what TensorRT makes, beside Polygraphy's, over the stand-in for TensorRT's Python
module: networks (--display-as trt), and the values of an engine's tensors (--combine-tensor-info)."""

import json
import os
import subprocess
import sys
import unittest

import onnx
from onnx import TensorProto, helper

import test_trt_python

PEER = os.path.join(os.path.dirname(sys.executable), "polygraphy")
OWN_LINES = ("'colored' module is not installed", " runs in Python (")


def shown(printed):
    return [line.rstrip() for line in printed.splitlines() if not any(own in line for own in OWN_LINES)]


class InspectNetwork(unittest.TestCase):
    run_vernier = test_trt_python.TensorRtCase.run_vernier
    script = test_trt_python.TensorRtCase.script

    def setUp(self):
        test_trt_python.TensorRtCase.setUp(self)
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy"]
        nodes = [helper.make_node("Identity", ["x"], ["i"], name="same"),
                 helper.make_node("Relu", ["i"], ["r"], name="relu"),
                 helper.make_node("Add", ["r", "x"], ["y"], name="add")]
        graph = helper.make_graph(nodes, "small", info[:1], info[1:])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  self.folder / "m.onnx")

    def peer(self, *words):
        environment = {**os.environ, "LD_LIBRARY_PATH": test_trt_python.FAKE_CUDA_DIR,
                       "PYTHONPATH": str(test_trt_python.FAKE_TENSORRT)}
        ended = subprocess.run([sys.executable, PEER, *map(str, words)], cwd=self.folder,
                               env=environment, capture_output=True, text=True, timeout=120,
                               check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return shown(ended.stdout)

    def both(self, *words):
        ours = shown(self.run_vernier("inspect", "model", *words))
        self.assertEqual(ours, self.peer("inspect", "model", *words))
        return "\n".join(ours)

    def test_networks_are_shown_as_polygraphy_shows_them(self):
        for what in ([], ["layers"], ["layers", "attrs"], ["layers", "attrs", "weights"]):
            with self.subTest(what):
                words = ["--show", *what] if what else []
                text = self.both("m.onnx", "--display-as", "trt", *words)
                self.assertEqual("Layer 2    | add" in text, "layers" in what)
                self.assertEqual("relu.alpha = 0.5" in text, "attrs" in what)
                self.assertEqual("[1. 1.]" in text, "weights" in what)

    def test_scripts_and_edits_take_part(self):
        script = self.script("network.py", """
            import tensorrt as trt

            def load_network():
                builder = trt.Builder(None)
                network = builder.create_network(1)
                x = network.add_input("x", trt.float32, (2, 2))
                network.mark_output(network.add_identity(x).get_output(0))
                return builder, network

            def own():
                return load_network()

            def postprocess(network):
                network.name = "renamed"
        """)
        for words in ([], ["--model-type", "trt-network-script"]):
            self.assertIn("Name: network | ", self.run_vernier("inspect", "model", script, *words))
        self.assertIn("---- 1 Layer(s)", self.run_vernier("inspect", "model", script + ":own"))
        self.both("m.onnx", "--display-as", "trt", "--trt-npps", script)
        printed = self.run_vernier("inspect", "model", "m.onnx", "--display-as", "trt",
                                   "--trt-npps", script, "--tensor-dtypes", "x:float16")
        self.assertIn("Name: renamed | ", printed)
        self.assertIn("x [dtype=float16", printed)

    def test_models_with_py_in_their_names_are_no_scripts(self):
        (self.folder / ".pyenv").mkdir()
        for name in ("net.pytorch.onnx", ".pyenv/m.onnx"):
            (self.folder / name).write_bytes((self.folder / "m.onnx").read_bytes())
            with self.subTest(name):
                self.both(name, "--display-as", "trt")

    def test_values_of_an_engines_tensors(self):
        self.run_vernier("convert", "m.onnx", "-o", "m.engine")
        results = self.script("results.py", """
            import numpy as np
            from polygraphy.comparator import RunResults

            results = RunResults()
            results.add([{"r": np.array([[-1.0, 2.0, 4.5]], np.float32), "other": np.ones(1)},
                         {"r": np.zeros((1, 3), np.float32)}], runner_name="first")
            results.add([{"x": np.ones(3)}, {"x": np.ones(3)}], runner_name="second")
            results.save("outputs.json")
        """)
        subprocess.run([sys.executable, results], cwd=self.folder, check=True, timeout=60,
                       capture_output=True)
        text = self.both("m.engine", "--show", "layers", "--combine-tensor-info", "outputs.json")
        self.assertIn("Format: Row major linear FP32, min=-1.00, max=4.50, avg=1.83]", text)
        self.assertIn("Found 2 iterations in tensor info file, only using the first one", text)
        seen = self.run_vernier("inspect", "model", "m.engine", "--show", "layers", "--format",
                                "json", "--combine-tensor-info", "outputs.json")
        layer = json.loads(seen[seen.index("{"):])["layers"][1]
        self.assertEqual([layer["outputs"][0][key] for key in ("min", "max")], [-1, 4.5])
        self.assertNotIn("min", layer["inputs"][0])
        self.assertIn("only with --show layers", self.run_vernier(
            "inspect", "model", "m.engine", "--combine-tensor-info", "outputs.json", code=2))

    def test_what_does_not_go_together(self):
        for words, sentence in (
                (["--strongly-typed"], "--strongly-typed: only with --display-as trt"),
                (["--combine-tensor-info", "o.json"], "only for a TensorRT engine"),
                (["--display-as", "trt", "--layer", "add"], "--layer: not with --display-as trt"),
                (["--display-as", "trt", "--onnxrt"], "a runner: not with --display-as trt"),
                (["--display-as", "trt", "--show", "stats"], "--show stats")):
            with self.subTest(words):
                self.assertIn(sentence, self.run_vernier("inspect", "model", "m.onnx", *words,
                                                         code=2))
        printed = self.run_vernier("inspect", "model", "m.onnx", "--save-timing-cache", "f",
                                   "--ckpt", "name")
        self.assertIn("--save-timing-cache has no effect: nothing is built", printed)
        self.assertIn("--ckpt has no effect: this is not a TensorFlow model", printed)
        printed = self.run_vernier("inspect", "model", "m.onnx", "--display-as", "trt", code=5,
                                   with_module=False)
        self.assertIn("--display-as trt needs the Python package tensorrt", printed)
        (self.folder / "odd.onnx").write_bytes((self.folder / "m.onnx").read_bytes()
                                               .replace(b"Relu", b"Rulu"))
        self.assertIn("no importer registered for op 'Rulu'", self.run_vernier(
            "inspect", "model", "odd.onnx", "--display-as", "trt", code=6))


if __name__ == "__main__":
    unittest.main()
