"""tests/layers: includes and imports that go in circles or up are found in every kind of file."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

LAYERS = pathlib.Path(__file__).resolve().parents[1] / "layers"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-layers-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, script, code):
        done = subprocess.run([sys.executable, "-B", LAYERS / script, self.root],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout.splitlines()[:-1]


class Includes(Case):
    def setUp(self):
        super().setUp()
        self.write("src/low/CMakeLists.txt", "vernier_library(low SOURCES a.cc)\n")
        self.write("src/high/CMakeLists.txt", "vernier_library(high SOURCES a.cc DEPS low)\n")
        self.write("docs/architecture.md", "| low | nothing |\n| high | low |\n")
        self.write("python/CMakeLists.txt",
                   "target_link_libraries(vernier_python PRIVATE vernier_high)\n")
        self.write("src/low/a.h", '#include "vernier/status.h"\n')
        self.write("src/high/a.cc", '#include "low/a.h"\n')
        self.write("include/vernier/status.h")

    def test_down_is_right(self):
        self.assertEqual(self.check("check_includes.py", 0), [])

    def test_a_circle_within_a_folder(self):
        self.write("src/low/b.h", '// of the same folder\n#include "low/c.h"\n')
        self.write("src/low/c.h", '#include "low/d.h"\n')
        self.write("src/low/d.h", '#include "low/b.h"\n#include "low/a.h"\n')
        self.assertEqual(self.check("check_includes.py", 1),
                         ["a circle of includes: src/low/b.h:2 includes src/low/c.h, src/low/c.h:1 "
                          "includes src/low/d.h, src/low/d.h:1 includes src/low/b.h"])

    def test_a_header_that_includes_itself(self):
        self.write("src/low/b.h", '#include "low/b.h"\n')
        self.assertEqual(self.check("check_includes.py", 1),
                         ["a circle of includes: src/low/b.h:1 includes src/low/b.h"])

    def test_headers_of_kernels(self):
        self.write("src/low/b.cuh", '#include "low/c.cuh"\n')
        self.write("src/low/c.cuh", '#include "low/b.cuh"\n#include "high/d.cuh"\n')
        self.write("src/low/e.cu", '#include "high/d.cuh"\n')
        self.write("src/high/d.cuh")
        self.assertEqual(self.check("check_includes.py", 1), [
            "a circle of includes: src/low/b.cuh:1 includes src/low/c.cuh, src/low/c.cuh:1 "
            "includes src/low/b.cuh",
            "src/low/c.cuh:2: includes high/d.cuh: low does not depend on high",
            "src/low/e.cu:1: includes high/d.cuh: low does not depend on high"])


class Imports(Case):
    def setUp(self):
        super().setUp()
        self.write("libexec/vernier/worker.py", "def main():\n    from vernier_worker import one\n")
        self.write("libexec/vernier/packages.py")
        self.write("libexec/vernier/vernier_worker/one.py")

    def test_the_program_of_workers(self):
        self.assertEqual(self.check("check_imports.py", 0), [])
        self.write("libexec/vernier/worker.py", "from vernier_worker import one, gone\n")
        self.assertEqual(self.check("check_imports.py", 1), [
            "libexec/vernier/worker.py:1: there is no module vernier_worker"])
        self.write("libexec/vernier/worker.py", "def main():\n    import vernier_worker.one\n")
        self.write("libexec/vernier/vernier_worker/one.py", "import worker\n")
        self.assertEqual(self.check("check_imports.py", 1), [
            "a circle of imports: libexec/vernier/vernier_worker/one.py:1 imports worker, "
            "libexec/vernier/worker.py:2 imports vernier_worker.one"])

    def test_a_file_that_nobody_looks_at(self):
        self.write("libexec/vernier/more/two.py", "import three\n")
        self.assertEqual(self.check("check_imports.py", 1),
                         ["libexec/vernier/more/two.py: is in no table of modules"])


if __name__ == "__main__":
    unittest.main()
