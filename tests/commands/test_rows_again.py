"""check accuracy on rows: nothing that the run left out, or that the rows lack, reads as a pass."""

import json
import unittest

import numpy as np

from decision_case import CLASSES, Decisions, ImagesOfClasses, flipped, scores

RIGHT = np.arange(1000) % CLASSES  # of scores(1000), all of which are right


class SavedRows(Decisions):
    def labels(self, values, name="labels.npy"):
        np.save(self.path(name), values)
        return name

    def check(self, *words, code):
        self.ended = self.vernier("check", "accuracy", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)

    def lines(self, name="rows.jsonl"):
        return [json.loads(line) for line in self.path(name).read_text().splitlines()]

    def write(self, rows, name="rows.jsonl"):
        self.path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


class LabelsOfSomeOutputs(SavedRows):
    def setUp(self):
        super().setUp()
        a = scores(200)
        self.labels(RIGHT[:200])
        self.compare([{"y": a, "z": a}], [{"y": a, "z": flipped(a, *range(100))}], "--decision",
                     "top1", "--labels", "labels.npy", "--save-rows", "rows.jsonl", code=1)

    def test_other_outputs_keep_the_labels_of_the_rows(self):
        self.check("rows.jsonl", "--max-drop", "0.01", "--labels", "y:labels.npy", code=1)
        self.says("FAILED | a vs. b: --max-drop 0.01: top1 of 'z' drops by 50 points",
                  "top1 of 'y' drops by 0 points")

    def test_labels_of_an_output_without_a_decision_are_missed(self):
        self.check("rows.jsonl", "--max-flip-rate", "0.9", "--labels", "w:labels.npy", code=4)
        self.says("--labels w:labels.npy: 'rows.jsonl' has no decision that they are for")


