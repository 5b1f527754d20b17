"""What verdicts and their numbers say: large integers, changed types, floats that overflow."""

import json
import pathlib
import sys
import unittest

import numpy as np

from program import Case

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "reports"))
from page_file import data_of  # noqa: E402

LARGE = 2**62


class Verdicts(Case):
    def compare(self, left, right, *words, code):
        """The record of two runs of one iteration each."""
        self.save_runs("a.json", [("a", [left])])
        self.save_runs("b.json", [("b", [right])])
        self.ended = self.vernier("compare", "a.json", "b.json", "--save-record", "r.json", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())

    def says(self, *sentences):
        for sentence in sentences:
            self.assertIn(sentence, self.ended.out)


class LargeIntegers(Verdicts):
    A = {"y": np.array([LARGE, LARGE + 2, 3])}
    B = {"y": np.array([LARGE + 1, LARGE + 100, 3])}

    def test_they_are_subtracted_before_they_are_rounded(self):
        for kind in (np.int64, np.uint64):
            left, right = ({"y": side["y"].astype(kind)} for side in (self.A, self.B))
            for function, value in (("l2", 98.005102), ("rmse", 56.583272)):
                for words in ([], ["--check-average"]):
                    self.compare(left, right, "--compare", function, *words, code=1)
                    self.says(f"{value:.5g} (tolerance: 1e-05) | FAILED")

    def test_signal_and_noise(self):
        noise = (1 + 98**2) / 3
        psnr = 20 * np.log10(float(LARGE + 2)) - 10 * np.log10(noise)
        record = self.compare(self.A, self.B, "--compare", "psnr", "snr", "--psnr-threshold", "400",
                              "--snr-threshold", "400", code=1)
        gates = record["pairs"][0]["outputs"][0]["worst_iteration"]["gates"]
        self.assertAlmostEqual(gates[0]["value"], psnr, places=9)
        self.assertTrue(np.isfinite(gates[1]["value"]))

    def test_of_opposite_signs_and_types(self):
        record = self.compare({"y": np.array([-LARGE, 5])},
                              {"y": np.array([LARGE + 1, 5], np.uint64)}, "--compare", "l2", code=1)
        (gate,) = record["pairs"][0]["outputs"][0]["worst_iteration"]["gates"]
        self.assertEqual(gate["value"], float(2**63 + 1))

    def test_of_floats(self):
        left, right = {"y": np.array([2**53 + 1, 5])}, {"y": np.array([2.0**53, 5])}
        words = ["--atol", "0", "--rtol", "0"]
        self.compare(left, right, *words, code=1)
        self.compare(right, left, *words, code=1)
        self.compare(left, right, *words, "--lenient", code=0)
        self.compare(left, right, "--atol", "1", "--rtol", "0", code=0)

    def test_every_digit_is_shown(self):
        left, right = {"y": np.array([2**53, 123456])}, {"y": np.array([2**53 + 1, 223457])}
        record = self.compare(left, right, "--atol", "0", "--rtol", "0", code=1)
        self.says("123456 against 223457, absolute error 100001,",
                  "9007199254740992 against 9007199254740993, absolute error 1,")
        figures = record["pairs"][0]["outputs"][0]["worst_iteration"]
        self.assertEqual(figures["second"]["max"], 2**53 + 1)
        worst = {element["index"][0]: element for element in figures["worst_elements"]}
        self.assertEqual((worst[0]["first"], worst[0]["second"]), (2**53, 2**53 + 1))
        again = self.vernier("report", "r.json", "--report", "r.xml")
        self.assertEqual(again.code, 0, again.err)
        self.assertIn("9007199254740992 against 9007199254740993", self.path("r.xml").read_text())
        self.vernier("report", "r.json", "--report", "r.html")
        page = data_of(self.path("r.html").read_text(encoding="utf-8"))
        (worst,) = [element for element in page["record"]["pairs"][0]["outputs"][0][
            "worst_iteration"]["worst_elements"] if element["index"] == [0]]
        self.assertEqual((worst["first"], worst["second"]), (str(2**53), str(2**53 + 1)))

    def test_differences_beyond_64_bits_are_kept(self):
        record = self.compare({"y": np.array([2**64 - 1], np.uint64)},
                              {"y": np.array([-2**63], np.int64)}, code=1)
        self.says("absolute error 27670116110564327423,")
        (worst,) = record["pairs"][0]["outputs"][0]["worst_iteration"]["worst_elements"]
        self.assertEqual(worst["absolute_error_digits"], str(2**64 - 1 + 2**63))
        self.vernier("report", "r.json", "--report", "r.html")
        self.assertIn('"27670116110564327423"',
                      self.path("r.html").read_text())

    def test_the_worst_element_of_a_metric_across_types(self):
        self.compare({"y": np.arange(3)}, {"y": np.array([0, 1.5, 2], np.float32)}, "--compare",
                     "l2", code=1)
        self.says("worst at (1,): 1 against 1.5, absolute error 0.5, relative error 0.33333")

    def test_nothing_over_nothing(self):
        """Integers have no relative difference where both are 0."""
        left = {name: np.array([0, 5]) for name in "wxyz"}
        right = {name: np.array([0, 6]) for name in "wxyz"}
        self.compare(left, right, "--report", "r.md", code=1)
        self.assertRegex(self.ended.out, r"w +FAILED .* 1 +0/0 +1/2\n")
        text = self.path("r.md").read_text()
        self.assertIn("| 1 | 0/0 |", text)
        self.assertNotIn("nan", text)

    def test_tables_show_whole_errors(self):
        left = {name: np.array([0, 5]) for name in "wxyz"}
        right = {name: np.array([123456789, 5]) for name in "wxyz"}
        self.compare(left, right, code=1)
        self.says("  123456789  ")


