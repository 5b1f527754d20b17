"""check accuracy on rows that somebody changed: what contradicts itself is refused, what lacks rows
is no pass, and --decision selects."""

import json
import unittest

import numpy as np

from decision_case import CLASSES, flipped, scores
from test_rows_again import RIGHT, SavedRows


class EditedRows(SavedRows):
    """Rows with a sample each, and with several: they are read another way."""

    def setUp(self):
        super().setUp()
        a = scores(8)
        b = flipped(a, 2)
        labels = self.labels(RIGHT[:8])
        self.words = ["--decision", "y:top1", "--labels", labels]
        self.whole = ([{"y": a}], [{"y": b}])
        self.single = ([{"y": a[i:i + 1]} for i in range(8)], [{"y": b[i:i + 1]} for i in range(8)])

    def edited(self, column, value, gate, says):
        for sides, line, sample in ((self.single, 3, ""), (self.whole, 1, " (sample 2)")):
            for rows in ("rows.jsonl", "rows.npz"):
                self.compare(*sides, *self.words, "--save-rows", rows, code=1)
                self.check(rows, *gate, code=1)
                self.change(rows, column, value, single=sides is self.single)
                self.check(rows, *gate, code=3)
                noun = "line" if rows == "rows.jsonl" else "row"
                self.says(f"'{rows}', {noun} {line}: {says}", sample)

    def change(self, rows, column, value, single):
        if rows == "rows.npz":
            with np.load(self.path(rows)) as columns:
                arrays = dict(columns)
            if isinstance(value, str):
                arrays[column] = arrays[column].astype("U16")
            else:
                arrays[column] = arrays[column].astype(float)
            if single:
                arrays[column][2] = value
            else:
                arrays[column][0, 2] = value
            np.savez(self.path(rows), **arrays)
            return
        lines = self.lines(rows)
        if single:
            lines[2][column] = value
            # As rows are written: such lines are read without a parser.
            text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
            self.path(rows).write_text(text)
            return
        lines[0][column][2] = value
        self.write(lines, rows)

    def test_a_verdict_that_is_none(self):
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare(*self.single, *self.words, "--save-rows", rows, code=1)
            self.change(rows, "y/verdict", "Failed", single=True)
            self.check(rows, "--max-flip-rate", "0.9", code=3)
            self.says("3: 'y/verdict' is not a verdict (passed, failed, not verified): 'Failed'")

    def test_samples_that_were_cut_out_are_missed(self):
        self.compare(*self.whole, *self.words, "--save-rows", "rows.npz", code=1)
        with np.load(self.path("rows.npz")) as columns:
            arrays = dict(columns)
        for left in (5, 1):
            np.savez(self.path("cut.npz"), **{name: array[:, :left] if array.ndim == 2 else array
                                              for name, array in arrays.items()})
            self.check("cut.npz", "--max-flip-rate", "0.9", code=3)
            self.says(f"'cut.npz', row 1: 'y/flip' has {left} value", "and 'y/samples' says 8")
        self.compare(*self.whole, *self.words, "--save-rows", "rows.jsonl", code=1)
        (line,) = self.lines()
        self.assertEqual(line["y/samples"], 8)
        self.write([{name: value[0] if isinstance(value, list) else value
                     for name, value in line.items()}])
        self.check("rows.jsonl", "--max-flip-rate", "0.9", code=3)
        self.says("'y/flip' has 1 value, and 'y/samples' says 8")

    def test_no_samples_are_none(self):
        for rows in ("rows.jsonl", "rows.npz"):
            self.compare(*self.whole, *self.words, "--save-rows", rows, code=1)
            if rows == "rows.npz":
                with np.load(self.path(rows)) as columns:
                    np.savez(self.path(rows), **{**columns, "y/samples": [0]})
            else:
                (line,) = self.lines()
                self.write([{**line, "y/samples": 0}])
            self.check(rows, "--max-flip-rate", "0.9", code=3)
            self.says("'y/flip' has 8 values, and 'y/samples' says 0")

    def test_a_margin_below_zero(self):
        self.edited("a/y/margin", -1, ["--max-flip-rate", "0"],
                    "'a/y/margin' is -1, and no margin is below 0")

    def test_what_failed_by_its_elements_is_said(self):
        for rows in ("rows.jsonl", "rows.npz"):
            for sides in (self.single, self.whole):
                sides = [[one | {"a/b": np.full((2, 2), i, np.float32)} for one in side]
                         for i, side in enumerate(sides)]
                self.compare(*sides, "--decision", "y:top1", "--max-flip-rate", "1", "--save-rows",
                             rows, code=1)
                self.check(rows, "--max-flip-rate", "1", code=0)
                count = len(sides[0])
                self.says("decisions alone are checked again, and by their elements output 'a/b' "
                          f"failed in {count} of {count} row")

    def test_outputs_may_be_called_as_in_columns(self):
        sides = [[{"a/b": one["y"]} for one in side] for side in self.single]
        self.compare(*sides, "--decision", "top1", "--save-rows", "rows.jsonl", code=1)
        for name in ("a/b", "a%2Fb", "a%2Fb:top1"):
            self.check("rows.jsonl", "--max-flip-rate", f"{name}:0.9", code=0)
        self.check("rows.jsonl", "--max-flip-rate", "a%2Fc:0.9", code=4)

    def test_a_flip_beside_decisions_that_differ(self):
        self.edited("y/flip", "none", ["--max-flip-rate", "0"],
                    "'y/flip' is 'none', and the sides decided '2' and '3'")

    def test_a_near_tie_beside_its_margin(self):
        self.edited("y/flip", "near tie", ["--max-clear-flips", "0"],
                    "'y/flip' is 'near tie', and 'a/y/margin' is ")

    def test_a_decision_beside_its_flip(self):
        self.edited("b/y/decision", "2", ["--max-flip-rate", "0"],
                    "'y/flip' is 'clear', and both sides decided '2'")

    def test_a_score_beside_decision_and_label(self):
        self.edited("b/y/score", 1.0, ["--max-drop", "0"],
                    "'b/y/score' is 1, which the decision '3' does not have by the label '2'")

    def test_classes_that_the_output_does_not_have(self):
        self.edited("label", "99", ["--max-drop", "0"],
                    f"'label' is '99', and the output has {CLASSES} classes, counted from 0")

    def test_a_similarity_that_is_none(self):
        self.edited("y/similarity", 5.0, ["--max-flip-rate", "0"],
                    "'y/similarity' is 5, which is from 0 to 1")

    def test_what_was_not_done_is_a_list_of_texts(self):
        self.compare(*self.single, *self.words, "--save-rows", "rows.jsonl", code=1)
        for said in ("x", ["x", 3], {"x": 1}, 7):
            rows = self.lines()
            rows[-1]["not_done"] = said
            self.write(rows, "said.jsonl")
            self.check("said.jsonl", "--max-flip-rate", "0.9", code=3)
            self.says("'said.jsonl', line 8: 'not_done' is not a list of texts: ")
        self.compare(*self.single, *self.words, "--save-rows", "rows.npz", code=1)
        with np.load(self.path("rows.npz")) as columns:
            np.savez(self.path("said.npz"), **columns, not_done=np.arange(8))
        self.check("said.npz", "--max-flip-rate", "0.9", code=3)
        self.says("'not_done' is not a column of rows: int64 (8,)")


