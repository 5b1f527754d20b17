"""The flags of --tf, and what Polygraphy's own TensorFlow part makes of the same graphs."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import tensorflow as tf
from polygraphy import constants
from polygraphy.backend.tf import GraphFromFrozen, ModifyGraphOutputs, SessionFromGraph, TfRunner
from tensorflow_case import TensorFlowCase

v1 = tf.compat.v1


def as_polygraphy(path, feed, outputs=None):
    """Polygraphy's TensorFlow runner, which wants TensorFlow 1 but gets along with 2."""
    graph = ModifyGraphOutputs(GraphFromFrozen(str(path)), outputs=outputs)
    with TfRunner(SessionFromGraph(graph)) as runner:
        return list(runner.get_input_metadata()), dict(runner.infer(feed))


class AgainstPolygraphy(TensorFlowCase):
    CASES = {
        "frozen.pb": {"x:0": (3, 16)},
        "conv.pb": {"image:0": (2, 12, 12, 3)},
    }

    def check(self, model, words, outputs):
        shapes = self.CASES[model]
        random = np.random.default_rng(3)
        feed = {name: random.random(shape, np.float32) for name, shape in shapes.items()}
        np.savez(self.folder / "in.npz", **feed)
        done = self.vernier(self.models / model, "--tf", "--load-inputs", "in.npz",
                            "--save-outputs", "out.npz", *words)
        self.assert_passes(done)
        inputs, theirs = as_polygraphy(self.models / model, feed, outputs)
        self.assertEqual(inputs, list(shapes))
        ours = {}
        with np.load(self.folder / "out.npz") as saved:
            for name in (name for name in saved if not name.startswith("__vernier__")):
                ours[name.split("/", 2)[-1].replace("%2F", "/").replace("%3A", ":")] = saved[name]
        self.assertEqual(list(ours), list(theirs), str(done))
        for name, array in theirs.items():
            np.testing.assert_array_equal(ours[name], array, err_msg=name)

    def test_the_models_own_outputs(self):
        for model in self.CASES:
            with self.subTest(model):
                self.check(model, [], None)

    def test_all_tensors(self):
        for model in self.CASES:
            for words in (["*"], ["mark", "all"]):
                with self.subTest(model, words=words):
                    self.check(model, ["--tf-outputs", *words], constants.MARK_ALL)

    def test_its_command_line_gives_the_same_bits_for_the_same_random_inputs(self):
        program = pathlib.Path(sys.executable).parent / "polygraphy"
        for model in self.CASES:
            with self.subTest(model):
                subprocess.run([program, "run", self.models / model, "--tf", "--save-outputs",
                                "peer.json"], cwd=self.folder, check=True, capture_output=True,
                               env=dict(os.environ, CUDA_VISIBLE_DEVICES="-1"))
                done = self.vernier(self.models / model, "--tf", "--load-outputs", "peer.json",
                                    "--atol", 0, "--rtol", 0)
                self.assert_passes(done, "PASSED, compared")
                self.assertNotIn("likeness", done.out, str(done))

    def test_named_tensors(self):
        names = ["hidden:0", "logits:0"]
        self.check("frozen.pb", ["--tf-outputs", *names], names)


