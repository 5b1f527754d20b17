"""Padding in steps and decodings: steps that are padding alone, masks of an encoder, masks whose 1
is padding, and what reports say of positions that were left out."""

import json
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import Case

CLASSES = 8
TABLE = np.random.default_rng(4).standard_normal((CLASSES, CLASSES)).astype("f4")
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def save(path, nodes, inputs, outputs, **constants):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, *seen) for name, seen in inputs.items()],
        [helper.make_tensor_value_info(name, *seen) for name, seen in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              str(path))


def counting(path, gain=1.0, padding=0.0):
    """logits [b, n, 8] = table[input_ids], and at padding another value; count + n is fed back."""
    save(path, [helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
                helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
                helper.make_node("Sub", ["one", "mask"], ["pad"]),
                helper.make_node("Unsqueeze", ["pad", "last"], ["column"]),
                helper.make_node("Mul", ["column", "more"], ["pads"]),
                helper.make_node("Add", ["rows", "pads"], ["logits"]),
                helper.make_node("Add", ["count", "one"], ["new_count"])],
         {"input_ids": (INT64, ["b", "n"]), "attention_mask": (INT64, ["b", "n"]),
          "count": (FLOAT, [1])},
         {"logits": (FLOAT, ["b", "n", CLASSES]), "new_count": (FLOAT, [1])},
         table=TABLE * np.float32(gain), one=np.float32(1), more=np.asarray(padding, "f4"),
         last=np.array([2], "i8"))


class PaddedSteps(Case):
    IDS = np.array([[5, 3, 1, 4, 2, 6], [7, 7, 7, 2, 1, 3]], "i8")
    SLICES = ["--feed-back", "new_count:count", "--step-slice", "input_ids:axis=1,size=1",
              "attention_mask:axis=1,size=1"]

    def run_two(self, mask, *words, padding=0.0, code=0):
        counting(self.path("a.onnx"))
        counting(self.path("b.onnx"), gain=1.001, padding=padding)
        self.save_feeds("feeds.json", [{"input_ids": self.IDS[i:i + 1], "count": np.zeros(1, "f4"),
                                        "attention_mask": np.array(row, "i8")[None]}
                                       for i, row in enumerate(mask)])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", *self.SLICES, "--save-record",
                             "r.json", "--save-rows", "rows.jsonl", *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)
        pair = json.loads(self.path("r.json").read_text())["pairs"][0]
        return {output["name"]: output for output in pair["outputs"]}

    def test_a_step_of_padding_alone_is_left_out_and_counted(self):
        mask = [[0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
        for words, rows in ((["--compare", "logits:logits"], 5),
                            (["--compare", "logits:logits", "--fail-fast"], 5),
                            (["--atol", "0.1"], 7)):
            with self.subTest(words):
                outputs = self.run_two(mask, *words, padding=50.0)
                logits = outputs["logits"]
                self.assertEqual((logits["compared_iterations"], logits["not_verified_iterations"]),
                                 (7, 0))
                self.assertEqual(logits["tokens"]["excluded_positions"], 5)
                self.assertIn("note: a vs. b: output 'logits': 5 steps of padding alone, by "
                              "'attention_mask', were not compared", self.said)
                by_logits = "logits:logits" in words
                self.assertIn("5 of 12 positions excluded by 'attention_mask'", self.said)
                if by_logits:
                    self.assertIn(" in 7 of 12 iterations", self.said)
                    self.assertEqual(logits["tokens"]["tokens"], rows)
                self.assertEqual(len(self.path("rows.jsonl").read_text().splitlines()), 12)

    def test_a_fault_at_the_other_steps_is_found(self):
        mask = [[0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
        self.run_two(mask, "--compare", "logits:logits", "--logits-kl-threshold", "1e-12", code=1)

    def test_padding_at_every_step_is_no_pass(self):
        mask = np.zeros((2, 6), "i8")
        for words in (["--compare", "logits:logits"], ["--atol", "0.1"]):
            with self.subTest(words):
                outputs = self.run_two(mask, *words, code=4)
                self.assertEqual(outputs["logits"]["not_verified_iterations"], 12)
                tokens = outputs["logits"]["tokens"]
                self.assertEqual((tokens["positions"], tokens["excluded_positions"]), (12, 12))
                self.assertIn("output 'logits' was not verified, and has not passed: "
                              "'attention_mask' excludes every position", self.said)

    def test_windows_that_overlap_are_told(self):
        counting(self.path("m.onnx"))
        self.save_feeds("feeds.json", [{"input_ids": self.IDS[:1], "count": np.zeros(1, "f4"),
                                        "attention_mask": np.ones((1, 6), "i8")}])
        words = ["run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--feed-back",
                 "new_count:count", "--step-slice"]
        for size, seen in (("size=4,hop=2", True), ("size=2", False)):
            ended = self.vernier(*words, f"input_ids:axis=1,{size}",
                                 f"attention_mask:axis=1,{size}")
            said = ended.out + ended.err
            self.assertEqual(ended.code, 0, said)
            self.assertEqual(f"--step-slice input_ids:axis=1,{size}: a step shares 2 elements of "
                             "'input_ids' with the one before; as tokens they count in both"
                             in said, seen, said)


class PositionsOfAll(Case):
    def test_positions_are_those_of_all_iterations(self):
        counting(self.path("a.onnx"))
        counting(self.path("b.onnx"), padding=50.0)
        self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3]], "i8"),
                                        "attention_mask": np.array([mask], "i8"),
                                        "count": np.zeros(1, "f4")}
                                       for mask in ([1, 1, 1], [1, 1, 0], [1, 1, 1])])
        words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--load-inputs", "feeds.json"]
        for more in ([], ["--compare", "logits:logits"]):
            ended = self.vernier(*words, *more)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn("1 of 9 positions excluded by 'attention_mask'", ended.out)
        for place in ("1/2", "2/2"):
            self.vernier(*words, "--shard", place, "--save-record", "part.json")
        ended = self.vernier("merge", *sorted(self.folder.glob("part.shard-*")), "-o", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (output, _) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        self.assertEqual((output["tokens"]["positions"], output["tokens"]["excluded_positions"]),
                         (9, 1))


def translating(path, tokens="tgt_ids", fault=0.0, named=True):
    """logits [b, t, 8] = table[TOKENS] * the number of real tokens of the encoder's mask. `fault`
    is added to the last of the logits."""
    encoder, decoder = (["b", "s"], ["b", "t"]) if named else ([None, None], [None, None])
    save(path, [helper.make_node("Gather", ["table", tokens], ["rows"]),
                helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOAT),
                helper.make_node("ReduceSum", ["mask", "axes"], ["real"], keepdims=1),
                helper.make_node("Unsqueeze", ["real", "last"], ["column"]),
                helper.make_node("Cast", ["input_ids"], ["ids"], to=FLOAT),
                helper.make_node("ReduceSum", ["ids"], ["sum"], keepdims=0),
                helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
                helper.make_node("Add", ["rows", "nothing"], ["same"]),
                helper.make_node("Mul", ["same", "column"], ["scaled"]),
                helper.make_node("Add", ["scaled", "fault"], ["logits"]),
                helper.make_node("Identity", ["count"], ["new_count"])],
         {"input_ids": (INT64, encoder), "attention_mask": (INT64, encoder),
          tokens: (INT64, decoder), "count": (FLOAT, [1])},
         {"logits": (FLOAT, [*decoder, CLASSES]), "new_count": (FLOAT, [1])},
         table=TABLE, axes=np.array([1], "i8"), last=np.array([2], "i8"), zero=np.float32(0),
         fault=np.pad(np.full((1, 1, 1), fault, "f4"), ((0, 0), (0, 0), (CLASSES - 1, 0))))


