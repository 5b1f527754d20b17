"""Runners that compute something else when they are probed, and tensors that they do not hand out."""

import os
import sys
import unittest

import numpy as np
import onnx

from models import chain
from program import FUSING, Case, blame

class Disturbance(Case):
    def fusing(self, *words, **environment):
        onnx.save(chain(), "chain.onnx")
        os.environ.update(environment)
        self.addCleanup(lambda: [os.environ.pop(name, None) for name in environment])
        return blame(self.folder.name, "chain.onnx", "--onnxrt", "--model-runner", FUSING,
                     "--python", sys.executable, *words)

    def test_a_reference_that_probes_change_is_no_pass(self):
        ended, found = self.fusing("--reference", "fusing_runner", FUSING="t3m")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertTrue(found["disturbed"])
        self.assertIn("Probing changed the reference", found["culprits"][0]["why"])

    def test_a_fusion_that_probes_cure(self):
        ended, found = self.fusing(FUSING="t3m")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertTrue(found["disturbed"])
        self.assertEqual(found["disturbance"]["effect"], "cures")
        self.assertEqual(found["disturbance"]["probes"], ["t3m"])
        self.assertEqual(found["disturbance"]["region"], ["MatMul_3", "Add_3"])
        self.assertEqual(found["culprits"][0]["node"], "MatMul_3")
        self.assertIn("fusion or interaction", found["culprits"][0]["why"])

    def test_the_margin_that_a_fusion_eats_is_not_measured(self):
        rows = np.random.default_rng(3).normal(size=(40, 4, 16)).astype(np.float32)
        np.savez("x.npz", **{f"{i:010}/x": row for i, row in enumerate(rows)})
        ended, found = self.fusing("--load-inputs", "x.npz", "--on-flips", "--decision", "top1",
                                   FUSING="t3m")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("fusion or interaction", found["culprits"][0]["why"])
        self.assertIn("the margin that the fusion at 'MatMul_3' uses up was not measured: layers "
                      "run one at a time", found["notes"])

    def test_probes_that_cause_a_fault(self):
        ended, found = self.fusing(BREAKING="t2m")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(found["disturbance"]["effect"], "causes")
        self.assertEqual(found["disturbance"]["probes"], ["t2m"])

    def test_only_the_probes_of_the_batch_that_showed_it_are_searched(self):
        """All tensors at once may be too many: there more than four do not go together."""
        for environment, effect in (({"FUSING": "t3m"}, "cures"), ({"BREAKING": "t2m"}, "causes")):
            with self.subTest(effect):
                ended, found = self.fusing("--max-host-mem", "1K", CROWDED="4", **environment)
                self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
                self.assertGreater(found["batches"], 3)
                self.assertEqual(found["disturbance"]["effect"], effect)
                self.assertEqual(found["disturbance"]["probes"], list(environment.values()))
                for name in environment:
                    os.environ.pop(name)

    def test_a_tensor_that_cannot_be_exposed(self):
        for how in ("REFUSING", "DYING"):
            with self.subTest(how):
                ended, found = self.fusing(**{how: "t4m"})
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual([tensor["name"] for tensor in found["unexposed"]], ["t4m"])
                layer = next(layer for layer in found["layers"] if layer["node"] == "Add_4")
                self.assertEqual(layer["group"], ["MatMul_4", "Add_4"])
                self.assertEqual(found["compared"], 11)
                os.environ.pop(how)

    def test_a_tensor_that_the_reference_cannot_expose(self):
        """Its sessions are opened while the candidate's are: what goes wrong there is seen later."""
        for how in ("REFUSING", "DYING"):
            with self.subTest(how):
                ended, found = self.fusing("--reference", "fusing_runner", **{how: "t4m"})
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual([tensor["name"] for tensor in found["unexposed"]], ["t4m"])
                self.assertEqual(found["compared"], 11)
                os.environ.pop(how)

    def test_a_reference_that_does_not_open(self):
        ended, found = self.fusing("--reference", "fusing_runner", REFUSING="t5")
        self.assertEqual(ended.returncode, 6, ended.stdout + ended.stderr)
        self.assertIn("this tensor cannot be an output", ended.stderr)
        self.assertFalse(found["layers"])

if __name__ == "__main__":
    unittest.main()
