"""--batch-feeds: several feeds are one inference, and all that is told and saved is as with one."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.json import load_json

from program import Case

COUNT = 11

# Notes how many rows each inference has.
COUNTS = """
def load(path):
    def infer(feed):
        with open("rows.txt", "a", encoding="utf-8") as rows:
            print(len(feed["x"]), file=rows)
        return {"y": feed["x"] * 2}
    return infer
"""

DIES = """
import os
def load(path):
    def infer(feed):
        if DEADLY in feed["x"][:, 0]:
            os.abort()
        return {"y": feed["x"]}
    return infer
"""

# As many rows as four feeds have, by chance.
FOUR = """
import numpy as np
def load(path):
    return lambda feed: {"y": np.zeros((4, 4), np.float32)}
"""


class BatchFeeds(Case):
    def setUp(self):
        super().setUp()
        self.save_free("m.onnx", [helper.make_node("Relu", ["x"], ["y"])], ("n", 4), ("n", 4))
        generator = np.random.default_rng(7)
        self.feeds = [{"x": generator.standard_normal((1, 4)).astype(np.float32)}
                      for _ in range(COUNT)]
        self.save_feeds("feeds.json", self.feeds)

    def save_free(self, name, nodes, x_shape, y_shape, weights=()):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, y_shape)
        graph = helper.make_graph(nodes, "g", [x], [y], initializer=list(weights))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def script(self, name, text):
        self.path(name).write_text(text, encoding="utf-8")
        return ("--model-runner", name, "--python", sys.executable)

    def run_with(self, feeds, *words, model="m.onnx", loads=("--load-inputs", "feeds.json")):
        return self.vernier("run", model, *words, *loads, "--batch-feeds", feeds)

    def outputs(self, feeds, *words, **kinds):
        """The outputs of the first runner, iteration by iteration."""
        self.path("o.json").unlink(missing_ok=True)
        ended = self.run_with(feeds, *words, "--save-outputs", "o.json", **kinds)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ((_, iterations),) = list(load_json(str(self.path("o.json"))).items())[:1]
        return [{name: np.asarray(outputs[name]) for name in outputs} for outputs in iterations]

    def rows(self, feeds, *words, **kinds):
        for name in ("r.json", "r.jsonl"):
            self.path(name).unlink(missing_ok=True)
        ended = self.run_with(feeds, "--identity", "--onnxrt", *words, "--reproducible",
                              "--save-record", "r.json", "--save-rows", "r.jsonl", **kinds)
        return ended.code, self.path("r.jsonl").read_bytes()

    def test_what_was_asked_for_does_not_depend_on_how_far_feeds_are_read_ahead(self):
        for i in range(0, COUNT, 2):
            self.save_feeds(f"f{i:02}.json", self.feeds[i:i + 2])
        self.script("dies.py", DIES.replace("DEADLY", str(float(self.feeds[3]["x"][0, 0]))))
        records = []
        for workers in (1, 2, 5):
            ended = self.vernier(
                "run", "--runner", "a=onnxrt m.onnx", "--runner",
                f"b=dies.py --python {sys.executable}", "--load-inputs",
                *(f"f{i:02}.json" for i in range(0, COUNT, 2)), "--batch-feeds", "2",
                "--workers-per-runner", workers, "--reproducible", "--save-record", "r.json")
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertIn("SIGABRT", ended.err)
            # Beside it are addresses of the thread that died.
            records.append(json.loads(self.path("r.json").read_text())["pairs"])
        self.assertEqual(records[1:], records[:1] * 2)
        self.assertEqual(records[0][0]["expected_iterations"], COUNT)

    def test_rows_have_the_bytes_of_single_feeds(self):
        for words in ((), ("--workers-per-runner", "2"), ("--compare", "l2")):
            single = self.rows(1, *words)
            self.assertEqual(single[0], 1)
            for feeds in (2, 4, COUNT, 32):
                self.assertEqual(self.rows(feeds, *words), single, (feeds, words))
                self.assertEqual(json.loads(self.path("r.json").read_text())["batch_feeds"], feeds)

    def test_saved_outputs_are_those_of_single_feeds(self):
        single = self.outputs(1, "--identity")
        self.assertEqual([outputs["x"].tolist() for outputs in single],
                         [feed["x"].tolist() for feed in self.feeds])
        for feeds in (3, 32):
            batched = self.outputs(feeds, "--identity")
            for one, other in zip(single, batched, strict=True):
                self.assertEqual(one["x"].tobytes(), other["x"].tobytes())
                self.assertEqual(one["x"].shape, other["x"].shape)

    def test_onnx_runtime_gives_each_feed_its_own_rows(self):
        weights = helper.make_tensor("w", TensorProto.FLOAT, (4, 3),
                                     np.random.default_rng(1).standard_normal(12))
        self.save_free("mm.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])], ("n", 4),
                       ("n", 3), [weights])
        single = self.outputs(1, "--onnxrt", model="mm.onnx")
        for feeds, workers in ((4, 1), (3, 2)):
            batched = self.outputs(feeds, "--onnxrt", "--workers-per-runner", workers,
                                   model="mm.onnx")
            for one, other in zip(single, batched, strict=True):
                np.testing.assert_allclose(other["y"], one["y"], rtol=1e-5, atol=1e-6)

    def test_the_last_inference_is_short_and_feeds_may_have_several_rows(self):
        self.save_feeds("feeds.json", [{"x": np.full((2, 4), i, np.float32)} for i in range(5)])
        made = self.outputs(2, *self.script("counts.py", COUNTS))
        self.assertEqual([outputs["y"][0, 0] for outputs in made], [0, 2, 4, 6, 8])
        self.assertEqual({outputs["y"].shape for outputs in made}, {(2, 4)})
        # The first feed alone shows that the output grows with the batch.
        self.assertEqual(self.path("rows.txt").read_text().split(), ["2", "4", "4", "2"])

    def test_a_crash_ends_its_runner_in_the_first_iteration_of_its_inference(self):
        deadly = float(self.feeds[6]["x"][0, 0])
        words = self.script("dies.py", DIES.replace("DEADLY", repr(deadly)))
        ended = self.run_with(4, *words, "--identity", "--save-outputs", "o.json")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("SIGABRT", ended.err)
        self.assertIn("running iterations 4 to 7", ended.err)
        runs = load_json(str(self.path("o.json")))
        self.assertEqual(sorted(len(iterations) for _, iterations in runs.items()), [4, COUNT])
        # It goes on where it was, with the same feeds together.
        self.script("dies.py", COUNTS.replace("* 2", "* 1"))
        resumed = self.run_with(4, *words, "--identity", "--save-outputs", "o.json", "--resume")
        self.assertEqual(resumed.code, 0, resumed.out + resumed.err)
        runs = load_json(str(self.path("o.json")))
        self.assertEqual([len(iterations) for _, iterations in runs.items()], [COUNT, COUNT])
        self.assertEqual(self.path("rows.txt").read_text().split(), ["1", "4", "4", "3"])

    def test_shards_are_cut_at_multiples_and_merge_into_the_whole(self):
        code, whole = self.rows(4)
        record = self.path("r.json").read_bytes()
        for rule, count in (("contiguous", 2), ("stride", 2), ("contiguous", 3)):
            parts = []
            for number in range(1, count + 1):
                ended = self.run_with(4, "--identity", "--onnxrt", "--shard", f"{number}/{count}",
                                      "--shard-by", rule, "--save-record", "part.json")
                self.assertIn(ended.code, (0, 1), ended.out + ended.err)
                parts.append(f"part.shard-{number:04}-of-{count:04}.json")
            first = json.loads(self.path(parts[0]).read_text())
            indices = [iteration["index"] for iteration in first["iterations"]]
            expected = {("contiguous", 2): range(8), ("stride", 2): [0, 1, 2, 3, 8, 9, 10],
                        ("contiguous", 3): range(4)}[rule, count]
            self.assertEqual(indices, list(expected))
            ended = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible",
                                 "--save-rows", "merged.jsonl")
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual(self.path("merged.jsonl").read_bytes(), whole)
            self.assertEqual(self.path("merged.json").read_bytes(), record)

    def test_parts_with_another_number_do_not_merge(self):
        for feeds, number in ((4, 1), (2, 2)):
            self.run_with(feeds, "--identity", "--onnxrt", "--shard", f"{number}/2",
                          "--save-record", "part.json")
        parts = [f"part.shard-000{number}-of-0002.json" for number in (1, 2)]
        ended = self.vernier("merge", *parts, "-o", "merged.json")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--batch-feeds is 4", ended.err)

    def test_bounds_are_derived_and_random_inputs_may_have_guessed_sizes(self):
        ended = self.run_with(3, "--onnxrt", "--runner", "other=onnxrt m.onnx", "--tolerance",
                              "auto", "--iterations", COUNT, loads=())
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn(f"in {COUNT} iterations", ended.out)

    def test_models_that_cannot_are_refused_in_one_sentence(self):
        self.save_model("fixed.onnx", shape=(1, 4))
        self.save_free("sum.onnx", [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
                       ("n", 4), ())
        cases = (
            (("fixed.onnx", "--onnxrt"), ("input 'x'", "(1, 4)", "first dimension is fixed")),
            (("sum.onnx", "--onnxrt"), ("output 'y'", "()", "no first dimension")),
            (("m.onnx", *self.script("four.py", FOUR)),
             ("output 'y'", "(4, 4)", "is not the batch")),
        )
        for (model, *words), expected in cases:
            ended = self.run_with(4, *words, model=model)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            for part in ("--batch-feeds: ", *expected):
                self.assertIn(part, ended.err)

    def test_feeds_that_differ_are_refused_in_one_sentence(self):
        self.feeds[6] = {"x": np.zeros((2, 4), np.float32)}
        self.save_feeds("feeds.json", self.feeds)
        ended = self.run_with(4, "--onnxrt", "--identity", "--save-outputs", "o.json")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("input 'x' has the shape (1, 4) in iteration 4 and (2, 4) in iteration 6",
                      ended.err)

    def test_options_that_cannot_be_are_refused_in_one_sentence(self):
        for words, expected in (
                (("--sequential-runners",), "--sequential-runners: run each"),
                (("--in-process",), "--in-process: every runner"),
                (("--parallel",), "--parallel: runners infer"),
                (("--onnxrt", "--tolerance", "auto", "--noise-floor"), "--noise-floor: noise"),
                (("--steps", "3", "--feed-back", "auto"), "--steps, --feed-back or --decode")):
            ended = self.run_with(2, "--onnxrt", *words, loads=())
            self.assertEqual(ended.code, 2, words)
            self.assertIn(f"--batch-feeds cannot go with {expected}", ended.err)
        for count in ("0", "65537", "-1", "two"):
            ended = self.run_with(count, "--onnxrt")
            self.assertEqual(ended.code, 2, count)
            self.assertIn("--batch-feeds", ended.err)


if __name__ == "__main__":
    unittest.main()