class EncoderAndDecoder(Case):
    MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], "i8")

    def feed(self, tokens, prompt):
        return {"input_ids": np.full((2, 4), 3, "i8"), "attention_mask": self.MASK, tokens: prompt,
                "count": np.zeros(1, "f4")}

    def decode(self, tokens, prompt, *words, named=True):
        translating(self.path("a.onnx"), tokens, named=named)
        self.save_feeds("feeds.json", [self.feed(tokens, prompt)])
        ended = self.vernier("run", "a.onnx", "--onnxrt", "--runner", "b=onnxrt a.onnx",
                             "--load-inputs", "feeds.json", "--feed-back", "new_count:count",
                             "--decode", f"greedy:logits={tokens}", "--steps", "3",
                             "--save-rows", "rows.jsonl", *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, 0, self.said)
        return [json.loads(line)["b/tokens"]
                for line in self.path("rows.jsonl").read_text().splitlines()]

    def expected(self, tokens, prompt):
        session = onnxruntime.InferenceSession(str(self.path("a.onnx")),
                                               providers=["CPUExecutionProvider"])
        said, fed = [], prompt
        for _ in range(3):
            logits, _ = session.run(None, self.feed(tokens, fed))
            said.append(logits[:, -1].argmax(-1).tolist())
            fed = np.array(said[-1], "i8")[:, None]
        return said

    def test_the_encoders_mask_stays_whole_and_may_end_with_padding(self):
        """As many tokens in the decoder's prompt as in the encoder's: sizes do not tell them
        apart, names do. The sign of the second prompt's logits hangs on its mask being whole."""
        for tokens in ("decoder_input_ids", "tgt_ids"):
            for prompt in (np.array([[1, 2, 3, 4], [4, 3, 2, 1]], "i8"), np.ones((2, 1), "i8")):
                for words in ([], ["--advance", "attention_mask:+0", "input_ids:+0"]):
                    with self.subTest((tokens, prompt.shape, words)):
                        said = self.decode(tokens, prompt, *words, "--save-outputs", "o.json")
                        self.assertEqual(said, self.expected(tokens, prompt))
                        self.assertEqual(self.scales(prompt), [[4, 2]] * 3)

    def test_where_axes_have_no_names_what_is_said_to_stay_stays_whole(self):
        prompt = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], "i8")
        said = self.decode("tgt_ids", prompt, "--mask", "none", "--advance", "attention_mask:+0",
                           "input_ids:+0", "--save-outputs", "o.json", named=False)
        self.assertEqual(said, self.expected("tgt_ids", prompt))
        self.assertEqual(self.scales(prompt), [[4, 2]] * 3)
        self.assertIn("--advance attention_mask:+0: 'attention_mask' stays whole at every step, of "
                      "shape (2, 4)", self.said)

    def scales(self, prompt):
        """By which the rows of the table came, step by step."""
        from polygraphy.comparator import RunResults
        (_, steps), *_ = RunResults.load(str(self.path("o.json")))
        return [[round(float(np.abs(row[-1]).max() / np.abs(TABLE).max(axis=1)[
            np.argmin([np.abs(row[-1] / np.abs(row[-1]).max() - t / np.abs(t).max()).max()
                       for t in TABLE])])) for row in step["logits"]] for step in steps]

    def compare(self, tokens, prompt, *words, code):
        translating(self.path("a.onnx"), tokens)
        translating(self.path("b.onnx"), tokens, fault=5.0)
        self.save_feeds("feeds.json", [self.feed(tokens, prompt)])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--compare", "logits:logits",
                             "--save-record", "r.json", *words)
        self.said = ended.out + ended.err
        self.assertEqual(ended.code, code, self.said)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        return output

    def test_logits_of_a_decoder_have_no_mask_of_the_encoder(self):
        prompt = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], "i8")
        output = self.compare("tgt_ids", prompt, code=1)
        self.assertEqual(output["logits"]["excluded_positions"], 0)
        self.assertIn("; 'attention_mask' is 0 at 2 positions (--mask attention_mask leaves them "
                      "out)", self.said)
        # Nor are they judged by the encoder's tokens.
        self.assertEqual(output.get("tokens", {}).get("tokens", 0), 0)
        output = self.compare("tgt_ids", prompt, "--tokens", "tgt_ids", "--mask",
                              "attention_mask", code=1)
        self.assertEqual(output["logits"]["excluded_positions"], 2)


