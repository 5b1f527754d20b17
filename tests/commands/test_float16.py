"""--fp-to-fp16: what the peer's converter gives, where it gives a model that runs, and more."""

import unittest

import numpy as np
import onnx
import onnx.inliner
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import Case

F32 = TensorProto.FLOAT


def value(name, shape, kind=F32):
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name, *shape, scale=1.0, seed=0):
    array = np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * scale
    return numpy_helper.from_array(array.astype(np.float32), name)


def model(nodes, inputs, outputs, initializers=(), opset=17, value_info=(), functions=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers),
                              value_info=list(value_info))
    imports = [helper.make_opsetid("", opset)]
    if functions:
        imports.append(helper.make_opsetid("own", 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def function(name, inputs, outputs, nodes, attributes=(), opset=17):
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, inputs, outputs, nodes, imports, list(attributes))


def call(name, inputs, outputs, **attributes):
    return helper.make_node(name, inputs, outputs, f"{name}_{outputs[0]}", domain="own",
                            **attributes)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, f"{op}_{outputs[0]}", **attributes)


def mlp():
    return model([node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["s"]),
                  node("Relu", ["s"], ["y"])], [value("x", ["n", 8])], [value("y", ["n", 4])],
                 [weight("w", 8, 4), weight("b", 4, seed=1)])


def blocked():
    """Max and TopK compute in float32; `limit` is used by a node of each kind."""
    return model([node("Mul", ["x", "limit"], ["m"]), node("Max", ["m", "limit"], ["c"]),
                  node("Exp", ["c"], ["e"]), node("TopK", ["e", "k"], ["top", "at"], axis=1),
                  node("Neg", ["top"], ["y"])],
                 [value("x", [2, 8])], [value("y", [2, 3]), value("at", [2, 3], TensorProto.INT64)],
                 [weight("limit", 8), numpy_helper.from_array(np.array([3]), "k")])


def with_if():
    then = helper.make_graph([node("Mul", ["x", "w"], ["t"])], "then", [], [value("t", [2, 4])])
    other = helper.make_graph(
        [node("Constant", [], ["c"], value=weight("", 2, 4, seed=3)),
         node("Min", ["x", "c"], ["o"])], "else", [], [value("o", [2, 4])])
    return model([node("ReduceSum", ["x"], ["sum"], keepdims=0),
                  node("Constant", [], ["zero"], value_float=0.0),
                  node("Greater", ["sum", "zero"], ["is"]),
                  node("If", ["is"], ["z"], then_branch=then, else_branch=other),
                  node("Relu", ["z"], ["y"])],
                 [value("x", [2, 4])], [value("y", [2, 4])], [weight("w", 4)])


def with_loop():
    body = helper.make_graph(
        [node("Add", ["a", "step"], ["b"]), node("Identity", ["go"], ["on"]),
         node("Identity", ["b"], ["each"])], "body",
        [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("a", [4])],
        [value("on", [], TensorProto.BOOL), value("b", [4]), value("each", [4])])
    return model([node("Loop", ["count", "", "x"], ["last", "all"], body=body)],
                 [value("x", [4])], [value("last", [4]), value("all", [None, 4])],
                 [weight("step", 4), numpy_helper.from_array(np.array(3), "count")])


def casts():
    """Numbers that float16 lacks reach a node that stays in float32."""
    return model([node("Cast", ["n"], ["f"], to=F32), node("Max", ["f", "x"], ["y"]),
                  node("Cast", ["x"], ["same"], to=F32), node("Abs", ["same"], ["z"]),
                  node("ConstantOfShape", ["dims"], ["zeros"]), node("Add", ["zeros", "x"], ["u"])],
                 [value("n", [3], TensorProto.INT64), value("x", [3])],
                 [value("y", [3]), value("z", [3]), value("u", [3])],
                 [numpy_helper.from_array(np.array([3]), "dims")])


def quantised(opset=13):
    return model([node("QuantizeLinear", ["x", "s", "p"], ["q"]),
                  node("DequantizeLinear", ["q", "s", "p"], ["d"]), node("Relu", ["d"], ["y"])],
                 [value("x", [2, 4])], [value("y", [2, 4])],
                 [numpy_helper.from_array(np.float32(0.05), "s"),
                  numpy_helper.from_array(np.int8(0), "p")], opset=opset)


