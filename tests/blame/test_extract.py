"""`vernier surgeon extract`: the nodes between, their weights, and what the whole model computes there.

(Polygraphy's own needs onnx_graphsurgeon; the extractor of the onnx package loses what bodies read.)
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import planted

VERNIER = os.environ["VERNIER"]


def tensors_of(path, feed, names):
    """The values of these tensors in a model."""
    model = onnx.load(path)
    del model.graph.output[:]
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    wanted = {value.name for value in session.get_inputs()}
    feed = {name: value for name, value in feed.items() if name in wanted}
    return dict(zip(names, session.run(names, feed)))


class Extract(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.feed = {"x": np.random.default_rng(3).normal(size=(planted.ROWS, planted.WIDTH))
                     .astype(np.float32)}

    def extract(self, *words):
        return subprocess.run([VERNIER, "surgeon", "extract", *words], capture_output=True,
                              text=True)

    def test_a_tensor_given_twice_is_refused(self):
        onnx.save(planted.make(1), "model.onnx")
        ended = self.extract("model.onnx", "--inputs", "x:[1,2]:float32", "x:[3,2]:float32", "-o",
                             "part.onnx")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--inputs: expected each tensor once, got 'x' again", ended.stderr)
        self.assertFalse(os.path.exists("part.onnx"))

    def test_the_same_nodes_weights_and_values(self):
        for seed in range(6):
            model = planted.make(seed)
            onnx.save(model, "model.onnx")
            nodes = list(model.graph.node)
            random = np.random.default_rng(seed)
            norms = [i for i, n in enumerate(nodes) if n.op_type == "LayerNormalization"]
            # Between normalisations the network is a chain: one input is enough.
            begin, end = sorted(random.choice(norms, 2, replace=False))
            first, last = nodes[begin].output[0], nodes[end].output[0]
            ended = self.extract("model.onnx", "--inputs", f"{first}:auto:auto", "--outputs",
                                 f"{last}:auto", "-o", "part.onnx")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            part = onnx.load("part.onnx")
            onnx.checker.check_model(part, full_check=True)
            shape = [d.dim_value for d in part.graph.input[0].type.tensor_type.shape.dim]
            # Nothing is known behind an If.
            self.assertIn(shape, ([planted.ROWS, planted.WIDTH], [0, 0]))
            self.assertEqual([n.name for n in part.graph.node],
                             [n.name for n in nodes[begin + 1:end + 1]])
            whole = tensors_of("model.onnx", self.feed, [first, last])
            alone = tensors_of("part.onnx", {first: whole[first]}, [last])
            np.testing.assert_allclose(alone[last], whole[last], rtol=1e-5, atol=1e-5)

    def test_external_weights_come_along(self):
        model = planted.make(0)
        onnx.save(model, "model.onnx", save_as_external_data=True, location="weights.bin",
                  size_threshold=0)
        matmul = next(n for n in model.graph.node if n.op_type == "MatMul")
        os.mkdir("elsewhere")
        for words in ([], ["--save-external-data", "part.bin"]):
            ended = self.extract("model.onnx", "--inputs", f"{matmul.input[0]}:auto:auto",
                                 "--outputs", f"{matmul.output[0]}:auto", "-o",
                                 "elsewhere/part.onnx", *words)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            part = onnx.load("elsewhere/part.onnx")
            expected = next(w for w in model.graph.initializer if w.name == matmul.input[1])
            np.testing.assert_array_equal(numpy_helper.to_array(part.graph.initializer[0]),
                                          numpy_helper.to_array(expected))
            self.assertEqual(len(part.graph.initializer), 1)

    def test_functions_and_opset_imports_stay(self):
        function = helper.make_function("mine", "Twice", ["a"], ["b"],
                                        [helper.make_node("Add", ["a", "a"], ["b"])],
                                        [helper.make_opsetid("", 17)])
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["r"]),
             helper.make_node("Twice", ["r"], ["y"], domain="mine")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])])
        onnx.save(helper.make_model(graph, functions=[function], ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]), "f.onnx")
        ended = self.extract("f.onnx", "--inputs", "r:[N,3]:float32", "-o", "part.onnx")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        part = onnx.load("part.onnx")
        onnx.checker.check_model(part, full_check=True)
        value = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(tensors_of("part.onnx", {"r": value}, ["y"])["y"], 2 * value)

    def test_shapes_follow_from_the_models_inputs(self):
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3],
                              strides=[2, 2]),
             helper.make_node("Relu", ["c"], ["r"], name="relu")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, ["N", 4, "h", "w"])],
            [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)]), "model.onnx")

        def shape(*words, tensor="c"):
            ended = self.extract("model.onnx", "--inputs", f"{tensor}:auto:auto", "-o", "part.onnx",
                                 *words)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            found = onnx.load("part.onnx").graph.input[0].type.tensor_type
            if not found.HasField("shape"):
                return None
            return [d.dim_value or d.dim_param for d in found.shape.dim]

        self.assertEqual(shape("--model-inputs", "x:[2,3,15,11]"), [2, 4, 7, 5])
        self.assertEqual(shape(tensor="x"), ["N", 3, "H", "W"])
        self.assertEqual(shape("--model-input-shapes", "x:[2,3,15,11]", tensor="x"),
                         ["N", 3, "H", "W"])
        self.assertEqual(shape("--model-input-shapes", "x:[2,3,15,11]",
                               "--force-fallback-shape-inference", tensor="x"), [2, 3, 15, 11])
        ended = self.extract("model.onnx", "--inputs", "c:auto:auto", "-o", "part.onnx",
                             "--model-inputs", "nosuch:[1]")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("no input 'nosuch'", ended.stderr)
        for bad, says in {"x:[2,3]": "does not fit", "x:[2,5,15,11]": "does not fit",
                          "x:[-1,3,15,11]": "leaves open"}.items():
            ended = self.extract("model.onnx", "--inputs", "c:auto:auto", "-o", "part.onnx",
                                 "--model-input-shapes", bad)
            self.assertEqual(ended.returncode, 3, ended.stderr)
            self.assertIn("--model-input-shapes: input 'x' has the shape", ended.stderr)
            self.assertIn(says, ended.stderr)
        ended = self.extract("model.onnx", "--inputs", "c:auto:auto", "-o", "part.onnx",
                             "--model-input-shapes", "x:5")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--model-input-shapes: expected NAME:[d0,d1,...]", ended.stderr)

    def test_shapes_that_no_rule_gives_come_from_an_inference(self):
        graph = helper.make_graph(
            [helper.make_node("NonZero", ["x"], ["n"], name="where"),
             helper.make_node("Cast", ["n"], ["f"], name="cast", to=TensorProto.FLOAT),
             helper.make_node("Exp", ["f"], ["y"], name="exp")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)]), "model.onnx")

        def shapes(*words):
            ended = self.extract("model.onnx", "--inputs", "f:auto:auto", "-o", "part.onnx", *words)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            graph = onnx.load("part.onnx").graph
            return [[d.dim_value for d in value.type.tensor_type.shape.dim]
                    for value in (graph.input[0], graph.output[0])], ended

        forced = "--force-fallback-shape-inference"
        words = ["--model-inputs", "x:[2,3]", "--val-range", "[1,2]"]
        (found, out), ended = shapes(*words, forced)
        self.assertEqual((found, out), ([2, 6], [2, 6]))
        self.assertIn("Forcing fallback shape inference", ended.stdout)
        # Other data, other shapes: here nothing is but the first row.
        np.savez("x.npz", x=np.array([[1, 2, 3], [0, 0, 0]], np.float32))
        self.assertEqual(shapes("--load-inputs", "x.npz", forced)[0][0], [2, 3])
        Path("load.py").write_text("import numpy as np\n"
                                   "def load_data():\n"
                                   "    yield {'x': np.eye(4, 3, dtype=np.float32)}\n")
        self.assertEqual(shapes("--data-loader-script", "load.py", "--python",
                                sys.executable, forced)[0][0], [2, 3])
        ended = self.extract("model.onnx", "-o", "part.onnx", forced, "--shape-inference")
        self.assertEqual(ended.returncode, 2)

    def test_names_of_dimensions_stay(self):
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size])
                for name, size in (("x", 8), ("y", 4))]
        weights = [numpy_helper.from_array(np.ones(dims, np.float32), name)
                   for name, dims in (("v", (8, 16)), ("w", (16, 4)))]
        nodes = [helper.make_node("MatMul", ["x", "v"], ["m"]), helper.make_node("Relu", ["m"], ["a"]),
                 helper.make_node("Exp", ["a"], ["b"]), helper.make_node("MatMul", ["b", "w"], ["y"])]
        graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)]), "model.onnx")
        # Without Python, whose onnx would know, rules do.
        for output, size in (("y", 4), ("b", 16)):
            ended = self.extract("model.onnx", "--inputs", "a:auto:auto", "--outputs",
                                 output + ":auto", "-o", "part.onnx", "--python", "/nowhere/python3")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertNotIn("stay open", ended.stdout)
            part = onnx.load("part.onnx").graph
            self.assertEqual([[d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim]
                              for v in (part.input[0], part.output[0])], [["N", 16], ["N", size]])

    def test_a_size_that_is_divided_is_no_fixed_one(self):
        """768 numbers a row, however many rows that makes; a pooling window of many steps."""
        shape = numpy_helper.from_array(np.array([-1, 768]), "s")
        graph = helper.make_graph(
            [helper.make_node("Reshape", ["x", "s"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("Neg", ["b"], ["y"])], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["M", 768])], [shape])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)]), "model.onnx")
        for python in (sys.executable, "/nowhere/python3"):
            ended = self.extract("model.onnx", "--inputs", "b:auto:auto", "-o", "part.onnx", "--python",
                                 python)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            rows = onnx.load("part.onnx").graph.input[0].type.tensor_type.shape.dim[0]
            self.assertEqual(rows.dim_value, 0)
            three = np.ones((3, 768), np.float32)
            np.testing.assert_array_equal(tensors_of("part.onnx", {"b": three}, ["y"])["y"], -three)

    def test_a_shape_of_which_only_the_rank_is_known(self):
        """What an If gives has a rank, and no rule says its sizes."""
        bodies = {which: helper.make_graph(
            [helper.make_node(op, ["x"], [which])], which, [],
            [helper.make_tensor_value_info(which, TensorProto.FLOAT, ["a", "b"])])
            for which, op in (("then_branch", "Relu"), ("else_branch", "Neg"))}

        def save(rows):
            graph = helper.make_graph(
                [helper.make_node("If", ["c"], ["i"], name="if", **bodies),
                 helper.make_node("MatMul", ["i", "w"], ["y"], name="matmul")], "g",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 8])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 4])],
                [numpy_helper.from_array(np.array(True), "c"),
                 numpy_helper.from_array(np.ones((8, 4), np.float32), "w")])
            onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
                helper.make_opsetid("", 17)]), "model.onnx")

        def cut(*words):
            ended = self.extract("model.onnx", "--inputs", "i:auto:auto", "-o", "part.onnx", *words)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            shape = onnx.load("part.onnx").graph.input[0].type.tensor_type.shape
            return [d.dim_value for d in shape.dim], ended.stdout

        save("N")
        found, said = cut("--model-input-shapes", "x:[3,8]")
        self.assertEqual(found, [3, 8])
        self.assertIn("Will run inference to determine shapes", said)
        ran = subprocess.run([VERNIER, "run", "part.onnx", "--onnxrt", "-q"], capture_output=True,
                             text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        # Nobody said how many rows: they are not made a constant. onnx knows the columns.
        self.assertEqual(cut("--python", sys.executable)[0], [0, 8])
        # Without it nothing is known, and that is said.
        found, said = cut("--python", "/nowhere/python3")
        self.assertEqual(found, [0, 0])
        self.assertIn("[W] The shapes of these tensors stay open", said)
        self.assertIn(": i\n", said)
        self.assertIn("--model-input-shapes", said)
        self.assertNotIn("Will run inference", said)
        save(5)
        self.assertEqual(cut()[0], [5, 8])
        self.assertIn("--iterations has no effect", cut("--iterations", "5")[1])
        self.assertNotIn("stay open", cut("--force-fallback-shape-inference")[1])

    def test_tensors_that_an_operator_of_its_own_makes(self):
        """Neither type nor rank is declared, and nothing but a runtime can tell."""
        function = helper.make_function("mine", "Rows", ["a"], ["b"],
                                        [helper.make_node("Shape", ["a"], ["b"])],
                                        [helper.make_opsetid("", 17)])
        graph = helper.make_graph(
            [helper.make_node("Rows", ["x"], ["s"], domain="mine"),
             helper.make_node("Cast", ["s"], ["y"], to=TensorProto.FLOAT)], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
        onnx.save(helper.make_model(graph, functions=[function], ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]), "f.onnx")
        ended = self.extract("f.onnx", "--inputs", "s:auto:auto", "-o", "part.onnx")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        made = onnx.load("part.onnx").graph.input[0].type.tensor_type
        self.assertEqual(made.elem_type, TensorProto.INT64)
        self.assertEqual([d.dim_value for d in made.shape.dim], [2])

    def test_an_output_of_a_function(self):
        """A function may be called as an operator is, and do something else."""
        function = helper.make_function("mine", "Relu", ["a"], ["b"],
                                        [helper.make_node("Concat", ["a", "a"], ["b"], axis=0)],
                                        [helper.make_opsetid("", 17)])

        def cut(rows, python):
            graph = helper.make_graph(
                [helper.make_node("Relu", ["x"], ["d"], domain="mine"),
                 helper.make_node("Exp", ["d"], ["y"])], "g",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["M", 3])])
            onnx.save(helper.make_model(graph, functions=[function], ir_version=8, opset_imports=[
                helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]), "f.onnx")
            ended = self.extract("f.onnx", "--outputs", "d:auto", "-o", "part.onnx", "--python",
                                 python)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            made = onnx.load("part.onnx").graph.output[0].type.tensor_type
            self.assertEqual(made.elem_type, TensorProto.FLOAT)
            return [d.dim_value for d in made.shape.dim], ended.stdout

        for python in (sys.executable, "/nowhere/python3"):
            found, said = cut(4, python)
            self.assertEqual(found, [8, 3])
            self.assertNotIn("stay open", said)
            onnx.checker.check_model("part.onnx", full_check=True)
        # Sizes of one feed would be wrong for others.
        found, said = cut("N", "/nowhere/python3")
        self.assertEqual(found, [])
        self.assertRegex(said, r"\[W\] The shapes of these tensors stay open.*: d\n")

    def test_shapes_and_types_of_the_whole_model_before_it_is_cut(self):
        onnx.save(planted.make(0), "model.onnx")
        ended = self.extract("model.onnx", "-o", "part.onnx", "--shape-inference", "--python",
                             sys.executable)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertGreater(len(onnx.load("part.onnx").graph.value_info), 10)
        ended = self.extract("model.onnx", "-o", "part.onnx", "--fp-to-fp16")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        part = onnx.load("part.onnx")
        self.assertIn(TensorProto.FLOAT16, {w.data_type for w in part.graph.initializer})

    def test_what_cannot_be_cut_is_refused_in_a_sentence(self):
        onnx.save(planted.make(0), "model.onnx")
        for code, sentence, words in (
                (1, "Tensor: nosuch does not exist", ["--inputs", "nosuch:auto:auto"]),
                (2, "not among the inputs", ["--inputs", "t4:auto:auto", "--outputs", "t2:auto"]),
                (2, "is not a type", ["--inputs", "t4:auto:float33"]),
                (2, "NAME:SHAPE:DTYPE", ["--inputs", "t4"]),
                (2, "expected a shape", ["--inputs", "t4:7:float32"])):
            ended = self.extract("model.onnx", *words, "-o", "part.onnx")
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertIn(sentence, ended.stderr)
            self.assertFalse(os.path.exists("part.onnx"))
        self.assertEqual(self.extract("missing.onnx", "-o", "part.onnx").returncode, 3)


if __name__ == "__main__":
    unittest.main()
