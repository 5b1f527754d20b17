"""One small network in every format, made once, and vernier run on it.

    VERNIER=path/to/vernier .deps/tensorflow/bin/python -m unittest

Needs a Python with tensorflow, keras, tf2onnx, onnx and polygraphy; Python models run in that one.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))
MAKER = pathlib.Path(__file__).parents[1] / "data/make_tensorflow_models.py"
PATIENCE_S = 120

_scratch = None


def models():
    """The folder with the models; the first call makes them."""
    global _scratch
    if _scratch is None:
        _scratch = tempfile.TemporaryDirectory(prefix="vernier-tensorflow-")
        subprocess.run([sys.executable, MAKER, _scratch.name], check=True, capture_output=True,
                       timeout=PATIENCE_S)
    return pathlib.Path(_scratch.name)


class Done:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return f"exit {self.code}\n{self.out[-4000:]}\n{self.err[-3000:]}"


class TensorFlowCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-tensorflow-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.models = models()

    def vernier(self, *words, python=sys.executable, env=None):
        environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
        environment.update({"CUDA_VISIBLE_DEVICES": "-1"}, **(env or {}))
        command = [VERNIER, "run", *map(str, words), "--python", python]
        return Done(subprocess.run(command, cwd=self.folder, env=environment, capture_output=True,
                                   text=True, timeout=PATIENCE_S, check=False))

    def convert(self, *words):
        return self.start("convert", *words)

    def consistency(self, *words):
        return self.start("check", "consistency", *words)

    def start(self, *words):
        command = [VERNIER, *map(str, words), "--python", sys.executable]
        environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
        return Done(subprocess.run(command, cwd=self.folder, env=environment, capture_output=True,
                                   text=True, timeout=PATIENCE_S, check=False))

    def assert_passes(self, done, *words):
        self.assertEqual(done.code, 0, str(done))
        for word in words:
            self.assertIn(word, done.out, str(done))

    def assert_fails(self, done, code, *words):
        """The exit code, and one critical line that says every word."""
        self.assertEqual(done.code, code, str(done))
        critical = re.search(r"^\[!\] (.*)", done.err, re.MULTILINE)
        self.assertTrue(critical, str(done))
        for word in words:
            self.assertIn(word, critical.group(1), str(done))
