"""--inputs-from-graph: every place of an operator whose values must be legal.

Each model is drawn for three iterations and run by ONNX Runtime, which refuses what is not legal.
"""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.json import load_json

from lint_models import model, node, value, weight
from program import Case

INT32, INT64, BOOL, FLOAT = TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
MICROSOFT = "com.microsoft"


def one(op, inputs, named, weights=(), outputs=("y",), dtype=FLOAT, opset=17, domain="",
        **attributes):
    """One node; `named` are the model's inputs as (name, shape, type)."""
    return model([node(op, inputs, list(outputs), name="n", domain=domain, **attributes)],
                 inputs=[value(*each) for each in named], outputs=[value("y", None, dtype)],
                 weights=[weight(name, array) for name, array in weights], opset=opset, ir=8,
                 imports=[(domain, 1)] if domain else [])


def data(*shape):
    return ("x", shape, FLOAT)


def floats(*shape):
    return np.linspace(0, 1, int(np.prod(shape)), dtype="f4").reshape(shape)


def ints(*values):
    return np.array(values, "i8")


def embedding(which):
    """com.microsoft's embedding of words, positions and segments; one of them is looked at."""
    return one("EmbedLayerNormalization",
               ["words", "segments", "w", "p", "s", "gamma", "beta", "", "positions"],
               [("words", (2, 3), INT32), ("segments", (2, 3), INT32), ("positions", (2, 3), INT32)],
               [("w", floats(11, 4)), ("p", floats(7, 4)), ("s", floats(5, 4)),
                ("gamma", floats(4)), ("beta", floats(4))], outputs=("y", "mask"), domain=MICROSOFT), which


def lstm():
    made = one("LSTM", ["x", "w", "r", "", "i"], [data(6, 2, 3), ("i", (2,), INT32)],
               [("w", floats(1, 8, 3)), ("r", floats(1, 8, 2))], hidden_size=2)
    return made, "i"


def loop():
    """x + x + ..., as often as `i` says."""
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["state", "state"], ["next"])], "body",
        [value("round", (), INT64), value("go", (), BOOL), value("state", (2,))],
        [value("on", (), BOOL), value("next", (2,))])
    made = model([node("Loop", ["i", "", "x"], ["y"], name="n", body=body)],
                 inputs=[value("i", (), INT64), value("x", (2,))], outputs=[value("y", None)])
    return made, "i"


def captured():
    """The indices are read in a body only."""
    branches = {key: helper.make_graph([node("Gather", ["table", "i"], [f"{key}_y"], name="n")], key,
                                       [], [value(f"{key}_y", None)])
                for key in ("then_branch", "else_branch")}
    made = model([node("If", ["c"], ["y"], **branches)],
                 inputs=[value("i", (4,), INT64), value("c", (), BOOL)], outputs=[value("y", None)],
                 weights=[weight("table", floats(9, 2))])
    return made, "i"


def scatter(op, shape):
    return one(op, ["x", "i", "u"], [data(6, 4), ("i", shape, INT64)],
               [("u", floats(*shape) if op == "ScatterElements" else floats(3, 4))]), "i"


def slice_of(which):
    """x[s:e:p, axes a]: one of the four is an input."""
    fixed = {"s": ints(1), "e": ints(7), "a": ints(0), "p": ints(1)}
    del fixed[which]
    return one("Slice", ["x", "s", "e", "a", "p"], [data(9, 9), (which, (1,), INT64)],
               list(fixed.items())), which


def slice_backward(which, size):
    """x[s:e:-1]: one of the two is an input."""
    fixed = {"s": ints(size - 1), "e": ints(-size - 1), "a": ints(0), "p": ints(-1)}
    del fixed[which]
    return one("Slice", ["x", "s", "e", "a", "p"], [data(size, 2), (which, (1,), INT64)],
               list(fixed.items())), which


def rows_by_round():
    """The sum of the first `i` rows of a table of three."""
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Gather", ["table", "round"], ["row"], name="n"),
         node("Add", ["state", "row"], ["next"])], "body",
        [value("round", (), INT64), value("go", (), BOOL), value("state", (2,))],
        [value("on", (), BOOL), value("next", (2,))])
    made = model([node("Loop", ["i", "", "x"], ["y"], body=body)],
                 inputs=[value("i", (), INT64), value("x", (2,))], outputs=[value("y", None)],
                 weights=[weight("table", floats(3, 2))])
    return made, "i"


