"""Faults planted at random places: `vernier blame` has to name them.

VERNIER is the program, PLANTED how many networks to try (all are 200), PLANTED_FROM the seed of the
first (scripts/deep.sh takes others each time). They are of many kinds of layers with normalisation;
a quarter as many come on top of each family without any: convolutions, recurrence and attention.
At least two of three networks have two runtimes.
"""

import os
import unittest

import onnx

import families
import planted
from program import Case, blame, two_models

COUNT = int(os.environ.get("PLANTED", "200"))
FIRST_SEED = int(os.environ.get("PLANTED_FROM", "0"))
OTHERS = 3 * COUNT // 4  # the three families of families.py
SOUND_FROM = FIRST_SEED + 1000  # seeds of networks without a fault


def networks():
    for seed in range(FIRST_SEED, FIRST_SEED + COUNT):
        yield seed, planted.plant(seed), "onnxrt" if seed % 3 == 0 else "openvino"
    for seed in range(FIRST_SEED, FIRST_SEED + OTHERS):
        yield seed, families.plant(seed), "onnxrt" if seed % 4 == 0 else "openvino"


def sound():
    for seed in range(SOUND_FROM, SOUND_FROM + COUNT // 2):
        yield f"planted.make({seed})", planted.make(seed)
    for seed in range(SOUND_FROM, SOUND_FROM + OTHERS // 2):
        yield f"families.make({seed})", families.make(seed)


class Planted(Case):
    def test_the_culprit_is_named(self):
        first = 0
        for seed, network, candidate in networks():
            ended, found = blame(self.folder.name, *two_models(network, candidate))
            who = f"seed {seed}, {network.fault}, {candidate}: {ended.stdout}{ended.stderr}"
            self.assertIsNotNone(found, who)
            names = [culprit["node"] for culprit in found["culprits"]]
            self.assertEqual(ended.returncode, 1, who)
            self.assertTrue(set(names[:3]) & set(network.culprits), f"{names[:3]}: {who}")
            first += names[0] in network.culprits
        self.assertGreaterEqual(first, 0.98 * (COUNT + OTHERS))

    def test_nobody_is_blamed_without_a_fault(self):
        for who, model in sound():
            onnx.save(model, "model.onnx")
            ended, found = blame(self.folder.name, "model.onnx", "--onnxrt", "--openvino")
            self.assertEqual(found["culprits"], [], who)
            self.assertEqual(ended.returncode, 0, f"{who}: {ended.stdout}{ended.stderr}")

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
