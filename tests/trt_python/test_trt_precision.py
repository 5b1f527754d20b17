"""debug precision with a TensorRT that takes the types of a model for hints: its layers are given
precisions. The stand-in of fake/ computes in float16 what is not held; no GPU is needed.

    VERNIER=... VERNIER_FAKE_CUDA_DIR=... VENV/bin/python -m unittest
"""

import shlex
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from test_trt_python import VERNIER, TensorRtCase

TOLERANCES = ["--atol", "0.02", "--rtol", "0.02"]


def write_model(path, sensitive=True):
    """A square of 1e6 and back, within harmless nodes: two have to stay in float32."""
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])
    weights = {"thousand": 1e3 if sensitive else 2, "millionth": 1e-6 if sensitive else 0.25}
    nodes = [("Neg", ["x"], "a"), ("Relu", ["x"], "b"), ("Add", ["x", "b"], "c"),
             ("Mul", ["c", "thousand"], "scale"), ("Mul", ["scale", "scale"], "square"),
             ("Mul", ["square", "millionth"], "back"), ("Neg", ["back"], "d"), ("Relu", ["d"], "e"),
             ("Add", ["e", "back"], "y")]
    nodes = [helper.make_node(op, inputs, [made], name=f"node {made}") for op, inputs, made in nodes]
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")],
                              [numpy_helper.from_array(np.float32(v), k) for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def write_activated(path):
    """A sum of 1e6 that a Relu reads, and back."""
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])
    weights = {"million": np.eye(3) * 1e6, "millionth": np.eye(3) * 1e-6}
    nodes = [("Neg", ["x"], "a"), ("Neg", ["a"], "b"), ("Gemm", ["b", "million"], "large"),
             ("Relu", ["large"], "positive"), ("Gemm", ["positive", "millionth"], "back"),
             ("Add", ["back", "x"], "y")]
    nodes = [helper.make_node(op, inputs, [made], name=f"node {made}") for op, inputs, made in nodes]
    graph = helper.make_graph(nodes, "g", [info("x")], [info("y")],
                              [numpy_helper.from_array(v.astype(np.float32), k)
                               for k, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class TensorRtPrecision(TensorRtCase):
    def setUp(self):
        super().setUp()
        write_model(self.folder / "m.onnx")

    def run_vernier(self, *words, **more):
        return super().run_vernier(*words, FAKE_TENSORRT_HALF="1", **more)

    def kept(self, printed):
        lines = printed.splitlines()
        begin = next(i for i, line in enumerate(lines) if "acceptable accuracy, keep" in line)
        return [line.split("'")[1] for line in lines[begin + 1:] if line.startswith("    ")]

    def command(self, printed):
        (line,) = [line for line in printed.splitlines() if "To build this engine: " in line]
        return shlex.split(line.split("To build this engine: ")[1])

    def test_layers_are_held_and_the_command_builds_the_same_engine(self):
        printed = self.run_vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx",
                                   "--sparse-weights", "--", "--trt", "--input-shapes", "x:[4,3]",
                                   *TOLERANCES)
        self.assertIn("TensorRT 8.5.3.1 treats the types of a model as hints", printed)
        self.assertEqual(set(self.kept(printed)), {"node square", "node back"})
        builds = self.journal()
        # The reference is what the model computes in float32.
        self.assertEqual(builds[0]["flags"], ["SPARSE_WEIGHTS"])
        for build in builds[1:]:
            self.assertEqual(build["flags"],
                             ["FP16", "OBEY_PRECISION_CONSTRAINTS", "SPARSE_WEIGHTS"])
        self.assertIn("TensorRT 8.5.3.1 built each of these layers as requested", printed)
        self.assertIn("--save-timing-cache FILE keeps the timings", printed)
        words = self.command(printed)
        self.assertEqual(words[:3], ["vernier", "convert", "m.onnx"])
        self.assertEqual(words[words.index("--layer-precisions") + 1:][:2],
                         ["node square:float32", "node back:float32"])
        self.run_vernier(*words[1:])
        (built,) = self.journal()
        self.assertIn(built, builds)
        self.assertEqual(words[-2:], ["-o", "mixed.engine"])
        # And that engine passes what was checked.
        self.run_vernier("run", "m.onnx", "--trt", "--input-shapes", "x:[4,3]", "--save-inputs",
                         "i.json", "--save-outputs", "o.json")
        self.run_vernier("run", "mixed.engine", "--trt", "--load-inputs", "i.json",
                         "--load-outputs", "o.json", *TOLERANCES)
        made = onnx.load(str(self.folder / "mixed.onnx"))
        self.assertTrue(any(node.op_type == "Cast" for node in made.graph.node))

    def test_a_check_of_the_peers_reads_engines(self):
        self.run_vernier("run", "m.onnx", "--trt", "--input-shapes", "x:[4,3]", "--save-inputs",
                         "i.json", "--save-outputs", "o.json")
        self.journal()
        printed = self.run_vernier(
            "debug", "precision", "m.onnx", "--fp16", "--precision-constraints", "prefer",
            "--pool-limit", "workspace:1G", "--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes",
            "x:[4,3]", "--trt-max-shapes", "x:[8,3]", "--check", VERNIER, "run",
            "polygraphy_debug.engine", "--trt", "--load-inputs", "i.json", "--load-outputs",
            "o.json", *TOLERANCES)
        self.assertEqual(set(self.kept(printed)), {"node square", "node back"})
        builds = self.journal()
        for build in builds:
            self.assertEqual(build["flags"], ["FP16", "PREFER_PRECISION_CONSTRAINTS"])
            self.assertEqual(build["pools"], {"WORKSPACE": 1 << 30})
            self.assertEqual(build["profiles"], [{"x": [[1, 3], [4, 3], [8, 3]]}])
        self.assertFalse((self.folder / "polygraphy_debug.engine").exists())
        self.run_vernier(*self.command(printed)[1:])
        (built,) = self.journal()
        self.assertIn(built, builds)
        self.assertTrue((self.folder / "m.engine").exists())

    def test_the_command_loads_timings_that_were_saved(self):
        printed = self.run_vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx",
                                   "--save-timing-cache", "t.cache", "--", "--trt", "--input-shapes",
                                   "x:[4,3]", *TOLERANCES)
        self.assertTrue((self.folder / "t.cache").exists())
        self.assertNotIn("keeps the timings", printed)
        words = self.command(printed)
        self.assertEqual(words[-4:], ["--load-timing-cache", "t.cache", "-o", "mixed.engine"])
        self.run_vernier(*words[1:])
        # The large square makes it certain that float16 everywhere fails: it is not built.
        self.assertEqual(printed.count("| Iteration"), 2 * 3)

    def test_an_activation_goes_with_the_layer_that_it_is_part_of(self):
        write_activated(self.folder / "m.onnx")
        check = ["--", "--trt", "--input-shapes", "x:[4,3]", *TOLERANCES]
        printed = self.run_vernier("debug", "precision", "m.onnx", *check, FAKE_TENSORRT_FUSES="1")
        self.assertEqual(set(self.kept(printed)), {"node large", "node back"})
        self.assertEqual(printed.count("| Iteration"), 2 * 3)
        # A guess: where it is a layer of its own, it stays as well.
        printed = self.run_vernier("debug", "precision", "m.onnx", *check)
        self.assertEqual(set(self.kept(printed)), {"node large", "node positive", "node back"})
        self.assertEqual(printed.count("| Iteration"), 2 * 4)

    def test_what_tensorrt_did_not_obey_is_told(self):
        printed = self.run_vernier("debug", "precision", "m.onnx", "--", "--trt", "--input-shapes",
                                   "x:[4,3]", *TOLERANCES, FAKE_TENSORRT_DISOBEYS="node square")
        self.assertIn("TensorRT did not use the requested precision: layer 'node square' was set "
                      "to float32 and computes float16", printed)
        self.assertNotIn("built each of these layers", printed)

    def test_nothing_needs_a_higher_precision(self):
        write_model(self.folder / "m.onnx", sensitive=False)
        printed = self.run_vernier("debug", "precision", "m.onnx", "--", "--trt", "--input-shapes",
                                   "x:[4,3]", *TOLERANCES)
        self.assertIn("none needs float32", printed)
        self.assertEqual(len(self.journal()), 2)
        self.assertNotIn("--layer-precisions", self.command(printed))

    def test_precisions_that_do_not_go_together(self):
        printed = self.run_vernier("debug", "precision", "m.onnx", "--int8", "-p", "float16",
                                   "--check", "true", "polygraphy_debug.engine", code=2)
        self.assertIn("Cannot mark layers to run in float16 if it is not enabled", printed)
        printed = self.run_vernier("debug", "precision", "m.onnx", "--jobs", "2", "--", "--trt",
                                   "--input-shapes", "x:[4,3]", *TOLERANCES)
        self.assertIn("--jobs has no effect: engines are built one after another", printed)
        self.assertEqual(set(self.kept(printed)), {"node square", "node back"})


if __name__ == "__main__":
    unittest.main()
