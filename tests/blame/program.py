"""Runs `vernier blame` for the tests of this folder."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import onnx

VERNIER = os.environ["VERNIER"]
# A script of a runner that computes something else when it is probed.
FUSING = str(Path(__file__).with_name("fusing_runner.py"))


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


class Case(unittest.TestCase):
    """In a folder of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder.name)
