"""--inputs-from-graph: indices are drawn from the range that the graph makes legal."""

import unittest

import numpy as np
import onnx
from onnx import numpy_helper
from polygraphy.json import load_json

from index_models import (BOOL, FLOAT, HIDDEN, INT32, INT64, LOOK_UP, body, branch, branches, call,
                          compared, constant, embedded, entered, function, gather, ids, part,
                          table, turn)
from lint_models import model, node, value, weight
from program import Case

# name -> (model, input, low, high): what may be drawn, and reaches both ends in 64 draws or more.
RANGES = {
    "gather": (gather(), "ids", 0, 49),
    "int32 indices": (gather(inputs=[ids(dtype=INT32)]), "ids", 0, 49),
    "through Cast and Reshape": (
        gather([node("Cast", ["ids"], ["a"], to=INT64), node("Reshape", ["a", "flat"], ["b"])], "b",
               [ids(shape=(8, 8), dtype=INT32)], weights=[weight("flat", np.array([-1]))]),
        "ids", 0, 49),
    "through Unsqueeze and Concat": (
        gather([node("Unsqueeze", ["ids", "zero"], ["a"]),
                node("Concat", ["a", "a"], ["b"], axis=0)], "b",
               weights=[weight("zero", np.array([0]))]), "ids", 0, 49),
    "an added offset": (
        gather([node("Add", ["ids", "two"], ["a"])], "a", weights=[weight("two", np.array(2))]),
        "ids", -2, 47),
    "floats that become indices": (
        gather([node("Cast", ["ids"], ["a"], to=INT64)], "a", [value("ids", (64,))]), "ids", 0, 49),
    "the axis that is asked for": (
        model([node("Gather", ["x", "ids"], ["y"], axis=1)], inputs=[value("x", (9, 5)), ids()],
              outputs=[value("y", None)]), "ids", 0, 4),
    "two tables, the smaller one": (
        model([node("Gather", ["table", "ids"], ["a"]), node("Gather", ["small", "ids"], ["b"]),
               node("Add", ["a", "b"], ["y"])], inputs=[ids()], outputs=[value("y", None)],
              weights=[table(), weight("small", np.ones((7, 2), "f4"))]), "ids", 0, 6),
    "one-hot": (
        model([node("OneHot", ["ids", "depth", "values"], ["y"])], inputs=[ids()],
              outputs=[value("y", None)],
              weights=[weight("depth", np.array(5)), weight("values", np.array([0, 1], "f4"))]),
        "ids", 0, 4),
    "a mask cast to bool": (
        model([node("Cast", ["ids"], ["b"], to=BOOL), node("Where", ["b", "x", "x"], ["y"])],
              inputs=[value("x", (64,)), ids()], outputs=[value("y", None)]), "ids", 0, 1),
    "a mask taken from 1": (
        model([node("Cast", ["ids"], ["f"], to=FLOAT), node("Sub", ["one", "f"], ["y"])],
              inputs=[ids()], outputs=[value("y", None)],
              weights=[weight("one", np.array(1, "f4"))]), "ids", 0, 1),
    "a constant written as a number": (
        gather([node("Constant", [], ["two"], value_int=2), node("Add", ["ids", "two"], ["a"])],
               "a"), "ids", -2, 47),
    "offsets of several tables in one": (
        gather([node("Add", ["ids", "at"], ["a"])], "a", [ids(shape=(30, 3))],
               weights=[weight("at", np.array([0, 10, 20]))]), "ids", 0, 29),
    "offsets that are taken away": (
        gather([node("Sub", ["ids", "at"], ["a"])], "a", [ids(shape=(30, 3), dtype=INT32)],
               weights=[weight("at", np.array([0, 10, 20], "i4"))]), "ids", 20, 49),
    "what is taken from offsets, of which there are many": (
        gather([node("Sub", ["at", "ids"], ["a"])], "a", [ids(shape=(100,))],
               weights=[weight("at", np.arange(20, 40).repeat(5))]), "ids", -10, 20),
    "floats that are scaled and become indices": (
        gather([node("Mul", ["ids", "ten"], ["f"]), node("Cast", ["f"], ["a"], to=INT64)], "a",
               [value("ids", (64,))], weights=[weight("ten", np.array(10, "f4"))]), "ids", 0, 4),
    "taken from a constant": (
        gather([node("Sub", ["ten", "ids"], ["a"])], "a",
               weights=[weight("ten", np.array(10))]), "ids", -39, 10),
    "times a constant, and backwards": (
        gather([node("Mul", ["ids", "three"], ["a"]), node("Neg", ["a"], ["b"]),
                node("Add", ["b", "three"], ["c"])], "c", weights=[weight("three", np.array(3))]),
        "ids", -15, 1),
    "int32 constants": (
        gather([node("Sub", ["ids", "five"], ["a"])], "a", [ids(dtype=INT32)],
               weights=[weight("five", np.array(5, "i4"))]), "ids", 5, 54),
    "through the branches of an If": (
        gather([node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
                node("If", ["yes"], ["a"], then_branch=body("Identity"),
                     else_branch=body("Abs"))], "a"), "ids", 0, 49),
    "carried by a Loop": (
        gather([node("Constant", [], ["one"], value_int=1),
                node("Loop", ["one", "", "ids"], ["a"], body=turn())], "a"), "ids", 0, 49),
    "namesakes in two branches, one with an offset": (
        branches(branch("then", [node("Add", ["ids", "five"], ["t"]),
                                 node("Gather", ["table", "t"], ["y_then"])],
                        weight("five", np.array(5))),
                 branch("else", [node("Identity", ["ids"], ["t"]),
                                 node("Gather", ["table", "t"], ["y_else"])]), weights=[table()]),
        "ids", 0, 44),
    "tables of two branches, of one name": (
        branches(branch("then", [node("Gather", ["table", "ids"], ["y_then"])], table(40)),
                 branch("else", [node("Gather", ["table", "ids"], ["y_else"])], table(20))),
        "ids", 0, 19),
    "the table of a branch that is a constant": (
        branches(branch("then", [node("Constant", [], ["t"], value=table(30)),
                                 node("Gather", ["t", "ids"], ["y_then"])]),
                 branch("else", [node("Gather", ["table", "ids"], ["y_else"])]), weights=[table()]),
        "ids", 0, 29),
    "a function of the model": (
        model([call("F", ["ids", "table"], ["y"])], inputs=[ids()], outputs=[value("y", None)],
              weights=[table()], imports=[("local", 1)],
              functions=[function("F", [node("Gather", ["t", "i"], ["o"])], ["i", "t"])]),
        "ids", 0, 49),
    "functions in a function, called twice, one with an offset": (
        model([call("F", ["ids", "table"], ["y"])], inputs=[ids()], outputs=[value("y", None)],
              weights=[table()], imports=[("local", 1)],
              functions=[function("G", [node("Gather", ["t", "i"], ["o"])], ["i", "t"]),
                         function("F", [node("Constant", [], ["five"], value_int=5),
                                        node("Add", ["i", "five"], ["far"]),
                                        call("G", ["i", "t"], ["a"]), call("G", ["far", "t"], ["b"]),
                                        node("Add", ["a", "b"], ["o"])], ["i", "t"])]),
        "ids", 0, 44),
    "bodies in a function": (
        model([node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
               call("F", ["ids", "table", "yes"], ["y"])], inputs=[ids()],
              outputs=[value("y", None)], weights=[table()], imports=[("local", 1)],
              functions=[function("F", [node("If", ["c"], ["o"], then_branch=LOOK_UP["then"],
                                             else_branch=LOOK_UP["else"])], ["i", "t", "c"])]),
        "ids", 0, 49),
    "a function that hands out what it gets": (
        gather([call("F", ["ids"], ["a"])], "a", imports=[("local", 1)],
               functions=[function("F", [node("Identity", ["i"], ["o"])])]), "ids", 0, 49),
    "tokens held against padding, 0": (
        embedded(node("Equal", ["ids", "zero"], ["seen"]), *HIDDEN), "ids", 0, 49),
    "tokens held against padding, 1": (
        embedded(node("Equal", ["one", "ids"], ["seen"]), *HIDDEN), "ids", 0, 49),
    "tokens above padding": (
        embedded(node("Greater", ["ids", "zero"], ["seen"]), *HIDDEN), "ids", 0, 49),
    "tokens cast to bool": (
        embedded(node("Cast", ["ids"], ["seen"], to=BOOL), *HIDDEN), "ids", 0, 49),
    "tokens, and 1 less those that are none": (
        embedded(node("Cast", ["ids"], ["b"], to=BOOL), node("Cast", ["b"], ["f"], to=FLOAT),
                 node("Sub", ["all", "f"], ["g"]), node("Unsqueeze", ["g", "axis"], ["wide"]),
                 node("Add", ["rows", "wide"], ["y"])), "ids", 0, 49),
    "a part of a table": (part("Slice", [5], [25]), "ids", 0, 19),
    "a part that is counted from the end": (part("Slice", [-30], [99], [-2]), "ids", 0, 29),
    "every third row": (part("Slice", [0], [50], [0], [3]), "ids", 0, 16),
    "every third row, backward": (part("Slice", [-1], [-99], [0], [-3]), "ids", 0, 16),
    "a table with rows around it": (part("Pad", [1, 0, 2, 0]), "ids", 0, 52),
    "the sizes of a table": (part("Shape"), "ids", 0, 1),
    "the largest of two": (
        gather([node("Max", ["low", "ids"], ["a"])], "a", weights=[weight("low", np.array(0))]),
        "ids", 0, 49),
    "a bool mask": (
        model([node("Not", ["ids"], ["n"]), node("Unsqueeze", ["n", "zero"], ["b"]),
               node("Where", ["b", "x", "x"], ["y"])],
              inputs=[value("x", (64,)), ids(dtype=BOOL)], outputs=[value("y", None)],
              weights=[weight("zero", np.array([0]))]), "ids", 0, 1),
    "an integer mask held against zero": (
        model([node("Equal", ["ids", "zero"], ["b"]), node("Where", ["b", "x", "x"], ["y"])],
              inputs=[value("x", (64,)), ids()], outputs=[value("y", None)],
              weights=[weight("zero", np.array(0))]), "ids", 0, 1),
    "the condition of a Loop": (entered(), "ids", 1, 1),
    "a condition and another": (
        entered([node("And", ["yes", "ids"], ["c"])], "c", weights=[weight("yes", np.array(True))]),
        "ids", 1, 1),
    "a condition turned round": (entered([node("Not", ["ids"], ["c"])], "c"), "ids", 0, 1),
    "a condition unlike another": (
        entered([node("Xor", ["yes", "ids"], ["c"])], "c", weights=[weight("yes", np.array(True))]),
        "ids", 0, 1),
    "a condition that is equal to 0": (compared("Equal", ["ids", "k"], 0), "ids", 0, 1),
    "a condition that is equal to 1": (compared("Equal", ["k", "ids"], 1), "ids", 1, 1),
    "a condition above 0": (compared("Greater", ["ids", "k"], 0), "ids", 1, 1),
    "a condition that 0 is above": (compared("Greater", ["k", "ids"], 0), "ids", 0, 1),
    "a condition below 1": (compared("Less", ["ids", "k"], 1), "ids", 0, 1),
    "a condition that 1 is below, or is": (
        compared("LessOrEqual", ["k", "ids"], 1), "ids", 1, 1),
    "one-hot of a number": (
        model([node("Constant", [], ["depth"], value_int=6),
               node("OneHot", ["ids", "depth", "values"], ["y"])], inputs=[ids()],
              outputs=[value("y", None)], weights=[weight("values", np.array([0, 1], "f4"))]),
        "ids", 0, 5),
    "a divisor": (
        model([node("Div", ["n", "ids"], ["y"])], inputs=[ids("n"), ids()],
              outputs=[value("y", None, INT64)]), "ids", 1, 16),
    "the rest of a division, of which any is legal": (
        constant("Mod", 50), "ids", 0, 49),
    "the rest of a division by more than there are": (constant("Mod", 100), "ids", 0, 49),
    "the rest with a sign": (constant("Mod", 30, fmod=1), "ids", 0, 29),
    "divided": (constant("Div", 4, shape=(512,)), "ids", 0, 199),
    "divided backwards": (constant("Div", -4, shape=(512,)), "ids", -196, 0),
    "divided as floats": (
        gather([node("Cast", ["ids"], ["f"], to=FLOAT), node("Div", ["f", "four"], ["d"]),
                node("Floor", ["d"], ["e"]), node("Cast", ["e"], ["a"], to=INT64)], "a",
               [ids(shape=(512,))], weights=[weight("four", np.array(4, "f4"))]), "ids", 0, 196),
    "without its sign, and ten more": (
        gather([node("Abs", ["ids"], ["b"]), node("Add", ["b", "ten"], ["a"])], "a",
               weights=[weight("ten", np.array(10))]), "ids", 0, 39),
    "clipped to what is legal": (
        gather([node("Clip", ["ids", "low", "high"], ["a"])], "a",
               weights=[weight("low", np.array(0)), weight("high", np.array(20))]), "ids", 0, 20),
    "clipped to more than is legal": (
        gather([node("Clip", ["ids", "low", "high"], ["a"])], "a",
               weights=[weight("low", np.array(5)), weight("high", np.array(90))]), "ids", 5, 49),
    "the least of two": (constant("Min", 30), "ids", 0, 30),
    "free in one use, and bound in another": (
        model([node("Mod", ["ids", "k"], ["a"]), node("Gather", ["small", "a"], ["b"]),
               node("Gather", ["table", "ids"], ["c"]), node("Add", ["b", "c"], ["y"])],
              inputs=[ids()], outputs=[value("y", None)],
              weights=[table(), weight("small", np.ones((7, 2), "f4")), weight("k", np.array(7))]),
        "ids", 0, 49),
    "two values of one, side by side": (
        gather([node("Add", ["ids", "two"], ["b"]), node("Concat", ["ids", "b"], ["a"], axis=0)],
               "a", weights=[weight("two", np.array(2))]), "ids", 0, 47),
}

