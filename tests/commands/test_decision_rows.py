"""--decision: rows, and what `check accuracy` says of them under other gates."""

import json
import unittest

import numpy as np

from decision_case import Decisions, flipped, scores


class Rows(Decisions):
    A = [{"y": scores(3, seed)} for seed in range(4)]
    B = [{"y": flipped(rows["y"], 1)} for rows in A]

    def test_rows_hold_samples(self):
        self.compare(self.A, self.B, "--decision", "y:top1", "y:top5", "--save-rows", "rows.jsonl",
                     code=1)
        rows = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows[0]["y/decision"], "top1")
        self.assertEqual(rows[0]["a/y/decision"], ["0", "1", "2"])
        self.assertEqual(rows[0]["b/y/decision"], ["0", "2", "2"])
        self.assertEqual(rows[0]["y/flip"][0], "none")
        self.assertEqual(len(rows[0]["a/y/margin"]), 3)
        self.assertEqual(rows[0]["y:top5/decision"], "top5")

    def test_a_single_sample_is_a_value(self):
        one = [{"y": scores(1)}]
        self.compare(one, one, "--decision", "y:top1", "--save-rows", "rows.jsonl", code=0)
        (row,) = map(json.loads, self.path("rows.jsonl").read_text().splitlines())
        self.assertEqual(row["a/y/decision"], "0")
        self.assertIsInstance(row["a/y/margin"], float)

    def test_arrays_are_filled_up(self):
        left = [*self.A, {"y": self.A[0]["y"][:1]}]
        right = [*self.B, {"y": self.B[0]["y"][:1]}]
        self.compare(left, right, "--decision", "y:top1", "--save-rows", "rows.npz", code=1)
        with np.load(self.path("rows.npz")) as columns:
            self.assertEqual(columns["a/y/decision"].shape, (5, 3))
            self.assertEqual(columns["a/y/decision"][4].tolist(), ["0", "", ""])
            self.assertEqual(columns["a/y/margin"].shape, (5, 3))
            self.assertTrue(np.isnan(columns["a/y/margin"][4, 1]))
            self.assertEqual(columns["index"].tolist(), list(range(5)))


