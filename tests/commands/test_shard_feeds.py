"""Shards whose feeds a generator makes, and how their pairs are called."""

import json
import sys
import unittest

from shard_case import WHOLE, ShardCase


class ShardFeeds(ShardCase):
    def test_a_generator_whose_length_is_given_has_ranges(self):
        self.save_model("m.onnx")
        self.path("loader.py").write_text(
            "import numpy as np\n\n\ndef load_data():\n    for i in range(5):\n"
            "        yield {'x': np.arange(4, dtype=np.float32) + i}\n", encoding="utf-8")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "loader.py"]
        whole = self.vernier(*run, *WHOLE)
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for count, rule in ((1, "contiguous"), (2, "contiguous"), (3, "stride"),
                            (7, "contiguous")):
            parts = self.shards([*run, "--iterations", "5"], count, rule)
            self.expect_whole(whole, parts)
        warned = self.vernier(*run, "--iterations", "5", "--shard", "1/2", "--save-record",
                              "r.json")
        self.assertIn("makes the feeds of all shards in each of them", warned.out + warned.err)
        self.assertNotIn("will be ignored", warned.out + warned.err)
        for length, said in (("4", "--iterations 4: the data loader script gives more feeds"),
                             ("6", "--iterations 6: the data loader script gives only 5")):
            ended = self.vernier(*run, "--iterations", length, "--shard", "2/2", "--save-record",
                                 "r.json")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn(said, ended.err)
            self.assertFalse(self.path("r.shard-0002-of-0002.json").exists())

    def test_rows_name_pairs_as_those_of_an_undivided_run_do(self):
        self.save_model("m.onnx")
        self.path("other.py").write_text("load = lambda path: lambda feed: {'y': feed['x']}\n")
        run = ["run", "m.onnx", "--onnxrt", "--model-runner", "other.py", "--iterations", "4",
               "--python", sys.executable]
        self.assertEqual(self.vernier(*run, "--save-rows", "rows.jsonl").code, 0)
        parts = self.shards(run, 2)
        merged = self.vernier("merge", *parts, "-o", "merged.json", "--save-rows", "merged.jsonl")
        self.assertEqual(merged.code, 0, merged.out + merged.err)
        lines = self.path("rows.jsonl").read_text().splitlines()
        names = [json.loads(line)["pair"] for line in lines]
        self.assertEqual(names, ["onnxrt vs. other"] * 4)
        self.assertEqual(self.path("merged.jsonl").read_text(),
                         self.path("rows.jsonl").read_text())

    def test_a_feed_that_does_not_fit_is_named_by_its_iteration(self):
        self.save_model("m.onnx")
        self.path("one.py").write_text(
            "import numpy as np\ndef load_data():\n"
            "    return [{'x': np.zeros(5 if i == 3 else 4, np.float32)} for i in range(6)]\n",
            encoding="utf-8")
        words = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "one.py",
                 "--python", sys.executable]
        for more in ((), ("--workers-per-runner", "2")):
            ended = self.vernier(*words, *more)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("iteration 3: input 'x': expected float32", ended.err)

    def test_a_data_set_that_grows_while_a_shard_runs_leaves_no_part(self):
        self.save_model("m.onnx")
        self.path("grows.py").write_text("""
import numpy as np
class Grows:
    length = 4
    def __len__(self): return self.length
    def __getitem__(self, index):
        self.length = 5
        return {"x": np.full(4, index, np.float32)}
def load_data(): return Grows()
""", encoding="utf-8")
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script",
                             "grows.py", "--python", sys.executable, "--shard", "1/2",
                             "--save-record", "r.json")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("had 4 feeds when the shard began, and has 5 now", ended.err)
        self.assertEqual(list(self.folder.glob("r.shard-*.json")), [])

    def test_a_model_that_draws_random_numbers_is_not_divided(self):
        self.save_model("r.onnx", op="RandomUniformLike")
        words = ["run", "r.onnx", "--onnxrt", "--onnxrt", "--iterations", "2", "--save-record"]
        said = "its model draws random numbers (RandomUniformLike)"
        ended = self.vernier(*words, "whole.json")
        notes = json.loads(self.path("whole.json").read_text())["notes"]
        self.assertTrue(any(said in note for note in notes), notes)
        for more in (("--shard", "1/2"), ("--workers-per-runner", "2")):
            ended = self.vernier(*words, "r.json", *more)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(said, ended.err)
            self.assertIn("one process: leave them out", ended.err)


if __name__ == "__main__":
    unittest.main()
