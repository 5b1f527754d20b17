#!/usr/bin/env python3
"""A program outside of the source tree is built against an installation, and compares models.

Environment: BUILD (the build folder), CMAKE, WORK (a folder for what the tests make), CXXFLAGS
(with which the library was built: what sanitizes a library sanitizes its programs).
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/library"
DIGITS = ROOT / "examples/digits.onnx"


def carry_out(*words, **settings):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **settings)


class InstalledLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(dir=os.environ["WORK"]))
        cls.addClassCleanup(shutil.rmtree, cls.work, ignore_errors=True)
        cls.prefix = cls.work / "prefix"
        cls.cmake = os.environ["CMAKE"]
        cls.must(cls.cmake, "--install", os.environ["BUILD"], "--prefix", cls.prefix)
        cls.must(cls.cmake, "-S", EXAMPLE, "-B", cls.work / "build",
                 f"-DCMAKE_PREFIX_PATH={cls.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        cls.must(cls.cmake, "--build", cls.work / "build")
        cls.program = cls.work / "build/compare_two"

    @classmethod
    def must(cls, *words):
        done = carry_out(*words)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def compare(self, *words, **environment):
        own = dict(os.environ, VERNIER_PROGRAM=str(self.prefix / "bin/vernier"),
                   VIRTUAL_ENV=str(ROOT / ".deps/runtimes"))
        return carry_out(self.program, *words, env={**own, **environment})

    def without_openvino(self):
        """An environment that has ONNX Runtime alone."""
        venv = self.work / "onnxruntime_alone"
        packages = next((ROOT / ".deps/runtimes/lib").glob("python3*/site-packages"))
        own = venv / packages.relative_to(ROOT / ".deps/runtimes")
        own.mkdir(parents=True, exist_ok=True)
        if not (own / "onnxruntime").exists():
            (own / "onnxruntime").symlink_to(packages / "onnxruntime")
        return {"VIRTUAL_ENV": str(venv)}

    def test_two_backends_agree(self):
        done = self.compare(DIGITS, "onnxruntime", "openvino")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 of 3 iterations agree", done.stdout)
        self.assertIn("reference vs. candidate: PASSED", done.stdout)

    def test_a_backend_that_does_not_exist_is_refused_as_on_the_command_line(self):
        done = self.compare(DIGITS, "onnxruntime", "openvin")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("runner 'candidate': there is no backend 'openvin'; did you mean 'openvino'?",
                      done.stderr)

    def test_a_backend_that_is_not_installed_is_a_sentence_and_its_exit_code(self):
        done = self.compare(DIGITS, "onnxruntime", "openvino", **self.without_openvino())
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("OpenVINO", done.stdout + done.stderr)

    def test_a_missing_model_is_a_sentence(self):
        done = self.compare(self.work / "none.onnx", "onnxruntime", "openvino")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none.onnx", done.stdout + done.stderr)

    def test_backends_are_named_as_on_the_command_line(self):
        done = self.compare(DIGITS, "onnxrt", "openvino")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_a_backend_cannot_read_is_said_before_it_loads(self):
        engine = self.work / "m.engine"
        engine.write_bytes(b"x")
        done = self.compare(engine, "onnxruntime", "openvino")
        self.assertEqual(done.returncode, 2)
        self.assertIn("runner 'reference': Model type: engine could not be converted", done.stderr)

    def test_a_runner_is_measured(self):
        own = dict(os.environ, VERNIER_PROGRAM=str(self.prefix / "bin/vernier"),
                   VIRTUAL_ENV=str(ROOT / ".deps/runtimes"))
        done = carry_out(self.work / "build/time_one", DIGITS, "onnxrt", env=own)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("measured", done.stdout)

    def lint(self, *words, **environment):
        own = dict(os.environ, VERNIER_PROGRAM=str(self.prefix / "bin/vernier"),
                   VIRTUAL_ENV=str(ROOT / ".deps/runtimes"))
        return carry_out(self.work / "build/lint_one", *words, env={**own, **environment})

    def test_a_model_is_linted_by_rules_without_the_program(self):
        done = self.lint(DIGITS, VERNIER_PROGRAM="/nosuch/vernier")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\d+ nodes passed, 0 failed, [1-9]\d* were not run")
        broken = self.work / "broken.onnx"
        broken.write_bytes(DIGITS.read_bytes()[:200])
        done = self.lint(broken)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("[unreadable]", done.stdout)

    def test_a_model_is_linted_by_a_runner(self):
        done = self.lint(DIGITS, "onnxrt")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"0 failed, 0 were not run")

    def precise(self, tolerance, **environment):
        own = dict(os.environ, VERNIER_PROGRAM=str(self.prefix / "bin/vernier"),
                   VIRTUAL_ENV=str(ROOT / ".deps/runtimes"))
        return carry_out(self.work / "build/keep_float32", DIGITS, tolerance,
                         env={**own, **environment})

    def test_nodes_that_must_stay_float32_are_found(self):
        done = self.precise("1e9")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^0 of [1-9]\d* nodes stay float32")
        done = self.precise("1e-6")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^[1-9]\d* of [1-9]\d* nodes stay float32")
        self.assertRegex(done.stdout, r"errs by 0\.0*[1-9]")

    def test_linting_without_the_runner_says_so_and_keeps_what_rules_found(self):
        done = self.lint(DIGITS, "openvino", **self.without_openvino())
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("OpenVINO", done.stderr)
        self.assertIn("nodes passed", done.stdout)

    def test_without_the_program_it_says_how_to_name_it(self):
        done = self.compare(DIGITS, "onnxruntime", "openvino", VERNIER_PROGRAM="/nosuch/vernier")
        self.assertEqual(done.returncode, 2)
        self.assertIn("$VERNIER_PROGRAM: there is no file '/nosuch/vernier'", done.stderr)

    def test_the_documentation_shows_the_program_that_is_tested(self):
        page = (ROOT / "docs/library.md").read_text(encoding="utf-8")
        for name in ("compare_two.cc", "CMakeLists.txt"):
            self.assertIn((EXAMPLE / name).read_text(encoding="utf-8") + "```", page, name)


if __name__ == "__main__":
    unittest.main()
