"""blame over steps: the first step that is wrong by itself, then the layer within it."""

import sys
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case, blame

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "data"))
from causal_models import FAULTS, causal_model, empty_caches  # noqa: E402


def recurrent(path, gain=1.0, late=False):
    """hn = tanh(h W + x) * gain, y = sum of hn; `late`: the gain shows where x is above 5 only."""
    weights = np.random.default_rng(3).normal(0, 0.4, (4, 4)).astype("f4")
    scale = [helper.make_node("Mul", ["t", "gain"], ["hn"], name="scale")]
    if late:
        scale = [helper.make_node("ReduceMax", ["x"], ["top"], keepdims=1, name="top"),
                 helper.make_node("Greater", ["top", "five"], ["above"], name="above"),
                 helper.make_node("Where", ["above", "gain", "one"], ["g"], name="choose"),
                 helper.make_node("Mul", ["t", "g"], ["hn"], name="scale")]
    nodes = [helper.make_node("MatMul", ["h", "w"], ["hw"], name="matmul"),
             helper.make_node("Add", ["hw", "x"], ["sum"], name="add"),
             helper.make_node("Tanh", ["sum"], ["t"], name="tanh"), *scale,
             helper.make_node("ReduceSum", ["hn", "axes"], ["y"], keepdims=1, name="total")]
    info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
            for n, s in (("x", [1, 4]), ("h", [1, 4]), ("y", [1, 1]), ("hn", [1, 4]))}
    constants = {"w": weights, "gain": np.float32([gain]), "axes": np.array([1], "i8")}
    if late:
        constants.update(five=np.float32([5]), one=np.float32([1]))
    graph = helper.make_graph(nodes, "g", [info["x"], info["h"]], [info["y"], info["hn"]],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def overflows(path):
    """hn = 1e8 h + x, y = hn: infinite from step 5 on."""
    nodes = [helper.make_node("Mul", ["h", "k"], ["t"], name="times"),
             helper.make_node("Add", ["t", "x"], ["hn"], name="add"),
             helper.make_node("Identity", ["hn"], ["y"], name="copy")]
    info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4])
            for n in ("x", "h", "y", "hn")}
    graph = helper.make_graph(nodes, "g", [info["x"], info["h"]], [info["y"], info["hn"]],
                              [numpy_helper.from_array(np.float32(1e8), "k")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def overflows_in_part(path, gain=1.0):
    """hn = tanh(h W + x) * gain, gn = 1e8 g + 1, infinite from step 5 on; y = hn, gn, gn - gn."""
    weights = np.random.default_rng(3).normal(0, 0.1, (64, 64)).astype("f4")
    nodes = [helper.make_node("MatMul", ["h", "w"], ["hw"], name="matmul"),
             helper.make_node("Add", ["hw", "x"], ["sum"], name="add"),
             helper.make_node("Tanh", ["sum"], ["t"], name="tanh"),
             helper.make_node("Mul", ["t", "gain"], ["hn"], name="scale"),
             helper.make_node("Mul", ["g", "k"], ["gk"], name="times"),
             helper.make_node("Add", ["gk", "one"], ["gn"], name="plus"),
             helper.make_node("Sub", ["gn", "gn"], ["nan"], name="sub"),
             helper.make_node("Concat", ["hn", "gn", "nan"], ["y"], axis=1, name="all")]
    info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size]) for n, size in (
        ("x", 64), ("h", 64), ("g", 1), ("y", 66), ("hn", 64), ("gn", 1))}
    constants = {"w": weights, "gain": np.float32(gain), "k": np.float32(1e8),
                 "one": np.float32(1)}
    graph = helper.make_graph(nodes, "g", [info[n] for n in ("x", "h", "g")],
                              [info[n] for n in ("y", "hn", "gn")],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def masked(path, holds=True):
    """Of each position of [batch, positions, 4]: stateN = tanh(state W + x), and where the mask is
    0 `state`, if it `holds` that over padding."""
    weights = np.random.default_rng(4).normal(0, 0.4, (4, 4)).astype("f4")
    nodes = [helper.make_node("MatMul", ["state", "w"], ["sw"], name="matmul"),
             helper.make_node("Add", ["sw", "x"], ["sum"], name="add"),
             helper.make_node("Tanh", ["sum"], ["t"], name="tanh"),
             helper.make_node("Cast", ["attention_mask"], ["m"], name="cast", to=TensorProto.BOOL),
             helper.make_node("Unsqueeze", ["m", "last"], ["column"], name="column"),
             helper.make_node("Where", ["column", "t", "state"], ["held"], name="hold"),
             helper.make_node("Identity", ["held" if holds else "t"], ["stateN"], name="next"),
             helper.make_node("Neg", ["t"], ["y"], name="neg")]
    info = {n: helper.make_tensor_value_info(n, kind, ["b", "s", 4][:rank]) for n, kind, rank in (
        ("x", TensorProto.FLOAT, 3), ("state", TensorProto.FLOAT, 3),
        ("attention_mask", TensorProto.INT64, 2), ("y", TensorProto.FLOAT, 3),
        ("stateN", TensorProto.FLOAT, 3))}
    graph = helper.make_graph(
        nodes, "g", [info[n] for n in ("x", "attention_mask", "state")],
        [info[n] for n in ("y", "stateN")],
        [numpy_helper.from_array(weights, "w"),
         numpy_helper.from_array(np.array([2], "i8"), "last")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def two_lstms(path, wrong=0.0):
    """Two LSTMs, one behind the other; a recurrent weight of the second is wrong by so much."""
    random, size = np.random.default_rng(6), 8
    weights = {f"{kind}{layer}": random.normal(0, scale, (1, 4 * size, size)).astype("f4")
               for layer in (0, 1) for kind, scale in (("W", 0.4), ("R", 0.3))}
    weights["R1"][0, 3, 4] += np.float32(wrong)
    nodes = [helper.make_node("Unsqueeze", ["x", "zero"], ["xs"], name="sequence"),
             helper.make_node("LSTM", ["xs", "W0", "R0", "", "", "h", "c"], ["y0", "hn", "cn"],
                              hidden_size=size, name="first"),
             helper.make_node("Squeeze", ["y0", "one"], ["z"], name="between"),
             helper.make_node("LSTM", ["z", "W1", "R1", "", "", "g", "d"], ["y1", "gn", "dn"],
                              hidden_size=size, name="second"),
             helper.make_node("ReduceSum", ["gn", "axes"], ["y"], keepdims=0, name="total")]
    states = ("h", "c", "g", "d", "hn", "cn", "gn", "dn")
    info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (
        ("x", [2, size]), ("y", [2]), *((state, [1, 2, size]) for state in states))}
    constants = {"zero": np.array([0], "i8"), "one": np.array([1], "i8"),
                 "axes": np.array([0, 2], "i8"), **weights}
    graph = helper.make_graph(nodes, "g", [info[n] for n in ("x", *states[:4])],
                              [info[n] for n in ("y", *states[4:])],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class Steps(Case):
    def test_a_weight_of_an_lstm_that_is_wrong_by_little_is_named(self):
        """The bounds of an LSTM are wide: the total error hides it."""
        np.savez("x.npz", x=np.random.default_rng(5).normal(size=(2, 160)).astype("f4"))
        two_lstms("good.onnx")
        for wrong, code in ((0.02, 1), (0.01, 1), (0.005, 0), (0, 0)):
            two_lstms("bad.onnx", wrong)
            ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                                 "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--feed-back",
                                 "hn:h", "cn:c", "gn:g", "dn:d", "--step-slice", "x:axis=1,size=8")
            said = ended.stdout + ended.stderr
            self.assertEqual(ended.returncode, code, said)
            (layer,) = [layer for layer in found["layers"] if layer["node"] == "second"]
            self.assertLess(layer["total_error"], 1, said)
            what = "its weight 'R1' is not that of the reference"
            if code == 1:
                self.assertTrue(1 < layer["own_error"] < 3, said)
                self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["second"])
                self.assertIn(what, found["culprits"][0]["why"])
            elif wrong:
                self.assertIn(f"layer 'second' (LSTM) is within its error bound "
                              f"({layer['own_error']:.3g}), but {what}", " ".join(found["notes"]))
            else:
                self.assertNotIn("its weight", said)

    def test_a_state_counts_at_positions_that_a_mask_excludes(self):
        masked("good.onnx")
        masked("bad.onnx", holds=False)
        np.savez("x.npz", x=np.random.default_rng(5).normal(size=(2, 3, 4)).astype("f4"),
                 attention_mask=np.array([[0, 0, 1], [1, 1, 0]], "i8"),
                 state=np.zeros((2, 1, 4), "f4"))
        words = ("--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--load-inputs", "x.npz", "--feed-back", "stateN:state", "--step-slice",
                 "x:axis=1,size=1", "attention_mask:axis=1,size=1")
        ended, found = blame(self.folder.name, *words)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(found["at_step"]["output"], "stateN")
        self.assertIn(found["culprits"][0]["node"], ("next", "hold"), ended.stdout)
        self.assertIn(", and outputs that are fed back, include them", " ".join(found["notes"]))
        # It is masked where that is asked for, as in a run.
        ended, found = blame(self.folder.name, *words, "--mask", "attention_mask")
        self.assertEqual(found["culprits"], [], ended.stdout)

    def search(self, code, *words):
        x = np.random.default_rng(5).normal(size=(1, 24)).astype("f4")
        x[0, 12:16] = 6  # step 3
        np.savez("x.npz", x=x)
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--feed-back", "hn:h",
                             "--step-slice", "x:axis=1", *words)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout + ended.stderr, found

    def test_what_both_sides_overflow_to_alike_is_no_fault(self):
        overflows("good.onnx")
        overflows("bad.onnx")
        said, found = self.search(0)
        self.assertFalse(found["at_step"]["wrong_by_itself"], said)
        self.assertEqual(found["culprits"], [])
        self.assertIn("no step is out of its bound", said)
        self.assertNotIn("times its error bound at step", said)

    def test_rounding_beside_what_both_overflow_to_is_no_fault(self):
        """The second gain is two roundings from 1, so that no step agrees to the bit."""
        np.savez("x.npz", x=np.random.default_rng(5).normal(size=(1, 64 * 12)).astype("f4"))
        words = ("--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--load-inputs", "x.npz", "--feed-back", "hn:h", "gn:g", "--step-slice",
                 "x:axis=1")
        overflows_in_part("good.onnx")
        for gain, bad in ((1 + 2.0 ** -22, False), (1.001, True)):
            overflows_in_part("bad.onnx", gain)
            ended, found = blame(self.folder.name, *words)
            said = ended.stdout + ended.stderr
            self.assertEqual(found["at_step"]["wrong_by_itself"], bad, said)
            # NaN in an output is blamed all the same, on both sides.
            self.assertEqual("no step is out of its bound" in said, not bad, said)

    def test_within_all_bounds_the_first_step_near_the_largest_error_is_looked_at(self):
        """A weight that is wrong by little, in every step; which error is the largest is chance."""
        np.savez("x.npz", x=np.random.default_rng(5).normal(size=(2, 320)).astype("f4"))
        two_lstms("good.onnx")
        two_lstms("bad.onnx", 0.001)
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--feed-back", "hn:h",
                             "cn:c", "gn:g", "dn:d", "--step-slice", "x:axis=1,size=8")
        said, step = ended.stdout + ended.stderr, found["at_step"]
        self.assertEqual(ended.returncode, 0, said)
        self.assertFalse(step["wrong_by_itself"])
        self.assertLess(step["step"], step["largest_own_step"])
        self.assertGreaterEqual(2 * step["own_error"], step["largest_own_error"])
        self.assertIn(f"and this is the first near the largest error, "
                      f"{step['largest_own_error']:.3g} times its bound, at step "
                      f"{step['largest_own_step']} of sequence 0", said)

    def test_nan_in_the_first_state_is_named(self):
        recurrent("good.onnx")
        recurrent("bad.onnx")
        np.savez("state.npz", h=np.array([[0, np.nan, 0, 0]], "f4"))
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--iterations", "1", "--feed-back", "hn:h",
                             "--steps", "3", "--initial-state", "state.npz")
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 4, said)
        for note in ("the input 'h' of sequence 0 holds NaN, the first at (0, 1)", "nothing was"):
            self.assertIn(note, " ".join(found["notes"]), said)

    def test_the_step_and_the_layer_in_it_are_named(self):
        recurrent("good.onnx", 1.0, late=True)
        recurrent("bad.onnx", 1.01, late=True)
        said, found = self.search(1)
        step = found["at_step"]
        self.assertEqual((step["sequence"], step["step"], step["wrong_by_itself"]), (0, 3, True))
        self.assertEqual(step["first_total_step"], 3)
        self.assertGreater(step["own_error"], 1)
        self.assertIn(found["culprits"][0]["node"], ("scale", "choose"), said)

    def test_one_step_shows_nothing_of_what_is_fed_back(self):
        recurrent("good.onnx")
        recurrent("bad.onnx")
        words = ("--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--feed-back", "hn:h", "--step-slice", "x:axis=1,size=4")
        for more, code in ((), 2), (("--load-inputs", "one.npz"), 4):
            np.savez("one.npz", x=np.ones((1, 4), "f4"))
            ended, _ = blame(self.folder.name, *words, *more)
            said = ended.stdout + ended.stderr
            self.assertEqual(ended.returncode, code, said)
            self.assertIn("--feed-back: the inputs hold one step", said)
            self.assertNotIn("Nothing is to blame", said)

    def test_an_input_that_is_another_for_one_side_is_refused(self):
        recurrent("good.onnx")
        recurrent("bad.onnx", 1.01)
        words = ("--map-inputs", "new:h=h[:,::-1]")
        said, _ = self.search(2, *words)
        self.assertIn("--map-inputs: blame feeds both sides the same tensor under a name, but "
                      "'h' would be a different one for new", said)

    def test_nan_in_the_inputs_is_named(self):
        recurrent("good.onnx")
        recurrent("bad.onnx")
        x = np.ones((1, 24), "f4")
        x[0, 13] = np.nan
        np.savez("x.npz", x=x)
        ended, _ = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--feed-back", "hn:h",
                         "--step-slice", "x:axis=1")
        self.assertIn("the input 'x' of sequence 0 holds NaN, the first at (0, 13), of step 3",
                      ended.stdout + ended.stderr)

    def test_a_python_runner_without_a_model_is_called_so(self):
        recurrent("good.onnx")
        with open("own.py", "w", encoding="utf-8") as script:
            script.write("def infer(feed):\n    return {}\n")
        ended, _ = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         f"new=own.py --python {sys.executable}")
        self.assertIn("but 'new' runs a Python script without one",
                      ended.stdout + ended.stderr)

    def test_steps_that_agree_blame_nobody(self):
        recurrent("good.onnx")
        recurrent("bad.onnx")
        said, found = self.search(0)
        self.assertEqual(found["culprits"], [])
        self.assertIn("in multiples of their error bounds, of which none is over 1:", said)
        step = found["at_step"]
        self.assertEqual((step["wrong_by_itself"], step["first_total_step"]), (False, None))


