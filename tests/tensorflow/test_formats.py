"""The same network in every format, and what is a format at all."""

from tensorflow_case import TensorFlowCase


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

    def test_other_weights_are_a_mismatch(self):
        m = self.models
        done = self.vernier(m / "frozen.pb", "--tf", "--runner", f"b=tf {m}/other.pb")
        self.assertEqual(done.code, 1, str(done))

    def test_what_a_file_is_is_told_by_its_content(self):
        done = self.vernier(self.models / "onnx.pb", "--onnxrt")
        self.assert_passes(done)
        done = self.vernier(self.models / "onnx.pb", "--tf")
        self.assertEqual(done.code, 2, str(done))
        self.assertIn("Model type: onnx cannot be imported with TensorFlow.", done.err)
        done = self.vernier(self.models / "saved/saved_model.pb", "--tf")
        self.assert_passes(done)
        self.assertIn("{logits [dtype=float32", done.out)

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
