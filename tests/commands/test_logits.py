"""--compare logits: what it is for, its gates, what it refuses, and what is left of it in files."""

import json
import re
import shlex
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from program import Case


def some_logits(seed=0, shape=(2, 6, 40)):
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype(np.float32)


class Logits(Case):
    def compare(self, left, right, *words, code, functions=("logits",)):
        """The record of two runs of one iteration each."""
        self.save_runs("a.json", [("a", [left])])
        self.save_runs("b.json", [("b", [right])])
        self.ended = self.vernier("compare", "a.json", "b.json", "--compare", *functions,
                                  "--save-record", "r.json", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        path = self.path("r.json")
        return json.loads(path.read_text())["pairs"][0] if path.exists() else None

    def says(self, *sentences):
        for sentence in sentences:
            self.assertIn(sentence, self.ended.out + self.ended.err)


class Gates(Logits):
    A = some_logits()

    def test_near_logits_pass(self):
        near = self.A + np.float32(1e-3) * some_logits(1)
        pair = self.compare({"y": self.A}, {"y": near}, "--save-rows", "rows.jsonl", code=0)
        self.says("12 positions of 40 logits, along axis 2", "KL divergence: mean ",
                  "Top-1 equal: 12 of 12 (100 %), top-5 sets equal: ",
                  "(tolerance: 0.001) | PASSED", "(min required: 1) | PASSED",
                  "a vs. b: PASSED, compared 1 output in 1 iteration")
        logits = pair["outputs"][0]["logits"]
        self.assertTrue(logits["passed"])
        self.assertEqual((logits["positions"], logits["classes"], logits["top_k"]), (12, 40, 5))
        self.assertEqual(len(logits["kl_max_position"]), 2)
        (row,) = map(json.loads, self.path("rows.jsonl").read_text().splitlines())
        self.assertEqual(row["y/kl"], logits["kl_mean"])
        self.assertEqual(row["y/top1"], 1)

    def test_the_mean_divergence_fails(self):
        far = self.A + some_logits(1)
        words = ["--logits-top1-threshold", "0"]
        pair = self.compare({"y": self.A}, {"y": far}, *words, code=1)
        self.says("(tolerance: 0.001) | FAILED", "(min required: 0) | PASSED",
                  "logits: mean KL divergence ")
        output = pair["outputs"][0]
        self.assertFalse(output["logits"]["passed"])
        (gate,) = output["worst_iteration"]["gates"]
        self.assertEqual((gate["function"], gate["verdict"]), ("logits", "failed"))
        kl = output["logits"]["kl_mean"]
        self.compare({"y": self.A}, {"y": far}, *words, "--logits-kl-threshold", f"y:{kl!r}",
                     code=0)
        self.says(f"(tolerance: {kl:.5g}) | PASSED")

    def test_a_close_flip_is_counted_apart(self):
        a = np.array([[1.01, 1, 0], [5, 1, 0]], np.float32)
        words = ["--logits-kl-threshold", "inf"]
        close = np.array([[1, 1.01, 0.05], [5, 1, 0]], np.float32)
        logits = self.compare({"y": a}, {"y": close}, *words, code=0)["outputs"][0]["logits"]
        self.assertEqual((logits["flips"], logits["close_flips"]), (1, 1))
        self.assertEqual((logits["top1_share"], logits["top1_judged"]), (0.5, 1))
        self.says("1 flip of the top-1, 1 of them close; margin of the reference: mean 0.01")
        real = np.array([[1.01, 1, 0], [1.9, 2, 0]], np.float32)
        self.compare({"y": a}, {"y": real}, *words, code=1)
        self.says("share of equal top-1 0.5, the threshold is 1")
        self.compare({"y": a}, {"y": real}, *words, "--logits-top1-threshold", "0.5", code=0)

    def test_an_error_in_one_class_does_not_excuse_its_own_flips(self):
        a = np.zeros((100, 50), np.float32)
        a[:, 0] = 2
        b = a.copy()
        b[:, 7] = 2.5
        logits = self.compare({"y": a}, {"y": b}, "--logits-kl-threshold", "inf",
                              code=1)["outputs"][0]["logits"]
        self.assertEqual((logits["flips"], logits["close_flips"]), (100, 0))
        self.says("share of equal top-1 0, the threshold is 1")

    def test_any_axis(self):
        near = self.A + np.float32(1e-3) * some_logits(1)
        last = self.compare({"y": self.A}, {"y": near}, code=0)["outputs"][0]["logits"]
        a, b = (np.ascontiguousarray(np.moveaxis(side, 2, 1)) for side in (self.A, near))
        other = self.compare({"y": a}, {"y": b}, functions=["logits:axis=1"], code=0)
        named = self.compare({"y": a}, {"y": b}, functions=["y:logits:axis=-2"], code=0)
        for found in (other["outputs"][0]["logits"], named["outputs"][0]["logits"]):
            self.assertEqual(found, {**last, "axis": 1})

    def test_several_iterations_keep_the_worst(self):
        self.save_runs("a.json", [("a", [{"y": self.A}] * 3)])
        self.save_runs("b.json", [("b", [{"y": self.A}, {"y": self.A + some_logits(1)},
                                         {"y": self.A + np.float32(0.1) * some_logits(1)}])])
        ended = self.vernier("compare", "a.json", "b.json", "--compare", "logits", "--save-rows",
                             "rows.jsonl", "--save-record", "r.json")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        rows = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        self.assertEqual(output["logits"]["kl_mean"], max(row["y/kl"] for row in rows))
        self.assertEqual(rows[0]["y/kl"], 0)

    def test_the_total_is_of_all_positions(self):
        """However they are cut into iterations, and whatever shard they are in."""
        b = self.A + np.float32(0.01) * some_logits(1)
        whole = self.compare({"y": self.A}, {"y": b}, code=0)["outputs"][0]
        self.assertNotIn("logits_total", whole)
        one = whole["logits"]
        for side, values in (("a", self.A), ("b", b)):
            self.save_runs(f"{side}.json", [(side, [{"y": part} for part in np.split(
                values, [1, 4], axis=-2)])])
        words = ["compare", "a.json", "b.json", "--compare", "logits", "--logits-kl-threshold", "1",
                 "--reproducible"]
        ended = self.vernier(*words, "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        total = output["logits_total"]
        self.assertEqual((total["iterations"], total["compared_positions"], total["flips"]),
                         (3, one["compared_positions"], one["flips"]))
        for key in ("kl_mean", "kl_standard_error", "kl_max", "top1_share", "top_k_share"):
            self.assertAlmostEqual(total[key], one[key], delta=1e-12, msg=key)
        self.assertIn(f"over {one['compared_positions']} positions of 3 iterations mean KL "
                      "divergence ", ended.out + ended.err)
        for number in (1, 2):
            self.vernier(*words, "--save-record", "s.json", "--shard", f"{number}/2")
        ended = self.vernier("merge", "s.shard-0001-of-0002.json", "s.shard-0002-of-0002.json",
                             "-o", "m.json", "--reproducible")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.path("m.json").read_bytes(), self.path("r.json").read_bytes())

    def split(self, b, parts, *words, code):
        for side, values in (("a", self.A), ("b", b)):
            self.save_runs(f"{side}.json", [(side, [{"y": part} for part in np.split(
                values, parts, axis=-2)])])
        ended = self.vernier("compare", "a.json", "b.json", "--compare", "logits",
                             "--save-record", "r.json", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        return ended.out + ended.err, output

    def test_what_the_text_is_cut_into_decides_nothing(self):
        b = self.A + np.float32(0.05) * some_logits(1)
        whole = self.compare({"y": self.A}, {"y": b}, "--logits-kl-threshold", "1",
                             "--logits-top1-threshold", "0", code=0)["outputs"][0]["logits"]
        top1 = ["--logits-top1-threshold", repr(whole["top1_judged"] - 1e-9)]
        above, below = (repr(whole["kl_mean"] * by) for by in (1.001, 0.999))
        for parts in ([], 2, 6):
            said, output = self.split(b, parts or 1, "--logits-kl-threshold", above, *top1, code=0)
            self.assertTrue(output["passed"], parts)
            self.assertIn("a vs. b: PASSED", said)
            if parts == 6:
                self.assertLess(output["passed_iterations"], 6)
                self.assertIn("over the threshold, but not on average: y (", said)
                self.assertEqual(output["average_verdict"], "passed")
                self.assertEqual(output["failed_gates"], [])
            said, output = self.split(b, parts or 1, "--logits-kl-threshold", below, *top1, code=1)
            self.assertFalse(output["passed"], parts)
        # Each iteration for itself.
        self.split(b, 6, "--logits-kl-threshold", above, *top1, "--fail-fast", code=1)

    def test_one_bad_iteration_does_not_hide_among_many(self):
        a = [some_logits(seed, (1, 2, 40)) for seed in range(60)]
        b = [values + np.float32(1e-4) * some_logits(99, (1, 2, 40)) for values in a]
        b[17] = a[17] + np.float32(0.12) * some_logits(98, (1, 2, 40))
        for side, runs in (("a", a), ("b", b)):
            self.save_runs(f"{side}.json", [(side, [{"y": values} for values in runs])])
        words = ["compare", "a.json", "b.json", "--compare", "logits", "--logits-top1-threshold",
                 "0", "--save-record", "r.json"]
        ended = self.vernier(*words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, 1, said)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        self.assertLess(output["logits_total"]["kl_mean"], 1e-3)
        self.assertEqual(output["passed_iterations"], 59)
        self.assertIn("all positions together are within the thresholds of logits, but iteration "
                      "17 has a mean KL divergence of ", said)
        # Among others as bad as it, it is noise.
        b = [values + np.float32(0.015 if i != 17 else 0.03) * some_logits(i + 99, (1, 2, 40))
             for i, values in enumerate(a)]
        self.save_runs("b.json", [("b", [{"y": values} for values in b])])
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("beyond the noise", ended.out)

    def test_the_worst_iteration_is_by_divergence_or_top_1(self):
        runs = [some_logits(seed) for seed in range(4)]
        far = [a + np.float32(scale) * some_logits(9)
               for a, scale in zip(runs, (0.2, 0.4, 3, 1))]
        self.save_runs("a.json", [("a", [{"y": a} for a in runs])])
        self.save_runs("b.json", [("b", [{"y": b} for b in far])])
        ended = self.vernier("compare", "a.json", "b.json", "--compare", "logits",
                             "--save-record", "r.json", "-qqq")
        self.assertEqual(ended.code, 1)
        pair = json.loads(self.path("r.json").read_text())["pairs"][0]
        (output,) = pair["outputs"]
        self.assertEqual(output["worst_iteration"]["iteration"], 2)
        (gate,) = output["failed_gates"]
        self.assertIn(f"mean KL divergence {output['logits']['kl_mean']:.5g} nats", gate["why"])
        self.assertRegex(ended.out + ended.err, r"iteration 2:\s+logits: mean KL divergence")

    def test_reports_have_them(self):
        self.compare({"y": self.A}, {"y": self.A + some_logits(1)}, "--report", "r.xml",
                     "--report", "r.html", code=1)
        self.assertIn("logits: mean KL divergence", self.path("r.xml").read_text())
        self.vernier("report", "r.json", "-o", "again.xml")
        self.assertIn("logits: mean KL divergence", self.path("again.xml").read_text())


class NotFinite(Logits):
    def test_masks_of_both_sides_are_equal(self):
        a = some_logits()
        a[..., :7] = -np.inf
        b = a.copy()
        b[..., 7] += np.float32(1e-3)
        self.compare({"y": a}, {"y": b}, code=0)
        far = b.copy()
        far[0, 3, 9] += 9
        self.compare({"y": a}, {"y": far}, code=1)
        self.says("; the largest divergence, ", ", is at (0, 3)", "worst at (0, 3, 9): ")
        self.assertNotIn("against -inf", self.ended.out)
        self.assertNotIn("are NaN", self.ended.out)
        b[0, 0, 0] = 1
        pair = self.compare({"y": a}, {"y": b}, code=1)
        self.says("-inf on one side alone at 1 of 12 positions", "mean KL divergence inf")
        self.assertEqual(pair["outputs"][0]["logits"]["kl_mean"], "inf")

    def test_nan_and_infinity_fail(self):
        for value, said in ((np.nan, "NaN at 1 of 12 positions"),
                            (np.inf, "+inf at 1 of 12 positions")):
            a = some_logits()
            a[1, 2, 3] = value
            self.compare({"y": a}, {"y": a.copy()}, code=1)
            self.says(said)

    def test_a_constant_beside_another_shows_nothing(self):
        zero, five = np.zeros((2, 6, 5), np.float32), np.full((2, 6, 5), 5, np.float32)
        zeros = np.where(np.arange(5) < 2, zero, -zero)
        one = zeros + np.float32(1e-3) * (np.arange(60).reshape(2, 6, 5) == 43)
        for left, right, why in ((zero, five, "the same"), (zeros, five, "the same"),
                                 (five, zeros, "the same"), (zeros, zero, "zero")):
            for words, code in (((), 0), (("--strict",), 1)):
                pair = self.compare({"y": left}, {"y": right}, *words, code=code)
                self.says(f"shows nothing: y (all elements are {why})")
                self.assertEqual(pair["outputs"][0]["vacuous"], f"all elements are {why}")
        self.compare({"y": five}, {"y": one}, "--logits-top1-threshold", "0", "--strict", code=0)
        self.assertNotIn("shows nothing", self.ended.out)

    def test_nothing_is_no_pass(self):
        masked = np.full((2, 3), -np.inf, np.float32)
        masked_too = masked.copy()
        self.compare({"y": masked}, {"y": masked_too}, code=4)
        self.says("every class of every position is -inf on both sides")


class Outputs(Logits):
    A = some_logits()

    def test_what_is_left_out_is_said(self):
        outputs = {"y": self.A, "ids": np.arange(3), "loss": np.array(2, np.float32)}
        pair = self.compare(outputs, outputs, code=0)
        self.says("logits | Left out: 'ids' (int64), 'loss' (a scalar)",
                  "compared 1 of 3 outputs in 1 iteration",
                  "left out by --compare logits: ids, loss")
        self.assertEqual(pair["not_logits"], ["ids", "loss"])
        near = {**outputs, "y": self.A + np.float32(1e-3)}
        self.compare(outputs, near, "--strict", code=4)
        self.says("--strict: --compare logits left out outputs: 'ids' and 1 more")
        # Others may look at them.
        pair = self.compare(outputs, {**outputs, "ids": np.arange(3) + 1},
                            functions=["logits", "simple"], code=1)
        self.assertEqual(len(pair["outputs"]), 3)
        self.assertEqual(pair["not_logits"], [])

    def test_logits_of_one_side_alone_are_not_left_out(self):
        ids = np.arange(3, dtype=np.int64)
        self.compare({"y": self.A, "z": ids}, {"y": self.A, "z": ids.astype(np.float32)}, code=4)
        self.says("NOT VERIFIED | Output: 'z'", "not int64")

    def test_of_named_outputs_alone(self):
        outputs = {"y": self.A, "z": some_logits(1)}
        pair = self.compare(outputs, {**outputs, "z": some_logits(2)}, functions=["y:logits"],
                            code=0)
        self.says("Left out: 'z' (not named)")
        self.assertEqual([output["name"] for output in pair["outputs"]], ["y"])
        self.compare(outputs, outputs, functions=["yy:logits"], code=2)
        self.says("--compare logits: there is no output 'yy'", "did you mean 'y'?")

    def test_without_any(self):
        ids = {"ids": np.arange(3)}
        self.compare(ids, ids, code=4)
        self.says("--compare logits applies to none of the outputs")
        self.compare(ids, ids, functions=["ids:logits"], code=4)
        self.says("NOT VERIFIED | Output: 'ids' | logits are float16, bfloat16, float32 or float64 "
                  "with at least two classes, not int64")
        self.compare({"y": self.A}, {"y": self.A}, functions=["y:logits:axis=3"], code=4)
        self.says("shape (2, 6, 40), which has no axis 3")
        self.compare({"y": self.A}, {"y": self.A}, functions=["logits:axis=5"], code=4)
        self.says("with at least two classes along axis 5; --compare simple takes all")
        self.compare(ids, ids, "--mask", "none", code=2)
        self.says("--mask none: saved outputs have no inputs that could mark positions, so all")

    def softmax(self, kind=np.float32):
        exp = np.exp(self.A.astype(np.float64))
        return (exp / exp.sum(axis=-1, keepdims=True)).astype(kind)

    def advised(self):
        """The words behind --compare of the line `next:`."""
        (words,) = re.findall("^next: .*use --compare (.*) in place of logits$", self.ended.out,
                              re.M)
        return shlex.split(words)

    def test_probabilities_are_for_kl_divergence(self):
        for kind in (np.float16, np.float64):
            outputs = {"y": self.softmax(kind)}
            self.compare(outputs, outputs, code=4)
            self.says("these are probabilities, not logits")
            self.assertEqual(self.advised(), ["kl_divergence"])
            self.compare(outputs, outputs, functions=self.advised(), code=0)

    def test_logits_beside_probabilities_are_named(self):
        outputs = {"the logits": self.A, "p": self.softmax()}
        self.compare(outputs, outputs, code=4)
        self.says("output 'p' was not verified")
        self.assertEqual(self.advised(), ["the logits:logits"])
        self.compare(outputs, outputs, functions=self.advised(), code=0)
        self.says("left out by --compare logits: p")
        self.assertNotIn("next:", self.ended.out)

    def test_another_vocabulary_fails_with_both_sizes(self):
        self.compare({"y": self.A}, {"y": self.A[..., :39]}, code=1)
        self.says("(2, 6, 40)", "(2, 6, 39)")


class Words(Logits):
    A = some_logits()

    def test_a_token_that_is_no_class_is_named(self):
        info = {n: helper.make_tensor_value_info(n, kind, ["b", "s", *more]) for n, kind, more in (
            ("input_ids", TensorProto.INT64, []), ("a", TensorProto.FLOAT, [7]),
            ("logits", TensorProto.FLOAT, [7]))}
        graph = helper.make_graph([helper.make_node("Identity", ["a"], ["logits"])], "g",
                                  [info["input_ids"], info["a"]], [info["logits"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        for last, named in ((6, False), (7, True)):
            self.save_feeds("feeds.json", [{"input_ids": np.array([[1, 2, 3, last]], "i8"),
                                            "a": some_logits(shape=(1, 4, 7))}])
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                 "b=onnxrt m.onnx", "--load-inputs", "feeds.json", "--compare",
                                 "logits")
            said = ended.out + ended.err
            self.assertEqual(ended.code, 0, said)
            self.assertEqual("note: no perplexity of 'logits': in 'input_ids', token 7 at (0, 3) "
                             "is none of the 7 classes" in said, named, said)

    def refused(self, *words, said, functions=("logits",)):
        self.path("r.json").unlink(missing_ok=True)
        self.assertIsNone(self.compare({"y": self.A}, {"y": self.A}, *words, functions=functions,
                                       code=2))
        self.says(said)

    def test_are_refused_before_anything_runs(self):
        self.refused(functions=["logits:axis=x"],
                     said="--compare: expected [OUTPUT:]logits[:axis=N] with a whole number, got "
                          "'logits:axis=x'")
        self.refused(functions=["logits", "logits:axis=1"], said="one axis for an output's logits")
        self.refused(functions=["logit"], said="did you mean 'logits'?")
        self.refused("--logits-kl-threshold=-1",
                     said="--logits-kl-threshold: expected a number >= 0")
        self.refused("--logits-top1-threshold", "2",
                     said="--logits-top1-threshold: expected a number from 0 to 1")
        self.refused("--logits-top-k", "0",
                     said="--logits-top-k: expected a whole number from 1 to 1000")
        self.refused("--check-average", said="does not produce averageable metrics")

    def test_the_file_of_a_run_has_them(self):
        self.compare({"y": self.A}, {"y": self.A.copy()}, code=0)
        words = ["--compare", "y:logits:axis=0", "--logits-top-k", "2"]
        first = self.vernier("run", "--load-outputs", "a.json", "b.json", *words,
                             "--save-run-file", "run.json")
        self.assertEqual(first.code, 0, first.out + first.err)
        plan = json.loads(self.path("run.json").read_text())["compare"]
        self.assertEqual(plan["functions"], ["logits"])
        self.assertEqual((plan["logits_axis"], plan["logits_top_k"]), ({"y": 0}, 2))
        again = self.vernier("run", "--run-file", "run.json")
        self.assertEqual(again.code, 0, again.out + again.err)
        self.assertIn("240 positions of 2 logits, along axis 0", again.out)


if __name__ == "__main__":
    unittest.main()