class Flags(TensorFlowCase):
    def test_save_pb_can_be_run_again(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--save-pb", "new/again.pb")
        self.assert_passes(done)
        done = self.vernier(self.models / "frozen.pb", "--tf", "--runner", "b=tf new/again.pb")
        self.assert_passes(done, "compared 2 outputs")

    def test_frozen_models_hold_no_variables(self):
        for model in ("ckpt", "saved", "mlp.keras"):
            with self.subTest(model):
                done = self.vernier(self.models / model, "--tf", "--freeze-graph", "--save-pb",
                                    "f.pb")
                self.assert_passes(done)
                graph = v1.GraphDef()
                graph.ParseFromString((self.folder / "f.pb").read_bytes())
                ops = {node.op for node in graph.node}
                self.assertIn("Const", ops)
                self.assertFalse(
                    ops & {"VariableV2", "VarHandleOp", "StatefulPartitionedCall"}, ops)
                done = self.vernier(self.models / "mlp.onnx", "--onnxrt", "--runner",
                                    "frozen=tf f.pb")
                self.assertIn("compared 2 outputs", done.out, str(done))

    def test_frozen_checkpoint_gives_the_same_bits(self):
        done = self.vernier(self.models / "ckpt", "--tf", "--runner",
                            f"frozen=tf {self.models}/ckpt --freeze-graph", "--atol", 0,
                            "--rtol", 0)
        self.assert_passes(done, "compared 2 outputs")

    def test_tensors_inside_of_a_saved_model(self):
        done = self.vernier(self.models / "saved", "--tf", "--tf-outputs", "*")
        self.assert_passes(done, "Relu:0 [dtype=float32, shape=(1, 32)]")

    def test_all_outputs_of_all_operations(self):
        v1.disable_control_flow_v2()
        self.addCleanup(v1.enable_control_flow_v2)
        graph = tf.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.float32, [2, 4], name="x")
            left, right = tf.split(x, 2, 1, name="halves")
            with v1.name_scope("meanwhile"):
                total = tf.add(left, right, name="dense")
            v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
            tf.identity(total, name="y")
        (self.folder / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
        done = self.vernier("g.pb", "--tf", "--tf-outputs", "*", "-v")
        self.assert_passes(done, "halves:0 [dtype=float32, shape=(2, 2)]",
                           "halves:1 [dtype=float32, shape=(2, 2)]",
                           "meanwhile/dense:0 [dtype=float32, shape=(2, 2)]")
        self.assertNotIn("while/Exit:0 [dtype", done.out)
        self.assertRegex(done.out + done.err, "while/Exit:0.*a value inside of control flow")

    def test_layers_of_a_keras_model(self):
        done = self.vernier(self.models / "mlp.keras", "--tf", "--tf-outputs", "hidden", "logits")
        self.assert_passes(done, "hidden [dtype=float32, shape=(1, 32)]")
        done = self.vernier(self.models / "mlp.keras", "--tf", "--tf-outputs", "hiden")
        self.assertEqual(done.code, 6, str(done))
        self.assertIn("the model has no layer 'hiden'; its layers are x, hidden", done.err)

    def test_tensorboard_reads_what_is_saved(self):
        for model in ("frozen.pb", "mlp.keras"):
            with self.subTest(model):
                done = self.vernier(self.models / model, "--tf", "--save-tensorboard", model + ".d")
                self.assert_passes(done)
                files = list((self.folder / (model + ".d")).glob("events.out.tfevents.*"))
                self.assertEqual(len(files), 1, str(done))
                graphs = [event.graph_def for event in v1.train.summary_iterator(str(files[0]))
                          if event.graph_def]
                graph = v1.GraphDef.FromString(graphs[0])
                self.assertIn("Relu", {node.op for node in graph.node})

    def test_timeline_of_every_inference(self):
        done = self.vernier(self.models / "conv.pb", "--tf", "--save-timeline", "t",
                            "--iterations", 2)
        self.assert_passes(done)
        self.assertIn("Profiling is enabled. This will impact performance", done.err + done.out)
        for run in ("run-0", "run-1"):
            events = json.loads((self.folder / "t" / run).read_text())["traceEvents"]
            self.assertTrue(any("Conv2D" in e["name"] for e in events), events)
            self.assertTrue(all(e["dur"] >= 0 for e in events if e["ph"] == "X"))

    def test_timeline_of_a_keras_model(self):
        for words in ([], ["--tf-outputs", "hidden"]):
            with self.subTest(words=words):
                done = self.vernier(self.models / "mlp.keras", "--tf", "--save-timeline", "t",
                                    "--runner", f"plain=tf {self.models}/mlp.h5", *words)
                self.assert_passes(done, "PASSED, compared ")
                events = json.loads((self.folder / "t" / "run-0").read_text())["traceEvents"]
                self.assertTrue(any("MatMul" in e["name"] for e in events), events)

    def test_xla_compiles_and_agrees(self):
        done = self.vernier(self.models / "conv.pb", "--tf", "--runner",
                            f"xla=tf {self.models}/conv.pb --xla")
        self.assert_passes(done, "compared 1 output")

    def test_memory_options(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--allow-growth",
                            "--gpu-memory-fraction", 0.25)
        self.assert_passes(done)
        done = self.vernier(self.models / "frozen.pb", "--tf", "--gpu-memory-fraction", 1.5)
        self.assertEqual(done.code, 2, str(done))
        self.assertIn("--gpu-memory-fraction: expected a number from 0 to 1, got '1.5'", done.err)

    def test_other_settings_are_tried(self):
        """Thread counts, a graph that is not optimised, and kernels without oneDNN."""
        for model, settings in (("conv.pb", 4), ("mlp.keras", 3)):
            with self.subTest(model):
                done = self.consistency(self.models / model, "--tf", "--only", "other-settings")
                self.assert_passes(done, f"PASSED | other-settings | {settings} settings, ")

    def test_other_commands_that_run_models_have_the_flags(self):
        frozen = self.models / "frozen.pb"
        for command, words in ((["profile"], ["--runs", 3]), (["check", "extremes"], []),
                               (["check", "consistency"], ["--only", "repeated-runs"])):
            with self.subTest(command):
                done = self.start(*command, self.models / "ckpt", "--tf", "--ckpt", "model",
                                  "--freeze-graph", "--tf-outputs", "hidden:0", *words)
                self.assert_passes(done)
                done = self.start(*command, frozen, "--tf", "--tf-outputs", "hiden:0", *words)
                self.assertIn("no tensor 'hiden:0'", done.err + done.out, str(done))
                done = self.start(*command, frozen, "--tf", "--tf-lib", "none", *words)
                self.assertEqual(done.code, 5, str(done))

    def test_noise_floor_of_tensorflow(self):
        done = self.vernier(self.models / "conv.pb", "--tf", "--noise-floor", "--runner",
                            f"again=tf {self.models}/conv.pb")
        self.assert_passes(done, "compared 1 output")
