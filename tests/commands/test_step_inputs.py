"""What sequences of steps are fed with: one step alone, inputs that advance, first states, NaN."""

import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.comparator import RunResults

from steps_case import StepsCase


def passes_on(name, dtype, shape=(1, None), state_dtype=TensorProto.FLOAT):
    """out = p and hn = h, whatever their types are."""
    p, out = (helper.make_tensor_value_info(n, dtype, list(shape)) for n in ("p", "out"))
    h, hn = (helper.make_tensor_value_info(n, state_dtype, [1, 2]) for n in ("h", "hn"))
    graph = helper.make_graph([helper.make_node("Identity", ["p"], ["out"]),
                               helper.make_node("Identity", ["h"], ["hn"])], "g", [p, h], [out, hn])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              name)


class OneStep(StepsCase):
    """Where nothing is fed back, recurrence was not compared."""
    WORDS = ("--step-slice", "x:axis=1,size=4")

    def test_random_inputs_of_one_step_are_refused(self):
        self.assertIn("--feed-back: the inputs hold one step, and there is no next one that "
                      "anything could be fed to: give --steps N", self.run_two(*self.WORDS, code=2))

    def test_recordings_of_one_step_are_less_than_was_asked_for(self):
        self.save_feeds("feeds.json", self.recordings(steps=1))
        words = ("--load-inputs", "feeds.json", *self.WORDS)
        said = self.run_two(*words, code=4)
        self.assertIn("not done: --feed-back: the inputs hold one step", said)
        self.assertTrue(self.record()["pairs"][0]["incomplete"])
        said = self.run_two(*words, "--lenient")
        self.assertIn("note: --feed-back: the inputs hold one step", said)
        one, more = self.recordings(steps=1)[0], self.recordings()[0]
        self.save_feeds("feeds.json", [one, more])
        self.assertNotIn("the inputs hold one step", self.run_two(*words))


