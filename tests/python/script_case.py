"""A folder with models, scripts written into it, and vernier and Polygraphy run there.

    VERNIER=path/to/vernier VENV/bin/python -m unittest

Needs a Python with numpy, onnx and polygraphy; scripts run in that one.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))
PATIENCE_S = 60


def write_model(path):
    """y = relu(x) + x for float32 x of (n, 3), and z = x."""
    def info(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3])
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "x"], ["y"]),
             helper.make_node("Identity", ["x"], ["z"])]
    graph = helper.make_graph(nodes, "scripts", [info("x")], [info("y"), info("z")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class Done:
    """How a program ended."""

    def __init__(self, done, seconds):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.seconds = seconds

    def __str__(self):
        return f"exit {self.code}\n{self.out[-4000:]}\n{self.err[-3000:]}"

    def critical(self):
        """The text of the first critical line, and what belongs to it."""
        found = re.search(r"^\[!\] (.*?)(?=^\[|\Z)", self.err, re.DOTALL | re.MULTILINE)
        return found.group(1) if found else ""

    def verdicts(self):
        """The lines in which a pair or the run is judged, without names and times."""
        lines = re.findall(r"^\[.\] (Accuracy Summary .*|PASSED \| R|FAILED \| R)", self.out,
                           re.MULTILINE)
        return [re.sub(r"\d\d[/:]\d\d[/:]\d\d", "", line) for line in lines]


class ScriptCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        write_model(self.folder / "m.onnx")

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text))

    def start(self, program, words, python=None, env=None):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
        environment.update(env or {}, VIRTUAL_ENV=str(pathlib.Path(sys.prefix)))
        if python:
            words = [*words, "--python", python]
        start = time.monotonic()
        done = subprocess.run([*program, *words], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return Done(done, time.monotonic() - start)

    def vernier(self, *words, **options):
        return self.start([VERNIER, "run"], words, **options)

    def peer(self, *words):
        return self.start([str(pathlib.Path(sys.executable).parent / "polygraphy"), "run"], words)

    def as_peer(self, *words):
        """vernier under Polygraphy's name."""
        link = self.folder / "polygraphy"
        if not link.exists():
            link.symlink_to(VERNIER)
        return self.start([str(link), "run"], words)

    def saved_inputs(self, name="in.json"):
        """The feeds of a file of --save-inputs, as mappings of names to arrays."""
        import base64
        import io

        def array(entry):
            return np.load(io.BytesIO(base64.b64decode(entry["array"])))
        return [{key: array(entry) for key, entry in feed.items()}
                for feed in json.loads((self.folder / name).read_text())]

    def assert_fails(self, done, code, *words):
        """The exit code, and one critical text that says every word."""
        self.assertEqual(done.code, code, str(done))
        for word in words:
            self.assertRegex(done.critical(), word, str(done))
