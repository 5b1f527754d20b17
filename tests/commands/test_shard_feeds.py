"""Shards whose feeds a generator makes, and how their pairs are called."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

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
        self.assertIn("generates the feeds of all shards in every shard", warned.out + warned.err)
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

    def test_a_feed_that_does_not_fit_is_named_in_a_batch_and_by_its_file(self):
        self.save_model("n.onnx", shape=("n", 4))
        self.path("in").mkdir()
        for i in range(9):
            np.savez(self.path(f"in/{i:02}.npz"), x=np.zeros((1, 5 if i == 5 else 4), np.float32))
        self.path("one.py").write_text(
            "import glob\nimport numpy as np\ndef load_data():\n"
            "    return [dict(np.load(name)) for name in sorted(glob.glob('in/*.npz'))]\n",
            encoding="utf-8")
        words = ["run", "n.onnx", "--onnxrt", "--onnxrt", "--save-record", "r.json"]
        script = ("--data-loader-script", "one.py", "--python", sys.executable)
        part = ("--shard", "2/2")  # begins with feed 5
        for more in (("--batch-feeds", "4"), ("--batch-feeds", "4", "--workers-per-runner", "2"),
                     part, (*part, "--shard-by", "stride"), ("--sequential-runners",),
                     ("--shard", "1/2", "--batch-feeds", "4")):
            for feeds, said in ((script, "iteration 5: input 'x': expected float32"),
                                (("--load-inputs", "in/*.npz"),
                                 "iteration 5 ('in/05.npz'): input 'x': expected float32")):
                ended = self.vernier(*words, *feeds, *more)
                self.assertEqual(ended.code, 3, (more, ended.out + ended.err))
                self.assertIn(said, ended.err, more)

    def test_saved_outputs_of_another_length_are_refused_before_anything_is_inferred(self):
        self.save_model("m.onnx")
        run = ["run", "m.onnx", "--onnxrt", "--iterations"]
        made = self.vernier(*run, "6", "--save-outputs", "six.npz")
        self.assertEqual(made.code, 0, made.out + made.err)
        said = set()
        for number in (1, 2, 3):
            ended = self.vernier(*run, "7", "--load-outputs", "six.npz", "--save-record", "r.json",
                                 "--shard", f"{number}/3")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertNotIn("Streaming iteration", ended.out)
            said |= {line for line in ended.err.splitlines() if line.startswith("[!]")}
        self.assertEqual(len(said), 1, said)
        self.assertIn("'six.npz' holds 6 iterations", said.pop())

    def test_a_loader_that_ends_before_its_length_is_noted(self):
        self.save_model("m.onnx")
        self.path("short.py").write_text('''
import numpy as np
class Loader:
    def __init__(self, length): self.length = length
    def __len__(self): return self.length
    def __iter__(self): return ({"x": np.arange(4, dtype=np.float32) + i} for i in range(5))
def short(): return Loader(12)
def right(): return Loader(5)
''', encoding="utf-8")
        words = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--python", sys.executable,
                 "--save-record", "r.json", "--data-loader-script"]
        said = "has the length 12, and gave 5 feeds"
        for more in ((), ("--workers-per-runner", "2")):
            for strict, code in (((), 0), (("--strict",), 4)):
                ended = self.vernier(*words, "short.py:short", *more, *strict)
                self.assertEqual(ended.code, code, ended.out + ended.err)
                self.assertIn(said, ended.out)
        ended = self.vernier(*words, "short.py:right", "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("has the length", ended.out)
        ended = self.vernier(*words, "short.py:short", "--shard", "1/2", "--shard-by", "stride")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn(said, ended.err)

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

    def save_dropout(self, name, training, used=True):
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (4,)) for n in "xy")
        constants = [helper.make_tensor("ratio", TensorProto.FLOAT, [], [0.5]),
                     helper.make_tensor("training", TensorProto.BOOL, [], [training])]
        nodes = [helper.make_node("Dropout", ["x", "ratio", "training"], ["d"], seed=5),
                 helper.make_node("Relu", ["d" if used else "x"], ["y"])]
        graph = helper.make_graph(nodes, "g", [x], [y], constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_only_a_dropout_that_trains_and_is_needed_is_random(self):
        for training, used, code in ((True, True, 2), (False, True, 0), (True, False, 0)):
            self.save_dropout("d.onnx", training, used)
            for more in (("--shard", "1/2"), ("--workers-per-runner", "2")):
                ended = self.vernier("run", "d.onnx", "--onnxrt", "--onnxrt", "--iterations", "2",
                                     "--save-record", "r.json", *more)
                self.assertEqual(ended.code, code, (training, used, ended.out + ended.err))
                self.assertEqual("draws random numbers (Dropout in training mode)" in ended.err,
                                 code == 2)
        # What is marked as an output is needed.
        ended = self.vernier("run", "d.onnx", "--onnxrt", "--onnxrt", "--shard", "1/2",
                             "--save-record", "r.json", "--onnx-outputs", "mark", "all")
        self.assertEqual(ended.code, 2, ended.out + ended.err)

    def test_random_numbers_do_not_go_on_where_a_run_was_left(self):
        self.save_dropout("d.onnx", True)
        words = ["run", "d.onnx", "--onnxrt", "--iterations", "3", "--save-outputs", "o.npz",
                 "--resume"]
        self.assertEqual(self.vernier(*words).code, 0)
        before = self.path("o.npz").read_bytes()
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("its model draws random numbers (Dropout in training mode)", ended.err)
        self.assertIn("'o.npz' would not be those of an uninterrupted run", ended.err)
        self.assertNotIn("Streaming iteration", ended.out)
        self.assertEqual(self.path("o.npz").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
