"""The HTML page, in a browser: error against step.

    VERNIER=path/to/vernier python3 -m unittest test_page_steps
"""

import sys
import unittest

import records
from browser import find_browser
from page_case import PageCase

CAPTION = "document.querySelector('#steps figcaption').textContent"
DRAWN = "document.querySelectorAll('#steps path.series').length"
DOTS = "document.querySelectorAll('#steps circle.dot').length"


class Steps(PageCase):
    def test_the_curve_of_the_chosen_output_is_drawn_with_its_first_bad_step(self):
        self.show(records.over_steps(300, 1.05, sequences=2))
        self.assertEqual(self.browser.ask(DRAWN), 1)
        self.assertEqual(self.browser.ask(CAPTION),
                         "Times over tolerance of probability at each step, the largest of 2 "
                         "sequences; dashed: the tolerance; the first step out of tolerance is "
                         "step 95 of sequence 1.")
        self.assertIn("first out of tolerance: step 95 of sequence 1",
                      self.browser.ask("document.querySelector('#steps svg').textContent"))
        self.assertIn("The error of output 'probability' grows 1.05 times a step",
                      self.browser.ask("document.querySelector('#steps .hint').textContent"))
        self.choose("step-metric", "rms")
        self.assertIn("RMS error of probability", self.browser.ask(CAPTION))
        self.assertEqual(self.browser.ask("document.querySelectorAll('#steps .rule').length"), 0)

    def test_a_state_has_dots_where_it_was_compared_and_no_line_between_them(self):
        self.show(records.over_steps(300, 1.05))
        self.browser.ask("document.querySelectorAll('#outputs tbody tr')[1].click()")
        self.assertEqual((self.browser.ask(DRAWN), self.browser.ask(DOTS)), (0, 3))
        self.assertIn("state_n at each step, one sequence; dashed: the tolerance; "
                      "no step is out of tolerance.", self.browser.ask(CAPTION))

    def test_crossed_states_are_a_second_curve(self):
        record = records.over_steps(300, 1.05)
        time = record["pairs"][0]["outputs"][0]["time"]
        time["crossed"] = {"steps": 300, "first_bad_step": None, "first_bad_sequence": None,
                           "largest_rms_error": 1e-7, "steps_per_point": 1, "curve": [
                               {"step": step, "rms_error": 1e-7, "times_over_tolerance": 0.01}
                               for step in range(300)]}
        self.show(record)
        self.assertEqual(self.browser.ask(DRAWN), 2)
        self.assertIn("pale: against onnxrt with the state of openvino, each step\u2019s own error",
                      self.browser.ask(CAPTION))
        self.assertIn("; fed with the state of openvino, onnxrt gives the same at every step: the "
                      "history explains it.",
                      self.browser.ask("document.querySelector('#steps .hint').textContent"))

    def test_own_errors_nan_and_thinned_curves_are_named(self):
        record = records.over_steps(40, 1.0, own=True)
        time = record["pairs"][0]["outputs"][0]["time"]
        time["steps_per_point"] = 4
        time["curve"] = [{**point, "step": 4 * point["step"]} for point in time["curve"]]
        time["curve"][30].update(rms_error="nan", times_over_tolerance="inf")
        time["curve"][31].update(rms_error=0.0, times_over_tolerance=0.0)
        time.update(first_bad_step=121, first_bad_sequence=0)
        self.show(record)
        caption = self.browser.ask(CAPTION)
        for words in ("each step\u2019s own error", "a point is the worst of 4 steps", "step 121."):
            self.assertIn(words, caption)
        self.assertEqual((self.browser.ask(DRAWN), self.browser.ask(DOTS)), (1, 40))
        ticks = self.browser.ask("[...document.querySelectorAll('#steps .tick')]"
                                 ".map((tick) => tick.textContent)")
        self.assertLessEqual({"0", "\u221e"}, set(ticks))

    def test_blame_names_its_step(self):
        record = records.blame(6, guilty=2)
        record["at_step"] = {"sequence": 0, "step": 12, "output": "y", "own_error": 41,
                             "total_error": 80, "wrong_by_itself": True, "first_total_step": 7,
                             "first_total_sequence": 0}
        self.show(record)
        self.assertIn("The layers are those of step 12 of sequence 0: fed with one state, output "
                      "'y' is at 41 times its error bound, and each with its own, the worst is at "
                      "80 times its error bound; it is the first that is wrong by itself, but its "
                      "state came wrong: step 7 of sequence 0 is out of its bound already.",
                      self.browser.ask("document.getElementById('blame').textContent"))

    def test_a_record_without_steps_has_no_such_chart(self):
        self.show(records.network(3, first_bad=3))
        self.assertEqual(self.browser.ask("document.querySelectorAll('#steps').length"), 0)

    def test_it_fits_and_the_pointer_names_the_step(self):
        self.report(records.over_steps(1000, 1.01), "out.html")
        self.check_chart("steps", r"^step 99\d: [\d.]+ times over tolerance$")


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
