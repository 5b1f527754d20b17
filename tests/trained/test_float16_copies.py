"""Every trained network in float16: a model that is valid, opens and computes about the same."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# Recurrence and statistics in float16 move more than one rounding.
NEAR = 0.1


def of(path, feed):
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, feed)


class Float16Copies(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        onnxruntime.set_default_logger_severity(4)

    def convert(self, network):
        half = self.folder / "half.onnx"
        done = subprocess.run([os.environ["VERNIER"], "convert", str(network.path), "-o", str(half),
                               "--fp-to-fp16"], capture_output=True, text=True, check=False,
                              env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return half, done.stdout + done.stderr

    def test_every_copy_is_valid_opens_and_is_near(self):
        for network in networks.NETWORKS:
            with self.subTest(network.name):
                half, _ = self.convert(network)
                onnx.checker.check_model(str(half), full_check=True)
                feed = networks.feed(network)
                for exact, copy in zip(of(network.path, feed), of(half, feed)):
                    scale = np.abs(exact).max() + 1e-6
                    self.assertLess(np.abs(exact - copy).max() / scale, NEAR)

    def test_statistics_beyond_float16_are_named(self):
        network = next(n for n in networks.NETWORKS if n.name == "ch_PP-OCRv4_det_infer")
        _, said = self.convert(network)
        self.assertRegex(said, r"--fp-to-fp16: 1 node stays \(.*\) in float32: float16 ends")

    def test_the_epsilon_of_a_logarithm_is_named(self):
        network = next(n for n in networks.NETWORKS if n.name == "nmp")
        _, said = self.convert(network)
        self.assertRegex(said, r"--fp-to-fp16: 2 nodes stay \(.*/add', .*/Log'\) in float32")


def notes():
    """Two seconds of a piano, as the sound model is fed with it: between its notes is silence."""
    time = np.arange(43844) / 22050
    sound = np.zeros(len(time))
    for pitch, start, loudness in ((261.6, .05, .3), (329.6, .4, .25), (392, .8, .25),
                                   (523.25, 1.2, .3)):
        since = np.clip(time - start, 0, None)
        for harmonic in range(1, 9):
            sound += (loudness / harmonic * np.sin(2 * np.pi * pitch * harmonic * since) *
                      np.exp(-3 * since * harmonic))
    return sound.astype("f4").reshape(1, -1, 1)


def line_of_text():
    """Dark strokes on light paper, as the reader of words is fed with it."""
    random = np.random.default_rng(4)
    drawn = np.full((48, 320), .8, "f4")
    for left in range(8, 300, 14):
        for _ in range(3):
            top, stroke = random.integers(8, 30), random.integers(left, left + 9)
            drawn[top:top + random.integers(3, 12), stroke:stroke + 2] = .05
    return np.ascontiguousarray(np.broadcast_to((drawn - .5) / .5, (1, 3, 48, 320)))


class Float16BesideItsOriginal(unittest.TestCase):
    """What rounding of the weights explains passes and says so; faults in a copy do not."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def vernier(self, *words):
        return subprocess.run([os.environ["VERNIER"], *map(str, words)], capture_output=True,
                              text=True, check=False, timeout=300)

    def copy_of(self, name):
        network = next(n for n in networks.NETWORKS if n.name == name)
        half = self.folder / "half.onnx"
        done = self.vernier("convert", network.path, "-o", half, "--fp-to-fp16", "-q")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return network.path, half

    def judge(self, first, second, feed, *words):
        np.savez(self.folder / "feed.npz", **feed)
        ended = self.vernier("run", "--runner", f"a={first[0]} '{first[1]}'", "--runner",
                             f"b={second[0]} '{second[1]}'", "--load-inputs",
                             self.folder / "feed.npz", "--tolerance", "auto", "--save-record",
                             self.folder / "record.json", *words)
        record = json.loads((self.folder / "record.json").read_text(encoding="utf-8"))
        return ended, [o["auto_tolerance"] for o in record["pairs"][0]["outputs"]]

    def changed(self, path, place, change):
        """The copy with other weights in one convolution."""
        model = onnx.load(path)
        node, = (n for n in model.graph.node if n.op_type == "Conv" and n.name.startswith(place))
        weight, = (w for w in model.graph.initializer if w.name == node.input[1])
        values = numpy_helper.to_array(weight).copy()
        change(values)
        weight.CopyFrom(numpy_helper.from_array(values, weight.name))
        onnx.save(model, self.folder / "bad.onnx")
        return self.folder / "bad.onnx"

    def test_sound_copies_pass_and_say_what_they_are(self):
        speech = "serving_default_input_2:0"
        silence = {"input": np.zeros((1, 576), "f4"), "state": np.zeros((2, 1, 128), "f4"),
                   "sr": np.int64(16000)}
        feeds = {"nmp": {speech: notes()}, "ch_PP-OCRv4_rec_infer": {"x": line_of_text()},
                 "silero_vad_op18_ifless": silence}
        for name, feed in feeds.items():
            path, half = self.copy_of(name)
            for runtime in ("onnxrt", "openvino"):
                with self.subTest(name, runtime=runtime):
                    ended, _ = self.judge((runtime, path), (runtime, half), feed)
                    self.assertEqual(ended.returncode, 0, ended.stdout[-2000:])
                    self.assertIn("PASSED, ill-conditioned: κ = ", ended.stdout)
                    ended, _ = self.judge((runtime, path), (runtime, half), feed, "--strict")
                    self.assertEqual(ended.returncode, 1, ended.stdout[-2000:])

    def test_a_bound_is_what_rounded_weights_explain(self):
        path, half = self.copy_of("nmp")
        _, bounds = self.judge(("onnxrt", path), ("onnxrt", half),
                             {"serving_default_input_2:0": notes()})
        for bound in bounds:
            self.assertLess(bound["bound"], 3 * bound["rms_error"], bound)

    def test_a_fault_in_a_copy_beside_its_original_is_seen(self):
        path, half = self.copy_of("nmp")

        def zero(values):
            values[:4] = 0

        bad = self.changed(half, "model_1/re_lu_1", zero)
        ended, bounds = self.judge(("onnxrt", path), ("onnxrt", bad),
                                 {"serving_default_input_2:0": notes()})
        self.assertEqual(ended.returncode, 1, ended.stdout[-2000:])
        self.assertGreater(max(bound["times_over"] for bound in bounds), 2)

    def test_a_fault_between_copies_is_seen(self):
        _, half = self.copy_of("nmp")

        def larger(values):
            values *= values.dtype.type(1.03)

        for place in ("model_1/conv2d_5", "model_1/conv2d_3"):
            with self.subTest(place):
                bad = self.changed(half, place, larger)
                ended, _ = self.judge(("onnxrt", half), ("onnxrt", bad),
                                      {"serving_default_input_2:0": notes()})
                self.assertEqual(ended.returncode, 1, ended.stdout[-2000:])


if __name__ == "__main__":
    unittest.main()