class IncompleteRuns(SavedRows):
    A = [{"y": scores(50, seed)} for seed in range(3)]

    def test_iterations_that_are_missing(self):
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare(self.A, self.A[:2], "--decision", "top1", "--save-rows", rows, code=4)
            self.check(rows, "--max-flip-rate", "0.5", code=4)
            self.says(f"'{rows}' is of a run that was not complete: a vs. b: only 2 of 3 "
                      "iterations could be compared")
            self.assertNotIn("PASSED", self.ended.out)
        self.assertEqual([len(row.get("not_done", [])) for row in self.lines()], [0, 1])
        with np.load(self.path("rows.npz")) as columns:
            self.assertEqual(columns["not_done"].shape, (1,))
            self.assertEqual(columns["index"].tolist(), [0, 1])

    def test_rows_of_whole_runs_pass(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.jsonl", code=0)
        self.assertNotIn("not_done", self.lines()[-1])
        self.assertEqual([row.get("row_count") for row in self.lines()], [None, None, 3])
        self.check("rows.jsonl", "--max-flip-rate", "0.5", code=0)
        self.says("PASSED | a vs. b: --max-flip-rate 0.5: top1 of 'y'")

    def test_a_file_that_was_cut_off_behind_a_row_is_missed(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.jsonl", code=0)
        whole = self.path("rows.jsonl").read_text().splitlines(keepends=True)
        for count, words in ((1, "1 row"), (2, "2 rows")):
            self.path("cut.jsonl").write_text("".join(whole[:count]))
            self.check("cut.jsonl", "--max-flip-rate", "0.5", code=4)
            self.says(f"'cut.jsonl' ends after {words}, of which the last does not say how many "
                      "there were ('row_count'): the file was cut off")
            self.assertNotIn("PASSED", self.ended.out)

    def test_rows_that_were_taken_out_or_put_in_are_missed(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.jsonl", code=0)
        rows = self.lines()
        self.write(rows[:1] + rows[2:], "less.jsonl")
        self.check("less.jsonl", "--max-flip-rate", "0.5", code=4)
        self.says("'less.jsonl' has 2 rows, and 3 were saved: rows were removed or added")
        self.write([rows[0], rows[1], {**rows[1], "index": 2}, {**rows[2], "index": 3}],
                   "more.jsonl")
        self.check("more.jsonl", "--max-flip-rate", "0.5", code=4)
        self.says("'more.jsonl' has 4 rows, and 3 were saved: rows were removed or added")
        self.compare(self.A[:1], self.A[:1], "--decision", "top1", "--save-rows", "one.jsonl",
                     code=0)
        # Rows of another pair behind them: each run says how many it has.
        other = [{**row, "pair": "c vs. b"} for row in self.lines("one.jsonl")]
        renamed = [{key.replace("a/", "c/", 1): value for key, value in row.items()}
                   for row in other]
        self.write(self.lines("one.jsonl") + renamed, "two.jsonl")
        self.check("two.jsonl", "--max-flip-rate", "0.5", code=0)

    def test_a_run_without_rows_says_whose_the_file_is(self):
        for _ in range(2):
            self.compare(self.A, [], "--decision", "top1", "--save-rows", "none.jsonl", code=4)
            self.says("--save-rows: no iteration was compared, and 'none.jsonl' was not written")
        self.assertNotIn("earlier run", self.ended.out)
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.jsonl", code=0)
        self.compare(self.A, [], "--decision", "top1", "--save-rows", "rows.jsonl", code=4)
        self.says("'rows.jsonl' was not written; what it holds is of an earlier run")

    def test_a_run_that_was_ended_early(self):
        b = [{"y": flipped(self.A[0]["y"], 1)}, *self.A[1:]]
        self.compare(self.A, b, "--decision", "top1", "--fail-fast", "--save-rows", "rows.jsonl",
                     code=1)
        self.check("rows.jsonl", "--max-flip-rate", "0.5", code=4)
        self.says("a vs. b: the comparison ended early, after 1 of 3 iterations")

    def test_a_gate_that_was_not_held_is_no_fault_of_the_rows(self):
        one = [{"y": scores(10)}]
        self.compare(one, one, "--decision", "top1", "--max-flip-rate", "0.01", "--strict",
                     "--save-rows", "rows.jsonl", code=4)
        self.check("rows.jsonl", "--max-flip-rate", "0.01", code=0)
        self.says("passed but undecided")
        self.check("rows.jsonl", "--max-flip-rate", "0.01", "--strict", code=4)
        self.says("--strict: a vs. b: --max-flip-rate 0.01: top1 of 'y'")
        self.check("rows.jsonl", "--max-flip-rate", "0.9", "--strict", code=0)

    def test_labels_that_did_not_fit_are_missed_until_others_are_given(self):
        one = [{"y": scores(10)}]
        self.compare(one, one, "--decision", "top1", "--labels", self.labels(RIGHT[:11]),
                     "--save-rows", "rows.jsonl", code=4)
        self.check("rows.jsonl", "--max-drop", "0.9", code=4)
        self.says("'rows.jsonl' has labels that did not fit", "11 labels for 10 samples")
        self.check("rows.jsonl", "--max-drop", "0.9", "--labels", self.labels(RIGHT[:10]), code=0)


class SkippedImages(ImagesOfClasses, SavedRows):
    RIGHT = np.repeat(np.arange(3), 3)

    def setUp(self):
        super().setUp()
        for damaged in ("a_red/1.png", "c_blue/2.png"):
            (self.path("images") / damaged).write_bytes(b"\x89PNG\r\n\x1a\nno more")

    def run_images(self, *words, code):
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "again=onnxrt m.onnx",
                                  "--load-inputs", "images/*/*.png", "--decision", "y:top1", *words,
                                  "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0]

    def test_they_are_missed_afterwards(self):
        for rows in ("rows.jsonl", "rows.npz"):
            self.run_images("--save-rows", rows, code=4)
            self.check(rows, "--max-flip-rate", "0.9", code=4)
            self.says("is of a run that was not complete: --load-inputs: 2 of 9 images could not "
                      "be read and were skipped: 'images/a_red/1.png', 'images/c_blue/2.png'")
            self.says("(--lenient of that run accepts that)")

    def test_labels_stay_with_their_images(self):
        self.labels(self.RIGHT)
        np.savez(self.path("labels.npz"), *self.RIGHT[:, None])
        self.path("labels.txt").write_text("".join(f"{n}\n" for n in self.RIGHT))
        for name in ("labels.npy", "labels.npz", "labels.txt"):
            labels = self.run_images("--lenient", "--labels", name, code=0)["labels"]
            self.assertEqual((labels["samples"], labels["both_right"]), (7, 7), name)
        self.run_images("--lenient", "--labels", self.labels(self.RIGHT[:7]), code=4)
        self.says("7 labels for 9 samples")

    def test_rows_know_their_images(self):
        self.labels(self.RIGHT)
        for rows in ("rows.jsonl", "rows.npz"):
            self.run_images("--lenient", "--save-rows", rows, code=0)
            for labels in ("labels.npy", "folder"):
                self.check(rows, "--labels", labels, "--max-drop", "0.9", code=0)
                self.says("labels: top-1 accuracy 100 %")
        self.assertEqual([row["index"] for row in self.lines()], list(range(7)))
        self.assertEqual([row["input_index"] for row in self.lines()], [0, 2, 3, 4, 5, 6, 7])
        self.assertEqual(self.lines()[1]["input_name"], "images/a_red/2.png")
        self.assertEqual({row["input_count"] for row in self.lines()}, {9})

    def test_a_folder_of_folders_is_named(self):
        for words in ((), ("--preprocess", "scale=1/255")):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "images", *words)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("--load-inputs: 'images' holds no images, and its folders do: give "
                          "'images/*/'", ended.err)

    def test_folders_need_images(self):
        one = [{"y": scores(10)}]
        self.compare(one, one, "--decision", "top1", "--save-rows", "rows.jsonl", code=0)
        self.check("rows.jsonl", "--labels", "folder", "--max-drop", "0.9", code=3)
        self.says("--labels folder: 'rows.jsonl' does not say which images the run was fed")


class DamagedRows(SavedRows):
    A = [{"y": scores(3, seed)} for seed in range(3)]

    def damaged(self, column, change):
        self.compare(self.A, self.A, "--decision", "top1", "--labels",
                     self.labels(np.tile(RIGHT[:3], 3)), "--save-rows", "rows.jsonl", code=0)
        rows = self.lines()
        change(rows[1][column])
        self.write(rows)

    def test_every_list_has_a_value_for_each_sample(self):
        for column in ("y/flip", "y/near_tie", "y/similarity", "a/y/decision", "b/y/margin",
                       "label", "a/y/score"):
            self.damaged(column, list.pop)
            self.check("rows.jsonl", "--max-flip-rate", "0.9", code=3)
            self.says("'rows.jsonl', line 2: 'y/flip' has ", f"'{column}' has 2 values"
                      if column == "y/flip" else f"'{column}' has 2")

    def test_arrays_with_a_hole(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.npz", code=0)
        with np.load(self.path("rows.npz")) as columns:
            arrays = dict(columns)
        arrays["y/flip"][1, 2] = ""
        np.savez(self.path("rows.npz"), **arrays)
        self.check("rows.npz", "--max-flip-rate", "0.9", code=3)
        self.says("'rows.npz', row 2: 'y/flip' has 2 values, and 'y/samples' says 3")

    def test_scores_that_cannot_be(self):
        for score in (-50, 1.5):
            self.damaged("a/y/score", lambda scores, score=score: scores.__setitem__(1, score))
            self.check("rows.jsonl", "--max-drop", "0.9", code=3)
            self.says(f"line 2: 'a/y/score' or 'b/y/score': {score} is not a score, which is from "
                      "0 to 1")
        # A sample a row is read another way.
        a = scores(3)
        self.compare([{"y": a[i:i + 1]} for i in range(3)], [{"y": a[i:i + 1]} for i in range(3)],
                     "--decision", "top1", "--labels", self.labels(RIGHT[:3]), "--save-rows",
                     "rows.jsonl", code=0)
        text = self.path("rows.jsonl").read_text()
        self.path("rows.jsonl").write_text(text.replace('"b/y/score":1.0', '"b/y/score":2.0', 1))
        self.check("rows.jsonl", "--max-drop", "0.9", code=3)
        self.says("line 1: 'a/y/score' or 'b/y/score': 2 is not a score")

    def test_places_of_images_that_cannot_be(self):
        self.damaged("y/flip", len)
        rows = self.lines()
        rows[1].update(input_name="a.png", input_index=1 << 60, input_count=2)
        self.write(rows)
        self.check("rows.jsonl", "--max-flip-rate", "0.9", code=3)
        self.says("line 2: 'input_index' 1152921504606846976 is no place of iteration 1")


class Words(SavedRows):
    def test_nothing_right_cannot_drop(self):
        a = scores(100)
        wrong = self.labels((RIGHT[:100] + 1) % CLASSES)
        for b in (a, flipped(a, *range(50))):
            self.compare([{"y": a}], [{"y": b}], "--decision", "y:top1", "--labels", wrong,
                         "--max-drop", "0.01", code=4)
            self.says("top1 of 'y' has no labelled sample that the reference has right, so that "
                      "nothing could drop")

    def test_gates_are_for_decisions(self):
        a = scores(200)
        b = flipped(a, *range(20))
        words = ["--decision", "y:top1", "y:top3", "--max-flip-rate"]
        self.compare([{"y": a}], [{"y": b}], *words, "y:top1:0.05", code=1)
        self.says("--max-flip-rate 0.05: top1 of 'y' differs in 10 %")
        self.compare([{"y": a}], [{"y": b}], *words, "top1:0.5", "--save-rows", "rows.jsonl",
                     code=0)
        for gate in ("top1:0.05", "y:top1:0.05", "y:0.05"):
            self.check("rows.jsonl", "--max-flip-rate", gate, code=1)
        self.check("rows.jsonl", "--max-flip-rate", "top1:0.5", code=0)
        self.check("rows.jsonl", "--max-flip-rate", "top5:0.5", code=4)
        self.says("--max-flip-rate top5: 'rows.jsonl' has no decision about that output (expected "
                  "[OUTPUT:]R, KIND:R or OUTPUT:KIND:R, as logits:top1:0.01)")

    def test_one_decision_under_two_names(self):
        one = [{"y": scores(10)}]
        self.compare(one, one, "--decision", "top1", "y:top1", code=4)
        self.says("--decision top1: nothing was decided: no other output fits, and y:top1 is given "
                  "as well: leave one of the two out")

    def test_which_rule_told_near_ties(self):
        a = scores(100)
        b = flipped(a, *range(10))
        self.compare([{"y": a}], [{"y": b}], "--decision", "y:top1", "--save-rows", "rows.jsonl",
                     code=1)
        self.says("10 flips: 10 clear, 0 near ties by the noise of the other values")
        self.compare([{"y": a}], [{"y": b}], "--decision", "y:top1", "--near-tie", "9", code=1)
        self.says("10 flips: 0 clear, 10 near ties by --near-tie 9")
        self.check("rows.jsonl", "--max-flip-rate", "0.5", "--near-tie", "9", code=0)
        self.says("10 near ties by --near-tie 9")
        self.check("rows.jsonl", "--max-flip-rate", "0.5", code=0)
        self.says("0 near ties by the limits that the rows have")

    def test_classes_have_names(self):
        a = scores(4)
        self.path("names.txt").write_text("".join(f"number {n}\n" for n in range(20)))
        words = ["--decision", "y:top1", "--class-names", "names.txt"]
        pair = self.compare([{"y": a}], [{"y": flipped(a, 1, 2)}], *words, "--save-rows",
                            "rows.jsonl", code=1)
        self.says("'number 1 (1)' by ", "against 'number 2 (2)' by ",
                  "against 'number 3 (3)' by ")
        self.assertEqual({flip["first"] for flip in pair["decisions"][0]["worst"]},
                         {"number 1 (1)", "number 2 (2)"})
        self.assertEqual(self.lines()[0]["a/y/decision"], ["0", "1", "2", "3"])
        self.path("names.txt").write_text("a\n\nb\n")
        self.compare([{"y": a}], [{"y": a}], *words, code=3)
        self.says("--class-names: 'names.txt', line 2: is empty")

    def test_rows_have_and_a_row_has(self):
        a = scores(4)
        left, right = [{"y": a}] * 3, [{"y": a}, {"y": a}, {"y": a[:2]}]
        self.compare(left, right, "--decision", "y:top1", "--save-rows", "rows.jsonl", code=1)
        self.check("rows.jsonl", "--max-flip-rate", "0.9", code=4)
        self.says("not everything was decided, only 2 of 3 rows have it")


class LabelLines(SavedRows):
    WORDS = ("--decision", "y:top1", "--labels")

    def judge(self, text, name, *sentences, code):
        self.path(name).write_text(text)
        one = [{"y": scores(3)}]
        self.compare(one, one, *self.WORDS, name, code=code)
        self.says(*sentences)

    def test_empty_lines_at_the_end_are_no_labels(self):
        for name in ("labels.txt", "labels.jsonl"):
            for end in ("\n", "\n\n", "\r\n \n"):
                self.judge("0\n1\n2" + end, name, "top-1 accuracy 100 %", code=0)

    def test_empty_lines_between_labels_are_faults(self):
        self.judge("0\n\n2\n", "labels.jsonl", "'labels.jsonl', line 2: is empty", code=3)
        self.judge("0\n\n2\n", "labels.txt", "the label of sample 1 of iteration 0 (line 2) has 0 "
                   "values, and 'top1' needs one class", code=4)

    def test_a_set_without_a_class_may_be_last(self):
        a = np.array([[0.9, 0.1], [0.1, 0.2]], np.float32)
        self.path("labels.txt").write_text("0\n\n")
        pair = self.compare([{"y": a}], [{"y": a}], "--decision", "threshold=0.5", "--labels",
                            "labels.txt", code=0)
        self.assertEqual(pair["decisions"][0]["labels"]["both_right"], 2)

    def test_large_integers_are_exact_or_refused(self):
        self.judge("9007199254740993\n1\n2\n", "labels.jsonl", "is 9007199254740993, beyond the 20 "
                   "classes", code=4)
        self.judge("18446744073709551616\n1\n2\n", "labels.jsonl", "line 1: expected a class",
                   code=3)
        one = [{"y": scores(3)}]
        self.compare(one, one, *self.WORDS, self.labels(np.array([(1 << 53) + 1, 1, 2])), code=4)
        self.says("and no class")


if __name__ == "__main__":
    unittest.main()
