"""`vernier compare` of saved steps judges as the run does that saved them: with the histories of a
decoding, its ends, and what is fed back."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from steps_case import StepsCase

CYCLE = 9 * np.roll(np.eye(5), 1, axis=1)  # after 0 comes 1, after 4 comes 0


class SavedSteps(StepsCase):
    def decoder(self, name, table):
        """logits = table[ids]; sumN = sum + ids of this step, a cache of a kind."""
        info = {n: helper.make_tensor_value_info(n, t, s) for n, t, s in (
            ("input_ids", TensorProto.INT64, ["b", "n"]), ("sum", TensorProto.FLOAT, ["b", 3]),
            ("logits", TensorProto.FLOAT, ["b", "n", 5]), ("sumN", TensorProto.FLOAT, ["b", 3]))}
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["logits"]),
                 helper.make_node("Cast", ["input_ids"], ["f"], to=TensorProto.FLOAT),
                 helper.make_node("ReduceSum", ["f", "axes"], ["now"]),
                 helper.make_node("Add", ["sum", "now"], ["sumN"])]
        graph = helper.make_graph(nodes, "g", [info["input_ids"], info["sum"]],
                                  [info["logits"], info["sumN"]],
                                  [numpy_helper.from_array(np.float32(table), "table"),
                                   numpy_helper.from_array(np.array([1], "i8"), "axes")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def decoders(self, hair=2e-6):
        """After 2 comes 3 or, by a hair, 0."""
        tables = [CYCLE.copy() for _ in range(2)]
        tables[0][2, 0] = 9 - hair
        tables[1][2, 0], tables[1][2, 3] = 9, 9 - hair
        self.decoder("a.onnx", tables[0])
        self.decoder("b.onnx", tables[1])

    def decode(self, *words, code=0, prompts=((0,), (3,)), save=True):
        self.save_feeds("feeds.json", [{"input_ids": np.array([p], "i8")} for p in prompts])
        words = ("--load-inputs", "feeds.json", "--decode", "greedy", "--steps", "6",
                 "--feed-back", "sumN:sum", "--input-shapes", "sum:[1,3]", *words)
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--save-record", "live.json", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        for name in "ab" if save else "":
            ended = self.vernier("run", "--runner", f"{name}=onnxrt {name}.onnx", *words,
                                 "--save-outputs", f"{name}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)

    def compare(self, *words, code, record="r.json"):
        ended = self.vernier("compare", "a.npz", "b.npz", "--save-record", record, *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def pair(self, record):
        (pair,) = json.loads(self.path(record).read_text())["pairs"]
        return pair

    def test_steps_behind_a_divergence_are_not_judged(self):
        self.decoders()
        self.decode()
        self.compare(code=0)
        live, saved = self.pair("live.json"), self.pair("r.json")
        self.assertEqual(live["decode"]["near_ties"], 2)
        for key in ("divergences", "steps_after_divergence", "agreeing_tokens", "tokens",
                    "near_ties", "forced", "prompts"):
            self.assertEqual(live["decode"][key], saved["decode"][key], key)

    def test_a_clear_divergence_fails_at_its_step(self):
        self.decoders(hair=1)
        self.decode(code=1)
        self.assertIn("the tokens diverge where the logits are out of tolerance: step 2 of "
                      "sequence 0, prompt 0: token 3 against 0", self.compare(code=1))

    def test_equal_prompts_are_sequences_of_their_own(self):
        self.decoders()
        self.decode(prompts=((0,), (0,)))
        self.compare(code=0)
        self.assertEqual(self.pair("r.json")["decode"]["prompts"], 2)
        self.assertEqual(self.pair("r.json")["decode"]["diverged_prompts"], 2)

    def test_histories_of_given_tokens_and_of_a_reference_do_not_part(self):
        self.decoders()
        np.save(self.path("t.npy"), np.array([[1, 2, 3, 4, 0, 1]], "i8"))
        self.decode("--tokens", "t.npy", prompts=((0,),))
        self.compare(code=0)
        decode = self.pair("r.json")["decode"]
        self.assertTrue(decode["forced"])
        self.assertEqual(decode["steps_after_divergence"], 0)

    def test_given_texts_go_on_behind_the_prompts(self):
        """Which are longer than a step, and of other lengths in the next sequence."""
        table = np.random.default_rng(8).normal(0, 2, (5, 5)).astype("f4")
        self.decoder("a.onnx", table)
        self.decoder("b.onnx", table)
        prompts = ((0, 1, 2), (3,), (4, 0))
        self.decode(prompts=prompts)
        texts, losses = np.zeros((3, 9), "i8"), []
        chances = np.exp(table.astype("f8"))
        chances /= chances.sum(axis=1, keepdims=True)
        for text, prompt in zip(texts, prompts):
            text[:len(prompt)] = prompt
            for at in range(1, len(prompt) + 6):
                if at >= len(prompt):
                    text[at] = table[text[at - 1]].argmax()
                losses.append(-np.log(chances[text[at - 1], text[at]]))
        np.save(self.path("texts.npy"), texts)
        self.compare("--tokens", "texts.npy", "--compare", "logits:logits", code=0)
        tokens, = [o["tokens"] for o in self.pair("r.json")["outputs"] if o["name"] == "logits"]
        self.assertEqual(tokens["tokens"], len(losses))
        self.assertAlmostEqual(tokens["first_perplexity"], np.exp(np.mean(losses)), places=4)

    def test_another_stop_is_not_compared(self):
        self.decoder("a.onnx", CYCLE)
        self.decoder("b.onnx", CYCLE)
        self.decode("--decode-stop", "4")
        self.compare(code=0)
        self.assertEqual(self.pair("r.json")["decode"]["steps_after_end"],
                         self.pair("live.json")["decode"]["steps_after_end"])
        self.assertGreater(self.pair("r.json")["decode"]["steps_after_end"], 0)
        self.path("a.npz").rename(self.path("stop.npz"))
        self.decode()
        self.path("stop.npz").rename(self.path("a.npz"))
        said = self.compare(code=4)
        self.assertIn("without --decode-stop and with --decode-stop 4: after the token that ends "
                      "a sequence other tokens are fed", said)

    def test_logits_leave_out_what_is_fed_back(self):
        self.decoder("a.onnx", CYCLE)
        self.decoder("b.onnx", CYCLE)
        self.decode("--compare", "logits")
        self.compare("--compare", "logits", code=0)
        for record in ("live.json", "r.json"):
            self.assertEqual([o["name"] for o in self.pair(record)["outputs"]], ["logits"])

    def test_growth_and_own_errors_are_told_as_by_the_run(self):
        self.recurrent("a.onnx")
        self.late("b.onnx")
        self.save_feeds("feeds.json", self.recordings(12))
        words = ("--load-inputs", "feeds.json", "--step-slice", "x:axis=1,size=4", "--feed-back",
                 "hn:h", "--atol", "9")
        for name in "ab":
            ended = self.vernier("run", "--runner", f"{name}=onnxrt {name}.onnx", *words,
                                 "--save-outputs", f"{name}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        live = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                            *words, "--compare-state", "--save-record", "live.json")
        self.assertEqual(live.code, 0, live.out + live.err)
        said = self.compare("--atol", "9", code=0)
        times = [{o["name"]: o["time"] for o in self.pair(record)["outputs"]}
                 for record in ("live.json", "r.json")]
        self.assertEqual(times[0], times[1])
        (sentence,) = [line.split(": ", 1)[1] for line in live.out.splitlines() +
                       live.err.splitlines() if " steps" in line and "the error of" in line][:1]
        self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
