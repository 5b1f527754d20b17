"""vernier surgeon sanitize, insert, prune, weight-strip and weight-reconstruct, against what Polygraphy
made of the same models, and against what the models compute."""

import json
import pathlib
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import surgeon_models
from program import Case
from surgeon_models import CASES, chain, constant, describe, model, node, value, weight

PEER = json.loads((pathlib.Path(__file__).parent / "surgeon_peer.json").read_text())


def outputs_of(path, feed):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = {given.name for given in session.get_inputs()}
    return session.run(None, {name: array for name, array in feed.items() if name in wanted})


class Surgeon(Case):
    def surgeon(self, made, *words, code=0):
        onnx.save(made, str(self.path("m.onnx")))
        return self.operate("m.onnx", *words, code=code)

    def operate(self, path, *words, code=0):
        # Shapes are inferred by the onnx of the tests.
        python = ["--python", sys.executable] if words[0] == "sanitize" else []
        ended = self.vernier("surgeon", words[0], path, *words[1:], "-o", "o.onnx", *python)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def made(self):
        return onnx.load(str(self.path("o.onnx")))

    def operators(self):
        return sorted(n.op_type for n in self.made().graph.node)

    def weights(self, path="o.onnx"):
        graph = onnx.load(str(self.path(path))).graph
        return {w.name: numpy_helper.to_array(w) for w in graph.initializer}

    def same_values(self, feed):
        """The new model computes what the old one does."""
        before = outputs_of(self.path("m.onnx"), feed)
        after = outputs_of(self.path("o.onnx"), feed)
        self.assertEqual(len(before), len(after))
        for old, new in zip(before, after):
            np.testing.assert_allclose(new, old, rtol=1e-6, atol=1e-6)


class AsThePeer(Surgeon):
    """Nodes, names and the bits of weights."""

    def test_the_same_models(self):
        def text(described):
            # Polygraphy counts nodes that are gone by then.
            return json.loads(re.sub(r"_subg_\d+_", "_subg_", json.dumps(described)))

        for name, (make, words) in CASES.items():
            with self.subTest(case=name):
                self.surgeon(make(), *words)
                self.assertEqual(text(describe(self.path("o.onnx"))), text(PEER[name]))
                if words[0] in ("sanitize", "prune"):
                    onnx.checker.check_model(self.made(), full_check=True)


