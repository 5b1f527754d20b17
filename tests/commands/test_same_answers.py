"""A reference that decides the same about every sample: agreement with it shows nothing."""

import unittest

import numpy as np

from decision_case import Decisions, scores
from shard_case import ShardCase

SAME = "shows nothing: the reference decides the same in all 8 samples"


def dead(count=8, seed=0):
    """Logits whose first five classes lead in this order, whatever else there is."""
    rows = scores(count, seed)
    rows[:, :5] = [9, 8, 7, 6, 5]
    rows[:, 5:] = np.minimum(rows[:, 5:], 2)
    return rows


class SameAnswers(Decisions):
    def test_kinds_with_an_answer_of_their_own(self):
        a = [{"y": dead()}]
        b = [{"y": dead() + np.float32(0.1) * (dead() < 3)}]
        for decision in ("top1", "top3", "rank=3", "argmax", "argmax=1"):
            words = ["--decision", f"y:{decision}", "--max-flip-rate", "0.9"]
            self.compare(a, b, *words, "--judge", "decisions", code=0)
            self.says(f"{decision} of 'y' {SAME}")
            self.compare(a, b, *words, "--judge", "decisions", "--strict", code=4)
            self.says(f"--strict: {decision} of 'y' {SAME}")
        negative = [{"y": -np.ones((8, 1), np.float32)}]
        self.compare(negative, negative, "--decision", "y:sign", code=0)
        self.says(f"sign of 'y' {SAME}")

    def test_answers_that_vary_and_single_samples_have_no_note(self):
        varied = dead()
        varied[7, 11] = 20
        for a, decision in ((varied, "top1"), (varied, "rank=3"), (dead(1), "top1")):
            self.compare([{"y": a}], [{"y": a}], "--decision", f"y:{decision}", "--max-flip-rate",
                         "0.9", "--judge", "decisions", "--strict", code=0)
            self.assertNotIn("shows nothing", self.ended.out)

    def test_maps_of_one_class(self):
        rng = np.random.default_rng(0)
        maps = rng.normal(size=(8, 3, 6, 6)).astype(np.float32)
        words = ["--decision", "y:argmax", "--max-flip-rate", "0.9", "--judge", "decisions",
                 "--strict"]
        self.compare([{"y": maps}], [{"y": maps}], *words, code=0)
        maps[:, 1] = 9
        self.compare([{"y": maps}], [{"y": maps}], *words, code=4)
        self.says(SAME)
        self.compare([{"y": maps[:1]}], [{"y": maps[:1]}], *words, code=0)

    def test_rows_show_it_as_well(self):
        self.compare([{"y": dead(4)}] * 2, [{"y": dead(4)}] * 2, "--decision", "y:top1",
                     "--save-rows", "rows.jsonl", code=0)
        for more, code in (([], 0), (["--strict"], 4)):
            ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-flip-rate", "0.9", *more)
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertIn(SAME, ended.out + ended.err)


class OfShards(ShardCase):
    def test_each_shard_alone_may_have_the_same_answers(self):
        """The whole has not."""
        for last, code in ((dead(4, 1), 4), (scores(8)[4:], 0)):
            sides = [{"y": dead(4)}, {"y": last}]
            self.save_runs("a.json", [("A", sides)])
            self.save_runs("b.json", [("B", sides)])
            words = ["compare", "a.json", "b.json", "--decision", "y:top1", "--max-flip-rate",
                     "0.9", "--judge", "decisions", "--strict"]
            self.divide(words, (2, "stride"), code=code)


if __name__ == "__main__":
    unittest.main()
