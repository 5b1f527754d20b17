#!/usr/bin/env python3
"""The comparison of transcripts must see a difference where there is one, and nowhere else."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "golden")]

import check_golden  # noqa: E402
from case_runner import without_flag  # noqa: E402
from compare_runs import Transcript, line_state, npy_content, step_differences  # noqa: E402


def transcript(stdout, exit_code=1, stderr=""):
    return Transcript({"exit": exit_code, "stdout": stdout, "stderr": stderr}, ())


MISMATCH = check_golden.parse((HERE.parent / "golden" / "mismatch.test").read_text())["stdout"]
FINAL = MISMATCH.splitlines()[-1]


class SeesADifference(unittest.TestCase):
    def assert_seen(self, old, new, count=1):
        self.assertIn(old, MISMATCH)
        changed = MISMATCH.replace(old, new, count)
        self.assertTrue(step_differences(transcript(MISMATCH), transcript(changed)), (old, new))

    def test_in_one_statistic(self):
        for old, new in (("std-dev=0.2165", "std-dev=0.2167"),
                         ("max=0.5 at (1,)", "max=0.5 at (2,)"),
                         ("p99=0.485", "p99=0.486"), ("[abs=0.5] OR", "[abs=0.51] OR"),
                         ("avg-magnitude=0.125", "avg-magnitude=nan"), (" mean=0.125,", "")):
            with self.subTest(old):
                self.assert_seen(old, new)

    def test_in_a_verdict(self):
        self.assert_seen("FAILED | Output: 'y'", "PASSED | Output: 'y'")
        self.assert_seen("Mismatched outputs: ['y']", "Mismatched outputs: ['z']")
        self.assert_seen("Passed: 0/1 iterations", "Passed: 1/1 iterations")
        self.assert_seen("FAILED | Runtime", "PASSED | Runtime")

    def test_in_counts_of_a_histogram(self):
        self.assert_seen("|          3 | ####", "|          2 | ####")

    def test_in_values(self):
        self.assert_seen("5.000000e-01", "5.010000e-01")

    def test_in_a_missing_event(self):
        for word in ("Accuracy Summary", "Tolerance: [", "A: y | Stats", "FAILED | simple"):
            line = next(line for line in MISMATCH.splitlines() if word in line)
            with self.subTest(word):
                self.assert_seen(line + "\n", "")

    def test_in_an_added_warning_and_in_the_exit_code(self):
        self.assert_seen("[I] Iteration: 0", "[W] something else\n[I] Iteration: 0")
        self.assertTrue(step_differences(transcript(MISMATCH, 1), transcript(MISMATCH, 0)))

    def test_in_a_critical_message(self):
        theirs = transcript(MISMATCH, stderr="[!] --warm-up requires --sequential-runners.\n")
        self.assertTrue(step_differences(theirs, transcript(MISMATCH)))
        other = transcript(MISMATCH, stderr="[!] something else\n")
        self.assertTrue(step_differences(theirs, other))


class SeesNoDifference(unittest.TestCase):
    def assert_same(self, changed):
        self.assertEqual(step_differences(transcript(MISMATCH), transcript(changed)), [])

    def test_within_the_tolerance_of_a_number(self):
        self.assert_same(MISMATCH.replace("std-dev=0.2165", "std-dev=0.21651"))
        self.assert_same(MISMATCH.replace(" min=0 at", " min=1e-12 at"))

    def test_in_what_follows_the_last_line(self):
        self.assert_same(MISMATCH + "\nrunner  framework\nonnxrt-runner-N0  1.2.3\n[W] ours\n")

    def test_in_times_and_paths(self):
        first = FINAL.replace("TIME", "0.123s").replace("Command: poly", "Command: /a/poly")
        self.assert_same(MISMATCH.replace(FINAL, first))

    def test_in_notes_that_follow_a_critical_message(self):
        theirs = transcript(MISMATCH, stderr="[!] no such thing\n    Note: a hint\n")
        ours = transcript(MISMATCH, stderr="[!] no such thing; try this\n")
        self.assertEqual(step_differences(theirs, ours), [])

    def test_in_what_we_leave_out_on_purpose(self):
        left_out = "[W] 'mark all' is deprecated and will be removed in a later release.\n"
        theirs = transcript(left_out + MISMATCH)
        self.assertTrue(step_differences(theirs, transcript(MISMATCH)))
        self.assertEqual(step_differences(theirs.without_omitted(), transcript(MISMATCH)), [])
        self.assertTrue(step_differences(transcript(MISMATCH).without_omitted(),
                                         transcript(left_out + MISMATCH)))

    def test_in_the_place_that_ours_names_before_the_words(self):
        theirs = transcript(MISMATCH, stderr="[!] no such type\n")
        ours = transcript(MISMATCH, stderr="[!] 'out.json': byte 12: no such type; try this\n")
        self.assertEqual(step_differences(theirs, ours), [])
        self.assertTrue(step_differences(ours, theirs))

    def test_a_number_alone_makes_lines_nearly_equal(self):
        near = transcript(MISMATCH.replace("std-dev=0.2165", "std-dev=0.21651"))
        self.assertEqual(line_state(transcript(MISMATCH), near), "~")
        self.assertEqual(line_state(near, near), "=")


class Tools(unittest.TestCase):
    def test_a_flag_goes_with_its_values(self):
        words = "run m.onnx --atol y:1 -2 0.5 --onnxrt --atol=3 --rtol 1".split()
        self.assertEqual(without_flag(words, "--atol"), "run m.onnx --onnxrt --rtol 1".split())
        self.assertEqual(without_flag(words, "--onnxrt"),
                         "run m.onnx --atol y:1 -2 0.5 --atol=3 --rtol 1".split())

    def test_padding_of_an_npy_header_does_not_count(self):
        def npy(padding, data):
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }" + padding + b"\n"
            return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data
        self.assertEqual(npy_content(npy(b"", b"abcd")), npy_content(npy(b"   ", b"abcd")))
        self.assertNotEqual(npy_content(npy(b"", b"abcd")), npy_content(npy(b"", b"abce")))


if __name__ == "__main__":
    unittest.main()
