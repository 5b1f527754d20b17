"""No false alarm on networks that people trained, and no fault in them unseen.

VERNIER is the program; the networks are those of networks.py, and a missing one fails by name.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import networks

VERNIER = os.environ["VERNIER"]
BENCH = networks.ROOT / "bench"
# OpenVINO converts these only once it knows the shapes of their inputs.
REFUSED = {"silero_vad", "silero_vad_16k_op15"}
BLAMED = ("silero_vad_16k_sequence", "nmp", "magika", "ch_ppocr_mobile_v2.0_cls_infer",
          "ch_PP-OCRv4_det_infer", "minilm-int8")
BOTH = (("--onnxrt", "--openvino"), ("--openvino", "--onnxrt"))


def named(*names):
    """Those of all networks, or these."""
    return [n for n in networks.NETWORKS if n.name in (names or {n.name}) and n.name not in REFUSED]


class BoundsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def vernier(self, *words):
        return subprocess.run([VERNIER, *map(str, words)], capture_output=True, text=True,
                              timeout=300, check=False)

    def outputs(self, network, *words):
        record = self.folder / "record.json"
        ended = self.vernier("run", network.path, *words, *network.words, "--tolerance", "auto",
                             "--save-record", record, "-q")
        self.assertIn(ended.returncode, (0, 1), f"{network.name}: {ended.stdout}{ended.stderr}")
        return ended, json.loads(record.read_text(encoding="utf-8"))["pairs"][0]["outputs"]

    def test_outputs_pass(self):
        for network in named():
            for order in BOTH:
                with self.subTest(network.name, order=order):
                    ended, _ = self.outputs(network, *order, "--seed", "11")
                    self.assertEqual(ended.returncode, 0, ended.stdout[-2000:])

    def test_marked_tensors_pass(self):
        for seed, network in enumerate(named()):
            with self.subTest(network.name):
                order = BOTH[seed % 2]
                _, outputs = self.outputs(network, *order, "--onnx-outputs", "mark", "all",
                                          "--seed", seed + 21)
                over = [o["name"] for o in outputs if not o["passed"]]
                self.assertEqual(over, [])

    def test_nothing_is_blamed(self):
        for network in named(*BLAMED):
            with self.subTest(network.name):
                ended = self.vernier("blame", network.path, *BOTH[0], *network.words, "--seed",
                                     "31", "-q")
                self.assertEqual(ended.returncode, 0, ended.stdout[-2000:] + ended.stderr)

    def test_planted_faults_are_named_first(self):
        ended = subprocess.run(
            [sys.executable, BENCH / "trained_faults.py", "--vernier", VERNIER, "--faults", "4",
             "--rate", "0.95"], capture_output=True, text=True, timeout=400, check=False)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
