"""--noise-floor with a runner whose noise is known: the fake backend under ONNX Runtime's name."""

import json
import pathlib
import shutil
import subprocess
import unittest

from fault_run import FAKE_DIR, VERNIER, FaultTest


class NoiseFloor(FaultTest):
    def setUp(self):
        super().setUp()
        self.backends = self.folder / "backends"
        self.backends.mkdir()
        shutil.copy(pathlib.Path(FAKE_DIR) / "libvernier_backend_fake.so",
                    self.backends / "libvernier_backend_onnxruntime.so")
        self.model = self.write_model("model.onnx", ["x"], [64, 32])

    def measure(self, behaviour, *arguments):
        """Two runners of one backend; the first is measured. Their one output's record."""
        record = self.folder / "record.json"
        words = ["--runner", "gold=onnxruntime", "--runner", "new=onnxruntime", "--noise-floor",
                 "--save-record", record, "--backend-dir", self.backends, *arguments]
        ended = self.begin(*words, behaviour=behaviour).end()
        pairs = json.loads(record.read_text())["pairs"]
        outputs = pairs[0]["outputs"] if pairs else []
        return ended, outputs[0] if outputs else None

    def test_the_bar_is_eight_times_what_other_settings_change(self):
        ended, output = self.measure("noise=1e-4 off=6e-4")
        self.assertEqual(ended.code, 0, str(ended))
        bound = output["auto_tolerance"]
        self.assertAlmostEqual(bound["bound"], 8e-4, delta=4e-6)
        self.assertAlmostEqual(bound["rms_error"], 6e-4, delta=4e-6)
        self.assertAlmostEqual(bound["times_over"], 0.75, delta=0.02)
        self.assertIn("measured, 8 times the noise 0.0001", bound["why"])
        self.assertIn("measured, 8 times the noise 0.0001", ended.out)

    def test_a_difference_beyond_the_noise_fails_and_is_told_in_multiples(self):
        ended, output = self.measure("noise=1e-4 off=2e-3")
        self.assertEqual(ended.code, 1, str(ended))
        self.assertAlmostEqual(output["auto_tolerance"]["times_over"], 2.5, delta=0.05)
        self.assertRegex(ended.out, r"2\.5 times")

    def test_where_settings_change_nothing_the_prediction_holds(self):
        ended, output = self.measure("noise=0 off=6e-4")
        self.assertEqual(ended.code, 1, str(ended))
        self.assertIn("no noise measured", output["auto_tolerance"]["why"])

    def test_the_bar_never_goes_below_some_roundings(self):
        ended, output = self.measure("noise=2e-7 off=1e-6")
        self.assertEqual(ended.code, 0, str(ended))
        self.assertIn("32 roundings of float32", output["auto_tolerance"]["why"])

    def test_iteration_0_is_measured_for_all(self):
        # The third session is the one with other settings, and has no second inference.
        ended, output = self.measure("noise=1e-4 off=6e-4 crash=SIGSEGV session=2 iteration=1",
                                     "--iterations", "3")
        self.assertEqual(ended.code, 0, str(ended))
        self.assertEqual(output["compared_iterations"], 3)

    def test_a_shard_measures_iteration_0_of_the_whole(self):
        for behaviour, code in (("noise=1e-4 off=6e-4", 0), ("noise=1e-4 off=2e-3", 1),
                                ("noise=0 off=6e-4", 1)):
            words = ["--iterations", "5", "--reproducible"]
            ended, _ = self.measure(behaviour, *words)
            self.assertEqual(ended.code, code, str(ended))
            whole = (self.folder / "record.json").read_text()
            for rule in ("contiguous", "stride"):
                for shard in ("1/3", "2/3", "3/3"):
                    ended = self.begin(
                        "--runner", "gold=onnxruntime", "--runner", "new=onnxruntime",
                        "--noise-floor", "--iterations", "5", "--backend-dir", self.backends,
                        "--shard", shard, "--shard-by", rule, "--shard-exit", "done",
                        "--save-record", self.folder / "part.json", behaviour=behaviour).end()
                    self.assertEqual(ended.code, 0, str(ended))
                merged = self.folder / "merged.json"
                done = subprocess.run(
                    [VERNIER, "merge", *sorted(self.folder.glob("part.shard-*")), "-o", merged,
                     "--reproducible"], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertEqual(merged.read_text(), whole, (behaviour, rule))

    def test_an_output_with_a_tolerance_of_its_own_keeps_it(self):
        ended, output = self.measure("noise=1e-4 off=6e-4", "--atol", "x:1e-6", "--rtol", "x:0")
        self.assertEqual(ended.code, 1, str(ended))
        self.assertIsNone(output["auto_tolerance"])

    def test_a_twin_that_dies_is_no_pass(self):
        ended, output = self.measure("noise=1e-4 crash=SIGSEGV session=2")
        self.assertEqual(ended.code, 6, str(ended))
        self.assertIsNone(output)
        self.assertIn("--noise-floor, gold, other settings: died of SIGSEGV", ended.err)

    def test_backends_without_such_settings_are_named(self):
        ended = self.begin("--runner", "a=fake", "--runner", "b=fake",
                           "--noise-floor").end()
        self.assertNotEqual(ended.code, 0)
        self.assertIn("no settings are known that 'fake' could be measured with", ended.err)

    def test_saved_outputs_cannot_be_measured(self):
        saved = self.folder / "saved.npz"
        ended = self.begin("--runner", "a=fake", "--save-outputs", saved).end()
        self.assertEqual(ended.code, 0, str(ended))
        ended = self.begin("--load-outputs", saved, saved, "--noise-floor").end()
        self.assertNotEqual(ended.code, 0)
        self.assertIn("--noise-floor needs a runner", ended.err)


if __name__ == "__main__":
    unittest.main()
