"""Near ties by noise, where the samples of the run together show that it is none."""

import unittest

import numpy as np

from decision_case import Decisions

GATE = ("--max-clear-flips", "0", "--judge", "decisions")


class RunNoise(Decisions):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(25)

    def judge(self, kind, a, b, code):
        """The decision of a comparison; also when it is judged again by its rows."""
        pair = self.compare([{"y": a}], [{"y": b}], "--decision", f"y:{kind}", *GATE,
                            "--save-rows", "rows.jsonl", code=code)
        again = self.vernier("check", "accuracy", "rows.jsonl", "--max-clear-flips", "0")
        self.assertEqual(again.code, code, again.out + again.err)
        (decision,) = pair["decisions"]
        return decision

    def wrong(self, kind, a, b):
        decision = self.judge(kind, a.astype(np.float32), b.astype(np.float32), code=1)
        self.assertNotIn("undecided", self.ended.out, kind)
        self.assertEqual(decision["near_ties"], 0, kind)

    def test_positions_that_mostly_differ(self):
        maps = np.kron(self.rng.normal(size=(12, 5, 4, 4)), np.ones((1, 1, 4, 4))) * 2
        maps += self.rng.normal(size=(12, 5, 16, 16)) * 0.3
        self.wrong("argmax", maps, np.roll(maps, 1, 1))
        logits = self.rng.normal(size=(300, 40)) * 3
        self.wrong("threshold=0.5", 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits)))
        self.wrong("sign", logits, -logits)

    def test_sets_of_which_nothing_is_left(self):
        logits = self.rng.normal(size=(300, 12)) * 3
        for kind in ("top5", "rank=3"):
            self.wrong(kind, logits, -logits)

    # Next to noise of this size each is turned around with a probability of nearly 1/2.
    def test_noise_as_large_as_all_values_decides_nothing(self):
        for seed in range(5):
            rng = np.random.default_rng(seed)
            a = (rng.normal(size=(100, 40)) * 0.1).astype(np.float32)
            b = a + rng.normal(size=a.shape).astype(np.float32)
            for kind in ("sign", "threshold=0"):
                self.compare([{"y": a}], [{"y": b}], "--decision", f"y:{kind}", *GATE, code=0)
                self.says("passed but undecided")

    def test_samples_that_are_exchanged(self):
        a = self.rng.normal(size=(100, 1000)) * 2
        b = a.copy()
        b[[7, 8]] = a[[8, 7]]
        for kind in ("top1", "top5", "rank=3", "threshold=2"):
            decision = self.judge(kind, a.astype(np.float32), b.astype(np.float32), code=1)
            self.assertEqual((decision["flips"], decision["near_ties"]), (2, 0), kind)

    def test_samples_of_other_scales_are_noisy_as_well(self):
        a = self.rng.normal(size=(200, 20)) * np.exp(2 * self.rng.normal(size=(200, 1)))
        for noise in (1e-3, 1e-2):
            b = a * (1 + noise * self.rng.normal(size=a.shape))
            pair = self.compare([{"y": a.astype(np.float32)}], [{"y": b.astype(np.float32)}],
                                "--decision", "y:top1", "--max-flip-rate", "1", code=0)
            (decision,) = pair["decisions"]
            self.assertLessEqual(decision["clear_flips"], 1)

    def boxes(self, seed):
        """100 boxes each in 20 images, a tenth of them surer than 0.25 by less than 0.1."""
        rng = np.random.default_rng(seed)
        place = np.arange(100)
        corner = np.stack([place % 10 * 50, place // 10 * 50], 1)
        boxes = np.zeros((20, 100, 6), np.float32)
        boxes[..., :2], boxes[..., 2:4] = corner, corner + 20
        boxes[..., 4] = rng.uniform(0, 1, (20, 100))
        return boxes, rng

    def test_boxes_that_are_only_lost(self):
        a, rng = self.boxes(1)
        b = a.copy()
        b[..., 4] -= np.abs(rng.normal(size=a.shape[:2])) * 0.15
        pair = self.compare([{"y": a}], [{"y": b}], "--decision", "y:boxes:xyxy,score,class",
                            *GATE, code=1)
        self.assertEqual(pair["decisions"][0]["near_ties"], 0)
        self.assertNotIn("undecided", self.ended.out)

    def test_boxes_with_noise(self):
        for seed in range(5):
            a, rng = self.boxes(seed)
            b = a.copy()
            b[..., 4] += rng.normal(size=a.shape[:2]) * 0.02
            pair = self.compare([{"y": a}], [{"y": b}], "--decision", "y:boxes:xyxy,score,class",
                                "--max-flip-rate", "1", code=0)
            (decision,) = pair["decisions"]
            self.assertGreater(decision["near_ties"], 10)
            self.assertLessEqual(decision["clear_flips"], 2)


if __name__ == "__main__":
    unittest.main()
