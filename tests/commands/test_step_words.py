"""What runs with steps say of states that are left out or converted, and of other sequences."""

import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from steps_case import StepsCase

# It keeps its state inside, or, as its reset_states says that too, takes one all the same.
SCRIPT = """
import numpy as np

WEIGHTS = np.random.default_rng(3).normal(0, 0.4, (4, 4)).astype("f4")
STATE = [np.zeros((1, 4), "f4")]


def reset_states():
    STATE[0] = np.zeros((1, 4), "f4")


def infer(feed):
    STATE[0] = np.tanh({state} @ WEIGHTS + feed["x"])
    return {{"y": STATE[0].sum(1, keepdims=True)}}
"""
SLICED = ("--steps", "4", "--step-slice", "x:axis=1,size=4")


class StepWords(StepsCase):
    def test_a_slice_of_an_input_that_is_none_lists_those_there_are(self):
        self.recurrent("a.onnx")
        ended = self.vernier("run", "a.onnx", "--onnxrt", "--feed-back", "hn:h", "--steps", "4",
                             "--step-slice", "nosuch:axis=0")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--step-slice nosuch:axis=0: the inputs have no 'nosuch', but 'x', 'h'; if "
                      "another runner takes it, give size=", ended.err)

    def test_outputs_of_both_sides_are_listed_once(self):
        said = self.run_two("--compare", "nope:logits", "--steps", "2", code=2)
        self.assertRegex(said, r"there is no output 'nope', but 'y', 'hn'\n")

    def test_masks_that_are_added_to_scores_get_longer_by_zeros(self):
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
                for n, s in (("attention_mask", [1, "M"]), ("h", [1, 1]), ("hn", [1, 1]))}
        nodes = [helper.make_node("ReduceLogSumExp", ["attention_mask"], ["sum"], axes=[1]),
                 helper.make_node("Add", ["sum", "h"], ["hn"])]
        graph = helper.make_graph(nodes, "g", [info["attention_mask"], info["h"]], [info["hn"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        for mask, value, code in (([0, -np.inf, 0], 1, 2), ([0, -1e4], 1, 2), ([0, -1e4], 0, 0),
                                  ([1, 0, 1], 1, 0)):
            self.save_feeds("feeds.json", [{"attention_mask": np.float32([mask])}])
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json",
                                 "--feed-back", "hn:h", "--steps", "3", "--save-outputs", "o.json",
                                 "--advance", f"attention_mask:append {value}")
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual("0 marks what counts there: append 0" in ended.err, code == 2)

    def test_a_name_of_feed_back_that_is_none_is_named(self):
        for word, said in (("hnn:h", "no runner has an output 'hnn'; did you mean 'hn'?; a has"),
                           ("hn:q", "no runner has an input 'q'; a has 'y', 'hn' and 'x', 'h'"),
                           ("q:q", "no runner has such an output and input; a has")):
            with self.subTest(word):
                self.assertIn(f"--feed-back {word}: {said}",
                              self.run_two("--steps", "2", feed_back=word, code=2))

    def test_a_longer_output_is_to_be_cut_in_the_model(self):
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size])
                for n, size in (("x", 2), ("cache", 8), ("cachen", 10))}
        graph = helper.make_graph([helper.make_node("Concat", ["cache", "x"], ["cachen"], axis=1)],
                                  "g", [info["x"], info["cache"]], [info["cachen"]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("slides.onnx")))
        for word in ("auto", "cachen:cache"):
            ended = self.vernier("run", "slides.onnx", "--onnxrt", "--steps", "3", "--feed-back",
                                 word)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("axis 1 differs (whole outputs are fed back: of one that is longer, such "
                          "as a cache of which the last 8 elements are the state, let the model "
                          "return that part)", ended.err)

    def test_many_iterations_out_of_tolerance_are_shown_on_demand(self):
        self.save_feeds("x.json", self.recordings(30))
        words = ("--load-inputs", "x.json", "--step-slice", "x:axis=1,size=4")
        said = self.run_two(*words, gain=0.5, code=1)
        self.assertEqual(said.count("FAILED | Output: 'y'"), 20, said)
        self.assertEqual(said.count("20 iterations are out of tolerance: -v shows those"), 1)
        self.assertIn("Accuracy Summary", said)
        self.assertEqual(self.record()["pairs"][0]["outputs"][0]["time"]["steps"], 60)
        said = self.run_two(*words, "-v", gain=0.5, code=1)
        self.assertEqual(said.count("FAILED | Output: 'y'"), 60, said)

    def test_the_same_mistake_has_one_exit_code(self):
        self.save_feeds("x.json", self.recordings())
        self.save_feeds("state.json", [{"q": np.zeros((1, 4), "f4")}])
        loaded = ("--load-inputs", "x.json", "--steps", "2")
        sliced = (*loaded, "--step-slice", "x:axis=1,size=4")
        for words, said in (
                ((*loaded, "--step-slice", "q:axis=1,size=4"), "--step-slice q:axis=1,size=4: the "
                 "inputs have no 'q', but 'x', 'h'"),
                ((*sliced, "--advance", "q:+1"), "--advance q:+1: the inputs have no 'q', but 'x'"),
                ((*sliced, "--initial-state", "state.json"),
                 "--initial-state state.json: 'q' is not an input that is fed back"),
                (("--steps", "2", "--step-slice", "x:axis=5"),
                 "--step-slice x:axis=5: 'x' has the shape (1, 4), and no axis 5"),
                ((*loaded, "--step-slice", "x:axis=5,size=4"),
                 "--step-slice x:axis=5,size=4: 'x' has the shape (1, 4), and no axis 5"),
                ((*sliced, "--advance", "h:+0"), "'h' cannot take 'hn' of the step before as well, "
                 "so leave it out of one of the two"),
                ((*sliced, "--map-outputs", "q*=r*"), "such outputs; there are 'y', 'hn'"),
                ((*sliced, "--compare", "q:logits"), "there is no output 'q', but 'y', 'hn'"),
                ((*sliced, "--tokens", "t.npy"), "--tokens has no effect without --compare logits"),
                ((*sliced, "--seed", "3", "9"), "'9' is taken for the model, and no runner uses "
                 "it, since each has one of its own: leave it out")):
            with self.subTest(words=words):
                self.assertIn(said, self.run_two(*words, code=2))
        said = self.run_two("--load-inputs", "x.json", "--step-slice", "x:axis=1,size=30", code=3)
        self.assertIn("--step-slice x:axis=1,size=30: 'x' of sequence 0 has the shape (1, 20), of "
                      "which axis 1 is shorter than one step of 30 elements", said)

    def beside_script(self, state, *words, feed_back="hn:h"):
        self.recurrent("a.onnx")
        self.path("s.py").write_text(SCRIPT.format(state=state), encoding="utf-8")
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "s=s.py",
                             "--python", sys.executable, "--feed-back", feed_back, *SLICED,
                             "--save-record", "r.json", *words)
        return ended.code, ended.out + ended.err

    def test_a_word_for_all_is_not_about_a_state_inside(self):
        note = ("keeps its state inside: --feed-back hn:h does not apply to it (to feed it, "
                "name the runner: s:OUTPUT:INPUT)")
        code, said = self.beside_script("STATE[0]", "--map-outputs", "hn=")
        self.assertEqual(code, 0, said)
        self.assertIn("s | It " + note, said)
        code, said = self.beside_script("feed['h']", "--map-outputs", "hn=")
        self.assertEqual(code, 6, said)
        self.assertIn("s | It " + note, said.partition("KeyError: 'h'")[0])
        code, said = self.beside_script("STATE[0]", "--map-outputs", "hn=", feed_back="a:hn:h")
        self.assertEqual(code, 0, said)
        self.assertNotIn("does not apply to it", said)

    def test_no_state_that_is_compared_is_no_pass(self):
        says = ("not done: a vs. s: --compare-state: nothing that is fed back was compared: no "
                "such output has a counterpart on the other side")
        for more in ((), ("--sequential-runners",)):
            with self.subTest(more=more):
                words = ("--compare-state", *more)
                code, said = self.beside_script("STATE[0]", "--map-outputs", "a:hn=", *words[1:])
                self.assertEqual(code, 0, said)
                code, said = self.beside_script("STATE[0]", *words)
                self.assertEqual(code, 4, said)
                self.assertIn(says, said)
                code, said = self.beside_script("STATE[0]", "--lenient", *words)
                self.assertEqual(code, 0, said)
                self.assertIn(says.replace("not done", "note"), said)
                self.run_two("--map-outputs", "b:hn=", *SLICED, *words, code=4)
                self.run_two("--map-outputs", "y=", *SLICED, *words)

    def test_a_first_state_of_another_float_type_is_converted(self):
        np.savez(self.path("h.npz"), h=np.full((1, 4), 0.1, "f2"))
        for state in ("own", "reference", "cross"):
            with self.subTest(state=state):
                said = self.run_two("--initial-state", "h.npz", "--state", state, *SLICED)
                for name in "ab":
                    self.assertIn(f"note: {name}: the first state 'h' is converted from the "
                                  "float16 that was given to its own float32\n", said)
                self.assertNotIn("(--state reference)", said)
        np.savez(self.path("h.npz"), h=np.full((1, 4), 1, "i4"))
        self.run_two("--initial-state", "h.npz", *SLICED, code=3)

    def test_no_count_of_iterations_before_it_is_known(self):
        self.save_feeds("x.json", self.recordings())
        said = self.run_two("--load-inputs", "x.json", "--step-slice", "x:axis=1,size=4",
                            "--fail-fast", gain=1.1, code=1)
        self.assertIn("a vs. b: FAILED, compared 1 output in 1 iteration, 1 element", said)
        said = self.run_two("--iterations", "2", *SLICED, "--fail-fast", gain=1.1, code=1)
        self.assertIn("a vs. b: FAILED, compared 1 output in 1 of 8 iterations, 1 element", said)

    def test_saved_sequences_of_other_lengths_are_not_compared(self):
        self.recurrent("a.onnx")
        words = ("run", "--runner", "a=onnxrt a.onnx", "--feed-back", "hn:h")
        for steps, iterations in ((4, 3), (6, 2)):
            done = self.vernier(*words, "--steps", str(steps), "--iterations", str(iterations),
                                "--step-slice", "x:axis=1,size=4", "--save-outputs",
                                f"o{steps}.npz")
            self.assertEqual(done.code, 0, done.out + done.err)
        says = ("sequence 0 has 4 steps in 'o4.npz' and 6 steps in 'o6.npz', so the sequences "
                "after it would be compared with other steps; save both with the "
                "same --steps and inputs")
        ended = self.vernier("run", "--load-outputs", "o4.npz", "o6.npz")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn(says, ended.out + ended.err)
        ended = self.vernier("run", "--load-outputs", "o4.npz", "o4.npz")
        self.assertNotIn("has 4 steps", ended.out + ended.err)

    def test_json_does_not_say_where_sequences_begin(self):
        self.recurrent("a.onnx")
        words = ("run", "--runner", "a=onnxrt a.onnx", "--feed-back", "hn:h", *SLICED)
        says = "'o.json' does not say where its sequences begin"
        for iterations in ("2", "1"):
            done = self.vernier(*words, "--iterations", iterations, "--save-outputs", "o.json")
            self.assertEqual(done.code, 0, done.out + done.err)
            done = self.vernier(*words, "--iterations", iterations, "--load-outputs", "o.json")
            self.assertEqual(done.code, 0, done.out + done.err)
            self.assertEqual((done.out + done.err).count(says), int(iterations) - 1)


if __name__ == "__main__":
    unittest.main()
