"""Models whose integer inputs are looked up in tables, for tests of what such inputs may hold."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from lint_models import model, node, value, weight

INT32, INT64 = TensorProto.INT32, TensorProto.INT64
BOOL, FLOAT = TensorProto.BOOL, TensorProto.FLOAT


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
