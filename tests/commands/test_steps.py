"""Sequences of steps: --steps, --feed-back, --step-slice, --steps-axis, saved outputs."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.comparator import RunResults

from steps_case import StepsCase


class Steps(StepsCase):
    def test_a_recording_is_fed_step_by_step_and_each_begins_with_zeros(self):
        weights = self.recurrent("m.onnx")
        feeds = self.recordings()
        self.save_feeds("feeds.json", feeds)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "auto", "--step-slice", "x:axis=1",
                             "--save-outputs", "o.json", "--save-record", "r.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("Fed back from step to step: hn -> h", said)
        steps = self.record()["steps"]
        self.assertEqual((steps["lengths"], steps["state"]), ([5, 5], "own"))
        ((_, iterations),) = RunResults.load(str(self.path("o.json")))
        self.assertEqual(len(iterations), 10)
        for i, iteration in enumerate(iterations):
            if i % 5 == 0:
                h = np.zeros((1, 4), "f4")
            at = 4 * (i % 5)
            h = np.tanh(h @ weights + feeds[i // 5]["x"][:, at:at + 4])
            np.testing.assert_allclose(iteration["hn"], h, atol=1e-5)

    def test_what_no_step_takes_is_named(self):
        self.recurrent("m.onnx")
        words = ["run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--feed-back", "auto",
                 "--step-slice", "x:axis=1"]
        for more, steps, left in ((3, [], 3), (0, [], 0), (3, ["--steps", "4"], 7)):
            self.save_feeds("feeds.json", [{"x": np.zeros((1, 20 + more), "f4")}])
            ended = self.vernier(*words, *steps)
            said = ended.out + ended.err
            self.assertEqual(ended.code, 0, said)
            self.assertEqual("elements along axis 1 were not fed" in said, left > 0, said)
            if left:
                self.assertIn(f"input 'x': {left} of 23 elements along axis 1 were not fed", said)

    def test_rows_and_record_tell_of_steps(self):
        self.run_two("--steps", "6", "--save-rows", "rows.jsonl")
        rows = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        self.assertEqual([row["step"] for row in rows], [*range(6)] * 2)
        self.assertEqual([row["index"] for row in rows], [*range(12)])
        times = self.times()
        self.assertEqual((times["y"]["steps"], times["hn"]["steps"]), (12, 4))
        self.assertEqual((times["y"]["first_bad_step"], times["hn"]["fed_back"]), (None, True))

    def test_a_first_bad_step_comes_with_the_one_that_was_looked_at_before(self):
        """A state that alone fails is seen to at the last step only."""
        self.run_two("--steps", "8", "--map-outputs", "y=y", "--atol", "y:100", "1e-6", gain=1.01,
                     code=1)
        times = self.times()["hn"]
        self.assertEqual((times["first_bad_step"], "compared_before_bad" in times), (0, False))
        self.recurrent("a.onnx")
        self.late("b.onnx")
        self.save_feeds("feeds.json", self.recordings(steps=8)[:1])
        words = ("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice", "x:axis=1",
                 "--atol", "y:100", "1e-6", "--save-record", "r.json")
        self.assertEqual(self.vernier(*words).code, 1)
        times = self.times()["hn"]
        self.assertEqual((times["first_bad_step"], times["compared_before_bad"], times["steps"]),
                         (7, 0, 2))
        self.assertEqual(self.vernier(*words, "--compare-state").code, 1)
        times = self.times()["hn"]
        self.assertEqual((times["first_bad_step"], times["steps"]), (1, 8))
        self.assertNotIn("compared_before_bad", times)

    def test_a_run_that_ends_early_says_what_it_left_out(self):
        self.recurrent("a.onnx")
        self.path("m.py").write_text("""
import numpy as np
n = 0
def infer(feed):
    global n
    n += 1
    return {"y": np.zeros((1, 1), "f4")} if n > 2 else {"y": np.zeros((1, 1), "f4"),
                                                        "hn": np.zeros((1, 4), "f4")}
