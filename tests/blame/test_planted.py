"""Faults planted at random places: `vernier blame` has to name them.

VERNIER is the program, PLANTED how many networks to try (the whole family is 200).
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import onnx

import planted

VERNIER = os.environ["VERNIER"]
COUNT = int(os.environ.get("PLANTED", "200"))


def blame(folder, *words):
    saved = Path(folder) / "blame.json"
    ended = subprocess.run([VERNIER, "blame", *words, "--save-blame", str(saved), "-qq"],
                           capture_output=True, text=True, cwd=folder)
    found = json.loads(saved.read_text()) if saved.exists() else None
    return ended, found


def two_models(network, candidate="onnxrt"):
    onnx.save(network.good, "good.onnx")
    onnx.save(network.bad, "bad.onnx")
    return ["--runner", "gold=onnxrt good.onnx", "--runner", f"new={candidate} bad.onnx",
            "--reference", "gold"]


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder.name)

    def test_the_culprit_is_named(self):
        first = 0
        for seed in range(COUNT):
            network = planted.plant(seed)
            candidate = "openvino" if seed % 3 == 0 else "onnxrt"
            ended, found = blame(self.folder.name, *two_models(network, candidate))
            who = f"seed {seed}, {network.fault}, {candidate}: {ended.stdout}{ended.stderr}"
            self.assertIsNotNone(found, who)
            names = [culprit["node"] for culprit in found["culprits"]]
            self.assertEqual(ended.returncode, 1, who)
            self.assertTrue(set(names[:3]) & set(network.culprits), f"{names[:3]}: {who}")
            first += names[0] in network.culprits
        self.assertGreaterEqual(first, 0.98 * COUNT)

    def test_nobody_is_blamed_without_a_fault(self):
        for seed in range(1000, 1000 + COUNT // 2):
            onnx.save(planted.make(seed), "model.onnx")
            ended, found = blame(self.folder.name, "model.onnx", "--onnxrt", "--openvino")
            self.assertEqual(found["culprits"], [], f"seed {seed}")
            self.assertEqual(ended.returncode, 0, f"seed {seed}: {ended.stdout}{ended.stderr}")

    def test_what_is_not_finite_is_found_where_it_begins(self):
        network = planted.plant(4, "make_nan")
        _, found = blame(self.folder.name, *two_models(network))
        first = found["first_nonfinite"]
        self.assertEqual(first["op_type"], "Sqrt")
        self.assertEqual(first["side"], "candidate")
        self.assertLess(first["operands"][0]["min"], 0)

    def test_two_faults_are_both_named(self):
        network = planted.plant(6, "two_faults")
        _, found = blame(self.folder.name, *two_models(network))
        names = {culprit["node"] for culprit in found["culprits"]}
        self.assertLessEqual(set(network.culprits), names)


if __name__ == "__main__":
    unittest.main()