# What no range is derived for: nodes that lead to the indices `a`, and through what.
LOST = {
    "a divisor that is no constant": (
        [node("Div", ["ids", "n"], ["a"], name="d")], "through Div 'd'"),
    "a rest that is not known": ([node("Mod", ["ids", "n"], ["a"], name="m")], "through Mod 'm'"),
    "a sum of two": ([node("Add", ["ids", "n"], ["a"], name="sum")], "through Add 'sum'"),
    "a product that is added to": (
        [node("Mul", ["ids", "ids"], ["b"], name="square"), node("Neg", ["b"], ["c"]),
         node("Clip", ["c", "", "k1"], ["a"])], "through Mul 'square'"),
    "running sums": ([node("CumSum", ["ids", "k0"], ["a"], name="")], "through CumSum"),
    "a power": ([node("Pow", ["ids", "k1"], ["a"], name="p")], "through Pow 'p'"),
    "more ways than are followed": (
        [node("Add", ["ids", f"k{i}"], [f"b{i}"]) for i in range(5)] +
        [node("Concat", [f"b{i}" for i in range(5)], ["a"], axis=0)], "through many ways"),
    "a carried value that grows": (
        [node("Constant", [], ["six"], value_int=6),
         node("Loop", ["six", "", "ids"], ["a"], body=turn("Add", "k1"))], "through many ways"),
}


