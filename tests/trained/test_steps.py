"""A trained recurrent network over 300 steps: silero-vad under two settings of ONNX Runtime."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np

MODEL = ("silero-vad-6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx")


class SpeechOverSteps(unittest.TestCase):
    def test_two_settings_agree_at_every_step(self):
        model = networks.trained_file(*MODEL)
        time = np.arange(300 * 512) / 16000
        voice = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 12))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            voice = voice * (np.sin(2 * np.pi * 1.5 * time) > 0) / 4
            np.savez(folder / "speech.npz", input=voice.astype("f4")[None], sr=np.int64(16000))
            done = subprocess.run(
                [os.environ["VERNIER"], "run", "--runner", f"a=onnxrt {model}", "--runner",
                 f"b=onnxrt {model} --graph-optimization-level ORT_DISABLE_ALL", "--load-inputs",
                 "speech.npz", "--feed-back", "auto", "--step-slice",
                 "input:axis=1,size=576,hop=512,pad=64", "--atol", "1e-4", "--save-record",
                 "r.json"], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
                env={**os.environ, "NO_COLOR": "1"})
            self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
            record = json.loads((folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(record["steps"]["lengths"], [300])
        times = {o["name"]: o["time"] for o in record["pairs"][0]["outputs"]}
        self.assertEqual((times["output"]["steps"], times["stateN"]["steps"]), (300, 2))
        self.assertIsNone(times["output"]["first_bad_step"])


if __name__ == "__main__":
    unittest.main()
