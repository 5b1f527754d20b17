"""--shape-inference: the shapes that the peer finds, on models whose weights are not sent along."""

import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


def deep(shape_outside=False):
    """Shapes depend on a small constant; a weight is large."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "m"),
             helper.make_node("Reshape", ["h", "shape"], ["r"], "r"),
             helper.make_node("Transpose", ["r"], ["t"], "t"),
             helper.make_node("Relu", ["t"], ["y"], "y")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 4, 4])],
        [numpy_helper.from_array(np.ones((64, 64), np.float32), "w"),
         numpy_helper.from_array(np.array([4, 4, 8]), "shape")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def symbolic():
    """Reshaped by a size that is computed from the input's."""
    nodes = [helper.make_node("Shape", ["x"], ["s"]),
             helper.make_node("Gather", ["s", "first"], ["n"]),
             helper.make_node("Mul", ["n", "two"], ["twice"]),
             helper.make_node("Concat", ["twice", "four"], ["shape"], axis=0),
             helper.make_node("Reshape", ["x", "shape"], ["r"]),
             helper.make_node("Relu", ["r"], ["y"])]
    values = {"first": [0], "two": [2], "four": [4]}
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(value), name) for name, value in values.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def biased():
    """The same behind a bias that is no part of what the tool is given."""
    model = symbolic()
    graph = model.graph
    graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 512]))
    graph.initializer.append(numpy_helper.from_array(np.ones(512, np.float32), "bias"))
    graph.node.insert(0, helper.make_node("Add", ["x", "bias"], ["added"]))
    graph.node[1].input[0] = "added"
    return model


def symbols(path):
    proto = onnx.load(str(path))
    return {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in proto.graph.value_info}


def shapes(path):
    proto = onnx.load(str(path))
    return {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in proto.graph.value_info}


class ShapeInference(Case):
    def convert(self, *words, code=0):
        ended = self.vernier("convert", "m.onnx", "-o", "o.onnx", "--shape-inference", "--python",
                             sys.executable, *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def test_the_peers_shapes(self):
        for words in ([], ["--no-onnxruntime-shape-inference"]):
            onnx.save(deep(), str(self.path("m.onnx")))
            self.convert(*words)
            ended = self.peer("convert", "m.onnx", "-o", "peer.onnx", "--shape-inference", *words)
            self.assertEqual(ended.code, 0, ended.err)
            self.assertEqual(shapes(self.path("o.onnx")), shapes(self.path("peer.onnx")))
            inner = {"h": [2, 64], "r": [4, 4, 8], "t": [8, 4, 4]}
            found = shapes(self.path("o.onnx"))
            self.assertEqual({name: found.get(name) for name in inner}, inner)

    def test_weights_come_back(self):
        onnx.save(deep(), str(self.path("m.onnx")))
        self.convert()
        self.assertEqual([t.SerializeToString() for t in
                          onnx.load(str(self.path("o.onnx"))).graph.initializer],
                         [t.SerializeToString() for t in deep().graph.initializer])
        onnx.checker.check_model(str(self.path("o.onnx")), full_check=True)

    def test_external_weights(self):
        """Also where the values that shapes depend on lie in the other file."""
        onnx.save(deep(), str(self.path("m.onnx")), save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        self.convert()
        self.assertEqual(shapes(self.path("o.onnx"))["r"], [4, 4, 8])
        loaded = onnx.load(str(self.path("o.onnx")))
        np.testing.assert_array_equal(numpy_helper.to_array(loaded.graph.initializer[0]), 1)

    def test_with_float16_and_marked_outputs(self):
        onnx.save(deep(), str(self.path("m.onnx")))
        self.convert("--fp-to-fp16", "--onnx-outputs", "*")
        onnx.checker.check_model(str(self.path("o.onnx")), full_check=True)
        graph = onnx.load(str(self.path("o.onnx"))).graph
        self.assertEqual([o.name for o in graph.output], ["h", "r", "t", "y"])
        self.assertEqual([d.dim_value for d in graph.output[1].type.tensor_type.shape.dim],
                         [4, 4, 8])
        self.assertEqual(graph.initializer[0].data_type, TensorProto.FLOAT16)

    def test_run_takes_it(self):
        onnx.save(deep(), str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--shape-inference",
                             "--save-onnx", "s.onnx", "--python", sys.executable)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("t", shapes(self.path("s.onnx")))

    def test_symbolic_shapes_as_the_peer_has_them(self):
        """Found by ONNX Runtime's tool alone: a size that is computed from a named one."""
        onnx.save(symbolic(), str(self.path("m.onnx")))
        ended = self.convert("-v")
        self.assertIn("Inferred shapes in the model with `onnxruntime.tools.symbolic_shape_infer`.",
                      ended.out)
        found = symbols(self.path("o.onnx"))
        self.assertEqual(found["r"], ["2*n", 4])
        done = self.peer("convert", "m.onnx", "-o", "peer.onnx", "--shape-inference")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(found, symbols(self.path("peer.onnx")))
        ended = self.convert("-v", "--no-onnxruntime-shape-inference")
        self.assertNotIn("symbolic_shape_infer", ended.out)
        self.assertNotEqual(symbols(self.path("o.onnx")).get("r"), ["2*n", 4])

    def test_values_of_large_weights_are_not_asked_for(self):
        onnx.save(biased(), str(self.path("m.onnx")))
        ended = self.convert()
        self.assertNotIn("Falling back", ended.out + ended.err)
        done = self.peer("convert", "m.onnx", "-o", "peer.onnx", "--shape-inference")
        self.assertEqual(done.code, 0, done.err)
        found = symbols(self.path("o.onnx"))
        self.assertEqual(found["r"], ["2*n", 4])
        self.assertEqual(found, symbols(self.path("peer.onnx")))

    def test_where_the_symbolic_tool_fails_the_other_is_used(self):
        model = symbolic()
        model.graph.node[0].domain = "nobody.knows"
        model.graph.node[0].op_type = "Strange"
        model.opset_import.append(helper.make_opsetid("nobody.knows", 1))
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.convert()
        self.assertIn("Falling back to `onnx.shape_inference`", ended.out)
        self.assertNotIn("pip install", ended.out)

    def test_without_onnx_it_says_how(self):
        onnx.save(deep(), str(self.path("m.onnx")))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.path("bare"))],
                       check=True)
        bare = self.path("bare/bin/python")
        site = next(self.path("bare/lib").glob("python3*/site-packages"))
        (site / "numpy").symlink_to(next(__import__("pathlib").Path(p) for p in np.__path__))
        libs = __import__("pathlib").Path(np.__path__[0]).parent / "numpy.libs"
        (site / "numpy.libs").symlink_to(libs)
        ended = self.vernier("convert", "m.onnx", "-o", "o.onnx", "--shape-inference", "--python",
                             bare)
        self.assertEqual(ended.code, 5, ended.out + ended.err)
        self.assertIn("-m pip install onnx' adds it", ended.err)
        self.assertFalse(self.path("o.onnx").exists())


if __name__ == "__main__":
    unittest.main()
