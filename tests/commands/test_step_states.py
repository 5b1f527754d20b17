"""What steps hand on: --state, --initial-state, --compare-state."""

import sys
import textwrap
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

    def test_slices_of_a_state_are_not_crossed(self):
        """Said before anything runs."""
        for name, gain in (("a.onnx", 1.0), ("b.onnx", 1.0)):
            self.recurrent(name, gain)
        for word, state in (("a:y=hn[:,0:1]", "hn"), ("a:y*=hn*[:,0:1]", "hn*")):
            ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner",
                                 "b=onnxrt b.onnx", "--feed-back", "hn:h", "--steps", "4",
                                 "--state", "cross", "--map-outputs", word, "--save-inputs",
                                 "i.json", "-v")
            said = ended.out + ended.err
            self.assertEqual(ended.code, 2, said)
            self.assertIn(f"--state cross: --map-outputs {word} compares a slice of the state "
                          f"'{state}', and only whole states are crossed", said)
            self.assertNotIn("Streaming iteration", said)

    def test_shapes_are_for_states_that_are_not_given(self):
        for name in ("a.onnx", "b.onnx"):
            self.recurrent(name)
        self.save_feeds("feeds.json", [{"x": np.ones((1, 8), "f4")}])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice",
                             "x:axis=1,size=4", "--input-shapes", "h:[1,4]")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("--input-shapes: for first states that are not given; inputs that are "
                      "loaded or made by a script have their own shapes", said)
        self.assertNotIn("has no effect", said)

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
            self.assertIn(last + "; the states that steps pass on were not compared "
                          "(add --compare simple)", ended.out + ended.err)

    def test_a_wrong_state_that_the_next_step_repairs_fails_with_crossed_states(self):
        """y does not show it, and states are compared at the first and the last step alone."""
        self.path("counts.py").write_text(
            "import numpy as np\n\ndef runner(error):\n    def infer(feed):\n"
            "        count = np.round(feed['h'])\n"
            "        return {'y': 2 * feed['x'], 'hn': count + 1 + (count == 7) * error}\n"
            "    return infer\n\ndef right(_path):\n    return runner(0)\n\n"
            "def wrong(_path):\n    return runner(0.005)\n", encoding="utf-8")
        self.save_feeds("feeds.json", [{"x": np.arange(24.).reshape(1, 24), "h": np.zeros((1, 1))}])
        words = ["run", "--runner", "a=counts.py:right", "--runner", "b=counts.py:wrong",
                 "--python", sys.executable, "--load-inputs", "feeds.json", "--feed-back", "hn:h",
                 "--step-slice", "x:axis=1,size=2"]
        self.assertEqual(self.vernier(*words).code, 0)
        ended = self.vernier(*words, "--state", "cross")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("a vs. b: FAILED with one state", ended.out + ended.err)
        self.assertIn("output 'hn' differs at step 7 of sequence 0 where both have the state of b",
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
            self.assertEqual("shows nothing" not in said, shown, said)  # nor is that a note

    def test_one_constant_step_of_many_is_noted(self):
        """y is x + h of each element: at step 4 x takes the state away."""
        x = np.random.default_rng(5).normal(size=(1, 40)).astype("f4")
        self.path("sums.py").write_text(
            "import numpy as np\n\ndef load(_path):\n    def infer(feed):\n"
            "        zero = feed['x'][0, 0] > 9\n"
            "        y = np.zeros((1, 4), 'f4') if zero else feed['x'] + feed['h']\n"
            "        return {'y': y, 'hn': feed['h'] + feed['x']}\n"
            "    return infer\n", encoding="utf-8")
        words = ["run", "--runner", "a=sums.py", "--runner", "b=sums.py", "--python",
                 sys.executable, "--load-inputs", "feeds.json", "--feed-back", "hn:h",
                 "--step-slice", "x:axis=1,size=4", "--strict"]
        for steps, code in (([4], 0), (range(10), 1)):
            for step in steps:
                x[0, 4 * step] = 10
            self.save_feeds("feeds.json", [{"x": x, "h": np.zeros((1, 4), "f4")}])
            ended = self.vernier(*words)
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual("note: a vs. b: output 'y' shows nothing in 1 of 10 iterations (all "
                             "elements are zero)" in ended.out, code == 0, ended.out)
            self.assertEqual("; shows nothing: y (" in ended.out, code == 1, ended.out)

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
        self.assertIn("--initial-state h.json: 'z' is not an input that is fed back",
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


class UnfedStates(StepsCase):
    """A second state that nobody feeds, with a fault in it: it stays what it was, on both sides."""

    SCRIPT = """
        import numpy as np

        class Network:
            {declared}

            def infer(self, feed):
                first = feed["st"] + feed["x"]
                second = feed["mem"] * np.float32({decay}) + feed["x"]
                return {{"y": first + second, "o1": first, "{name}": second}}

        def load(path):
            return Network()
    """

    DECLARED = 'input_metadata = {n: (np.float32, (None, 4)) for n in ("x", "st", "mem")}'

    def two_states(self, path, decay, second, sizes):
        """o1 = st + x, second = mem * decay + x, y is their sum."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, sizes)
                for n in ("x", "st", "mem", "y", "o1", second)}
        nodes = [helper.make_node("Add", ["st", "x"], ["o1"]),
                 helper.make_node("Mul", ["mem", "decay"], ["kept"]),
                 helper.make_node("Add", ["kept", "x"], [second]),
                 helper.make_node("Add", ["o1", second], ["y"])]
        graph = helper.make_graph(
            nodes, "g", [info[n] for n in ("x", "st", "mem")],
            [info[n] for n in ("y", "o1", second)],
            [numpy_helper.from_array(np.float32(decay), "decay")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(path)))

    def run_two(self, second, *words, code, script=None, sizes=(None, None), mark=""):
        """`script`: what it says of its inputs."""
        runners = []
        for label, decay in (("a", 0.5), ("b", 0.9)):
            if script is not None:
                self.path(f"{label}.py").write_text(textwrap.dedent(self.SCRIPT).format(
                    decay=decay, name=second, declared=script))
                runners += ["--runner", f"{label}={label}.py --python {sys.executable}"]
            else:
                self.two_states(f"{label}.onnx", decay, second, list(sizes))
                runners += ["--runner", f"{label}=onnxrt {label}.onnx {mark}"]
        x = np.random.default_rng(0).normal(size=(2, 24)).astype("f4")
        self.save_feeds("feeds.json", [{"x": x, "st": np.zeros((2, 4), "f4"),
                                        "mem": np.zeros((2, 4), "f4")}])
        ended = self.vernier("run", *runners, "--load-inputs", "feeds.json", "--feed-back",
                             "o1:st", "--step-slice", "x:axis=1,size=4", "--save-record", "r.json",
                             "--report", "r.md", "-qq", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    DOUBT = ("input 'mem' stays the same at every step, though an output that feeds nothing has "
             "its type and shape: add --advance mem:+0 for a value that stays, or y:mem or q7:mem "
             "for a state")

    def test_sizes_of_the_first_step_show_one_that_is_called_new(self):
        for script in (None, self.DECLARED, ""):
            with self.subTest(script=script):
                self.assertIn("nothing feeds the input 'mem' of a after the first step, and an "
                              "output that feeds nothing has its type and shape",
                              self.run_two("o2", code=2, script=script))
                self.run_two("o2", "--feed-back", "o1:st", "o2:mem", code=1, script=script)

    def test_a_doubt_is_noted_and_no_strict_pass(self):
        for script, sizes in ((None, (None, None)), (self.DECLARED, None), ("", None),
                              (None, (2, 4))):
            with self.subTest(script=script, sizes=sizes):
                self.run_two("q7", code=0, script=script, sizes=sizes)
                self.assertIn(self.DOUBT, self.record()["notes"])
                self.assertIn("stays the same at every step", self.path("r.md").read_text())
                self.run_two("q7", "--strict", code=4, script=script, sizes=sizes)
                self.assertIn("--strict: " + self.DOUBT, self.record()["faults"])
                self.run_two("q7", "--strict", "--advance", "mem:+0", code=0, script=script,
                             sizes=sizes)
                self.assertEqual(self.record()["notes"], [])

    def test_tensors_within_a_model_feed_nothing(self):
        for sizes in ((None, None), (2, 4)):
            with self.subTest(sizes=sizes):
                self.run_two("q7", code=0, sizes=sizes, mark="--onnx-outputs mark all")
                (doubt,) = self.record()["notes"]
                self.assertIn("'mem' stays the same at every step", doubt)
                self.assertNotIn("kept:mem", doubt)
                self.run_two("o2", code=2, sizes=sizes, mark="--onnx-outputs mark all")
                self.run_two("q7", code=0, sizes=sizes, mark="--onnx-outputs y o1")
                self.assertIn(self.DOUBT.replace(" or q7:mem", ""), self.record()["notes"])


if __name__ == "__main__":
    unittest.main()
