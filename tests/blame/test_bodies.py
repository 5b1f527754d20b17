"""Faults within the bodies of Loop and Scan."""

import json
import subprocess
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

ROWS, WIDTH, ROUNDS = 4, 8, 5


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(path, nodes, result, constants):
    graph = helper.make_graph(
        [helper.make_node("Tanh", ["x"], ["t"], name="before"), *nodes,
         helper.make_node("Relu", [result], ["y"], name="after")],
        "bodies", [value("x", [ROWS, WIDTH])], [value("y", None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def weights():
    random = np.random.default_rng(11)
    return {"w": (random.normal(size=(WIDTH, WIDTH)) / WIDTH ** 0.5).astype(np.float32)}


def step(state, after, activation, scale):
    """state @ w, an activation, times something that the graph around it made."""
    return [helper.make_node("MatMul", [state, "w"], ["m"], name="inner_matmul"),
            helper.make_node(activation, ["m"], ["a"], name="inner_activation"),
            helper.make_node("Mul", ["a", scale], [after], name="inner_mul")]


def loop(path, activation):
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"], name="inner_condition"),
         *step("state", "next", activation, "t")], "body",
        [value("round", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("state", [ROWS, WIDTH])],
        [value("goes_on", [], TensorProto.BOOL), value("next", [ROWS, WIDTH])])
    save(path, [helper.make_node("Loop", ["rounds", "", "t"], ["last"], name="the_loop",
                                 body=body)], "last",
         {**weights(), "rounds": np.array(ROUNDS, np.int64)})


def scan(path, activation):
    body = helper.make_graph(
        [*step("state", "next", activation, "slice"),
         helper.make_node("Identity", ["next"], ["kept"], name="inner_keep")], "body",
        [value("state", [1, WIDTH]), value("slice", [WIDTH])],
        [value("next", [1, WIDTH]), value("kept", [1, WIDTH])])
    save(path, [helper.make_node("Scan", ["start", "t"], ["last", "all"], name="the_scan",
                                 num_scan_inputs=1, body=body)], "all",
         {**weights(), "start": np.full((1, WIDTH), 0.7, np.float32)})


def only_later(path, wrong, rounds=ROUNDS, most=5.5):
    """The fault shows in later rounds: Clip cuts off what has grown, twofold in each."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"], name="inner_condition"),
         helper.make_node("Add", ["state", "state"], ["grown"], name="inner_add"),
         helper.make_node("Clip", ["grown", "", "most"], ["next"], name="inner_clip")], "body",
        [value("round", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("state", [ROWS, WIDTH])],
        [value("goes_on", [], TensorProto.BOOL), value("next", [ROWS, WIDTH])])
    save(path, [helper.make_node("Loop", ["rounds", "", "t"], ["last"], name="the_loop",
                                 body=body)], "last",
         {"rounds": np.array(rounds, np.int64),
          "most": np.array(most if wrong else 1e6, np.float32)})


def constant(name, array):
    return helper.make_node("Constant", [], [name], name=name + "_node",
                            value=numpy_helper.from_array(np.asarray(array), name))


def exported(path, activation="Sigmoid", scale=1.0, state="t"):
    """As PyTorch's exporter writes an If: its body reads Constant nodes, and what is made of them,
    of the graph around it, and a second body within reads those of both."""
    inner = {which: helper.make_graph(
        [helper.make_node(op, ["m"], [which], name=f"inner_{which}")], which, [],
        [helper.make_tensor_value_info(which, TensorProto.FLOAT, None)])
             for which, op in (("then_branch", activation), ("else_branch", "Tanh"))}
    outer = {"then_branch": helper.make_graph(
        [helper.make_node("MatMul", [state, "wt"], ["product"], name="inner_matmul"),
         helper.make_node("Mul", ["product", "gain"], ["m"], name="inner_gain"),
         helper.make_node("If", ["yes"], ["chosen"], name="inner_if", **inner),
         helper.make_node("Reshape", ["chosen", "shape"], ["then"], name="inner_reshape")],
        "then_branch", [], [helper.make_tensor_value_info("then", TensorProto.FLOAT, None)]),
             "else_branch": helper.make_graph(
        [helper.make_node("Identity", [state], ["else"], name="inner_identity")],
        "else_branch", [], [helper.make_tensor_value_info("else", TensorProto.FLOAT, None)])}
    save(path, [constant("yes", True), constant("w", weights()["w"]),
                constant("shape", np.array([ROWS, WIDTH], np.int64)),
                constant("gain", np.float32(scale)),
                helper.make_node("Transpose", ["w"], ["wt"], name="turned"),
                *([] if state == "t" else
                  [helper.make_node("Identity", ["t"], [state], name="own")]),
                helper.make_node("If", ["yes"], ["last"], name="the_if", **outer)], "last", {})


def sequence(path, activation):
    """An If whose body reads a sequence."""
    bodies = {which: helper.make_graph(
        [helper.make_node("ConcatFromSequence", ["pieces"], [which + "_c"], name="inner_concat",
                          axis=0),
         helper.make_node(op, [which + "_c"], [which], name=f"inner_{which}")], which, [],
        [helper.make_tensor_value_info(which, TensorProto.FLOAT, [2 * ROWS, WIDTH])])
              for which, op in (("then_branch", activation), ("else_branch", "Tanh"))}
    save(path, [constant("yes", True),
                helper.make_node("SequenceConstruct", ["t", "t"], ["pieces"], name="pieces_node"),
                helper.make_node("If", ["yes"], ["last"], name="the_if", **bodies)], "last", {})


def counted(path, activation):
    """A Loop whose count and condition are Constant nodes."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"], name="inner_condition"),
         *step("state", "next", activation, "t")], "body",
        [value("round", [], TensorProto.INT64), value("going", [], TensorProto.BOOL),
         value("state", [ROWS, WIDTH])],
        [value("goes_on", [], TensorProto.BOOL), value("next", [ROWS, WIDTH])])
    count = helper.make_node("Constant", [], ["rounds"], name="rounds_node", value_int=ROUNDS)
    save(path, [count, constant("going_on", True), constant("w", weights()["w"]),
                helper.make_node("Loop", ["rounds", "going_on", "t"], ["last"], name="the_loop",
                                 body=body)], "last", {})