def rows_from_one():
    """Three rows of a table of ten, from the `i`th one on."""
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["round", "i"], ["at"]),
         node("Gather", ["table", "at"], ["row"], name="n"), node("Add", ["state", "row"], ["next"])],
        "body", [value("round", (), INT64), value("go", (), BOOL), value("state", (2,))],
        [value("on", (), BOOL), value("next", (2,))])
    made = model([node("Loop", ["three", "", "x"], ["y"], body=body)],
                 inputs=[value("i", (), INT64), value("x", (2,))], outputs=[value("y", None)],
                 weights=[weight("table", floats(10, 2)), weight("three", np.array(3))])
    return made, "i"


def scanned(shape=()):
    """A Scan that looks up what it carries, and adds 2 to it; there are two rounds."""
    body = helper.make_graph(
        [node("Gather", ["table", "state"], ["row"], name="n"), node("Add", ["state", "two"], ["next"])],
        "body", [value("state", shape, INT64), value("each", ())],
        [value("next", shape, INT64), value("row", None)])
    made = model([node("Scan", ["i", "x"], ["last", "y"], body=body, num_scan_inputs=1)],
                 inputs=[value("i", shape, INT64), value("x", (2,))], outputs=[value("y", None)],
                 weights=[weight("table", floats(30, 2)), weight("two", np.array(2))])
    return made, "i"


def axes_of(op):
    return one(op, ["x", "i"], [data(1, 3), ("i", (1,), INT64)]), "i"


def mask_where():
    made = model([node("Cast", ["i"], ["m"], to=BOOL), node("Where", ["m", "x", "z"], ["y"], name="n")],
                 inputs=[value("i", (4,), INT64), value("x", (4,))], outputs=[value("y", None)],
                 weights=[weight("z", floats(4))])
    return made, "i"


def attention(shape):
    """com.microsoft's attention over 2 rows of 3 words; `i` is its mask."""
    return one("Attention", ["x", "w", "b", "i"], [data(2, 3, 4), ("i", shape, INT32)],
               [("w", floats(4, 12)), ("b", floats(12))], domain=MICROSOFT, num_heads=2), "i"