class InputsOfOthers(StepsCase):
    def test_the_runner_that_has_the_input_of_a_shape_is_named(self):
        self.recurrent("a.onnx")
        self.recurrent("b.onnx", state="g")
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--steps", "2", "--feed-back", "auto", "--input-shapes", "g:[1,4]")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--input-shapes: 'g' is an input of b alone, and inputs are drawn for a",
                      ended.err)
        self.assertIn("--initial-state", ended.err)

    def test_what_belongs_to_no_step_may_be_left_out(self):
        """All steps at once have a last state, which the steps have not."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in
                (("x", [5, 4]), ("y", [5, 4]), ("hT", [1, 4]))}
        neg = helper.make_node("Neg", ["x"], ["y"])
        last = helper.make_node("ReduceSum", ["x", "axes"], ["hT"], keepdims=1)
        axes = helper.make_tensor("axes", TensorProto.INT64, [1], [0])
        one = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xy"]
        for name, graph in (("a.onnx", helper.make_graph([neg], "g", one[:1], one[1:])),
                            ("all.onnx", helper.make_graph([neg, last], "g", [info["x"]],
                                                           [info["y"], info["hT"]], [axes]))):
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                        ir_version=8), str(self.path(name)))
        self.save_feeds("feeds.json", [{"x": np.ones((5, 4), np.float32)}])
        words = ("run", "--runner", "a=onnxrt a.onnx", "--runner", "all=onnxrt all.onnx",
                 "--load-inputs", "feeds.json", "--step-slice", "a:x:axis=0,size=1",
                 "--steps-axis", "all:0", "--map-outputs")
        ended = self.vernier(*words, "all:hT=")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier(*words, "all:hTT=")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("no two runners that are compared have such outputs", ended.err)


class Advances(StepsCase):
    def feed(self, dtype, values, *words, type_name="int8", shape=(1, None)):
        passes_on(str(self.path("m.onnx")), dtype, shape)
        self.save_feeds("feeds.json", [{"p": np.array([values], type_name)}])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", *words)
        return ended.code, ended.out + ended.err

    def assert_refused(self, found, said, code=3):
        self.assertEqual(found[0], code, found[1])
        self.assertIn(said, found[1])
        self.assertNotIn("step 0", found[1].replace(said, ""))

    def test_a_value_that_the_type_does_not_have_is_named_before_anything_runs(self):
        self.assert_refused(
            self.feed(TensorProto.INT8, [5, 125], "--steps", "5", "--advance", "p:+1"),
            "--advance p:+1: at step 3 of sequence 0, a value would be 128, and int8 goes from "
            "-128 to 127")
        self.assert_refused(
            self.feed(TensorProto.INT8, [1], "--steps", "3", "--advance", "p:append 300"),
            "--advance p:append 300: at step 1 of sequence 0, a value would be 300, and int8 goes "
            "from -128 to 127")
        self.assert_refused(
            self.feed(TensorProto.INT64, [2 ** 63 - 2], "--steps", "3", "--advance", "p:+1",
                      type_name="i8"),
            "at step 2 of sequence 0, a value would be 9223372036854775808, and int64 goes")
        self.assert_refused(
            self.feed(TensorProto.UINT64, [2 ** 64 - 1], "--steps", "2", "--advance", "p:+1",
                      type_name="u8"),
            "a value would be 18446744073709551616, and uint64 goes from 0 to "
            "18446744073709551615")
        self.assert_refused(
            self.feed(TensorProto.BOOL, [True], "--steps", "2", "--advance", "p:+1",
                      type_name="bool"), "a value would be 2, and bool goes from 0 to 1")

    def test_a_whole_number_that_is_rounded_is_named(self):
        self.assert_refused(
            self.feed(TensorProto.FLOAT16, [2046], "--steps", "8", "--advance", "p:+1",
                      type_name="float16"),
            "at step 3 of sequence 0, a value would be 2049, which float16 rounds to 2048")

    def test_values_that_the_type_has_are_fed(self):
        for dtype, values, step, type_name in (
                (TensorProto.UINT64, [2 ** 64 - 3], "p:+1", "u8"),
                (TensorProto.INT8, [-126], "p:-1", "int8"),
                (TensorProto.FLOAT16, [2046], "p:+2", "float16"),
                (TensorProto.FLOAT, [0.1], "p:+1", "f4"),
                (TensorProto.BOOL, [True], "p:append 1", "bool")):
            code, said = self.feed(dtype, values, "--steps", "3", "--advance", step,
                                   type_name=type_name)
            self.assertEqual(code, 0, said)

    def test_an_axis_that_the_model_declares_does_not_grow(self):
        found = self.feed(TensorProto.FLOAT, [1, 2], "--steps", "3", "--advance", "p:append 1",
                          type_name="f4", shape=(1, 2))
        self.assert_refused(found, "--advance p:append 1: 'p' would have 3 elements along its last "
                                   "axis at step 1, and onnxrt", code=2)


class FirstStates(StepsCase):
    def run_from(self, states, *words, code):
        self.save_feeds("feeds.json", self.recordings())
        self.save_feeds("state.json", states)
        return self.run_two("--load-inputs", "feeds.json", "--step-slice", "x:axis=1",
                            "--initial-state", "state.json", *words, code=code)

    def test_a_state_for_each_sequence_is_refused(self):
        states = [{"h": np.full((1, 4), value, "f4")} for value in (0.5, -0.5)]
        self.assertIn("--initial-state: 'state.json' holds several states, and all sequences begin "
                      "with the same one", self.run_from(states, code=3))
        self.run_from(states[:1], code=0)

    def test_a_state_of_another_batch_is_named_before_a_runtime_broadcasts_it(self):
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 4])
                for n in ("x", "h", "hn")}
        graph = helper.make_graph([helper.make_node("Add", ["h", "x"], ["hn"])], "g",
                                  [info["x"], info["h"]], [info["hn"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("batch.onnx")))
        self.save_feeds("feeds.json", [{"x": np.ones((6, 4), "f4")}])
        words = ("run", "batch.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--feed-back",
                 "hn:h", "--step-slice", "x:axis=0,size=2", "--initial-state", "state.json")
        for batch, code in ((1, 3), (2, 0), (3, 3)):
            self.save_feeds("state.json", [{"h": np.ones((batch, 4), "f4")}])
            ended = self.vernier(*words)
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual(code == 3, f"--initial-state state.json: 'h' is ({batch}, 4), and its "
                             "axis 0 is 'batch' of the model, of which the input 'x' has 2 at the "
                             f"first step, not {batch}: give a state for as many" in ended.err,
                             ended.err)

    def test_a_state_that_is_lacking_is_named(self):
        self.assertIn("--initial-state: 'state.json' holds no tensors", self.run_from([{}], code=3))
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4])
                for n in ("x", "h", "c", "hn", "cn")}
        graph = helper.make_graph([helper.make_node("Add", ["h", "x"], ["hn"]),
                                   helper.make_node("Add", ["c", "x"], ["cn"])], "g",
                                  [info["x"], info["h"], info["c"]], [info["hn"], info["cn"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("two.onnx")))
        self.save_feeds("state.json", [{"h": np.ones((1, 4), "f4")}])
        words = ["run", "two.onnx", "--onnxrt", "--steps", "3", "--feed-back", "hn:h", "cn:c",
                 "--initial-state", "state.json"]
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--initial-state state.json: it has no 'c', which is fed back, too",
                      ended.out + ended.err)
        self.save_feeds("feeds.json", [{n: np.ones((1, 4), "f4") for n in ("x", "c")}])
        ended = self.vernier(*words, "--load-inputs", "feeds.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_zeros_have_the_type_that_each_runner_declares(self):
        passes_on(str(self.path("a.onnx")), TensorProto.FLOAT, (1, 2))
        passes_on(str(self.path("b.onnx")), TensorProto.FLOAT, (1, 2), TensorProto.FLOAT16)
        self.save_feeds("feeds.json", [{"p": np.ones((1, 2), "f4")}])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--steps", "4")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_zeros_have_the_batch_of_the_inputs(self):
        """Where the model gives both axes one name."""
        x, h, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["B", 2]) for n in "xhy")
        graph = helper.make_graph([helper.make_node("Add", ["x", "h"], ["y"])], "g", [x, h], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        self.save_feeds("feeds.json", [{"x": np.ones((batch, 8), "f4")} for batch in (3, 1)])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "y:h", "--step-slice", "x:axis=1,size=2",
                             "--save-outputs", "o.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ((_, iterations),) = RunResults.load(str(self.path("o.json")))
        self.assertEqual([one["y"].shape for one in iterations], [(3, 2)] * 4 + [(1, 2)] * 4)
        self.assertTrue(np.array_equal(iterations[3]["y"], np.full((3, 2), 4, "f4")))

    def test_zeros_have_the_batch_of_a_slice(self):
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 4])
                for n in ("x", "h", "hn")}
        graph = helper.make_graph([helper.make_node("Add", ["h", "x"], ["hn"])], "g",
                                  [info["x"], info["h"]], [info["hn"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        self.save_feeds("feeds.json", [{"x": np.ones((6, 4), "f4")}])
        for words in (("--load-inputs", "feeds.json"), ("--steps", "3")):
            with self.subTest(words=words):
                ended = self.vernier("run", "m.onnx", "--onnxrt", *words, "--feed-back", "hn:h",
                                     "--step-slice", "x:axis=0,size=2")
                said = ended.out + ended.err
                self.assertEqual(ended.code, 0, said)
                self.assertIn("h [dtype=float32, shape=(2, 4)]", said)
                self.assertNotIn("h [dtype=float32, shape=(1, 4)]", said)

    def test_texts_can_be_given(self):
        info = [helper.make_tensor_value_info(*value) for value in (
            ("s", TensorProto.STRING, [1, 2]), ("x", TensorProto.FLOAT, [1, 2]),
            ("sn", TensorProto.STRING, [1, 2]), ("y", TensorProto.FLOAT, [1, 2]))]
        graph = helper.make_graph([helper.make_node("Identity", ["s"], ["sn"]),
                                   helper.make_node("Identity", ["x"], ["y"])], "g", info[:2],
                                  info[2:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        np.savez(self.path("s.npz"), s=np.array([["ab", "c"]]))
        words = ("run", "--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt m.onnx", "--feed-back",
                 "sn:s", "--steps", "3")
        ended = self.vernier(*words, "--initial-state", "s.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier("run", "m.onnx", "--onnxrt", *words[5:], "--initial-state", "s.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("values of type string cannot be generated", self.vernier(*words).err)

    def test_a_sequence_is_no_state(self):
        info = [helper.make_tensor_sequence_value_info(n, TensorProto.FLOAT, None)
                for n in ("s", "sn")]
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2]) for n in "xy")
        graph = helper.make_graph([helper.make_node("SequenceInsert", ["s", "x"], ["sn"]),
                                   helper.make_node("Neg", ["x"], ["y"])], "g", [x, info[0]],
                                  [y, info[1]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        for word in ("sn:s", "auto"):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--feed-back", word, "--steps", "3")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(" is a sequence, a map or optional, which cannot be fed back: give the "
                          "model a tensor for its state", ended.err)

    def test_more_steps_than_memory_has_room_for(self):
        words = ("--step-slice", "x:axis=1,size=4", "--steps", str(2 ** 60))
        self.assertIn("which takes more than 16 EiB", self.run_two(*words, code=None))
        self.save_feeds("feeds.json", self.recordings())
        said = self.run_two(*words, "--load-inputs", "feeds.json", code=3)
        self.assertNotIn("random values", said)

    def test_nan_is_named_where_it_comes_from(self):
        feeds = self.recordings()
        feeds[1]["x"][0, 13] = np.nan
        self.save_feeds("feeds.json", feeds)
        words = ("--load-inputs", "feeds.json", "--step-slice", "x:axis=1")
        said = self.run_two(*words, code=1)
        where = ("the input 'x' of sequence 1 holds NaN, the first at (0, 13), of step 3: later "
                 "NaN comes from there")
        self.assertIn("[W] " + where, said)
        self.assertIn(where, self.record()["notes"])
        self.assertIn("the error of output 'y' is NaN, at step 3 first, and 0 at the others", said)
        said = self.run_from([{"h": np.full((1, 4), np.nan, "f4")}], code=1)
        self.assertIn("the input 'h' of sequence 0 holds NaN, the first at (0, 0): later "
                      "NaN comes from there", said)


class WhatDoesNotFit(StepsCase):
    def test_the_option_and_the_step_are_named(self):
        found = "found float32 of shape (1, 5), "
        self.assertIn(found + "which --step-slice x:axis=1,size=5 made at step 0 of sequence 0",
                      self.run_two("--step-slice", "x:axis=1,size=5", "--steps", "2", code=3))
        self.save_feeds("state.json", [{"h": np.zeros((1, 5), "f4")}])
        said = self.run_two("--steps", "2", "--initial-state", "state.json", code=3)
        self.assertIn(found + "which --initial-state state.json gives", said)
        self.assertNotIn("--lenient", said)

    def test_the_output_that_was_fed_back_is_named(self):
        """The state of the first runner grows, which the second one does not take."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size])
                for n, size in (("x", 4), ("h", "n"), ("y", 4), ("hn", "m"))}
        graph = helper.make_graph([helper.make_node("Concat", ["h", "x"], ["hn"], axis=1),
                                   helper.make_node("Identity", ["x"], ["y"])], "g",
                                  [info["x"], info["h"]], [info["y"], info["hn"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("grows.onnx")))
        self.recurrent("b.onnx")
        ended = self.vernier("run", "--runner", "a=onnxrt grows.onnx", "--runner",
                             "b=onnxrt b.onnx", "--feed-back", "hn:h", "--steps", "3", "--state",
                             "reference", "--input-shapes", "h:[1,4]")
        self.assertNotEqual(ended.code, 0)
        self.assertIn("found float32 of shape (1, 8), output 'hn' of a at step 0 of sequence 0 "
                      "(--feed-back)", ended.out + ended.err)

    def test_the_names_that_there_are_are_listed(self):
        self.assertIn("no runner has an output 'nosuch'; a has 'y', 'hn' and 'x', 'h'; b has",
                      self.run_two("--steps", "2", feed_back="nosuch:h", code=2))
        self.assertIn("with an axis from 0 and one of the runners a, b",
                      self.run_two("--steps", "2", "--advance", "x:+0", "--steps-axis", "zz:0",
                                   code=2))

    def test_a_name_that_no_runner_declares_and_no_input_has_is_refused(self):
        """Fed under it, a state would be seen by nobody."""
        self.path("adds.py").write_text(
            "def load(_path):\n    return lambda feed: {'y': feed['x'] + feed['h'],\n"
            "                         'hn': feed['h'] + 1}\n", encoding="utf-8")
        self.save_feeds("feeds.json", [{"x": np.ones((1, 6)), "h": np.zeros((1, 1))}])
        for state, code in (("h", 0), ("hh", 2)):
            ended = self.vernier("run", "--runner", "a=adds.py", "--runner", "b=adds.py",
                                 "--python", sys.executable, "--load-inputs", "feeds.json",
                                 "--step-slice", "x:axis=1,size=2", "--feed-back", f"hn:{state}")
            self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertIn("--feed-back: 'hh' has no value at the first step: no runner declares it, "
                      "and the inputs have 'x', 'h' only", ended.err)

    def test_inputs_with_different_numbers_of_steps_are_named(self):
        passes_on(str(self.path("m.onnx")), TensorProto.FLOAT, (1, 2))
        self.save_feeds("feeds.json", [{"p": np.ones((1, 9), "f4"), "h": np.ones((4, 2), "f4")},
                                       {"p": np.ones((1, 9), "f4"), "h": np.ones((5, 2), "f4")}])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--step-slice", "p:axis=1,size=2", "h:axis=0,size=1")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("[I] input 'p': 1 of 9 elements along axis 1 was not fed (--step-slice "
                      "p:axis=1,size=2)\n", said)
        self.assertIn("[W] --step-slice h:axis=0,size=1: of 5 elements of 'h' of sequence 1, the "
                      "last 1 are in no step: another input is for 4 steps only", said)

    def test_what_slices_leave_out_is_noted(self):
        self.recurrent("m.onnx")
        self.save_feeds("feeds.json", [{"x": np.ones((1, n), "f4")} for n in (12, 13, 14)])
        def notes(slices, *words):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--feed-back", "auto",
                                 "--step-slice", slices, "--save-record", "r.json", *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            return [n for n in self.record().get("notes", []) if "fed (--step-slice" in n]
        def left(what, slices):
            return [f"input 'x': {what} not fed (--step-slice {slices})"]
        loads = ("--load-inputs", "feeds.json")
        for slices, more, what in (
                ("x:axis=1,size=4", (), "1 of 13 elements along axis 1 of sequence 1 was"),
                ("x:axis=1,size=4", ("--steps", "2"), "4 of 12 elements along axis 1 were"),
                ("x:axis=1,size=4,hop=6", (), "4 of 12 elements along axis 1 were"),
                ("x:axis=1,size=4,pad=1", (), "1 of 13 elements along axis 1 of sequence 1 was"),
                ("x:axis=1,size=4,pad=1,hop=4", (), "1 of 12 elements along axis 1 was"),
                ("x:axis=1,size=4,hop=1", (), None)):
            with self.subTest(slices=slices, more=more):
                self.assertEqual(notes(slices, *loads, *more), left(what, slices) if what else [])
        self.assertEqual(notes("x:axis=1,size=4,hop=6", "--steps", "3"), [])

    def test_states_that_nothing_would_look_at_are_refused(self):
        words = ("--steps", "2", "--compare-state", "--compare", "logits")
        self.assertIn("--compare-state: --compare logits alone leaves out what is fed back",
                      self.run_two(*words, code=2))
        said = self.run_two(*words, "simple")
        self.assertNotIn("leaves out what is fed back", said)


if __name__ == "__main__":
    unittest.main()
