"""The same network in every format, and what is a format at all."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import onnx

from tensorflow_case import TensorFlowCase

# The network of make_tensorflow_models.py in the words of torch, for an interpreter that has it.
IN_TORCH = """
import sys, numpy, torch
w = [torch.from_numpy(value) for value in map(numpy.load(sys.argv[1]).get, ("w0", "w1", "w2", "w3"))]

class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w0, self.w1, self.w2, self.w3 = map(torch.nn.Parameter, w)

    def forward(self, x):
        scores = torch.relu(x @ self.w0 + self.w1) @ self.w2 + self.w3
        return scores, torch.softmax(scores, -1)

torch.jit.save(torch.jit.script(Network().eval()), sys.argv[2])
"""
IN_NUMPY = """
import numpy as np

def load(model_path):
    w = list(map(np.load("{weights}").get, ("w0", "w1", "w2", "w3")))

    def infer(feed):
        scores = np.maximum(feed["x"] @ w[0] + w[1], 0) @ w[2] + w[3]
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return {{"logits": scores, "probabilities": powers / powers.sum(-1, keepdims=True)}}
    return infer
"""


class EveryForm(TensorFlowCase):
    """ONNX, TorchScript, SavedModel, frozen graph, checkpoint, Keras and Python in one command."""

    def test_marked_tensors_pair_by_values(self):
        """What one network computes has other names in each format."""
        m = self.models
        mark = "outputs mark all"
        done = self.vernier("--runner", f"onnx=onnxrt {m}/mlp.onnx --onnx-{mark}", "--runner",
                            f"saved=tf {m}/frozen.pb --tf-{mark}", "--input-shapes", "x:[4,16]")
        self.assert_passes(done, "h1 with add:0 (by value, e = 0)",
                           "h2 with hidden:0 (by value, e = 0)")
        self.assertNotIn("only in onnx", done.out)

    def test_pair_by_pair(self):
        m = self.models
        (self.folder / "in_numpy.py").write_text(
            textwrap.dedent(IN_NUMPY).format(weights=m / "weights.npz"))
        forms = {"saved": f"tf {m}/saved", "frozen": f"tf {m}/frozen.pb", "ckpt": f"tf {m}/ckpt",
                 "keras": f"tf {m}/mlp.keras", "numpy": "in_numpy.py"}
        # Set where the TorchScript plug-in is built.
        if torch := os.environ.get("VERNIER_TORCH_PYTHON"):
            clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            (self.folder / "in_torch.py").write_text(IN_TORCH)  # whose source torch looks at
            subprocess.run([torch, "in_torch.py", m / "weights.npz", "mlp.pt"], check=True,
                           env=clean, cwd=self.folder)
            forms["script"] = "torch mlp.pt --torch-outputs logits probabilities --torch-in plugin"
        words = [word for label, text in forms.items() for word in ("--runner", f"{label}={text}")]
        done = self.vernier(m / "mlp.onnx", "--onnxrt", *words, "--pairs", "all", "--iterations", 3,
                            "--input-shapes", "x:[4,16]")
        self.assert_passes(done)
        passed = done.out.count("PASSED, compared 2 outputs in 3 iterations")
        self.assertEqual(passed, len(forms) * (len(forms) + 1) // 2, str(done))
        # One that is wrong in a single weight stands out in all of its pairs, and nowhere else.
        done = self.vernier(m / "mlp.onnx", "--onnxrt", *words, "--runner",
                            f"wrong=tf {m}/other.pb", "--pairs", "all", "--input-shapes",
                            "x:[4,16]")
        self.assertEqual(done.code, 1, str(done))
        verdicts = [line for line in done.out.splitlines() if " vs. " in line and "compared" in line]
        failed = [line for line in verdicts if "FAILED" in line]
        self.assertEqual(len(failed), len(forms) + 1, str(done))
        self.assertTrue(all("wrong" in line for line in failed), str(done))


class Trained(TensorFlowCase):
    """A network that people trained, in the formats in which they gave it away."""

    def test_names_that_exporters_changed_need_no_words(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "trained"))
        import networks
        network = next(n for n in networks.NETWORKS if n.name == "nmp")
        done = self.vernier(network.path, "--onnxrt", "--runner",
                            f"saved=tf {network.path.with_suffix('')}", *network.words,
                            "--tolerance", "auto", "--save-record", "record.json")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("saved: input 'input_2': paired with 'serving_default_input_2:0' by type and "
                      "shape", done.out)
        record = json.loads((self.folder / "record.json").read_text(encoding="utf-8"))
        paired = {o["name"]: (o["other_name"], o["paired_by"])
                  for o in record["pairs"][0]["outputs"]}
        self.assertEqual(paired, {"StatefulPartitionedCall:0": ("contour", "shape"),
                                  "StatefulPartitionedCall:1": ("note", "value"),
                                  "StatefulPartitionedCall:2": ("onset", "value")})

    def test_a_tflite_file_through_the_example_of_a_script(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "trained"))
        import networks
        network = next(n for n in networks.NETWORKS if n.name == "nmp")
        example = pathlib.Path(__file__).parents[2] / "examples/runners/litert_model.py"
        lite = f"lite={example} {network.path.with_suffix('.tflite')}"
        done = self.vernier("--runner", lite, "--runner", f"onnx=onnxrt {network.path}",
                            "--tolerance", "auto")
        self.assert_passes(done, "PASSED, compared 3 outputs", "note with "
                           "StatefulPartitionedCall:1 (by value")
        done = self.vernier("--runner", f"{lite} --onnx-outputs '*Relu*'", "--input-shapes",
                            "input_2:[2,43844,1]", "--save-outputs", "o.json")
        self.assertEqual(done.code, 0, str(done))
        saved = (self.folder / "o.json").read_text(encoding="utf-8")
        self.assertIn("model_1/re_lu_1/Relu", saved)


class Converting(TensorFlowCase):
    """vernier convert, through tf2onnx."""

    def test_every_format_becomes_the_same_model(self):
        m = self.models
        for model in ("saved", "frozen.pb", "ckpt", "mlp.keras"):
            with self.subTest(model):
                done = self.convert(m / model, "-o", "c.onnx", "--opset", 15)
                self.assertEqual(done.code, 0, str(done))
                converted = onnx.load(self.folder / "c.onnx")
                onnx.checker.check_model(converted, full_check=True)
                self.assertEqual(converted.opset_import[0].version, 15)
                done = self.vernier(m / "mlp.onnx", "--onnxrt", "--runner", "c=onnxrt c.onnx",
                                    "--input-shapes", "x:[3,16]")
                self.assert_passes(done, "PASSED, compared 2 outputs")

    def test_the_options_for_onnx_files_hold(self):
        done = self.convert(self.models / "saved", "-o", "c.onnx", "--fp-to-fp16",
                            "--save-external-data", "weights.bin", "--external-data-size-threshold",
                            "0")
        self.assertEqual(done.code, 0, str(done))
        halfs = [w for w in onnx.load(self.folder / "c.onnx").graph.initializer
                 if w.data_type == onnx.TensorProto.FLOAT16]
        self.assertTrue(halfs)
        self.assertTrue((self.folder / "weights.bin").stat().st_size > 0)

    def test_named_tensors(self):
        m = self.models
        for model, name in (("frozen.pb", "hidden:0"), ("mlp.keras", "hidden"),
                            ("saved", "probabilities")):
            with self.subTest(model):
                done = self.convert(m / model, "-o", "c.onnx", "--tf-outputs", name)
                self.assertEqual(done.code, 0, str(done))
                outputs = [value.name for value in onnx.load(self.folder / "c.onnx").graph.output]
                self.assertEqual(outputs, [name])
        done = self.convert(m / "frozen.pb", "-o", "c.onnx", "--tf-outputs", "hiden")
        self.assert_fails(done, 1, "--tf-outputs: the graph has no tensor 'hiden'")

    def test_a_model_that_is_none_leaves_nothing(self):
        (self.folder / "broken.pb").write_bytes(b"\x0a\xffgarbage")
        done = self.convert("broken.pb", "-o", "c.onnx")
        self.assertNotEqual(done.code, 0, str(done))
        self.assertIn("Is this a valid TensorFlow model?", done.err)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["broken.pb"])


class Signatures(TensorFlowCase):
    def test_the_named_one_is_run(self):
        model = self.models / "signatures"
        done = self.vernier(model, "--tf", "--onnxrt", "--tf-signature", "double", "--save-outputs",
                            "o.npz", "--save-inputs", "i.npz")
        self.assert_passes(done, "compared 1 output", "{doubled [dtype=float32")
        with np.load(self.folder / "o.npz") as o, np.load(self.folder / "i.npz") as i:
            doubled = next(o[name] for name in o if name.endswith("doubled"))
            given = next(i[name] for name in i if name.endswith("x"))
        np.testing.assert_array_equal(doubled, given + given)
        done = self.vernier("--runner", f"named=tf {model} --tf-signature both", "--runner",
                            f"other=tf {self.models}/saved")
        self.assert_passes(done, "compared 2 outputs")

    def test_none_or_a_wrong_one(self):
        model = self.models / "signatures"
        for runner in ("--tf", "--onnxrt"):
            with self.subTest(runner):
                done = self.vernier(model, runner)
                self.assertNotEqual(done.code, 0, str(done))
                self.assertRegex(done.err, "no signature 'serving_default'.*'both', 'double'; "
                                 "--tf-signature chooses one")
                done = self.vernier(model, runner, "--tf-signature", "duoble")
                self.assert_fails(done, 1, "no signature 'duoble', only 'both', 'double'")
        done = self.vernier(self.models / "frozen.pb", "--tf", "--tf-signature", "double")
        self.assert_passes(done, "--tf-signature has no effect on")


class Formats(TensorFlowCase):
    def test_all_formats_pairwise_in_one_command(self):
        m = self.models
        done = self.vernier(
            m / "mlp.onnx", "--onnxrt", "--pairs", "all", "--iterations", 3,
            "--input-shapes", "x:[4,16]",
            "--runner", f"saved=tf {m}/saved", "--runner", f"frozen=tf {m}/frozen.pb",
            "--runner", f"ckpt=tf {m}/ckpt", "--runner", f"keras=tf {m}/mlp.keras",
            "--runner", f"h5=tf {m}/mlp.h5")
        self.assert_passes(done)
        passed = done.out.count("PASSED, compared 2 outputs in 3 iterations")
        self.assertEqual(passed, 15, str(done))

    def test_the_example_of_a_script_gives_the_same(self):
        example = pathlib.Path(__file__).parents[2] / "examples/runners/keras_model.py"
        for name in ("mlp.keras", "mlp.h5"):
            with self.subTest(name):
                model = self.models / name
                done = self.vernier(model, "--tf", "--runner", f"example={example} {model}",
                                    "--input-shapes", "x:[4,16]", "--iterations", 2)
                self.assert_passes(done, "PASSED, compared 2 outputs in 2 iterations")
                self.assertNotIn("UserWarning", done.err)

    def test_other_weights_are_a_mismatch(self):
        m = self.models
        done = self.vernier(m / "frozen.pb", "--tf", "--runner", f"b=tf {m}/other.pb")
        self.assertEqual(done.code, 1, str(done))

    def test_what_a_file_is_is_told_by_its_content(self):
        done = self.vernier(self.models / "onnx.pb", "--onnxrt")
        self.assert_passes(done)
        done = self.vernier(self.models / "onnx.pb", "--tf")
        self.assertEqual(done.code, 2, str(done))
        self.assertIn("Model type: onnx cannot be imported with TensorFlow.\n    Note: --runner",
                      done.err)
        done = self.vernier(self.models / "saved/saved_model.pb", "--tf")
        self.assert_passes(done)
        self.assertIn("{logits [dtype=float32", done.out)

    def test_a_file_of_a_checkpoint_is_the_checkpoint(self):
        for name in ("model.meta", "model"):
            with self.subTest(name):
                done = self.vernier(self.models / "ckpt" / name, "--tf", "--runner",
                                    f"folder=tf {self.models}/ckpt", "--atol", 0, "--rtol", 0)
                self.assert_passes(done, "compared 2 outputs")

    def test_model_type_words(self):
        for model, word in (("frozen.pb", "frozen"), ("ckpt", "ckpt"), ("mlp.h5", "keras")):
            with self.subTest(word):
                self.assert_passes(
                    self.vernier(self.models / model, "--tf", "--model-type", word))

    def test_strings_integers_and_scalars(self):
        (self.folder / "feeds.py").write_text(
            "import numpy as np\n"
            "def load_data():\n"
            "    text = np.array(['loud', ''], dtype=object)\n"
            "    return [{'text:0': text, 'number:0': np.array([1, -2, 2**40])}]\n")
        done = self.vernier(self.models / "types.pb", "--tf", "--tf", "--data-loader-script",
                            "feeds.py", "--save-outputs", "out.json")
        self.assert_passes(done, "compared 3 outputs")
        for text in ("louder:0 [dtype=string, shape=(2,)]", "twice:0 [dtype=int64, shape=(3,)]",
                     "positive:0 [dtype=bool, shape=()]"):
            self.assertIn(text, done.out, str(done))

    def test_a_graph_that_keeps_what_it_is_fed(self):
        done = self.vernier(self.models / "delay", "--tf", "--tf-outputs", "before", "--iterations",
                            5, "--save-inputs", "i.npz", "--save-outputs", "o.npz")
        self.assert_passes(done)
        with np.load(self.folder / "i.npz") as i, np.load(self.folder / "o.npz") as o:
            given = [i[name] for name in sorted(i) if not name.startswith("__")]
            kept = [o[name] for name in sorted(o) if not name.startswith("__")]
        self.assertEqual(len(kept), 5)
        self.assertFalse(kept[0].any())
        for before, after in zip(given, kept[1:]):
            np.testing.assert_array_equal(after, before)

    def test_tf2onnx_feeds_onnx_runners(self):
        m = self.models
        for model in ("frozen.pb", "saved", "ckpt", "mlp.keras", "conv.pb"):
            with self.subTest(model):
                done = self.vernier(m / model, "--tf", "--onnxrt", "--opset", 15)
                self.assert_passes(done, "PASSED, compared ")
                self.assertNotIn("likeness", done.out, str(done))
        done = self.vernier(m / "saved", "--tf", "--openvino", "--onnxrt", "--save-onnx", "c.onnx",
                            "--opset", 13)
        self.assert_passes(done)
        import onnx
        self.assertEqual(onnx.load(self.folder / "c.onnx").opset_import[0].version, 13)


class Faults(TensorFlowCase):
    def test_missing_file(self):
        done = self.vernier("nothing.pb", "--tf")
        self.assert_fails(done, 3, "nothing.pb")

    def test_broken_graph(self):
        (self.folder / "broken.pb").write_bytes(b"\x0a\xffgarbage")
        done = self.vernier("broken.pb", "--tf")
        self.assert_fails(done, 3, "Could not import TensorFlow GraphDef from: ", "broken.pb",
                          "Is this a valid TensorFlow model?")

    def test_cut_saved_model(self):
        folder = self.folder / "cut"
        (folder / "variables").mkdir(parents=True)
        whole = (self.models / "saved/saved_model.pb").read_bytes()
        (folder / "saved_model.pb").write_bytes(whole[:100])
        self.assert_fails(self.vernier("cut", "--tf"), 3, "SavedModel", "cut")

    def test_unknown_output(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--tf-outputs", "logit")
        self.assert_fails(done, 1, "the graph has no tensor 'logit'", "did you mean 'logits:0'?")
        done = self.vernier(self.models / "frozen.pb", "--tf", "--tf-outputs", "logits:3")
        self.assert_fails(done, 1, "operation 'logits' has 1 outputs")

    def test_wrong_shape_and_type(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--input-shapes", "x:0:[2,17]")
        self.assertEqual(done.code, 3, str(done))
        import numpy as np
        np.savez(self.folder / "in.npz", **{"x:0": np.ones((1, 16), np.float64)})
        done = self.vernier(self.models / "frozen.pb", "--tf", "--load-inputs", "in.npz")
        self.assertEqual(done.code, 3, str(done))
        self.assertIn("expected float32 of shape (-1, 16), found float64", done.err)

    def test_checkpoints_that_are_none(self):
        self.assert_fails(self.vernier(self.models / "ckpt2", "--tf", "--ckpt", "model"), 3,
                          "a checkpoint of TensorFlow 2", "SavedModel")
        self.assert_fails(self.vernier(self.models / "ckpt", "--tf", "--ckpt", "other"), 3,
                          "there is no checkpoint", "other")
        (self.folder / "empty").mkdir()
        self.assert_fails(self.vernier("empty", "--tf"), 3, "does not contain a `checkpoint` file")

    def test_opset_is_a_number_of_at_least_one(self):
        for command in (["run", self.models / "saved", "--onnxrt"],
                        ["convert", self.models / "saved", "-o", "new.onnx"]):
            done = self.start(*command, "--opset", 0)
            self.assert_fails(done, 2, "--opset: expected a number >= 1, got '0'")
        self.assertFalse((self.folder / "new.onnx").exists())

    def test_flags_of_tensorflow_1(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--tftrt")
        self.assertIn("--tftrt has no effect", done.out, str(done))
        self.assertIn("TF-TRT", done.out, str(done))

    def test_without_tensorflow(self):
        done = self.vernier(self.models / "frozen.pb", "--tf", "--tf-lib", "/nonexistent")
        self.assert_fails(done, 5, "TensorFlow is not at '/nonexistent' (--tf-lib)")
        done = self.vernier(self.models / "frozen.pb", "--onnxrt", python="/usr/bin/python3")
        self.assertEqual(done.code, 5, str(done))
        self.assertRegex(done.err, "NumPy|tf2onnx")
