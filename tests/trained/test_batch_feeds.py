"""--batch-feeds with a trained network: 32 feeds at once compute about what single feeds do."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np
from polygraphy.json import load_json

# Kernels of another size add in another order: 3.6e-7 of probabilities was seen.
NEAR = 1e-5


class BatchedMagika(unittest.TestCase):
    def outputs(self, folder, *words):
        path = pathlib.Path(folder) / f"outputs{''.join(words)}.json"
        done = subprocess.run(
            [os.environ["VERNIER"], "run", networks.trained_file(
                "magika-1.0.3", "magika/models/standard_v3_3/model.onnx"), "--onnxrt",
             "--input-shapes", "bytes:[1,2048]", "--val-range", "bytes:[0,255]", "--iterations",
             "40", "--save-outputs", path, *words],
            capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        ((_, iterations),) = load_json(str(path)).items()
        return [np.asarray(outputs["target_label"]) for outputs in iterations]

    def test_each_feed_has_its_own_row(self):
        with tempfile.TemporaryDirectory() as folder:
            single = self.outputs(folder)
            for words in (("--batch-feeds", "32"),
                          ("--batch-feeds", "7", "--workers-per-runner", "2")):
                batched = self.outputs(folder, *words)
                self.assertEqual({output.shape for output in batched}, {(1, 214)})
                np.testing.assert_allclose(np.stack(batched), np.stack(single), rtol=0, atol=NEAR)


if __name__ == "__main__":
    unittest.main()
