"""--labels of ctc and regression: exact texts and edits, and the size of errors."""

import json
import unittest

import numpy as np

from decision_case import Decisions

CLASSES = 5


def steps_of(paths):
    """Scores whose best path is the given one."""
    return np.eye(CLASSES, dtype=np.float32)[np.array(paths)] * 3


class Errors(Decisions):
    def judged(self, a, b, kind, labels, *words, code):
        pair = self.compare([{"y": a}], [{"y": b}], "--decision", kind, "--labels", labels,
                            *words, code=code)
        return pair["decisions"][0].get("labels") if pair else None


class Arrays(Errors):
    def saved(self, values):
        np.save(self.path("labels.npy"), values)
        return "labels.npy"

    def test_a_row_for_threshold_has_zeros_and_ones(self):
        a = np.array([[0.9, 0.1, 0.8], [0.1, 0.2, 0.9]], np.float32)
        for value in (5, -1, 2, 255):
            right = np.array([[1, 0, 1], [0, value, 1]])
            self.compare([{"y": a}], [{"y": a}], "--decision", "threshold=0.5", "--labels",
                         self.saved(right), "--max-drop", "0.9", code=4)
            self.says(f"has {value} for class 1: a row of labels has 1 for a class that is there, "
                      "and else 0")

    def test_a_list_that_names_a_class_twice_is_refused(self):
        a = np.array([[0.9, 0.1, 0.8], [0.1, 0.2, 0.9]], np.float32)
        self.path("labels.jsonl").write_text("[0, 2]\n[0, 0, 1]\n")
        self.compare([{"y": a}], [{"y": a}], "--decision", "threshold=0.5", "--labels",
                     "labels.jsonl", "--max-drop", "0.9", code=4)
        self.says("names a class twice")

    def test_maps_of_another_shape_are_refused(self):
        a = np.random.default_rng(5).uniform(-1, 1, (6, 3, 4, 5)).astype(np.float32)
        right = a.argmax(1)
        for shape in ((6, 4, 5), (6, 20), (6, 1, 4, 5)):
            labels = self.saved(right.reshape(shape))
            pair = self.compare([{"y": a}], [{"y": a}], "--decision", "argmax", "--labels", labels,
                                "--max-drop", "0.5", code=0)
            self.assertEqual(pair["decisions"][0]["labels"]["first"], 1)
        self.compare([{"y": a}], [{"y": a}], "--decision", "argmax", "--labels",
                     self.saved(right.transpose(0, 2, 1)), "--max-drop", "0.5", code=4)
        self.says("has the shape (5, 4), and the map of a sample (4, 5): give it in that shape, or "
                  "flat")


class Texts(Errors):
    # 1 2 3, 2 2 and 4; the candidate reads 2 in the second.
    A = steps_of([[1, 1, 0, 2, 3, 0], [2, 0, 2, 0, 0, 0], [4, 0, 0, 0, 0, 0]])
    B = steps_of([[1, 1, 0, 2, 3, 0], [2, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]])

    def lines(self, *labels):
        self.path("labels.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in labels))
        return "labels.jsonl"

    def check(self, labels):
        self.assertEqual((labels["metric"], labels["samples"]), ("exact texts", 3))
        self.assertAlmostEqual(labels["first"], 2 / 3)
        self.assertAlmostEqual(labels["second"], 1 / 3)
        self.assertEqual((labels["right_to_wrong"], labels["wrong_to_right"]), (1, 0))
        (error,) = labels["errors"]
        self.assertEqual(error["metric"], "character error rate")
        self.assertAlmostEqual(error["first"], 1 / 7)  # one edit in 7 symbols
        self.assertAlmostEqual(error["second"], 2 / 7)
        self.assertAlmostEqual(error["rise"], 1 / 7)
        self.assertLessEqual(error["rise_low"], 1 / 7)
        self.assertGreaterEqual(error["rise_high"], 1 / 7)

    def test_texts_and_their_edits(self):
        words = ["--max-flip-rate", "1"]
        labels = self.lines([1, 2, 3], [2, 2], {"label": [4, 4]})
        self.check(self.judged(self.A, self.B, "y:ctc", labels, *words, code=0))
        self.says("labels: exact texts 66.7 % (95 % interval ", "1 right to wrong",
                  "character error rate 0.1429 (95 % interval ", ", a rise of 0.143")
        np.save(self.path("labels.npy"), np.array([[1, 2, 3], [2, 2, 0], [4, 4, 0]]))
        self.check(self.judged(self.A, self.B, "y:ctc", "labels.npy", *words, code=0))
        turned = [side.transpose(1, 0, 2) for side in (self.A, self.B)]
        self.check(self.judged(*turned, "y:ctc,time=0", labels, *words, code=0))
        self.judged(self.A, self.B, "y:ctc", labels, "--max-drop", "0.1", code=1)
        self.says("--max-drop 0.1: ctc of 'y' drops by 33.3 points (10 allowed), failed")

    def test_long_texts_are_read_whole(self):
        path = [1 + i % 2 for i in range(200)]
        a, b = steps_of([path]), steps_of([path[:-1] + [0]])
        labels = self.judged(a, b, "y:ctc", self.lines(path), "--max-flip-rate", "1", code=0)
        self.assertEqual((labels["first"], labels["second"]), (1, 0))
        self.assertEqual([labels["errors"][0][side] for side in ("first", "second")], [0, 1 / 200])

    def test_labels_without_a_symbol_have_no_error_rate(self):
        labels = self.judged(self.A, self.B, "y:ctc", self.lines([], [], []), code=1)
        self.assertEqual((labels["first"], labels["second"]), (0, 0))
        self.assertNotIn("errors", labels)
        # Draws that lack the sample with the symbol have no error rate either.
        labels = self.judged(self.A, self.B, "y:ctc", self.lines([], [], [1]), code=1)
        self.assertGreater(labels["errors"][0]["first_low"], 0)

    def test_nan_reads_nothing(self):
        b = self.A.copy()
        b[0, 0, 0] = np.nan
        labels = self.judged(self.A, b, "y:ctc", self.lines([1, 2, 3], [2, 2], [4]), code=1)
        self.assertEqual(labels["right_to_wrong"], 1)
        self.assertAlmostEqual(labels["errors"][0]["second"], 3 / 6)

    def test_what_is_no_text(self):
        self.judged(self.A, self.A, "y:ctc", self.lines([1, 9], [2], [4]), code=4)
        self.says("has the symbol 9, beyond the 5 classes of the output")
        self.judged(self.A, self.A, "y:ctc", self.lines([1], [2]), code=4)
        self.says("2 labels for 3 samples")

    def test_labels_of_classes_are_not_those_of_texts(self):
        """Labels without an output go to classes where there are some."""
        rows = self.A[:, 0]
        np.save(self.path("labels.npy"), rows.argmax(1))
        pair = self.compare([{"y": rows}], [{"y": rows}], "--decision", "top1", "regression=1",
                            "--labels", "labels.npy", code=0)
        self.assertEqual(["labels" in one for one in pair["decisions"]], [True, False])

    def test_saved_texts_need_no_name(self):
        self.compare([{"y": self.A}], [{"y": self.B}], "--decision", "y:ctc", "--save-rows",
                     "rows.jsonl", code=1)
        for last, code, sentence in ((4, 0, "labels: exact texts 100 %"),
                                     (5, 4, "has the symbol 5, beyond the 5 classes")):
            self.ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-drop", "0.5",
                                      "--labels", self.lines([1, 2, 3], [2, 2], [last]))
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
            self.says(sentence)


