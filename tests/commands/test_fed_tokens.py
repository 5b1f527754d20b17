"""Token ids that are fed to an embedding: beyond its rows they are refused before anything runs."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class FedTokens(Case):
    def write_model(self):
        """logits and a sum that is fed back, of the embeddings of 16 tokens."""
        info = [helper.make_tensor_value_info(*value) for value in (
            ("ids", TensorProto.INT64, ["n", "t"]), ("h", TensorProto.FLOAT, ["n", 4]),
            ("y", TensorProto.FLOAT, ["n", "t", 4]), ("hn", TensorProto.FLOAT, ["n", 4]))]
        table = np.random.default_rng(3).normal(size=(16, 4)).astype("f4")
        nodes = [helper.make_node("Gather", ["table", "ids"], ["y"], name="embed"),
                 helper.make_node("ReduceSum", ["y", "axes"], ["sum"], keepdims=0),
                 helper.make_node("Add", ["sum", "h"], ["hn"])]
        graph = helper.make_graph(nodes, "g", info[:2], info[2:],
                                  [numpy_helper.from_array(table, "table"),
                                   numpy_helper.from_array(np.array([1], "i8"), "axes")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def feed(self, ids, *words, code):
        self.write_model()
        ids = np.array([ids], "i8")
        np.savez(self.path("x.npz"), ids=ids, h=np.zeros((1, 4), "f4"))
        ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt m.onnx",
                             "--load-inputs", "x.npz", *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def test_an_id_beyond_the_vocabulary_is_named_with_its_place(self):
        sequence = ("--feed-back", "hn:h", "--step-slice", "ids:axis=1,size=2")
        for words in ((), sequence):
            with self.subTest(words=words):
                said = self.feed([1, 2, 3, 16], *words, code=3)
                self.assertIn("input 'ids': token 16 at (0, 3) is not in the vocabulary: Gather "
                              "'embed' looks it up in 'table', which has 16 rows, from 0 to 15",
                              said)
                self.assertNotIn("Gather node", said)  # of the framework
                self.feed([1, 2, 3, 15], *words, code=0)

    def test_a_negative_id_counts_from_the_end(self):
        sequence = ("--feed-back", "hn:h", "--step-slice", "ids:axis=1,size=2")
        for words in ((), sequence):
            with self.subTest(words=words):
                said = self.feed([1, 2, 3, -2], *words, code=0)
                self.assertIn("input 'ids': token -2 at (0, 3) counts from the end of the 16 rows "
                              "of 'table' in ONNX, as row 14", said)
                self.feed([1, 2, 3, -17], *words, code=3)

    def test_checks_and_blame_refuse_it_too(self):
        """OpenVINO takes such ids without a word."""
        self.write_model()
        runners = {"blame": ("--onnxrt", "--openvino")}
        for command in ("check consistency", "check extremes", "blame"):
            words = (*command.split(), "m.onnx", *runners.get(command, ("--openvino",)),
                     "--load-inputs", "x.npz")
            for last, code in ((16, 3), (15, 0)):
                with self.subTest(command=command, last=last):
                    np.savez(self.path("x.npz"), ids=np.array([[1, 2, 3, last]], "i8"),
                             h=np.zeros((1, 4), "f4"))
                    ended = self.vernier(*words)
                    said = ended.out + ended.err
                    self.assertEqual(ended.code, code, said)
                    self.assertEqual("input 'ids': token 16 at (0, 3) is not in the vocabulary"
                                     in said, code == 3, said)

    def test_lenient_leaves_it_to_the_runner(self):
        self.feed([1, 2, 3, 16], "--lenient", code=6)


class AdvancedPositions(Case):
    """--advance makes positions that a table has no rows for: OpenVINO takes another row."""

    def setUp(self):
        super().setUp()
        info = [helper.make_tensor_value_info(*value) for value in (
            ("input_ids", TensorProto.INT64, ["n", "t"]),
            ("position_ids", TensorProto.INT64, ["n", "t"]),
            ("logits", TensorProto.FLOAT, ["n", "t", 16]))]
        draw = np.random.default_rng(5)
        nodes = [helper.make_node("Gather", ["words", "input_ids"], ["a"]),
                 helper.make_node("Gather", ["places", "position_ids"], ["b"], name="place"),
                 helper.make_node("Add", ["a", "b"], ["logits"])]
        weights = [numpy_helper.from_array(draw.normal(size=(rows, 16)).astype("f4"), name)
                   for name, rows in (("words", 16), ("places", 8))]
        graph = helper.make_graph(nodes, "g", info[:2], info[2:], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def run_steps(self, *words, positions=(0, 1, 2), code):
        np.savez(self.path("x.npz"), input_ids=np.array([[3, 4, 5]], "i8"),
                 position_ids=np.array([positions], "i8"))
        ended = self.vernier("run", "m.onnx", "--openvino", "--load-inputs", "x.npz", *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def test_a_position_beyond_the_table_is_refused_before_anything_runs(self):
        decode = ("--decode", "greedy", "--advance", "position_ids:+1", "--steps")
        said = self.run_steps(*decode, "7", code=3)
        self.assertIn("--advance position_ids:+1: at step 6 of sequence 0, a value would be 8, and "
                      "'places', in which Gather 'place' looks it up, has 8 rows, from 0 to 7: "
                      "--steps 6 is the most that fits (--lenient leaves it to the runtime)", said)
        self.assertNotIn("Iteration: 0", said)
        self.run_steps(*decode, "6", code=0)
        self.run_steps(*decode, "7", "--lenient", code=0)
        self.assertIn("is not in the vocabulary: Gather 'place' looks it up in 'places'",
                      self.run_steps(*decode, "2", positions=(0, 1, 8), code=3))

    def test_so_is_one_of_steps_that_take_slices(self):
        """All positions of a step are advanced then."""
        np.savez(self.path("long.npz"), input_ids=np.full((1, 20), 3, "i8"),
                 position_ids=np.array([[0, 1, 2]], "i8"))
        ended = self.vernier("run", "m.onnx", "--openvino", "--load-inputs", "long.npz",
                             "--step-slice", "input_ids:axis=1,size=3", "--advance",
                             "position_ids:+3")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("at step 2 of sequence 0, a value would be 8", ended.out + ended.err)

    def test_one_that_is_counted_below_0_is_refused(self):
        down = ("--decode", "greedy", "--steps", "4", "--advance", "position_ids:-1")
        self.assertIn("--advance position_ids:-1: at step 3 of sequence 0, a value would be -1, "
                      "which counts from the end in ONNX, and not in every runtime: --steps 3",
                      self.run_steps(*down, code=3))
        self.run_steps(*down, "--lenient", code=0)
        # Of padding: it was fed so.
        up = ("--decode", "greedy", "--steps", "4", "--advance", "position_ids:+1")
        self.assertIn("token -1 at (0, 0) counts from the end of the 8 rows of 'places'",
                      self.run_steps(*up, positions=(-1, 0, 1), code=0))


class FedBackIds(Case):
    """A label that the model itself makes, and looks up at the next step (transducers, CTC)."""

    def write_counter(self, name, rows):
        info = [helper.make_tensor_value_info(*value) for value in (
            ("label", TensorProto.INT64, [1, 1]), ("h", TensorProto.FLOAT, [1, 4]),
            ("new_label", TensorProto.INT64, [1, 1]), ("new_h", TensorProto.FLOAT, [1, 4]))]
        table = np.random.default_rng(3).normal(size=(rows, 4)).astype("f4")
        nodes = [helper.make_node("Gather", ["table", "label"], ["row"], name="embed"),
                 helper.make_node("ReduceMean", ["row"], ["mean"], axes=[1], keepdims=0),
                 helper.make_node("Add", ["mean", "h"], ["sum"]),
                 helper.make_node("Tanh", ["sum"], ["new_h"]),
                 helper.make_node("Add", ["label", "one"], ["new_label"])]
        graph = helper.make_graph(nodes, "g", info[:2], info[2:],
                                  [numpy_helper.from_array(table, "table"),
                                   numpy_helper.from_array(np.array([[1]], "i8"), "one")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_such_a_state_is_looked_at_at_each_step(self):
        self.write_counter("m.onnx", 16)
        for runners in (("a=onnxrt m.onnx",), ("a=onnxrt m.onnx", "b=onnxrt m.onnx")):
            named = [word for runner in runners for word in ("--runner", runner)]
            for steps, code in ((16, 0), (17, 6)):
                with self.subTest(runners=runners, steps=steps):
                    ended = self.vernier("run", *named, "--feed-back", "auto", "--steps",
                                         str(steps))
                    said = ended.out + ended.err
                    self.assertEqual(ended.code, code, said)
                    self.assertEqual("FAILED: gave token 16 at step 15 of sequence 0, and its "
                                     "table 'table', in which Gather 'embed' looks it up, has 16 "
                                     "rows, from 0 to 15" in said, code == 6, said)

    def test_one_beyond_the_table_ends_its_runner_alone(self):
        self.write_counter("m.onnx", 16)
        self.write_counter("wide.onnx", 32)
        for state in ("own", "cross"):
            with self.subTest(state=state):
                ended = self.vernier("run", "--runner", "a=onnxrt wide.onnx", "--runner",
                                     "b=onnxrt m.onnx", "--runner", "c=onnxrt wide.onnx",
                                     "--pairs", "all", "--feed-back", "auto", "--steps", "20",
                                     "--state", state, "--save-record", "r.json")
                said = ended.out + ended.err
                self.assertEqual(ended.code, 6, said)
                record = json.loads(self.path("r.json").read_text(encoding="utf-8"))
                failed = [r["name"] for r in record["runners"] if r.get("failure")]
                self.assertEqual(failed, ["b"], said)
                pairs = {(p["first"], p["second"]): p for p in record["pairs"]}
                self.assertEqual(pairs["a", "c"]["compared_iterations"], 20)


class SmallTables(Case):
    """Logits of 16 classes, and in b an embedding of 8 rows: tokens that one runner can look up."""

    def setUp(self):
        super().setUp()
        for name, rows, choice in (("a", 16, 12), ("b", 8, 5), ("c", 8, 12)):
            info = [helper.make_tensor_value_info(*value) for value in (
                ("input_ids", TensorProto.INT64, ["n", "t"]),
                ("logits", TensorProto.FLOAT, ["n", "t", 16]))]
            weights = np.zeros((rows, 16), "f4")
            weights[:, choice] = 1  # what each of its tokens chooses
            nodes = [helper.make_node("Gather", ["words", "input_ids"], ["logits"], name="word")]
            graph = helper.make_graph(nodes, "g", info[:1], info[1:],
                                      [numpy_helper.from_array(weights, "words")])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                        ir_version=8), str(self.path(name + ".onnx")))
        np.savez(self.path("x.npz"), input_ids=np.array([[3, 4, 5]], "i8"))

    def run_steps(self, *words, runners, code):
        ended = self.vernier("run", *(word for name in runners for word in
                                      ("--runner", f"{name}=onnxrt {name}.onnx")),
                             "--load-inputs", "x.npz", "--decode", "greedy", *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def test_a_chosen_token_beyond_a_table_ends_its_runner_alone(self):
        why = (" token 12 at step %d of sequence 0, and its table 'words', in which Gather 'word' "
               "looks it up, has 8 rows, from 0 to 7")
        for words in ((), ("--parallel",)):
            with self.subTest(words):
                said = self.run_steps("--steps", "3", "--save-outputs", "out.npz", *words,
                                      runners="ac", code=6)
                self.assertIn("FAILED: chose" + why % 0, said)
                with np.load(self.path("out.npz")) as saved:
                    counts = [sum(name.startswith(side + "/") for name in saved) for side in "ac"]
                self.assertEqual(counts, [3, 1])
        said = self.run_steps("--steps", "3", "--state", "reference", runners="ac", code=6)
        self.assertIn("FAILED: is fed" + why % 1, said)

    def test_a_given_token_beyond_a_table_is_refused_before_step_0(self):
        for tokens, words, code in (([1, 9, 2], (), 3), ([1, 2, 9], (), 1),
                                    ([1, 2, 9], ("--steps", "4"), 3),
                                    ([1, 9, 2], ("--steps", "2"), 1)):
            with self.subTest(tokens=tokens, words=words):
                np.save(self.path("t.npy"), np.array([tokens], "i8"))
                said = self.run_steps("--tokens", "t.npy", *words, runners="ab", code=code)
                self.assertEqual(
                    f"--tokens t.npy: token 9 at row 0, place {tokens.index(9)} is not in the "
                    "vocabulary: 'words', in which Gather 'word' of b looks it up, has 8 rows, "
                    "from 0 to 7" in said, code == 3, said)


class Masks(Case):
    def test_a_mask_of_another_length_is_named_where_the_runner_fails(self):
        info = [helper.make_tensor_value_info(*value) for value in (
            ("input_ids", TensorProto.INT64, [1, "t"]),
            ("attention_mask", TensorProto.INT64, [1, "m"]),
            ("past", TensorProto.FLOAT, [1, 1, "p", 2]), ("y", TensorProto.FLOAT, [1, 1, "m", 2]),
            ("present", TensorProto.FLOAT, [1, 1, "q", 2]))]
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
                 helper.make_node("Unsqueeze", ["rows", "one"], ["new"]),
                 helper.make_node("Concat", ["past", "new"], ["present"], axis=2),
                 helper.make_node("Cast", ["attention_mask"], ["mask"], to=1),
                 helper.make_node("Unsqueeze", ["mask", "both"], ["wide"]),
                 helper.make_node("Mul", ["present", "wide"], ["y"])]
        constants = [numpy_helper.from_array(value, name) for name, value in (
            ("table", np.ones((16, 2), "f4")), ("one", np.array([1], "i8")),
            ("both", np.array([1, 3], "i8")))]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", info[:3], info[3:], constants),
                                    opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(self.path("m.onnx")))
        for length, code in ((4, 0), (2, 6)):
            np.savez(self.path("x.npz"), input_ids=np.zeros((1, 8), "i8"),
                     attention_mask=np.ones((1, length), "i8"), past=np.zeros((1, 1, 0, 2), "f4"))
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "x.npz",
                                 "--feed-back", "present:past", "--step-slice",
                                 "input_ids:axis=1,size=4", "--advance",
                                 "attention_mask:append 1*4")
            said = ended.out + ended.err
            self.assertEqual(ended.code, code, said)
            self.assertEqual(
                "Note: 'attention_mask' has 2 values in a row, and a past of 0 positions with 4 "
                "new tokens makes 4: give it that length" in said, code == 6, said)


if __name__ == "__main__":
    unittest.main()
