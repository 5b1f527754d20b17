"""--labels: how right both sides are, --max-drop, rows with labels, labels that do not fit."""

import json
import unittest

import numpy as np

from decision_case import CLASSES, Decisions, flipped, scores

RIGHT = np.arange(1000) % CLASSES  # of scores(1000), all of which are right


class Labels(Decisions):
    def labels(self, values, name="labels.npy"):
        np.save(self.path(name), values)
        return name

    def of(self, pair):
        (decision,) = pair["decisions"]
        return decision["labels"]

    def refused(self, *sentences, words, code, a=None, b=None):
        a = scores(10) if a is None else a
        self.compare([{"y": a}], [{"y": a if b is None else b}], *words, code=code)
        self.says(*sentences)


class Accuracy(Labels):
    A = scores(200)

    def test_flips_are_split_by_what_is_right(self):
        # 0 to 4 become wrong; the labels of 10, 11 are what the candidate says; 20 is wrong twice.
        b = flipped(self.A, 0, 1, 2, 3, 4, 10, 11, 20)
        right = RIGHT[:200].copy()
        right[[10, 11]] = b[[10, 11]].argmax(1)
        right[[20, 21]] = 9, 7
        words = ["--decision", "y:top1", "--labels", self.labels(right)]
        labels = self.of(self.compare([{"y": self.A}], [{"y": b}], *words, code=1))
        self.assertEqual((labels["metric"], labels["samples"]), ("top-1 accuracy", 200))
        self.assertEqual([labels[key] for key in ("right_to_wrong", "wrong_to_right",
                                                  "wrong_to_wrong", "both_right")], [5, 2, 1, 191])
        self.assertAlmostEqual(labels["first"], 196 / 200, delta=1e-12)
        self.assertAlmostEqual(labels["second"], 193 / 200, delta=1e-12)
        self.assertAlmostEqual(labels["drop"], 3 / 200, delta=1e-12)
        self.assertLess(labels["drop_low"], 0)
        self.assertGreater(labels["drop_high"], 3 / 200)
        # 2 * (1 + 7 + 21) / 2^7
        self.assertAlmostEqual(labels["p"], 0.453125, delta=1e-12)
        self.says("labels: top-1 accuracy 98 % (95 % interval ", " against 96.5 % (",
                  ", a drop of 1.5 points", "5 right to wrong, 2 wrong to right, 1 wrong to wrong",
                  "McNemar's exact p 0.453", "to see a change of 1 point with 80 % power")

    def test_no_change_is_no_proof(self):
        words = ["--decision", "top1", "--labels", self.labels(RIGHT[:100])]
        a = self.A[:100]
        labels = self.of(self.compare([{"y": a}], [{"y": a}], *words, code=0))
        self.assertEqual((labels["p"], labels["drop"]), (1, 0))
        self.assertGreater(labels["drop_high"], 0)
        self.assertGreater(labels["samples_to_see"], 100)
        self.says("no sample is right on only one side, so there is nothing to test")

    def test_top_k_is_right_within_k(self):
        a = scores(5)
        order = np.argsort(-a, axis=1)
        right = order[np.arange(5), [0, 2, 4, 5, 19]]
        words = ["--decision", "y:top5", "--labels", self.labels(right)]
        labels = self.of(self.compare([{"y": a}], [{"y": a}], *words, code=0))
        self.assertEqual((labels["metric"], labels["first"]), ("top-5 accuracy", 0.6))

    def test_nan_is_wrong(self):
        b = self.A.copy()
        b[3, 3] = np.nan
        words = ["--decision", "top1", "--labels", self.labels(RIGHT[:200])]
        labels = self.of(self.compare([{"y": self.A}], [{"y": b}], *words, code=1))
        self.assertEqual((labels["right_to_wrong"], labels["second"]), (1, 199 / 200))

    def test_sets_of_labels(self):
        a = np.array([[0.9, 0.1, 0.8], [0.1, 0.2, 0.3], [0.1, 0.9, 0.3]], np.float32)
        b = np.array([[0.9, 0.1, 0.8], [0.1, 0.2, 0.9], [0.1, 0.9, 0.3]], np.float32)
        self.labels(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]], bool))
        self.path("labels.jsonl").write_text('{"label": [2, 0], "name": ["x"]}\n[]\n[1, 2]\n')
        self.path("labels.txt").write_text("0 2\n\n1 2\n")
        for name in ("labels.npy", "labels.jsonl", "labels.txt"):
            pair = self.compare([{"y": a}], [{"y": b}], "--decision", "threshold=0.5", "--labels",
                                name, code=1)
            labels = self.of(pair)
            self.assertEqual((labels["metric"], labels["samples"]), ("exact match", 3))
            self.assertEqual((labels["right_to_wrong"], labels["wrong_to_right"],
                              labels["both_right"]), (1, 0, 1), name)

    def test_a_single_value_is_yes_or_no(self):
        a = np.array([[0.9], [0.1], [0.8]], np.float32)
        words = ["--decision", "threshold=0.5", "--labels", self.labels(np.array([1, 0, 0]))]
        labels = self.of(self.compare([{"y": a}], [{"y": a}], *words, code=0))
        self.assertEqual(labels["both_right"], 2)

    def test_every_format_has_labels_by_iteration(self):
        left = [{"y": scores(3)}, {"y": scores(5, 1)}]
        right = [{"y": left[0]["y"]}, {"y": flipped(left[1]["y"], 2)}]
        of = [np.arange(3), np.arange(5)]
        flat = np.concatenate(of)
        self.labels(flat)
        np.savez(self.path("named.npz"), **{f"{i:010}/label": one for i, one in enumerate(of)})
        np.savez(self.path("plain.npz"), *of)
        self.path("labels.txt").write_text("".join(f"{n}\n" for n in flat))
        self.path("labels.jsonl").write_text("".join(f"{n}\n" for n in flat))
        for name in ("labels.npy", "named.npz", "plain.npz", "labels.txt", "labels.jsonl"):
            labels = self.of(self.compare(left, right, "--decision", "y:top1", "--labels",
                                          f"y:{name}", code=1))
            self.assertEqual((labels["first"], labels["second"]), (1, 7 / 8), name)

    def test_maps_have_a_mean_iou(self):
        rng = np.random.default_rng(5)
        a = rng.uniform(-1, 1, (6, 3, 4, 5)).astype(np.float32)
        b = a.copy()
        b[:3, 0, 0] = 9
        right = a.argmax(1)
        right[:, 1, 1] = (right[:, 1, 1] + 1) % 3
        right[0, 3, 3] = 255

        def ious(side):
            values = []
            for decided, label in zip(side.argmax(1), right, strict=True):
                kept = label != 255
                x, y = decided[kept], label[kept]
                values.append(np.mean([((x == c) & (y == c)).sum() / ((x == c) | (y == c)).sum()
                                       for c in range(3) if ((x == c) | (y == c)).any()]))
            return np.array(values)

        words = ["--decision", "argmax", "--labels", self.labels(right)]
        labels = self.of(self.compare([{"y": a}], [{"y": b}], *words, code=1))
        first, second = ious(a), ious(b)
        draws = np.random.default_rng(1).integers(0, 6, (10000, 6))
        drops = np.quantile((first - second)[draws].mean(1), [0.025, 0.975])
        self.assertEqual((labels["metric"], labels["samples"]), ("mean IoU", 6))
        for key, want in (("first", first.mean()), ("second", second.mean()),
                          ("drop_low", drops[0]), ("drop_high", drops[1])):
            self.assertAlmostEqual(labels[key], want, delta=1e-12, msg=key)
        self.says("labels: mean IoU ")


