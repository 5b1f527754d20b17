"""The HTML page, in a browser: tokens that agree, where prompts diverge, and logits.

    VERNIER=path/to/vernier python3 -m unittest test_page_tokens
"""

import sys
import unittest

import records
from browser import find_browser
from page_case import PageCase

CAPTION = "document.querySelector('#tokens figcaption').textContent"
ROWS = ("[...document.querySelectorAll('#tokens tbody')].map((body) => [...body.rows]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent)))")
HEADS = ("[...document.querySelectorAll('#tokens thead')].map((head) => [...head.rows[0].cells]"
         ".map((cell) => cell.textContent))")
NONE = "\u2013"


class Tokens(PageCase):
    def test_agreement_over_steps_and_where_each_prompt_parts(self):
        self.show(records.decoded(32, [8, 16, 20, None]))
        self.assertEqual(self.browser.ask(CAPTION),
                         "Share of equal tokens at each step, 4 prompts: 76 of 128 tokens agree; "
                         "marks below: where prompts diverge; 3 prompts diverge, after a median of "
                         "20 equal tokens over all prompts.")
        (table,) = self.browser.ask(ROWS)
        self.assertEqual(table, [["0", "0", "8", "17", "1e\u22126", "1024", "0.25", "near tie"],
                                 ["1", "0", "16", "17", "1e\u22126", "1024", "0.25",
                                  "beyond tolerance"],
                                 ["2", "0", "20", "17", NONE, "none (NaN)", "0.25", "near tie"]])
        self.assertEqual(self.browser.ask(HEADS)[0][3:],
                         ["onnxrt", "margin", "openvino", "margin", "logits"])
        marks = self.browser.ask("[...document.querySelectorAll('#tokens .parted')].map((line) =>"
                                 " [Number(line.getAttribute('x1')),"
                                 " line.classList.contains('wrong')])")
        self.assertEqual([wrong for _, wrong in marks], [False, True, False])
        self.assertEqual([at for at, _ in marks], sorted(at for at, _ in marks))

    def test_the_curve_falls_where_prompts_part(self):
        self.show(records.decoded(32, [8, 16]))
        heights = self.browser.ask("[...document.querySelectorAll('#tokens circle.dot')]"
                                   ".map((dot) => Number(dot.getAttribute('cy')))")
        self.assertEqual(len(heights), 32)
        self.assertEqual(len(set(heights)), 3)
        self.assertEqual(heights, sorted(heights))  # down is more
        self.assertEqual([heights.index(h) for h in sorted(set(heights))], [0, 8, 16])

    def test_a_run_without_a_divergence_has_a_curve_and_no_table(self):
        self.show(records.decoded(8, [None, None]))
        self.assertIn("16 of 16 tokens agree; no prompt diverges.", self.browser.ask(CAPTION))
        self.assertEqual(self.browser.ask(ROWS), [])

    def test_many_divergences_are_thinned_and_all_that_the_record_has_can_be_seen(self):
        record = records.decoded(64, [2 + i // 2 for i in range(100)])
        record["pairs"][0]["decode"]["near_ties"] += 41
        self.show(record)
        first, rest = self.browser.ask(ROWS)
        self.assertEqual((len(first), len(rest)), (12, 88))
        self.assertEqual(self.browser.ask("document.querySelector('#tokens details').open"), False)
        self.assertEqual(self.browser.ask("document.querySelector('#tokens summary').textContent"),
                         "88 more")
        self.assertIn("The record keeps the first 100 of 141.",
                      self.browser.ask("document.getElementById('tokens').textContent"))

    def test_a_record_from_before_has_its_table_and_no_curve(self):
        record = records.decoded(32, [8])
        del record["pairs"][0]["decode"]["agreement"]
        del record["pairs"][0]["decode"]["steps_per_point"]
        self.show(record)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#tokens figure').length"), 0)
        self.assertEqual(len(self.browser.ask(ROWS)[0]), 1)

    def test_forced_tokens_and_thinned_steps_are_named(self):
        record = records.decoded(32, [8, None], forced=True)
        record["pairs"][0]["decode"]["steps_per_point"] = 4
        self.show(record)
        for words in ("both sides are fed with the same tokens", "a point is of 4 steps",
                      "marks below: tokens that differ", "1 prompt diverges"):
            self.assertIn(words, self.browser.ask(CAPTION))
        self.assertEqual(self.browser.ask("document.querySelector('#tokens h3').textContent"),
                         "Tokens that differ")

    def test_logits_and_perplexities(self):
        self.show(records.with_logits(records.network(2, first_bad=2)))
        (table,) = self.browser.ask(ROWS)
        self.assertEqual(table, [
            ["positions", "23"],
            ["mean KL divergence", "0.0125, the threshold is 0.001"],
            ["KL divergence: 99 %, largest", "0.0625, 0.075 at [0, 7]"],
            ["top-1 equal", "87.5\u00a0%, with close flips 91.3\u00a0%, the threshold is "
                            "100\u00a0%"],
            ["flips of the top-1", "3, close: 1"],
            ["largest margin of a flip", "0.375 at [0, 9]"],
            ["perplexity of onnxrt, openvino", "115.906, 114.852, over 22 tokens of input_ids"],
            ["ratio of perplexities", "0.990906 \u00b1 0.0125"]])
        self.assertEqual(self.browser.ask("document.querySelectorAll('#tokens figure').length"), 0)

    def test_positions_that_are_not_finite_are_counted(self):
        record = records.with_logits(records.network(2, first_bad=2))
        record["pairs"][0]["outputs"][0]["logits"].update(nan_positions=2, torn_positions=1)
        self.show(record)
        (table,) = self.browser.ask(ROWS)
        self.assertEqual(table[1], ["positions with NaN, +inf, \u2212inf on one side", "2, 0, 1"])

    def test_the_chosen_pair_is_shown(self):
        record = records.decoded(8, [4])
        other = records.network(2, first_bad=2)["pairs"][0]
        record["pairs"].append({**other, "first": "onnxrt", "second": "third"})
        self.show(record)
        self.assertEqual(len(self.browser.ask(ROWS)), 1)
        self.choose("pair", "1")
        self.assertEqual(self.browser.ask(ROWS), [])
        self.assertIn("neither tokens nor logits",
                      self.browser.ask("document.getElementById('tokens').textContent"))
        self.choose("pair", "0")
        self.assertEqual(len(self.browser.ask(ROWS)), 1)

    def test_a_record_without_tokens_has_no_such_section(self):
        self.show(records.over_steps(8, 1.0))
        self.assertEqual(self.browser.ask("document.querySelectorAll('#tokens').length"), 0)

    def test_text_from_a_record_is_no_markup(self):
        record = records.decoded(8, [4])
        record["pairs"][0]["decode"]["divergences"][0]["kind"] = records.HOSTILE
        self.show(record)
        self.assertEqual(self.browser.ask("window.hacked === undefined"), True)
        self.assertEqual(self.browser.ask(ROWS)[0][0][-1], records.HOSTILE)

    def test_it_fits_and_the_pointer_names_the_step(self):
        self.report(records.with_logits(records.decoded(1000, [8, 500, None])), "out.html")
        self.check_chart("tokens", r"^step 99\d: 1 of 3 tokens agree$")


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
