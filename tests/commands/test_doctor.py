"""vernier doctor: what is here, what is not, and the exit code."""

import json
import os
import shutil
import subprocess
import sys

from program import VERNIER, Case, Ended


class Doctor(Case):
    def doctor(self, *words, program=VERNIER, **variables):
        return Ended(subprocess.run([str(program), "doctor", *words], cwd=self.folder, text=True,
                                    capture_output=True, timeout=120,
                                    env={**os.environ, **self.variables, **variables}))

    def parts(self, *words, **settings):
        ended = self.doctor("--format", "json", *words, **settings)
        return {f"{part['section']}/{part['name']}": part
                for part in json.loads(ended.out)["parts"]}, ended

    def package(self, name, text):
        """A Python in which this package comes first."""
        folder = self.path("packages") / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(text, encoding="utf-8")
        return str(folder.parent)

    def test_says_of_backends_what_backends_says(self):
        parts, ended = self.parts()
        self.assertEqual(ended.code, 0, ended.out)
        for line in self.vernier("backends").out.splitlines():
            name, version, *rest = line.split()
            part = parts.get(f"backends/{name}", parts.get(f"python/{name}"))
            self.assertIsNotNone(part, line)
            if version == "not":
                self.assertNotEqual(part["state"], "usable")
                continue
            self.assertEqual(part["state"], "usable", part)
            if part["section"] == "backends" and rest and rest[-1].startswith("/"):
                self.assertEqual((part["version"], part["path"]), (version, rest[-1]))

    def test_says_what_the_processor_lacks(self):
        parts, _ = self.parts()
        said = parts["system/instructions"]["version"]
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(file.read().split())
        if "avx2" in flags:
            exact = bool(flags & {"avx512_vnni", "avx_vnni"})
            self.assertEqual("no VNNI: OpenVINO's int8 products may saturate" not in said, exact)

    def test_packages_of_the_interpreter(self):
        import numpy
        self.hide_packages("lpips")
        parts, _ = self.parts()
        self.assertEqual(parts["python/numpy"]["version"], numpy.__version__)
        self.assertEqual(parts["python/python"]["version"], sys.version.split()[0])
        missing = parts["python/lpips"]
        self.assertEqual(missing["state"], "missing")
        self.assertTrue(missing["enables"])
        self.assertTrue(missing["command"].endswith("pip install lpips"), missing["command"])

    def test_numpy_that_cannot_be_imported_is_unusable(self):
        place = self.package("numpy", "raise RuntimeError('built for another CPU')\n")
        parts, _ = self.parts(PYTHONPATH=place)
        self.assertEqual(parts["python/numpy"]["state"], "unusable")
        self.assertIn("built for another CPU", parts["python/numpy"]["why"])

    def test_required_parts_decide_the_exit_code(self):
        self.hide_packages("lpips")
        self.assertEqual(self.doctor("--require", "onnxruntime", "numpy").code, 0)
        for name, state in (("python/lpips", "missing"), ("nonsense", "there is no such part")):
            ended = self.doctor("--require", "numpy", name)
            self.assertEqual(ended.code, 5)
            self.assertIn(f"problem: --require {name}: {state}\n", ended.out)

    def test_an_executable_alone_is_not_well(self):
        alone = self.path("prefix/bin/vernier")
        alone.parent.mkdir(parents=True)
        shutil.copy(VERNIER, alone)
        ended = self.doctor(program=alone)
        self.assertEqual(ended.code, 5)
        self.assertIn("problem: plug-ins: ", ended.out)
        self.assertIn("problem: no framework can be used", ended.out)

    def test_a_plug_in_that_does_not_fit_says_why(self):
        folder = self.path("mine")
        folder.mkdir()
        (folder / "libvernier_backend_mine.so").write_bytes(b"no library")
        parts, ended = self.parts("--backend-dir", str(folder))
        self.assertEqual(parts["backends/mine"]["state"], "unusable")
        self.assertIn("libvernier_backend_mine.so", parts["backends/mine"]["why"])
        self.assertEqual(ended.code, 0)

    def test_a_wheel_without_a_library_is_to_be_upgraded(self):
        place = self.path("old/lib/python3.11/site-packages/onnxruntime")
        (place / "capi").mkdir(parents=True)
        (place / "__init__.py").write_text('__version__ = "1.15.1"\n')
        parts, _ = self.parts(VIRTUAL_ENV=str(self.path("old")), ONNXRUNTIME_ROOT="")
        found = parts["backends/onnxruntime"]
        if found["state"] == "usable":  # another one, which this machine has elsewhere
            self.assertNotIn(str(self.path("old")), str(found))
            return
        self.assertIn("found onnxruntime 1.15.1 at '", found["why"])
        self.assertIn("pip install --upgrade onnxruntime", found["command"])

    def test_a_temporary_folder_that_is_not_there(self):
        ended = self.doctor(TMPDIR=str(self.path("nowhere")))
        self.assertEqual(ended.code, 5)
        self.assertIn("problem: temporary-space: ", ended.out)

    def test_a_driver_that_crashes_is_one_line(self):
        source = self.path("cuda.c")
        source.write_text("__attribute__((constructor)) static void end(void) "
                          "{ __builtin_trap(); }\n", encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(self.path("libcuda.so.1")),
                        str(source)], check=True)
        parts, ended = self.parts(LD_LIBRARY_PATH=str(self.folder))
        self.assertEqual(parts["gpu/gpu"]["state"], "unusable")
        self.assertIn("ended the process", parts["gpu/gpu"]["why"])
        self.assertEqual(ended.code, 0)

    def test_an_interpreter_that_is_not_there(self):
        parts, ended = self.parts("--python", "/nowhere/python")
        self.assertEqual(parts["python/python"]["state"], "unusable")
        self.assertEqual(ended.code, 0)
