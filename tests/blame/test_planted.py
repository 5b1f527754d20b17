"""Faults planted at random places: `vernier blame` has to name them.

VERNIER is the program, PLANTED how many networks to try (all are 200), PLANTED_FROM the seed of the
first (scripts/deep.sh takes others each time). Four families take turns: one of many kinds of
layers with normalisation, and convolutions, recurrence and attention without any. Two of three
networks have two runtimes.
"""

import os
import unittest

import onnx

import families
import planted
from program import Case, blame, two_models

COUNT = int(os.environ.get("PLANTED", "200"))
FIRST_SEED = int(os.environ.get("PLANTED_FROM", "0"))
SOUND_FROM = FIRST_SEED + 1000  # seeds of networks without a fault


class Planted(Case):
    def test_the_culprit_is_named(self):
        first = 0
        for seed in range(FIRST_SEED, FIRST_SEED + COUNT):
            network = families.plant(seed)
            candidate = "onnxrt" if seed % 3 == 0 else "openvino"
            ended, found = blame(self.folder.name, *two_models(network, candidate))
            who = f"seed {seed}, {network.fault}, {candidate}: {ended.stdout}{ended.stderr}"
            self.assertIsNotNone(found, who)
            names = [culprit["node"] for culprit in found["culprits"]]
            self.assertEqual(ended.returncode, 1, who)
            self.assertTrue(set(names[:3]) & set(network.culprits), f"{names[:3]}: {who}")
            first += names[0] in network.culprits
        self.assertGreaterEqual(first, 0.98 * COUNT)

    def test_nobody_is_blamed_without_a_fault(self):
        for seed in range(SOUND_FROM, SOUND_FROM + COUNT // 2):
            onnx.save(families.make(seed), "model.onnx")
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