def shared_output():
    """An output that other nodes go on with."""
    return model([node("Exp", ["x"], ["h"]), node("Neg", ["h"], ["y"])],
                 [value("x", [4])], [value("h", [4]), value("y", [4])])


def scaled():
    """A function with a weight of its own, and an attribute."""
    offset = helper.make_node("Constant", [], ["a"], "offset")
    offset.attribute.add(name="value_float", ref_attr_name="by", type=onnx.AttributeProto.FLOAT)
    return function("Scaled", ["v"], ["w"],
                    [node("Constant", [], ["c"], value=weight("", 4, seed=5)), offset,
                     node("Mul", ["v", "c"], ["m"]), node("Add", ["m", "a"], ["w"])], ["by"])


def with_functions():
    """A function that calls another, has a node that stays in float32, and a body."""
    then = helper.make_graph([node("Sqrt", ["m"], ["t"])], "then", [], [value("t", [2, 4])])
    other = helper.make_graph([call("Scaled", ["m"], ["o"], by=0.5)], "else", [],
                              [value("o", [2, 4])])
    outer = function("Outer", ["x", "is"], ["y", "h"],
                     [call("Scaled", ["x"], ["h"], by=0.25), node("Max", ["h", "x"], ["m"]),
                      node("If", ["is"], ["z"], then_branch=then, else_branch=other),
                      node("Exp", ["z"], ["y"])])
    return model([node("ReduceSum", ["x"], ["sum"], keepdims=0),
                  node("Constant", [], ["zero"], value_float=0.0),
                  node("Less", ["sum", "zero"], ["is"]), node("Abs", ["x"], ["p"]),
                  call("Outer", ["p", "is"], ["q", "r"]), node("Neg", ["r"], ["s"]),
                  node("Add", ["q", "s"], ["y"])],
                 [value("x", [2, 4])], [value("y", [2, 4]), value("r", [2, 4])],
                 functions=[scaled(), outer])


def shared_function():
    """Called with numbers of two types, by the graph and by another function."""
    twice = function("Twice", ["v"], ["w"], [node("Add", ["v", "v"], ["w"])])
    outer = function("Outer", ["v"], ["w"], [call("Twice", ["v"], ["u"]),
                                             node("Neg", ["u"], ["w"])])
    return model([call("Twice", ["n"], ["m"]), call("Outer", ["x"], ["h"]),
                  node("Exp", ["h"], ["y"])],
                 [value("x", [3]), value("n", [3], TensorProto.INT64)],
                 [value("y", [3]), value("m", [3], TensorProto.INT64)],
                 functions=[twice, outer])


MODELS = {"mlp": mlp, "functions": with_functions, "shared-function": shared_function, "blocked": blocked, "if": with_if, "loop": with_loop, "casts": casts,
          "quantised": quantised, "quantised-21": lambda: quantised(21),
          "shared-output": shared_output}


def feed_for(proto, seed=0):
    random = np.random.default_rng(seed)
    feed = {}
    for info in proto.graph.input:
        dims = [d.dim_value or 2 for d in info.type.tensor_type.shape.dim]
        kind = info.type.tensor_type.elem_type
        feed[info.name] = (random.standard_normal(dims).astype(np.float32) if kind == F32
                           else random.integers(0, 300000, dims))
    return feed