# name -> ((model, input), low, high, what the reason begins with)
POSITIONS = {
    "Gather": ((one("Gather", ["x", "i"], [data(9, 2), ("i", (3,), INT64)]), "i"), 0, 8, "indices"),
    "GatherElements": ((one("GatherElements", ["x", "i"], [data(5, 2), ("i", (3, 2), INT64)],
                            axis=1), "i"), 0, 1, "indices"),
    "GatherND": ((one("GatherND", ["x", "i"], [data(6, 4), ("i", (3, 2), INT64)]), "i"), 0, 3,
                 "indices"),
    "ScatterElements": (scatter("ScatterElements", (3, 4)), 0, 5, "indices"),
    "Scatter, as it was": (
        (one("Scatter", ["x", "i", "u"], [data(6, 4), ("i", (3, 4), INT64)], [("u", floats(3, 4))],
             opset=10, axis=1), "i"), 0, 3, "indices"),
    "labels of a loss": ((one("SoftmaxCrossEntropyLoss", ["x", "i"], [data(3, 7), ("i", (3,), INT64)]),
                          "i"), 0, 6, "labels"),
    "labels of another loss": ((one("NegativeLogLikelihoodLoss", ["x", "i"],
                                    [data(3, 7, 2), ("i", (3, 2), INT64)]), "i"), 0, 6, "labels"),
    "an index and the round of a Loop": (rows_from_one(), 0, 7, "indices"),
    "ScatterND": (scatter("ScatterND", (3, 1)), 0, 5, "indices"),
    "RoiAlign": ((one("RoiAlign", ["x", "r", "i"], [data(3, 1, 8, 8), ("i", (2,), INT64)],
                      [("r", floats(2, 4))]), "i"), 0, 2, "batch indices"),
    "words of an embedding": (embedding("words"), 0, 10, "token ids"),
    "segments of an embedding": (embedding("segments"), 0, 4, "segment ids"),
    "positions of an embedding": (embedding("positions"), 0, 6, "position ids"),
    "rotary positions": ((one("RotaryEmbedding", ["x", "i", "c", "s"],
                              [data(1, 3, 8), ("i", (1, 3), INT64)],
                              [("c", floats(5, 4)), ("s", floats(5, 4))], domain=MICROSOFT), "i"), 0,
                         4, "position ids"),
    "rotary positions of ONNX": ((one("RotaryEmbedding", ["x", "c", "s", "i"],
                                      [data(1, 2, 3, 8), ("i", (1, 3), INT64)],
                                      [("c", floats(5, 4)), ("s", floats(5, 4))], opset=23), "i"),
                                 0, 4, "position ids"),
    "OneHot": ((one("OneHot", ["i", "d", "v"], [("i", (3,), INT64)],
                    [("d", ints(5)), ("v", floats(2))]), "i"), 0, 4, "classes"),
    "lengths of LSTM": (lstm(), 1, 6, "sequence lengths"),
    "lengths of ReverseSequence": ((one("ReverseSequence", ["x", "i"],
                                        [data(6, 2), ("i", (2,), INT64)]), "i"), 1, 6,
                                   "sequence lengths"),
    "TopK": ((one("TopK", ["x", "i"], [data(2, 5), ("i", (1,), INT64)],
                  outputs=("y", "where")), "i"), 1, 5, "the count"),
    "Loop": (loop(), 1, 4, "the number of rounds"),
    "NonMaxSuppression": ((one("NonMaxSuppression", ["b", "x", "i"],
                               [data(1, 1, 6), ("i", (1,), INT64)], [("b", floats(1, 6, 4))],
                               dtype=INT64), "i"), 1, 4, "the number of boxes"),
    "starts of Slice": (slice_of("s"), 0, 4, "starts"),
    "ends of Slice": (slice_of("e"), 5, 9, "ends"),
    "starts of Slice backward": (slice_backward("s", 9), 4, 8, "starts"),
    "ends of Slice backward": (slice_backward("e", 9), 0, 3, "ends"),
    "ends of Slice backward, of one element": (slice_backward("e", 1), -2**31, -2**31, "ends"),
    "rounds of a Loop that are indices": (rows_by_round(), 1, 3, "indices into 'table' of size 3"),
    "carried by a Scan": (scanned(), 0, 23, "indices"),
    "axes of Squeeze behind others": ((one("Squeeze", ["x", "i"], [data(5, 1, 1, 3), ("i", (1,), INT64)]),
                                       "i"), 1, 2, "axes"),
    "axes of Slice": (slice_of("a"), 0, 0, "axes"),
    "steps of Slice": (slice_of("p"), 1, 1, "steps"),
    "Trilu": ((one("Trilu", ["x", "i"], [data(4, 4), ("i", (), INT64)]), "i"), -1, 1,
              "the diagonal"),
    "axes of Squeeze": (axes_of("Squeeze"), 0, 0, "axes"),
    "axes of Unsqueeze": (axes_of("Unsqueeze"), 0, 0, "axes"),
    "axes of ReduceSum": (axes_of("ReduceSum"), 0, 0, "axes"),
    "axis of CumSum": ((one("CumSum", ["x", "i"], [data(2, 3), ("i", (), INT64)]), "i"), 0, 0,
                       "axes"),
    "ConstantOfShape": ((one("ConstantOfShape", ["i"], [("i", (2,), INT64)]), "i"), 1, 4, "sizes"),
    "Expand": ((one("Expand", ["x", "i"], [data(3, 2), ("i", (3,), INT64)]), "i"), 1, 1, "sizes"),
    "Tile": ((one("Tile", ["x", "i"], [data(3, 2), ("i", (2,), INT64)]), "i"), 1, 2, "repeats"),
    "start of Range": ((one("Range", ["i", "l", "d"], [("i", (), INT64)],
                            [("l", np.array(9)), ("d", np.array(1))], dtype=INT64), "i"), 0, 0,
                       "the start"),
    "limit of Range": ((one("Range", ["s", "i", "d"], [("i", (), INT64)],
                            [("s", np.array(0)), ("d", np.array(1))], dtype=INT64), "i"), 1, 4,
                       "the limit"),
    "step of Range": ((one("Range", ["s", "l", "i"], [("i", (), INT64)],
                           [("s", np.array(0)), ("l", np.array(9))], dtype=INT64), "i"), 1, 1,
                      "the step"),
    "Pad": ((one("Pad", ["x", "i"], [data(3, 2), ("i", (4,), INT64)]), "i"), 0, 1, "paddings"),
    "Reshape to one dimension": ((one("Reshape", ["x", "i"], [data(3, 2), ("i", (1,), INT64)]), "i"),
                                 -1, -1, "the shape"),
    "Reshape to as many dimensions": ((one("Reshape", ["x", "i"], [data(3, 2), ("i", (2,), INT64)]),
                                       "i"), 0, 0, "the shape, each size as it was"),
    "mask of attention": (attention((2, 3)), 0, 1, "a mask"),
    "lengths of attention": (attention((2,)), 1, 3, "lengths of the rows"),
    "Mod": ((one("Mod", ["n", "i"], [("n", (8,), INT64), ("i", (8,), INT64)], dtype=INT64), "i"),
            1, 16, "the divisor"),
    "BitShift": ((one("BitShift", ["n", "i"],
                      [("n", (8,), TensorProto.UINT32), ("i", (8,), TensorProto.UINT32)],
                      dtype=TensorProto.UINT32, direction="LEFT"), "i"), 0, 7, "the distance"),
    "a mask of Where": (mask_where(), 0, 1, "a mask"),
    "read in a body": (captured(), 0, 8, "indices"),
}