class Gates(Labels):
    A = scores(1000)

    def drop(self, lost, *words, code):
        self.labels(RIGHT)
        pair = self.compare([{"y": self.A}], [{"y": flipped(self.A, *range(lost))}], "--decision",
                            "y:top1", "--labels", "labels.npy", *words, code=code)
        return pair["decision_gates"]

    def test_a_drop_fails(self):
        (gate,) = self.drop(50, "--max-drop", "0.01", code=1)
        self.assertEqual((gate["gate"], gate["verdict"], gate["drop_type"]),
                         ("--max-drop", "failed", "absolute"))
        self.assertAlmostEqual(gate["value"], 0.05, delta=1e-12)
        self.says("--max-drop 0.01: top1 of 'y' drops by 5 points (1 allowed), failed")
        self.drop(50, "--max-drop", "top1:0.2", code=0)
        self.drop(50, "--max-drop", "0.01", "y:top1:0.2", code=0)
        self.drop(50, "--max-drop", "0.01", "--judge", "elements", "--atol", "100", code=0)

    def test_a_drop_may_be_relative(self):
        right = RIGHT.copy()
        right[500:] = (right[500:] + 3) % CLASSES
        words = ["--decision", "y:top1", "--labels", self.labels(right), "--drop-type", "relative",
                 "--max-drop"]
        b = [{"y": flipped(self.A, *range(50))}]
        (gate,) = self.compare([{"y": self.A}], b, *words, "0.09", code=1)["decision_gates"]
        self.assertAlmostEqual(gate["value"], 0.1, delta=1e-12)
        self.says("drops by 10 % of the reference's value (9 % allowed), failed")
        self.compare([{"y": self.A}], b, *words, "0.11", code=0)
        self.labels((RIGHT + 3) % CLASSES)
        self.compare([{"y": self.A}], b, *words, "0.5", code=4)
        self.says("has no labelled sample that the reference has right")

    def test_few_samples_do_not_decide(self):
        a = self.A[:100]
        words = ["--decision", "y:top1", "--labels", self.labels(RIGHT[:100]), "--max-drop", "0.01"]
        (gate,) = self.compare([{"y": a}], [{"y": a}], *words, code=0)["decision_gates"]
        self.assertTrue(gate["undecided"])
        self.assertGreater(gate["samples_to_decide"], 100)
        self.says("passed but undecided: the 95 % interval contains the limit", "would decide")
        self.compare([{"y": a}], [{"y": a}], *words, "--strict", code=4)
        self.assertFalse(self.drop(300, "--max-drop", "0.01", code=1)[0]["undecided"])

    def test_a_drop_of_nothing_is_decided_by_the_count(self):
        a, b = self.A[:100], self.A[:100].copy()
        right = np.r_[1, 2, RIGHT[2:100]]  # the first two samples are wrong
        words = ["--decision", "top1", "--labels", self.labels(right), "--max-drop", "0"]
        b[0] = np.roll(a[0], 2)  # wrong before and after
        for kind in ("relative", "absolute"):
            self.compare([{"y": a}], [{"y": b}], *words, "--strict", "--drop-type", kind, code=0)
        b[1:3] = np.roll(a[1:3], 1, -1)  # one sample each way shows nothing
        self.compare([{"y": a}], [{"y": b}], *words, "--strict", code=4)

    def test_no_sample_is_no_pass(self):
        empty = [{"y": self.A[:0]}]
        words = ["--decision", "y:top1", "--labels", self.labels(RIGHT[:0]), "--max-drop", "1"]
        self.compare(empty, empty, *words, code=4)

    def test_reports_have_labels(self):
        words = ["--max-drop", "0.01"]
        for name in ("r.xml", "r.md", "r.html", "r.jsonl"):
            words += ["--report", name]
        self.drop(50, *words, code=1)
        self.assertIn("top-1 accuracy 100 %", self.path("r.xml").read_text())
        self.assertIn("top-1 accuracy 100 %", self.path("r.md").read_text())
        self.assertIn("top-1 accuracy", self.path("r.html").read_text())
        lines = [json.loads(line) for line in self.path("r.jsonl").read_text().splitlines()]
        (decision,) = [line for line in lines if line["kind"] == "decision"]
        self.assertEqual(decision["labels"]["right_to_wrong"], 50)
        self.vernier("report", "r.json", "-o", "again.md")
        self.assertEqual(self.path("again.md").read_text(), self.path("r.md").read_text())


