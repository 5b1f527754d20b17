"""--save-rows: the statistics of every output in every iteration."""

import json
import unittest

import numpy as np

from program import VERNIER, Case, ramp


class Rows(Case):
    def compare(self, *words):
        self.save_runs("a.json", [("A", ramp(3))])
        self.save_runs("b.json", [("B", [*ramp(2), {**ramp(3, 0.5)[2]}])])
        return self.vernier("compare", "a.json", "b.json", "--atol", "0.25", *words)

    def lines(self, name="rows.jsonl"):
        return [json.loads(line) for line in self.path(name).read_text().splitlines()]

    def test_a_row_for_each_iteration(self):
        ended = self.compare("--save-rows", "rows.jsonl", "--save-record", "r.json")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        rows = self.lines()
        self.assertEqual([row["index"] for row in rows], [0, 1, 2])
        self.assertEqual({row["step"] for row in rows}, {0})
        self.assertEqual({row["pair"] for row in rows}, {"A vs. B"})
        self.assertEqual([row["y/verdict"] for row in rows], ["passed", "passed", "failed"])
        self.assertEqual(rows[2]["y/max_absolute_error"], 0.5)
        self.assertEqual(rows[2]["y/mismatches"], 12)
        self.assertEqual(rows[0]["count/elements"], 3)
        self.assertFalse(list(self.folder.glob("*.partial*")))

    def test_the_record_is_what_the_rows_fold_to(self):
        self.compare("--save-rows", "rows.jsonl", "--save-record", "r.json", "--compare", "simple",
                     "l2")
        (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
        for output in pair["outputs"]:
            column = {key: [row[f"{output['name']}/{key}"] for row in self.lines()]
                      for key in ("max_absolute_error", "mean_absolute_error", "mismatches",
                                  "times_over_tolerance", "verdict", "l2")}
            for key in ("max_absolute_error", "mean_absolute_error", "mismatches",
                        "times_over_tolerance"):
                self.assertEqual(output[key], max(column[key]), key)
            self.assertEqual(output["passed_iterations"], column["verdict"].count("passed"))
            worst = output["worst_iteration"]
            gates = {gate["function"]: gate["value"] for gate in worst["gates"]}
            self.assertEqual(gates["l2"], column["l2"][worst["iteration"]])

    def test_what_was_not_compared_has_no_metrics(self):
        values = np.arange(6, dtype="f4")
        self.save_runs("a.json", [("A", [{"y": values.reshape(2, 3)}])])
        self.save_runs("b.json", [("B", [{"y": values.reshape(3, 2)}])])
        for words in ([], ["--compare", "l2"]):
            ended = self.vernier("compare", "a.json", "b.json", "--save-rows", "rows.jsonl", *words)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            (row,) = self.lines()
            self.assertEqual({key: value for key, value in row.items() if key.startswith("y/")},
                             {"y/verdict": "failed"})

    def test_a_row_that_cannot_be_written_leaves_whole_lines(self):
        self.save_runs("a.json", [("A", ramp(20))])
        self.save_runs("b.json", [("B", ramp(20))])
        limited = """trap '' XFSZ; ulimit -f 1; exec "$0" "$@" """
        ended = self.start("bash", ["-c", limited, VERNIER, "compare", "a.json", "b.json",
                                    "--save-rows", "rows.jsonl"])
        self.assertEqual(ended.code, 7, ended.out + ended.err)
        self.assertFalse(self.path("rows.jsonl").exists())
        text = self.path("rows.jsonl.partial").read_text()
        self.assertTrue(text.endswith("\n"), text)
        self.assertGreater(len([json.loads(line) for line in text.splitlines()]), 0)
        self.assertIn("the rows before this one are in 'rows.jsonl.partial'",
                      ended.out + ended.err)

    def test_an_empty_part_is_not_warned_of(self):
        self.path("rows.jsonl.partial").write_text("")
        ended = self.compare("--save-rows", "rows.jsonl")
        self.assertNotIn("Rows of a run that ended early", ended.out + ended.err)

    def test_arrays_of_columns(self):
        self.assertEqual(self.compare("--save-rows", "rows.npz").code, 1)
        with np.load(self.path("rows.npz")) as rows:
            np.testing.assert_array_equal(rows["index"], [0, 1, 2])
            self.assertEqual(rows["index"].dtype, np.int64)
            self.assertEqual(list(rows["y/verdict"]), ["passed", "passed", "failed"])
            np.testing.assert_array_equal(rows["y/max_absolute_error"], [0, 0, 0.5])
        self.assertFalse(list(self.folder.glob("*.partial*")))

    def test_numbers_that_are_not_finite_and_names_of_all_kinds(self):
        self.save_runs("a.json", [("A", [{"a/b c%": np.array([1, np.nan], "f4")},
                                         {"a/b c%": np.array([1, 2], "f4")}])])
        self.save_runs("b.json", [("B", [{"a/b c%": np.array([1, 2], "f4")}] * 2)])
        for name in ("rows.jsonl", "rows.npz"):
            self.vernier("compare", "a.json", "b.json", "--save-rows", name)
        self.assertEqual(self.lines()[0]["a%2Fb%20c%25/max_absolute_error"], "nan")
        with np.load(self.path("rows.npz")) as rows:
            np.testing.assert_array_equal(rows["a%2Fb%20c%25/max_absolute_error"], [np.nan, 0])

    def test_live_runners_and_every_pair(self):
        self.save_model("m.onnx")
        words = ("run", "m.onnx", "--runner", "a=onnxrt", "--runner", "b=onnxrt", "--runner",
                 "c=onnxrt", "--pairs", "all", "--iterations", "2", "--save-rows")
        self.assertEqual(self.vernier(*words, "rows.jsonl", "--save-outputs", "o.npz").code, 0)
        rows = self.lines()
        self.assertEqual([(row["index"], row["pair"]) for row in rows],
                         [(i, pair) for i in range(2)
                          for pair in ("a vs. b", "a vs. c", "b vs. c")])
        hashes = [row["input_hash"] for row in rows[::3]]
        self.assertRegex(hashes[0], "^[0-9a-f]{16}$")
        self.assertNotEqual(*hashes)
        # One after the other they are the same rows, and what was saved knows its inputs.
        self.assertEqual(self.vernier(*words, "again.jsonl", "--sequential-runners").code, 0)
        self.assertEqual(self.lines("again.jsonl"), rows)
        self.assertEqual(self.vernier("compare", "o.npz", "o.npz", "--save-rows",
                                      "saved.jsonl").code, 0)
        self.assertEqual(self.lines("saved.jsonl")[0]["input_hash"], hashes[0])

    def test_what_cannot_be_saved_is_said_before_anything_runs(self):
        ended = self.compare("--save-rows", "rows.csv")
        self.assertEqual(ended.code, 2)
        self.assertIn("--save-rows: expected FILE.jsonl or FILE.npz, got 'rows.csv'", ended.err)
        self.save_model("m.onnx")
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-rows", "rows.jsonl")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("there is only one side to compare", ended.err)
        self.path("rows.jsonl").mkdir()
        self.assertEqual(self.compare("--save-rows", "rows.jsonl").code, 7)

    def test_rows_of_a_run_that_was_killed_stay(self):
        self.path("rows.jsonl.partial").write_text('{"index":0}\n')
        ended = self.compare("--save-rows", "rows.jsonl")
        self.assertIn("are in 'rows.jsonl.partial'", ended.out + ended.err)
        self.assertEqual(self.path("rows.jsonl.partial").read_text(), '{"index":0}\n')
        self.assertEqual(len(self.lines()), 3)


if __name__ == "__main__":
    unittest.main()
