"""Shards pair outputs by their values as iteration 0 of the whole shows it, and those after it."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from shard_case import WHOLE, ShardCase


class PairedByValue(ShardCase):
    def save_named(self, name, outputs):
        """A square root and a sum of the input, called `outputs`; the other way round if those
        are not sorted."""
        x, *made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (4,))
                    for n in ("x", *outputs))
        first, second = sorted(outputs)
        nodes = [helper.make_node("Sqrt", ["x"], [first], "n"),
                 helper.make_node("Add", ["x", "x"], [second], "k")]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], made), ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path(name)))

    def save_signed(self, name, outputs, source):
        """Operators on the input "x" or its "size", each with one output."""
        x, *made = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (4,))
                    for n in ("x", *(output for _, output in outputs)))
        nodes = [helper.make_node("Abs", ["x"], ["size"], "size")] if source == "size" else []
        nodes += [helper.make_node(operator, [source], [output], output)
                  for operator, output in outputs]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], made), ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path(name)))

    def test_outputs_are_paired_by_the_values_of_the_first_iterations_of_the_whole(self):
        """Two outputs are alike in iteration 0, so that iteration 1 decides which is which; from
        iteration 4 on values would pair them the other way round."""
        first, second = [], []
        for i in range(9):
            p, q = (np.arange(6, dtype=np.float32) ** 2 + (i if i < 4 else 9), np.arange(6) ** 2.0)
            first.append({"p": p, "q": q.astype(np.float32), "same": p})
            made = [p, q.astype(np.float32)] if i < 4 else [q.astype(np.float32), p]
            second.append({"v": made[1], "u": made[0], "same": p})
        self.save_runs("a.json", [("A", first)])
        self.save_runs("b.json", [("B", second)])
        words = ["compare", "a.json", "b.json"]
        whole = self.vernier(*words, *WHOLE)
        self.assertEqual(whole.code, 1, whole.out + whole.err)
        outputs = json.loads(self.path("whole.json").read_text())["pairs"][0]["outputs"]
        self.assertEqual({output["name"]: output["paired_by"] for output in outputs},
                         {"p": "value", "q": "value", "same": "exact"})
        for count, rule in ((1, "stride"), (2, "contiguous"), (3, "stride"), (9, "contiguous"),
                            (12, "contiguous")):
            self.expect_whole(whole, self.shards(words, count, rule))

    def test_runners_are_paired_by_what_iteration_0_shows(self):
        self.save_named("m.onnx", ["a", "b"])
        self.save_named("n.onnx", ["d", "c"])
        run = ["run", "m.onnx", "--onnxrt", "--runner", "n=onnxrt n.onnx"]
        feeds = [{"x": np.arange(4, dtype=np.float32) + i} for i in range(5)]
        self.save_feeds("inputs.json", feeds)
        self.path("loader.py").write_text(
            "import numpy as np\n\n\nclass Samples:\n    def __len__(self):\n        return 5\n"
            "\n    def __getitem__(self, i):\n"
            "        return {'x': np.arange(4, dtype=np.float32) + i}\n\n\n"
            "def load_data():\n    return Samples()\n", encoding="utf-8")
        for options in (["--iterations", "5"], ["--load-inputs", "inputs.json"],
                        ["--data-loader-script", "loader.py"],
                        ["--iterations", "5", "--workers-per-runner", "2"]):
            whole = self.vernier(*run, *options, *WHOLE)
            self.assertEqual(whole.code, 0, whole.out + whole.err)
            record = json.loads(self.path("whole.json").read_text())
            self.assertEqual([o["paired_by"] for o in record["pairs"][0]["outputs"]],
                             ["value", "value"])
            for rule in ("contiguous", "stride"):
                self.expect_whole(whole, self.shards([*run, *options], 3, rule))
            # What iteration 0 was inferred for is no iteration of the shard.
            part = json.loads(self.path(self.part(2, 3)).read_text())
            self.assertEqual([r["iterations"] for r in part["end"]["runners"]], [2, 2])

    def test_a_warm_up_does_not_decide_how_runners_are_paired(self):
        """Iteration 0 pairs the outputs one way, and the feed of the warm-up the other way."""
        self.save_signed("m.onnx", [("Identity", "a"), ("Neg", "b")], "x")
        self.save_signed("n.onnx", [("Identity", "c"), ("Neg", "d")], "size")
        self.save_feeds("inputs.json", [{"x": np.arange(1, 5, dtype=np.float32) * factor}
                                        for factor in (3, 2, -5, -4)])
        run = ["run", "m.onnx", "--onnxrt", "--runner", "n=onnxrt n.onnx", "--load-inputs",
               "inputs.json", "--warm-up", "1"]
        whole = self.vernier(*run, *WHOLE)
        self.assertEqual(whole.code, 1, whole.out + whole.err)
        for rule in ("contiguous", "stride"):
            self.expect_whole(whole, self.shards(run, 2, rule))

    def test_outputs_that_are_renamed_later_do_not_meet_by_their_shapes(self):
        """Nobody knows the names of these runners before they infer: a shard goes by its first
        iteration, and the whole by its own."""
        for name, y in (("one", "'y'"), ("two", "'y' if feed['x'][0] != 4 else 'z'")):
            self.path(f"{name}.py").write_text(
                f"def infer(feed):\n    return {{{y}: feed['x'] * 2, 'w': feed['x'] + 1}}\n",
                encoding="utf-8")
        self.save_feeds("inputs.json", [{"x": np.full(4, i, np.float32)} for i in range(8)])
        words = ["run", "--model-runner", "one.py", "--model-runner", "two.py", "--python",
                 sys.executable, "--load-inputs", "inputs.json"]
        whole = self.vernier(*words, *WHOLE)
        self.assertEqual(whole.code, 4, whole.out + whole.err)
        self.expect_whole(whole, self.shards(words, 3))
        ended = self.merge(self.shards(words, 2))
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("were paired by shape: none in the first, and 'y = z' in the second; pair "
                      "them with --map-outputs", ended.err)

    def test_outputs_that_values_do_not_pair_are_listed_as_in_the_whole(self):
        first = [{"p": np.full(3, 1.0 + i), "q": np.full(3, 5.0 + i)} for i in range(6)]
        second = [{"u": np.full(3, 70.0 - i), "v": np.full(3, -9.0 * i)} for i in range(6)]
        self.save_runs("a.json", [("A", first)])
        self.save_runs("b.json", [("B", second)])
        words = ["compare", "a.json", "b.json"]
        whole = self.vernier(*words, *WHOLE)
        self.assertEqual(whole.code, 4, whole.out + whole.err)
        self.expect_whole(whole, self.shards(words, 3, "stride"))


if __name__ == "__main__":
    unittest.main()
