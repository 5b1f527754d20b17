#!/usr/bin/env python3
"""That the comparison of shown and printed output can fail, and where it forgives."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs/site"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pages  # noqa: E402
from shown_output import first_difference, same_line  # noqa: E402


class Lines(unittest.TestCase):
    def test_times_dates_and_folders_count_as_equal(self):
        self.assertTrue(same_line("a-N0-11/21/26-14:30:24  load 9.01 ms",
                                  "a-N0-01/02/27-01:00:00  load 12 s"))
        self.assertTrue(same_line("repro: cd ~/vernier && x", "repro: cd /tmp/a/b && x"))

    def test_words_and_whole_numbers_do_not(self):
        self.assertFalse(same_line("compared 2 outputs", "compared 3 outputs"))
        self.assertFalse(same_line("PASSED", "FAILED"))

    def test_numbers_that_rounding_moves_may_differ_by_a_twentieth(self):
        self.assertTrue(same_line("error 0.44859", "error 0.44861"))
        self.assertTrue(same_line("at most 14082 ULP", "at most 14100 ULP"))
        self.assertFalse(same_line("error 0.44", "error 0.54"))
        self.assertFalse(same_line("error 1e-05", "error 1e-04"))

    def test_text_may_be_left_out(self):
        self.assertTrue(same_line("lib: .../libx.so", "lib: /usr/lib/libx.so"))
        self.assertFalse(same_line("lib: …/libx.so", "lib: /usr/lib/liby.so"))


class Outputs(unittest.TestCase):
    def test_all_lines_count_unless_some_are_left_out(self):
        self.assertIsNone(first_difference(["a", "b"], ["a", "b"]))
        self.assertIn("more was printed", first_difference(["a"], ["a", "b"]))
        self.assertIn("was not printed", first_difference(["a", "b"], ["a"]))
        self.assertIsNone(first_difference(["...", "b", "..."], ["a", "b", "c"]))
        self.assertIsNone(first_difference(["...", "b", "c"], ["b", "x", "b", "c"]))
        self.assertIn("nothing like", first_difference(["...", "d"], ["a", "b", "c"]))


class Blocks(unittest.TestCase):
    def test_commands_go_on_behind_backslashes_and_in_quotations(self):
        block = pages.Block(1, "console", ["$ one \\", "    two  # exit code 3", "said",
                                           "$ say \"", "it\"", "it"])
        first, second = block.commands()
        self.assertEqual((first.exit_code, first.shown), (3, ["said"]))
        self.assertEqual(second.text, 'say "\nit"')
        self.assertEqual(second.shown, ["it"])

    def test_headings_have_the_anchors_that_github_gives_them(self):
        seen = {}
        self.assertEqual(pages.slug("`vernier run`", seen), "vernier-run")
        self.assertEqual(pages.slug("Going on: `--resume`", seen), "going-on---resume")
        self.assertEqual(pages.slug("Going on: `--resume`", seen), "going-on---resume-1")


if __name__ == "__main__":
    unittest.main()