# A shape whose product is given, and sizes that must add up: no range makes them legal.
IMPOSSIBLE = {
    "Reshape": (one("Reshape", ["x", "i"], [data(3, 2), ("i", (3,), INT64)]), [3, 1, 2]),
    "Split": (model([node("Split", ["x", "i"], ["y", "z"], name="n")],
                    inputs=[value("x", (6,)), value("i", (2,), INT64)],
                    outputs=[value("y", None), value("z", None)]), [2, 4]),
    "Resize": (one("Resize", ["x", "", "", "i"], [data(1, 1, 4, 4), ("i", (4,), INT64)]),
               [1, 1, 8, 8]),
}


class InputPositions(Case):
    def run_drawn(self, made, *words):
        onnx.save(made, str(self.path("m.onnx")))
        return self.vernier("run", "m.onnx", "--onnxrt", "--iterations", "3", "--save-inputs",
                            "in.json", "--inputs-from-graph", *words)

    def test_every_position_is_drawn_from_what_is_legal_there(self):
        for name, ((made, which), low, high, reason) in POSITIONS.items():
            with self.subTest(name):
                ended = self.run_drawn(made)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertIn(f"Input tensor: {which} | Drawn from [{low}, {high}] because of the "
                              f"graph: {reason}", ended.out)
                for feed in load_json(str(self.path("in.json"))):
                    drawn = np.asarray(feed[which])
                    self.assertGreaterEqual(drawn.min(), low)
                    self.assertLessEqual(drawn.max(), high)

    def test_what_no_range_makes_legal_is_told_and_can_be_loaded(self):
        for name, (made, legal) in IMPOSSIBLE.items():
            with self.subTest(name):
                ended = self.run_drawn(made)
                self.assertIn("Input tensor: i | No range makes it legal: ", ended.out + ended.err)
                self.assertIn("--load-inputs", ended.out + ended.err)
                x = next(each for each in made.graph.input if each.name == "x")
                shape = [dim.dim_value for dim in x.type.tensor_type.shape.dim]
                self.save_feeds("given.json", [{"x": floats(*shape), "i": ints(*legal)}])
                ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "given.json")
                self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_slices_backward_are_never_empty(self):
        for which, size in (("s", 9), ("e", 9), ("e", 1)):
            made, _ = slice_backward(which, size)
            self.assertEqual(self.run_drawn(made, "--save-outputs", "out.json").code, 0)
            for result in load_json(str(self.path("out.json")))[0][1]:
                self.assertGreater(np.asarray(result["y"]).size, 0)

    def test_axes_that_cannot_be_squeezed_are_told(self):
        made = one("Squeeze", ["x", "i"], [data(5, 2), ("i", (1,), INT64)])
        ended = self.run_drawn(made)
        self.assertIn("Input tensor: i | No range makes it legal: axes of size 1, which there are not, "
                      "of Squeeze 'n'", ended.out + ended.err)

    def test_what_the_type_cannot_hold_is_told(self):
        """Indices from 200 to 208 once 200 is taken away: no int8."""
        made = model([node("Cast", ["i"], ["wide"], to=INT64), node("Sub", ["wide", "by"], ["at"]),
                      node("Gather", ["table", "at"], ["y"], name="n")],
                     inputs=[value("i", (3,), TensorProto.INT8)], outputs=[value("y", None)],
                     weights=[weight("table", floats(9, 2)), weight("by", np.array(200))])
        ended = self.run_drawn(made)
        self.assertIn("Input tensor: i | No range makes it legal: no int8 is legal as indices into "
                      "'table' of size 9", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
