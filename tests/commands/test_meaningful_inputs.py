"""Inputs that mean something: --inputs-from-graph, --like, check extremes, and received bytes."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from polygraphy.json import load_json

from lint_models import model, node, value, weight
from program import Case

INT32, INT64, BOOL, FLOAT = TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT


def ids(name="ids", shape=(64,), dtype=INT64):
    return value(name, shape, dtype)


def table(rows=50):
    return weight("table", np.arange(rows * 2, dtype="f4").reshape(rows, 2))


def gather(first=(), source="ids", inputs=None, **more):
    return model([*first, node("Gather", ["table", source], ["y"])],
                 inputs=[ids()] if inputs is None else inputs, outputs=[value("y", None)],
                 weights=[table(), *more.pop("weights", [])], **more)


def body(operator):
    """A branch that hands out `ids`."""
    return onnx.helper.make_graph([node(operator, ["ids"], [operator + "d"])], operator, [],
                                  [value(operator + "d", (64,), INT64)])


def turn(operator="Identity", *more):
    """The body of a Loop that goes on with what it is given, or makes of it."""
    carried = [value("count", (), INT64), value("goes", (), BOOL), value("state", (64,), INT64)]
    return onnx.helper.make_graph(
        [node("Identity", ["goes"], ["goes_on"]), node(operator, ["state", *more], ["next"])],
        "turn",
        carried, [value("goes_on", (), BOOL), value("next", (64,), INT64)])


def entered(first=(), source="ids", dtype=BOOL, weights=()):
    """A Loop whose condition is made of `ids`."""
    return model([node("Constant", [], ["one"], value_int=1), *first,
                  node("Loop", ["one", source, "x"], ["y"], body=turn())],
                 inputs=[ids(shape=(), dtype=dtype), ids("x")], outputs=[value("y", None, INT64)],
                 weights=weights)


def constant(op, number, shape=(64,), **attributes):
    """Indices that an operator makes of `ids` and a number."""
    return gather([node(op, ["ids", "k"], ["a"], **attributes)], "a", [ids(shape=shape)],
                  weights=[weight("k", np.array(number))])


def compared(op, inputs, number):
    """A Loop whose condition is the integer `ids` compared with a number."""
    return entered([node(op, inputs, ["c"])], "c", INT64, [weight("k", np.array(number))])


def branch(name, nodes, *weights):
    """A branch whose nodes end in the value `y` of its own."""
    return onnx.helper.make_graph(nodes, name, [], [value("y_" + name, None)], list(weights))


def branches(then, other, **more):
    return model([node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
                  node("If", ["yes"], ["y"], then_branch=then, else_branch=other)],
                 inputs=[ids()], outputs=[value("y", None)], **more)


def function(name, nodes, inputs=("i",), outputs=("o",)):
    return onnx.helper.make_function(
        "local", name, list(inputs), list(outputs), nodes,
        [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("local", 1)])


def call(name, inputs, outputs):
    return node(name, inputs, outputs, name=f"{name}_for_{outputs[0]}", domain="local")


def embedded(*nodes):
    """`ids` are looked up, and say what of that is seen: `seen`, or what is added to it."""
    return model([node("Gather", ["table", "ids"], ["rows"]), *nodes], inputs=[ids()],
                 outputs=[value("y", None)],
                 weights=[table(), weight("zero", np.array(0)), weight("one", np.array(1)),
                          weight("axis", np.array([1])), weight("nothing", np.array(0, "f4")),
                          weight("all", np.array(1, "f4"))])


HIDDEN = [node("Unsqueeze", ["seen", "axis"], ["wide"]),
          node("Where", ["wide", "nothing", "rows"], ["y"])]


def part(op, *numbers, **attributes):
    """`ids` are looked up in what an operator makes of a table of 50 rows."""
    made = [weight(f"n{i}", np.array(each)) for i, each in enumerate(numbers)]
    return model([node(op, ["table", *(each.name for each in made)], ["t"], **attributes),
                  node("Gather", ["t", "ids"], ["y"])], inputs=[ids()],
                 outputs=[value("y", None, INT64 if op == "Shape" else FLOAT)],
                 weights=[table(), *made])


# Reads what the function around it is given.
LOOK_UP = {which: onnx.helper.make_graph([node("Gather", ["t", "i"], ["y_" + which])], which, [],
                                         [value("y_" + which, None)]) for which in ("then", "else")}


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
                told = ("Input tensor: ids | It reaches indices into 'table' of size 50 of Gather "
                        f"'Gather_of_y' {through}: no range derived")
                ranged = "Input tensor: ids | Drawn from" in ended.out  # by what was followed
                self.assertIn(told + (" for that;" if ranged else "; give --val-range"), ended.out)
                ended, _ = self.drawn(made, "--inputs-from-graph", "--val-range", "ids:[1,1]")
                self.assertNotIn(told, ended.out)

    def test_a_range_and_a_use_without_one_are_both_told(self):
        made = model([node("Gather", ["table", "ids"], ["b"]), node("CumSum", ["ids", "zero"], ["a"]),
                      node("Gather", ["table", "a"], ["c"]), node("Add", ["b", "c"], ["y"])],
                     inputs=[ids(shape=(2,))], outputs=[value("y", None)],
                     weights=[table(), weight("zero", np.array(0))])
        ended, _ = self.drawn(made, "--inputs-from-graph")
        self.assertIn("ids | Drawn from [0, 49] because of the graph", ended.out)
        self.assertIn("through CumSum 'CumSum_of_a': no range derived for that; give --val-range where "
                      "that of its other uses is no good", ended.out)

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


class Like(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Gather", ["table", "ids"], ["g"]),
                         node("Add", ["g", "x"], ["y"])],
                        inputs=[ids(shape=("n",)), value("x", ("n", 2))],
                        outputs=[value("y", None)], weights=[table()]), str(self.path("m.onnx")))
        self.sample = {"ids": np.array([7, 7, 49, 3] * 100),
                       "x": np.concatenate([np.zeros(400), np.linspace(5, 9, 400)])
                       .astype("f4").reshape(400, 2)}

    def run_like(self, name, *words):
        return self.vernier("run", "m.onnx", "--onnxrt", "--like", name, "--save-inputs", "in.json",
                            *words)

    def test_values_are_spread_like_those_of_the_sample(self):
        np.savez(self.path("s.npz"), **self.sample)
        self.save_feeds("s.json", [self.sample])
        for name in ("s.npz", "s.json"):
            ended = self.run_like(name)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            feed = load_json(str(self.path("in.json")))[0]
            drawn, x = np.asarray(feed["ids"]), np.asarray(feed["x"])
            self.assertEqual((drawn.shape, x.shape), ((400,), (400, 2)))
            self.assertEqual(set(drawn), {3, 7, 49})
            self.assertAlmostEqual((drawn == 7).mean(), 0.5, delta=0.12)
            self.assertAlmostEqual((x == 0).mean(), 0.5, delta=0.12)
            self.assertGreater(np.median(x[x > 0]), 6)
            self.assertLessEqual(x.max(), 9)
            self.assertIn("Input tensor: x | Drawn like 800 values from 0 to 9", ended.out)
            self.assertFalse((x == self.sample["x"]).all())

    def test_a_range_by_name_wins(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--val-range", "x:[-3,-2]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        feed = load_json(str(self.path("in.json")))[0]
        drawn, x = np.asarray(feed["ids"]), np.asarray(feed["x"])
        self.assertEqual((drawn.shape, x.shape), ((400,), (400, 2)))
        self.assertEqual(set(drawn), {3, 7, 49})
        self.assertTrue(-3 <= x.min() and x.max() <= -2, (x.min(), x.max()))
        self.assertIn("Input tensor: x | Drawn from [-3, -2]: --val-range wins over --like",
                      ended.out)

    def test_a_range_without_a_name_is_for_inputs_that_are_not_in_the_sample(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--val-range", "[-3,-2]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        x = np.asarray(load_json(str(self.path("in.json")))[0]["x"])
        self.assertGreaterEqual(x.min(), 0)
        self.assertRegex(ended.out, r"x \| Drawn like .*: --like wins over --val-range without a name")

    def test_an_input_with_a_range_may_be_missing_from_the_sample(self):
        np.savez(self.path("half.npz"), x=self.sample["x"])
        ended = self.run_like("half.npz", "--val-range", "ids:[0,9]", "--input-shapes", "ids:[400]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertLessEqual(np.asarray(load_json(str(self.path("in.json")))[0]["ids"]).max(), 9)
        self.assertIn("has no input 'ids'; --val-range says how it is drawn", ended.out)

    def test_the_sample_wins_over_the_graph(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--inputs-from-graph")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("Input tensor: ids | --like wins over [0, 49] of the graph", ended.out)
        self.assertNotIn("ids | Drawn from", ended.out)

    def test_the_seed_holds(self):
        np.savez(self.path("s.npz"), **self.sample)
        feeds = []
        for words in ((), (), ("--seed", "2")):
            self.assertEqual(self.run_like("s.npz", *words).code, 0)
            feeds.append(np.asarray(load_json(str(self.path("in.json")))[0]["x"]))
        self.assertTrue((feeds[0] == feeds[1]).all())
        self.assertFalse((feeds[0] == feeds[2]).all())

    def test_integers_are_those_of_a_sample_of_floats(self):
        np.savez(self.path("s.npz"), **{**self.sample, "ids": self.sample["ids"].astype("f4")})
        self.assertEqual(self.run_like("s.npz").code, 0)
        self.assertEqual(set(np.asarray(load_json(str(self.path("in.json")))[0]["ids"])), {3, 7, 49})

    def test_a_sample_of_another_rank_is_to_blame_itself(self):
        np.savez(self.path("s.npz"), **{**self.sample, "x": self.sample["x"].ravel()})
        ended = self.run_like("s.npz")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--like: input 'x' has the shape", ended.out + ended.err)
        self.assertNotIn("--input-shapes", ended.out + ended.err)

    def test_a_sample_of_another_rank_gives_no_shape_where_that_is_allowed(self):
        np.savez(self.path("s.npz"), ids=self.sample["ids"][:1], x=self.sample["x"].ravel())
        ended = self.run_like("s.npz", "--lenient")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("Will use default shape instead", ended.out + ended.err)
        self.assertEqual(np.asarray(load_json(str(self.path("in.json")))[0]["x"]).shape, (1, 2))

    def test_sizes_of_one_dimension_that_differ_are_told(self):
        np.savez(self.path("s.npz"), **{**self.sample, "x": self.sample["x"][:1]})
        ended = self.run_like("s.npz")
        self.assertIn("--like: the sample gives dimension 'n' the size 400 in 'ids' and 1 in 'x'",
                      ended.out + ended.err)

    def test_what_cannot_be_imitated_is_a_sentence(self):
        np.savez(self.path("half.npz"), x=self.sample["x"])
        np.savez(self.path("nan.npz"), ids=self.sample["ids"], x=np.full((4, 2), np.nan, "f4"))
        for name, says in {"half.npz": "has no input 'ids'", "nan.npz": "no finite values",
                           "nowhere.npz": "nowhere.npz"}.items():
            ended = self.run_like(name)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn(says, ended.out + ended.err)


FLUSHING = """
import numpy as np

