"""Every trained network in float16: a model that is valid, opens and computes about the same."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np
import onnx
import onnxruntime

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


if __name__ == "__main__":
    unittest.main()
