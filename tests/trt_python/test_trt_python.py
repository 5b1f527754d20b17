"""--trt through the `tensorrt` module of the user's Python: a stand-in for it (fake/) with a driver
library that has no GPU (tests/fake_cuda).

    VERNIER=... VERNIER_FAKE_CUDA_DIR=... VENV/bin/python -m unittest
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import onnx
from onnx import TensorProto, helper

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))
FAKE_CUDA_DIR = os.environ["VERNIER_FAKE_CUDA_DIR"]
FAKE_TENSORRT = pathlib.Path(__file__).parent / "fake"


def write_model(path):
    """y = relu(x) + x for float32 x of (n, 3)."""
    def info(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"),
             helper.make_node("Add", ["r", "x"], ["y"], name="add")]
    graph = helper.make_graph(nodes, "small", [info("x")], [info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class TensorRtCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-trt-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        write_model(self.folder / "m.onnx")

    def script(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    def run_vernier(self, *words, code=0, with_module=True, fake_cuda="", **more):
        environment = {key: value for key, value in os.environ.items() if key != "TENSORRT_ROOT"}
        environment.update(LD_LIBRARY_PATH=FAKE_CUDA_DIR, PYTHONDONTWRITEBYTECODE="1",
                           FAKE_TENSORRT_JOURNAL=str(self.folder / "journal"),
                           VERNIER_FAKE_CUDA=fake_cuda, **more)
        if with_module:
            environment["PYTHONPATH"] = str(FAKE_TENSORRT)
        ended = subprocess.run([VERNIER, *map(str, words)], cwd=self.folder, env=environment,
                               capture_output=True, text=True, timeout=120, check=False)
        printed = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, code, printed)
        return printed

    def journal(self):
        """What the builds were given, and forgets it."""
        path = self.folder / "journal"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]


class TensorRtInPython(TensorRtCase):
    def test_inputs_have_arrived_when_an_inference_begins(self):
        network = self.script("config.py", """
            def postprocess_config(builder, network, config):
                pass
        """)
        printed = self.run_vernier("run", "m.onnx", "--trt", "--onnxrt", "--iterations", 3,
                                   "--trt-config-postprocess-script", network,
                                   fake_cuda="late-copies")
        self.assertIn("PASSED, compared 1 output in 3 iterations", printed)

    def test_a_config_script_makes_the_configuration(self):
        script = self.script("config.py", """
            import tensorrt as trt

            def load_config(builder, network):
                assert network.num_layers == 2
                config = builder.create_builder_config()
                config.set_flag(trt.BuilderFlag.FP16)
                return config
        """)
        printed = self.run_vernier("run", "m.onnx", "--trt", "--onnxrt", "--trt-config-script",
                                   script, "--sparse-weights")
        self.assertRegex(printed, r"TensorRT 8\.5\.3\.1 runs in Python")
        self.assertIn("PASSED", printed)
        (build,) = self.journal()
        # The script's alone: TF32 is as TensorRT has it, and --sparse-weights has no effect.
        self.assertEqual(build["flags"], ["FP16", "TF32"])

    def test_postprocessing_scripts_change_network_and_configuration(self):
        first = self.script("first.py", """
            def postprocess(network):
                network.name = "first"
        """)
        second = self.script("second.py", """
            def rename(network):
                network.name += ", second"
        """)
        config = self.script("config.py", """
            import tensorrt as trt

            def postprocess_config(builder, network, config):
                config.clear_flag(trt.BuilderFlag.FP16)
                config.set_flag(trt.BuilderFlag.DEBUG)
        """)
        printed = self.run_vernier("run", "m.onnx", "--trt", "--onnxrt", "--fp16", "--trt-npps",
                                   first, second + ":rename", "--trt-cpps", config)
        self.assertIn("PASSED", printed)
        (build,) = self.journal()
        self.assertEqual(build["network"], "first, second")
        self.assertEqual(build["flags"], ["DEBUG"])

    def test_a_network_script_makes_builder_and_network(self):
        script = self.script("network.py", """
            import onnx
            import tensorrt as trt

            def load_network():
                builder = trt.Builder(None)
                network = builder.create_network(1)
                parser = trt.OnnxParser(network, None)
                parser.parse_from_file("m.onnx")
                network.name = "mine"
                return builder, network, parser

            def nothing():
                return None
        """)
        shapes = ("--input-shapes", "x:[2,3]")
        printed = self.run_vernier("run", script, "--trt", "--fp16", *shapes)
        self.assertRegex(printed, "y .*shape=(.2, 3.)")
        (build,) = self.journal()
        self.assertEqual((build["network"], build["flags"]), ("mine", ["FP16"]))
        self.run_vernier("run", f"{script}:load_network", "--trt", *shapes)
        printed = self.run_vernier("run", f"{script}:nothing", "--trt", *shapes, code=6)
        self.assertIn("must return (builder, network)", printed)
        printed = self.run_vernier("run", script, "--trt", "--onnxrt", *shapes, code=2)
        self.assertIn("could not be converted to an ONNX model", printed)

    def test_where_no_plugin_fits_the_users_module_serves(self):
        printed = self.run_vernier(
            "run", "m.onnx", "--trt", "--onnxrt", "--fp16", "--sparse-weights", "--pool-limit",
            "workspace:1G", "--tactic-sources", "cudnn", "edge_mask_convolutions",
            "--precision-constraints", "obey",
            "--layer-precisions", "add:float16", "--preview-features",
            "faster_dynamic_shapes_0805", "--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes",
            "x:[2,3]", "--trt-max-shapes", "x:[4,3]", "--input-shapes", "x:[4,3]",
            "--tensor-formats", "x:[linear,chw4]")
        self.assertIn("runs in Python", printed)
        self.assertIn("PASSED", printed)
        (build,) = self.journal()
        self.assertEqual(build["flags"], ["FP16", "OBEY_PRECISION_CONSTRAINTS", "SPARSE_WEIGHTS"])
        self.assertEqual(build["pools"], {"WORKSPACE": 1 << 30})
        self.assertEqual(build["sources"], 8)
        self.assertIn("Tactic source left out, its library cannot be used: CUDNN", printed)
        self.assertEqual(build["features"], {"FASTER_DYNAMIC_SHAPES_0805": True})
        self.assertEqual(build["profiles"], [{"x": [[1, 3], [2, 3], [4, 3]]}])
        self.assertEqual(build["precisions"], {"relu": "FLOAT", "add": "HALF"})
        self.assertEqual(build["formats"], {"x": 1 | 8, "y": 0})

    def test_outputs_are_marked_and_excluded(self):
        printed = self.run_vernier("run", "m.onnx", "--trt", "--onnxrt", "--trt-outputs", "mark",
                                   "all", "--onnx-outputs", "mark", "all")
        self.assertIn("PASSED", printed)
        self.run_vernier("run", "m.onnx", "--trt", "--trt-outputs", "*", "--trt-exclude-outputs",
                         "y")
        self.assertEqual([b["outputs"] for b in self.journal()], [["r", "y"], ["r"]])
        printed = self.run_vernier("run", "m.onnx", "--trt", "--trt-outputs", "nosuch", code=2)
        self.assertIn("there is no tensor 'nosuch'; there are r, y, x", printed)

    def test_what_cannot_be_saved_leaves_nothing_behind(self):
        (self.folder / "m.engine").mkdir()
        said = self.run_vernier("run", "m.onnx", "--trt", "--save-engine", "m.engine", code=6)
        self.assertIn("m.engine", said)
        self.assertEqual(list(self.folder.glob("*.tmp")), [])

    def test_engines_and_timings_are_saved_and_engines_run(self):
        self.run_vernier("run", "m.onnx", "--trt", "--save-engine", "m.engine",
                         "--save-timing-cache", "timings", "--save-outputs", "o.json",
                         "--save-inputs", "i.json")
        self.assertEqual((self.folder / "timings").read_bytes(), b"timed;")
        self.run_vernier("run", "m.onnx", "--trt", "--save-timing-cache", "timings")
        self.assertEqual((self.folder / "timings").read_bytes(), b"timed;timed;")
        printed = self.run_vernier("run", "m.engine", "--trt", "--load-inputs", "i.json",
                                   "--load-outputs", "o.json")
        self.assertIn("PASSED", printed)
        script = self.script("config.py", """
            def postprocess(network):
                pass
        """)
        self.journal()
        self.run_vernier("convert", "m.onnx", "-o", "converted.engine", "--trt-npps", script)
        self.assertEqual(len(self.journal()), 1)
        self.run_vernier("run", "converted.engine", "--trt")
        (self.folder / "bad.engine").write_bytes(b"\\x00" * 64)
        printed = self.run_vernier("run", "bad.engine", "--model-type", "engine", "--trt", code=3)
        self.assertIn("the magic tag does not match", printed)

    def test_what_cannot_be_is_one_sentence(self):
        nothing = self.script("nothing.py", """
            def load_config(builder, network):
                return None
        """)
        failing = self.script("failing.py", """
            def postprocess(network):
                network.name = "impossible"
        """)
        for words, code, sentence in (
                (["--fp8"], 5, "--fp8 is not available in TensorRT 8.5.3.1"),
                (["--strict-nans"], 5, "--strict-nans is not available in TensorRT 8.5.3.1"),
                (["--builder-optimization-level", "3"], 5,
                 "--builder-optimization-level is not available in TensorRT 8.5.3.1"),
                (["--tactic-sources", "nonsense"], 2, "expected one of CUBLAS, CUBLAS_LT, CUDNN"),
                (["--save-tactics", "t.json"], 5, "--save-tactics is not offered where"),
                (["--int8"], 5, "--calibration-cache"),
                (["--trt-config-script", nothing], 6, "returned no configuration"),
                (["--trt-config-script", "absent.py"], 3, "there is no such file"),
                (["--trt-npps", nothing], 3, "defines no 'postprocess'; it has: load_config"),
                (["--trt-npps", failing], 6, "no implementation for this network"),
                (["--trt-npps", failing, "--trt-lib", "x.so"], 2, "--trt-lib: with --trt-npps")):
            with self.subTest(" ".join(words)):
                self.assertIn(sentence, self.run_vernier("run", "m.onnx", "--trt", *words,
                                                         code=code))

    def test_convert_and_inspect_do_without_the_plugin_too(self):
        printed = self.run_vernier("convert", "m.onnx", "-o", "m.engine")
        self.assertIn("TensorRT 8.5.3.1 runs in Python", printed)
        printed = self.run_vernier("inspect", "model", "m.engine", "--show", "layers", "attrs")
        self.assertIn("Name: fake | Explicit Batch Engine", printed)
        self.assertRegex(printed, r"x \[dtype=float32, shape=\(-1, 3\)\]")
        self.assertIn("min=(1, 3), opt=(2, 3), max=(4, 3)", printed)
        self.assertRegex(printed, r"Layer 0 +\| relu \[Op: ACTIVATION\]")
        self.assertRegex(printed, "Tactic = 0x2")
        (self.folder / "cut.engine").write_text("nonsense", encoding="utf-8")
        printed = self.run_vernier("inspect", "model", "cut.engine", code=3)
        self.assertIn("does not begin as TensorRT's engines do, cannot be used by TensorRT 8.5.3.1 ",
                      printed)
        self.assertIn("the magic tag does not match", printed)
        newer = b"ftrt" + bytes(20) + bytes([10, 13, 3, 9]) + b"more"
        (self.folder / "new.engine").write_bytes(newer)
        printed = self.run_vernier("run", "new.engine", "--trt", code=3)
        self.assertIn("this engine, built with TensorRT 10.13.3.9, cannot be used by TensorRT "
                      "8.5.3.1 on this", printed)
        (self.folder / "old.engine").write_bytes(b"ptrt" + bytes(4) + bytes([213]) + bytes(9))
        printed = self.run_vernier("run", "old.engine", "--trt", code=3)
        self.assertIn("built with a TensorRT older than 8.6 (format 213), cannot be used", printed)

    def test_what_is_missing_is_named_in_the_order_of_installing(self):
        """A Python without packages: who lacks TensorRT is not sent for NumPy."""
        python = self.folder / "bare"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        printed = self.run_vernier("run", "m.onnx", "--trt", "--trt-npps", "x.py", "--python",
                                   python, with_module=False, code=5)
        self.assertIn("has no module 'tensorrt'", printed)
        self.assertNotIn("NumPy", printed)
        printed = self.run_vernier("run", "m.onnx", "--trt", "--trt-npps", "x.py", "--python",
                                   python, code=5)
        self.assertIn("has no NumPy", printed)
        for command in (["convert", "m.onnx", "-o", "m.engine"], ["inspect", "model", "m.engine"]):
            (self.folder / "m.engine").write_text("anything", encoding="utf-8")
            printed = self.run_vernier(*command, "--python", python, with_module=False, code=5)
            self.assertRegex(printed, "backend 'tensorrt'|TensorRT was not found|NVIDIA GPU")
            self.assertIn("has no module 'tensorrt'", printed)

    def test_the_table_names_the_version_of_a_module_that_pip_does_not_know(self):
        printed = self.run_vernier("run", "m.onnx", "--trt", "--onnxrt")
        self.assertIn("tensorrt 8.5.3.1", printed)

    def test_backends_lists_it_where_it_is(self):
        self.assertRegex(self.run_vernier("backends"), r"(?m)^tensorrt_python +\S")
        printed = self.run_vernier("backends", with_module=False)
        self.assertNotIn("tensorrt_python", printed)

    def test_without_the_module_the_plugin_says_what_is_missing(self):
        printed = self.run_vernier("run", "m.onnx", "--trt", with_module=False, code=5)
        self.assertRegex(printed, "TensorRT was not found|tensorrt")
        script = self.script("config.py", "def postprocess(network): pass")
        printed = self.run_vernier("run", "m.onnx", "--trt", "--trt-npps", script,
                                   with_module=False, code=5)
        self.assertIn("pip install tensorrt", printed)


if __name__ == "__main__":
    unittest.main()
