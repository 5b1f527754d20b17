"""--compare logits of logits that are equal at each position: they decide nothing."""

import unittest

import numpy as np

import test_logits
from test_logits import some_logits


class FlatLogits(test_logits.Logits):
    def test_logits_that_are_equal_at_each_position_show_nothing(self):
        rows = np.broadcast_to(some_logits(0, (2, 6, 1)), (2, 6, 5)).copy()
        one = rows.copy()
        one[1, 2, 3] += np.float32(1e-3)
        five, why = np.full_like(rows, 5), "all logits of each position are the same"
        for other in (five, rows + np.float32(1)):
            for words, code in (((), 0), (("--strict",), 1)):
                pair = self.compare({"y": rows}, {"y": other}, *words, code=code)
                self.says(f"shows nothing: y ({why})")
                self.assertEqual(pair["outputs"][0]["vacuous"], why)
        self.compare({"y": rows}, {"y": one}, "--logits-top1-threshold", "0", "--strict", code=0)
        self.assertNotIn("shows nothing", self.ended.out)

    def test_flat_logits_of_one_iteration_are_noted(self):
        rows = np.broadcast_to(some_logits(0, (2, 6, 1)), (2, 6, 5)).copy()
        some, near = some_logits(0, (2, 6, 5)), some_logits(0, (2, 6, 5)) + np.float32(1e-4)
        why = "all logits of each position are the same"
        threes = np.full_like(rows, 3)
        for first, second, code, says in (
                (some, near, 0, f"output 'y' shows nothing in 1 of 2 iterations ({why})"),
                (threes, threes + np.float32(1), 1, f"shows nothing: y ({why})")):
            self.save_runs("a.json", [("a", [{"y": first}, {"y": rows}])])
            self.save_runs("b.json", [("b", [{"y": second}, {"y": rows + np.float32(1)}])])
            self.ended = self.vernier("compare", "a.json", "b.json", "--compare", "logits",
                                      "--strict")
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
            self.says(says)


if __name__ == "__main__":
    unittest.main()
