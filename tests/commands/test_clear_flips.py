"""--max-clear-flips: what a network's own errors excuse is no proof."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from decision_case import Decisions

WIDTH, CLASSES, SAMPLES = 16, 10, 200


class ClearFlips(Decisions):
    """A network, and a port of it whose first layer has wrong weights: it is wrong everywhere."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(25)
        first, second = (rng.normal(size=shape).astype(np.float32)
                         for shape in ((WIDTH, WIDTH), (WIDTH, CLASSES)))
        wrong = first + rng.normal(0, 0.05, first.shape).astype(np.float32)
        for name, weights in (("right.onnx", first), ("wrong.onnx", wrong)):
            nodes = [helper.make_node("MatMul", ["x", "a"], ["h"]),
                     helper.make_node("Relu", ["h"], ["r"]),
                     helper.make_node("MatMul", ["r", "b"], ["y"])]
            x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, WIDTH])
            y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CLASSES])
            graph = helper.make_graph(nodes, "g", [x], [y], [
                numpy_helper.from_array(weights, "a"), numpy_helper.from_array(second, "b")])
            onnx.save(helper.make_model(graph, ir_version=8,
                                        opset_imports=[helper.make_opsetid("", 17)]),
                      str(self.path(name)))
        rows = rng.normal(size=(SAMPLES, 1, WIDTH)).astype(np.float32)
        np.savez(self.path("x.npz"), **{f"{i:010}/x": row for i, row in enumerate(rows)})

    def run_pair(self, *words, code, second="onnxrt wrong.onnx"):
        self.ended = self.vernier("run", "--runner", "a=onnxrt right.onnx", "--runner",
                                  f"b={second}", "--load-inputs", "x.npz", "--decision", "top1",
                                  *words, "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        (decision,) = json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"]
        return decision

    def test_a_wrong_layer_excuses_no_flip(self):
        observed = self.run_pair("--judge", "elements", code=1)
        self.assertGreater(observed["near_ties"], 2)
        self.assertEqual(observed["near_tie_rule"], "the noise of the other values")
        bounded = self.run_pair("--max-clear-flips", "0", code=1)
        self.assertEqual(bounded["near_tie_rule"], "the error bound")
        self.assertEqual((bounded["flips"], bounded["near_ties"]), (observed["flips"], 0))
        typed = self.run_pair("--max-clear-flips", "0", "--tolerance", "auto", "--judge",
                              "decisions", code=1)
        self.assertEqual(bounded["worst"], typed["worst"])

    def test_shards_have_the_bound_of_the_whole(self):
        words = ["run", "--runner", "a=onnxrt right.onnx", "--runner", "b=onnxrt wrong.onnx",
                 "--load-inputs", "x.npz", "--decision", "top1", "--max-clear-flips", "30",
                 "--save-record"]
        whole = self.vernier(*words, "whole.json", "--reproducible")
        for k in (1, 2, 3):
            ended = self.vernier(*words, "p.json", "--shard", f"{k}/3", "--shard-exit", "done")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        parts = sorted(path.name for path in self.folder.glob("p.shard-*.json"))
        merged = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(merged.code, whole.code, merged.out + merged.err)
        self.assertEqual(self.path("merged.json").read_bytes(),
                         self.path("whole.json").read_bytes())
        record = json.loads(self.path("merged.json").read_text(encoding="utf-8"))
        self.assertEqual(record["pairs"][0]["decisions"][0]["near_tie_rule"], "the error bound")

    def test_a_limit_that_is_given_comes_first(self):
        given = self.run_pair("--max-clear-flips", "0", "--near-tie", "100", "--strict", code=0)
        self.assertEqual(given["clear_flips"], 0)
        self.assertNotIn("undecided", self.ended.out)

    def test_rounding_alone_passes(self):
        self.run_pair("--max-clear-flips", "0", "--strict", second="openvino right.onnx", code=0)

    def test_what_noise_alone_excuses_is_undecided(self):
        self.run_pair("--judge", "elements", "--save-outputs", "o.npz", code=1)
        flips = json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0]
        words = ["compare", "o.npz", "--decision", "top1", "--max-clear-flips"]
        few = str(flips["clear_flips"])
        self.ended = self.vernier(*words, few)
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("passed but undecided: only because flips count as near ties by the noise of the "
                  "other values, which a wrong network could have too; to decide, give "
                  "--near-tie X, "
                  "or --tolerance auto for an error bound in place of the noise")
        self.assertEqual(self.vernier(*words, few, "--strict").code, 4)
        self.assertEqual(self.vernier(*words, few, "--strict", "--near-tie", "1e9").code, 0)
        every = self.vernier(*words, str(flips["flips"]), "--strict")
        self.assertEqual(every.code, 0, every.out + every.err)
        for rows in ("rows.jsonl", "rows.npz"):
            self.vernier(*words, few, "--save-rows", rows)
            again = ["check", "accuracy", rows, "--max-clear-flips", few]
            self.ended = self.vernier(*again)
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says("passed but undecided: only because flips count as near ties by the noise")
            self.assertEqual(self.vernier(*again, "--strict").code, 4)
            self.assertEqual(self.vernier(*again, "--strict", "--near-tie", "1e9").code, 0)

    def quantise(self, name, step, into):
        """`name` with int8 steps of `step` in front."""
        model = onnx.load(str(self.path(name)))
        weights = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                 helper.make_node("MatMul", ["d", "a"], ["h"]), *model.graph.node[1:]]
        graph = helper.make_graph(nodes, "g", model.graph.input, model.graph.output, [
            *(numpy_helper.from_array(value, name) for name, value in weights.items()),
            numpy_helper.from_array(np.float32(step), "s"),
            numpy_helper.from_array(np.int8(0), "z")])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path(into)))

    def test_a_bound_wider_than_most_margins_decides_nothing(self):
        # Most inputs are clipped, as by a calibration that saw other data.
        self.quantise("right.onnx", 0.4 / 127, "clipped.onnx")
        words = ["--max-clear-flips", "20", "--judge", "decisions"]
        found = self.run_pair(*words, second="onnxrt clipped.onnx", code=0)
        self.assertGreater(found["near_ties"], 20)
        self.says("passed but undecided: only because flips count as near ties")
        self.run_pair(*words, "--strict", second="onnxrt clipped.onnx", code=4)

    def test_a_bound_that_the_output_exceeds_decides_nothing(self):
        # The quantised inputs are the same on both sides, and so is what rounding could make of
        # them; the bound allows for steps that flip.
        self.quantise("right.onnx", 4 / 127, "right8.onnx")
        self.quantise("wrong.onnx", 4 / 127, "wrong8.onnx")
        words = ["run", "--runner", "a=onnxrt right8.onnx", "--runner", "b=onnxrt wrong8.onnx",
                 "--load-inputs", "x.npz", "--decision", "top1", "--max-clear-flips", "1"]
        for more in ([], ["--tolerance", "auto", "--judge", "decisions"]):
            self.ended = self.vernier(*words, *more)
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says("passed but undecided: only because flips count as near ties by an error "
                      "bound that the output exceeds, which a wrong network could have too; "
                      "to decide, give --near-tie X")
            self.assertEqual(self.vernier(*words, *more, "--strict").code, 4)
        for rows in ("rows.jsonl", "rows.npz"):
            self.vernier(*words, "--save-rows", rows)
            again = ["check", "accuracy", rows, "--max-clear-flips", "1"]
            self.ended = self.vernier(*again)
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says("by an error bound that the output exceeds")
            self.assertEqual(self.vernier(*again, "--strict").code, 4)
        for k in (1, 2):
            ended = self.vernier(*words, "--save-record", "p.json", "--shard", f"{k}/2",
                                 "--shard-exit", "done")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        parts = sorted(path.name for path in self.folder.glob("p.shard-*.json"))
        self.ended = self.vernier("merge", *parts, "-o", "m.json")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("by an error bound that the output exceeds")

    def test_a_sound_copy_behind_quantisers_passes(self):
        self.quantise("right.onnx", 4 / 127, "right8.onnx")
        ended = self.vernier("run", "right8.onnx", "--onnxrt", "--openvino", "--load-inputs",
                             "x.npz", "--decision", "top1", "--max-clear-flips", "0", "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_a_reference_that_is_dead_decides_nothing(self):
        rng = np.random.default_rng(3)
        alive = rng.normal(size=(20, 1, 5)).astype(np.float32)
        for name, rows in (("dead.npz", np.zeros_like(alive)), ("alive.npz", alive)):
            np.savez(self.path(name), **{f"{i:010}/y": row for i, row in enumerate(rows)})
        words = ["compare", "dead.npz", "alive.npz", "--decision", "top1", "--max-clear-flips", "0",
                 "--save-rows", "dead.jsonl"]
        self.ended = self.vernier(*words, "--near-tie", "0")
        self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
        again = self.vernier("check", "accuracy", "dead.jsonl", "--max-clear-flips", "0")
        self.assertEqual(again.code, 1, again.out + again.err)
        words += ["--near-tie", "9"]
        self.ended = self.vernier(*words)
        self.says("in most samples the reference decides between equal values")
        self.assertEqual(self.vernier(*words, "--strict").code, 4)
        again = self.vernier("check", "accuracy", "dead.jsonl", "--max-clear-flips", "0",
                             "--strict")
        self.assertEqual(again.code, 4, again.out + again.err)

    def save(self, name, rows):
        np.savez(self.path(name), **{f"{i:010}/y": row for i, row in enumerate(rows)})

    def shards_say_the_same(self, words, code):
        whole = self.vernier(*words, "--save-record", "whole.json", "--reproducible")
        self.assertEqual(whole.code, code, whole.out + whole.err)
        for k in (1, 2):
            self.vernier(*words, "--save-record", "p.json", "--shard", f"{k}/2", "--shard-exit",
                         "done")
        parts = sorted(path.name for path in self.folder.glob("p.shard-*.json"))
        merged = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(merged.code, code, merged.out + merged.err)
        self.assertEqual(self.path("merged.json").read_bytes(),
                         self.path("whole.json").read_bytes())

    def rows_say_the_same(self, words, code):
        for rows in ("rows.jsonl", "rows.npz"):
            self.ended = self.vernier(*words, "--save-rows", rows)
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
            again = self.vernier("check", "accuracy", rows, "--max-clear-flips", "0")
            self.assertEqual(again.code, code, again.out + again.err)
            undecided = "undecided" in self.ended.out + self.ended.err
            self.assertEqual("undecided" in again.out + again.err, undecided)

    def test_a_relu_that_is_forgotten_fails(self):
        """The reference's margins are 0, which excuses nothing."""
        for name, last in (("relu.onnx", "Relu"), ("none.onnx", "Identity")):
            model = onnx.load(str(self.path("right.onnx")))
            model.graph.node[-1].output[0] = "m"
            model.graph.node.append(helper.make_node(last, ["m"], ["y"]))
            onnx.save(model, str(self.path(name)))
        words = ["run", "--runner", "a=onnxrt relu.onnx", "--runner", "b=onnxrt none.onnx",
                 "--load-inputs", "x.npz", "--decision", "sign", "--max-clear-flips", "0",
                 "--judge", "decisions"]
        self.rows_say_the_same(words, 1)
        self.says("failed")
        self.assertNotIn("undecided", self.ended.out + self.ended.err)
        self.assertEqual(self.vernier(*words, "--near-tie", "0.01").code, 1)
        self.shards_say_the_same(words, 1)

    def test_ties_that_the_candidate_breaks_by_far_fail(self):
        rng = np.random.default_rng(11)
        tied = rng.normal(size=(100, 10)).astype(np.float32)
        tied[:40, :2] = 4.1
        broken = tied.copy()
        broken[:40, 1] += 5
        maps = np.maximum(rng.normal(size=(20, 3, 8, 8)) - 1, 0).astype(np.float32)
        wrong = maps.copy()
        wrong[:, 2][maps.max(1) == 0] = 5
        for kind, right, other in (("top1", tied, broken), ("argmax", maps, wrong)):
            for name, rows in (("a.npz", right), ("b.npz", other)):
                np.savez(self.path(name), **{"0000000000/y": rows})
            self.rows_say_the_same(["compare", "a.npz", "b.npz", "--decision", f"y:{kind}",
                                    "--max-clear-flips", "0", "--judge", "decisions"], 1)
            self.assertNotIn("undecided", self.ended.out + self.ended.err)

    def test_ties_of_short_types_stay_near_ties(self):
        rng = np.random.default_rng(12)
        small = (rng.normal(size=(300, 50)) * 1e-8).astype(np.float32)
        np.savez(self.path("a.npz"), **{"0000000000/y": small})
        np.savez(self.path("b.npz"), **{"0000000000/y": small.astype(np.float16)})
        for pair in (["a.npz", "b.npz"], ["b.npz", "a.npz"]):
            for kind in ("top1", "rank=10", "top10"):
                ended = self.vernier("compare", *pair, "--decision", f"y:{kind}", "--judge",
                                     "decisions", "--max-clear-flips", "0")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertIn("near ties", ended.out)

    def test_answers_that_are_all_turned_around_fail(self):
        """The noise of a batch is that of other samples' values, which are turned around, too."""
        rng = np.random.default_rng(13)
        chances = (1 / (1 + np.exp(-3 * rng.normal(size=(200, 1))))).astype(np.float32)
        for batch in (200, 1):
            for name, rows in (("a.npz", chances), ("b.npz", 1 - chances)):
                np.savez(self.path(name), **{f"{i:010}/y": rows[i * batch:(i + 1) * batch]
                                             for i in range(200 // batch)})
            words = ["compare", "a.npz", "b.npz", "--decision", "y:threshold=0.5",
                     "--max-clear-flips", "0", "--judge", "decisions"]
            self.rows_say_the_same(words, 1)
            self.says("200 flips: 200 clear")
            self.assertNotIn("undecided", self.ended.out + self.ended.err)

    def test_two_classes_are_held_against_the_noise_of_the_margins(self):
        rng = np.random.default_rng(7)
        right = rng.normal(size=(3000, 1, 2)).astype(np.float32)
        noisy = right + rng.normal(0, 0.01, right.shape).astype(np.float32)
        broken = noisy.copy()
        broken[17] = -10 * right[17]
        for name, rows in (("right.npz", right), ("noisy.npz", noisy), ("broken.npz", broken),
                           ("swapped.npz", noisy[..., ::-1].copy())):
            self.save(name, rows)
        words = ["--decision", "top1", "--max-clear-flips", "0"]
        for pair in (["right.npz", "noisy.npz"], ["noisy.npz", "right.npz"]):
            self.ended = self.vernier("compare", *pair, *words, "--save-rows", "rows.jsonl")
            self.assertNotIn("failed, ", self.ended.out + self.ended.err)
            self.says("undecided: only because flips count as")
            self.says("the noise of the margins")
            again = self.vernier("check", "accuracy", "rows.jsonl", "--max-clear-flips", "0")
            self.assertEqual(again.code, self.ended.code, again.out + again.err)
            self.assertIn("the noise of the margins", again.out + again.err)
        for wrong in ("broken.npz", "swapped.npz"):
            self.ended = self.vernier("compare", "right.npz", wrong, *words)
            self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
            self.says("failed")
            self.assertNotIn("undecided", self.ended.out + self.ended.err)

    def save_ports(self):
        """Of a bfloat16 port where margins are small, and of one whose classes are swapped."""
        weights = [numpy_helper.to_array(one)
                   for one in onnx.load(str(self.path("right.onnx"))).graph.initializer]

        def short(values):
            bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64) + 0x8000
            return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32)

        def infer(rows, rounded=lambda values: values):
            hidden = np.maximum(rounded(rounded(rows) @ rounded(weights[0])), 0)
            return rounded(hidden @ rounded(weights[1]))

        rows = np.random.default_rng(8).normal(size=(20000, WIDTH)).astype(np.float32)
        best = np.sort(infer(rows))
        rows = rows[np.argsort(best[:, -1] - best[:, -2])[:200]]
        np.savez(self.path("x.npz"), **{f"{i:010}/x": row[None] for i, row in enumerate(rows)})
        self.save("short.npz", infer(rows, short)[:, None])
        distinct = np.random.default_rng(9).normal(size=(200, WIDTH)).astype(np.float32)
        np.savez(self.path("d.npz"), **{f"{i:010}/x": row[None] for i, row in enumerate(distinct)})
        self.save("swapped.npz", infer(distinct)[:, None, [1, 0, *range(2, CLASSES)]])

    def test_saved_outputs_of_short_types_are_undecided(self):
        """What computed them is not known, and its rounding is beyond the bound of float32."""
        self.save_ports()
        words = ["run", "--runner", "new=onnxrt right.onnx", "--decision", "top1",
                 "--max-clear-flips", "0", "--load-inputs"]
        for pairs in ("gold:new", "new:gold"):
            short = [*words, "x.npz", "--load-outputs", "gold=short.npz", "--pairs", pairs]
            self.ended = self.vernier(*short)
            self.says("failed but undecided: only because flips count as clear by the bound of a "
                      "short or unknown type, as clear flips of a correct network may; to decide, "
                      "give "
                      "--near-tie X")
            self.ended = self.vernier(*short, "--tolerance", "auto", "--judge", "decisions")
            self.says("failed but undecided")
        whole = self.vernier(*short, "--save-record", "whole.json", "--reproducible")
        for k in (1, 2):
            self.vernier(*short, "--save-record", "p.json", "--shard", f"{k}/2", "--shard-exit",
                         "done")
        parts = sorted(path.name for path in self.folder.glob("p.shard-*.json"))
        merged = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(merged.code, whole.code, merged.out + merged.err)
        self.assertEqual(self.path("merged.json").read_bytes(),
                         self.path("whole.json").read_bytes())
        self.ended = self.vernier(*words, "d.npz", "--load-outputs", "gold=swapped.npz", "--pairs",
                                  "gold:new")
        self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
        self.assertNotIn("undecided", self.ended.out + self.ended.err)

    def test_a_sign_that_no_value_has_shows_nothing(self):
        np.savez(self.path("p.npz"), **{"0000000000/y": np.float32([[1, 2, 3]])})
        np.savez(self.path("q.npz"), **{"0000000000/y": np.float32([[3, 1, 2]])})
        words = ["compare", "p.npz", "q.npz", "--decision", "y:sign", "--max-flip-rate", "0"]
        self.ended = self.vernier(*words)
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("no value of either side is negative")
        self.assertEqual(self.vernier(*words, "--strict").code, 4)


if __name__ == "__main__":
    unittest.main()