class Numbers(Errors):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(25)
        self.right = rng.normal(size=(40, 3))
        self.a = (self.right + rng.normal(0, 0.1, (40, 3))).astype(np.float32)
        self.b = (self.right + rng.normal(0, 0.2, (40, 3))).astype(np.float32)
        np.save(self.path("labels.npy"), self.right)

    def figures(self, side):
        apart = np.abs(side.astype(float) - self.right)
        return apart.mean(1), (apart ** 2).mean(1)

    def test_errors_of_both_sides_as_numpy_has_them(self):
        labels = self.judged(self.a, self.b, "y:regression=5", "labels.npy", "--max-flip-rate",
                             "1", code=0)
        (a, a2), (b, b2) = self.figures(self.a), self.figures(self.b)
        self.assertEqual((labels["metric"], labels["samples"]), ("mean absolute error", 40))
        drawn = np.random.default_rng(1).integers(0, 40, (10000, 40))
        wanted = {"first": a.mean(), "second": b.mean(), "drop": b.mean() - a.mean()}
        draws = {"first": a[drawn].mean(1), "second": b[drawn].mean(1)}
        draws["drop"] = draws["second"] - draws["first"]
        for key, value in wanted.items():
            low, high = np.quantile(draws[key], [0.025, 0.975])
            np.testing.assert_allclose([labels[key], labels[f"{key}_low"], labels[f"{key}_high"]],
                                       [value, low, high], 0, 1e-12)
        (rmse,) = labels["errors"]
        self.assertEqual(rmse["metric"], "RMSE")
        roots = [np.sqrt(side[drawn].mean(1)) for side in (a2, b2)]
        low, high = np.quantile(roots[1] - roots[0], [0.025, 0.975])
        np.testing.assert_allclose(
            [rmse["first"], rmse["second"], rmse["rise_low"], rmse["rise_high"]],
            [np.sqrt(a2.mean()), np.sqrt(b2.mean()), low, high], 0, 1e-12)
        self.says("labels: mean absolute error ", "; RMSE ", ", a rise of ")

    def test_numbers_in_another_shape_are_refused(self):
        right = np.random.default_rng(3).normal(size=(6, 4, 5))
        a = right.astype(np.float32)
        for labels, code in ((right, 0), (right.reshape(6, 20), 0), (right[:, None], 0),
                             (right.transpose(0, 2, 1), 4)):
            np.save(self.path("labels.npy"), labels)
            self.judged(a, a, "y:regression=5", "labels.npy", "--max-drop", "1", code=code)
        self.says("has the shape (5, 4), and a sample of the output (4, 5): give it in that shape")

    def test_a_gate_in_units_of_the_output(self):
        words = ["y:regression=5", "labels.npy"]
        self.judged(self.a, self.b, *words, "--max-drop", "0.01", code=1)
        self.says("--max-drop 0.01: regression=5 of 'y' rises by ", " in its error (0.01 allowed), "
                  "failed")
        self.judged(self.a, self.b, *words, "--max-drop", "0.5", code=0)
        self.judged(self.a, self.b, *words, "--max-drop", "0.1", "--drop-type", "relative", code=1)
        self.says(" % of the reference's error (10 % allowed), failed")
        self.judged(self.b, self.a, *words, "--max-drop", "0", code=0)

    def test_what_cannot_be_measured_is_no_pass(self):
        self.b[7, 1] = np.nan
        self.judged(self.a, self.b, "y:regression=5", "labels.npy", "--max-flip-rate", "1", code=4)
        self.says("the label of sample 7 of iteration 0 cannot be compared with an output of nan")
        self.judged(self.a[:, :2], self.a[:, :2], "y:regression=5", "labels.npy", code=4)
        self.says("has 3 values, and 'regression=5' decides about 2")


if __name__ == "__main__":
    unittest.main()