def decoding(path, padding=0.0, names=("b", "t")):
    """counting() with the names of a decoder, beside the inputs of an encoder."""
    counting(path, padding=padding)
    model = onnx.load(str(path))
    graph = model.graph
    for node in graph.node:
        node.input[:] = ["decoder_" + name if name in ("input_ids", "attention_mask") else name
                         for name in node.input]
    for value in graph.input:
        if value.name != "count":
            value.name = "decoder_" + value.name
    for value in [*graph.input, *graph.output]:
        for axis, name in zip(value.type.tensor_type.shape.dim, names):
            if axis.dim_param:
                axis.ClearField("dim_param") if name is None else setattr(axis, "dim_param", name)
    graph.input.extend(helper.make_tensor_value_info(name, INT64, [
        None if part is None else part for part in (names[0], names[1] and "s")])
        for name in ("input_ids", "attention_mask"))
    onnx.save(model, str(path))


class DecoderMask(Case):
    """The mask of the decoder's positions is `decoder_attention_mask`, and no other."""

    def test_it_is_used_by_itself(self):
        encoder = np.array([[1, 1, 1, 0]], "i8")
        for mask, names, words, code in (
                ([1, 1, 0], ("b", "t"), [], 0),
                ([1, 1, 0], ("b", "t"), ["--compare", "logits:logits"], 0),
                ([1, 1, 0], (None, None), ["--compare", "logits:logits"], 0),
                ([1, 1, 0], ("b", "t"), ["--mask", "none"], 1),
                ([1, 0, 0], ("b", "t"), [], 0)):
            with self.subTest(mask=mask, names=names, words=words):
                decoding(self.path("a.onnx"), names=names)
                decoding(self.path("b.onnx"), padding=50.0, names=names)
                self.save_feeds("feeds.json", [
                    {"decoder_input_ids": np.array([[7, 2, 3]], "i8"),
                     "decoder_attention_mask": np.array([mask], "i8"), "input_ids": encoder,
                     "attention_mask": encoder, "count": np.zeros(1, "f4")}])
                ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner",
                                     "b=onnxrt b.onnx", "--load-inputs", "feeds.json", *words)
                self.assertEqual(ended.code, code, ended.out + ended.err)
                self.assertEqual(f"{mask.count(0)} of 3 positions excluded by "
                                 "'decoder_attention_mask'" in ended.out, code == 0,
                                 ended.out)


