"""Decoding with tokens that are given (--tokens), and what is compared beside the tokens."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
import onnxruntime

from program import Case
from test_decode import CACHED, PROMPTS, feed_of, greedy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "data"))
from causal_models import CACHED_HEADS, HEAD, causal_model, empty_caches  # noqa: E402


class GivenTokens(Case):
    """--tokens beside --decode: both sides are fed with the tokens of a file or a script."""

    TEXTS = np.array([[7, 50, 3, 22, 63, 1, 9], [4, 4, 31, 2, 8, 60, 11]])

    def run_two(self, *words, fault=None, tokens="text.npy", texts=TEXTS, prompts=PROMPTS, code=0):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        onnx.save(causal_model(fault), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [feed_of(prompt) for prompt in prompts])
        np.save(self.path("text.npy"), texts)
        self.words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                      "--load-inputs", "feeds.json", "--decode", "greedy", "--tokens", tokens,
                      *CACHED, "--save-rows", "rows.jsonl", "--save-record", "r.json", "--python",
                      sys.executable, *words]
        ended = self.vernier(*self.words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)
        if code > 1:
            return None
        rows = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        self.chosen = {side: [row[f"{side}/tokens"] for row in rows] for side in "ab"}
        return json.loads(self.path("r.json").read_text())["pairs"][0]

    @staticmethod
    def expected(fault=None, texts=TEXTS):
        return [token for prompt, text in zip(PROMPTS, texts)
                for (token,) in greedy(fault, prompt, len(text), [[id] for id in text])]

    def test_both_sides_are_fed_with_the_tokens_of_the_file(self):
        fault = "position-off-by-one"
        pair = self.run_two(fault=fault, code=1)
        self.assertEqual(self.chosen, {"a": self.expected(), "b": self.expected(fault)})
        self.assertEqual(pair["compared_iterations"], self.TEXTS.size)
        agreeing = sum(a == b for a, b in zip(self.expected(), self.expected(fault)))
        self.assertLess(agreeing, self.TEXTS.size)
        decode = pair["decode"]
        self.assertEqual((decode["agreeing_tokens"], decode["tokens"], decode["forced"]),
                         (agreeing, self.TEXTS.size, True))
        self.assertEqual(decode["steps_after_divergence"], 0)
        self.assertIn("'input_ids' of the next step is the token of 'text.npy'", self.said)
        self.assertIn(", both fed with the same tokens", self.said)

    def test_a_script_gives_them_too(self):
        self.path("tokenizer.py").write_text(
            "def tokens():\n    return %r\n\n\ndef short():\n    return [[1, 2], [3]]\n"
            % self.TEXTS.tolist())
        self.run_two(tokens="tokenizer.py")
        self.assertEqual(self.chosen, {"a": self.expected(), "b": self.expected()})
        self.run_two(tokens="tokenizer.py:nosuch", code=3)
        self.assertIn("--tokens 'tokenizer.py:nosuch': the script defines no 'nosuch'; it has: ",
                      self.said)
        self.run_two(tokens="tokenizer.py:short", code=3)
        self.assertIn("tokenizer.py:short returned rows of 1 to 2 tokens; all prompts need the "
                      "same number", self.said)

    def test_a_script_that_has_no_such_function_is_named(self):
        for tokens, why in (("nosuch.py", "'nosuch.py:tokens': there is no such file"),
                            ("tokenizer.py:other", "'tokenizer.py:other': the script defines no "
                                                   "'other'; it has: tokens")):
            self.path("tokenizer.py").write_text("def tokens():\n    return [[1]]\n",
                                                 encoding="utf-8")
            self.run_two(tokens=tokens, code=3)
            self.assertIn("--tokens " + why, self.said)

    def test_a_script_may_give_one_row_of_numpy_integers(self):
        self.path("tokenizer.py").write_text(
            "import numpy as np\n\n\ndef tokens():\n    return list(np.array(%r))\n"
            % self.TEXTS[0].tolist())
        self.run_two(tokens="tokenizer.py", prompts=PROMPTS[:1])
        self.assertEqual(self.chosen["a"], self.expected()[:self.TEXTS.shape[1]])

    def test_each_step_is_judged_by_the_token_behind_it(self):
        pair = self.run_two("--compare", "logits:logits")
        (of_logits,) = [output for output in pair["outputs"] if output["name"] == "logits"]
        count, loss = 0, 0.0
        for prompt, text in zip(PROMPTS, self.TEXTS):
            session = onnxruntime.InferenceSession(causal_model(None).SerializeToString(),
                                                   providers=["CPUExecutionProvider"])
            ids = np.array([[*prompt[0], *text]])
            logits = session.run(["logits"], feed_of(ids.tolist()))[0][0].astype("f8")
            top = logits.max(axis=-1, keepdims=True)
            lost = np.log(np.exp(logits - top).sum(axis=-1)) + top[:, 0]
            lost = lost[:-1] - logits[np.arange(ids.size - 1), ids[0, 1:]]
            loss, count = loss + lost.sum(), count + lost.size
        tokens = of_logits["tokens"]
        self.assertEqual(tokens["tokens"], count)
        for side in ("first", "second"):
            self.assertAlmostEqual(tokens[f"{side}_perplexity"], np.exp(loss / count), places=3)

    def save_last(self, name, rank):
        """The model, of whose logits the last position is handed out alone: [b, 1, V] or [b, V]."""
        model = causal_model(None)
        for node in model.graph.node:
            node.output[:] = ["all" if o == "logits" else o for o in node.output]
        index = np.array([-1] if rank == 3 else -1, "i8")
        model.graph.initializer.append(onnx.numpy_helper.from_array(index, "last"))
        model.graph.node.append(
            onnx.helper.make_node("Gather", ["all", "last"], ["logits"], axis=1))
        (output,) = [o for o in model.graph.output if o.name == "logits"]
        shape = output.type.tensor_type.shape
        if rank == 3:
            shape.dim[1].Clear()
            shape.dim[1].dim_value = 1
        else:
            del shape.dim[1]
        onnx.save(model, str(self.path(name)))

    def test_logits_of_the_last_position_are_judged_from_the_first_token_on(self):
        losses = []
        for prompt, text in zip(PROMPTS, self.TEXTS):
            session = onnxruntime.InferenceSession(causal_model(None).SerializeToString(),
                                                   providers=["CPUExecutionProvider"])
            ids = np.array([[*prompt[0], *text]])
            logits = session.run(["logits"], feed_of(ids.tolist()))[0][0].astype("f8")
            logits = logits[len(prompt[0]) - 1:-1]
            top = logits.max(axis=-1, keepdims=True)
            lost = np.log(np.exp(logits - top).sum(axis=-1)) + top[:, 0]
            losses += list(lost - logits[np.arange(len(text)), text])
        for rank in (3, 2):
            self.save_last("last.onnx", rank)
            self.save_feeds("feeds.json", [feed_of(prompt) for prompt in PROMPTS])
            np.save(self.path("text.npy"), self.TEXTS)
            ended = self.vernier(
                "run", "--runner", "a=onnxrt last.onnx", "--runner", "b=onnxrt last.onnx",
                "--load-inputs", "feeds.json", "--decode", "greedy:logits=input_ids", "--tokens",
                "text.npy", *CACHED, "--compare", "logits:logits", "--save-record", "r.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            outputs = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
            (found,) = [o["tokens"] for o in outputs if o["name"] == "logits"]
            self.assertEqual(found["tokens"], len(losses))
            self.assertAlmostEqual(found["first_perplexity"], np.exp(np.mean(losses)), places=3)

    def test_what_is_fed_ends_a_prompt(self):
        pair = self.run_two("--decode-stop", "3")
        self.assertEqual(pair["decode"]["tokens"], 3 + 7)
        self.assertEqual(pair["decode"]["steps_after_end"], 4)

    STOP = 33
    BATCH = [[[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]]]
    ENDED = np.array([[7, 50, 3, 22, 63, 1, 9], [4, STOP, STOP, STOP, STOP, STOP, STOP],
                      [STOP, STOP, STOP, STOP, STOP, STOP, STOP]])

    def rows(self):
        return [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]

    def run_ended(self, prompts, texts, *words, code=1):
        return self.run_two("--decode-stop", self.STOP, *words, fault="position-off-by-one",
                            prompts=prompts, texts=texts, code=code)

    def test_rows_of_prompts_that_have_ended_are_in_no_mean(self):
        for kind, key in (("logits:logits", "logits/kl"), ("simple", "logits/max_absolute_error")):
            with self.subTest(kind):
                self.run_ended([self.BATCH[0][:1]], self.ENDED[:1], "--compare", kind)
                alone = [row[key] for row in self.rows()]
                pair = self.run_ended(self.BATCH, self.ENDED, "--compare", kind)
                found = [row[key] for row in self.rows()]
                np.testing.assert_allclose(found[2:], alone[2:], rtol=1e-3)
                self.assertGreater(min(alone[2:]), 0)
                self.assertNotAlmostEqual(found[1] / alone[1], 1, places=3)  # of two prompts
                self.assertEqual(pair["decode"]["rows_after_end"], 1 + 2 * 5)
                self.assertIn("11 rows of prompts after their end were left out of the comparisons",
                              self.said)

    def test_perplexity_is_that_of_the_texts_up_to_their_end(self):
        pair = self.run_ended(self.BATCH, self.ENDED, "--compare", "logits:logits")
        session = onnxruntime.InferenceSession(causal_model(None).SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        losses = []
        for prompt, text in zip(self.BATCH[0], self.ENDED):
            until = np.append(np.flatnonzero(text == self.STOP), len(text) - 1)[0] + 1
            ids = np.array([[*prompt, *text[:until]]])
            logits = session.run(["logits"], feed_of(ids.tolist()))[0][0].astype("f8")
            top = logits.max(axis=-1, keepdims=True)
            lost = np.log(np.exp(logits - top).sum(axis=-1)) + top[:, 0]
            losses += list(lost[:-1] - logits[np.arange(ids.size - 1), ids[0, 1:]])
        (tokens,) = [output["tokens"] for output in pair["outputs"] if output["name"] == "logits"]
        self.assertEqual(tokens["tokens"], len(losses))
        self.assertAlmostEqual(tokens["first_perplexity"], np.exp(np.mean(losses)), places=3)

    def test_caches_go_without_these_rows_where_the_model_names_them(self):
        for other, rows in (("batch", 1), ("", 3)):
            with self.subTest(other):
                self.run_ended(self.BATCH, self.ENDED, "--compare-state")
                if not other:
                    for name in "ab":
                        model = onnx.load(str(self.path(f"{name}.onnx")))
                        for output in model.graph.output[1:]:
                            output.type.tensor_type.shape.dim[0].Clear()
                        onnx.save(model, str(self.path(f"{name}.onnx")))
                    self.vernier(*self.words)
                last = self.rows()[-1]
                whole = last["present.0.key/elements"] / rows
                self.assertEqual(whole, CACHED_HEADS * HEAD * (5 + 6), last)

    def test_the_last_token_may_go_without_a_step(self):
        self.run_two("--steps", "8")
        self.assertEqual(len(self.chosen["a"]), 16)
        self.run_two("--steps", "9", code=3)
        self.assertIn("--tokens text.npy: it has 7 tokens behind a prompt, enough for 8 steps, not "
                      "for --steps 9", self.said)

    def test_a_lone_runner_saves_what_another_is_compared_with(self):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        self.save_feeds("feeds.json", [feed_of(prompt) for prompt in PROMPTS])
        np.save(self.path("text.npy"), self.TEXTS)
        np.save(self.path("other.npy"), self.TEXTS[::-1])
        words = ["run", "a.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--decode", "greedy",
                 *CACHED, "--tokens"]
        ended = self.vernier(*words, "text.npy", "--save-outputs", "o.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier(*words, "text.npy", "--load-outputs", "o.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("all 14 tokens of 2 prompts agree, both fed with the same", ended.out)
        ended = self.vernier(*words, "other.npy", "--load-outputs", "o.npz")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        ended = self.vernier(*words, "o.npz", "--steps", "2")
        self.assertIn("--tokens: with --decode, expected FILE.npy or SCRIPT.py, got 'o.npz'",
                      ended.out + ended.err)

    def test_saved_tokens_are_not_those_that_a_runner_chooses(self):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        self.save_feeds("feeds.json", [feed_of(prompt) for prompt in PROMPTS])
        np.save(self.path("text.npy"), self.TEXTS)
        words = ["run", "a.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--decode", "greedy",
                 *CACHED]
        given = ["--tokens", "text.npy"]
        of_given = ["--steps", str(self.TEXTS.shape[1])]
        for name, saved in (("given", given), ("both", [*given, *of_given]), ("own", of_given)):
            ended = self.vernier(*words, *saved, "--save-outputs", name + ".npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        for name, run, code in (("given", of_given, 4), ("both", of_given, 4), ("own", given, 4),
                                ("own", [*given, *of_given], 4), ("given", [*given, *of_given], 0),
                                ("both", given, 0), ("own", of_given, 0)):
            with self.subTest(saved=name, run=run):
                ended = self.vernier(*words, *run, "--load-outputs", name + ".npz")
                said = ended.out + ended.err
                self.assertEqual(ended.code, code, said)
                self.assertEqual("was made from other inputs" in said, code == 4, said)
                self.assertEqual("and the same --tokens, or none" in said, code == 4, said)

    def test_sequences_of_any_size_take_their_rows_one_after_another(self):
        texts = np.array([[7, 50, 3], [4, 31, 2], [60, 11, 8]])
        prompts = [[[1], [2]], [[5]]]
        self.run_two(texts=texts, prompts=prompts)
        self.assertEqual(self.chosen["a"][3:], [token for (token,) in greedy(
            None, prompts[1], 3, [[id] for id in texts[2]])])
        self.assertNotIn("were not used", self.said)

    def test_rows_that_nobody_takes_are_named(self):
        self.run_two(texts=np.concatenate([self.TEXTS, self.TEXTS]))
        self.assertIn("--tokens text.npy: it has 4 rows for 2 prompts: the rows from 2 on were not "
                      "used", self.said)
        self.run_two()
        self.assertNotIn("were not used", self.said)
        # Before a prompt begins, none is unused.
        self.run_two("--steps", "13", code=3)
        self.assertNotIn("were not used", self.said)

    def test_tokens_that_cannot_be_fed_are_named(self):
        for texts, said in (
                (np.array([[1, 64]]), "token 64 at row 0, place 1 is not in the vocabulary: "
                 "'logits' of a has 64 tokens, from 0 to 63"),
                (np.array([[1], [-2]]), "token -2 at row 1, place 0 is not a token id"),
                (np.array([[1], [2**64 - 1]], "u8"), "token 18446744073709551615 at row 1, place 0 "
                 "is not a token id: it is too large"),
                (np.array([[0.5]]), "expected integers [prompts, tokens], the tokens behind each "
                 "prompt, got float64 (1, 1)")):
            with self.subTest(said):
                self.run_two(texts=texts, code=3)
                self.assertIn("--tokens text.npy: " + said, self.said)
                self.assertNotIn("PASSED", self.said)
        self.run_two(texts=np.ones((3, 2), "i8"), prompts=[[[1], [2]]] * 2, code=3)
        self.assertIn("it has 3 rows, and sequence 1 is of 2 prompts", self.said)


class Clean(Case):
    def test_a_hundred_sequences_under_two_runtimes_raise_no_alarm(self):
        onnx.save(causal_model(None), str(self.path("m.onnx")))
        random, one = np.random.default_rng(1), np.ones((1, 1), "i8")
        self.save_feeds("feeds.json", [
            {"input_ids": random.integers(0, 64, (1, 8)), "attention_mask": one,
             "position_ids": 0 * one, **empty_caches()} for _ in range(100)])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--openvino", "--load-inputs",
                             "feeds.json", *CACHED, "--step-slice", "input_ids:axis=1,size=1",
                             "--tolerance", "auto", "--compare-state", "-qqq")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("PASSED, compared 9 outputs in 800 iterations", said)


class WithoutNames(Case):
    """--compare logits for all outputs is not for those that are fed back."""

    def run_two(self, *words, fault="swapped-key-value", code=1):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        onnx.save(causal_model(fault), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [feed_of(PROMPTS[1])])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--decode", "greedy", *CACHED,
                             "--save-record", "r.json", *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)
        return json.loads(self.path("r.json").read_text())["pairs"][0]

    def test_caches_are_no_logits(self):
        pair = self.run_two("--steps", "2", "--compare", "logits", fault=None, code=0)
        self.assertEqual([output["name"] for output in pair["outputs"]], ["logits"])
        self.assertEqual(len(pair["not_logits"]), 8)
        self.assertIn("compared 1 of 9 outputs in 2 iterations", self.said)
        pair = self.run_two("--steps", "2", "--compare", "simple", "logits", fault=None, code=0)
        self.assertEqual([output["name"] for output in pair["outputs"] if output["logits"]],
                         ["logits"])
        self.assertEqual(len(pair["outputs"]), 9)

    def test_logits_that_nothing_compared_are_not_out_of_tolerance(self):
        pair = self.run_two("--steps", "4", "--map-outputs", "logits=")
        kinds = {divergence["kind"] for divergence in pair["decode"]["divergences"]}
        self.assertEqual(kinds, {"not compared"})
        self.assertIn("the tokens diverge, and the logits were not compared", self.said)
        self.assertNotIn("the logits are out of tolerance", self.said)

    def test_one_step_chooses_a_token(self):
        one = "--feed-back: --decode makes one step"
        self.run_two("--steps", "1", fault=None, code=4)
        self.assertIn(f"not done: {one}", self.said)
        pair = self.run_two("--steps", "1", "--lenient", fault=None, code=0)
        self.assertIn(f"note: {one}", self.said)
        self.assertEqual((pair["decode"]["tokens"], pair["compared_iterations"]), (1, 1))
        self.assertIn("the only token of 1 prompt agrees", self.said)

    def test_states_that_were_compared_at_some_steps_are_named(self):
        self.run_two("--steps", "6", fault=None, code=0)
        self.assertIn("; fed back, compared at 2 of 6 steps: present.0.key", self.said)


if __name__ == "__main__":
    unittest.main()