class SavedRows(Decisions):
    """check accuracy on rows: the same figures, other gates."""

    A = [{"y": scores(50, seed)} for seed in range(4)]
    B = [{"y": flipped(rows["y"], 1, 2)} for rows in A]

    def setUp(self):
        super().setUp()
        self.pair = self.compare(self.A, self.B, "--decision", "y:top1", "y:top5", "--near-tie",
                                 "0.01", "--save-rows", "rows.jsonl", code=1)

    def check(self, *words, code):
        self.ended = self.vernier("check", "accuracy", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)

    def test_gates_are_judged_again(self):
        self.check("rows.jsonl", "--max-flip-rate", "y:0.2", code=0)
        self.says("a vs. b: decision top1 of 'y': 192 of 200 samples agree, 96 %",
                  "8 flips: 8 clear", "PASSED | a vs. b: --max-flip-rate 0.2: top1 of 'y'")
        self.check("rows.jsonl", "--max-flip-rate", "0.01", code=1)
        self.says("FAILED | a vs. b: --max-flip-rate 0.01: top1 of 'y' differs in 4 % (1 % "
                  "allowed), failed")
        self.check("rows.jsonl", "--max-clear-flips", "0", "--near-tie", "100", code=0)
        self.says("8 flips: 0 clear, 8 near ties")

    def test_arrays_hold_the_same(self):
        words = ["--decision", "y:top1", "y:top5", "--near-tie", "0.01", "--save-rows", "rows.npz"]
        left, right = [*self.A, {"y": scores(1)}], [*self.B, {"y": flipped(scores(1), 0)}]
        self.compare(left, right, *words, code=1)
        self.check("rows.npz", "--max-flip-rate", "0.01", code=1)
        self.says("a vs. b: decision top1 of 'y': 192 of 201 samples agree, 95.5 %",
                  "9 flips: 9 clear", "FAILED | a vs. b: --max-flip-rate 0.01: top1 of 'y'")
        self.check("rows.npz", "--max-flip-rate", "0.5", code=0)

    def test_what_the_run_did_not_decide_is_no_pass_afterwards(self):
        a = scores(4)
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare([{"y": a}, {"y": a}], [{"y": a}, {"y": a[:2]}], "--decision", "y:top1",
                         "--max-flip-rate", "0.9", "--save-rows", rows, code=4)
            self.check(rows, "--max-flip-rate", "0.9", code=4)
            self.says("top1 of 'y': not everything was decided, only 1 of 2 rows has it")
            empty = [{"y": a[:0]}]
            self.compare(empty, empty, "--decision", "y:top1", "--max-flip-rate", "0.9",
                         "--save-rows", rows, code=4)
            self.check(rows, "--max-flip-rate", "0.9", code=4)

    def test_what_cannot_be_checked_is_no_pass(self):
        self.check("rows.jsonl", code=4)
        self.says("nothing was checked: add --max-flip-rate, --max-clear-flips or --max-drop")
        self.check("rows.jsonl", "--max-flip-rate", "z:0.1", code=4)
        self.says("'rows.jsonl' has no decision about that output")
        self.compare(self.A, self.B, "--save-rows", "bare.jsonl", code=1)
        self.check("bare.jsonl", "--max-flip-rate", "0.1", code=4)
        self.says("holds no decisions")
        self.check("rows.jsonl", "--l2-threshold", "1", code=2)
        self.says("--l2-threshold: 'rows.jsonl' holds rows")
        self.path("broken.jsonl").write_text('{"index": 0}\n', encoding="utf-8")
        self.check("broken.jsonl", "--max-flip-rate", "0.1", code=3)
        self.says("'broken.jsonl', line 1")
        np.savez(self.path("broken.npz"), **{"index": np.arange(2), "step": np.arange(2),
                                             "pair": np.zeros((2, 0), str)})
        self.check("broken.npz", "--max-flip-rate", "0.1", code=3)
        self.says("'pair' is not a column of rows")

    def arrays(self, name, places):
        """The rows of rows.npz at these places, and no others."""
        with np.load(self.path("rows.npz")) as columns:
            np.savez(self.path(name), **{key: columns[key][places] for key in columns.files})

    def test_rows_that_are_missing_are_no_pass(self):
        self.compare(self.A, self.B, "--decision", "y:top1", "--save-rows", "rows.npz", code=1)
        lines = self.path("rows.jsonl").read_text().splitlines(keepends=True)
        self.path("gap.jsonl").write_text(lines[0] + lines[3])
        self.arrays("gap.npz", [0, 3])
        for rows in ("gap.jsonl", "gap.npz"):
            self.check(rows, "--max-flip-rate", "0.9", code=4)
            self.says(f"a vs. b: '{rows}' lacks 2 iterations, the first of them 1")
            self.assertNotIn("PASSED", self.ended.out)

    def test_rows_that_are_there_twice_are_refused(self):
        self.compare(self.A, self.B, "--decision", "y:top1", "--save-rows", "rows.npz", code=1)
        lines = self.path("rows.jsonl").read_text()
        self.path("twice.jsonl").write_text(lines + lines)
        self.arrays("twice.npz", [0, 1, 2, 3, 0, 1, 2, 3])
        for rows in ("twice.jsonl", "twice.npz"):
            self.check(rows, "--max-flip-rate", "0.9", code=3)
            self.says(f"'{rows}': a vs. b: iteration 0 follows iteration 3, and rows of one run")

    def test_strict_refuses_what_shows_nothing(self):
        boxes = np.zeros((2, 3, 6), np.float32)
        boxes[:, 0] = (8, 8, 2, 2, 0.9, 1)  # x2 < x1
        for decision, left, why in (("y:threshold=-9", scores(3), "shows nothing: every value"),
                                    ("y:boxes:xyxy,score,class", boxes,
                                     "has 6 boxes of both sides with a negative width")):
            for rows in ("doubt.jsonl", "doubt.npz"):
                sides = [{"y": left}, {"y": left[:1]}]
                self.compare(sides, sides, "--decision", decision, "--max-flip-rate", "0.9",
                             "--save-rows", rows, code=0)
                self.says(why)
                self.check(rows, "--max-flip-rate", "0.9", code=0)
                self.check(rows, "--max-flip-rate", "0.9", "--strict", code=4)
                self.says("--strict: ", why)


if __name__ == "__main__":
    unittest.main()