class Sanitize(Surgeon):
    x = np.random.default_rng(1).normal(size=(4, 8)).astype(np.float32)

    def test_folded_models_compute_the_same(self):
        for make in (surgeon_models.foldable, surgeon_models.shapes, surgeon_models.fixed_shape,
                     surgeon_models.branches, lambda: surgeon_models.branches(False)):
            self.surgeon(make(), "sanitize", "--fold-constants")
            self.same_values({"x": self.x, "c": np.array(False)})

    def test_passes_are_told(self):
        ended = self.surgeon(surgeon_models.foldable(), "sanitize", "--fold-constants")
        self.assertIn("[I] Folding Constants | Pass 1\n", ended.out)
        self.assertIn("    Total Nodes | Original:     8, After Folding:     2 |     6 Nodes Folded\n",
                      ended.out)
        self.assertIn("    Total Nodes | Original:     2, After Folding:     2 |     0 Nodes Folded\n",
                      ended.out)
        self.assertRegex(ended.out, r"RUNNING \| Command: .*(.|\n)*PASSED \| Runtime: ")

    def test_constants_in_bodies_are_folded(self):
        body = helper.make_graph(
            [constant("a", np.float32(2)), node("Mul", ["a", "k"], ["scaled"]),
             node("Add", ["x", "scaled"], ["then"])], "then", [], [value("then")])
        other = helper.make_graph([node("Neg", ["x"], ["else"])], "else", [], [value("else")])
        self.surgeon(model([node("If", ["c"], ["y"], then_branch=body, else_branch=other)],
                           [value("x"), value("c", (), TensorProto.BOOL)], [value("y")],
                           [weight("k", (8,))]), "sanitize", "--fold-constants")
        for condition in (True, False):
            self.same_values({"x": self.x, "c": np.array(condition)})
        then = next(a.g for a in self.made().graph.node[0].attribute if a.name == "then_branch")
        self.assertEqual([n.op_type for n in then.node], ["Add"])
        # The factor is in the branch now; nobody else read it.
        self.assertEqual(list(self.weights()), [])

    def test_random_numbers_and_quantization_stay(self):
        self.surgeon(model(
            [node("RandomNormal", [], ["r"], shape=[8]), node("Add", ["x", "r"], ["y"]),
             node("QuantizeLinear", ["w", "s"], ["q"]), node("DequantizeLinear", ["q", "s"], ["d"]),
             node("MatMul", ["x", "d"], ["z"])],
            [value("x")], [value("y"), value("z")], [weight("w"), weight("s", ())]),
            "sanitize", "--fold-constants")
        self.assertEqual(self.operators(), ["Add", "DequantizeLinear", "MatMul", "QuantizeLinear",
                                            "RandomNormal"])

    def test_the_default_of_an_input_is_no_constant(self):
        made = model([node("Neg", ["k"], ["n"]), node("Add", ["x", "n"], ["y"])],
                     [value("x"), value("k", (8,))], [value("y")], [weight("k", (8,))])
        self.surgeon(made, "sanitize", "--fold-constants")
        self.assertEqual(self.operators(), ["Add", "Neg"])

    def test_part_of_a_shape_that_is_open(self):
        made = model([node("Shape", ["x"], ["s"], start=1), node("Reshape", ["w", "s"], ["y"])],
                     [value("x")], [value("y", (8,))], [weight("w", (8,))])
        self.surgeon(made, "sanitize", "--fold-constants")
        self.assertEqual(self.operators(), [])
        self.same_values({"x": self.x})

    def test_what_fails_is_told_and_left(self):
        made = model([node("Add", ["w", "v"], ["bad"]), node("Neg", ["w"], ["good"]),
                      node("Add", ["x", "good"], ["y"]), node("Add", ["x", "bad"], ["z"])],
                     [value("x")], [value("y"), value("z")], [weight("w", (8,)), weight("v", (5,))])
        whole = self.surgeon(made, "sanitize", "--fold-constants", "--no-shape-inference")
        self.assertIn("[W] Inference failed. You may want to try enabling partitioning", whole.out)
        self.assertEqual(self.operators(), ["Add", "Add", "Add", "Neg"])
        parts = self.surgeon(made, "sanitize", "--fold-constants", "--no-shape-inference",
                             "--partitioning", "basic")
        self.assertIn("[W] Inference failed for subgraph: Folding: ['bad']", parts.out)
        self.assertEqual(self.operators(), ["Add", "Add", "Add"])

    def test_partitions_of_partitions(self):
        made = model([node("Neg", ["w"], ["n"]), node("Exp", ["n"], ["e"]),
                      node("Add", ["e", "v"], ["bad"]), node("Add", ["x", "bad"], ["y"])],
                     [value("x")], [value("y")], [weight("w", (8,)), weight("v", (5,))])
        self.surgeon(made, "sanitize", "--fold-constants", "--no-shape-inference",
                     "--partitioning", "recursive")
        self.assertEqual(self.operators(), ["Add", "Add"])

    def test_order(self):
        self.surgeon(surgeon_models.unsorted(), "sanitize", "--toposort")
        self.assertEqual([n.op_type for n in self.made().graph.node], ["Abs", "Tanh", "Relu"])
        self.same_values({"x": self.x})
        self.surgeon(chain(), "sanitize", "--toposort")
        self.assertEqual([n.name for n in self.made().graph.node], ["n1", "n2", "n3", "n4", "n5"])

    def test_shapes_of_inputs(self):
        ended = self.surgeon(chain(), "sanitize", "--override-input-shapes", "x:[3,8]")
        self.assertRegex(ended.out, r"Overriding input shapes to:\n +\{x \[dtype=float32, shape=\(3, 8\)\]\}")
        graph = self.made().graph
        sizes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                 for values in (graph.input, graph.output, graph.value_info) for v in values}
        self.assertEqual(sizes, dict.fromkeys("xabcyz", [3, 8]))
        wrong = self.surgeon(chain(), "sanitize", "--override-inputs", "nosuch:[3,8]", code=1)
        self.assertIn("[!] Tensor: nosuch does not exist in the model.", wrong.err)

    def test_a_tensor_within_becomes_an_input(self):
        self.surgeon(chain(), "sanitize", "--override-input-shapes", "b:[3,8]")
        graph = self.made().graph
        onnx.checker.check_model(self.made(), full_check=True)
        self.assertEqual([i.name for i in graph.input], ["x", "b"])
        self.assertEqual([d.dim_value for d in graph.input[1].type.tensor_type.shape.dim], [3, 8])
        made = {name for each in graph.node for name in each.output}
        self.assertNotIn("b", made)

    def test_fixed_shapes(self):
        self.surgeon(chain(), "sanitize", "--force-fallback-shape-inference")
        graph = self.made().graph
        self.assertEqual([d.dim_value for d in graph.input[0].type.tensor_type.shape.dim], [1, 8])
        self.assertEqual({v.name for v in graph.value_info}, {"a", "b", "c"})

    def test_fixed_shapes_that_no_rule_gives(self):
        """As many rows as elements are not zero: only a run tells."""
        made = model([node("NonZero", ["x"], ["n"]), node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
                      node("Exp", ["f"], ["e"]), node("Neg", ["x"], ["z"])],
                     [value("x", ("N", 3))], [value("e", None), value("z", ("N", 3))])

        def sizes(*words):
            ended = self.surgeon(made, "sanitize", "--force-fallback-shape-inference", *words)
            graph = self.made().graph
            onnx.checker.check_model(self.made(), full_check=True)
            return {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                    for values in (graph.input, graph.output, graph.value_info)
                    for v in values}, ended.out

        found, said = sizes("--val-range", "[1,2]")
        self.assertEqual(found, {"x": [1, 3], "n": [2, 3], "f": [2, 3], "e": [2, 3], "z": [1, 3]})
        self.assertRegex(said, r"Running fallback shape inference using input metadata:\n +"
                               r"\{x \[dtype=float32, shape=\(1, 3\)\]\}")
        self.assertNotIn("has no effect", said)
        found, _ = sizes("--val-range", "[1,2]", "--override-input-shapes", "x:[5,3]")
        self.assertEqual((found["x"], found["e"]), ([5, 3], [2, 15]))
        np.savez(self.path("x.npz"), x=np.eye(4, 3, dtype=np.float32))
        found, _ = sizes("--load-inputs", "x.npz")
        self.assertEqual(found, {"x": [4, 3], "n": [2, 3], "f": [2, 3], "e": [2, 3], "z": [4, 3]})

    def test_of_a_script_no_more_than_the_first_feed_is_asked_for(self):
        made = model([node("NonZero", ["x"], ["n"])], [value("x", ("N", 3))],
                     [value("n", None, TensorProto.INT64)])
        self.path("feeds.py").write_text(
            "import numpy as np\n"
            "def load_data():\n"
            "    yield {'x': np.ones((2, 3), np.float32)}\n"
            "    raise ValueError('one too many')\n")
        for tool in ("sanitize", "extract"):
            words = ["--outputs", "n:auto", "--python", sys.executable] if tool == "extract" else []
            self.surgeon(made, tool, "--force-fallback-shape-inference", "--data-loader-script",
                         "feeds.py", *words)
            sizes = [d.dim_value for d in self.made().graph.output[0].type.tensor_type.shape.dim]
            self.assertEqual(sizes, [2, 6], tool)

    def test_fixed_shapes_of_what_cannot_run(self):
        made = model([node("Mine", ["x"], ["m"], domain="nowhere"), node("Exp", ["m"], ["y"])],
                     [value("x")], [value("y")])
        made.opset_import.append(helper.make_opsetid("nowhere", 1))
        ended = self.surgeon(made, "sanitize", "--force-fallback-shape-inference", code=6)
        self.assertIn("--force-fallback-shape-inference: ", ended.err)
        self.assertIn("Mine", ended.err)
        self.assertFalse(self.path("o.onnx").exists())

    def test_bounds(self):
        ended = self.surgeon(surgeon_models.ranges(), "sanitize", "--set-unbounded-dds-upper-bound",
                             "6")
        self.assertIn("[I] Set tensor upper bounds: {'top': 6}", ended.out)
        self.same_values({"x": np.array([3, 5, 4])})
        self.assertEqual(len(outputs_of(self.path("o.onnx"), {"x": np.array([99])})[0]), 6)
        unknown = self.surgeon(surgeon_models.ranges(), "sanitize",
                               "--set-unbounded-dds-upper-bound", "nosuch:6", code=1)
        self.assertIn("the model has no tensor 'nosuch'", unknown.err)
        word = self.surgeon(surgeon_models.ranges(), "sanitize", "--set-unbounded-dds-upper-bound",
                            "top:many", code=2)
        self.assertIn("expected [TENSOR:]NUMBER, got 'top:'many''", word.err)

    def test_half_precision(self):
        self.surgeon(chain(), "sanitize", "--fp-to-fp16")
        self.assertEqual(self.weights()["w"].dtype, np.float16)

    def test_weights_outside_of_the_file(self):
        made = surgeon_models.foldable()
        onnx.save(made, str(self.path("m.onnx")), save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        self.operate("m.onnx", "sanitize", "--fold-constants")
        self.same_values({"x": self.x})
        self.operate("m.onnx", "sanitize", "--cleanup", "--save-external-data", "new.bin",
                     "--external-data-size-threshold", "0")
        self.same_values({"x": self.x})
        self.assertTrue(self.path("new.bin").exists())
        self.path("w.bin").unlink()
        gone = self.operate("m.onnx", "sanitize", "--cleanup", code=3)
        self.assertIn("w.bin", gone.err)

    def test_options_without_effect(self):
        ended = self.surgeon(chain(), "sanitize", "--num-passes", "2", "--seed", "3")
        self.assertIn("[W] Argument: '--num-const-fold-passes' will be ignored since constant folding"
                      " is not enabled.", ended.out)
        self.assertIn("[W] --seed has no effect", ended.out)

    def test_bad_input_writes_nothing(self):
        for words, code, said in (
                (["--fold-constants", "--fold-size-threshold", "much"], 2, "much"),
                (["--fold-constants", "--num-passes", "-1"], 2, "--num-passes: expected a number >= 0"),
                (["--outputs", "nosuch"], 1, "nosuch"),
                (["--fold-constants", "--onnxrt-lib", "/nowhere.so"], 5, "/nowhere.so")):
            with self.subTest(words=words):
                ended = self.surgeon(surgeon_models.foldable(), "sanitize", *words, code=code)
                self.assertIn(said, ended.err)
                self.assertFalse(self.path("o.onnx").exists())
        self.path("m.onnx").write_bytes(b"no model at all")
        self.operate("m.onnx", "sanitize", "--cleanup", code=3)


class Insert(Surgeon):
    def test_what_reads_within_bodies_is_rewired(self):
        bodies = {which: helper.make_graph([node(op, ["a"], [which])], which, [], [value(which)])
                  for which, op in (("then_branch", "Neg"), ("else_branch", "Abs"))}
        made = model([node("Relu", ["x"], ["a"]), node("If", ["c"], ["y"], **bodies)],
                     [value("x"), value("c", (), TensorProto.BOOL)], [value("y")])
        self.surgeon(made, "insert", "--inputs", "a", "--outputs", "a", "--op", "Exp")
        x = np.ones((2, 8), np.float32)
        after = outputs_of(self.path("o.onnx"), {"x": x, "c": np.array(True)})[0]
        np.testing.assert_allclose(after, -np.exp(x), rtol=1e-6)

    def test_names_that_are_not_there(self):
        for words in (["--inputs", "nosuch", "--outputs", "b"], ["--inputs", "a", "--outputs",
                                                                 "nosuch"]):
            ended = self.surgeon(chain(), "insert", *words, "--op", "Neg", code=1)
            self.assertIn("[!] Tensor: nosuch does not exist in the model.", ended.err)
            self.assertFalse(self.path("o.onnx").exists())

    def test_what_cannot_be(self):
        ended = self.surgeon(chain(), "insert", "--inputs", "c", "--outputs", "a", "--op", "Neg",
                             code=3)
        self.assertIn("wait for each other", ended.err)
        ended = self.surgeon(chain(), "insert", "--inputs", "a", "--outputs", "w", "--op", "Neg",
                             code=2)
        self.assertIn("'w' is an input or a constant", ended.err)
        ended = self.surgeon(chain(), "insert", "--inputs", "a", "--outputs", "b", "--op", "Neg",
                             "--attrs", "mixed=[1,word]", code=2)
        self.assertIn("--attrs: expected NAME=VALUE", ended.err)


class Weights(Surgeon):
    def test_two_of_four_are_zero(self):
        self.surgeon(surgeon_models.weights(), "prune")
        before, after = self.weights("m.onnx"), self.weights()
        for name, axis in (("conv", 1), ("gemm", 1), ("turned", 1), ("half", 0)):
            old, new = (np.moveaxis(w[name], axis, -1).reshape(-1, 4) for w in (before, after))
            self.assertEqual(set((new == 0).sum(axis=1)), {2}, name)
            kept = np.where(new == 0, old, 0)
            self.assertTrue((np.abs(kept).max(axis=1) <= np.where(new == 0, np.inf, np.abs(new))
                             .min(axis=1)).all(), name)
        for name in ("bias", "odd"):
            self.assertEqual(before[name].tobytes(), after[name].tobytes())

    def test_bfloat16_and_typed_fields(self):
        for dtype, bits in ((TensorProto.BFLOAT16, 16), (TensorProto.FLOAT, 32)):
            values = [0.5, -4, 3, -0.25]
            for raw in (False, True):
                tensor = helper.make_tensor("w", dtype, (4, 1), values)
                if raw:
                    tensor = numpy_helper.from_array(numpy_helper.to_array(tensor), "w")
                self.surgeon(model([node("MatMul", ["x", "w"], ["y"])],
                                   [value("x", ("N", 4), dtype)], [value("y", ("N", 1), dtype)],
                                   [tensor]), "prune")
                new = self.weights()["w"].astype(np.float32).ravel().tolist()
                self.assertEqual(new, [0, -4, 3, 0], (dtype, raw))

    def test_stripped_and_reconstructed(self):
        self.surgeon(surgeon_models.weights(), "prune")
        self.path("o.onnx").rename(self.path("sparse.onnx"))
        ended = self.operate("sparse.onnx", "weight-strip")
        self.assertIn("[I] Found sparse tensor: conv", ended.out)
        self.assertIn("Finished stripping", ended.out)
        marks = {w.name: w.doc_string for w in self.made().graph.initializer}
        self.assertEqual(marks["conv"], "TRT_WEIGHTLESS/SPARSE_2_4")
        self.assertEqual(marks["odd"], "TRT_WEIGHTLESS/")
        self.assertLess(self.path("o.onnx").stat().st_size, 2000)
        self.path("o.onnx").rename(self.path("bare.onnx"))
        again = self.operate("bare.onnx", "weight-strip", code=3)
        self.assertRegex(again.err, r"'bare\.onnx': tensor '\w+': .* needs \d+ bytes, but has 0")
        self.operate("bare.onnx", "weight-reconstruct")
        first = self.weights()
        for name, array in self.weights("sparse.onnx").items():
            self.assertEqual((first[name].shape, first[name].dtype), (array.shape, array.dtype))
        groups = np.moveaxis(first["conv"], 1, -1).reshape(-1, 4)
        self.assertEqual(set((groups == 0).sum(axis=1)), {2})
        self.assertGreater(first["odd"].std(), 0.5)
        self.assertEqual({w.name: w.doc_string for w in self.made().graph.initializer}, marks)
        outputs_of(self.path("o.onnx"), {"x": np.ones((1, 4, 8, 8), np.float32)})
        self.operate("bare.onnx", "weight-reconstruct")
        self.assertEqual({n: w.tobytes() for n, w in self.weights().items()},
                         {n: w.tobytes() for n, w in first.items()})

    def test_some_stay(self):
        self.path("keep.txt").write_text("gemm\nnosuch\n")
        ended = self.surgeon(surgeon_models.weights(), "weight-strip", "--exclude-list", "keep.txt")
        self.assertIn("were not found in the model: ['nosuch']", ended.out)
        marks = {w.name: w.doc_string for w in self.made().graph.initializer}
        self.assertEqual((marks["gemm"], marks["bias"]), ("", "TRT_WEIGHTLESS/"))
        gone = self.surgeon(surgeon_models.weights(), "weight-strip", "--exclude-list", "no.txt",
                            code=3)
        self.assertIn("no.txt", gone.err)

    def test_nothing_to_do_is_told(self):
        made = model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")])
        self.assertIn("Found: 0 weight tensor(s) eligible for pruning.",
                      self.surgeon(made, "prune").out)
        self.assertIn("Finished stripping 0 weights", self.surgeon(made, "weight-strip").out)
        self.assertIn("Finished reconstructing 0 weights",
                      self.surgeon(made, "weight-reconstruct").out)
        self.assertEqual(self.made().doc_string, "")


class Log(Surgeon):
    """What is told of a model before and after is what Polygraphy tells."""

    def test_lines_are_the_peers(self):
        onnx.save(surgeon_models.weights(), str(self.path("m.onnx")))
        head = [line for line in self.peer("inspect", "model", "m.onnx").lines()
                if not line.startswith("[I] ==== ONNX Model")]
        self.assertEqual(head[0], f"[I] Loading model: {self.path('m.onnx')}")
        ended = self.lenient("surgeon", "prune", "m.onnx", "-o", "o.onnx")
        self.assertEqual(ended.code, 0, ended.err)
        said = ended.lines()
        self.assertEqual(said[0], head[0])
        begin = said.index("[I] Original Model:") + 1
        self.assertEqual([line for line in said[begin:begin + len(head)] if line][:len(head[1:])],
                         [line for line in head[1:] if line][:len(head[1:])])
        self.assertIn("[I] New Model:", said)
        extracted = self.vernier("surgeon", "extract", "m.onnx", "-o", "o.onnx").lines()
        for line in head[1:]:
            self.assertIn(line, extracted)


class Sparsity(Surgeon):
    def test_which_weights_are_sparse(self):
        self.surgeon(surgeon_models.weights(), "prune")
        for path, sparse in (("o.onnx", True), ("m.onnx", False)):
            ended = self.vernier("inspect", "sparsity", path)
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn("[I] Found: 4 weight tensor(s) eligible for pruning.", ended.out)
            for name in ("conv", "gemm", "turned", "half"):
                line = f"[I] Found sparse tensor: {name}\n" if sparse else (
                    f"[W] Found non-sparse tensor: {name}\n")
                self.assertIn(line, ended.out)
            ended = self.vernier("inspect", "sparsity", path, "--format", "json")
            seen = {each["name"]: each["sparse"] for each in json.loads(ended.out)["weights"]}
            self.assertEqual(seen, dict.fromkeys(("conv", "gemm", "turned", "half"), sparse))
        self.assertEqual(self.vernier("inspect", "sparsity", "gone.onnx").code, 3)
        ended = self.vernier("inspect", "sparsity", "gone.onnx", "--format", "json")
        self.assertEqual((ended.code, ended.out), (3, ""))
