"""scripts/expected-tests.py: a suite that is not there, or smaller, is not green."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
MODULE = """import unittest
from parts import Part
class One(Part, unittest.TestCase):
    def test_a(self): pass
    def test_b(self): pass
class Two(One):
    def test_c(self): pass
"""
PART = "class Part:\n    def test_of_all(self): pass\n"
RESULTS = """<testsuite>
<testcase name="py.one" status="run"><system-out>Ran {ran} tests in 0.1s

OK{more}</system-out></testcase>
<testcase name="alone" status="{status}"><system-out/></testcase>
</testsuite>"""


class ExpectedTests(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-expected-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for name in ("scripts", "tests", "build"):
            (self.root / name).mkdir()
        for name in ("expected-tests.py", "python_test_count.py"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")
        self.write("tests/test_one.py", MODULE)
        self.write("tests/parts.py", PART)
        self.entries("py.one", "alone")
        self.write("tests/expected-skips.txt", "")
        self.expect("alone 1", "py.one 7")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def entries(self, *names, more=""):
        """What CMake writes for CTest."""
        folder = self.root / "tests"
        lines = {"py.one": f'add_test(py.one "{sys.executable}" "-m" "unittest" "test_one")\n'
                           "set_tests_properties(py.one PROPERTIES WORKING_DIRECTORY "
                           f'"{folder}")\n',
                 "alone": 'add_test(alone "/bin/true")\n'}
        self.write("build/CTestTestfile.cmake", "".join(lines[name] for name in names) + more)

    def expect(self, *lines):
        self.write("tests/expected-tests.txt", "# suites\n" + "\n".join(lines) + "\n")

    def check(self, *words, code=0, path=os.environ["PATH"]):
        done = subprocess.run([sys.executable, "-B", self.root / "scripts" / "expected-tests.py",
                               "--build", self.root / "build", *words],
                              env={**os.environ, "PATH": path}, capture_output=True,
                              text=True, timeout=60, check=False)
        printed = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, printed)
        return printed

    def ran(self, ran=7, more="", status="run", code=0):
        self.write("results.xml", RESULTS.format(ran=ran, more=more, status=status))
        return self.check("--ran", self.root / "results.xml", code=code)

    def test_as_the_list_has_it(self):
        self.assertIn("2 suites, 2 expected", self.check())
        self.check("--configured")
        self.assertIn("8 tests of 2 suites ran, 0 were skipped", self.ran())

    def test_a_suite_that_is_missing(self):
        self.entries("py.one")
        for words in ((), ("--configured",)):
            printed = self.check(*words, code=1)
            self.assertIn("alone: 1 test, missing here", printed)
            self.assertIn("scripts/expected-tests.py --update", printed)

    def test_a_suite_that_is_smaller_or_larger_or_new(self):
        self.write("tests/test_one.py", MODULE.replace("test_c", "c"))
        self.assertIn("py.one: 6 of 7 tests", self.check(code=1))
        self.write("tests/test_one.py", MODULE + "    def test_d(self): pass\n")
        self.assertIn("py.one: 8 tests, the list has 7", self.check(code=1))
        self.expect("py.one 8")
        self.assertIn("alone: 1 test, and not in the list", self.check(code=1))

    def test_a_module_without_tests(self):
        self.write("tests/test_one.py", "import unittest\n")
        self.assertIn("py.one: has no tests", self.check(code=1))
        self.expect("alone 1", "py.one 0")
        self.assertIn("py.one: has no tests", self.check(code=1))

    def test_a_program_that_is_not_built(self):
        self.entries("py.one", "alone", more='add_test(unit_test_NOT_BUILT "unit_test")\n')
        self.expect("alone 1", "py.one 7", "unit_test 3")
        self.check("--configured")
        self.assertIn("unit_test: not built, 3 tests expected", self.check(code=1))
        self.assertIn("build first: unit_test", self.check("--update", code=1))

    def test_a_program_that_tests_are_told_of_and_is_not_built(self):
        program = self.root / "build" / "bin" / "vernier"
        self.entries("py.one", "alone", more="set_tests_properties(py.one PROPERTIES ENVIRONMENT "
                     f'"VERNIER={program};LEVEL=2")\n')
        self.check("--configured")
        printed = self.check(code=1)
        self.assertIn(f"{program} is not built, which 1 test would use, py.one for one", printed)
        program.parent.mkdir()
        program.touch()
        self.check()

    def test_a_disabled_entry_is_missing(self):
        disabled = "set_tests_properties(alone PROPERTIES DISABLED TRUE)\n"
        self.entries("py.one", "alone", more=disabled)
        self.assertIn("alone: 1 test, missing here", self.check(code=1))

    def test_what_may_be_missing_is_told_with_its_reason(self):
        self.entries("py.one")
        for condition, code in (("always", 0), ("no-file:/nowhere,/nowhere/else", 0),
                                ("no-file:/nowhere,/dev/null", 1), ("file:/dev/nul?", 0),
                                ("no-package:no-such-package", 0), ("sometimes", 1)):
            with self.subTest(condition):
                self.write("tests/expected-skips.txt", f"al*  {condition}  another machine\n")
                printed = self.check(code=code)
                if code == 0:
                    self.assertIn("left out: alone: 1 test, missing here: another machine", printed)

    def test_not_knowing_excuses_nothing(self):
        self.entries("py.one")
        self.write("tests/expected-skips.txt", "al*  no-package:no-such-package  elsewhere\n")
        self.write("apt-cache", "#!/bin/sh\nexit 100\n")
        (self.root / "apt-cache").chmod(0o755)
        self.check(code=1, path=f"{self.root}:{os.environ['PATH']}")

    def test_what_did_not_run(self):
        self.assertIn("py.one: 5 of 7 tests ran", self.ran(ran=5, code=1))
        self.assertIn("py.one: 0 of 7 tests ran", self.ran(ran=0, code=1))
        self.assertIn("py.one: 2 skipped", self.ran(more=" (skipped=2)", code=1))
        self.assertIn("alone: 1 skipped", self.ran(status="disabled", code=1))
        self.write("tests/expected-skips.txt", "py.one  always  another machine\n")
        self.assertIn("skipped: py.one (2): another machine", self.ran(more=" (skipped=2)"))
        (self.root / "results.xml").write_text("<testsuite>")
        self.assertIn("no test results", self.check("--ran", self.root / "results.xml", code=1))

    def test_the_list_is_written_anew(self):
        self.expect("elsewhere 9", "gone 3", "py.one 2")
        self.write("tests/expected-skips.txt", "elsewhere  always  another machine\n")
        self.assertIn("kept: elsewhere: another machine", self.check("--update"))
        text = (self.root / "tests" / "expected-tests.txt").read_text(encoding="utf-8")
        self.assertEqual(text.splitlines()[-3:], ["alone 1", "elsewhere 9", "py.one 7"])
        self.check()


if __name__ == "__main__":
    unittest.main()
