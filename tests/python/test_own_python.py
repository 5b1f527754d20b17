"""--python within --runner: runners of two environments side by side."""

import pathlib
import shutil
import subprocess
import sys

from script_case import ScriptCase

WHO = """
    import os
    import numpy as np
    def infer(feed):
        return {"y": np.full(2, float(os.environ["WHO"]), np.float32)}
    """
# What ONNX Runtime 1.2 answers to a program of today.
OLD_RUNTIME = """
    static const char* version(void) { return "1.2.0"; }
    static const void* get_api(unsigned number) { (void)number; return 0; }
    static const struct { const void* (*get_api)(unsigned); const char* (*version)(void); } base =
        {get_api, version};
    const void* OrtGetApiBase(void) { return &base; }
    """


class OwnPython(ScriptCase):
    def setUp(self):
        super().setUp()
        self.write("model.py", WHO)
        for name, number in (("one", 1), ("two", 2), ("uno", 1)):
            self.interpreter(name, f"WHO={number}")

    def interpreter(self, name, setting):
        """A Python that is known by its environment."""
        path = self.folder / name / "bin" / "python3"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\nexport {setting}\nexec '{sys.executable}' \"$@\"\n")
        path.chmod(0o755)

    def test_each_runner_has_the_interpreter_that_its_words_name(self):
        for other, code in (("two", 1), ("uno", 0)):
            done = self.vernier("--runner", "a=model.py --python one/bin/python3",
                                "--runner", f"b=model.py --python {other}/bin/python3",
                                "--load-inputs", self.inputs())
            self.assertEqual(done.code, code, str(done))
            self.assertIn("a vs. b: ", done.out)

    def inputs(self):
        self.vernier("m.onnx", "--identity", "--save-inputs", "x.json")
        return "x.json"

    def test_others_have_that_of_the_run(self):
        done = self.vernier("--runner", "a=model.py --python one/bin/python3", "--model-runner",
                            "model.py", "--load-inputs", self.inputs(),
                            python="two/bin/python3")
        self.assertEqual(done.code, 1, str(done))
        self.assertRegex(done.out, "max=1 at|absolute error 1,")

    def test_frameworks_of_python_run_in_it(self):
        """The module is looked for there."""
        self.interpreter("none", "PYTHONPATH=/nowhere")
        (self.folder / "none" / "bin" / "python3").write_text(
            f"#!/bin/sh\nexec '{sys.executable}' -S \"$@\"\n")
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "r=onnxref --python one/bin/python3")
        self.assertEqual(done.code, 0, str(done))
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "r=onnxref --python none/bin/python3")
        self.assertEqual(done.code, 5, str(done))
        self.assertIn("has no module 'onnx'", done.out + done.err)

    def test_a_plug_in_takes_the_library_of_that_environment(self):
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt --python one/bin/python3")
        self.assert_fails(done, 5, "ONNX Runtime is not at '.*/one', the environment of a Python "
                                   "\\(--python or --onnxrt-lib\\); "
                                   "`pip install onnxruntime` there")
        path = self.library("one")
        found = next(pathlib.Path(self.runtime()).rglob("libonnxruntime.so*"))
        path.symlink_to(found)
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt --python one/bin/python3")
        self.assertEqual(done.code, 0, str(done))

    def test_a_wheel_without_a_library_is_named_with_its_version(self):
        """As those of ONNX Runtime 1.15 to 1.18 are: the package is there, and cannot be loaded."""
        package = self.library("one").parent.parent
        (package / "__init__.py").write_text('"""ONNX Runtime"""\n__version__ = "1.17.3"\n')
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt --python one/bin/python3")
        self.assert_fails(done, 5, "found onnxruntime 1\\.17\\.3 at '.*/one/.*/onnxruntime', which "
                                   "has no libonnxruntime\\.so to load, as old wheels have none; "
                                   "`pip install onnxruntime --upgrade` there brings one, and "
                                   "--model-runner SCRIPT\\.py --python INTERPRETER runs what")

    def library(self, name):
        folder = self.folder / name / "lib/python3.11/site-packages/onnxruntime/capi"
        folder.mkdir(parents=True)
        return folder / "libonnxruntime.so"

    @staticmethod
    def runtime():
        import onnxruntime
        return pathlib.Path(onnxruntime.__file__).parent / "capi"

    def test_a_runtime_that_is_too_old_says_how_to_run_it(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        self.write("old.c", OLD_RUNTIME)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(self.library("one")), "old.c"],
                       cwd=self.folder, check=True)
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt --python one/bin/python3")
        self.assert_fails(done, 5, r"ONNX Runtime 1\.2\.0 at '.*' is too old: this build needs",
                          "--model-runner SCRIPT.py --python INTERPRETER")

    def test_what_cannot_be_is_refused_before_anything_starts(self):
        for words, code, said in (
                ("b=identity --python one/bin/python3", 2, "'identity' takes nothing of Python"),
                ("b=onnxrt --python nowhere/python", 5, "--runner b: --python: there is no"),
                ("b=onnxrt --python one/bin/python3 --onnxrt-lib x", 2, "two places")):
            done = self.vernier("m.onnx", "--onnxrt", "--runner", words)
            self.assert_fails(done, code, said)
            self.assertNotIn("Activating", done.out)

    def test_scripts_for_polygraphy_do_not_leave_it_out(self):
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt --python one/bin/python3",
                            "--gen-script", "-")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("vernier.Runner(name='b', backend='onnxrt', python='one/bin/python3')",
                      done.out)