def run(path, feed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return {o.name: v for o, v in zip(session.get_outputs(), session.run(None, feed))}


def types_of(graph):
    return {t.name: t.data_type for t in graph.initializer}


class Float16(Case):
    def convert(self, proto, *words, name="m.onnx", code=0):
        onnx.save(proto, str(self.path(name)))
        ended = self.vernier("convert", name, "-o", "half.onnx", "--fp-to-fp16", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def test_runs_and_is_near(self):
        for name, make in MODELS.items():
            with self.subTest(name):
                proto = make()
                self.convert(proto)
                onnx.checker.check_model(str(self.path("half.onnx")), full_check=True)
                feed = feed_for(proto)
                exact = run(self.path("m.onnx"), feed)
                half = run(self.path("half.onnx"), feed)
                self.assertEqual(list(half), list(exact))
                for output, wanted in exact.items():
                    self.assertEqual(half[output].dtype, wanted.dtype, output)
                    np.testing.assert_allclose(half[output], wanted, rtol=2e-2, atol=2e-2)

    def test_is_float16_inside(self):
        self.convert(mlp())
        graph = onnx.load(str(self.path("half.onnx"))).graph
        self.assertEqual(set(types_of(graph).values()), {TensorProto.FLOAT16})
        self.assertEqual([n.op_type for n in graph.node], ["Cast", "MatMul", "Add", "Relu", "Cast"])
        self.convert(with_if())
        graph = onnx.load(str(self.path("half.onnx"))).graph
        bodies = [a.g for n in graph.node if n.op_type == "If" for a in n.attribute]
        self.assertEqual({o.type.tensor_type.elem_type for b in bodies for o in b.output},
                         {TensorProto.FLOAT16})

    def test_operators_without_float16_stay(self):
        self.convert(blocked())
        proto = onnx.shape_inference.infer_shapes(onnx.load(str(self.path("half.onnx"))))
        kinds = {v.name: v.type.tensor_type.elem_type for v in proto.graph.value_info}
        kinds.update({i.name: i.type.tensor_type.elem_type for i in proto.graph.input})
        kinds.update(types_of(proto.graph))
        by_op = {n.op_type: n for n in proto.graph.node}
        self.assertEqual({kinds[i] for i in by_op["Max"].input}, {F32})
        self.assertEqual({kinds[i] for i in by_op["Exp"].input}, {TensorProto.FLOAT16})
        self.assertEqual({kinds[i] for i in by_op["Mul"].input}, {TensorProto.FLOAT16})

    def test_constants_of_what_stays_stay(self):
        constants = [node("Constant", [], [name], value=numpy_helper.from_array(np.float32(array)))
                     for name, array in zip(("roi", "by", "third"), ([], [1, 1, 1.1, 2], 1 / 3))]
        self.convert(model([*constants, node("Mul", ["x", "third"], ["m"]),
                            node("Resize", ["m", "roi", "by"], ["y"])],
                           [value("x", [1, 1, 10, 4])], [value("y", [1, 1, 11, 8])]))
        kinds = [n.attribute[0].t.data_type for n in
                 onnx.load(str(self.path("half.onnx"))).graph.node if n.op_type == "Constant"]
        self.assertEqual(kinds, [F32] * 2 + [TensorProto.FLOAT16])

    def test_functions_are_float16_inside(self):
        self.convert(with_functions())
        half = onnx.load(str(self.path("half.onnx")))
        for owned in half.functions:
            for constant in owned.node:
                for attribute in constant.attribute:
                    self.assertNotEqual(attribute.t.data_type, F32, constant.name)
        proto = onnx.shape_inference.infer_shapes(onnx.inliner.inline_local_functions(half))
        kinds = {v.name: v.type.tensor_type.elem_type
                 for v in [*proto.graph.value_info, *proto.graph.input, *proto.graph.output]}
        by_op = {n.op_type: n for n in proto.graph.node}
        self.assertEqual({kinds[i] for i in by_op["Max"].input}, {F32})
        for op in ("Mul", "Exp", "Neg"):
            self.assertEqual({kinds[i] for i in by_op[op].input}, {TensorProto.FLOAT16}, op)

    def test_a_function_called_with_several_types_stays(self):
        proto = shared_function()
        self.convert(proto)
        half = onnx.load(str(self.path("half.onnx")))
        self.assertEqual({f.name: [n.op_type for n in f.node] for f in half.functions},
                         {"Twice": ["Add"], "Outer": ["Cast", "Twice", "Cast", "Neg"]})

    def test_a_function_of_another_opset_stays(self):
        """Nothing is known of its operators."""
        old = function("Old", ["v"], ["w"], [node("Exp", ["v"], ["w"])], opset=13)
        proto = model([call("Old", ["x"], ["h"]), node("Neg", ["h"], ["y"])],
                      [value("x", [3])], [value("y", [3])], functions=[old],
                      value_info=[value("h", [3])])
        self.convert(proto)
        half = onnx.load(str(self.path("half.onnx")))
        self.assertEqual([n.op_type for n in half.functions[0].node], ["Exp"])
        self.assertEqual([n.op_type for n in half.graph.node], ["Old", "Cast", "Neg", "Cast"])
        onnx.checker.check_model(half, full_check=True)

    def test_calls_that_are_very_deep(self):
        """What they give is not found out, so they stay as they are."""
        depth = 70
        functions = [function(f"F{i}", ["v"], ["w"], [node("Neg", ["v"], ["u"]),
                                                      call(f"F{i + 1}", ["u"], ["w"])])
                     for i in range(1, depth)]
        functions.append(function(f"F{depth}", ["v"], ["w"], [node("Neg", ["v"], ["w"])]))
        proto = model([call("F1", ["x"], ["y"])], [value("x", [3])], [value("y", [3])],
                      functions=functions)
        self.convert(proto)
        half = onnx.load(str(self.path("half.onnx")))
        self.assertEqual({n.op_type for n in half.functions[0].node}, {"Neg", "F2"})
        np.testing.assert_allclose(
            run(self.path("half.onnx"), {"x": np.array([1, 2, 3], np.float32)})["y"], [1, 2, 3])

    def test_large_integers_reach_what_stays_in_float32(self):
        proto = casts()
        self.convert(proto)
        feed = {"n": np.array([1, 70000, 123456]), "x": np.zeros(3, np.float32)}
        got = run(self.path("half.onnx"), feed)["y"]
        np.testing.assert_array_equal(got, [1, 70000, 123456])

    def test_weights_up_to_the_end_of_float16_are_kept(self):
        array = np.array([65504, -65504, 1e4, 5e4, -3e4, np.inf, 1], np.float32)
        proto = model([node("Add", ["x", "w"], ["y"])], [value("x", [7])], [value("y", [7])],
                      [numpy_helper.from_array(array, "w")])
        ended = self.convert(proto)
        self.assertNotIn("--fp-to-fp16:", ended.out + ended.err)
        got = numpy_helper.to_array(onnx.load(str(self.path("half.onnx"))).graph.initializer[0])
        np.testing.assert_array_equal(got, array.astype(np.float16))

    def test_nodes_with_weights_beyond_it_stay_in_float32_and_are_named(self):
        constant = helper.make_node("Constant", [], ["c"], "large",
                                    value=numpy_helper.from_array(np.float32([[1e6, 2, 3]])))
        nodes = [node("Add", ["x", "small"], ["a"]), node("BatchNormalization",
                 ["a", "one", "one", "one", "variance"], ["b"]), constant,
                 node("Identity", ["c"], ["d"]), node("Mul", ["b", "d"], ["m"]),
                 node("Relu", ["m"], ["y"])]
        weights = {"small": np.float32([[1, 2, 3]]), "one": np.ones(3, np.float32),
                   "variance": np.float32([1, 9.8e7, 4])}
        proto = model(nodes, [value("x", [1, 3])], [value("y", [1, 3])],
                      [numpy_helper.from_array(array, name) for name, array in weights.items()])
        ended = self.convert(proto)
        self.assertIn("[W] --fp-to-fp16: 2 nodes stay ('BatchNormalization_b', 'Mul_m') in "
                      "float32: float16 ends at 65504, and their weights go beyond\n", ended.out)
        onnx.checker.check_model(str(self.path("half.onnx")), full_check=True)
        half = onnx.load(str(self.path("half.onnx")))
        kinds = {t.name: t.data_type for t in half.graph.initializer}
        self.assertEqual(kinds, {"small": TensorProto.FLOAT16, "one": F32, "variance": F32})
        feed = {"x": np.float32([[1, 20000, 3]])}
        np.testing.assert_allclose(run(self.path("half.onnx"), feed)["y"],
                                   run(self.path("m.onnx"), feed)["y"], rtol=2e-3)

    def test_no_two_nodes_have_one_name(self):
        """Exporters call nodes as their outputs; a cast that makes the output must not."""
        nodes = [helper.make_node("Relu", ["x"], ["h"], "y"),
                 helper.make_node("Neg", ["h"], ["y"], "h"),
                 helper.make_node("CumSum", ["h", "axis"], ["z"], "h_float16")]
        proto = model(nodes, [value("x", [3])], [value("y", [3]), value("z", [3])],
                      [numpy_helper.from_array(np.int64(0), "axis")])
        self.convert(proto)
        onnx.checker.check_model(str(self.path("half.onnx")), full_check=True)
        names = [n.name for n in onnx.load(str(self.path("half.onnx"))).graph.node]
        self.assertEqual(len(names), len(set(names)), names)
        np.testing.assert_array_equal(
            run(self.path("half.onnx"), {"x": np.float32([1, -2, 3])})["z"], [1, 1, 4])

    def test_lenient_clamps_as_the_peer_does(self):
        array = np.array([1, 5e4, -7e4, 3e-8, -1e-9, np.inf, -np.inf, np.nan, 0, -0.0, 9999, 1e-6],
                         np.float32)
        proto = model([node("Add", ["x", "w"], ["y"])], [value("x", [12])], [value("y", [12])],
                      [numpy_helper.from_array(array, "w")])
        ended = self.convert(proto, "--lenient")
        self.assertIn("[W] --fp-to-fp16: of the weights 2 beyond 10000 became 10000 with their "
                      "sign, 2 nearer to zero than 1e-07, but not zero, became 1e-07 with their "
                      "sign\n", ended.out)
        got = numpy_helper.to_array(onnx.load(str(self.path("half.onnx"))).graph.initializer[0])
        wanted = np.array([1, 1e4, -1e4, 1e-7, -1e-7, np.inf, -np.inf, np.nan, 0, -0.0, 9999, 1e-6]
                          ).astype(np.float16)
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(np.signbit(got[9]), True)
        lenient = self.path("half.onnx").read_bytes()
        ended = self.lenient("convert", "m.onnx", "-o", "peer.onnx", "--fp-to-fp16")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertEqual(self.path("peer.onnx").read_bytes(), lenient)

    def test_float_data_and_external_data(self):
        proto = mlp()
        tensor = proto.graph.initializer[0]
        floats = numpy_helper.to_array(tensor)
        tensor.ClearField("raw_data")
        tensor.float_data.extend(floats.ravel().tolist())
        self.convert(proto)
        got = numpy_helper.to_array(onnx.load(str(self.path("half.onnx"))).graph.initializer[0])
        np.testing.assert_array_equal(got, floats.astype(np.float16))
        onnx.save(mlp(), str(self.path("e.onnx")), save_as_external_data=True, location="e.data",
                  size_threshold=0)
        ended = self.vernier("convert", "e.onnx", "-o", "half.onnx", "--fp-to-fp16",
                             "--save-external-data", "half.data", "--external-data-size-threshold",
                             "0")
        self.assertEqual(ended.code, 0, ended.err)
        half = onnx.load(str(self.path("half.onnx")))
        np.testing.assert_array_equal(numpy_helper.to_array(half.graph.initializer[0]),
                                      floats.astype(np.float16))
        self.assertGreaterEqual(self.path("half.data").stat().st_size, floats.size * 2)

    def test_marked_outputs_keep_float32(self):
        proto = mlp()
        self.convert(proto, "--onnx-outputs", "*")
        feed = feed_for(proto)
        got = run(self.path("half.onnx"), feed)
        self.assertEqual(list(got), ["h", "s", "y"])
        self.assertEqual({v.dtype for v in got.values()}, {np.dtype(np.float32)})

    def test_run_compares_float16_with_float32(self):
        onnx.save(mlp(), str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "half=onnxrt --fp-to-fp16",
                             "--save-outputs", "out.json", "--atol", "1e-9", "--rtol", "1e-9")
        self.assertEqual(ended.code, 1, ended.out)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--fp-to-fp16", "--save-onnx", "h.onnx",
                             "--load-outputs", "out.json", "--atol", "0.05", "--rtol", "0.05")
        self.assertEqual(ended.code, 0, ended.out)
        onnx.checker.check_model(str(self.path("h.onnx")))

    def test_what_cannot_be_converted_is_said(self):
        proto = model([node("SequenceConstruct", ["x"], ["y"])], [value("x", [2])],
                      [helper.make_tensor_sequence_value_info("y", F32, [2])])
        ended = self.convert(proto, code=5)
        self.assertIn("'y' is a sequence of float32", ended.err)
        self.assertFalse(self.path("half.onnx").exists())
        ended = self.convert(model([node("Neg", ["x"], ["y"])], [value("x", [2], TensorProto.INT64)],
                                   [value("y", [2], TensorProto.INT64)]))
        self.assertIn("has no float32 tensor", ended.out)


if __name__ == "__main__":
    unittest.main()