class InputsFromGraph(Case):
    def drawn(self, made, *words):
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-inputs", "in.json",
                             "--iterations", "4", *words)
        return ended, load_json(str(self.path("in.json"))) if ended.code == 0 else None

    def test_draws_from_the_legal_range_and_says_why(self):
        for name, (made, which, low, high) in RANGES.items():
            with self.subTest(name):
                ended, feeds = self.drawn(made, "--inputs-from-graph")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                values = np.concatenate([np.asarray(feed[which]).ravel() for feed in feeds])
                self.assertGreaterEqual(values.min(), low)
                self.assertLessEqual(values.max(), high)
                self.assertLess(np.abs(values.min() - low), 2)
                self.assertLess(np.abs(values.max() - high), 3)
                self.assertIn(f"Input tensor: {which} | Drawn from [{low}, {high}] because of the "
                              "graph: ", ended.out)

    def test_the_default_stays_polygraphys(self):
        _, feeds = self.drawn(gather())
        self.assertLessEqual(np.asarray(feeds[0]["ids"]).max(), 1)

    def test_the_depth_of_one_hot_is_a_small_count(self):
        made = model([node("OneHot", ["c", "ids", "values"], ["y"])], inputs=[ids(shape=())],
                     outputs=[value("y", None)],
                     weights=[weight("c", np.array([0])), weight("values", np.array([0, 1], "f4"))])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("ids | Drawn from [1, 4] because of the graph: the depth of OneHot", ended.out)

    def test_what_no_range_is_derived_for_is_told(self):
        numbers = [weight(f"k{i}", np.array(i)) for i in range(5)]
        for name, (first, through) in LOST.items():
            with self.subTest(name):
                made = gather(first, "a", [ids(), ids("n")], weights=numbers)
                ended, _ = self.drawn(made, "--inputs-from-graph")
                seen = ("Input tensor: ids | It reaches indices into 'table' of size 50 of Gather "
                        f"'Gather_of_y' {through}: no range derived")
                ranged = "Input tensor: ids | Drawn from" in ended.out  # by what was followed
                self.assertIn(seen + (" for that;" if ranged else "; give --val-range"), ended.out)
                ended, _ = self.drawn(made, "--inputs-from-graph", "--val-range", "ids:[1,1]")
                self.assertNotIn(seen, ended.out)

    def test_a_range_and_a_use_without_one_are_both_told(self):
        made = model([node("Gather", ["table", "ids"], ["b"]), node("CumSum", ["ids", "zero"], ["a"]),
                      node("Gather", ["table", "a"], ["c"]), node("Add", ["b", "c"], ["y"])],
                     inputs=[ids(shape=(2,))], outputs=[value("y", None)],
                     weights=[table(), weight("zero", np.array(0))])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("ids | Drawn from [0, 49] because of the graph", ended.out)
        self.assertIn("through CumSum 'CumSum_of_a': no range derived for that; give --val-range if "
                      "the range of its other uses does not fit", ended.out)

    def test_a_use_whose_name_is_the_beginning_of_another_is_told_too(self):
        made = model([node("Gather", ["table", "ids"], ["b"], name="emb"),
                      node("Add", ["ids", "one"], ["a"]),
                      node("Gather", ["table", "a"], ["c"], name=""), node("Add", ["b", "c"], ["y"])],
                     inputs=[ids()], outputs=[value("y", None)],
                     weights=[table(), weight("one", np.array(1))])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        use = "indices into 'table' of size 50 of Gather"
        self.assertIn(f"Drawn from [0, 48] because of the graph: {use} 'emb'; {use}\n", ended.out)

    def test_what_a_function_is_given_an_attribute_for_is_told(self):
        made = model([node("F", ["table", "ids"], ["y"], name="f", domain="local", axis=0)],
                     inputs=[ids()], outputs=[value("y", None)], weights=[table()],
                     imports=[("local", 1)])
        look_up = node("Gather", ["t", "i"], ["y"], name="look_up")
        look_up.attribute.append(onnx.AttributeProto(
            name="axis", ref_attr_name="axis", type=onnx.AttributeProto.INT))
        made.functions.append(onnx.helper.make_function(
            "local", "F", ["t", "i"], ["y"], [look_up], [onnx.helper.make_opsetid("", 17)], ["axis"]))
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("Input tensor: ids | It goes into Gather 'look_up', which is not looked into: no "
                      "range derived", ended.out)

    def test_calls_in_calls_that_go_too_deep_are_told(self):
        names = [f"F{i}" for i in range(40)]
        functions = [function(name, [call(other, ["i"], ["o"])])
                     for name, other in zip(names, names[1:])]
        made = gather([call("F0", ["ids"], ["a"])], "a", imports=[("local", 1)],
                      functions=[*functions, function("F39", [node("Identity", ["i"], ["o"])])])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("Input tensor: ids | It goes into F32 'F32_for_o', which is not looked into", ended.out)

    def test_numbers_that_are_no_indices_any_more_are_not_told(self):
        for first in ([node("Mul", ["ids", "ids"], ["b"]), node("ArgMax", ["b"], ["c"]),
                       node("Squeeze", ["c"], ["a"])],
                      [node("Mul", ["ids", "ids"], ["b"]), node("Shape", ["b"], ["c"]),
                       node("Sub", ["c", "c"], ["a"])]):
            ended, _ = self.drawn(gather(first, "a"), "--inputs-from-graph")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertNotIn("no range derived", ended.out)

    def test_what_a_clip_makes_illegal_is_told(self):
        ended, _ = self.drawn(constant("Max", 60), "--inputs-from-graph")
        self.assertIn("Input tensor: ids | No range makes it legal: indices into 'table'", ended.out)

    def test_a_range_by_name_wins(self):
        ended, feeds = self.drawn(gather(), "--inputs-from-graph", "--val-range", "ids:[3,3]")
        self.assertTrue((np.asarray(feeds[0]["ids"]) == 3).all())
        self.assertIn("--val-range wins over [0, 49]", ended.out)

    def test_slices_are_never_empty(self):
        made = model([node("Slice", ["x", "s", "e"], ["y"])],
                     inputs=[value("x", (9, 4)), ids("s", (1,)), ids("e", (1,))],
                     outputs=[value("y", None)])
        ended, feeds = self.drawn(made, "--inputs-from-graph")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for feed in feeds:
            self.assertLess(np.asarray(feed["s"])[0], np.asarray(feed["e"])[0])

    def test_a_shape_that_no_range_makes_legal_is_told(self):
        made = model([node("Reshape", ["x", "s"], ["y"])],
                     inputs=[value("x", (4, 4)), ids("s", (3,))], outputs=[value("y", None)])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("Input tensor: s | No range makes it legal: ", ended.out)

    def test_axes_that_must_differ_are_told(self):
        made = model([node("Unsqueeze", ["x", "axes"], ["y"])],
                     inputs=[value("x", (4, 4)), ids("axes", (2,))], outputs=[value("y", None)])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("Input tensor: axes | No range makes it legal: axes that must differ", ended.out)
        made = model([node("Unsqueeze", ["x", "axes"], ["y"])],
                     inputs=[value("x", (4, 4)), ids("axes", (1,))], outputs=[value("y", None)])
        self.assertEqual(self.drawn(made, "--inputs-from-graph")[0].code, 0)

    def test_an_offset_beyond_64_bits_is_told(self):
        made = gather([node("Add", ["ids", "least"], ["a"])], "a",
                      weights=[weight("least", np.array(np.iinfo(np.int64).min))])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("Input tensor: ids | No range makes it legal: indices into 'table'", ended.out)

    def test_a_model_without_such_inputs_says_so(self):
        ended, _ = self.drawn(model([node("Relu", ["x"], ["y"])]), "--inputs-from-graph")
        self.assertIn("no input was found to be used as an index", ended.out)


if __name__ == "__main__":
    unittest.main()