class OtherMasks(Case):
    def test_a_mask_whose_one_is_padding_is_decoded_with_mask_none(self):
        counting(self.path("m.onnx"))
        self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3], [1, 4, 5]], "i8"),
                                        "attention_mask": np.array([[1, 0, 0], [0, 0, 0]], "i8"),
                                        "count": np.zeros(1, "f4")}])
        words = ["run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx", "--load-inputs",
                 "feeds.json", "--feed-back", "new_count:count", "--decode", "greedy", "--steps",
                 "3", "--advance", "attention_mask:+0"]
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("'attention_mask' excludes the last position of prompt 0 of sequence 0, "
                      "which chooses the next token: pad prompts on the left, or feed those of "
                      "each length by themselves; if 0 is a token in this mask, and 1 padding, add "
                      "--mask none", ended.out + ended.err)
        ended = self.vernier(*words, "--mask", "none")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("all 6 tokens of 2 prompts agree", ended.out + ended.err)

    def test_two_saved_sides_say_that_no_mask_is_read(self):
        counting(self.path("m.onnx"))
        self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3]], "i8"),
                                        "attention_mask": np.array([[1, 1, 0]], "i8"),
                                        "count": np.zeros(1, "f4")}])
        for name in ("a", "b"):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                                 "--save-outputs", f"{name}.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        words = ["run", "--load-outputs", "a.json", "b.json"]
        note = "--load-inputs: saved outputs are compared at all positions, because inputs are not"
        for more, seen in (([], False), (["--load-inputs", "feeds.json"], True)):
            ended = self.vernier(*words, *more)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(note in ended.out + ended.err, seen, ended.out + ended.err)


class Logits(Case):
    def test_positions_that_a_mask_excludes_are_compared_by_their_logits(self):
        """They change no verdict, but whoever asks for strictness hears that they differ."""
        for seen in (False, True):
            counting(self.path("a.onnx"))
            counting(self.path("b.onnx"), padding=50.0 * seen * np.eye(CLASSES)[0])
            self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3]], "i8"),
                                            "attention_mask": np.array([[1, 1, 0]], "i8"),
                                            "count": np.zeros(1, "f4")}])
            for strict in (False, True):
                with self.subTest(seen=seen, strict=strict):
                    ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner",
                                         "b=onnxrt b.onnx", "--load-inputs", "feeds.json",
                                         "--compare", "simple", "logits:logits",
                                         *["--strict"] * strict)
                    self.assertEqual(ended.code, 4 if seen and strict else 0, ended.out)
                    said = "1 of 3 positions excluded by 'attention_mask', which differ"
                    self.assertEqual(said in ended.out, seen, ended.out)


class Reports(Case):
    def test_reports_say_what_a_mask_left_out(self):
        counting(self.path("a.onnx"))
        counting(self.path("b.onnx"), padding=50.0)
        self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3]], "i8"),
                                        "attention_mask": np.array([[1, 1, 0]], "i8"),
                                        "count": np.zeros(1, "f4")}])
        words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--load-inputs", "feeds.json", "--report", "r.md", "--report", "r.xml"]
        for more, code, text in (
                ([], 0, "1 of 3 positions excluded by 'attention_mask', which differ"),
                (["--mask", "none"], 1, "")):
            with self.subTest(more):
                ended = self.vernier(*words, *more)
                self.assertEqual(ended.code, code, ended.out + ended.err)
                for path in ("r.md", "r.xml"):
                    report = self.path(path).read_text(encoding="utf-8")
                    report = report.replace("&apos;", "'").replace("\\_", "_").replace("&#39;", "'")
                    self.assertEqual("positions excluded by" in report, bool(text), report)
                    self.assertIn(text, report)

    def test_elements_are_those_that_were_compared(self):
        counting(self.path("m.onnx"))
        self.save_feeds("feeds.json", [{"input_ids": np.array([[7, 2, 3]], "i8"),
                                        "attention_mask": np.array([[1, 1, 0]], "i8"),
                                        "count": np.zeros(1, "f4")}])
        counting(self.path("b.onnx"), padding=50.0)
        ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--compare", "logits:logits",
                             "--save-record", "r.json", "--save-rows", "rows.jsonl")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
        self.assertEqual(output["elements"], 2 * CLASSES)
        (row,) = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        self.assertEqual(row["logits/elements"], 2 * CLASSES)
        self.assertEqual(row["logits/l2"], 0)


if __name__ == "__main__":
    unittest.main()