def saturated(path, gain):
    """An If whose body ends in a Clip that hides how large the values before it were."""
    constants = {"gain": gain, "top": 1, "zero": 0, "big": 100}
    bodies = {which: helper.make_graph(
        [helper.make_node("Abs", ["t"], [which + "_a"], name=f"abs_{which}"),
         helper.make_node("Add", [which + "_a", "big"], [which + "_b"], name=f"big_{which}"),
         helper.make_node("Mul", [which + "_b", "gain"], [which + "_c"], name=f"gain_{which}"),
         helper.make_node("Clip", [which + "_c", "zero", "top"], [which], name=f"clip_{which}")],
        which, [], [value(which, None)]) for which in ("then_branch", "else_branch")}
    save(path, [constant("yes", True),
                helper.make_node("If", ["yes"], ["held"], name="the_if", **bodies),
                helper.make_node("Mul", ["held", "t"], ["last"], name="used")], "last",
         {name: np.float32(number) for name, number in constants.items()})


def deep(path, gain):
    """An If whose body is deep: the error bound of the whole is far wider than that of its last
    node."""
    wide, layers = 512, 6
    random = np.random.default_rng(3)
    arrays = {f"w{i}": (random.normal(size=(wide, wide)) / wide ** 0.5).astype(np.float32)
              for i in range(layers)}
    nodes = [helper.make_node("MatMul", [f"p{i - 1}" if i else "t", f"w{i}"], [f"p{i}"],
                              name=f"inner_matmul{i}") for i in range(layers)]
    nodes.append(helper.make_node("Mul", [f"p{layers - 1}", "gain"], ["then"], name="inner_gain"))
    bodies = {"then_branch": helper.make_graph(nodes, "then_branch", [], [value("then", None)]),
              "else_branch": helper.make_graph(
                  [helper.make_node("Identity", ["t"], ["else"], name="inner_identity")],
                  "else_branch", [], [value("else", None)])}
    graph = helper.make_graph(
        [helper.make_node("Tanh", ["x"], ["t"], name="before"),
         helper.make_node("Greater", ["top", "zero"], ["yes"], name="choice"),
         helper.make_node("If", ["yes"], ["y"], name="the_if", **bodies)],
        "deep", [value("x", [4, wide]), value("top", [])], [value("y", None)],
        [numpy_helper.from_array(np.asarray(array, np.float32), name)
         for name, array in {**arrays, "gain": gain, "zero": 0}.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class Bodies(Case):
    def search(self, candidate="onnxrt"):
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             f"new={candidate} bad.onnx", "--reference", "gold")
        self.assertIn(ended.returncode, (0, 1), ended.stdout + ended.stderr)
        return [(culprit["node"], culprit["why"]) for culprit in found["culprits"]]

    def test_the_node_within_the_body(self):
        for make, outer in ((loop, "the_loop"), (scan, "the_scan")):
            with self.subTest(outer):
                make("good.onnx", "Sigmoid")
                make("bad.onnx", "Softplus")
                (first, why), (second, _), *others = self.search()
                self.assertEqual((first, second, others), ("inner_activation", outer, []))
                self.assertIn(f"in the body of '{outer}'", why)

    def test_constants_of_the_graph_around_come_along(self):
        exported("good.onnx")
        exported("bad.onnx", activation="Softplus")
        found = self.search()
        self.assertEqual([node for node, _ in found], ["inner_then_branch", "inner_if", "the_if"])
        self.assertIn("in the then_branch of 'the_if', and there in the then_branch of "
                      "'inner_if': ", found[0][1])
        exported("bad.onnx", scale=1.5)
        self.assertEqual([node for node, _ in self.search()], ["inner_gain", "the_if"])

    def test_counts_and_conditions_of_constant_nodes(self):
        counted("good.onnx", "Sigmoid")
        counted("bad.onnx", "Softplus")
        self.assertEqual([node for node, _ in self.search()], ["inner_activation", "the_loop"])

    def test_a_tensor_that_only_the_candidate_has(self):
        exported("good.onnx")
        exported("bad.onnx", activation="Softplus", state="mine")
        self.assertEqual([node for node, _ in self.search()][0], "inner_then_branch")

    def test_a_tensor_that_cannot_be_had_is_named(self):
        for activation, path in (("Sigmoid", "good.onnx"), ("Softplus", "bad.onnx")):
            sequence(path, activation)
        (node, why), *others = self.search()
        self.assertEqual((node, others), ("the_if", []))
        self.assertIn("its body was not searched: the value of its input 'pieces' "
                      "is not known", why)

    def test_a_fault_of_later_rounds(self):
        only_later("good.onnx", False)
        only_later("bad.onnx", True)
        self.assertEqual([node for node, _ in self.search()], ["inner_clip", "the_loop"])

    def test_rounds_that_are_not_looked_at_are_told(self):
        only_later("good.onnx", False, 12, 700)
        only_later("bad.onnx", True, 12, 700)
        (node, why), *others = self.search()
        self.assertEqual((node, others), ("the_loop", []))
        self.assertIn("within its body nothing is to blame in the first 8 rounds", why)

    def test_bodies_that_are_not_searched_are_told(self):
        loop("good.onnx", "Sigmoid")
        loop("bad.onnx", "Softplus")
        subprocess.run([VERNIER, "run", "good.onnx", "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", "in.npz", "--save-outputs", "gold.npz", "-qq"],
                       check=True, capture_output=True)
        _, found = blame(self.folder.name, "bad.onnx", "--onnxrt", "--load-inputs", "in.npz",
                         "--load-outputs", "gold.npz")
        (culprit,) = found["culprits"]
        self.assertEqual(culprit["node"], "the_loop")
        self.assertIn("its body is not searched against saved outputs", culprit["why"])

    def test_a_fault_that_a_later_node_of_the_body_hides(self):
        saturated("good.onnx", 1)
        saturated("bad.onnx", 1)
        self.assertEqual(self.search(), [])
        saturated("bad.onnx", 1.2)
        (first, why), (second, _) = self.search()
        self.assertEqual((first, second), ("gain_then_branch", "the_if"))
        self.assertIn("in the then_branch of 'the_if'", why)

    def test_what_no_search_without_a_culprit_goes_into_is_told(self):
        loop("good.onnx", "Sigmoid")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt good.onnx")
        self.assertEqual((ended.returncode, found["culprits"]), (0, []), ended.stderr)
        seen = ("bodies that were not searched: 'the_loop'; a fault there that changes nothing "
                "outside is not seen")
        self.assertIn(seen, found["notes"])
        self.assertIn("note: " + seen, ended.stdout)

    def run_and_blame(self, *words):
        ended = subprocess.run(
            [VERNIER, "run", "good.onnx", "--runner", "gold=onnxrt good.onnx", "--runner",
             "new=onnxrt bad.onnx", "--blame", "--save-blame", "blame.json", *words],
            capture_output=True, text=True)
        return ended, json.loads(Path("blame.json").read_text())

    def test_a_fault_that_the_bound_of_the_whole_hides(self):
        deep("good.onnx", 1)
        deep("bad.onnx", 1.00004)
        self.assertEqual([node for node, _ in self.search()], ["inner_gain", "the_if"])
        ended, found = self.run_and_blame()
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]],
                         ["inner_gain", "the_if"])
        self.assertIn("in the then_branch of 'the_if'", found["culprits"][0]["why"])
        self.assertIn("as a whole it is within its error bound", found["culprits"][1]["why"])
        self.assertNotIn("no fault of a layer", ended.stdout)

    def test_a_run_that_failed_is_not_told_that_nothing_is_to_blame(self):
        deep("good.onnx", 1)
        deep("bad.onnx", 1 + 2 ** -23)  # one rounding step: no node is wrong
        ended, found = self.run_and_blame("--atol", "1e-9", "--rtol", "1e-9")
        self.assertEqual((ended.returncode, found["culprits"]), (1, []), ended.stderr)
        self.assertNotIn("Nothing is to blame", ended.stdout)
        for part in ("No layer by itself exceeds its error bound, but output 'y' is ",
                     " times over the tolerance of the run (rel=1e-09, abs=1e-09)",
                     "times its error bound, of 'the_if' (If)",
                     "; in the then_branch of 'the_if' it is ", "of 'inner_gain' (Mul)",
                     "--tolerance auto"):
            self.assertIn(part, found["within_bounds"])
        self.assertIn(found["within_bounds"], ended.stdout)
        ended, found = self.run_and_blame("--tolerance", "auto")
        self.assertEqual((ended.returncode, found["within_bounds"]), (0, None), ended.stderr)
        self.assertIn("Nothing is to blame", ended.stdout)

    def test_a_node_around_a_body_is_listed_once(self):
        """What the graph around makes of constants comes along with the body that reads it."""
        for path, factor in (("good.onnx", 1), ("bad.onnx", 1.5)):
            body = helper.make_graph(
                [helper.make_node("MatMul", ["t", "turned"], ["m"], name="inner_turned"),
                 helper.make_node("MatMul", ["m", "w"], ["n"], name="inner_matmul")],
                "body", [], [value("n", [ROWS, WIDTH])])
            save(path, [helper.make_node("Transpose", ["w"], ["turned"], name="turn"),
                        helper.make_node("If", ["yes"], ["taken"], name="the_if",
                                         then_branch=body, else_branch=body)], "taken",
                 {"w": weights()["w"] * np.float32(factor), "yes": np.array(True)})
        _, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         "new=onnxrt bad.onnx", "--reference", "gold")
        nodes = [culprit["node"] for culprit in found["culprits"]]
        self.assertEqual(nodes.count("turn"), 1, found["culprits"])
        (turn,) = [culprit for culprit in found["culprits"] if culprit["node"] == "turn"]
        self.assertNotIn("_branch of", turn["why"])

    def test_no_fault(self):
        for make in (loop, scan):
            for candidate in ("onnxrt", "openvino"):
                make("good.onnx", "Sigmoid")
                make("bad.onnx", "Sigmoid")
                self.assertEqual(self.search(candidate), [])


if __name__ == "__main__":
    unittest.main()
