"""What float16 cannot hold: weights beyond 65504, and single numbers near zero."""

import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from program import Case
from surgeon_models import model, node, value

# The model has the weight as it was.
CHECK = """
import sys, onnx
from onnx import numpy_helper
weights = onnx.load(sys.argv[1]).graph.initializer
sys.exit(0 if any(20000 in numpy_helper.to_array(w) for w in weights) else 1)
"""


class Float16Range(Case):
    def setUp(self):
        super().setUp()
        made = model([node("Mul", ["x", "wide"], ["y"], name="widen")], [value("x", (2,))],
                     [value("y", (2,))],
                     [numpy_helper.from_array(np.array([20000, 3], np.float32), "wide")])
        onnx.save(made, str(self.path("m.onnx")))

    def weights(self, path):
        (weight,) = onnx.load(str(self.path(path))).graph.initializer
        return numpy_helper.to_array(weight).tolist()

    def test_surgeon_clamps_by_the_name_of_polygraphy_alone(self):
        words = ["surgeon", "sanitize", "m.onnx", "--fp-to-fp16", "-o"]
        self.assertEqual(self.vernier(*words, "ours.onnx").code, 0)
        self.assertEqual(self.weights("ours.onnx"), [20000, 3])
        self.assertEqual(self.lenient(*words, "theirs.onnx").code, 0)
        self.assertEqual(self.weights("theirs.onnx"), [10000, 3])

    def test_debug_precision_tries_the_weights_as_they_are(self):
        self.path("check.py").write_text(CHECK)
        ended = self.vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx", "--check",
                             sys.executable, "check.py", "polygraphy_debug.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("none needs float32", ended.out)
        self.assertEqual(self.weights("mixed.onnx"), [20000, 3])