def infer(feed):
    x = feed['x'].astype(np.float32)
    x = np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x)
    return {'y': np.nan_to_num(x) if GENTLE else x}
"""


class Extremes(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (2, 16))],
                        outputs=[value("y", (2, 16))]), str(self.path("m.onnx")))

    def check(self, *words):
        ended = self.vernier("check", "extremes", "m.onnx", "--save-record", "r.json", *words)
        if not self.path("r.json").exists():
            return ended, None
        return ended, json.loads(self.path("r.json").read_text())

    def script(self, gentle):
        self.path("other.py").write_text(f"GENTLE = {gentle}\n" + FLUSHING)
        return "--model-runner", "other.py", "--python", sys.executable

    def test_counts_what_came_out(self):
        ended, record = self.check("--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        rows = {answer["set"]: answer for answer in record["answers"]}
        self.assertEqual(list(rows), ["denormals", "zeros", "large", "nan", "inf"])
        self.assertEqual(rows["denormals"]["denormal"], 32)
        self.assertEqual(rows["zeros"]["zero"], 32)
        self.assertEqual(rows["nan"]["nan"], 2)
        self.assertEqual(rows["inf"]["infinite"], 2)
        self.assertEqual(rows["large"]["infinite"], 0)

    def test_flushed_denormals_are_told(self):
        words = ("--onnxrt", *self.script(False))
        ended, record = self.check(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        flushed = {a["set"]: a["flushed"] for a in record["answers"] if a["compared"]}
        self.assertEqual(flushed, {"denormals": 32, "zeros": 0, "large": 0, "nan": 0, "inf": 0})
        self.assertIn("32 denormals flushed to zero", ended.out)
        self.assertEqual(self.check(*words, "--strict")[0].code, 1)

    def test_finite_on_one_side_only_is_a_mismatch(self):
        ended, record = self.check("--onnxrt", *self.script(True), "--sets", "nan", "inf")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        others = [a for a in record["answers"] if a["compared"]]
        self.assertEqual([(a["set"], a["only_here_finite"], a["output"]) for a in others],
                         [("nan", 2, "y"), ("inf", 2, "y")])
        self.assertFalse(record["agree"])
        self.assertIn("runners differ in what is finite with: inf, nan", ended.out + ended.err)

    def test_every_element_is_held_against_its_own_whatever_the_types(self):
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (2, 1600))],
                        outputs=[value("y", (2, 1600))]), str(self.path("m.onnx")))
        self.path("other.py").write_text(
            "import numpy as np\ndef infer(feed):\n    y = feed['x'].astype('f8')\n"
            "    y.flat[[1023, 1024, 3199]] = np.nan, np.inf, 1\n    return {'y': y}\n")
        ended, record = self.check("--onnxrt", "--model-runner", "other.py", "--python",
                                   sys.executable, "--sets", "zeros")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        [zeros] = [a for a in record["answers"] if a["compared"]]
        self.assertEqual(zeros["compared"], 3200)
        self.assertEqual(zeros["only_here_not_finite"], 2)
        self.assertEqual(zeros["other_value"], 1)
        self.assertEqual(zeros["only_here_finite"], 0)
        self.assertEqual(zeros["output"], "y")

    def test_a_runner_that_fails_with_a_set_is_told_and_the_others_go_on(self):
        self.path("other.py").write_text(
            "import numpy as np\ndef infer(feed):\n"
            "    if np.isnan(feed['x']).any():\n        raise ValueError('no NaN, please')\n"
            "    return {'y': feed['x']}\n")
        ended, record = self.check("--onnxrt", "--model-runner", "other.py", "--python",
                                   sys.executable)
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        failed = [a["set"] for a in record["answers"] if a["failure"]]
        self.assertEqual(failed, ["nan"])
        self.assertEqual(len(record["answers"]), 10)
        self.assertIn("no NaN, please", ended.out + ended.err)

    def scripts(self, **bodies):
        words = []
        for name, text in bodies.items():
            self.path(f"{name}.py").write_text(f"import numpy as np\ndef infer(feed):\n    {text}\n")
            words += ["--runner", f"{name}={name}.py"]
        return (*words, "--python", sys.executable)

    def test_integers_and_booleans_are_held_exactly(self):
        large = "np.full(3, 2**62, 'i8')"
        words = self.scripts(
            a=f"return {{'y': feed['x'], 'k': np.isnan(feed['x']), 'n': {large}}}",
            b=f"return {{'y': feed['x'], 'k': np.zeros((2, 16), bool), 'n': {large} + 1}}")
        ended, record = self.check(*words, "--sets", "nan", "zeros")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        others = {a["set"]: (a["compared"], a["other_exact"]) for a in record["answers"] if a["beside"]}
        self.assertEqual(others, {"nan": (67, 5), "zeros": (67, 3)})
        self.assertIn("5 not equal where there are no floats", ended.out)
        self.assertIn("runners give other integers, booleans or strings with: nan, zeros",
                      ended.out + ended.err)
        self.assertEqual(self.check(*words, "--sets", "nan", "--strict")[0].code, 1)

    def test_outputs_without_floats_are_compared_too(self):
        words = self.scripts(a="return {'y': np.arange(3)}", b="return {'y': np.arange(3, dtype='i4')}")
        ended, record = self.check(*words, "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual({a["compared"] for a in record["answers"] if a["beside"]}, {3})

    def test_nan_for_infinity_is_a_difference(self):
        words = self.scripts(a="return {'y': feed['x']}",
                             b="return {'y': np.where(np.isinf(feed['x']), np.nan, feed['x'])}")
        ended, record = self.check(*words, "--sets", "inf")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual([a["other_kind"] for a in record["answers"]], [0, 2])
        self.assertIn("runners differ in what is NaN, Inf or -Inf with: inf", ended.out + ended.err)
        self.assertEqual(self.check(*words, "--sets", "inf", "--strict")[0].code, 1)

    def test_zeros_of_the_other_sign_are_told(self):
        words = self.scripts(a="return {'y': feed['x']}", b="return {'y': -feed['x']}")
        ended, record = self.check(*words, "--sets", "zeros", "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual([a["other_sign"] for a in record["answers"]], [0, 32])
        self.assertIn("32 zeros of the other sign", ended.out)

    def test_the_summary_says_what_was_compared(self):
        body = "return {'y': feed['x'], 'z': np.zeros(4, 'f4')}"
        ended, record = self.check(*self.scripts(a=body, b=body), "--sets", "large", "nan")
        self.assertIn("compared 2 outputs, 72 elements in all; shows nothing with any set: "
                      "z (all elements are zero)", ended.out)
        self.assertEqual((record["outputs"], record["shows_nothing"]),
                         (2, [{"output": "z", "why": "all elements are zero"}]))
        ended, _ = self.check("--onnxrt")
        self.assertIn("compared nothing: fewer than two runners answered", ended.out)

    def test_a_set_that_no_input_takes_is_told(self):
        f8 = TensorProto.FLOAT8E4M3FN
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (3,), f8)],
                        outputs=[value("y", (3,), f8)], opset=19, ir=9), str(self.path("m.onnx")))
        ended, record = self.check("--onnxrt", "--sets", "nan", "inf")
        self.assertEqual((ended.code, record["not_tried"]), (4, ["inf"]), ended.out + ended.err)
        self.assertIn("not tried, as no input's type has such values: inf", ended.out + ended.err)
        ended, record = self.check("--onnxrt")
        self.assertEqual((ended.code, record["not_tried"]), (0, ["inf"]), ended.out + ended.err)
        ended, record = self.check("--onnxrt", "--sets", "inf")
        self.assertEqual((ended.code, record["answers"]), (4, []), ended.out + ended.err)

    def test_another_runner_is_first_where_the_first_fails(self):
        words = []
        for name, body in {"bad": "raise ValueError('never')", "a": "return {'y': feed['x']}",
                           "b": "return {'y': feed['x']}"}.items():
            self.path(f"{name}.py").write_text(f"def infer(feed):\n    {body}\n")
            words += ["--runner", f"{name}={name}.py"]
        ended, record = self.check(*words, "--python", sys.executable, "--sets", "zeros")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertEqual([(a["runner"], a["beside"]) for a in record["answers"]],
                         [("bad", None), ("a", None), ("b", "a")])
        self.assertIn("the same (beside a)", ended.out)

    def test_other_finite_values_are_told(self):
        self.path("other.py").write_text("def infer(feed):\n    return {'y': feed['x'] / 4}\n")
        words = ("--onnxrt", "--model-runner", "other.py", "--python", sys.executable)
        ended, record = self.check(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        others = {a["set"]: a["other_value"] for a in record["answers"] if a["compared"]}
        self.assertEqual((others["large"], others["nan"], others["zeros"]), (32, 30, 0))
        self.assertIn("32 finite, and another value", ended.out)
        self.assertIn("other finite values (more than 1 % apart) with: inf, large, nan",
                      ended.out + ended.err)
        self.assertEqual(self.check(*words, "--strict")[0].code, 1)

    def test_outputs_that_are_no_tensors_are_told(self):
        sequence = onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None)
        onnx.save(model([node("SequenceConstruct", ["x"], ["s"]), node("Neg", ["x"], ["y"])],
                        inputs=[value("x", (2, 16))], outputs=[sequence, value("y", (2, 16))]),
                  str(self.path("m.onnx")))
        ended, record = self.check("--onnxrt", "--sets", "zeros")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("outputs that were not looked at: s", ended.out + ended.err)
        self.assertEqual(record["answers"][0]["not_compared"], ["s"])

    def test_outputs_and_inputs_without_elements_are_no_pass(self):
        onnx.save(model([node("Relu", ["x"], ["y"])], inputs=[value("x", ("n", 4))],
                        outputs=[value("y", ("n", 4))]), str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt", "--input-shapes", "x:[0,4]")
        self.assertEqual(ended.code, 4)
        self.assertIn("the inputs of floating-point types have no elements", ended.out + ended.err)
        onnx.save(model([node("Slice", ["x", "zero", "zero"], ["y"])], inputs=[value("x", (4,))],
                        outputs=[value("y", None)], weights=[weight("zero", np.array([0]))]),
                  str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("no output has an element", ended.out + ended.err)

    def test_a_model_without_floats_has_nothing_to_try(self):
        onnx.save(gather(), str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("nothing was tried", ended.out + ended.err)


class ReceivedBytes(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Relu", ["x"], ["y"])]), str(self.path("m.onnx")))

    def received(self, *words):
        ended = self.vernier("run", "m.onnx", "--save-record", "r.json", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        record = json.loads(self.path("r.json").read_text())
        return ended, [runner.get("received") for runner in record["runners"]]

    def test_runners_received_the_same_bytes(self):
        ended, received = self.received("--onnxrt", "--openvino", "-vv", "--iterations", "3")
        self.assertEqual(received[0], received[1])
        self.assertEqual(received[0]["iterations"], 3)
        (entry,) = received[0]["first_iteration"]
        self.assertEqual(entry["input"], "x")
        first = entry["xxh3_64"]
        self.assertRegex(first, "^[0-9a-f]{16}$")
        self.assertEqual(ended.out.count(f"Received bytes with XXH3: x {first}"), 2)

    def test_the_hash_follows_the_bytes(self):
        _, one = self.received("--onnxrt")
        _, again = self.received("--onnxrt")
        _, other = self.received("--onnxrt", "--seed", "5")
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)

    def test_large_inputs_in_shared_memory_too(self):
        onnx.save(model([node("Relu", ["x"], ["y"])], inputs=[value("x", (512, 1024))],
                        outputs=[value("y", (512, 1024))]), str(self.path("m.onnx")))
        _, received = self.received("--onnxrt", "--openvino")
        self.assertEqual(received[0], received[1])

    def test_scripts_tell_it_too_where_they_can(self):
        try:
            import ctypes
            ctypes.CDLL("libxxhash.so.0")
        except OSError:
            self.skipTest("no libxxhash.so.0 here")
        self.path("s.py").write_text("def infer(feed):\n    return {'y': feed['x']}\n")
        ended, received = self.received("--onnxrt", "--model-runner", "s.py", "--python",
                                        sys.executable, "--val-range", "[0,1]")
        self.assertEqual(received[0], received[1])


if __name__ == "__main__":
    unittest.main()
