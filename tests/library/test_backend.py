#!/usr/bin/env python3
"""examples/backend, a plug-in outside of the source tree, is built against an installation; what it
declares is used as that of a built-in one is.

Environment: BUILD (the build folder), CMAKE, WORK (a folder for what the tests make).
"""

import base64
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from test_library import ROOT, carry_out

# One Identity node, from x to x_out: float32 of [2, 3].
MODEL = base64.b64decode("CAg6TAoUCgF4EgV4X291dCIISWRlbnRpdHkSBmZhdWx0c1oTCgF4Eg4KDAgBEggKAggC"
                         "CgIIA2IXCgV4X291dBIOCgwIARIICgIIAgoCCANCAhAR")
SCALED = ["--runner", "own=scaled"]


class OutOfTreeBackend(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(dir=os.environ["WORK"]))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        prefix, build = cls.work / "prefix", cls.work / "build"
        cmake = os.environ["CMAKE"]
        for words in (["--install", os.environ["BUILD"], "--prefix", prefix],
                      ["-S", ROOT / "examples/backend", "-B", build,
                       f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"],
                      ["--build", build]):
            done = carry_out(cmake, *words)
            if done.returncode != 0:
                raise AssertionError(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        cls.program = prefix / "bin/vernier"
        cls.plugins = build / "lib/vernier/backends"
        cls.model = cls.work / "model.onnx"
        cls.model.write_bytes(MODEL)

    def vernier(self, *words, code=0):
        done = carry_out(self.program, *words, cwd=self.work, env=dict(
            os.environ, VERNIER_BACKEND_PATH=str(self.plugins),
            VIRTUAL_ENV=str(ROOT / ".deps/runtimes")))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_it_is_listed_with_its_options(self):
        said = self.vernier("backends", "scaled", "-v").stdout
        self.assertIn("One of forwards, backwards. Default: forwards.", said)

    def test_its_options_are_checked(self):
        self.vernier("run", self.model, *SCALED, "--scaled.order=backwards")
        done = self.vernier("run", self.model, *SCALED, "--scaled.order=sideways", code=2)
        self.assertIn("--scaled.order: expected one of forwards, backwards, got 'sideways'",
                      done.stdout + done.stderr)
        done = self.vernier("run", self.model, *SCALED, "--runner", "b=scaled --scaled.scale=2",
                            code=1)
        self.assertIn("own vs. b: FAILED", done.stdout)

    def test_its_rank_makes_it_the_reference(self):
        for words in ([*SCALED, "--onnxrt"], ["--onnxrt", *SCALED]):
            self.vernier("blame", self.model, *words, "--save-blame", "blame.json")
            found = json.loads((self.work / "blame.json").read_text())
            self.assertEqual(found["reference"], "own", words)

    def test_its_noise_is_measured(self):
        done = self.vernier("run", self.model, *SCALED, "--onnxrt", "--noise-floor")
        self.assertIn("Measuring the noise of own with other settings", done.stdout)

    def test_its_neutral_settings_are_tried(self):
        done = self.vernier("check", "consistency", self.model, *SCALED, "--only",
                            "other-settings")
        self.assertIn("PASSED | other-settings | 2 settings", done.stdout)

    def test_its_layers_are_measured(self):
        self.vernier("profile", self.model, *SCALED, "--runs", "3", "--save-record", "p.json")
        point, = json.loads((self.work / "p.json").read_text())["profile"]["points"]
        self.assertEqual([layer["name"] for layer in point["layers"]], ["scale"])


    def test_it_is_told_its_share_of_the_threads(self):
        done = self.vernier("run", self.model, *SCALED, "--iterations", "4",
                            "--workers-per-runner", "2")
        self.assertRegex(done.stdout, r"pool of scaled: \d+")
        done = self.vernier("run", self.model, *SCALED, "--iterations", "4",
                            "--workers-per-runner", "2", "--scaled.pool=7")
        self.assertIn("pool of scaled: 7", done.stdout)
        self.assertNotIn("pool of scaled", self.vernier("run", self.model, *SCALED).stdout)

    def test_it_is_told_the_shapes_of_feeds(self):
        done = self.vernier("run", self.model, *SCALED, "--input-shapes", "x:[2,3]")
        self.assertIn("sizes of scaled: x:[2,3]", done.stdout)

    def test_it_takes_its_framework_out_of_a_python(self):
        python = pathlib.Path(sys.executable)
        self.vernier("run", self.model, "--runner", f"own=scaled --python {python}",
                     "--save-record", "r.json")
        runner, = json.loads((self.work / "r.json").read_text())["runners"]
        self.assertEqual(runner["framework_path"], str(python.parent.parent))

    def test_its_warnings_are_findings(self):
        done = self.vernier("check", "lint", self.model, *SCALED)
        self.assertIn("numbers are not what they were", done.stdout + done.stderr)

    def test_it_is_given_the_models_that_it_opens(self):
        for name, said in (("model.else", "Could not automatically determine model type for"),
                           ("model.engine", "Model type: engine could not be converted to an ONNX"),
                           ("model.uff", "TensorRT 9 and later do not read UFF")):
            (self.work / name).write_bytes(b"x")
            done = self.vernier("run", name, *SCALED, code=2)
            self.assertIn(said, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