class OfMl(Case):
    def test_what_their_operators_give_is_float32_until_it_is_cast(self):
        def ml(op, inputs, outputs, **attributes):
            return helper.make_node(op, inputs, outputs, op + outputs[0], domain="ai.onnx.ml",
                                    **attributes)
        nodes = [ml("Scaler", ["x"], ["scaled"], offset=[0.5], scale=[2.0]),
                 node("Floor", ["scaled"], ["whole"], name="floor"),
                 helper.make_node("Cast", ["whole"], ["key"], "cast", to=onnx.TensorProto.INT64),
                 ml("LabelEncoder", ["key"], ["label"], keys_int64s=[0, 1], values_floats=[.5, 2.],
                    default_float=7.0),
                 node("Greater", ["label", "one"], ["over"], name="greater"),
                 node("Where", ["over", "label", "scaled"], ["y"], name="where")]
        made = model(nodes, [value("x", (1, 4))], [value("y", (1, 4))],
                     [numpy_helper.from_array(np.array([1], np.float32), "one")])
        made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("convert", "m.onnx", "--fp-to-fp16", "-o", "h.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("is not known", ended.out + ended.err)
        session = onnxruntime.InferenceSession(str(self.path("h.onnx")))
        fed = {"x": np.array([[0.5, 1.0, 1.5, -3.0]], np.float32)}
        np.testing.assert_array_equal(session.run(None, fed)[0], [[0, 2, 7, 7]])


class OfMicrosoft(Case):
    def test_operators_that_take_no_float16_stay_in_float32(self):
        rng = np.random.default_rng(3)
        nodes = [node("Relu", ["x"], ["a"], name="before"),
                 helper.make_node("DynamicQuantizeMatMul", ["a", "w", "scale", "zero"], ["b"],
                                  "quantised", domain="com.microsoft"),
                 node("Neg", ["b"], ["y"], name="after")]
        made = model(nodes, [value("x", (4, 8))], [value("y", (4, 8))],
                     [numpy_helper.from_array(rng.integers(0, 255, (8, 8), np.uint8), "w"),
                      numpy_helper.from_array(np.float32(0.02), "scale"),
                      numpy_helper.from_array(np.uint8(128), "zero")])
        made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        made.graph.value_info.append(value("b", (4, 8)))
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("convert", "m.onnx", "-o", "half.onnx", "--fp-to-fp16")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("1 node stays ('quantised') in float32: their operators take no float16",
                      ended.out + ended.err)
        x = {"x": rng.normal(size=(4, 8)).astype(np.float32)}
        given, short = (onnxruntime.InferenceSession(str(self.path(name))).run(None, x)[0]
                        for name in ("m.onnx", "half.onnx"))
        np.testing.assert_allclose(short, given, atol=0.1)


class NearZero(Case):
    """The copy computes what the model does, at inputs of zero too, where an epsilon decides."""

    def convert(self, nodes, opset=17, shape=(4,), **constants):
        made = model(nodes, [value("x", shape)], [value("y", shape)],
                     [numpy_helper.from_array(np.float32(c), n) for n, c in constants.items()],
                     opset=opset)
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("convert", "m.onnx", "-o", "half.onnx", "--fp-to-fp16")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        onnx.checker.check_model(str(self.path("half.onnx")), full_check=True)
        return ended.out

    def check(self, feed, **tolerance):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        exact, half = (onnxruntime.InferenceSession(str(self.path(name)), options,
                                                    ["CPUExecutionProvider"])
                       .run(None, {"x": np.float32(feed)})[0] for name in ("m.onnx", "half.onnx"))
        np.testing.assert_allclose(half, exact, **(tolerance or {"rtol": 2e-3}))

    def test_the_epsilon_of_a_logarithm(self):
        said = self.convert([node("Mul", ["x", "x"], ["s"], name="square"),
                             node("Add", ["s", "eps"], ["a"], name="add"),
                             node("Log", ["a"], ["y"], name="log")], eps=1e-10)
        self.assertIn("[W] --fp-to-fp16: 2 nodes stay ('add', 'log') in float32: float16 cannot "
                      "hold a constant near zero that they or their inputs are computed with\n",
                      said)
        self.assertNotIn("of the weights", said)
        self.check([0, 1, -3, 0.25])

    def test_what_is_between_them(self):
        rows = {"rows": np.int64([2, 2])}
        for name, between in {
                "max": [node("Max", ["x", "eps"], ["a"], name="max")],
                "moved": [node("Add", ["x", "eps"], ["s"], name="add"),
                          node("Reshape", ["s", "rows"], ["r"]),
                          node("Sqrt", ["r"], ["a"], name="sqrt")]}.items():
            with self.subTest(name):
                made = model([*between, node("Log", ["a"], ["y"], name="log")],
                             [value("x", (4,))], [value("y", None)],
                             [numpy_helper.from_array(np.float32([1e-12]), "eps"),
                              numpy_helper.from_array(rows["rows"], "rows")])
                onnx.save(made, str(self.path("m.onnx")))
                ended = self.vernier("convert", "m.onnx", "-o", "half.onnx", "--fp-to-fp16")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.check([0, 1, 3, 0.25])

    def test_a_divisor_and_limits(self):
        self.convert([node("Clip", ["x", "eps"], ["c"], name="clip"),
                      node("Div", ["x", "c"], ["y"], name="div")], eps=1e-12)
        self.check([0, 1, 3, 0.25])
        said = self.convert([node("Clip", ["x"], ["c"], name="clip", min=1e-9, max=3.4e38),
                             node("Log", ["c"], ["y"], name="log")], opset=10)
        self.assertIn("2 nodes stay ('clip', 'log')", said)
        self.check([0, 1, 3, 0.25])

    def test_constant_nodes_and_bodies(self):
        for constant in ({"value_float": 1e-10},
                         {"value": numpy_helper.from_array(np.float32([1e-10]))}):
            with self.subTest(list(constant)):
                body = helper.make_graph([node("Add", ["x", "eps"], ["a"], name="add"),
                                          node("Log", ["a"], ["b"], name="log")],
                                         "b", [], [value("b", (4,))])
                self.convert([node("Constant", [], ["eps"], **constant),
                              node("Constant", [], ["yes"],
                                   value=numpy_helper.from_array(np.bool_(True))),
                              node("If", ["yes"], ["y"], then_branch=body, else_branch=body)])
                self.check([0, 1, 3, 0.25])

    def test_small_weights_are_no_such_numbers(self):
        said = self.convert([node("Add", ["x", "w"], ["y"])], w=[1e-10, 1, 2, 3])
        self.assertNotIn("in float32", said)
        self.assertIn("1e-07", said)

    def test_beside_an_unknown_type_no_cast_could_be_placed(self):
        made = model([node("Gelu", ["x"], ["g"], domain="com.microsoft"),
                      node("Add", ["g", "eps"], ["y"])], [value("x", (4,))], [value("y", (4,))],
                     [numpy_helper.from_array(np.float32(1e-10), "eps")])
        made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("convert", "m.onnx", "-o", "half.onnx", "--fp-to-fp16")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("in float32", ended.out)
        self.assertIn("1e-07", ended.out)

    def test_polygraphy_writes_1e_7(self):
        self.convert([node("Add", ["x", "eps"], ["y"])], eps=1e-10)
        ended = self.lenient("convert", "m.onnx", "-o", "theirs.onnx", "--fp-to-fp16")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (weight,) = onnx.load(str(self.path("theirs.onnx"))).graph.initializer
        self.assertEqual(numpy_helper.to_array(weight), np.float16(1e-7))


if __name__ == "__main__":
    unittest.main()
