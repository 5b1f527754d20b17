"""vernier inspect model, held against the peer's lines."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case
from surgeon_models import ranges


def value(name, shape=("N", 3), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, weights=(), values=(), opsets=(("", 17),)):
    graph = helper.make_graph(nodes, "shown", inputs, outputs, list(weights),
                              value_info=list(values))
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid(*opset) for opset in opsets])


def branches():
    bodies = {}
    for which, op in (("then_branch", "Tanh"), ("else_branch", "Relu")):
        bodies[which] = helper.make_graph(
            [helper.make_node("Mul", ["x", "w"], [which + "_a"], name=which + "_mul"),
             helper.make_node(op, [which + "_a"], [which + "_b"])],
            which, [], [value(which + "_b")])
    weights = [numpy_helper.from_array(np.array(True), "c"),
               numpy_helper.from_array(np.linspace(-1, 1, 3).astype(np.float32), "w")]
    return model([helper.make_node("If", ["c"], ["y"], name="choice", **bodies),
                  helper.make_node("Clip", ["y", "", "w"], ["z"])],
                 [value("x"), value("c", [], TensorProto.BOOL)], [value("z")], weights)


def attributes():
    constant = helper.make_node("Constant", [], ["k"], name="k_node", value=numpy_helper.from_array(
        np.arange(40, dtype=np.int64).reshape(4, 10), "k_value"))
    return model(
        [constant,
         helper.make_node("LayerNormalization", ["x", "s"], ["n"], name="norm", axis=-1,
                          epsilon=1e-5),
         helper.make_node("Cast", ["n"], ["h"], name="half", to=TensorProto.FLOAT16),
         helper.make_node("Cast", ["n"], ["d"], name="double", to=TensorProto.DOUBLE),
         helper.make_node("Transpose", ["h"], ["t"], name="turn", perm=[1, 0]),
         helper.make_node("Mine", ["t"], ["u"], name="mine", domain="my.domain", words=["a", "b'"],
                          word="text", numbers=[0.5, 0.1]),
         helper.make_node("Identity", ["u"], ["y"])],
        [value("x")], [value("y", None), value("d", dtype=TensorProto.DOUBLE), value("k", [4, 10],
                                                                                   TensorProto.INT64)],
        [numpy_helper.from_array(np.ones(3, np.float32), "s")], [value("n", ["N", None])],
        (("", 17), ("my.domain", 3)))


class InspectModel(Case):
    def check(self, made, *words):
        onnx.save(made, self.folder / "m.onnx")
        theirs = self.peer("inspect", "model", "m.onnx", *words)
        ours = self.lenient("inspect", "model", "m.onnx", *words)
        self.assertEqual((theirs.code, ours.code), (0, 0), ours.err)

        def text(ended):
            return [line for line in ended.lines() if "Loading model" not in line]

        self.assertGreater(len(text(theirs)), 5)
        self.assertEqual(text(ours), text(theirs))

    def test_the_same_lines(self):
        for made in (branches(), attributes()):
            for words in ([], ["--show", "layers"], ["--show", "layers", "attrs"],
                          ["--show", "weights"], ["--show", "layers", "attrs", "weights"],
                          ["--show", "attrs"]):
                with self.subTest(words=words, graph=made.graph.node[0].op_type):
                    self.check(made, *words)

    def test_the_documentation_of_graphs(self):
        made = branches()
        made.graph.doc_string = "what it is,\nand for whom"
        for node in made.graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    attribute.g.doc_string = "of a branch"
        for words in ([], ["--show", "attrs"], ["--show", "layers", "attrs"]):
            self.check(made, *words)
        ended = self.vernier("inspect", "model", "m.onnx", "--show", "layers", "attrs")
        self.assertEqual(ended.out.count("---- Docstring ----"), 3)

    def test_external_weights_are_read_where_they_are_shown(self):
        made = branches()
        onnx.save(made, self.folder / "e.onnx", save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        shown = self.vernier("inspect", "model", "e.onnx", "--show", "weights")
        self.assertIn("[-1.  0.  1.]", shown.out)
        (self.folder / "w.bin").unlink()
        self.assertEqual(self.vernier("inspect", "model", "e.onnx", "--show", "layers").code, 0)
        missing = self.vernier("inspect", "model", "e.onnx", "--show", "weights")
        self.assertIn("failed to load weights", missing.out)
        self.assertEqual(missing.code, 3)
        self.assertRegex(missing.err, r"\d+ weights could not be read, the first: '\w+': .*w\.bin")

    def test_statistics_of_weights(self):
        weight = np.array([[1, -3], [2, np.nan]], np.float32)
        onnx.save(model([helper.make_node("MatMul", ["x", "w"], ["y"], name="the_node"),
                         helper.make_node("Relu", ["y"], ["z"], name="other")],
                        [value("x", [5, 2])], [value("z", None)],
                        [numpy_helper.from_array(weight, "w"),
                         numpy_helper.from_array(np.arange(3.0), "unused")]), self.folder / "m.onnx")
        shown = self.vernier("inspect", "model", "m.onnx", "--show", "stats").out
        self.assertIn("Initializer | w [dtype=float32, shape=[2, 2]] | Stats: mean=", shown)
        self.assertIn(", 1 NaN", shown)
        self.assertIn("Initializer | unused [dtype=float64, shape=[3]] | Stats: mean=1, "
                      "std-dev=0.8165, var=0.66667, median=1, min=0 at (0,), max=2 at (2,)", shown)
        for name in ("the_node", "y"):
            layer = self.vernier("inspect", "model", "m.onnx", "--layer", name).out
            self.assertIn("the_node [Op: MatMul]", layer)
            self.assertIn("{y [dtype=float32, shape=(5, 2)]}", layer)
            self.assertIn("Initializer | w [dtype=float32, shape=[2, 2]] | Stats:", layer)
            self.assertNotIn("unused", layer)
            self.assertNotIn("other", layer)

    def test_statistics_of_activations(self):
        onnx.save(model([helper.make_node("MatMul", ["x", "w"], ["y"], name="the_node"),
                         helper.make_node("Relu", ["y"], ["z"], name="other")],
                        [value("x", [2, 2])], [value("z", None)],
                        [numpy_helper.from_array(np.eye(2, dtype=np.float32), "w")]),
                  self.folder / "m.onnx")
        np.savez(self.folder / "in.npz", x=np.array([[1, -3], [2, np.nan]], np.float32))
        words = ["inspect", "model", "m.onnx", "--layer", "the_node"]
        shown = self.vernier(*words, "--onnxrt", "--openvino", "--load-inputs", "in.npz")
        self.assertEqual(shown.code, 0, shown.err)
        lines = [line for line in shown.out.splitlines() if line.strip().startswith("Activation")]
        self.assertEqual([line.split()[2] for line in lines], ["x", "y", "x", "y"])
        self.assertIn("Activation | x [dtype=float32, shape=[2, 2]] | onnxrt", lines[0])
        self.assertIn(", 1 NaN", lines[0])
        self.assertIn("openvino", lines[3])
        self.vernier("run", "m.onnx", "--onnxrt", "--onnx-outputs", "mark", "all", "--val-range",
                     "[3,3]", "--iterations", "2", "--save-outputs", "out.json")
        saved = self.vernier(*words, "--load-outputs", "out.json").out
        self.assertIn(", iteration 1 | Stats: mean=3, std-dev=0, var=0, median=3", saved)
        self.assertNotIn("Activation | x ", saved)
        # Of all tensors, where no layer is named.
        whole = self.vernier("inspect", "model", "m.onnx", "--onnxrt").out
        self.assertEqual([line.split()[2] for line in whole.splitlines()
                          if line.strip().startswith("Activation")], ["x", "y", "z"])
        nothing = self.vernier("inspect", "model", "m.onnx", "--load-outputs", "in.npz", "--layer",
                               "other")
        self.assertEqual(nothing.code, 1)
        self.assertIn("--onnx-outputs mark all", nothing.err)

    def test_a_layer_of_a_body(self):
        onnx.save(branches(), self.folder / "m.onnx")
        body = next(node for node in branches().graph.node if node.op_type == "If").attribute[0].g
        ended = self.vernier("inspect", "model", "m.onnx", "--layer", body.node[0].output[0])
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn(f"[Op: {body.node[0].op_type}]", ended.out)
        missing = self.vernier("inspect", "model", "m.onnx", "--layer", "nosuch")
        self.assertEqual(missing.code, 1)
        self.assertIn("'nosuch'", missing.err)

    def test_input_options_that_would_change_nothing(self):
        onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2])],
                        [value("y", [2])]), self.folder / "m.onnx")
        (self.folder / "m.engine").write_bytes(b"x")
        for words in (["--input-shapes", "bogus:[1]"], ["--seed", "3"], ["--iterations", "2"],
                      ["--val-range", "[0,1]"], ["--load-inputs", "in.npz"], ["--like", "in.npz"],
                      ["--inputs-from-graph"], ["--data-loader-script", "load.py"]):
            ended = self.vernier("inspect", "model", "m.onnx", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertIn(f"{words[0]}: nothing is run; name a runner", ended.err)
            ended = self.vernier("inspect", "model", "m.engine", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertIn(f"{words[0]}: an engine is shown and not run", ended.err)
        ended = self.vernier("inspect", "model", "m.onnx", "--onnxrt", "--iterations", "3")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("[W] --iterations has no effect: the model runs on one feed", ended.out)
        ended = self.vernier("inspect", "model", "m.engine", "--trt")
        self.assertEqual(ended.code, 2)
        self.assertIn("loaded by TensorRT anyway; leave --trt out", ended.err)
        ended = self.vernier("inspect", "model", "m.engine", "--onnxrt")
        self.assertEqual(ended.code, 2)
        self.assertIn("--onnxrt: an engine is loaded by TensorRT alone", ended.err)

    def test_what_cannot_be_shown(self):
        self.assertEqual(self.vernier("inspect", "model", "missing.onnx").code, 3)
        (self.folder / "m.engine").write_bytes(b"x")
        ended = self.vernier("inspect", "model", "m.engine")
        self.assertEqual(ended.code, 5)
        self.assertIn("engine", ended.err)
        onnx.save(branches(), self.folder / "m.onnx")
        ended = self.vernier("inspect", "model", "m.onnx", "--convert-to", "trt")
        self.assertEqual(ended.code, 5)
        self.assertIn("--display-as trt needs the Python package tensorrt", ended.err)

    def json(self, made, *words):
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("inspect", "model", "m.onnx", "--format", "json", *words)
        self.assertEqual(ended.code, 0, ended.err)
        return json.loads(ended.out)  # nothing else is on stdout

    def test_json(self):
        seen = self.json(branches())
        self.assertEqual((seen["ir_version"], seen["opsets"]), (8, {"ai.onnx": 17}))
        graph = seen["graph"]
        self.assertEqual([v["name"] for v in graph["inputs"]], ["x", "c"])
        self.assertEqual(graph["inputs"][0], {"name": "x", "dtype": "float32", "shape": ["N", 3]})
        self.assertEqual([w["name"] for w in graph["initializers"]], ["c", "w"])
        self.assertEqual([n["op"] for n in graph["nodes"]], ["If", "Clip"])
        self.assertEqual(graph["nodes"][1]["inputs"], ["y", "", "w"])
        bodies = graph["nodes"][0]["graphs"]
        self.assertEqual([n["op"] for n in bodies["else_branch"]["nodes"]], ["Mul", "Relu"])
        self.assertNotIn("attributes", graph["nodes"][0])
        shown = self.json(attributes(), "--show", "attrs")["graph"]["nodes"]
        self.assertEqual(shown[0]["attributes"], {"value": {"dtype": "int64", "shape": [4, 10]}})
        self.assertEqual(shown[1]["attributes"]["axis"], -1)
        ended = self.vernier("inspect", "model", "m.onnx", "--format", "json", "--layer", "norm")
        self.assertEqual(ended.code, 2)
        self.assertIn("leave out --layer", ended.err)

    def test_sizes_without_a_bound(self):
        onnx.save(ranges(), str(self.path("m.onnx")))
        ended = self.vernier("inspect", "model", "m.onnx", "--list-unbounded-dds")
        self.assertIn("Found tensors with unbounded DDS: ['top']", ended.out)
        self.assertEqual(self.json(ranges(), "--list-unbounded-dds")["unbounded_dds"], ["top"])
        self.assertEqual(self.json(branches(), "--list-unbounded-dds")["unbounded_dds"], [])

    def test_a_model_that_is_changed_first(self):
        made = branches()
        del made.graph.value_info[:]
        onnx.save(made, str(self.path("m.onnx")))
        words = ("inspect", "model", "m.onnx", "--show", "layers", "--shape-inference",
                 "--no-onnxruntime-shape-inference")
        plain = self.vernier(*words[:5]).out
        theirs = [line for line in self.peer(*words).lines() if "[dtype=" in line]
        ours = self.lenient(*words)
        self.assertEqual(ours.code, 0, ours.err)
        self.assertEqual([line for line in ours.lines() if "[dtype=" in line], theirs)
        self.assertGreater(len(theirs), plain.count("[dtype="))
        halved = self.json(made, "--fp-to-fp16")["graph"]["nodes"]
        self.assertIn("Cast", [each["op"] for each in halved])
        ended = self.vernier("inspect", "model", "m.onnx", "--visual", "--fp-to-fp16")
        self.assertEqual(ended.code, 2)
        self.assertIn("the page draws the model as it is in its file", ended.err)

    def test_weights_that_are_to_be_ignored_say_so(self):
        weights = [numpy_helper.from_array(np.ones((2, 600), np.float32), "far"),
                   numpy_helper.from_array(np.ones((2,), np.float32), "near")]
        graph = helper.make_graph([helper.make_node("Relu", ["far"], ["y"])], "g", [],
                                  [helper.make_tensor_value_info("y", 1, (2, 600))], weights)
        onnx.save(helper.make_model(graph), str(self.path("m.onnx")), save_as_external_data=True,
                  location="w.bin", size_threshold=1024)
        self.path("w.bin").unlink()
        ended = self.vernier("inspect", "model", "m.onnx", "--ignore-external-data", "--show",
                             "layers", "weights")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertRegex(ended.out, r"far \[.*Values:\n +<error: failed to load weights>")
        self.assertRegex(ended.out, r"near \[.*Values:\n +\[1. 1.\]")

    def test_a_page_with_the_graph(self):
        onnx.save(branches(), str(self.path("m.onnx")))
        ended = self.vernier("inspect", "model", "m.onnx", "--visual")
        self.assertIn("Viewer HTML saved to m.html", ended.out)
        page = self.path("m.html").read_text()
        self.assertIn('"Clip"', page)
        self.assertRegex(page, r"The graph of m\.onnx: \d+ nodes\.")
        self.assertNotIn("There was nothing to compare", page)
        self.assertNotRegex(page, r"(src|href)=.https?:")
        ended = self.vernier("inspect", "model", "m.onnx", "--save-visual", "sub.txt")
        self.assertEqual(ended.code, 2)
        self.assertIn("--save-visual: expected a name that ends in .html", ended.err)
        self.path("folder.html").mkdir()
        ended = self.vernier("inspect", "model", "m.onnx", "--save-visual", "folder.html")
        self.assertEqual(ended.code, 7)
