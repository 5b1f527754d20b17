"""Where it is known what a language model was fed: perplexity of --compare logits, and positions
that a mask excludes from every comparison."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "data"))
from causal_models import causal_model, empty_caches  # noqa: E402


class Tokens(Case):
    """What a language model was fed: perplexity, and positions that a mask excludes."""
    FEEDS = [{"input_ids": np.array([[3, 1, 4, 1, 5, 0]], "i8"),
              "attention_mask": np.array([[1, 1, 1, 1, 1, 0]], "i8")}]
    CHUNKS = ["--feed-back", "present.*:past_key_values.*", "--step-slice",
              "input_ids:axis=1,size=1", "position_ids:axis=1,size=1", "--advance",
              "attention_mask:append 1"]

    def model(self, name, gain):
        """logits [batch, n, 8] = gain * table[input_ids]. Padding gives other logits, so that
        comparing it would be seen."""
        table = np.random.default_rng(2).standard_normal((8, 8)).astype("f4") * gain
        ids, mask = (helper.make_tensor_value_info(n, TensorProto.INT64, ["b", size])
                     for n, size in (("input_ids", "n"), ("attention_mask", "n")))
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "n", 8])
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
                 helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
                 helper.make_node("Sub", ["one", "mask"], ["padding"]),
                 helper.make_node("Unsqueeze", ["padding", "last"], ["column"]),
                 helper.make_node("Mul", ["column", "noise"], ["more"]),
                 helper.make_node("Add", ["rows", "more"], ["logits"])]
        noise = (np.arange(8) * (gain - 1) * 1e4).astype("f4")
        graph = helper.make_graph(
            nodes, "g", [ids, mask], [logits],
            [numpy_helper.from_array(np.asarray(array), key) for key, array in
             (("table", table), ("one", np.float32(1)), ("last", np.array([2], "i8")),
              ("noise", noise))])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))
        return table

    def run_two(self, *words, code, feeds=None, compare="logits"):
        first, second = self.model("a.onnx", 1), self.model("b.onnx", 1.001)
        self.save_feeds("feeds.json", feeds or self.FEEDS)
        self.ended = self.vernier(
            "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--load-inputs",
            "feeds.json", "--compare", compare, "--save-record", "r.json", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return first, second

    def says(self, *sentences):
        for sentence in sentences:
            self.assertIn(sentence, self.ended.out + self.ended.err)

    def output(self):
        record = json.loads(self.path("r.json").read_text())
        (output,) = record["pairs"][0]["outputs"]
        return output

    @staticmethod
    def losses(table, tokens):
        rows = table[tokens[:-1]].astype("f8")
        rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
        return -rows[np.arange(len(rows)), tokens[1:]]

    def test_padding_is_left_out_and_the_rest_has_a_perplexity(self):
        tables = self.run_two(code=0)
        output, tokens = self.output(), self.FEEDS[0]["input_ids"][0][:5]
        self.assertEqual(output["logits"]["excluded_positions"], 1)
        self.assertEqual(output["logits"]["compared_positions"], 5)
        found = output["tokens"]
        self.assertEqual((found["source"], found["mask"], found["tokens"]),
                         ("input_ids", "attention_mask", 4))
        for key, table in zip(("first_perplexity", "second_perplexity"), tables):
            want = np.exp(self.losses(table, tokens).mean())
            self.assertAlmostEqual(found[key], want, delta=1e-5 * want)
        self.says("6 positions of 8 logits, along axis 2, 1 excluded by 'attention_mask'",
                  "a vs. b: output 'logits': perplexity ", " over 4 tokens of 'input_ids', ratio ",
                  "; 1 of 6 positions excluded by 'attention_mask'")

    def compare_elements(self, *words, code, feeds=None, compare="simple"):
        """Two models that differ by 0.1 % of the logits, and by much more where padding is."""
        self.run_two(*(words or ["--atol", "0.1"]), code=code, feeds=feeds, compare=compare)
        (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
        return pair["outputs"][0]

    def test_padding_is_compared_by_no_function(self):
        output = self.compare_elements(code=0)
        self.assertEqual(output["elements"], 40)
        self.assertEqual((output["tokens"]["mask"], output["tokens"]["positions"],
                          output["tokens"]["excluded_positions"], output["tokens"]["tokens"],
                          output["tokens"]["excluded_differ_iterations"]),
                         ("attention_mask", 6, 1, 0, 1))
        self.says("a vs. b: output 'logits': 1 of 6 positions excluded by 'attention_mask', which "
                  "differ", "40 elements")
        for words in (["--sequential-runners"], ["--mask", "attention_mask"]):
            with self.subTest(words):
                self.compare_elements("--atol", "0.1", *words, code=0)
        self.compare_elements("--l2-threshold", "1", code=0, compare="l2")
        # A fault in what is left is told at its place in the whole output.
        output = self.compare_elements("--atol", "1e-6", "--rtol", "0", code=1)
        self.assertEqual(output["mismatches"], 40)
        places = [element["index"] for element in output["worst_iteration"]["worst_elements"]]
        self.assertTrue(places and all(place[0] == 0 and place[1] < 5 for place in places), places)

    def test_caches_of_padding_are_left_out_too(self):
        """Right of a prompt no token of it sees them: a mask that is missing changes nothing."""
        onnx.save(causal_model(None), str(self.path("a.onnx")))
        onnx.save(causal_model("padding-not-masked"), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [{
            "input_ids": np.array([[3, 1, 4, 1, 5, 0, 0]], "i8"),
            "position_ids": np.array([[0, 1, 2, 3, 4, 4, 4]], "i8"),
            "attention_mask": np.array([[1, 1, 1, 1, 1, 0, 0]], "i8"), **empty_caches()}])
        words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--load-inputs", "feeds.json"]
        # The axis of the mask is that of the caches by its name; that of logits has another.
        self.ended = self.vernier(*words)
        self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
        self.says("output 'logits': 128 elements out of tolerance at positions where "
                  "'attention_mask' is 0 (--mask attention_mask leaves them out)",
                  "output 'present.0.key' and 1 more: 8 of 28 positions excluded",
                  "output 'present.3.value': 4 of 14 positions excluded by 'attention_mask', which "
                  "differ")
        self.ended = self.vernier(*words, "--mask", "attention_mask")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("output 'logits': 2 of 7 positions excluded by 'attention_mask', which differ")
        self.assertEqual(self.vernier(*words, "--mask", "none").code, 1)

    @staticmethod
    def constant(inputs, output, dims):
        """A model with one output that is always the same; inputs: {name: (type, dims)}."""
        nodes, parts = [], []
        for name, _ in inputs.items():
            nodes += [helper.make_node("Cast", [name], [name + "_f"], to=TensorProto.FLOAT),
                      helper.make_node("ReduceSum", [name + "_f"], [name + "_s"], keepdims=0)]
            parts.append(name + "_s")
        nodes += [helper.make_node("Sum", parts, ["sum"]),
                  helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
                  helper.make_node("Add", ["nothing", "value"], ["y"])]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info(name, *read)
                         for name, read in inputs.items()],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)],
            [numpy_helper.from_array(output, "value"),
             numpy_helper.from_array(np.float32(0), "zero")])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def run_faulty(self, fault, shape, dims, *words, mask=("b", "n"), other=None, values=None,
                   feed="attention_mask", takes="attention_mask", kind="i8", extra=(), state=False):
        """Two models that give the same but at the place `fault`."""
        values = np.array([[1, 1, 1, 1, 0, 0]] if values is None else values, kind)
        names = ["input_ids", *([takes] if takes else []), *extra]
        types = {name: (TensorProto.INT64, list(mask)) for name in names}
        if kind == "?":
            types[takes] = (TensorProto.BOOL, list(mask))
        more = {name: np.ones((1, 6), "i8") for name in extra}
        if state:
            types["state"], more["state"] = (TensorProto.FLOAT, dims), np.zeros(shape, "f4")
        output = np.random.default_rng(3).standard_normal(shape).astype("f4")
        onnx.save(self.constant(types, output, dims), str(self.path("a.onnx")))
        output[fault] += 1
        onnx.save(self.constant(types, output, other or dims), str(self.path("b.onnx")))
        self.save_feeds("feeds.json", [{"input_ids": np.ones((1, 6), "i8"), feed: values, **more}])
        self.ended = self.vernier(
            "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--load-inputs",
            "feeds.json", "--save-record", "r.json", *words)
        return self.ended.code

    def test_no_output_has_the_positions_of_a_mask_by_chance(self):
        padded, shape, named = (0, 5, 0), (1, 6, 4), ["b", "n", 4]
        for what, fault, shape_, dims, more in (
                ("sizes that no model names", padded, shape, [1, 6, 4], {"mask": [1, 6]}),
                ("queries", padded, shape, ["b", "queries", 4], {}),
                ("another batch", padded, shape, ["c", "n", 4], {}),
                ("another axis", (0, 1, 5, 2), (1, 2, 6, 6), ["b", 2, 6, "n"], {}),
                ("two such axes", padded, (1, 6, 6), ["b", "n", "n"], {}),
                ("the other model names it otherwise", padded, shape, named,
                 {"other": ["b", "queries", 4]}),
                ("of an encoder and a decoder", padded, shape, named,
                 {"extra": ["decoder_input_ids"]}),
                ("a mask to add", (0, 1, 0), shape, named, {"values": [[0, 0, 0, 0, -9, -9]]}),
                ("padding that is True", (0, 1, 0), shape, named,
                 {"values": [[0, 0, 0, 0, 1, 1]], "kind": "?"}),
                ("a mask that no model takes", padded, shape, named, {"takes": None}),
                ("a mask that is fed with another", padded, shape, named,
                 {"extra": ["other"], "words": ["--map-inputs", "attention_mask=other"]}),
                ("a state", padded, shape, named,
                 {"state": True, "words": ["--feed-back", "y:state", "--steps", "2",
                                          "--advance", "input_ids:+0", "attention_mask:+0"]}),
                ("a mask that models take by another name", padded, shape, named,
                 {"takes": "other", "words": ["--map-inputs", "other=attention_mask"]})):
            with self.subTest(what):
                words = more.pop("words", [])
                code = self.run_faulty(fault, shape_, dims, *words, **more)
                self.assertEqual(code, 1, self.ended.out + self.ended.err)
        self.run_faulty(padded, shape, [1, 6, 4], mask=[1, 6])
        self.says("output 'y': 1 element out of tolerance at positions where 'attention_mask' is 0 "
                  "(--mask attention_mask leaves them out)")
        self.assertEqual(self.output()["tokens"]["masked_mismatches"], 1)

    def test_logits_of_a_decoder_have_neither_mask_nor_tokens_of_the_encoder(self):
        code = self.run_faulty((0, 5, 0), (1, 6, 4), ["b", "n", 4], "--compare", "logits",
                               extra=["decoder_input_ids"])
        self.assertEqual(code, 1, self.ended.out + self.ended.err)
        self.assertEqual(self.output()["tokens"]["source"], "decoder_input_ids")

    def test_what_is_left_out_and_differs_is_said(self):
        # As many values as positions, and a model that names nothing beside one that does.
        for dims, other in ((["b", "n", 6], None), ([1, 6, 6], ["b", "n", 6])):
            self.assertEqual(self.run_faulty((0, 5, 0), (1, 6, 6), dims, other=other), 0)
            self.says("output 'y': 2 of 6 positions excluded by 'attention_mask', which differ")
        self.run_faulty((0, 5, 0), (1, 6, 4), ["b", "n", 4], "--strict")
        self.assertEqual(self.ended.code, 4, self.ended.out + self.ended.err)
        self.says("--strict: positions that the mask excludes differ beyond tolerance in outputs: "
                  "'y'")
        words = ["--strict", "--mask", "attention_mask"]  # asked for
        self.assertEqual(self.run_faulty((0, 5, 0), (1, 6, 4), [1, 6, 4], *words, mask=[1, 6]), 0)
        self.says("2 of 6 positions excluded by 'attention_mask', which differ")
        self.assertEqual(self.run_faulty((0, 1, 0), (1, 6, 4), ["b", "n", 4]), 1)
        self.says("output 'y': 2 of 6 positions excluded by 'attention_mask'")
        self.assertNotIn("which differ", self.ended.out)

    def test_a_mask_that_is_named_says_which_value_is_padding(self):
        for values, kind, got in (([[0, 0, 0, 0, -9, -9]], "i8", "got -9"),
                                  ([[0, 0, 0, 0, 1, 1]], "?", "got bool, whose True may mean")):
            self.run_faulty((0, 1, 0), (1, 6, 4), ["b", "n", 4], "--mask", "attention_mask",
                            values=values, kind=kind)
            self.assertEqual(self.ended.code, 3, self.ended.out + self.ended.err)
            self.says("--mask attention_mask: expected integers, 1 at positions that count and 0 "
                      "at the others, " + got)

    def test_all_positions_are_compared_where_nobody_fed_a_mask(self):
        for words in (["--mask", "none"], ["--lenient"]):
            with self.subTest(words):
                output = self.compare_elements("--atol", "0.1", *words, code=1)
                self.assertNotIn("tokens", output)
                self.assertEqual(output["elements"], 48)
        # Masks that are drawn at random exclude nothing.
        self.ended = self.vernier(
            "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--input-shapes",
            "input_ids:[1,6]", "attention_mask:[1,6]", "--val-range", "attention_mask:[0,0]",
            "--save-record", "r.json")
        self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)

    def test_padding_alone_is_no_pass(self):
        feeds = [{**self.FEEDS[0], "attention_mask": np.zeros((1, 6), "i8")}]
        self.compare_elements(code=4, feeds=feeds)
        self.says("NOT VERIFIED", "'attention_mask' excludes every position")
        self.run_two("--mask", "nosuch", code=2, compare="simple")
        self.says("--mask nosuch: there is no input 'nosuch'")
        # One that was named has to fit an output.
        feeds = [{**self.FEEDS[0], "attention_mask": np.ones((1, 1), "i8")}]
        self.run_two("--mask", "attention_mask", code=3, feeds=feeds, compare="simple")
        self.says("--mask attention_mask: shape (1, 1) does not fit logits at positions of (1, 6)")

    def test_shards_keep_what_a_mask_left_out(self):
        whole = self.compare_elements(code=0, feeds=self.FEEDS * 3)
        parts = []
        for number in (1, 2):
            ended = self.vernier(
                "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                "--load-inputs", "feeds.json", "--atol", "0.1", "--shard", f"{number}/2",
                "--save-record", "part.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            parts.append(f"part.shard-000{number}-of-0002.json")
        ended = self.vernier("merge", *parts, "-o", "m.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (pair,) = json.loads(self.path("m.json").read_text())["pairs"]
        self.assertEqual(pair["outputs"][0]["tokens"], whole["tokens"])
        self.assertEqual(whole["tokens"]["excluded_positions"], 3)

    def test_runners_that_take_turns_and_iterations_add_up(self):
        self.run_two("--sequential-runners", code=0, feeds=self.FEEDS * 3)
        self.assertEqual(self.output()["tokens"]["tokens"], 12)
        self.assertEqual(self.output()["tokens"]["excluded_positions"], 3)

    def test_tokens_come_from_a_file_too(self):
        np.save(self.path("t.npy"), np.array([[3, 1, 4, 1, 5, 7, 2]]))
        self.run_two("--tokens", "t.npy", code=0)
        self.assertEqual(self.output()["tokens"]["source"], "t.npy")
        self.assertEqual(self.output()["tokens"]["tokens"], 4)

    def test_a_mask_that_excludes_everything_is_no_pass(self):
        feeds = [{**self.FEEDS[0], "attention_mask": np.zeros((1, 6), "i8")}]
        self.run_two(code=4, feeds=feeds)
        self.says("NOT VERIFIED", "'attention_mask' excludes every position")

    def test_what_does_not_fit_is_said(self):
        np.save(self.path("large.npy"), np.array([[3, 1, 40, 1, 5, 7]]))
        np.save(self.path("short.npy"), np.array([[3, 1, 4]]))
        np.save(self.path("float.npy"), np.zeros((1, 6), "f4"))
        for words, code, sentence in (
                (["--tokens", "nosuch"], 2, "--tokens nosuch: there is no input 'nosuch', but "),
                (["--mask", "nosuch"], 2, "--mask nosuch: there is no input 'nosuch', but "),
                (["--tokens", "large.npy"], 3, "token 40 at (0, 2) is none of the 8 classes"),
                (["--tokens", "short.npy"], 3, "shape (1, 3) has no tokens for the (1, 6) positions"
                 " of sequence 0"),
                (["--tokens", "float.npy"], 3, "not float32"),
                (["--tokens", "none.npy"], 3, "none.npy")):
            with self.subTest(words):
                self.run_two(*words, code=code)
                self.says(sentence)

    def test_shards_do_not_lose_them(self):
        rng = np.random.default_rng(6)
        feeds = [{"input_ids": rng.integers(0, 8, (1, 6)),
                  "attention_mask": np.array([[1] * (6 - i % 3) + [0] * (i % 3)], "i8")}
                 for i in range(7)]
        np.save(self.path("t.npy"), rng.integers(0, 8, (7, 6)))
        for words in ([], ["--tokens", "t.npy"], ["--mask", "attention_mask"]):
            self.run_two(*words, "--reproducible", code=0, feeds=feeds)
            whole = self.path("r.json").read_text(encoding="utf-8")
            self.assertIn('"first_perplexity"', whole)
            for number in (1, 2, 3):
                self.run_two(*words, "--shard", f"{number}/3", "--shard-by", "stride",
                             "--shard-exit", "done", code=0, feeds=feeds)
            ended = self.vernier("merge", *sorted(self.folder.glob("r.shard-*.json")), "-o",
                                 "m.json", "--reproducible")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(self.path("m.json").read_text(encoding="utf-8"), whole, words)

    def test_a_file_gives_batches_of_any_size_their_rows(self):
        rng = np.random.default_rng(8)
        feeds = [{"input_ids": rng.integers(0, 8, (batch, 6)),
                  "attention_mask": np.ones((batch, 6), "i8")} for batch in (2, 2, 1)]
        np.save(self.path("t.npy"), np.concatenate([feed["input_ids"] for feed in feeds]))
        of_input = self.run_two(code=0, feeds=feeds) and self.output()["tokens"]
        self.run_two("--tokens", "t.npy", "--reproducible", code=0, feeds=feeds)
        self.assertEqual({**self.output()["tokens"], "source": "input_ids"}, of_input)
        whole = self.path("r.json").read_text(encoding="utf-8")
        # A shard that has seen no larger batch before a smaller one takes other rows.
        for by, code in (("stride", 0), ("contiguous", 3)):
            for number in (1, 2):
                self.run_two("--tokens", "t.npy", "--shard", f"{number}/2", "--shard-by", by,
                             "--shard-exit", "done", code=0, feeds=feeds)
            self.ended = self.vernier("merge", *sorted(self.folder.glob("r.shard-*.json")), "-o",
                                      "m.json", "--reproducible")
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
            if code == 0:
                self.assertEqual(self.path("m.json").read_text(encoding="utf-8"), whole)
        self.says("--tokens t.npy: the shard of iteration 2 took row 2 for its first, and the "
                  "iterations before it have 4 rows", "run this without --shard")

    def test_a_mask_of_another_shape_is_refused(self):
        feeds = [{**self.FEEDS[0], "attention_mask": np.ones((1, 1), "i8")}]
        self.run_two("--mask", "attention_mask", code=3, feeds=feeds)
        self.says("--mask attention_mask: shape (1, 1) does not fit logits at positions of (1, 6)")

    def test_saved_outputs_have_no_inputs(self):
        a = np.random.default_rng(0).standard_normal((1, 6, 8)).astype("f4")
        for name, y in (("a", a), ("b", a + np.float32(1e-4))):
            self.save_runs(f"{name}.json", [(name, [{"logits": y}])])
        np.save(self.path("t.npy"), np.array([[3, 1, 4, 1, 5, 7]]))
        words = ["compare", "a.json", "b.json", "--compare", "logits", "--save-record", "r.json"]
        for source, code in (("input_ids", 2), ("t.npy", 0)):
            self.ended = self.vernier(*words, "--tokens", source)
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
            if code:
                self.says("--tokens input_ids: saved outputs have no inputs")
        self.assertEqual(self.output()["tokens"]["tokens"], 5)

    def test_a_step_is_judged_by_the_token_of_the_next(self):
        onnx.save(causal_model(None), str(self.path("m.onnx")))
        tokens = np.array([[3, 1, 4, 1, 5, 9]], "i8")
        self.save_feeds("feeds.json", [{
            "input_ids": tokens, "position_ids": np.arange(6, dtype="i8")[None],
            "attention_mask": np.ones((1, 6), "i8"), **empty_caches()}])
        both = ["run", "--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt m.onnx",
                "--load-inputs", "feeds.json", "--compare", "logits:logits", "--save-record",
                "r.json"]
        counts, whole = [], None
        for words in ([], self.CHUNKS):
            if words:
                self.save_feeds("feeds.json", [{
                    "input_ids": tokens, "position_ids": np.arange(6, dtype="i8")[None],
                    "attention_mask": np.ones((1, 1), "i8"), **empty_caches()}])
            ended = self.vernier(*both, *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            outputs = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
            (found,) = [o["tokens"] for o in outputs if o["name"] == "logits"]
            counts.append((found["tokens"], found["perplexity_ratio"]))
            whole = whole or found["first_perplexity"]
            self.assertAlmostEqual(found["first_perplexity"], whole, delta=1e-4 * whole)
        self.assertEqual(counts, [(5, 1.0), (5, 1.0)])
        np.save(self.path("t.npy"), tokens[:, :1])
        self.ended = self.vernier(*both, *self.CHUNKS, "--tokens", "t.npy")
        self.says("--tokens t.npy: it has 1 token, and sequence 0 has", "NOTHING COMPARED")


if __name__ == "__main__":
    unittest.main()
