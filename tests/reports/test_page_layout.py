"""The HTML page, in a browser: what fits, and what its headings say.

    VERNIER=path/to/vernier python3 -m unittest test_page_layout
"""

import sys
import unittest

import records
from browser import Browser, find_browser
from page_case import PageCase


class Layout(PageCase):
    def test_tables_fit_into_1200_pixels(self):
        record = records.network(30, first_bad=12)
        for i, node in enumerate(record["graph"]["nodes"]):
            node["op_type"] = "InstanceNormalization" if i % 2 else node["op_type"]
        for output in record["pairs"][0]["outputs"]:
            figures = output["worst_iteration"]
            figures["first"] = figures["second"] = {**figures["first"], "dtype": "int64"}
            for element in figures["worst_elements"]:
                element.update(first=-4611686018427387905, second=-4611686018427387906,
                               index=[0, 127, 63, 63], relative_error=2.12503626e-17,
                               times_over_tolerance=9800000.0)
        self.report(record, "out.html")
        browser = Browser((1200, 1000))
        self.addCleanup(browser.close)
        browser.open(self.path("out.html"))
        browser.frames()
        self.assertGreater(browser.ask("document.querySelectorAll('.scroll').length"), 0)
        cut = browser.ask("[...document.querySelectorAll('.scroll')]"
                          ".filter((box) => box.scrollWidth > box.clientWidth + 1)"
                          ".map((box) => box.textContent.slice(0, 40))")
        self.assertEqual(cut, [])
        self.assertIn("-4611686018427387905",
                      browser.ask("document.querySelector('#panel').textContent"))

    def captions_of(self, **charts):
        record = records.network(1, first_bad=0)
        record["pairs"][0]["outputs"][0]["worst_iteration"]["charts"].update(charts)
        self.show(record)
        return self.browser.ask("[...document.querySelectorAll('figcaption')]"
                                ".map((caption) => caption.textContent).join(' ')")

    def test_captions_say_what_is_drawn(self):
        differences = {"first_decade": 1, "counts": [2], "equal": 7, "not_finite": 0}
        heat = {"rows": 1, "columns": 3, "matrix_rows": 1, "matrix_columns": 3, "row_axes": -1,
                "least": 98.0, "most": 98.0, "cells": "9AA"}
        said = self.captions_of(differences=differences, heat=heat)
        self.assertIn("the largest difference is 98.", said)
        self.assertIn("Largest absolute difference in each cell: 98 where there is one;", said)
        said = self.captions_of(
            differences={"first_decade": 0, "counts": [], "equal": 2, "not_finite": 1},
            heat={**heat, "least": 0.0, "most": 0.0, "cells": "A-A"})
        self.assertIn("2 of 3 elements do not differ; 1 is NaN or infinite.", said)
        self.assertIn("in each cell: NaN or infinite in the colour of text;", said)
        self.assertRegex(said, r"\d+ finite elements?; what agrees")
        self.assertNotIn("the worst among them", said)

    def test_pairs_have_verdicts_and_runners_short_names(self):
        record = records.network(3, first_bad=3)
        timed = ["onnxrt-runner-N0-11/22/26-14:05:09", "openvino-runner-N0-11/22/26-14:05:09"]
        for runner, name in zip(record["runners"], timed):
            runner["name"] = name
        record["pairs"][0].update(first=timed[0], second=timed[1])
        self.show(record)
        self.assertTrue(self.browser.ask("document.getElementById('coverage').textContent")
                        .startswith("onnxrt vs. openvino: PASSED, compared 3 outputs"))
        self.assertNotIn("11/22/26", self.browser.ask("document.body.innerText"))

    def test_the_chart_counts_failures_of_outputs_that_its_metric_lacks(self):
        record = records.network(3, first_bad=1)
        for output in record["pairs"][0]["outputs"][1:]:
            output["tolerances_checked"] = False
        self.show(record)
        self.assertIn("3 outputs in the graph's order, 1 of them measured, 2 failed; the first is",
                      self.browser.ask("document.querySelector('#layers figcaption').textContent"))

    def test_a_tolerance_that_would_do_is_not_rounded_down(self):
        record = records.network(1, first_bad=0)
        record["pairs"][0]["outputs"][0].update(required_absolute_tolerance=0.00123412,
                                                required_relative_tolerance=0.5)
        self.show(record)
        self.assertIn("absolute 0.001235 or relative 0.5",
                      self.browser.ask("document.getElementById('panel').textContent"))


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