class Types(Verdicts):
    A = {"y": np.arange(3), "z": np.arange(2, dtype=np.float32)}
    B = {"y": np.arange(3, dtype=np.float64), "z": np.arange(2, dtype=np.float32)}

    def test_a_change_is_reported(self):
        record = self.compare(self.A, self.B, code=0)
        self.says("; types differ: y (int64 against float64)\n")
        y, z = record["pairs"][0]["outputs"]
        self.assertEqual((y["dtype"], y["other_dtype"]), ("int64", "float64"))
        self.assertEqual((z["dtype"], z["other_dtype"]), ("float32", "float32"))

    def test_a_change_fails_where_that_is_asked_for(self):
        for word in ("--same-type", "--strict"):
            record = self.compare(self.A, self.B, word, code=1)
            self.says("a vs. b: FAILED, as types differ: y (int64 against float64); compared 2 "
                      "outputs")
            self.assertEqual(self.ended.out.count("(int64 against float64)"), 1)
            self.assertNotIn("not done", self.ended.out)
            self.assertEqual(record["faults"], [])
            self.assertTrue(record["pairs"][0]["rejected_for_types"])
            self.compare(self.A, self.A, word, code=0)

    def test_post_processing_does_not_hide_a_change(self):
        for word in ("--same-type", "--strict"):
            record = self.compare(self.A, self.B, "--postprocess", "top-1", word, code=1)
            self.says("a vs. b: FAILED, as types differ", "failed: a vs. b: output 'y' is of type "
                      "int64 in a, and float64 in b, before post-processing\n")
            self.assertEqual(len(record["rejections"]), 1)
            self.compare(self.A, self.A, "--postprocess", "top-1", word, code=0)
        self.compare(self.A, self.B, "--postprocess", "top-1", code=0)

    def test_a_page_says_it_too(self):
        self.compare(self.A, self.B, "--same-type", "--report", "r.md", code=1)
        text = self.path("r.md").read_text()
        self.assertIn("types of outputs differ", text)
        self.assertIn("| y | **failed** |", text)
        self.assertIn("| z | passed |", text)
        self.assertNotIn("...", text.split("<details>")[0])
        self.compare(self.A, self.B, "--same-type", "--report", "r.xml", code=1)
        text = self.path("r.xml").read_text()
        self.assertIn('<failure message="types differ: int64 against float64">', text)
        self.assertNotIn("not done", text)
        self.assertNotIn("<error", text)

    def test_strict_in_one_sentence(self):
        zeros = {"y": np.zeros(3)}
        self.compare(zeros, zeros, "--strict", "--report", "r.xml", code=1)
        self.assertIn("The output matches, but that shows nothing, which --strict takes as a "
                      "failure.", self.path("r.xml").read_text())


