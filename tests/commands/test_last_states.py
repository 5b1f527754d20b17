"""Caches are compared at the last step that counts of each prompt, wherever it ends."""

import sys
import unittest

import onnx

from program import Case
from test_decode import CACHED, PROMPTS, causal_model, feed_of, greedy

# The model, of which one cache is wrong where this token is chosen: no logits show it then.
WRONG = """
import numpy as np
import onnxruntime

SESSION = onnxruntime.InferenceSession("a.onnx", providers=["CPUExecutionProvider"])
NAMES = [output.name for output in SESSION.get_outputs()]


def infer(feed):
    outputs = dict(zip(NAMES, SESSION.run(None, {
        value.name: feed[value.name] for value in SESSION.get_inputs()})))
    if any(row.argmax() == {token} for row in outputs["logits"][:, -1]):
        outputs["present.2.value"] = 0 * outputs["present.2.value"]
    return outputs
"""


class LastStates(Case):
    def run_wrong(self, token, prompts, *words):
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        self.path("wrong.py").write_text(WRONG.replace("{token}", str(token)), encoding="utf-8")
        self.save_feeds("feeds.json", [feed_of(prompts)])
        feed_back = [f"present.{layer}.{part}:past_key_values.{layer}.{part}"
                     for layer in range(4) for part in ("key", "value")]
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner",
                             f"b=wrong.py --python {sys.executable}", "--load-inputs", "feeds.json",
                             "--decode", "greedy:logits=input_ids", "--feed-back", *feed_back,
                             *CACHED[2:], *words)
        return ended.code, ended.out + ended.err

    def test_of_a_sequence_that_ends_before_its_last_step(self):
        said = [token for (token,) in greedy(None, PROMPTS[0])]
        stop = next(token for token in said[1:] if token != said[0])
        steps = said.index(stop) + 1
        for words in (("--steps", steps), ("--steps", steps + 4, "--decode-stop", stop)):
            code, text = self.run_wrong(stop, PROMPTS[0], *words)
            self.assertEqual(code, 1, text)
            self.assertIn(f"step {steps - 1} of sequence 0", text)

    def test_of_a_prompt_that_ends_before_others(self):
        prompts = [*PROMPTS[0], *PROMPTS[1]]
        said = greedy(None, prompts)
        first, second = ([step[row] for step in said] for row in (0, 1))
        stop = next(token for token in first[1:] if token != first[0] and token not in second)
        code, text = self.run_wrong(stop, prompts, "--steps", 8, "--decode-stop", stop)
        self.assertEqual(code, 1, text)
        self.assertIn(f"step {first.index(stop)} of sequence 0", text)


if __name__ == "__main__":
    unittest.main()
