"""--decode greedy: tokens are those of a loop over ONNX Runtime, and the first that differs is
reported."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import Case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "data"))
from causal_models import causal_model, empty_caches  # noqa: E402

STEPS = 8
PROMPTS = ([[3, 1, 4, 1, 5]], [[9, 2, 6, 5, 3]])
CACHED = ["--feed-back", "present.*:past_key_values.*", "--advance", "position_ids:+1",
          "attention_mask:append 1"]


def greedy(fault, prompt, steps=STEPS, fed=None):
    """[step][row] of what the model says. With `fed`, [step][row], it is fed with those instead."""
    session = onnxruntime.InferenceSession(causal_model(fault).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    tokens = np.array(prompt, "i8")
    positions, seen = np.tile(np.arange(tokens.shape[1]), (len(tokens), 1)), 0
    caches, said = empty_caches(len(tokens)), []
    for step in range(steps):
        seen += tokens.shape[1]
        outputs = dict(zip(names, session.run(None, {
            "input_ids": tokens, "position_ids": positions,
            "attention_mask": np.ones((len(tokens), seen), "i8"), **caches})))
        said.append(outputs.pop("logits")[:, -1].argmax(axis=-1).tolist())
        tokens = np.array(said[-1] if fed is None else fed[step], "i8")[:, None]
        positions = np.full(tokens.shape, seen)
        caches = {name.replace("present", "past_key_values"): cache
                  for name, cache in outputs.items()}
    return said


def feed_of(prompt):
    tokens = np.array(prompt, "i8")
    return {"input_ids": tokens, "attention_mask": np.ones_like(tokens),
            "position_ids": np.tile(np.arange(tokens.shape[1]), (len(tokens), 1)),
            **empty_caches(len(tokens))}


class Decode(Case):
    def run_two(self, *words, fault=None, prompts=PROMPTS, runners=("onnxrt", "onnxrt"), code=0):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        onnx.save(causal_model(fault), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [feed_of(prompt) for prompt in prompts])
        ended = self.vernier("run", *(word for name, kind in zip("ab", runners) for word in
                                      ("--runner", f"{name}={kind} {name}.onnx")),
                             "--load-inputs", "feeds.json", "--decode", "greedy", "--steps", STEPS,
                             *CACHED, "--save-rows", "rows.jsonl", "--save-record", "r.json",
                             *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)
        return json.loads(self.path("r.json").read_text())["pairs"][0]

    def rows(self):
        return [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]

    def tokens(self, side):
        return [row[f"{side}/tokens"] for row in self.rows()]

    def test_tokens_are_those_of_a_loop(self):
        pair = self.run_two("--atol", "1e-3", runners=("onnxrt", "openvino"))
        expected = [token for prompt in PROMPTS for (token,) in greedy(None, prompt)]
        self.assertEqual(self.tokens("a"), expected)
        self.assertEqual(self.tokens("b"), expected)
        self.assertIn("a | Decodes greedily: the largest of the last position of 'logits' is "
                      "'input_ids' of the next step", self.said)
        self.assertIn("all 16 tokens of 2 prompts agree", self.said)
        decode = pair["decode"]
        self.assertEqual((decode["agreeing_tokens"], decode["diverged_prompts"]), (16, 0))
        self.assertEqual(decode["tokens_until_divergence_least"], STEPS)
        self.assertEqual(pair["compared_iterations"], 16)

    def test_runners_that_take_turns_decode_the_same(self):
        self.run_two("--sequential-runners")
        expected = [token for prompt in PROMPTS for (token,) in greedy(None, prompt)]
        self.assertEqual(self.tokens("b"), expected)

    def test_a_batch_has_a_token_for_each_prompt(self):
        prompts = [[*PROMPTS[0], *PROMPTS[1]]]
        pair = self.run_two(prompts=prompts)
        self.assertEqual(self.tokens("a"), greedy(None, prompts[0]))
        self.assertEqual(pair["decode"]["prompts"], 2)

    def test_the_first_divergent_token_is_told(self):
        pair = self.run_two("--report", "r.md", fault="position-off-by-one", prompts=PROMPTS[1:],
                            code=1)
        sides = [[token for (token,) in greedy(fault, PROMPTS[1])]
                 for fault in (None, "position-off-by-one")]
        step = next(i for i, (a, b) in enumerate(zip(*sides)) if a != b)
        self.assertEqual((self.tokens("a"), self.tokens("b")), tuple(sides))
        decode = pair["decode"]
        (divergence,) = decode["divergences"]
        self.assertEqual([divergence[key] for key in ("step", "first_token", "second_token")],
                         [step, sides[0][step], sides[1][step]])
        self.assertEqual(divergence["kind"], "beyond tolerance")
        self.assertGreater(divergence["first_margin"], 0)
        self.assertEqual(decode["agreeing_tokens"],
                         sum(a == b for a, b in zip(*sides)))
        self.assertEqual(decode["tokens_until_divergence_median"], step)
        self.assertEqual(decode["steps_after_divergence"], STEPS - step - 1)
        self.assertEqual(pair["compared_iterations"], step + 1)
        self.assertEqual([row["after_divergence"] for row in self.rows()],
                         [int(i > step) for i in range(STEPS)])
        sentence = f"at step {step} of sequence 0, prompt 0: token {sides[0][step]} against " \
                   f"{sides[1][step]}, apart by "
        self.assertIn(sentence, self.said)
        self.assertIn(f"at step {step} of sequence 0", self.path("r.md").read_text())
        self.assertIn("failed: a vs. b: the tokens diverge where the logits are out of tolerance",
                      self.said)

    def test_teacher_forcing_goes_on_behind_a_divergence(self):
        fault = "position-off-by-one"
        pair = self.run_two("--state", "reference", fault=fault, prompts=PROMPTS[1:], code=1)
        forced = greedy(None, PROMPTS[1])
        self.assertEqual(self.tokens("a"), [token for (token,) in forced])
        self.assertTrue(pair["decode"]["forced"])
        self.assertEqual(pair["compared_iterations"], STEPS)
        self.assertEqual(pair["decode"]["steps_after_divergence"], 0)
        self.assertIn(", both fed with the same tokens", self.said)

    def test_a_forced_candidate_does_not_end_by_its_own_stop(self):
        fault = "position-off-by-one"
        forced = greedy(None, PROMPTS[1])
        other = [token for (token,) in greedy(fault, PROMPTS[1], fed=forced)]
        forced = [token for (token,) in forced]
        stop = next(token for token in other if token not in forced)
        self.assertLess(other.index(stop), STEPS - 1)
        pair = self.run_two("--state", "reference", "--decode-stop", stop, fault=fault,
                            prompts=PROMPTS[1:], code=1)
        self.assertEqual(self.tokens("b"), other)
        self.assertEqual(pair["decode"]["tokens"], STEPS)
        self.assertEqual(pair["decode"]["agreeing_tokens"],
                         sum(a == b for a, b in zip(forced, other)))

    def test_outputs_saved_with_another_stop_are_refused(self):
        onnx.save(causal_model(None), str(self.path("m.onnx")))
        self.save_feeds("feeds.json", [feed_of(prompt) for prompt in PROMPTS])
        words = ["run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--decode", "greedy",
                 "--steps", STEPS, *CACHED]
        stop = ["--decode-stop", greedy(None, PROMPTS[0])[2][0]]
        for path, more in (("with.npz", stop), ("without.npz", [])):
            self.assertEqual(self.vernier(*words, *more, "--save-outputs", path).code, 0)
            ended = self.vernier(*words, *more, "--load-outputs", path)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        of_stop = " ".join(map(str, stop))
        for path, more, said in (
                ("with.npz", [], f"{of_stop}, and this run has no --decode-stop"),
                ("without.npz", stop, f"no --decode-stop, and this run has {of_stop}"),
                ("with.npz", ["--decode-stop", "63"],
                 f"{of_stop}, and this run has --decode-stop 63")):
            with self.subTest(said):
                ended = self.vernier(*words, *more, "--load-outputs", path)
                self.assertEqual(ended.code, 3, ended.out + ended.err)
                self.assertIn(f"'{path}' was saved with {said}", ended.out + ended.err)

    def test_behind_the_end_no_token_counts(self):
        said = [token for (token,) in greedy(None, PROMPTS[0])]
        stop = said[2]
        pair = self.run_two("--decode-stop", stop, prompts=PROMPTS[:1])
        self.assertEqual(self.tokens("a"), said[:3] + [stop] * (STEPS - 3))
        self.assertEqual(pair["decode"]["tokens"], 3)
        self.assertEqual((pair["compared_iterations"], pair["decode"]["steps_after_end"]),
                         (3, STEPS - 3))
        self.assertIn("steps after the end of all prompts were not compared", self.said)
        # Of what is fed back, that is the last step.
        cached = [row["step"] for row in self.rows() if "present.0.key/verdict" in row]
        self.assertEqual(cached, [0, 2])

    def test_first_steps_alone_show_nothing_of_what_is_fed_back(self):
        """Caches that are wrong pass where every prompt ends at its first token."""
        ((first,),) = greedy(None, PROMPTS[0], 1)
        words = ("--decode-stop", first, "--atol", "1e-3")
        pair = self.run_two(*words, fault="swapped-key-value", prompts=PROMPTS[:1], code=4)
        self.assertTrue(pair["incomplete"])
        self.assertIn("not done: a vs. b: --decode: every prompt ends or diverges at its first "
                      "token, so no step to which anything was fed back was compared", self.said)
        self.run_two(*words, "--lenient", prompts=PROMPTS[:1])
        self.assertIn("note: a vs. b: --decode: every prompt ends", self.said)
        ends = self.run_two("--decode-stop", first, prompts=PROMPTS)
        self.assertFalse(ends.get("incomplete", False), self.said)

    def test_logits_that_are_fed_back_are_read_all_the_same(self):
        table = np.random.default_rng(0).random((8, 8)).astype(np.float32)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node("Gather", ["table", "ids"], ["e"]),
             helper.make_node("Add", ["e", "prev"], ["logits"])], "g",
            [value("ids", TensorProto.INT64, [1, 1]), value("prev", TensorProto.FLOAT, [1, 1, 8])],
            [value("logits", TensorProto.FLOAT, [1, 1, 8])],
            [numpy_helper.from_array(table, "table")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        words = ("run", "m.onnx", "--onnxrt", "--runner", "b=onnxruntime", "--feed-back",
                 "logits:prev", "--decode", "greedy:logits=ids", "--steps", 4, "--val-range",
                 "ids:[0,7]", "--save-record", "r.json")
        said = []
        for more in ((), ("--save-outputs", "o.npz")):
            ended = self.vernier(*words, *more)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
            said.append((pair["decode"]["tokens"], pair["decode"]["agreeing_tokens"]))
        self.assertEqual(said, [(4, 4)] * 2)

    def test_blame_in_time_needs_a_second_step(self):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        onnx.save(causal_model("swapped-key-value"), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [feed_of(PROMPTS[0])])
        ended = self.vernier("blame", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--decode", "greedy", "--steps", 1,
                             *CACHED)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("--feed-back: --decode makes one step, and there is no next one that "
                      "anything could be fed to: leave out what continues", ended.out + ended.err)


class Misfed(Case):
    """What is wrong with caches and steps is said before or beside what was compared."""

    def run_two(self, *words, code):
        for name in "ab":
            onnx.save(causal_model(None), str(self.path(f"{name}.onnx")))
        self.save_feeds("feeds.json", [feed_of(PROMPTS[0])])
        ended = self.vernier("run", *words, "--load-inputs", "feeds.json", "--steps", "4",
                             "--save-record", "r.json")
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)

    def test_a_cache_that_nothing_feeds_is_named(self):
        self.run_two("a.onnx", "--onnxrt", "--feed-back", "present.0.key:past_key_values.0.key",
                     *CACHED[2:], code=2)
        self.assertIn("--feed-back: nothing feeds the input 'past_key_values.0.value' of onnxrt "
                      "after the first step, and output 'present.0.value' is called like it: add "
                      "present.0.value:past_key_values.0.value", self.said)

    def test_the_word_to_add_has_the_runners_label(self):
        self.run_two("a.onnx", "--onnxrt", "--openvino", "--state", "reference", "--feed-back",
                     "openvino:present.*:past_key_values.*", *CACHED[2:], code=2)
        self.assertIn("no --feed-back word is about the reference, onnxrt: add onnxrt:OUTPUT:INPUT",
                      self.said)

    # Masks and positions stay as they are: the second step cannot be computed.
    STAY = ("--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--feed-back", CACHED[1],
            "--advance", "position_ids:+0", "attention_mask:+0")

    def test_steps_that_no_runner_makes_are_missing(self):
        self.run_two(*self.STAY, code=6)
        self.assertIn("a vs. b: INCOMPLETE", self.said)
        self.assertIn("only 1 of 4 iterations could be compared: neither side has iterations 1 to "
                      "3, from step 1 of sequence 0 on", self.said)
        pair = json.loads(self.path("r.json").read_text())["pairs"][0]
        self.assertEqual((pair["compared_iterations"], pair["expected_iterations"]), (1, 4))

    def test_leniency_does_not_accept_that_a_runner_failed(self):
        self.run_two(*self.STAY, "--lenient", code=6)
        self.assertIn("a vs. b: INCOMPLETE", self.said)
        self.assertIn("only 1 of 4 iterations could be compared", self.said)
        record = json.loads(self.path("r.json").read_text())
        self.assertFalse(record["complete"])
        self.assertTrue(record["pairs"][0]["incomplete"])


if __name__ == "__main__":
    unittest.main()