# The step at which each fault first shows, and the layer, input or state that it is in. That of
# positions is how the input position_ids is taken, that of padding how attention_mask is; a cache
# that is not reset shows in the first layer that reads one.
PLACES = {
    "position-off-by-one": (1, "rotations.Cast_0"),
    "swapped-key-value": (1, "present.2.value"),
    "cache-not-reset": (0, "layer0.Unsqueeze_0"),
    "padding-not-masked": (0, "penalties.Unsqueeze_1"),
    "transposed-cache": (1, "present.1.key"),
    "rotary-base": (1, "rotations.Mul_0"),
    "head-scale": (1, "layer3.Mul_6"),
    "stale-scale": (0, "layer2.down_out"),
}


class PlantedFaults(Case):
    """Each of the eight faults of the small transformer, in the candidate alone."""

    FED = {"steps.npz": ["--step-slice", "input_ids:axis=1,size=1"],
           "padded.npz": ["--decode", "greedy", "--steps", "4"]}

    def save_prompts(self):
        random = np.random.default_rng(0)
        ids, one = random.integers(0, 64, (1, 12)), np.ones((1, 1), "i8")
        np.savez("steps.npz", input_ids=ids, attention_mask=one, position_ids=0 * one,
                 **empty_caches())
        mask = np.array([[1] * 6, [0, 0, 1, 1, 1, 1]])
        np.savez("padded.npz", input_ids=random.integers(0, 64, (2, 6)), attention_mask=mask,
                 position_ids=np.maximum(mask.cumsum(axis=1) - 1, 0), **empty_caches(2))

    def search(self, fault, feeds, code):
        onnx.save(causal_model(None), "good.onnx")
        onnx.save(causal_model(fault), "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--load-inputs", feeds, "--feed-back", "auto",
                             "--advance", "position_ids:+1", "attention_mask:append 1",
                             *self.FED[feeds])
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return found

    def test_each_is_named_with_its_step_and_place(self):
        self.assertEqual(set(PLACES), set(FAULTS))
        self.save_prompts()
        for fault, place in PLACES.items():
            with self.subTest(fault):
                feeds = "padded.npz" if fault == "padding-not-masked" else "steps.npz"
                found = self.search(fault, feeds, 1)
                step = found["at_step"]
                self.assertTrue(step["wrong_by_itself"])
                self.assertEqual((step["step"], found["culprits"][0]["node"]), place)

    def test_the_sound_model_is_not_blamed(self):
        self.save_prompts()
        for feeds in self.FED:
            with self.subTest(feeds):
                found = self.search(None, feeds, 0)
                self.assertEqual(found["culprits"], [])
                self.assertFalse(found["at_step"]["wrong_by_itself"])


