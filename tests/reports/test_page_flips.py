"""The HTML page, in a browser: which flips a search of blame is of.

    VERNIER=path/to/vernier python3 -m unittest test_page_flips
"""

import sys
import unittest

import records
from browser import find_browser
from page_case import PageCase

DECISION = {"output": "y", "kind": "top1", "samples": 400, "agree": 397, "flips": 3,
            "clear_flips": 2, "near_ties": 1, "invalid": 0, "agreement": 0.9925,
            "interval_low": 0.978, "interval_high": 0.9974, "similarity": 0.9925,
            "near_tie_from_bound": False, "margin_most": 8.0, "margin_counts": [20] * 20,
            "margin_flips": [0] * 20, "worst": []}


class Flips(PageCase):
    def test_flips_and_the_margin_that_layers_eat(self):
        record = records.blame(6, guilty=2)
        record["on_flips"] = {
            "decisions": [DECISION], "iterations": [31, 7],
            "margin_of": {"output": "y", "kind": "top1", "iteration": 31, "row": 0, "margin": 2.5},
            "margins": [{"node": "layer_2", "op_type": "Conv", "margin": -0.5, "eaten": 1.2},
                        {"node": "layer_4", "op_type": "Relu", "margin": 2.0, "eaten": 0.2}]}
        self.show(record)
        text = self.browser.ask("document.getElementById('blame').textContent")
        self.assertIn("The layers are those of iterations 31, 7, whose decisions flip: "
                      "top1 of 'y': 397 of 400 samples agree", text)
        self.assertIn("top1 of 'y' has the margin 2.5 in iteration 31, sample 0.", text)
        self.assertIn("layer_2Conv\u22120.5120", text)
        self.assertEqual(self.browser.problems, [])

    def test_a_search_without_flips_has_neither(self):
        self.show(records.blame(6, guilty=2))
        text = self.browser.ask("document.getElementById('blame').textContent")
        self.assertNotIn("flip", text)
        self.assertNotIn("Margins used up", text)


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
