"""examples/language_models: packages and servers as sides of a comparison.

None of the packages is here. `transformers`, `torch`, `onnxruntime_genai` and `llama_cpp` are
stand-ins in this test with the few calls that the examples make, over a small model in onnx's
reference evaluator; the server is a stand-in on localhost.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import numpy as np

from language_model_server import Server, texts
from language_model_stand_ins import GENAI, LLAMA_CPP, TORCH, TRANSFORMERS
from script_case import ScriptCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/language_models"

# A side in Python, with {tokens} for a vocabulary and {cut} of its logits.
OTHER = """
    import numpy as np
    import sys
    sys.path[:0] = {folders!r}
    from causal_lm import CausalModel, including_vocabulary
    import language_model_server

    class Other(CausalModel):
        def __init__(self, path):
            super().__init__()
            self.model = language_model_server.CausalModel(path)

        def reset_states(self):
            self.past = None

        def forward(self, feed):
            logits, self.past = self.model.step(feed["input_ids"], self.past)
            return {{"logits": logits{cut}}}

        def tokens(self):
            return {tokens}

    def load(path):
        return including_vocabulary(Other(path))
    """
PACKAGES = {"transformers_lm.py": "torch", "onnxruntime_genai_lm.py": "onnxruntime_genai",
            "llama_cpp_lm.py": "llama_cpp"}


class Sides(ScriptCase):
    def setUp(self):
        super().setUp()
        writer = str(ROOT / "tests/data/causal_models.py")
        subprocess.run([sys.executable, writer, str(self.folder)], check=True,
                       stdout=subprocess.DEVNULL)
        ids = np.random.default_rng(0).integers(0, 64, (1, 12))
        caches = {f"past_key_values.{layer}.{part}": np.zeros((1, 2, 0, 8), np.float32)
                  for layer in range(4) for part in ("key", "value")}
        np.savez(self.folder / "prompt.npz", input_ids=ids, position_ids=np.arange(12)[None],
                 attention_mask=np.ones((1, 12), np.int64), **caches)
        np.savez(self.folder / "steps.npz", input_ids=ids, position_ids=np.zeros((1, 1), np.int64),
                 attention_mask=np.ones((1, 1), np.int64), **caches)

    def run_sides(self, first, second, *words, feed="prompt.npz"):
        # The stand-ins import this folder's server.
        paths = os.pathsep.join([str(self.folder), str(ROOT / "tests/python")])
        return self.vernier("--runner", f"a={first}", "--runner", f"b={second}", "--load-inputs",
                            feed, *words, env={"PYTHONPATH": paths}, python=sys.executable)

    def serve(self, model="sound.onnx", settings=None, **options):
        server = Server(self.folder / model, **options)
        self.addCleanup(server.close)
        (self.folder / "vocabulary.json").write_text(json.dumps(texts(64)))
        (self.folder / "endpoint.json").write_text(json.dumps(
            {"url": server.url, "top": 5, "vocabulary": "vocabulary.json", **(settings or {})}))
        return server

    def other(self, tokens="[f' token{i}' for i in range(64)]", cut=""):
        folders = [str(EXAMPLES), str(ROOT / "tests/python")]
        self.write("other.py", OTHER.format(folders=folders, tokens=tokens, cut=cut))
        return "other.py sound.onnx"


class Transformers(Sides):
    def setUp(self):
        super().setUp()
        self.write("torch.py", TORCH)
        self.write("transformers.py", TRANSFORMERS)
        self.side = f"{EXAMPLES}/transformers_lm.py"

    def assert_agrees(self, done, said):
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("a vs. b: PASSED, compared 1 of 9 outputs", done.out)
        self.assertIn(said, done.out, str(done))

    def test_a_prompt_at_once(self):
        words = ("--compare", "logits:logits", "--lenient")
        self.assert_agrees(self.run_sides("onnxrt sound.onnx", f"{self.side} sound.onnx", *words),
                           "over 11 tokens of 'input_ids'")
        done = self.run_sides("onnxrt sound.onnx", f"{self.side} stale-scale.onnx", *words)
        self.assertEqual(done.code, 1, str(done))

    def test_token_by_token_with_the_cache_inside(self):
        words = ("--feed-back", "auto", "--step-slice", "input_ids:axis=1,size=1", "--advance",
                 "position_ids:+1", "attention_mask:append 1", "--compare", "logits:logits",
                 "--lenient")
        self.assert_agrees(self.run_sides("onnxrt sound.onnx", f"{self.side} sound.onnx", *words,
                                          feed="steps.npz"), "in 12 iterations")
        done = self.run_sides("onnxrt sound.onnx", f"{self.side} swapped-key-value.onnx", *words,
                              feed="steps.npz")
        self.assertEqual(done.code, 1, str(done))
        self.assertIn("first out of tolerance at step 1 of sequence 0", done.out)

    def test_greedy_decoding(self):
        done = self.run_sides("onnxrt sound.onnx", f"{self.side} sound.onnx", "--decode",
                              "greedy:logits=input_ids", "--steps", "6", "--feed-back",
                              "present.*:past_key_values.*", "--advance", "position_ids:+1",
                              "attention_mask:append 1", "--compare", "logits:logits", "--lenient")
        self.assert_agrees(done, "all 6 tokens of 1 prompt agree")
        self.assertNotIn("Only tokens are fed back", done.out)  # it is known to keep a state

    def test_its_vocabulary_is_as_long_as_its_logits(self):
        self.serve()
        # Numbers 60 to 63 have no text there.
        tokens = json.dumps(texts(60) + [""] * 4)
        (self.folder / "vocabulary.json").write_text(tokens)
        done = self.run_sides(f"{self.side}:with_vocabulary sound.onnx",
                              f"{EXAMPLES}/openai_endpoint.py:with_vocabulary endpoint.json",
                              "--compare-func-script", f"{EXAMPLES}/compare_tokens.py")
        self.assertEqual(done.code, 0, str(done))
        self.assertNotIn("order of the vocabularies", done.out)


class Engines(Sides):
    """The cache is inside, and empty where a prompt begins."""

    def assert_agrees(self, side):
        feeds = (("prompt.npz", ()),
                 ("steps.npz", ("--feed-back", "auto", "--step-slice", "input_ids:axis=1,size=1",
                                "--advance", "position_ids:+1", "attention_mask:append 1")))
        for feed, words in feeds:
            with self.subTest(feed):
                # A second file: another sequence.
                done = self.run_sides("onnxrt sound.onnx", f"{side} sound.onnx", feed, *words,
                                      "--compare", "logits:logits", "--lenient", feed=feed)
                self.assertEqual(done.code, 0, str(done))
                count = "24 iterations" if words else "2 iterations"
                self.assertIn(f"PASSED, compared 1 of 9 outputs in {count}", done.out)

    def test_onnxruntime_genai(self):
        self.write("onnxruntime_genai.py", GENAI)
        self.assert_agrees(f"{EXAMPLES}/onnxruntime_genai_lm.py")

    def test_llama_cpp(self):
        self.write("llama_cpp.py", LLAMA_CPP)
        self.assert_agrees(f"{EXAMPLES}/llama_cpp_lm.py")
        self.serve()
        done = self.run_sides(f"{EXAMPLES}/llama_cpp_lm.py:with_vocabulary sound.onnx",
                              f"{EXAMPLES}/openai_endpoint.py:with_vocabulary endpoint.json",
                              "--compare-func-script", f"{EXAMPLES}/compare_tokens.py")
        self.assertEqual(done.code, 0, str(done))
        self.assertNotIn("order of the vocabularies", done.out)


class Endpoint(Sides):
    COMPARE = ("--compare-func-script", f"{EXAMPLES}/compare_tokens.py")
    API = f"{EXAMPLES}/openai_endpoint.py"

    def compare(self, first, second=None, *words):
        return self.run_sides(first, second or f"{self.API} endpoint.json", *self.COMPARE, *words)

    def test_tokens_are_aligned_by_number_however_the_server_names_them(self):
        for style in ("id", "text", "token_id", "mapping"):
            with self.subTest(style=style):
                server = self.serve(style=style)
                done = self.compare("onnxrt sound.onnx")
                self.assertEqual(done.code, 0, str(done))
                self.assertIn("'a' and 'b': 12 of 12 positions compared", done.out)
                self.assertIn("[W] Only 5 of 64 tokens of each position, or more, were compared by "
                              "themselves", done.out)
                # What was not compared is no verdict on the logits, and no type differs.
                self.assertIn("compared 3 of 12 outputs in 1 iteration; no verdict on: logits,",
                              done.out)
                self.assertNotIn("types differ", done.out)
                self.assertIn("Best token equal: 12 of 12", done.out)
                self.assertIn("[W] The order of the vocabularies was not compared: none from 'a' "
                              "and 'b'", done.out)
                self.assertEqual(len(server.requests), 12)
                path, _, body = server.requests[-1]
                self.assertEqual((path, len(body["prompt"]), body["max_tokens"], body["logprobs"]),
                                 ("/v1/completions", 12, 1, 5))

    def test_another_model_behind_the_address_fails(self):
        self.serve("stale-scale.onnx")
        done = self.compare("onnxrt sound.onnx")
        self.assertEqual(done.code, 1, str(done))
        # Only what fails is an error.
        self.assertRegex(done.out,
                         r"\[I\] KL divergence of that: mean [\d.e-]+ \(tolerance: 0.001\)")
        self.assertRegex(done.out, r"\[E\] Best token equal: \d+ of 12")

    def test_the_divergence_is_at_most_that_of_the_whole_vocabulary(self):
        self.serve("stale-scale.onnx")
        part = self.compare("onnxrt sound.onnx").out
        self.serve("stale-scale.onnx", settings={"top": 64})
        whole = self.compare("onnxrt sound.onnx").out
        self.assertIn("64 of 64 tokens of each position", whole)
        self.assertNotIn("Only 64", whole)
        native = self.run_sides("onnxrt sound.onnx", "onnxrt stale-scale.onnx", "--compare",
                                "logits:logits").out
        means = [float(text.partition("ean")[2].split()[0]) for text in
                 (line for out, word in ((part, "of that: mean"), (whole, "of that: mean"),
                                         (native, "KL divergence: mean"))
                  for line in out.splitlines() if word in line)]
        self.assertLess(means[0], means[1])
        self.assertAlmostEqual(means[1] / means[2], 1, 3)

    def test_two_servers(self):
        self.serve()
        done = self.compare(f"{self.API}:with_vocabulary endpoint.json",
                            f"{self.API}:with_vocabulary endpoint.json")
        self.assertEqual(done.code, 0, str(done))
        self.assertNotIn("order of the vocabularies", done.out)

    def test_texts_that_nobody_knows_are_counted_and_not_compared(self):
        self.serve()
        names = texts(64)
        names[:32] = [" same"] * 32
        (self.folder / "vocabulary.json").write_text(json.dumps(names))
        done = self.compare("onnxrt sound.onnx")
        self.assertRegex(done.out, r"\[W\] \d+ tokens that 'b' lists are in no vocabulary: they "
                                   "were not compared by themselves")
        (self.folder / "vocabulary.json").write_text(json.dumps([" same"] * 64))
        done = self.compare("onnxrt sound.onnx")
        self.assertEqual(done.code, 1, str(done))
        self.assertIn("[E] no token in common at 12 positions, the first is 0 | FAILED", done.out)

    def test_vocabularies_of_another_size_or_order(self):
        self.serve()
        with_texts = f"{self.API}:with_vocabulary endpoint.json"
        done = self.compare(self.other(), with_texts)
        self.assertEqual(done.code, 0, str(done))
        fewer = self.other("[f' token{i}' for i in range(63)]", "[..., :63]")
        done = self.compare(fewer, with_texts)
        self.assert_fails(done, 6, "the vocabulary of 'a' has 63 tokens, that of 'b' 64")
        turned = self.other("[f' token{(i + 8) % 64}' for i in range(64)]")
        done = self.compare(turned, with_texts)
        self.assert_fails(done, 6, "vocabularies of another order: of 64 tokens of 'a' and 64 of "
                                   "'b' 64 differ, the first is token 0: ' token8' against "
                                   "' token0'")

    def test_the_size_of_a_servers_vocabulary_needs_no_texts_among_the_outputs(self):
        self.serve()
        (self.folder / "vocabulary.json").write_text(json.dumps(texts(50)))
        done = self.compare("onnxrt sound.onnx")
        self.assert_fails(done, 6, "the vocabulary of 'a' has 64 tokens, that of 'b' 50: a number "
                                   "does not mean the same token")

    def test_a_number_beyond_the_other_vocabulary(self):
        self.serve(style="id")
        settings = json.loads((self.folder / "endpoint.json").read_text())
        del settings["vocabulary"]  # or its size would differ
        (self.folder / "endpoint.json").write_text(json.dumps(settings))
        done = self.compare(self.other("[f' token{i}' for i in range(9)]", "[..., :9]"))
        self.assert_fails(done, 6, r"'b' lists token \d+, and the vocabulary of 'a' has 9 tokens")

    def test_what_a_server_may_answer(self):
        cases = [((401, "no key", {}), "answered 401: no key"),
                 ((302, "", {"Location": "http://127.0.0.1:9/"}), "answered 302"),
                 ((200, '{"choices": [{"logprobs": null}]}', {}), "gave no logprobs: ."),
                 ((200, "<html>", {}), "gave no logprobs: <html>")]
        for answer, said in cases:
            with self.subTest(said=said):
                server = self.serve(answer=answer)
                done = self.compare("onnxrt sound.onnx")
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.err, "ValueError: " + server.url + " " + said)

    @staticmethod
    def answer_of(*best):
        """What a server says whose best tokens are these pairs of a number and a logprob."""
        entries = [{"token": f"t{number}", "id": number, "logprob": logprob}
                   for number, logprob in best]
        return 200, json.dumps({"choices": [{"logprobs": {"content": [
            {"top_logprobs": entries}]}}]}), {}

    def test_answers_that_are_broken_are_one_sentence(self):
        cases = [((200, '{"choices', {"Content-Length": "900"}),
                  "broke off in its answer, after 9 bytes"),
                 (self.answer_of((10**30, -1.0)), "lists token 1000000000.*: expected the number"),
                 (self.answer_of((-7, -1.0)), "lists token -7: expected the number"),
                 (self.answer_of((3, -1.0), (3, -2.0)), "lists token 3 twice"),
                 ((200, '{"choices": [{"logprobs": {"content": [{"top_logprobs": [{"token": "a", '
                        '"id": 1, "logprob": ' + "9" * 400 + "}]}]}}]}", {}), "gave no logprobs: ")]
        for answer, said in cases:
            with self.subTest(said=said):
                server = self.serve(answer=answer)
                done = self.compare("onnxrt sound.onnx")
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.err, "ValueError: " + server.url + " " + said)

    def test_settings_of_the_wrong_type_are_one_sentence(self):
        url = '{"url": "http://127.0.0.1:9/v1/completions", '
        for text, said in (
                ("[1]", "expected a JSON object with 'url', got [1]"),
                ("{", "this is not JSON: "),
                ('{"url": 5}', "'url' is 5; expected the address of completions"),
                (url + '"top": -1}', "'top' is -1; expected how many tokens"),
                (url + '"top": "many"}', "'top' is 'many'; expected how many tokens"),
                (url + '"seconds": "long"}', "'seconds' is 'long'; expected how long to wait"),
                (url + '"model": 7}', "'model' is 7; expected a text")):
            with self.subTest(text):
                (self.folder / "endpoint.json").write_text(text)
                done = self.compare("onnxrt sound.onnx")
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.err, r"ValueError: [^\n]*endpoint\.json: " + re.escape(said))
        self.serve()
        (self.folder / "vocabulary.json").write_text('{"a": [1]}')
        self.assertIn("expected a mapping of texts to the numbers of tokens",
                      self.compare("onnxrt sound.onnx").err)

    def test_what_are_no_logprobs_fails(self):
        for best, said in (
                (((1, 5.0), (2, 3.0)), "'b' has 5 for token 1, which is above 0"),
                (((1, 0.6), (2, 0.3)), "'b' has 0.6 for token 1, which is above 0"),
                (((1, -0.1), (2, -0.1)), "the probabilities of 'b' sum to 1.80967")):
            with self.subTest(said):
                self.serve(answer=self.answer_of(*best))
                # Both sides say the same, so nothing else would fail.
                done = self.compare(f"{self.API} endpoint.json")
                self.assertEqual(done.code, 1, str(done))
                self.assertIn("[E] No logprobs at 12 positions, the first is 0: "
                              + said.replace("'b'", "'a'") + " | FAILED", done.out)
                done = self.compare("onnxrt sound.onnx")
                self.assertEqual(done.code, 1, str(done))
                self.assertIn(said + " | FAILED", done.out)
        self.serve(answer=self.answer_of((1, 1e-7), (2, -8.0)))  # as servers round
        done = self.compare(f"{self.API} endpoint.json")
        self.assertEqual(done.code, 0, str(done))

    def test_settings(self):
        self.serve(settings={"url": "localhost:8080"})
        done = self.compare("onnxrt sound.onnx")
        self.assertRegex(done.err, "'url' is 'localhost:8080'; expected the address of completions")
        self.serve(settings={"key_environment": "VERNIER_TEST_KEY"})
        done = self.compare("onnxrt sound.onnx")
        self.assertIn("the variable VERNIER_TEST_KEY is not set", done.err)
        server = self.serve(settings={"key_environment": "VERNIER_TEST_KEY", "model": "small"})
        done = self.compare("onnxrt sound.onnx", None, "--env", "VERNIER_TEST_KEY=secret")
        self.assertEqual(done.code, 0, str(done))
        self.assertEqual(server.requests[0][1]["Authorization"], "Bearer secret")
        self.assertEqual(server.requests[0][2]["model"], "small")
        self.assertNotIn("secret", done.err)
        server.close()
        self.serve(settings={"url": "http://127.0.0.1:9/v1/completions"})
        done = self.compare("onnxrt sound.onnx")
        self.assertIn("http://127.0.0.1:9/v1/completions cannot be reached", done.err)

    def test_texts_without_a_vocabulary(self):
        self.serve()
        settings = json.loads((self.folder / "endpoint.json").read_text())
        del settings["vocabulary"]
        (self.folder / "endpoint.json").write_text(json.dumps(settings))
        done = self.compare("onnxrt sound.onnx")
        self.assertRegex(done.err, "names tokens by their text, such as ' token\\d+': 'vocabulary' "
                                   "has to say their numbers")


class Absent(Sides):
    def test_a_package_that_is_missing_is_one_sentence(self):
        for script, module in PACKAGES.items():
            with self.subTest(script=script):
                # Whatever the machine has: a module that is not there.
                self.write(f"{module}.py", f"""
                    raise ModuleNotFoundError("No module named '{module}'", name="{module}")
                    """)
                done = self.run_sides(f"{EXAMPLES}/{script} sound.onnx", "onnxrt sound.onnx")
                self.assertEqual(done.code, 5, str(done))
                self.assertIn(f"needs the Python module '{module}', which {sys.executable} does "
                              "not have: install it there", done.err)
                self.assertIn(f"there is no module '{module}': pip install", done.err)


if __name__ == "__main__":
    unittest.main()