class Tokens(Case):
    """With --decode: the step that chooses another token."""

    def search(self, fault, code, *words):
        onnx.save(causal_model(None), "good.onnx")
        onnx.save(causal_model(fault), "bad.onnx")
        ids = np.array([[9, 2, 6, 5, 3]])
        np.savez("prompt.npz", input_ids=ids, attention_mask=np.ones_like(ids),
                 position_ids=np.arange(5)[None], **empty_caches())
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--load-inputs", "prompt.npz", "--steps", "6",
                             "--decode", "greedy", "--feed-back", "auto", "--advance",
                             "position_ids:+1", "attention_mask:append 1", *words)
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, code, said)
        return said, found

    def test_the_first_divergent_token_and_the_layer_behind_it_are_named(self):
        said, found = self.search("swapped-key-value", 1)
        step = found["at_step"]
        self.assertEqual((step["sequence"], step["step"], step["wrong_by_itself"]), (0, 1, True))
        parted = step["divergence"]
        self.assertEqual((parted["step"], parted["first_token"], parted["second_token"]),
                         (1, 55, 62))
        self.assertIn("the tokens diverge there, prompt 0: token 55 against 62 (beyond tolerance)",
                      said)
        self.assertIn(found["culprits"][0]["node"], ("present.2.value", "present.2.key"), said)

    def test_tokens_may_be_given(self):
        np.save("text.npy", np.array([[50, 3, 22, 63, 1]]))
        _, found = self.search("swapped-key-value", 1, "--tokens", "text.npy")
        step = found["at_step"]
        self.assertEqual((step["sequence"], step["step"], step["wrong_by_itself"]), (0, 1, True))
        self.assertEqual(found["culprits"][0]["node"], "present.2.value")
        said, _ = self.search(None, 2, "--tokens", "input_ids")
        self.assertIn("--tokens input_ids: expected FILE.npy or SCRIPT.py with the tokens to feed "
                      "beside --decode, not an input", said)

    def test_tokens_that_agree_blame_nobody(self):
        said, found = self.search(None, 0)
        self.assertEqual(found["culprits"], [])
        self.assertNotIn("divergence", found["at_step"])
        self.assertNotIn("the tokens diverge", said)


if __name__ == "__main__":
    unittest.main()
