"""What steps hand on: --state, --initial-state, --compare-state."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.comparator import RunResults

from steps_case import StepsCase


class StepStates(StepsCase):
    def test_states_are_decided_about_only_where_they_are_named(self):
        for words, outputs in ((["sign"], ["y"]), (["y:sign", "hn:sign"], ["y", "hn"])):
            self.run_two("--steps", "3", "--decision", *words)
            decisions = self.record()["pairs"][0]["decisions"]
            self.assertEqual([decision["output"] for decision in decisions], outputs)

    def test_crossed_states_say_whether_the_history_explains_it(self):
        said = self.run_two("--steps", "20", "--state", "cross", gain=1.001, code=1)
        self.assertIn("; fed with the state of b, a gives something else at step 0 of sequence 0: "
                      "that step is wrong by itself", said)
        said = self.run_two("--steps", "20", "--state", "cross", "--tolerance", "auto",
                            "--report", "out.html")
        self.assertNotIn("fed with the state of", said)
        crossed = self.times()["y"]["crossed"]
        self.assertEqual((crossed["steps"], crossed["first_bad_step"]), (40, None))
        self.assertEqual([p["step"] for p in crossed["curve"]], [*range(20)])
        self.assertEqual(self.record()["steps"]["state"], "cross")

    def late(self, name, bad):
        """hn = tanh(h + x) + bad where x is above 100; y = h W: a wrong hn shows a step later."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4])
                for n in ("x", "h", "y", "hn")}
        nodes = [helper.make_node("MatMul", ["h", "w"], ["y"]),
                 helper.make_node("Add", ["h", "x"], ["sum"]),
                 helper.make_node("Tanh", ["sum"], ["t"]),
                 helper.make_node("Sub", ["x", "hundred"], ["above"]),
                 helper.make_node("Relu", ["above"], ["where"]),
                 helper.make_node("Mul", ["where", "bad"], ["more"]),
                 helper.make_node("Add", ["t", "more"], ["hn"])]
        weights = np.random.default_rng(3).normal(0, 0.4, (4, 4)).astype("f4")
        graph = helper.make_graph(
            nodes, "g", [info["x"], info["h"]], [info["y"], info["hn"]],
            [numpy_helper.from_array(weights, "w"),
             numpy_helper.from_array(np.float32(100), "hundred"),
             numpy_helper.from_array(np.float32(bad), "bad")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_a_step_that_hands_on_a_wrong_state_is_found(self):
        self.late("a.onnx", 0)
        self.late("b.onnx", 0.5)
        x = np.random.default_rng(5).normal(size=(1, 40)).astype("f4")
        x[0, 12] = 101  # of step 3
        self.save_feeds("feeds.json", [{"x": x}])
        words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice", "x:axis=1",
                 "--save-record", "r.json"]
        ended = self.vernier(*words, "--state", "reference")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(self.times()["hn"]["first_bad_step"], 3)
        self.assertIsNone(self.times()["y"]["first_bad_step"])
        ended = self.vernier(*words, "--state", "cross")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("gives something else as 'hn' at step 3 of sequence 0: that step is wrong by "
                      "itself", ended.out + ended.err)
        for state, last in (("reference", "no step is out of tolerance"),
                            ("cross", "gives the same at every step")):
            ended = self.vernier(*words, "--state", state, "--compare", "y:logits")
            self.assertIn(last + "; what the steps hand on was not compared (add --compare simple)",
                          ended.out + ended.err)

    def test_zeros_at_the_first_step_alone_show_something(self):
        self.late("a.onnx", 0)
        self.late("b.onnx", 0)
        x = np.random.default_rng(5).normal(size=(1, 40)).astype("f4")
        for x, shown in ((x, True), (0 * x, False)):
            self.save_feeds("feeds.json", [{"x": x}])
            ended = self.vernier(
                "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice", "x:axis=1",
                "--strict")
            said = ended.out + ended.err
            self.assertEqual(ended.code, 0 if shown else 1, said)
            self.assertEqual("shows nothing" not in said, shown, said)

    def test_a_state_that_is_looked_at_now_and_then_is_out_of_tolerance_before(self):
        self.late("a.onnx", 0)
        self.late("b.onnx", 0.5)
        x = np.random.default_rng(5).normal(size=(1, 40)).astype("f4")
        x[0, 12] = 101
        self.save_feeds("feeds.json", [{"x": x}])
        ended = self.vernier(
            "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--load-inputs",
            "feeds.json", "--feed-back", "hn:h", "--step-slice", "x:axis=1", "--atol", "hn:1e-5",
            "y:10")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("of output 'hn' ", ended.out)
        self.assertIn("first out of tolerance at step 9 of sequence 0, or before: it was compared "
                      "at 2 of 10 steps (--compare-state)", ended.out)

    def first_steps(self, *words):
        """The state after step 0 for each runner: of x, and of what else is given."""
        ended = self.vernier("run", "--onnxrt", "--load-inputs", "feeds.json", "--steps", "2",
                             "--save-outputs", "o.json", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        return [iterations[0] for _, iterations in RunResults.load(str(self.path("o.json")))]

    def test_a_state_that_is_given(self):
        weights = self.recurrent("m.onnx")
        x, h = (np.full((1, 4), value, "f4") for value in (0.25, 0.5))
        expected = np.tanh(h @ weights + x)
        self.save_feeds("h.json", [{"h": h}])
        self.save_feeds("feeds.json", [{"x": x}])
        (given,) = self.first_steps("m.onnx", "--feed-back", "hn:h", "--initial-state", "h.json")
        np.testing.assert_allclose(given["hn"], expected, atol=1e-5)
        self.save_feeds("feeds.json", [{"x": x, "h": h}])
        (loaded,) = self.first_steps("m.onnx", "--feed-back", "hn:h")
        np.testing.assert_allclose(loaded["hn"], expected, atol=1e-5)
        self.save_feeds("h.json", [{"z": np.zeros((1, 4), "f4")}])
        self.assertIn("--initial-state: 'z' is no input that is fed back",
                      self.run_two("--steps", "2", "--initial-state", "h.json", code=2))

    def test_a_state_that_is_given_under_another_runners_name(self):
        weights = self.recurrent("m.onnx")
        self.recurrent("other.onnx", state="past")
        x, h = (np.full((1, 4), value, "f4") for value in (0.25, 0.5))
        self.save_feeds("feeds.json", [{"x": x}])
        self.save_feeds("h.json", [{"h": h, "past": h}])
        for made in self.first_steps(
                "m.onnx", "--runner", "b=onnxrt other.onnx", "--feed-back", "hn:h", "pastn:past",
                "--map-outputs", "hn=pastn", "--initial-state", "h.json"):
            (state,) = (value for name, value in made.items() if name in ("hn", "pastn"))
            np.testing.assert_allclose(state, np.tanh(h @ weights + x), atol=1e-5)

    def test_a_runner_that_no_word_is_about_is_named(self):
        self.recurrent("m.onnx")
        self.recurrent("other.onnx", state="past")
        for words, what in (
                (["hn:h"], "--feed-back: no word is about b, whose state would stay as it is: add "
                           "b:OUTPUT:INPUT"),
                (["pastn:past", "--state", "reference"],
                 "--state reference: no --feed-back word is about the reference, a"),
                (["a:hn:h"], None)):
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                 "b=onnxrt other.onnx", "--steps", "3", "--feed-back", *words)
            said = ended.out + ended.err
            if what is None:  # that is meant then, but the state of a is none for b
                self.assertNotEqual(ended.code, 0, said)
                self.assertNotIn("input 'past': paired with 'h'", said)
                continue
            self.assertEqual(ended.code, 2, said)
            self.assertIn(what, said)

    def test_a_runner_behind_the_checked_one_shows_what_it_lacks(self):
        self.assertIn("nothing feeds the input 'h' of a after the first step",
                      self.run_two("--steps", "3", feed_back="b:hn:h", code=2))

    def test_zeros_for_the_state_draw_nothing_else(self):
        info = {n: helper.make_tensor_value_info(n, kind, [1]) for n, kind in (
            ("s", TensorProto.STRING), ("t", TensorProto.STRING),
            ("h", TensorProto.FLOAT), ("hn", TensorProto.FLOAT))}
        graph = helper.make_graph(
            [helper.make_node("Identity", ["s"], ["t"]),
             helper.make_node("Add", ["h", "one"], ["hn"])], "g", [info["s"], info["h"]],
            [info["t"], info["hn"]], [numpy_helper.from_array(np.ones(1, "f4"), "one")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("texts.onnx")))
        self.save_feeds("feeds.json", [{"s": np.array(["a"])}])
        ended = self.vernier("run", "texts.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", "--steps", "3")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
