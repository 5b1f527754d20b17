"""What boxes and maps of classes add up to over all samples."""

import unittest

import numpy as np

from decision_case import Decisions, scores


class Totals(Decisions):
    def rows_have(self, sentence, change=None, why=""):
        """Rows of both formats add up to the same; a row that says something else is refused."""
        rows = self.path("rows.jsonl").read_text()
        words = [word if word != "rows.jsonl" else "rows.npz" for word in self.words]
        self.assertEqual(self.vernier("compare", "a.json", "b.json", *words).code, 0)
        for name in ("rows.jsonl", "rows.npz"):
            self.ended = self.vernier("check", "accuracy", name, "--max-flip-rate", "1")
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says(sentence)
        if change is None:
            return
        self.assertIn(change[0], rows)
        self.path("changed.jsonl").write_text(rows.replace(*change, 1))
        self.ended = self.vernier("check", "accuracy", "changed.jsonl", "--max-flip-rate", "1")
        self.assertEqual(self.ended.code, 3, self.ended.out + self.ended.err)
        self.says(why)

    def named(self, sentence, names, *words, code):
        self.ended = self.vernier("check", "accuracy", "rows.npz", "--max-flip-rate", "1",
                                  "--class-names", names, *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        self.says(sentence)

    def compare(self, left, right, *words, code):
        self.words = words
        return super().compare(left, right, *words, code=code)

    def test_boxes_of_all_samples_are_added_up(self):
        one = np.float32([[[0, 0, 10, 10, 0.9, 1], [20, 20, 30, 30, 0.8, 2],
                           [50, 50, 60, 60, 0.7, 3]]])
        moved, other, fewer, broken = one.copy(), one.copy(), one.copy(), one.copy()
        moved[0, 0, [0, 2]] += 2.5
        other[0, 1, 5] = 7
        fewer[0, 2, 4] = 0.1
        broken[0, 0, 0] = np.nan
        words = ["--decision", "y:boxes:xyxy,score,class", "--max-flip-rate", "1", "--save-rows",
                 "rows.jsonl"]
        pair = self.compare([{"y": y} for y in (one, one, one, fewer, one)],
                            [{"y": y} for y in (moved, other, fewer, one, broken)], *words, code=0)
        boxes = pair["decisions"][0]["boxes"]
        self.assertEqual(pair["decisions"][0]["worst"][0]["first"], "1:1 2:1 3:1")
        self.assertAlmostEqual(boxes.pop("mean_iou"), (8 + 0.6) / 9, places=12)
        self.assertEqual(boxes, {"matched": 9, "lost": 1, "invented": 1, "class_changed": 1})
        self.says("of the 4 samples without NaN: 9 boxes matched with a mean IoU of 0.9556, "
                  "1 lost, "
                  "1 invented, 1 of another class")
        self.rows_have("boxes:xyxy,score,class of 'y' of the 4 samples without NaN: 9 boxes",
                       ('"y/lost":1', '"y/lost":2'), "'y/flip' is 'clear', and 'y/similarity'")
        pair = self.compare([{"y": fewer[:, 2:]}], [{"y": one[:, 2:]}], *words, code=0)
        self.assertEqual(pair["decisions"][0]["boxes"]["mean_iou"], "nan")
        self.says("of all samples: 0 boxes matched, 0 lost, 1 invented, 0 of another class")

    def test_maps_have_an_iou_of_each_class(self):
        rng = np.random.default_rng(7)
        least = np.float32([0, 0, 0.2, 2, 0]).reshape(5, 1, 1)  # a dog is nowhere
        left = [{"y": rng.random((n, 5, 6, 7), np.float32) - least} for n in (2, 3, 1)]
        right = [{"y": one["y"] + np.float32(rng.random(one["y"].shape) < 0.1)} for one in left]
        for side in (left, right):
            side[1]["y"][1, 0, 0, 0] = np.nan
        self.path("names.txt").write_text("sky\nroad\ncar\ndog\ntree\n")
        pair = self.compare(left, right, "--decision", "y:argmax", "--class-names", "names.txt",
                            "--max-flip-rate", "1", "--save-rows", "rows.jsonl", code=0)
        valid = [0, 1, 2, 4, 5]
        x, y = (np.concatenate([one["y"] for one in side])[valid].argmax(1)
                for side in (left, right))
        wanted = [{"class": c, "name": f"{name} ({c})", "first": int((x == c).sum()),
                   "second": int((y == c).sum()), "both": int(((x == c) & (y == c)).sum())}
                  for c, name in enumerate(["sky", "road", "car", "dog", "tree"])
                  if ((x == c) | (y == c)).any()]
        found = pair["decisions"][0]["class_ious"]
        ious = [one.pop("iou") for one in found]
        self.assertEqual(found, wanted)
        self.assertEqual(ious, [w["both"] / (w["first"] + w["second"] - w["both"]) for w in wanted])
        least = wanted[int(np.argmin(ious))]["name"]
        self.says(f"of the 5 samples without NaN: mean IoU {np.mean(ious):.4g} over {len(ious)} "
                  f"classes, least {min(ious):.4g} of class {least}")
        self.rows_have(f"argmax of 'y' of the 5 samples without NaN: mean IoU {np.mean(ious):.4g} "
                       f"over {len(ious)} classes, least {min(ious):.4g} of class")
        self.named(f"least {min(ious):.4g} of class {least}", "names.txt", code=0)
        self.path("few.txt").write_text("sky\nroad\n")
        said = ("--class-names 'few.txt' has 2 names for the 5 classes of argmax of 'y', which "
                "stay numbers")
        self.named(said, "few.txt", code=0)
        self.named("--strict: " + said, "few.txt", "--strict", code=4)
        pair = self.compare([{"y": scores(5)}], [{"y": scores(5)}], "--decision", "y:argmax=-1",
                            code=0)
        self.assertNotIn("class_ious", pair["decisions"][0])


if __name__ == "__main__":
    unittest.main()