class SavedRows(Labels):
    A = [{"y": scores(50, seed)} for seed in range(4)]
    B = [{"y": flipped(rows["y"], 1, 2)} for rows in A]

    def setUp(self):
        super().setUp()
        self.labels(np.tile(np.arange(50) % CLASSES, 4))
        self.words = ["--decision", "y:top1", "y:top5", "--near-tie", "0.01", "--save-rows"]

    def check(self, *words, code):
        self.ended = self.vernier("check", "accuracy", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)

    def test_rows_are_judged_again(self):
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare(self.A, self.B, *self.words, rows, "--labels", "labels.npy", code=1)
            self.check(rows, "--max-drop", "top1:0.1", code=0)
            self.says("labels: top-1 accuracy 100 %", "8 right to wrong",
                      "PASSED | a vs. b: --max-drop 0.1: top1 of 'y' drops by 4 points")
            self.check(rows, "--max-drop", "0.01", code=1)
            self.says("FAILED | a vs. b: --max-drop 0.01: top1 of 'y' drops by 4 points "
                      "(1 allowed), failed")
            self.check(rows, "--max-drop", "top3:0.1", code=4)
            self.says(f"--max-drop top3: '{rows}' has no decision with labels of that name")

    def test_rows_have_a_label(self):
        self.compare(self.A, self.B, *self.words, "rows.jsonl", "--labels", "labels.npy", code=1)
        row = json.loads(self.path("rows.jsonl").read_text().splitlines()[0])
        self.assertEqual(row["label"], [str(n % CLASSES) for n in range(50)])
        self.assertEqual(row["a/y/score"], [1] * 50)
        self.assertEqual(row["b/y/score"], [1, 0, 0, *[1] * 47])
        self.assertNotIn("y/label", row)

    def test_labels_can_come_later(self):
        self.compare(self.A, self.B, *self.words, "rows.jsonl", code=1)
        self.check("rows.jsonl", "--max-drop", "0.1", code=4)
        self.says("--max-drop: 'rows.jsonl' has no labels: add --labels")
        self.check("rows.jsonl", "--max-drop", "top1:0.1", "--labels", "labels.npy", code=0)
        self.check("rows.jsonl", "--max-drop", "top1:0.01", "--labels", "labels.npy", code=1)
        self.labels(np.arange(150) % CLASSES)
        self.check("rows.jsonl", "--max-drop", "top1:0.9", "--labels", "labels.npy", code=4)
        self.says("150 labels for 200 samples")

    def test_what_takes_no_labels_is_named(self):
        self.compare(self.A, self.B, "--decision", "y:top1", "y:rank=4", "--max-flip-rate", "1",
                     "--labels", "labels.npy", "--save-rows", "rows.jsonl", code=0)
        self.check("rows.jsonl", "--decision", "rank=4", "--max-drop", "0.1", code=4)
        self.says("--max-drop: none of the decisions that are judged takes labels")
        self.assertNotIn("add --labels", self.ended.out + self.ended.err)

    def test_classes_beyond_the_output_are_no_pass(self):
        right = np.tile(np.arange(50) % CLASSES, 4)
        right[60] = CLASSES
        self.labels(right)
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare(self.A, self.B, *self.words, rows, code=1)
            self.check(rows, "--max-drop", "top1:0.5", "--labels", "labels.npy", code=4)
            self.says("the label of sample 10 of iteration 1 is 20, beyond the 20 classes of the "
                      "output")
            self.assertNotIn("PASSED", self.ended.out)
        rows = self.path("rows.jsonl").read_text()
        self.path("rows.jsonl").write_text(rows.replace('"y/classes":20,', ""))
        self.check("rows.jsonl", "--max-drop", "top1:0.5", "--labels", "labels.npy", code=4)
        self.says("'rows.jsonl' does not say how many classes the output has")

    def test_labels_that_fit_nothing_are_not_asked_for(self):
        self.compare(self.A, self.B, *self.words, "rows.jsonl", code=1)
        self.check("rows.jsonl", "--max-drop", "0.1", "--labels", "z:labels.npy", code=4)
        self.assertNotIn("add --labels", self.ended.out + self.ended.err)

    def test_intervals_of_a_seed_can_be_had_again(self):
        maps = np.random.default_rng(3).uniform(-1, 1, (9, 3, 4, 5)).astype(np.float32)
        other = maps.copy()
        other[:4, 0, 0] = 9
        right = self.labels((maps.argmax(1) + (np.arange(9) % 2)[:, None, None]) % 3)
        seen = []
        for seed in ("1", "7"):
            self.compare([{"y": maps}], [{"y": other}], "--decision", "argmax", "--labels", right,
                         "--seed", seed, "--save-rows", "rows.jsonl", code=1)
            (line,) = [one for one in self.ended.out.splitlines() if "labels: mean IoU" in one]
            seen.append(line[line.index("mean IoU"):])
            self.check("rows.jsonl", "--max-drop", "1", "--seed", seed, code=0)
            self.says(seen[-1])
        self.assertNotEqual(*seen)