""", encoding="utf-8")
        self.save_feeds("feeds.json", self.recordings())
        words = ("run", "--runner", "b=m.py", "--runner", "a=onnxrt a.onnx", "--python",
                 sys.executable, "--load-inputs", "feeds.json", "--feed-back", "hn:h",
                 "--step-slice", "x:axis=1", "--atol", "100", "--map-outputs", "hn=")
        ended = self.vernier(*words, "--state", "reference")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("the run ended at step 3 of sequence 0, of 2 sequences",
                      ended.out + ended.err)
        ended = self.vernier(*words, "--state", "reference", "--steps", "5")
        self.assertIn("in 3 of 10 iterations", ended.out + ended.err)
        self.assertIn("the run ended in iteration 3 of 10", ended.out + ended.err)
        # With a state of its own, one runner needs no other.
        ended = self.vernier(*words, "--steps", "5")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("b: FAILED, gave no output 'hn' at step 2 of sequence 0, which the input 'h' "
                      "of the next step is fed with", ended.out + ended.err)
        self.assertIn("in 3 of 10 iterations", ended.out + ended.err)
        self.assertNotIn("the run ended", ended.out + ended.err)

    def test_few_steps_do_not_tell_whether_an_error_grows(self):
        said = self.run_two("--steps", "3", gain=1.01, code=1)
        self.assertIn("the error of output 'y' is known at 3 steps of a sequence, and it takes 8 "
                      "to tell whether it grows", said)

    def test_the_first_bad_step_is_told(self):
        said = self.run_two("--steps", "20", "--report", "r.md", "--report", "r.xml",
                            gain=1.001, code=1)
        self.assertRegex(said, r"a vs\. b: the error of output 'y' .*; "
                               r"first out of tolerance at step 0 of sequence 0")
        for report in ("r.md", "r.xml"):
            self.assertRegex(self.path(report).read_text(encoding="utf-8"),
                             r"the error of output .*; first out of tolerance at step 0 of")
        self.run_two("--steps", "20", "--state", "reference", gain=1.001, code=1)
        self.assertTrue(self.times()["y"]["own"])

    def leaky(self, name, kept):
        """hn = h * kept + x, y = hn: an error of `kept` adds up until as much leaks away."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1])
                for n in ("x", "h", "y", "hn")}
        nodes = [helper.make_node("Mul", ["h", "kept"], ["left"]),
                 helper.make_node("Add", ["left", "x"], ["hn"]),
                 helper.make_node("Identity", ["hn"], ["y"])]
        graph = helper.make_graph(nodes, "g", [info["x"], info["h"]], [info["y"], info["hn"]],
                                  [numpy_helper.from_array(np.float32(kept), "kept")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_an_error_that_has_levelled_off_is_not_said_to_grow(self):
        self.leaky("a.onnx", 0.97)
        self.leaky("b.onnx", 0.9701)
        words = ["run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                 "--feed-back", "hn:h", "--step-slice", "x:axis=1", "--atol", "1", "-qqq"]
        for steps, said in ((400, r"grew 1\.\d+ times a step .* and has levelled off: 1(\.000\d*)? "
                                  r"times a step from step 200 on; no step is out of tolerance"),
                            (30, r"grows 1\.\d+ times a step \(from \d+ steps, [^)]*\); no step")):
            self.save_feeds("feeds.json", [{"x": np.ones((1, steps), "f4")}])
            ended = self.vernier(*words, "--load-inputs", "feeds.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertRegex(ended.out + ended.err, "the error of output 'y' " + said)
            self.assertIn(f"; fed back, compared at 2 of {steps} steps: hn", ended.out + ended.err)

    def test_the_second_half_may_do_something_else_than_all_steps(self):
        """y = x + error(t); h counts the steps."""
        self.path("errors.py").write_text(
            "import numpy as np\n\ndef runner(error):\n"
            "    return lambda feed: {'y': feed['x'] + error(int(feed['h'][0, 0])),\n"
            "                         'hn': feed['h'] + 1}\n\n"
            "def none(_path):\n    return runner(lambda t: 0)\n\n"
            "def floor(_path):\n"
            "    return runner(lambda t: 1e-3 * 0.7**t + 1e-6 * (1 + 0.1 * np.sin(t)))\n\n"
            "def turns(_path):\n    return runner(lambda t: 1e-2 * 0.85**t + 1e-11 * 1.08**t)\n\n"
            "def hill(_path):\n"
            "    return runner(lambda t: 1e-7 * 1.2**min(t, 60) * 0.95**max(t - 60, 0))\n\n"
            "def decays(_path):\n    return runner(lambda t: 1e-3 * 0.9**t)\n", encoding="utf-8")
        self.save_feeds("feeds.json", [{"x": np.ones((1, 1600)), "h": np.zeros((1, 1))}])
        number = r"\d+\.\d+"
        for name, said in (
                ("floor", rf"fell {number} times a step \([^)]*\) and has levelled off: "
                          rf"(1|{number}) times a step from step 100 on; "),
                ("turns", rf"fell {number} times a step \([^)]*\), but grows from step 100 on: "
                          r"1\.0[78]\d* times a step; "),
                ("hill", rf"[^(]* over all steps: {number} times a step \([^)]*\), but dies out "
                         r"from step 100 on: 0\.95 times a step, by half in 13\.5 steps; "),
                ("decays", r"dies out: 0\.9 times a step \([^)]*\), by half in 6\.58 steps; ")):
            ended = self.vernier(
                "run", "--runner", "a=errors.py:none", "--runner", f"b=errors.py:{name}",
                "--python", sys.executable, "--load-inputs", "feeds.json", "--feed-back", "hn:h",
                "--step-slice", "x:axis=1,size=8", "--atol", "1", "-qqq")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertRegex(ended.out + ended.err, "the error of output 'y' " + said)

    def test_the_second_half_is_that_of_each_sequence(self):
        """A long sequence of small values follows a short one of large values: both grow."""
        self.leaky("a.onnx", 1.0)
        self.leaky("b.onnx", 1.0005)
        self.save_feeds("feeds.json", [{"x": np.full((1, steps), scale, "f4")}
                                       for steps, scale in ((40, 100), (60, 1))])
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--feed-back", "hn:h", "--step-slice", "x:axis=1", "--atol", "1e6",
                             "--load-inputs", "feeds.json", "--save-record", "r.json", "-qqq")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out + ended.err,
                         r"the error of output 'y' grows 1\.\d+ times a step \([^)]*\); no step")
        self.assertGreater(self.times()["y"]["late_growth_per_step"], 0.01)

    def whole(self, name, steps, shape=None):
        """The same network over all steps at once: x is (steps, 4), y (steps, 1) or `shape`."""
        shape = shape or [steps, 1]
        weights = np.random.default_rng(3).normal(0, 0.4, (4, 4)).astype("f4")
        nodes, rows = [], []
        state = "h"
        for t in range(steps):
            nodes += [helper.make_node("Gather", ["x", f"i{t}"], [f"x{t}"], axis=0),
                      helper.make_node("MatMul", [state, "w"], [f"hw{t}"]),
                      helper.make_node("Add", [f"hw{t}", f"x{t}"], [f"sum{t}"]),
                      helper.make_node("Tanh", [f"sum{t}"], [f"t{t}"]),
                      helper.make_node("ReduceSum", [f"t{t}", "axes"], [f"y{t}"], keepdims=1)]
            state = f"t{t}"
            rows.append(f"y{t}")
        nodes += [helper.make_node("Concat", rows, ["column"], axis=0),
                  helper.make_node("Reshape", ["column", "shape"], ["y"]),
                  helper.make_node("Identity", [state], ["hn"])]
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in
                (("x", [steps, 4]), ("h", [1, 4]), ("y", shape), ("hn", [1, 4]))}
        graph = helper.make_graph(
            nodes, "g", [info["x"], info["h"]], [info["y"], info["hn"]],
            [numpy_helper.from_array(weights, "w"),
             numpy_helper.from_array(np.array([1], "i8"), "axes"),
             numpy_helper.from_array(np.array(shape, "i8"), "shape"),
             *(numpy_helper.from_array(np.array([t], "i8"), f"i{t}") for t in range(steps))])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_a_runner_that_takes_all_steps_at_once(self):
        self.recurrent("a.onnx")
        self.whole("all.onnx", 5)
        self.save_feeds("feeds.json", self.recordings())
        words = ("run", "--runner", "a=onnxrt a.onnx", "--runner", "all=onnxrt all.onnx",
                 "--load-inputs", "feeds.json", "--feed-back", "auto", "--step-slice", "x:axis=1",
                 "--steps-axis", "all:0", "--save-record", "r.json", "--atol", "1e-5",
                 "--save-outputs", "o.json")
        ended = self.vernier(*words, "--map-outputs", "all:hn=")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.times()["y"]["steps"], 10)
        self.assertIsNone(self.times()["y"]["first_bad_step"])
        sides = RunResults.load(str(self.path("o.json")))
        self.assertEqual([len(iterations) for _, iterations in sides], [10, 10])
        for a, b in zip(sides[0][1], sides[1][1], strict=True):
            np.testing.assert_allclose(a["y"], b["y"], atol=1e-5)
        # What is not compared is not passed over in silence.
        ended = self.vernier(*words)
        self.assertNotEqual(ended.code, 0)
        self.assertIn("all: output 'hn' has no element for any step along --steps-axis",
                      ended.out + ended.err)
        for wrong, what in (("b:0", "expected RUNNER:AXIS"), ("all:x", "expected RUNNER:AXIS"),
                            ("all:7", "has no axis 7")):
            ended = self.vernier(*[wrong if word == "all:0" else word for word in words])
            self.assertIn(what, ended.out + ended.err)
        self.assertIn("--state reference: the state of a runner of --steps-axis is not accessible",
                      self.vernier(*words, "--state", "reference").err)
        self.assertIn("--steps-axis: at least one runner must go step by step",
                      self.vernier(*words, "--steps-axis", "a:0").err)

    def test_the_reference_may_be_the_one_that_takes_all_steps(self):
        self.recurrent("a.onnx")
        self.whole("all.onnx", 5)
        self.save_feeds("feeds.json", self.recordings())
        words = ("run", "--runner", "all=onnxrt all.onnx", "--runner", "a=onnxrt a.onnx",
                 "--feed-back", "auto", "--step-slice", "x:axis=1", "--steps-axis", "all:0",
                 "--save-record", "r.json", "--atol", "1e-5", "--map-outputs", "hn=")
        for inputs in (("--load-inputs", "feeds.json"), ("--iterations", "2", "--steps", "5")):
            with self.subTest(inputs):
                ended = self.vernier(*words, *inputs)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertEqual(self.times()["y"]["steps"], 10)
        self.recurrent("b.onnx", 1.01)
        ended = self.vernier(*[w.replace("a.onnx", "b.onnx") for w in words], "--load-inputs",
                             "feeds.json")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        ended = self.vernier(*words, "--load-inputs", "feeds.json", "--sequential-runners")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("with --sequential-runners the first runner goes step by step", ended.err)

    def test_steps_of_one_run_may_lack_axes_of_length_one(self):
        self.recurrent("a.onnx")
        self.save_feeds("feeds.json", self.recordings())
        for shape in ([5], [5, 1, 1]):
            with self.subTest(shape):
                self.whole("all.onnx", 5, shape)
                ended = self.vernier(
                    "run", "--runner", "a=onnxrt a.onnx", "--runner", "all=onnxrt all.onnx",
                    "--load-inputs", "feeds.json", "--feed-back", "auto", "--step-slice",
                    "x:axis=1", "--steps-axis", "all:0", "--map-outputs", "all:hn=", "--atol",
                    "1e-5", "--save-record", "r.json")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertEqual(self.times()["y"]["steps"], 10)

    def test_saved_steps_of_such_a_runner_may_lack_them_too(self):
        self.recurrent("a.onnx")
        self.save_feeds("f.json", self.recordings())
        self.whole("all.onnx", 5, [5])
        live = "run --load-inputs f.json --feed-back auto --step-slice x:axis=1".split()
        same = ("--map-outputs", "hn=", "--atol", "1e-5")
        self.assertEqual(self.vernier(
            *live, "--runner", "a=onnxrt a.onnx", "--runner", "q=onnxrt all.onnx", "--steps-axis",
            "q:0", *same, "--save-outputs", "s.npz").code, 0)
        self.recurrent("b.onnx", 1.01)
        load = (*live, "--load-outputs", "s.npz", "--pairs", "x:q", "--runner")
        for words, code in ((("compare", "s.npz"), 0), ((*load, "x=onnxrt a.onnx"), 0),
                            ((*load, "x=onnxrt b.onnx", "--pairs", "q:x"), 1)):
            ended = self.vernier(*words, *same)
            self.assertEqual(("the shapes" in ended.out, ended.code), (False, code), ended.out)

    def test_resume_does_not_go_on_with_other_steps(self):
        self.recurrent("m.onnx")
        words = ["run", "m.onnx", "--onnxrt", "--save-outputs", "o.npz", "--resume",
                 "--iterations", "2", "--feed-back", "hn:h"]
        for more, code in ((["--steps", "3"], 0), (["--steps", "3"], 0), (["--steps", "4"], 3),
                           (["--steps", "3", "--advance", "x:+1"], 3)):
            ended = self.vernier(*words, *more)
            said = ended.out + ended.err
            self.assertEqual(ended.code, code, said)
            if code:
                self.assertIn("was made from other inputs or by other steps", said)

    def against_saved(self, path, steps, *words, code):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", "--step-slice", "x:axis=1,size=4",
                             "--load-outputs", path, "--steps", steps, *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def save_steps(self, path, steps):
        self.recurrent("m.onnx")
        self.save_feeds("feeds.json", self.recordings(steps=8))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", "--step-slice", "x:axis=1,size=4",
                             "--steps", steps, "--save-outputs", path)
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_outputs_saved_with_other_steps_are_refused(self):
        self.save_steps("o.npz", 5)
        self.against_saved("o.npz", 5, code=0)
        for words in ((), ("--sequential-runners",), ("--lenient",)):
            for steps in (3, 7):
                with self.subTest(steps=steps, words=words):
                    said = self.against_saved("o.npz", steps, *words, code=3)
                    self.assertIn("'o.npz' was saved with other steps: it has 5 steps in sequence "
                                  f"0, and this run {steps}", said)
                    self.assertNotIn("Difference exceeds tolerance", said)

    def test_files_without_sequences_have_an_iteration_for_each_step(self):
        self.save_steps("o.json", 5)
        self.against_saved("o.json", 5, code=0)
        said = self.against_saved("o.json", 3, code=3)
        self.assertIn("'o.json' has 10 iterations of ", said)
        self.assertIn("and this run 6 steps over all sequences", said)

    def test_sequences_that_are_alike_are_compared_with_saved_ones(self):
        self.recurrent("m.onnx")
        feeds = self.recordings(steps=5)
        self.save_feeds("feeds.json", [feeds[0], feeds[0], feeds[1]])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", "--step-slice", "x:axis=1,size=4",
                             "--save-outputs", "o.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.against_saved("o.npz", 5, code=0)

    def test_what_makes_no_sense_is_named(self):
        self.recurrent("m.onnx")
        for words, what in (
                (("--steps", "3"), "all steps would be the same"),
                (("--steps", "1"), "all steps would be the same"),
                (("--feed-back", "hn:h", "--steps", "1"), "--steps 1: there is no next step"),
                (("--feed-back", "hn:h", "--steps", "2", "--state", "reference"),
                 "--state reference: a lone runner is fed with its own state anyway"),
                (("--feed-back", "hn:h", "--steps", "2", "--state", "cross"),
                 "--state cross: there is no second runner with a state of its own"),
                (("--feed-back", "hn:h", "--steps", "2", "--steps-axis", "onnxrt:0"),
                 "--steps-axis: no input holds the steps that are to be taken at once"),
                (("--feed-back", "hn:h", "--steps", "2", "--compare-state"),
                 "--compare-state: there is only one side to compare"),
                (("--feed-back", "hn:h"), "the number of steps is missing"),
                (("--feed-back", "hn", "--steps", "2"), "--feed-back hn: expected OUTPUT:INPUT"),
                (("--feed-back", "y:h", "--steps", "2"), "axis 1 differs"),
                (("--feed-back", "q:h", "--steps", "2"), "no runner has an output 'q'"),
                (("--step-slice", "x:axis=0,hop=4", "--advance", "h:+0", "--steps",
                  "9000000000000000000"),
                 "--steps 9000000000000000000: that many steps"),
                (("--step-slice", "x:axis=1,size=0"), "expected size >= 1, got '0'"),
                (("--step-slice", "x:axis=1,size=3,pad=5"),
                 "expected pad < size, got pad=5, size=3"),
                (("--advance", "x:next", "--steps", "2"), "--advance x:next: expected"),
                (("--onnxrt", "--feed-back", "hn:h", "--steps", "2", "--state", "reference",
                  "--sequential-runners"), "--state reference: the reference must be there"),
                (("--onnxrt", "--steps", "2", "--advance", "x:+1", "--compare-state"),
                 "--compare-state has no effect without --feed-back")):
            ended = self.vernier("run", "m.onnx", "--onnxrt", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertIn(what, ended.out + ended.err)
        self.save_feeds("feeds.json", self.recordings())
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                             "--feed-back", "hn:h", "--step-slice", "x:axis=1", "--steps", "6")
        self.assertEqual(ended.code, 3)
        self.assertIn("'x' of sequence 0 has 20 elements along axis 1, enough for 5 steps of 4, "
                      "not for 6", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
