"""--decode greedy: near ties, gates and refusals, on models that are a table of bigrams."""

import json
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class Bigrams(Case):
    """logits [batch, n, 4] = table[ids]: a model without a state."""

    def model(self, name, table, ids="ids", kind=TensorProto.INT32, logits="scores"):
        table = np.asarray(table, "f4")
        info = [helper.make_tensor_value_info(ids, kind, ["b", "n"])]
        out = [helper.make_tensor_value_info(logits, TensorProto.FLOAT, ["b", "n", table.shape[1]])]
        graph = helper.make_graph([helper.make_node("Gather", ["table", ids], [logits])], "g", info,
                                  out, [numpy_helper.from_array(table, "table")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def run_words(self, *words, code, runners=("onnxrt a.onnx", "onnxrt b.onnx"), prompt=((0,),)):
        self.save_feeds("feeds.json", [{"ids": np.array(prompt, "i4")}])
        ended = self.vernier("run", *(word for name, runner in zip("ab", runners)
                                      for word in ("--runner", f"{name}={runner}")),
                             "--load-inputs", "feeds.json", "--save-record", "r.json", *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)

    CYCLE = np.roll(np.eye(4), 1, axis=1)  # 0, 1, 2, 3, 0, ...

    def near_tie(self, scale=1):
        """After 2 comes 3 or, by a hair, 0."""
        tables = [self.CYCLE.copy() for _ in range(2)]
        tables[0][2, 0] = 1 - 2e-6
        tables[1][2, :] = [1, 0, 0, 1 - 2e-6]
        self.model("a.onnx", scale * tables[0])
        self.model("b.onnx", scale * tables[1])

    def test_a_metric_of_all_logits_makes_no_near_tie(self):
        tables = [50 + 3 * self.CYCLE for _ in range(2)]
        tables[1][0, 2] += 5
        for name, table in zip(("a.onnx", "b.onnx"), tables):
            self.model(name, table)
        for judged in (["--compare", "cosine_similarity"],
                       ["--compare", "psnr", "--psnr-threshold", "1"],
                       ["--check-error-stat", "mean", "--atol", "9"]):
            self.run_words("--decode", "greedy", "--steps", "2", *judged, code=1)
            decode = json.loads(self.path("r.json").read_text())["pairs"][0]["decode"]
            self.assertEqual(decode["divergences"][0]["kind"], "beyond tolerance", judged)

    def test_a_clear_divergence_that_is_not_judged_is_no_pass(self):
        self.near_tie()
        self.run_words("--decode", "greedy", "--steps", "3", code=0, prompt=((2,), (0,)))
        tables = [self.CYCLE.copy() for _ in range(2)]
        tables[0][2, 0] = 1 - 2e-6
        tables[1][2, :] = [1, 0, 0, 1 - 2e-6]
        tables[1][1, 3] = 9
        self.model("a.onnx", tables[0])
        self.model("b.onnx", tables[1])
        self.run_words("--decode", "greedy", "--steps", "3", code=4, prompt=((2,), (0,)))
        self.assertIn("1 divergence after that of another prompt of the batch could not be judged"
                      ": feed the prompts one by one; 1 of them is no near tie by the margins",
                      self.said)

    def test_a_near_tie_is_reported_and_no_mismatch(self):
        self.near_tie()
        self.run_words("--decode", "greedy", "--steps", "6", code=0)
        decode = json.loads(self.path("r.json").read_text())["pairs"][0]["decode"]
        (divergence,) = decode["divergences"]
        self.assertEqual((divergence["step"], divergence["kind"]), (2, "near tie"))
        self.assertAlmostEqual(divergence["first_margin"], 2e-6, delta=1e-7)
        self.assertIn(": a near tie, the logits are within their tolerance; 3 steps after a "
                      "divergence, with other histories, were not compared", self.said)
        self.assertIn("Only tokens are fed back", self.said)

    def test_a_near_tie_beside_a_failed_gate_is_not_called_within_tolerance(self):
        self.near_tie(3)
        words = ("--decode", "greedy", "--steps", "6", "--compare", "logits", "--logits-top1-"
                 "threshold", "0", "--logits-kl-threshold")
        self.run_words(*words, "1e-300", code=1)
        self.assertIn(": a near tie; 3 steps after a divergence", self.said)
        self.assertNotIn("within their tolerance", self.said)
        self.run_words(*words, "9", code=0)
        self.assertIn(": a near tie, the logits are within their tolerance", self.said)

    def test_the_share_of_agreeing_tokens_is_a_gate(self):
        self.near_tie()
        words = ("--decode", "greedy", "--steps", "6", "--min-token-agreement")
        self.run_words(*words, "0.3", code=0)
        pair = json.loads(self.path("r.json").read_text())["pairs"][0]
        agreeing, tokens = pair["decode"]["agreeing_tokens"], pair["decode"]["tokens"]
        self.assertLess(agreeing, tokens)
        self.assertEqual(pair["decode"]["min_agreement"], 0.3)
        self.assertIn("at least 30 % asked for", self.said)
        self.run_words(*words, str(agreeing / tokens), code=0)
        self.run_words(*words, "0.9", code=1)
        self.assertIn(f"only {agreeing} of {tokens} tokens agree (--min-token-agreement 0.9)",
                      self.said)
        self.assertIn("a vs. b: FAILED", self.said)

    def test_a_missed_share_is_a_failure_wherever_the_verdict_is(self):
        self.near_tie()
        words = ("--decode", "greedy", "--steps", "6", "--decision", "top1", "--max-flip-rate", "1",
                 "--judge", "decisions", "--report", "r.xml", "--min-token-agreement")
        self.run_words(*words, "0.9", code=1)
        self.assertIn("a vs. b: FAILED, ", self.said)
        self.assertNotIn("PASSED by decisions", self.said)
        suite = self.suite()
        self.assertEqual(suite.get("failures"), "1")
        (failure,) = suite.iter("failure")
        self.assertRegex(failure.get("message"),
                         r"^only \d of 6 tokens agree \(--min-token-agreement 0.9\)$")
        self.run_words(*words, "0.1", code=0)
        self.assertIn("a vs. b: PASSED by decisions", self.said)
        self.assertEqual(self.suite().get("failures"), "0")

    def suite(self):
        (suite,) = [suite for suite in ElementTree.parse(self.path("r.xml")).getroot()
                    if suite.get("name") == "a vs. b"]
        return suite

    def test_nan_parts_one_sequence_and_the_others_go_on(self):
        table = self.CYCLE.copy()
        self.model("a.onnx", table)
        table[1, 2] = np.nan
        self.model("b.onnx", table)
        words = ("--decode", "greedy", "--steps", "3", "--save-outputs", "out.npz")
        self.run_words(*words, code=1, prompt=((0,), (2,)))
        self.assertIn("the tokens diverge where the logits are out of tolerance: step 1 of "
                      "sequence 0, prompt 0: token 2 against none (NaN)", self.said)
        self.assertIn("b: 'scores' holds NaN at its last position and chooses no token at step 1 "
                      "of sequence 0, prompt 0", self.said)
        self.assertNotIn("not done", self.said)
        pair = json.loads(self.path("r.json").read_text())["pairs"][0]
        self.assertEqual(pair["decode"]["tokens"], 6)
        self.assertIn("token 2 against none (NaN)", self.vernier("compare", "out.npz").out)
        # Nothing else says so of a runner that is compared with none.
        self.save_feeds("feeds.json", [{"ids": np.array([[0]], "i4")}])
        ended = self.vernier("run", "b.onnx", "--onnxrt", "--load-inputs", "feeds.json", *words)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("not done: --decode: ", ended.out + ended.err)

    def test_what_makes_no_sense_is_named(self):
        self.model("a.onnx", self.CYCLE)
        self.model("b.onnx", self.CYCLE)
        steps = ("--steps", "3")
        for words, what in (
                (("--decode", "greedy"),
                 "--decode: the number of tokens is missing: give --steps N"),
                (("--decode", "beam", *steps), "--decode beam: only 'greedy' is known"),
                (("--decode", "greedy:x", *steps), "expected greedy:LOGITS=TOKENS"),
                (("--decode", "greedy:q=ids", *steps), "a has no output 'q', but 'scores'"),
                (("--decode", "greedy:scores=q", *steps), "a has no input 'q', but 'ids'"),
                (("--decode", "greedy", "--advance", "ids:+1", *steps),
                 "a has no integer input that is left for the tokens"),
                (("--decode", "greedy:scores=ids", "--advance", "ids:+1", *steps),
                 "'ids' is set twice for each step"),
                (("--decode", "greedy", "--steps-axis", "b:1", *steps),
                 "--steps-axis: with --decode a step is fed with the token of the step before")):
            with self.subTest(words):
                self.run_words(*words, code=2)
                self.assertIn(what, self.said)
        for words, what in (
                (("--decode-stop", "4"), "--decode-stop 4: 'scores' of a has 4 tokens, from 0 to "
                                         "3: no sequence would end"),
                (("--min-token-agreement", "1.5"), "--min-token-agreement")):
            with self.subTest(words):
                self.run_words("--decode", "greedy", *steps, *words, code=2)
                self.assertIn(what, self.said)
        with self.subTest("a gate without decoding"):
            self.run_words("--min-token-agreement", "0.5", code=2)
            self.assertIn("--min-token-agreement", self.said)
        with self.subTest("a second word"):
            self.run_words("--decode", "greedy:a:scores=ids", "greedy:b:scores=ids", *steps, code=2)
            self.assertIn("--decode takes one value; give it once for each: --decode "
                          "greedy:b:scores=ids", self.said)

    def test_tokens_are_of_one_vocabulary(self):
        self.model("a.onnx", self.CYCLE)
        self.model("b.onnx", self.CYCLE)
        self.model("five.onnx", np.zeros((4, 5)))
        steps = ("--steps", "3")
        with self.subTest("vocabularies"):
            self.run_words("--decode", "greedy", *steps, code=2,
                           runners=("onnxrt a.onnx", "onnxrt five.onnx"))
            self.assertIn("the vocabulary of b has 5 tokens, that of another runner 4", self.said)
        with self.subTest("token"):
            self.run_words("--decode", "greedy", *steps, code=3, prompt=((1, 7),))
            self.assertIn("token 7 at place 1 of prompt 0 of sequence 0 is not in the vocabulary: "
                          "'scores' has 4", self.said)


if __name__ == "__main__":
    unittest.main()