class Itself(Verdicts):
    def judged(self, values, *words, code):
        self.save_runs("a.json", [("a", [{"y": np.array(values, np.float32)}])])
        ended = self.vernier("compare", "a.json", "a.json", "--report", "r.md", "--save-record",
                             "r.json", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertIs(json.loads(self.path("r.json").read_text())["pairs"][0]
                      ["compared_with_itself"], True)
        return ended.out, self.path("r.md").read_text()

    def test_that_it_agrees_is_no_check_mark(self):
        out, report = self.judged([1, 2], code=0)
        self.assertIn("'a.json' was compared with itself: that it agrees shows nothing", out)
        self.assertIn("\u26a0\ufe0f vernier: The output matches, but that shows nothing.", report)
        _, report = self.judged([1, 2], "--strict", code=1)
        self.assertIn("\u274c vernier: The output matches, but that shows nothing, which --strict "
                      "takes as a failure.", report.replace("\\-", "-"))

    def test_what_equals_nothing_does_not_agree(self):
        out, report = self.judged([1, np.nan], code=1)
        self.assertIn("'a.json' was compared with itself: what does not match is NaN or infinite, "
                      "which equals nothing", out)
        self.assertIn("The output does not match.", report)
        self.assertNotIn("that it agrees", out + report)


class Overflow(Verdicts):
    def test_finite_numbers_are_called_finite(self):
        for kind, large in ((np.float64, 1e308), (np.float32, 3e38)):
            left, right = (np.array([sign * large, 2, 3], kind) for sign in (1, -1))
            record = self.compare({"y": left}, {"y": right}, code=1)
            self.says("absolute error too large for its type, relative error 2\n")
            self.assertNotIn("NaN or infinite", self.ended.out)
            (output,) = record["pairs"][0]["outputs"]
            self.assertEqual((output["not_finite"], output["required_relative_tolerance"]), (0, 2))
            self.compare({"y": left}, {"y": right}, "--rtol", "2", code=0)
            self.compare({"y": left}, {"y": right}, "--rtol", "1.9", code=1)

    def test_infinities_are_still_counted(self):
        self.compare({"y": np.array([np.inf, 1e308, 3])}, {"y": np.array([1, -1e308, 3])}, code=1)
        self.says("differs in 1 NaN or infinite value\n")

    def test_infinities_that_compare_equal_are_no_difference(self):
        record = self.compare({"y": np.array([np.inf, -np.inf, 3])},
                              {"y": np.array([np.inf, np.inf, 3])}, "--infinities-compare-equal",
                              code=1)
        self.says("a holds 2 infinities", "b holds 2 infinities",
                  "differs in 1 NaN or infinite value\n")
        self.assertFalse(record["pairs"][0]["outputs"][0]["element_counts_vary"])

    def test_what_fails_shows_something(self):
        self.compare({"y": np.full(3, np.nan)}, {"y": np.full(3, np.nan)}, code=1)
        self.says("FAILED, compared 1 output in 1 iteration, 3 elements; all elements are NaN: y\n")
        self.assertNotIn("shows nothing", self.ended.out)

    def test_infinities_are_counted_beside_finite_numbers_that_overflow(self):
        for kind, large in ((np.float64, 1e308), (np.float32, 3e38)):
            left, right = ({"y": np.array([np.inf, sign * large], kind)} for sign in (1, -1))
            self.compare(left, right, code=1)
            self.says("differs in 1 NaN or infinite value\n")

    def test_relative_errors_are_finite_under_any_metric(self):
        for kind, large in ((np.float64, 1e308), (np.float32, 3e38)):
            left, right = ({"y": np.array([sign * large, 1], kind)} for sign in (1, -1))
            for metric in ("relative_l2", "l2", "rmse", "ulp"):
                self.compare(left, right, "--compare", metric, code=1)
                self.says("relative error 2\n")

    def test_sums_of_squares_that_overflow(self):
        same = {"y": np.array([1e200, 2e200])}
        near = {"y": np.array([1e200, 2.001e200])}
        self.compare(same, near, "--compare", "cosine_similarity", code=0)
        self.compare(same, near, "--compare", "l2", code=1)
        self.says("L2 Norm: 1e+197 (tolerance")
        self.compare(same, near, "--compare", "psnr", "snr", code=0)
        self.says("PSNR: 69.031 dB")

    def test_norms_do_not_depend_on_what_else_is_compared(self):
        left, right = ({"y": np.array([sign * 3e38, 1], np.float32)} for sign in (1, -1))
        for code, words in ((0, []), (0, ["simple", "--rtol", "3"]), (1, ["simple"])):
            self.compare(left, right, "--l2-threshold", "1e39", "--compare", "l2", *words,
                         code=code)
            self.says("L2 Norm: 6e+38 (tolerance: 1e+39) | PASSED")


class Shares(Verdicts):
    ALL = ["--max-mismatch-share", "1", "--max-mismatch-excess", "inf"]

    def test_no_share_excuses_infinite_differences(self):
        infinite = {"y": np.array([np.inf, 1])}
        for other in (-np.inf, 1):
            self.compare(infinite, {"y": np.array([other, 1])}, *self.ALL, code=1)
            self.compare({"y": np.array([other, 1])}, infinite, *self.ALL, code=1)
        self.compare({"y": np.array([1e308, 1])}, {"y": np.array([-1e308, 1])}, *self.ALL, code=0)
        self.compare(infinite, infinite, *self.ALL, code=1)
        self.compare(infinite, infinite, *self.ALL, "--infinities-compare-equal", code=0)


class NotApplicable(Verdicts):
    INFINITE = {"y": np.array([np.inf, 1])}

    def test_an_average_is_not_verified_either(self):
        for words in ([], ["--check-average"]):
            self.compare(self.INFINITE, self.INFINITE, "--compare", "kl_divergence", "--report",
                         "r.xml", *words, code=4)
            self.says("a vs. b: NOT VERIFIED, compared 0 of 1 output")
            text = self.path("r.xml").read_text()
            self.assertIn("<error", text)
            self.assertNotIn("<failure", text)
        near = {"y": np.array([np.inf, 2])}
        self.compare(self.INFINITE, near, "--compare", "kl_divergence", "simple", "--check-average",
                     "--check-error-stat", "max", code=1)

    def test_strings_have_no_metrics(self):
        same = {"y": np.array(["a", "b"])}
        for metric in ("l2", "rmse", "relative_l2", "cosine_similarity", "psnr", "snr", "ulp",
                       "kl_divergence"):
            self.compare(same, same, "--compare", metric, code=4)
            self.says("NOT VERIFIED | Output: 'y' | ")

    def test_of_empty_outputs(self):
        empty = {"y": np.zeros((0, 3))}
        for metric in ("simple", "l2", "rmse", "relative_l2", "cosine_similarity", "ulp"):
            self.compare(empty, empty, "--compare", metric, code=0)
        for metric in ("psnr", "snr"):
            self.compare(empty, empty, "--compare", metric, code=1)
            self.says(f"\n    empty outputs have no {metric.upper()}\n")


class Values(Verdicts):
    def test_complex_numbers_are_shown_as_such(self):
        record = self.compare({"y": np.array([1 + 1j, 2])}, {"y": np.array([1 + 1j, 2j])}, code=1)
        self.says("worst at (1,): 2 against 2j, absolute error 2.8284, relative error 1.4142\n")
        (worst,) = record["pairs"][0]["outputs"][0]["worst_iteration"]["worst_elements"]
        self.assertEqual((worst["first"], worst["second"]), ("2", "2j"))
        self.compare({"y": np.array([1.5 - 2j], np.complex64)},
                     {"y": np.array([-1 + 2j], np.complex64)}, "--report", "r.xml", code=1)
        self.says("1.5-2j against -1+2j, absolute error")
        self.assertIn("1.5-2j against -1+2j", self.path("r.xml").read_text())

    def test_whole_errors_of_more_than_64_bits(self):
        self.compare({"y": np.array([-2**63, 1])}, {"y": np.array([2**64 - 1, 1], np.uint64)},
                     code=1)
        self.says(f"absolute error {2**64 - 1 + 2**63},")
        self.compare({"y": np.array([-1, 1])}, {"y": np.array([2**64 - 1, 1], np.uint64)}, code=1)
        self.says(f"absolute error {2**64},")


class RelativeNorms(Verdicts):
    RAMP = {"y": np.arange(1, 5, dtype=np.float32)}
    NEAR = {"y": RAMP["y"] * np.float32(1.01)}
    WANT = float(np.linalg.norm((NEAR["y"] - RAMP["y"]).astype(float)) /
                 np.linalg.norm(NEAR["y"].astype(float)))

    def test_a_threshold_by_output(self):
        record = self.compare(self.RAMP, self.NEAR, "--compare", "relative_l2", code=1)
        self.says(f"Relative L2 Norm: {self.WANT:.5g} (tolerance: 0.001) | FAILED",
                  "--relative-l2-threshold 0.01")
        figures = record["pairs"][0]["outputs"][0]["worst_iteration"]
        self.assertEqual(figures["gates"][0]["function"], "relative_l2")
        for value in (figures["gates"][0]["value"], figures["distances"]["relative_l2"]):
            self.assertAlmostEqual(value, self.WANT, places=8)
        self.compare(self.RAMP, self.NEAR, "--compare", "relative_l2", "--relative-l2-threshold",
                     "y:0.01", "1e-6", code=0)

    def test_it_is_saved_and_judged_again(self):
        self.compare(self.RAMP, self.NEAR, "--compare", "relative_l2", "--save-accuracy-results",
                     "acc.json", code=1)
        for threshold, code in (("0.01", 0), ("0.009", 1)):
            ended = self.vernier("check", "accuracy", "acc.json", "--compare", "relative_l2",
                                 "--relative-l2-threshold", threshold)
            self.assertEqual(ended.code, code, ended.out + ended.err)

    def test_thresholds_alone_are_refused_unless_polygraphy_has_them(self):
        self.compare(self.RAMP, self.RAMP, code=0)
        for word, metric in (("--relative-l2-threshold", "relative_l2"), ("--ulp-threshold", "ulp"),
                             ("--rmse-threshold", "rmse"), ("--logits-kl-threshold", "logits"),
                             ("--kl-divergence-threshold", "kl_divergence")):
            words = ["compare", "a.json", "b.json", word, "1"]
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"{word} has no effect without --compare {metric}: add that, or leave "
                          f"{word} out", ended.out + ended.err)
            ended = self.vernier(*words, "--lenient")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(f"{word} is only valid for comparison function(s)", ended.out)
        self.compare(self.RAMP, self.RAMP, "--l2-threshold", "1", code=0)
        self.says("--l2-threshold", "is only valid for comparison function(s): ")


if __name__ == "__main__":
    unittest.main()
