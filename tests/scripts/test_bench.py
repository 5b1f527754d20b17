"""bench/run_bench.py --all: every case there is, each in a section of its own number."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import run_bench  # noqa: E402


class Sections(unittest.TestCase):
    def test_no_case_is_left_out(self):
        self.assertEqual(sorted(run_bench.ORDER), sorted(run_bench._MADE))

    def test_each_has_the_number_of_its_place(self):
        numbers = set()
        for path in (ROOT / "bench").glob("*.py"):
            numbers |= {int(number) for number in re.findall(r'"(\d+)\. [A-Z]', path.read_text())}
        self.assertEqual(sorted(numbers), list(range(1, len(run_bench.ORDER) + 1)))

    def test_the_readme_has_them_all(self):
        text = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d+) `(\w+)` \|", text, re.MULTILINE)
        self.assertEqual(rows, [(str(i + 1), name) for i, name in enumerate(run_bench.ORDER)])
        option = re.search(r"\| `--case NAME` \|(.*?)\. May be repeated", text)[1]
        self.assertEqual(re.findall(r"`(\w+)`", option), list(run_bench.ORDER))

    def test_what_was_not_run_says_so(self):
        """RESULTS.md has a section for each case, or a line."""
        text = (ROOT / "bench" / "RESULTS.md").read_text(encoding="utf-8")
        for number, name in enumerate(run_bench.ORDER, 1):
            with self.subTest(name):
                self.assertTrue(f"\n## {number}. " in text or f"\nNot run: `{name}`" in text)


if __name__ == "__main__":
    unittest.main()
