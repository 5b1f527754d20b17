"""A trained recurrent network over 300 steps: silero-vad under two settings of ONNX Runtime."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np

FOLDER = "silero-vad-6.2.3"
MODEL = (FOLDER, "silero_vad/data/silero_vad_16k_op15.onnx")


def save_speech(path):
    time = np.arange(300 * 512) / 16000
    voice = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 12))
    voice = voice * (np.sin(2 * np.pi * 1.5 * time) > 0) / 4
    np.savez(path, input=voice.astype("f4")[None], sr=np.int64(16000))


class SpeechOverSteps(unittest.TestCase):
    def compare(self, *words):
        """The record of a run over 300 steps, all of which agree."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            save_speech(folder / "speech.npz")
            done = subprocess.run(
                [os.environ["VERNIER"], "run", "--load-inputs", "speech.npz", "--feed-back", "auto",
                 "--step-slice", "input:axis=1,size=576,hop=512,pad=64", "--atol", "1e-4",
                 "--save-record", "r.json", *words], cwd=folder, capture_output=True, text=True,
                check=False, timeout=300, env={**os.environ, "NO_COLOR": "1"})
            self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
            self.said = done.stdout + done.stderr
            record = json.loads((folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(record["steps"]["lengths"], [300])
        return record

    def test_two_settings_agree_at_every_step(self):
        model = networks.trained_file(*MODEL)
        record = self.compare(
            "--runner", f"a=onnxrt {model}",
            "--runner", f"b=onnxrt {model} --graph-optimization-level ORT_DISABLE_ALL")
        times = {o["name"]: o["time"] for o in record["pairs"][0]["outputs"]}
        self.assertEqual((times["output"]["steps"], times["stateN"]["steps"]), (300, 2))
        self.assertIsNone(times["output"]["first_bad_step"])

    def test_the_export_that_takes_all_steps_at_once_agrees_with_the_others(self):
        data = "silero_vad/data/silero_vad_"
        record = self.compare(
            "--runner", f"a=onnxrt {networks.trained_file(*MODEL)}",
            "--runner", f"b=onnxrt {networks.trained_file(FOLDER, data + 'op18_ifless.onnx')}",
            "--runner", f"ov=openvino {networks.trained_file(FOLDER, data + 'openvino_16k.onnx')}",
            "--runner", f"seq=onnxrt {networks.trained_file(FOLDER, data + '16k_sequence.onnx')}",
            "--steps-axis", "seq:0", "--map-inputs", "seq:h=state[0:1]", "seq:c=state[1:2]",
            "--map-outputs", "seq:speech_probs=output", "seq:stateN=", "--pairs", "first")
        self.assertEqual(self.said.count("corresponds to output: output (--map-outputs)"), 1)
        for pair in record["pairs"]:
            self.assertEqual(pair["passed_iterations"], 300, pair["second"])
        last = record["pairs"][2]
        self.assertEqual((last["first"], last["second"]), ("a", "seq"))
        (output,) = last["outputs"]
        self.assertEqual((output["name"], output["time"]["steps"]), ("output", 300))


if __name__ == "__main__":
    unittest.main()
