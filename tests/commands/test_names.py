"""One network under other names: --map-inputs, --map-outputs, and what is paired without them."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from program import Case

class Names(Case):
    def net(self, name, inputs, outputs, wrong=None):
        """A sum and a product of the first of `inputs` (name to shape), the second one negated;
        `wrong` is an output that is off by a little."""
        first, second = inputs
        nodes = [helper.make_node("Add", [first, first], [outputs[0]]),
                 helper.make_node("Mul", [first, first], [outputs[1]]),
                 helper.make_node("Neg", [second], [outputs[2]])]
        if wrong is not None:
            at = outputs.index(wrong)
            nodes[at].output[0] = "exact"
            scale = helper.make_node("Constant", [], ["scale"], value_float=1.01)
            nodes += [scale, helper.make_node("Mul", ["exact", "scale"], [wrong])]
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s))
                for n, s in inputs.items()}
        shapes = [inputs[first], inputs[first], inputs[second]]
        results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, list(s))
                   for n, s in zip(outputs, shapes)]
        # In another order: a position tells nothing.
        graph = helper.make_graph(nodes, "g", list(info.values()), results[::-1 if wrong else 1])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def run_both(self, *words, code=0):
        words = ("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--save-record", "record.json", *words)
        ended = self.vernier(*words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def record(self):
        return json.loads(self.path("record.json").read_text(encoding="utf-8"))

    def paired(self):
        return {o["name"]: (o["other_name"], o["paired_by"])
                for o in self.record()["pairs"][0]["outputs"]}

    def test_other_names_are_paired_by_shape_and_value(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (2, 3), "q": (5,)}, ("out:1", "out:0", "out:2"))
        said = self.run_both()
        self.assertIn("b: input 'p': paired with 'x' by type and shape", said)
        self.assertIn("(by value, e = ", said)
        self.assertEqual(self.paired(), {"sum": ("out:1", "value"), "product": ("out:0", "value"),
                                         "negated": ("out:2", "shape")})

    def test_a_pair_by_value_is_still_compared(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (2, 3), "q": (5,)}, ("out:1", "out:0", "out:2"), wrong="out:1")
        said = self.run_both(code=1)
        self.assertIn("output 'sum'", said)
        self.assertEqual(self.paired()["sum"], ("out:1", "value"))

    def test_maps_of_inputs_and_outputs(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (1, 2), "q": (3,)}, ("s", "t", "u"))
        self.path("maps.txt").write_text("# of b\nb:q=y[::2]\n", encoding="utf-8")
        said = self.run_both("--map-inputs", "b:p=x[:1,1:]", "@maps.txt", "--map-outputs",
                             "a:b:sum=s", "b:a:u=negated[::2]", "product=", "t=", code=1)
        self.assertIn("left out by --map-outputs: product, t", said)
        record = self.record()
        self.assertEqual(record["runners"][1]["mapped_inputs"],
                         [{"input": "p", "from": "x[:1,1:]"}, {"input": "q", "from": "y[::2]"}])
        self.assertEqual(record["pairs"][0]["left_out"], ["product", "t"])
        self.assertEqual(self.paired(), {"sum": ("s", "map"), "negated[::2]": ("u", "map")})
        # The shapes of the first differ, and the other one agrees.
        by_name = {o["name"]: o for o in record["pairs"][0]["outputs"]}
        self.assertTrue(by_name["negated[::2]"]["passed"])
        said = self.run_both("--map-inputs", "b:p=x[:1,1:]", "@maps.txt", "--map-outputs",
                             "s=sum[:1,1:]", "u=negated[::2]", "b:product=", "a:t=")
        self.assertIn("compared 2 of 4 outputs", said)

    def test_permuted_axes_are_proposed_and_taken(self):
        self.net("a.onnx", {"x": (1, 2, 3, 4), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"x": (1, 3, 4, 2), "y": (5,)}, ("s", "t", "negated"))
        said = self.run_both(code=3)
        self.assertIn("permute its axes with --map-inputs b:x=x@0,2,3,1", said)
        self.run_both("--map-inputs", "b:x=x@0,2,3,1")
        self.assertEqual(self.paired(), {"negated": ("negated", "exact"),
                                         "sum": ("s@0,3,1,2", "value"),
                                         "product": ("t@0,3,1,2", "value")})

    def test_where_several_fit_both_sides_are_shown(self):
        self.net("a.onnx", {"x": (5,), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (5,), "q": (5,)}, ("sum", "product", "negated"))
        said = self.run_both(code=3)
        self.assertIn("    p  float32 (5,)", said)
        self.assertIn("    x  float32 (5,)", said)
        self.assertIn("--map-inputs b:p=x b:q=y", said)
        self.run_both("--map-inputs", "b:p=x", "b:q=y")
        self.run_both("--map-inputs", "p=x", "q=y")

    def test_patterns_map_all_that_they_fit(self):
        self.net("a.onnx", {"x.0": (2, 3), "x.1": (5,)}, ("y", "present.0", "present.1"))
        self.net("b.onnx", {"p_0": (2, 3), "p_1": (5,)}, ("y", "cache_0", "cache_1"))
        inputs = ["--map-inputs", "p_*=x.*"]
        said = self.run_both(*inputs, "--map-outputs", "present.*=cache_*")
        self.assertEqual(self.paired(), {"y": ("y", "exact"), "present.0": ("cache_0", "map"),
                                         "present.1": ("cache_1", "map")})
        self.assertIn("b: input 'p_1': is 'x.1' (--map-inputs)", said)
        self.run_both(*inputs, "--map-outputs", "present.*=", "b:cache_*=")
        self.assertEqual(list(self.paired()), ["y"])
        self.assertEqual(sorted(self.record()["pairs"][0]["left_out"]),
                         ["cache_0", "cache_1", "present.0", "present.1"])

    def test_a_wrong_word_is_found_before_anything_is_inferred(self):
        self.net("a.onnx", {"x.0": (2, 3), "x.1": (5,)}, ("y", "present.0", "present.1"))
        self.net("b.onnx", {"x.0": (2, 3), "x.1": (5,)}, ("y", "cache_0", "cache_1"))
        for words, error in (
                (["--map-outputs", "presents.*="],
                 "presents.*=: no two runners that are compared have such outputs"),
                (["--map-outputs", "present.0=cache_7"],
                 "present.0=cache_7: no two runners that are compared have such outputs"),
                (["--map-outputs", "a:b:present.*=cash_*"],
                 "a:b:present.*=cash_*: output 'present.0' would be compared with 'cash_0', which "
                 "is none"),
                (["--map-outputs", "a:b:presents.*=cache_*"],
                 "a:b:presents.*=cache_*: there is no output 'presents.*'; there are "),
                (["--map-outputs", "a:b:present.0=cash_0"],
                 "a:b:present.0=cash_0: the other side has no 'cash_0', but "),
                (["--map-inputs", "b:q*=x*"], "b:q*=x*: b has no input 'q*', but 'x.0', 'x.1'"),
                (["--map-outputs", "p*=q"], "p*=q: expected one '*' in both names, or none")):
            with self.subTest(error):
                said = self.run_both(*words, "-vv", code=2)
                self.assertIn(f"{words[0]} {error}", said)
                self.assertNotIn("Completed", said)
                self.assertNotIn("Inference Time", said)

    def test_words_that_do_not_fit(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (2, 3), "q": (5,)}, ("s", "t", "u"))
        for words, sentence in (
                (("--map-inputs", "p"), "--map-inputs p: expected NAME=NAME"),
                (("--map-inputs", "b:p=z"), "b:p=z: the feed has no 'z', but 'x', 'y'"),
                (("--map-inputs", "b:z=x"), "b:z=x: b has no input 'z', but 'p', 'q'"),
                (("--map-inputs", "b:p=x[9]"), "index 9 is out of range for axis 0"),
                (("--map-inputs", "c:p=x"),
                 "no runner has an input 'c:p'; there are 'x', 'y', 'p', 'q'\n"),
                (("--map-inputs", "zzz="), "zzz=: the feed has no 'zzz', but 'x', 'y'"),
                (("--map-outputs", "sum=z"), "no two runners that are compared"),
                (("--map-outputs", "a:b:sum=z"), "the other side has no 'z', but 's', 't', 'u'")):
            with self.subTest(words):
                self.assertIn(sentence, self.run_both(*words, code=2))
        self.assertIn("gone.txt", self.run_both("--map-inputs", "@gone.txt", code=3))
        ended = self.vernier("run", "a.onnx", "--onnxrt", "--map-inputs", "x=")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("x=: every runner has an input 'x', so none can go without it",
                      ended.out + ended.err)
        ended = self.vernier("run", "a.onnx", "--onnxrt", "--map-outputs", "sum=z")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--map-outputs has no effect without two sides to compare", ended.err)

    def test_blame_follows_other_names(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (2, 3), "q": (5,)}, ("out:1", "out:0", "out:2"))
        for words in ((), ("--map-inputs", "b:p=x", "q=y", "--map-outputs", "out:1=sum")):
            with self.subTest(words):
                ended = self.vernier("blame", "--runner", "a=onnxrt a.onnx", "--runner",
                                     "b=onnxrt b.onnx", "--save-blame", "blame.json", *words)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                blame = json.loads(self.path("blame.json").read_text(encoding="utf-8"))
                self.assertEqual(blame["compared"], 3)

    def test_blame_proposes_names_and_layouts_for_given_feeds(self):
        for first, last, order in (((1, 2, 3), (1, 3, 2), "0,2,1"),
                                   ((1, 2, 3, 4), (1, 3, 4, 2), "0,2,3,1"),
                                   ((1, 2, 3, 4, 5), (1, 3, 4, 5, 2), "0,2,3,4,1")):
            self.net("a.onnx", {"x": first, "y": (9,)}, ("sum", "product", "negated"))
            self.net("b.onnx", {"p": last, "y": (9,)}, ("sum", "product", "negated"))
            np.savez(self.path("feed.npz"), x=np.ones(first, np.float32), y=np.ones(9, np.float32))
            for command in ("run", "blame"):
                with self.subTest(command=command, order=order):
                    ended = self.vernier(command, "--runner", "a=onnxrt a.onnx", "--runner",
                                         "b=onnxrt b.onnx", "--load-inputs", "feed.npz")
                    self.assertEqual(ended.code, 3, ended.out + ended.err)
                    self.assertIn("        p  float32 (1, ", ended.err)
                    self.assertIn("        x  float32 (1, ", ended.err)
                    self.assertIn(f"--map-inputs b:p=x@{order}\n", ended.err)

    def test_the_run_file_has_them(self):
        self.net("a.onnx", {"x": (2, 3), "y": (5,)}, ("sum", "product", "negated"))
        self.net("b.onnx", {"p": (2, 3), "q": (5,)}, ("s", "t", "u"))
        maps = ("--map-inputs", "b:p=x", "--map-outputs", "t=product")
        self.run_both(*maps, "--save-run-file", "run.json")
        saved = json.loads(self.path("run.json").read_text(encoding="utf-8"))
        self.assertEqual(saved["inputs"]["maps"], ["b:p=x"])
        self.assertEqual(saved["output_maps"], ["t=product"])
        ended = self.vernier("run", "--run-file", "run.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


class SavedOutputs(Case):
    """What values decide, on files."""

    def compare(self, a, b, *words, code=0):
        files = [self.save_runs(f"{name}.json", [(name, iterations)])
                 for name, iterations in (("a", a), ("b", b))]
        ended = self.vernier("compare", *files, *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def arrays(self, seed):
        rng = np.random.default_rng(seed)
        return [rng.standard_normal((4, 5)).astype(np.float32) for _ in range(3)]

    def test_values_decide_and_not_positions(self):
        one, two, three = self.arrays(1)
        said = self.compare([{"p": one, "q": two, "r": three}], [{"x": three, "y": one, "z": two}])
        self.assertIn("p with y (by value, e = 0)", said)
        self.assertIn("q with z (by value, e = 0)", said)

    def test_the_next_feed_decides_where_the_first_does_not(self):
        one, two, _ = self.arrays(2)
        still = np.zeros_like(one)
        said = self.compare([{"p": still, "q": still}, {"p": one, "q": two}],
                            [{"x": still, "y": still}, {"x": two, "y": one}])
        self.assertIn("compared 2 outputs in 2 iterations", said)
        self.assertIn("p with y (by value", said)

    def test_what_remains_is_shown_with_its_errors(self):
        one, two, _ = self.arrays(3)
        said = self.compare([{"p": one, "q": one}], [{"x": one, "y": two}], code=4)
        self.assertIn("Their values do not say which belong together", said)
        self.assertRegex(said, r"    p +0 +1\.\d+")
        self.assertIn("Say which: --map-outputs a:b:p=NAME", said)

    def test_a_swap_of_equal_names_is_a_mismatch_that_is_named(self):
        one, two, _ = self.arrays(4)
        said = self.compare([{"p": one, "q": two}], [{"p": two, "q": one}], code=1)
        self.assertIn("outputs look swapped under their names: 'p' has the values of 'q' (e = 0)",
                      said)
        self.compare([{"p": one, "q": two}], [{"p": two, "q": one}], "--map-outputs", "p=q", "q=p")

    def test_a_swap_of_names_within_others_is_named(self):
        one, two, _ = self.arrays(6)
        said = self.compare([{"left": one, "right": two}],
                            [{"left_1": two, "right_1": one}], code=1)
        self.assertIn("outputs look swapped under their names: 'left' has the values of 'right_1'",
                      said)

    def test_two_letters_within_a_name_say_nothing(self):
        one, two, _ = self.arrays(7)
        said = self.compare([{"logits": one, "probs": two}], [{"ob": one, "gi": two}])
        self.assertIn("logits with ob (by value", said)
        self.assertIn("probs with gi (by value", said)

    def test_nan_on_both_sides_is_called_so(self):
        holed = np.where(np.arange(20).reshape(4, 5) == 7, np.float32(np.nan), self.arrays(8)[0])
        said = self.compare([{"p": holed}], [{"p": holed}], code=1)
        self.assertIn("reason: output 'p' holds 1 NaN on both sides, the first at the same place",
                      said)
        other = np.where(np.arange(20).reshape(4, 5) == 8, np.float32(np.nan), self.arrays(8)[0])
        said = self.compare([{"p": holed}], [{"p": other}], code=1)
        self.assertIn("differs in 2 NaN or infinite values", said)

    def test_an_output_that_is_mapped_twice_is_refused(self):
        one, two, _ = self.arrays(4)
        said = self.compare([{"x": one, "y": two}], [{"x": two, "y": one}], "--map-outputs", "y=x",
                            "x=x", "--strict", code=2)
        self.assertIn("--map-outputs x=x: 'x' is mapped twice", said)

    def test_lenient_pairs_as_polygraphy_does(self):
        one, two, _ = self.arrays(5)
        said = self.compare([{"p": one, "q": two}], [{"x": two, "y": one}], "--lenient", code=1)
        self.assertNotIn("by value", said)


class NamesOfFiles(Case):
    """Names that would be one in a file."""

    def save(self, nodes, inputs, outputs):
        """A model `m.onnx`; inputs and outputs are pairs of name and size."""
        infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
                  for name, size in side] for side in (inputs, outputs)]
        graph = helper.make_graph([helper.make_node(*node) for node in nodes], "g", *infos)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def test_an_output_that_is_listed_twice_is_saved_once(self):
        self.save([("Relu", ["x"], ["y"])], [("x", 3)], [("y", 3), ("y", 3)])
        for name in ("g.npz", "g.safetensors", "g.json"):
            saved = self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", name)
            self.assertEqual(saved.code, 0, saved.out + saved.err)
            again = self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", name)
            self.assertEqual(again.code, 0, again.out + again.err)
            self.assertIn("compared 1 output in 1 iteration", again.out)

    def test_input_blobs_that_would_be_one_file_are_refused(self):
        names = ["a", "./a", "q/../a"]
        self.save([("Sigmoid", [name], [f"o{i}"]) for i, name in enumerate(names)],
                  [(name, i + 1) for i, name in enumerate(names)],
                  [(f"o{i}", i + 1) for i in range(3)])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-input-blob", "blobs")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--save-input-blob: inputs 'a' and './a' would both be saved as "
                      "'blobs/0000000000/a.bin'", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
