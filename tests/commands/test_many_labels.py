"""--labels of sets with more classes than a decision lists: all of them count."""

import unittest

import numpy as np

from shard_case import WHOLE, ShardCase

SIZES = (50, 50, 50, 30)
CLASSES = 100


class ManyLabels(ShardCase):
    """Sets of 0 to 80 of 100 classes: those of more than 16 are cut off in their texts."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        count = sum(SIZES)
        self.a = rng.random((count, CLASSES)).astype(np.float32)
        self.a **= np.linspace(0.3, 8, count, dtype=np.float32)[:, None]
        self.b = self.a + (rng.random(self.a.shape) < 0.002).astype(np.float32)
        self.labels = (self.a >= 0.5).astype(int)
        self.labels[::3, 90] ^= 1  # wrong in a class that no text lists
        ends = np.cumsum(SIZES)[:-1]
        for name, side in (("A", self.a), ("B", self.b)):
            self.save_runs(f"{name}.json", [(name, [{"y": one} for one in np.split(side, ends)])])
        np.save(self.path("labels.npy"), self.labels)
        self.words = ["compare", "A.json", "B.json", "--decision", "y:threshold=0.5", "--judge",
                      "decisions", "--max-drop", "0.5", "--labels", "labels.npy"]

    def share(self, side):
        return f"{100 * ((side >= 0.5) == self.labels).all(1).mean():.3g} %"

    def test_every_class_counts(self):
        self.assertGreater(((self.a >= 0.5).sum(1) > 16).mean(), 0.3)
        whole = self.divide(self.words, (2, "contiguous"), (3, "stride"), code=0)
        said = f"exact match {self.share(self.a)} (95 % interval "
        self.assertIn(said, whole.out)
        self.assertIn(f" against {self.share(self.b)} (", whole.out)
        self.assertNotIn(f"labels for {sum(SIZES)} samples", whole.out + whole.err)
        for rows in ("whole.jsonl", "whole.npz"):
            self.assertEqual(self.vernier(*self.words, "--save-rows", "whole.npz").code, 0)
            ended = self.vernier("check", "accuracy", rows, "--max-drop", "0.5")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(said, ended.out)

    def test_rows_cannot_be_judged_by_other_labels(self):
        self.assertEqual(self.vernier(*self.words, *WHOLE).code, 0)
        ended = self.vernier("check", "accuracy", "whole.jsonl", "--labels", "labels.npy",
                             "--max-drop", "0.5")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("for more classes than a row lists, so it cannot be judged and the "
                      "accuracy is unknown", ended.out + ended.err)
        self.assertNotIn("exact match", ended.out + ended.err)

    def test_labels_of_more_than_64_best(self):
        labels = np.random.default_rng(1).integers(0, CLASSES, sum(SIZES))
        np.save(self.path("labels.npy"), labels)
        words = [word.replace("threshold=0.5", "top70") for word in self.words]
        words[words.index("--max-drop") + 1] = "0.9"
        best = np.argsort(-self.a, axis=1, kind="stable")[:, :70]
        said = f"top-70 accuracy {100 * (best == labels[:, None]).any(1).mean():.3g} % ("
        whole = self.divide(words, (2, "contiguous"), (3, "stride"), code=0)
        self.assertIn(said, whole.out)
        ended = self.vernier("check", "accuracy", "whole.jsonl", "--max-drop", "0.9")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn(said, ended.out)


if __name__ == "__main__":
    unittest.main()
