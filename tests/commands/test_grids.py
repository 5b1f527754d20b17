"""--max-clear-flips of int8 networks: a step of their outputs' grid decides nothing."""

import json
import unittest

import numpy as np

from decision_case import Decisions

STEPS, ROWS, CLASSES = 255, 1500, 10


class Grids(Decisions):
    """Outputs in steps of 1/255, a sample an iteration: too few values to show a grid of their own,
    and most are equal on both sides."""

    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(8)
        weights = self.rng.normal(size=(16, CLASSES)) / 4
        self.inputs = self.rng.normal(size=(ROWS, 16))
        self.right = self.quantised(weights)
        wrong = weights.copy()
        wrong[:, 3] *= 1.5
        self.wrong = self.quantised(wrong)

    def quantised(self, weights):
        exact = np.exp(self.inputs @ weights)
        return np.round(exact / exact.sum(1, keepdims=True) * STEPS)

    def off_by_a_step(self, levels, share):
        moved = self.rng.random(levels.shape) < share
        steps = np.where(moved, self.rng.choice([-1, 1], levels.shape), 0)
        return np.clip(levels + steps, 0, STEPS)

    def save(self, first, second, dtype=np.float32):
        scale = STEPS if dtype == np.float32 else 1
        np.savez(self.path("o.npz"), **{
            f"{side}/{i:010}/y": (row / scale).astype(dtype)[None]
            for side, rows in (("a", first), ("b", second)) for i, row in enumerate(rows)})

    def decided(self, kind, *words, code=1):
        self.ended = self.vernier("compare", "o.npz", "--decision", f"y:{kind}",
                                  "--max-clear-flips", "0", "--judge", "decisions",
                                  "--save-record", "r.json", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
        return pair["decision_gates"][0]

    def test_a_step_of_the_outputs_is_never_decided(self):
        for dtype in (np.float32, np.uint8):
            for share in (0.1, 0.3):
                self.save(self.right, self.off_by_a_step(self.right, share), dtype)
                for kind in ("top1", "rank=3", "top3", "argmax"):
                    with self.subTest(kind, dtype=dtype, share=share):
                        gate = self.decided(kind, code=0)
                        self.assertTrue(gate["undecided"], gate)
                        self.decided(kind, "--strict", code=4)

    def test_rows_say_the_same(self):
        self.save(self.right, self.off_by_a_step(self.right, 0.1))
        for rows in ("rows.jsonl", "rows.npz"):
            self.decided("top1", "--save-rows", rows, code=0)
            said = next(line for line in self.ended.out.splitlines() if "undecided" in line)
            again = self.vernier("check", "accuracy", rows, "--max-clear-flips", "0")
            self.assertEqual(again.code, 0, again.out + again.err)
            self.assertIn(said[said.index("--max-clear-flips"):], again.out)

    def test_one_sigmoid_has_the_grid_of_the_run(self):
        right = np.round(STEPS / (1 + np.exp(-self.rng.normal(size=(ROWS, 1)))))
        self.save(right, self.off_by_a_step(right, 0.3))
        self.assertTrue(self.decided("threshold=0.5", code=0)["undecided"])
        far = np.where(self.rng.random(right.shape) < 0.2, self.rng.integers(5, 30, right.shape), 0)
        self.save(right, np.clip(right + far, 0, STEPS))
        self.assertFalse(self.decided("threshold=0.5")["undecided"])

    def test_wrong_weights_are_decided(self):
        for dtype in (np.float32, np.uint8):
            self.save(self.right, self.off_by_a_step(self.wrong, 0.1), dtype)
            for kind in ("top1", "rank=3", "top3", "argmax"):
                with self.subTest(kind, dtype=dtype):
                    self.assertFalse(self.decided(kind)["undecided"])


if __name__ == "__main__":
    unittest.main()