class CountedArrays(SavedRows):
    A = [{"y": scores(1, seed)} for seed in range(4)]

    def rows(self, name="rows.npz"):
        with np.load(self.path(name)) as columns:
            return dict(columns)

    def save(self, name, columns):
        np.savez(self.path(name), **columns)
        return name

    def test_rows_that_numpy_cut_are_missed(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.npz", code=0)
        rows = self.rows()
        self.assertEqual(rows["row_count"].tolist(), [0, 0, 0, 4])
        self.check("rows.npz", "--max-flip-rate", "0.9", code=0)
        self.check(self.save("cut.npz", {k: v[:2] for k, v in rows.items()}), "--max-flip-rate",
                   "0.9", code=4)
        self.says("'cut.npz' ends after 2 rows, of which the last does not say how many there "
                  "were ('row_count')")
        self.assertNotIn("PASSED", self.ended.out)
        old = {k: v for k, v in rows.items() if k != "row_count"}
        self.check(self.save("old.npz", old), "--max-flip-rate", "0.9", code=4)
        self.says("or an earlier version saved it")

    def test_a_pair_that_was_taken_out_is_missed(self):
        for name in "abc":
            self.save_runs(f"{name}.json", [(name, self.A)])
        ended = self.vernier("compare", "a.json", "b.json", "c.json", "--decision", "top1",
                             "--save-rows", "rows.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        rows = self.rows()
        for pair, says in (("b vs. c", "'one.npz' has 4 rows, and 8 were saved"),
                           ("a vs. b", "'one.npz' ends after 4 rows")):
            one = {k: v[rows["pair"] == pair] for k, v in rows.items()}
            self.check(self.save("one.npz", one), "--max-flip-rate", "0.9", code=4)
            self.says(says)

    def test_rows_of_several_runs_are_joined_by_numpy(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.npz", code=0)
        first = self.rows()
        second = {k: v.copy() for k, v in first.items()}
        second["index"] += 4
        both = {k: np.concatenate([first[k], second[k]]) for k in first}
        self.check(self.save("both.npz", both), "--max-flip-rate", "0.9", code=0)
        self.says("8 of 8 samples agree")

    def test_a_count_that_is_none(self):
        self.compare(self.A, self.A, "--decision", "top1", "--save-rows", "rows.npz", code=0)
        self.check(self.save("odd.npz", self.rows() | {"row_count": np.array(["4"] * 4)}),
                   "--max-flip-rate", "0.9", code=3)
        self.says("'row_count' is not a column of rows")


class RowsOfShards(SavedRows):
    A = [{"y": scores(1, seed)} for seed in range(6)]

    def shards(self, extension, second=A):
        self.save_runs("a.json", [("a", self.A)])
        self.save_runs("b.json", [("b", second)])
        for number in (1, 2):
            ended = self.vernier("compare", "a.json", "b.json", "--decision", "top1",
                                 "--max-flip-rate", "0.3", "--shard", f"{number}/2", "--save-rows",
                                 f"r.{extension}", "--save-record", "r.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        return [self.path(f"r.shard-000{number}-of-0002.{extension}") for number in (1, 2)]

    def test_one_alone_is_no_run(self):
        for extension in ("jsonl", "npz"):
            first, _ = self.shards(extension)
            self.check(first.name, "--max-flip-rate", "0.9", code=4)
            self.says(f"'{first.name}' has the rows of shard 1 of 2 alone, and gates are about all "
                      "samples: join the rows of all shards")
            self.assertNotIn("PASSED", self.ended.out)

    def test_all_of_them_are(self):
        first, second = self.shards("jsonl")
        self.path("all.jsonl").write_text(first.read_text() + second.read_text())
        self.check("all.jsonl", "--max-flip-rate", "0.9", code=0)
        self.says("6 of 6 samples agree")
        first, second = (dict(np.load(shard)) for shard in self.shards("npz"))
        np.savez(self.path("all.npz"), **{k: np.concatenate([first[k], second[k]]) for k in first})
        self.check("all.npz", "--max-flip-rate", "0.9", code=0)
        ended = self.vernier("merge", "r.json", "--save-rows", "merged.jsonl")
        if ended.code == 0:
            self.check("merged.jsonl", "--max-flip-rate", "0.9", code=0)

    def test_shards_of_different_runs_are_no_run(self):
        for extension in ("jsonl", "npz"):
            first = self.shards(extension)[0].rename(self.path(f"first.{extension}"))
            other = self.shards(extension, [{"y": scores(1, seed + 9)} for seed in range(6)])[1]
            if extension == "jsonl":
                self.path("both.jsonl").write_text(first.read_text() + other.read_text())
            else:
                rows = [dict(np.load(one)) for one in (first, other)]
                np.savez(self.path("both.npz"),
                         **{k: np.concatenate([one[k] for one in rows]) for k in rows[0]})
            self.check(f"both.{extension}", "--max-flip-rate", "1", code=4)
            self.says(f"'both.{extension}' has shards of several runs: their models, options or "
                      "labels differ, and gates are about all samples of one run")

    def test_a_shard_that_is_none(self):
        first, _ = self.shards("jsonl")
        for said in ("3/2", "x", 5):
            rows = self.lines(first.name)
            rows[-1]["shard"] = said
            self.write(rows, "odd.jsonl")
            self.check("odd.jsonl", "--max-flip-rate", "0.9", code=3)
            self.says("'odd.jsonl', line 3: 'shard' is not K/N: '")


class SelectedDecisions(SavedRows):
    def setUp(self):
        super().setUp()
        a = scores(100)
        b = flipped(a, *range(10))
        self.labels(RIGHT[:100])
        self.compare([{"y": a, "z": a}], [{"y": b, "z": a}], "--decision", "y:top1", "y:top3",
                     "z:top1", "--labels", "labels.npy", "--save-rows", "rows.jsonl", code=1)

    def test_only_these_are_judged(self):
        gate = ["--max-flip-rate", "0.05"]
        self.check("rows.jsonl", *gate, code=1)
        self.check("rows.jsonl", *gate, "--decision", "z:top1", code=0)
        self.says("PASSED | a vs. b: --max-flip-rate 0.05: top1 of 'z'")
        self.assertNotIn("of 'y'", self.ended.out)
        self.check("rows.jsonl", *gate, "--decision", "top1", code=1)
        self.says("top1 of 'y'", "top1 of 'z'")
        self.assertNotIn("top3", self.ended.out.split("Loading rows", 1)[1])
        self.check("rows.jsonl", "--decision", "z:top1", "--labels", "labels.npy", "--max-drop",
                   "0.01", code=0)

    def test_a_name_that_the_rows_do_not_have(self):
        self.check("rows.jsonl", "--max-flip-rate", "0.9", "--decision", "y:top2", code=2)
        self.says("--decision y:top2: 'rows.jsonl' has no such decision; beside those that are "
                  "named it has top1 of 'y', top1 of 'z', top3 of 'y'")
        self.assertNotIn("PASSED", self.ended.out)


if __name__ == "__main__":
    unittest.main()
