"""scripts/check-sizes.py: a long function is found however it is written."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-sizes-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for name in ("scripts", "src", "tests"):
            (self.root / name).mkdir()
        for name in ("check-sizes.py", "function_lines.py", "source-files.sh", "usage.sh"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def check(self, *words, code=0):
        done = subprocess.run([sys.executable, "-B", self.root / "scripts" / "check-sizes.py",
                               *words], cwd=self.root, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def found(self, text, length):
        """A C++ source whose longest function has that many lines."""
        self.write("src/one.cc", text)
        self.assertEqual(self.check(code=1), f"src/one.cc: a function of {length} lines, at most "
                                             "40 are allowed\n")

    def passes(self, text):
        self.write("src/one.cc", text)
        self.assertEqual(self.check(), "")


def lines(count, line="  Call();\n"):
    return line * count


class LongFunctions(Case):
    def test_one_line_of_signature(self):
        self.found("int Long(int a) {\n" + lines(39) + "}\n", 41)
        self.passes("int Long(int a) {\n" + lines(38) + "}\n")

    def test_a_wrapped_signature_is_a_part_of_it(self):
        self.found("int Long(int a,\n         int b) {\n" + lines(38) + "}\n", 41)
        self.found("namespace n {\nResult<std::map<std::string, int>>\nOf::Long(\n    int a) const "
                   "{\n" + lines(37) + "}\n}\n", 41)

    def test_a_constructor_that_initialises(self):
        self.found("One::One(int a)\n    : a_(a),\n      b_{a},\n      c_([] { return 1; }()) {\n"
                   + lines(39) + "}\n", 44)

    def test_a_method_within_its_class(self):
        self.found("class One : public Two<int()> {\n public:\n  int Long(int a) const override {\n"
                   + lines(39) + "  }\n  int a_ = 0;\n};\n", 41)

    def test_a_template(self):
        """Its parameters do not count."""
        self.found("template <typename T, int N = 3>\nvoid Long(T a = {},\n          int b = 1) {\n"
                   + lines(38) + "}\n", 41)

    def test_an_operator(self):
        self.found("bool operator==(const One& a,\n                const One& b) {\n" + lines(38)
                   + "}\n", 41)

    def test_a_lambda_with_a_name(self):
        self.found("const auto kLong = [](int a) {\n" + lines(39) + "};\n", 41)

    def test_a_function_behind_others(self):
        self.found("struct A {\n  int a = 0;\n};\nconst char* const kQuote = \"{\";  // {\n"
                   "#if defined(A)\nint Long(int a) {\n#else\nint Long() {\n#endif\n" + lines(40)
                   + "}\nenum class B { kA };\nint Short() { return 'a' == '{'; }\n", 43)

    def test_tables_and_classes_are_no_functions(self):
        self.passes("constexpr Row kRows[] = {\n" + lines(90, "    {Call(), 1},\n") + "};\n"
                    "class A {\n" + lines(90, "  int Call();\n") + "};\n"
                    "struct B {\n" + lines(45, "  int a() const { return 1; }\n") + "};\n")

    def test_a_raw_string_is_no_code(self):
        self.passes('const char* const kText = R"(\nint Long() {\n' + lines(90) + '}\n)";\n')

    def test_headers_and_kernels(self):
        for name in ("one.h", "one.hpp", "one.cu", "one.cuh"):
            self.write(f"src/{name}", "void Long(int a,\n          int b) {\n" + lines(40) + "}\n")
        self.assertEqual(self.check(code=1).count("a function of 43 lines"), 4)


class Kinds(Case):
    def test_lists_that_sources_include(self):
        self.write("src/options.def", "ROW(" + "a" * 100 + ")\n" + lines(401, "ROW(b)\n"))
        self.assertEqual(self.check(code=1),
                         "src/options.def: 1 lines of more than 100 columns, at most 0 are "
                         "allowed\nsrc/options.def: 402 lines, at most 400 are allowed\n")


class Budgets(Case):
    LONG = "int Long(int a,\n         int b) {\n" + lines(40) + "}\n"

    def test_a_budget_holds_for_one_function(self):
        self.write("tests/size-budgets.txt", "function 43 src/one.cc\n")
        self.passes(self.LONG)
        self.write("src/one.cc", 2 * self.LONG)
        self.assertEqual(self.check(code=1), "src/one.cc: 2 functions of more than 40 lines, at "
                                             "most 1 are allowed\n")

    def test_it_only_shrinks(self):
        self.write("tests/size-budgets.txt", "function 50 src/one.cc\n")
        self.write("src/one.cc", self.LONG)
        self.check("--update")
        self.write("src/one.cc", self.LONG.replace("}\n", "  Call();\n}\n"))
        self.assertIn("44 lines, at most 43 are", self.check(code=1))


if __name__ == "__main__":
    unittest.main()
