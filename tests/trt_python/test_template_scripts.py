"""What `vernier template` writes, run where Polygraphy is not installed: vernier's stand-in has what
such scripts import."""

import pathlib
import subprocess
import sys

import onnx
import test_trt_python
from test_trt_python import FAKE_TENSORRT, VERNIER


class TemplateScripts(test_trt_python.TensorRtCase):
    def setUp(self):
        super().setUp()
        packages = self.folder / "packages"
        packages.mkdir()
        for entry in pathlib.Path(onnx.__file__).parent.parent.iterdir():
            if not entry.name.startswith("polygraphy"):
                (packages / entry.name).symlink_to(entry)
        self.python = self.folder / "python"
        self.python.write_text(f"#!/bin/sh\nPYTHONPATH={packages}:{FAKE_TENSORRT} exec "
                               f"{pathlib.Path(sys.executable).resolve()} -S \"$@\"\n")
        self.python.chmod(0o755)

    def template(self, which, *words):
        name = which.replace("-", "_") + ".py"
        ended = subprocess.run([VERNIER, "template", which, *words, "-o", name], cwd=self.folder,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return name

    def fill(self, name, line):
        """In the place of the `pass` that is to be filled in."""
        path = self.folder / name
        before, found, _ = path.read_text(encoding="utf-8").partition("    pass # TODO")
        self.assertTrue(found)
        path.write_text(before + "    " + line + "\n", encoding="utf-8")

    def run_with(self, *words, **settings):
        return self.run_vernier("run", *words, "--python", self.python, **settings)

    def test_a_configuration(self):
        script = self.template("trt-config", "m.onnx", "--fp16", "--pool-limit", "workspace:1M",
                               "--trt-min-shapes", "x:[1,3]", "--trt-opt-shapes", "x:[2,3]",
                               "--trt-max-shapes", "x:[4,3]")
        self.fill(script, "config.set_flag(trt.BuilderFlag.REFIT)")
        printed = self.run_with("m.onnx", "--trt", "--onnxrt", "--trt-config-script", script,
                                "--input-shapes", "x:[2,3]")
        self.assertIn("PASSED", printed)
        (build,) = self.journal()
        self.assertEqual(build["flags"], ["FP16", "REFIT"])
        self.assertEqual(build["pools"], {"WORKSPACE": 1 << 20})
        self.assertIn("x", build["profiles"][0])

    def test_a_network_that_begins_with_a_model(self):
        script = self.template("trt-network", "m.onnx", "--trt-outputs", "r", "--layer-precisions",
                               "relu:float16")
        self.fill(script, "network.name = 'changed'")
        printed = self.run_with(script, "--trt", "--input-shapes", "x:[2,3]")
        self.assertIn("r [dtype=float32", printed)
        (build,) = self.journal()
        self.assertEqual((build["outputs"], build["network"]), (["r"], "changed"))
        self.assertEqual(build["precisions"]["relu"], "HALF")

    def test_what_the_stand_in_lacks_is_told(self):
        script = self.template("trt-config", "--int8")
        printed = self.run_with("m.onnx", "--trt", "--trt-config-script", script, code=3)
        self.assertIn("'pip install polygraphy' brings the real one", printed)
