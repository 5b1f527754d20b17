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


if __name__ == "__main__":
    unittest.main()