class BadLabels(Labels):
    WORDS = ("--decision", "top1", "--labels")

    def test_another_number_of_labels(self):
        for count in (9, 11):
            self.refused(f"{count} labels for 10 samples", code=4,
                         words=[*self.WORDS, self.labels(np.arange(count))])
        np.savez(self.path("labels.npz"), np.arange(9))
        self.refused("iteration 0 has 9 labels for 10 samples", code=4,
                     words=[*self.WORDS, "labels.npz"])
        np.savez(self.path("labels.npz"), np.arange(10), np.arange(10))
        self.refused("labels of 2 iterations for 1", code=4, words=[*self.WORDS, "labels.npz"])

    def test_classes_beyond_the_output(self):
        right = np.arange(10)
        right[7] = CLASSES
        self.refused("the label of sample 7 of iteration 0 is 20, beyond the 20 classes of the "
                     "output", code=4, words=[*self.WORDS, self.labels(right)])
        self.labels(-np.arange(10))
        self.refused("is -1, and no class", ", and 8 more", code=4,
                     words=[*self.WORDS, "labels.npy"])
        self.labels(np.arange(10) + 0.5)
        self.refused("label 0 holds 0.5, and no class", code=4, words=[*self.WORDS, "labels.npy"])

    def test_what_is_no_file_of_labels(self):
        self.path("labels.txt").write_text("1\ncat\n")
        self.refused("'labels.txt', line 2: expected a class, or several between blanks, got "
                     "'cat'", code=3, words=[*self.WORDS, "labels.txt"])
        self.path("labels.jsonl").write_text('{"class": 1}\n')
        self.refused("'labels.jsonl', line 1: expected a class", code=3,
                     words=[*self.WORDS, "labels.jsonl"])
        self.path("labels.npy").write_bytes(b"no array")
        self.refused("'labels.npy'", code=3, words=[*self.WORDS, "labels.npy"])
        self.labels(np.array(["cat"] * 10))
        self.refused("labels are numbers: indices of classes", code=3,
                     words=[*self.WORDS, "labels.npy"])
        self.refused("missing.npy", code=3, words=[*self.WORDS, "missing.npy"])
        self.refused("--labels: expected FILE.npy, .npz, .jsonl, .txt or .json, 'folder' or "
                     "'loader', got 'labels.csv'", code=2, words=[*self.WORDS, "labels.csv"])

    def test_labels_need_a_decision_that_takes_them(self):
        name = self.labels(np.arange(10))
        self.refused("no --decision takes labels: add topK, threshold=X, argmax, ctc or "
                     "regression=X", code=2,
                     words=["--decision", "embedding", "--labels", name])
        self.refused("no --decision about that output takes labels", code=2,
                     words=["--decision", "y:top1", "--labels", f"z:{name}"])
        self.refused("--labels", code=2, words=["--labels", name])
        self.refused("--max-drop needs --labels, which give the right", code=2,
                     words=["--decision", "top1", "--max-drop", "0.1"])
        self.refused("--labels folder: --load-inputs names no images", code=2,
                     words=["--decision", "top1", "--labels", "folder"])
        self.refused("is the second file for every output", code=2,
                     words=["--decision", "top1", "--labels", name, name])


if __name__ == "__main__":
    unittest.main()
