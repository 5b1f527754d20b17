"""Outputs on a CUDA device, with a driver library that has none: they arrive, or a sentence says why
not.

    VERNIER=path/to/vernier VERNIER_FAKE_CUDA_DIR=folder/of/libcuda.so.1 python3 -m unittest
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from fault_run import identity_model

VERNIER = os.environ.get("VERNIER", "vernier")
FAKE_CUDA_DIR = os.environ.get("VERNIER_FAKE_CUDA_DIR", ".")

HOST = "host=identity"
DEVICE = "device=identity --identity-device cuda"


class DeviceOutputs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-device-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.model = self.folder / "model.onnx"
        # One output travels in shared memory, one in the message.
        self.model.write_bytes(identity_model(["x"], [100, 300]))
        self.small = self.folder / "small.onnx"
        self.small.write_bytes(identity_model(["x"], [2, 3]))

    def run_vernier(self, *arguments, driver=FAKE_CUDA_DIR, behaviour=""):
        environment = dict(os.environ, LD_LIBRARY_PATH=driver, VERNIER_FAKE_CUDA=behaviour)
        return subprocess.run([VERNIER, "run", *map(str, arguments)], env=environment, timeout=60,
                              capture_output=True, text=True, check=False)

    def test_they_are_compared_and_equal_those_of_the_host(self):
        for model in (self.model, self.small):
            record = self.folder / "record.json"
            ended = self.run_vernier(model, "--runner", HOST, "--runner", DEVICE, "--iterations",
                                     "3", "--save-record", record)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            runners = json.loads(record.read_text(encoding="utf-8"))["runners"]
            self.assertEqual([r["device"] for r in runners], ["CPU", "Fake GPU"])

    def test_a_difference_is_found(self):
        saved = self.folder / "saved.json"
        ended = self.run_vernier(self.model, "--identity", "--save-outputs", saved, "--seed", "1")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for seed, expected in (("1", 0), ("2", 1)):
            ended = self.run_vernier(self.model, "--runner", DEVICE, "--seed", seed,
                                     "--load-outputs", saved)
            self.assertEqual(ended.returncode, expected, ended.stdout + ended.stderr)

    def test_two_runners_on_the_device_share_a_worker(self):
        ended = self.run_vernier(self.model, "--identity", "--identity", "--identity-device",
                                 "cuda", "--iterations", "2")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn("compared 1 output in 2 iterations", ended.stdout)
        # The library has no compiler for the kernels; that is said once.
        self.assertEqual(ended.stdout.count("Outputs are copied from the GPU to be compared"), 1)

    def test_those_that_are_lost_with_a_worker_are_made_again(self):
        # Three runners, so the sixth allocation is that of the last one in the second iteration.
        runners = [word for name in "abc"
                   for word in ("--runner", f"{name}=identity --identity-device cuda")]
        record = self.folder / "record.json"
        environment = dict(os.environ, LD_LIBRARY_PATH=FAKE_CUDA_DIR, VERNIER_FAKE_CUDA="",
                           VERNIER_FAKE_CUDA_DIES=f"6:{self.folder / 'died'}")
        ended = subprocess.run([VERNIER, "run", self.model, *runners, "--iterations", "4",
                                "--save-record", record], env=environment, timeout=60,
                               capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 6, ended.stdout + ended.stderr)
        self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.stdout)
        document = json.loads(record.read_text(encoding="utf-8"))
        self.assertEqual([bool(r.get("failure")) for r in document["runners"]],
                         [False, False, True])
        self.assertEqual([r["iterations"] for r in document["runners"]], [4, 4, 1])

    def test_what_needs_the_bytes_gets_them(self):
        saved = self.folder / "saved.npz"
        for option in (["--save-outputs", saved], ["--validate"], ["-v"], ["--compare", "ulp"],
                       ["--sequential-runners"], ["--postprocess", "top-3"],
                       ["--save-record", self.folder / "record.json"]):
            ended = self.run_vernier(self.model, "--identity", "--identity", "--identity-device",
                                     "cuda", *option)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_each_iteration_keeps_its_own_values(self):
        # The device writes to memory that is used again, page-locked or not.
        for behaviour in ("", "no-lock"):
            inputs, outputs = self.folder / "inputs.json", self.folder / "outputs.json"
            ended = self.run_vernier(self.model, "--runner", DEVICE, "--runner", HOST,
                                     "--iterations", "12", "--save-inputs", inputs,
                                     "--save-outputs", outputs, behaviour=behaviour)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            self.assertIn("Passed: 12/12 iterations", ended.stdout)
            fed, made = (re.findall(r"[A-Za-z0-9+/=]{1000,}", path.read_text(encoding="utf-8"))
                         for path in (inputs, outputs))
            self.assertEqual(len(set(fed)), 12)
            self.assertEqual(made, fed * 2)

    def test_without_a_driver_the_sentence_says_so(self):
        # A machine with a GPU has a real driver, which a file that is none stands in front of.
        (self.folder / "none").mkdir()
        (self.folder / "none" / "libcuda.so.1").write_text("no library", encoding="utf-8")
        ended = self.run_vernier(self.model, "--runner", DEVICE, driver=self.folder / "none")
        self.assertEqual(ended.returncode, 5)
        self.assertIn("there is no CUDA here", ended.stderr)
        self.assertIn("libcuda.so.1", ended.stderr)

    def test_without_a_device_the_sentence_says_so(self):
        ended = self.run_vernier(self.model, "--runner", DEVICE, behaviour="no-device")
        self.assertEqual(ended.returncode, 5)
        self.assertIn("the driver sees no device", ended.stderr)

    def test_a_full_device_is_a_sentence(self):
        ended = self.run_vernier(self.model, "--runner", DEVICE, behaviour="no-memory")
        self.assertEqual(ended.returncode, 6)
        self.assertIn("allocating 120000 bytes: out of memory (CUDA_ERROR_OUT_OF_MEMORY)",
                      ended.stderr)

    def test_a_device_that_there_is_not_is_refused(self):
        ended = self.run_vernier(self.model, "--identity", "--identity-device", "tpu")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--identity-device: expected cpu or cuda, got 'tpu'", ended.stderr)


if __name__ == "__main__":
    unittest.main()
