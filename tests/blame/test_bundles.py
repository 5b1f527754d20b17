"""`blame --bundle`: a folder that shows the failure of one layer."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import onnx

import planted
from models import chain
from program import FUSING, VERNIER, Case, blame, two_models

class Bundles(Case):
    def test_the_bundle_shows_the_failure(self):
        network = planted.plant(1, "wrong_epsilon")
        ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        part = onnx.load("bundle/model.onnx")
        onnx.checker.check_model(part, full_check=True)
        self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("FAILED", again.stdout)
        # A search that finds nothing does not look as if it had found this.
        first = two_models(network)[:2]
        clean, _ = blame(self.folder.name, *first, first[0], first[1].replace("=", "2=", 1),
                         "--bundle", "bundle")
        self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
        self.assertIn("'bundle' still holds what another search found", clean.stdout)

    def test_the_bundle_of_a_script_runs_from_its_own_folder(self):
        (Path(self.folder.name) / "runner.py").write_text(Path(FUSING).read_text())
        onnx.save(chain(), "chain.onnx")
        os.environ["BREAKING"] = "t2m"
        self.addCleanup(os.environ.pop, "BREAKING")
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt", "--model-runner", "runner.py",
                         "--python", sys.executable, "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertNotIn("no file", again.stderr)
        self.assertIn("compared 1 output", again.stdout, again.stderr)

    def test_a_second_bundle_replaces_the_first_as_a_whole(self):
        first, second = planted.plant(1, "wrong_epsilon"), planted.plant(2, "wrong_epsilon")
        for network in (first, second):
            ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
            self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
            part = onnx.load("bundle/model.onnx")
            self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
            self.assertEqual(sorted(os.listdir("bundle")),
                             ["found", "model.onnx", "repro.sh", "test_data_set_0"])
            again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                                   env={**os.environ, "VERNIER": VERNIER})
            self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
            self.assertIn("compared 1 output", again.stdout)

    def test_a_bundle_overwrites_nobodys_files(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        os.mkdir("theirs")
        Path("theirs/model.onnx").write_text("somebody's")
        before = Path("bad.onnx").read_bytes()
        for command in ("run", "blame"):
            more = ["--blame", "--save-outputs", "ran.json"] if command == "run" else []
            for folder, why in ((".", "which is read by this command"),
                                ("theirs", "holds 'model.onnx', which is no part of a bundle")):
                with self.subTest(command=command, folder=folder):
                    ended = subprocess.run([VERNIER, command, *words, *more, "--bundle", folder],
                                           capture_output=True, text=True)
                    self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
                    self.assertIn(why, ended.stderr)
                    self.assertEqual(ended.stdout, "")
        self.assertFalse(Path("ran.json").exists())
        self.assertEqual(Path("theirs/model.onnx").read_text(), "somebody's")
        self.assertEqual(Path("bad.onnx").read_bytes(), before)

if __name__ == "__main__":
    unittest.main()
