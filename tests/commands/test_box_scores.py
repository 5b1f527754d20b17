"""Boxes whose scores are above 1: columns in another order, or a layout that is transposed."""

import unittest

import numpy as np

from decision_case import Decisions


class Transposed(Decisions):
    """A head of YOLOv8 as [1, boxes, 4 + classes], read as [1, 4 + classes, boxes]."""

    def test_scores_that_are_coordinates(self):
        rng = np.random.default_rng(0)
        head = np.zeros((1, 840, 24), np.float32)
        head[..., :4] = rng.random((1, 840, 4)) * 100 + 10
        head[..., 4:] = rng.random((1, 840, 20)) * 0.01
        words = ["--decision", "y:boxes:yolov8", "--max-flip-rate", "0"]
        pair = self.compare([{"y": head}], [{"y": head}], *words, "--save-rows", "rows.jsonl",
                            code=0)
        self.assertGreater(pair["decisions"][0]["scores_above_one"], 0)
        said = ("with a score above 1, which is not a probability: are the columns in another "
                "order, or is the output transposed?")
        self.says(said)
        self.compare([{"y": head}], [{"y": head}], *words, "--strict", code=4)
        self.ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-flip-rate", "0",
                                  "--strict")
        self.assertEqual(self.ended.code, 4, self.ended.out + self.ended.err)
        self.says(said)
        turned = head.transpose(0, 2, 1)
        self.compare([{"y": turned}], [{"y": turned}], *words, code=0)
        self.assertNotIn("above 1", self.ended.out + self.ended.err)


if __name__ == "__main__":
    unittest.main()
