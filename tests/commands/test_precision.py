"""vernier debug precision: the planted nodes are found, no others, and the model has the types."""

import json
import sys

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper, shape_inference

from program import Case
from surgeon_models import constant, model, node, value

# Fails where the model is further from the reference than a float16 model has to be. ONNX Runtime
# computes most of float16 in float32 on a CPU; the reference implementation does as it is told.
CHECK = """
import sys, numpy as np, onnx.reference
open("calls.txt", "a").write("x")
got = onnx.reference.ReferenceEvaluator(sys.argv[1]).run(None, {"x": np.load("x.npy")})[0]
sys.exit(0 if np.allclose(got, np.load("y.npy"), rtol=0.02, atol=0.02) else 1)
"""


def scalar(name, number):
    return numpy_helper.from_array(np.array(number, np.float32), name)


def overflowing(prefix, source, target):
    """A square of 1e6, and back: only with both nodes in float32 it is finite."""
    return [node("Mul", [source, "thousand"], [prefix + "s"], name=prefix + "scale"),
            node("Mul", [prefix + "s", prefix + "s"], [prefix + "q"], name=prefix + "square"),
            node("Mul", [prefix + "q", "millionth"], [target], name=prefix + "back")]


def cancelling(prefix, source, target):
    """Adds a large number and takes it away: float16 has no digits left between."""
    return [node("Add", [source, "large"], [prefix + "up"], name=prefix + "add"),
            node("Sub", [prefix + "up", "large"], [target], name=prefix + "subtract")]


def rescaling(prefix, source, target):
    """Two weights that float16 does not have, and that cancel each other."""
    return [node("Mul", [source, "tiny"], [prefix + "d"], name=prefix + "down"),
            node("Mul", [prefix + "d", "huge"], [target], name=prefix + "up")]


def exploding(prefix, source, target):
    """exp(20 x) and its logarithm, which float16 can hold up to x = 0.55."""
    return [node("Mul", [source, "twenty"], [prefix + "t"], name=prefix + "times"),
            node("Exp", [prefix + "t"], [prefix + "e"], name=prefix + "exp"),
            node("Log", [prefix + "e"], [prefix + "l"], name=prefix + "log"),
            node("Mul", [prefix + "l", "twentieth"], [target], name=prefix + "part")]


def summing(prefix, source, target):
    """A sum of large numbers is beyond float16, their mean is not."""
    return [node("Mul", [source, "wide"], [prefix + "w"], name=prefix + "widen"),
            node("ReduceSum", [prefix + "w", "all"], [prefix + "s"], name=prefix + "sum",
                 keepdims=1),
            node("Mul", [prefix + "s", "part"], [prefix + "m"], name=prefix + "mean"),
            node("Add", [source, prefix + "m"], [target], name=prefix + "shift")]


def chain(prefix, source, target, length):
    nodes, last = [], source
    for i in range(length):
        name = target if i == length - 1 else f"{prefix}{i}"
        nodes.append(node(("Relu", "Neg", "Neg", "Abs")[i % 4], [last], [name],
                          name=f"{prefix}n{i}"))
        last = name
    return nodes


def planted(*faults):
    """30 harmless nodes and these faults, one behind the other."""
    nodes, last = chain("before", "x", "a", 15), "a"
    for i, fault in enumerate(faults):
        nodes += fault(f"f{i}", last, f"f{i}out")
        last = f"f{i}out"
    nodes += chain("after", last, "y", 15)
    read = {name for n in nodes for name in n.input}
    weights = [scalar("thousand", 1000), scalar("millionth", 1e-6), scalar("large", 4096),
               scalar("tiny", 1e-8), scalar("huge", 1e8), scalar("twenty", 20),
               scalar("twentieth", 0.05), scalar("wide", 9000), scalar("part", 1 / 288000),
               numpy_helper.from_array(np.array([0, 1]), "all")]
    return model(nodes, [value("x", (4, 8))], [value("y", (4, 8))],
                 [weight for weight in weights if weight.name in read])


class Precision(Case):
    x = np.random.default_rng(3).random((4, 8)).astype(np.float32)

    def setUp(self):
        super().setUp()
        self.path("check.py").write_text(CHECK)

    def search(self, made, *words, code=0, check=None):
        onnx.checker.check_model(made)
        onnx.save(made, str(self.path("m.onnx")))
        reference = onnx.reference.ReferenceEvaluator(made).run(None, {"x": self.x})[0]
        np.save(self.path("x.npy"), self.x)
        np.save(self.path("y.npy"), reference)
        check = check or ["--check", sys.executable, "check.py", "polygraphy_debug.onnx"]
        ended = self.vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx", *words, *check)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def kept(self, ended):
        """Names of the nodes that were reported."""
        lines = ended.out.splitlines()
        begin = next(i for i, line in enumerate(lines) if "acceptable accuracy, keep" in line)
        named = (line.split("'") for line in lines[begin + 1:] if line.startswith("    "))
        return {parts[1] for parts in named if len(parts) > 2}

    def types(self):
        """The types of what each node of the new model makes."""
        made = shape_inference.infer_shapes(onnx.load(str(self.path("mixed.onnx"))),
                                            strict_mode=True)
        onnx.checker.check_model(made)
        graph = made.graph
        known = {v.name: v.type.tensor_type.elem_type
                 for v in (*graph.value_info, *graph.output)}
        return {n.name: known[n.output[0]] for n in graph.node if n.op_type != "Cast"}

    def calls(self):
        return len(self.path("calls.txt").read_text())

    def test_planted_nodes_are_found_and_no_others(self):
        for faults, wanted in (((overflowing,), {"f0square", "f0back"}),
                               ((cancelling,), {"f0add", "f0subtract"}),
                               ((rescaling,), {"f0down", "f0up"}),
                               ((exploding,), {"f0exp", "f0log"}),
                               ((summing,), {"f0sum", "f0mean"}),
                               ((overflowing, cancelling),
                                {"f0square", "f0back", "f1add", "f1subtract"})):
            with self.subTest(wanted=wanted):
                self.path("calls.txt").unlink(missing_ok=True)
                ended = self.search(planted(*faults))
                self.assertEqual(self.kept(ended), wanted)
                types = self.types()
                self.assertEqual({name for name, of in types.items() if of == TensorProto.FLOAT},
                                 wanted)
                self.assertEqual(set(types.values()), {TensorProto.FLOAT, TensorProto.FLOAT16})
                # None in float16, unless values speak against that; those that evidence names, and
                # without each of these.
                tried = 1 if overflowing in faults or summing in faults else 2
                self.assertLessEqual(self.calls(), tried + len(wanted) + 2 * (len(faults) - 1))
                self.assertIn("vernier convert mixed.onnx --strongly-typed -o mixed.engine",
                              ended.out)
                self.assertFalse(self.path("polygraphy_debug.onnx").exists())

    def test_other_modes_find_the_same(self):
        wanted = {"f0square", "f0back"}
        for words in (["--mode", "linear"], ["--dir", "reverse"], ["--jobs", "2"], ["--fp16"]):
            with self.subTest(words=words):
                self.assertEqual(self.kept(self.search(planted(overflowing), *words)), wanted)

    def test_our_own_comparison(self):
        ended = self.search(planted(rescaling), check=[
            "--", "--onnxrt", "--atol", "0.02", "--rtol", "0.02"])
        self.assertEqual(self.kept(ended), {"f0down", "f0up"})
        self.assertIn("vernier run polygraphy_debug.onnx --onnxrt", ended.out)
        ended = self.search(planted(overflowing), code=2, check=["--", "--onnxrt", "--rtol", "-1"])
        self.assertIn("--rtol", ended.err)

    def test_without_errors_of_nodes_operators_decide(self):
        ended = self.search(planted(cancelling), "--onnxrt-lib", "/nowhere.so")
        self.assertIn("operators alone decide where to begin", ended.out)
        self.assertEqual(self.kept(ended), {"f0add", "f0subtract"})

    def test_evidence_takes_one_session_of_each_model(self):
        made = model(chain("n", "x", "y", 150), [value("x", (4, 8))], [value("y", (4, 8))])
        ended = self.search(made, "-v")
        self.assertEqual(ended.out.count("Creating ONNX-Runtime Inference Session"), 2, ended.out)

    def test_everything_needs_float32(self):
        # The check passes with every node in float32 alone.
        check = ("import sys, onnx; open('calls.txt', 'a').write('x'); "
                 "made = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1])).graph; "
                 "of = {v.name: v.type.tensor_type.elem_type for v in [*made.value_info, "
                 "*made.output]}; "
                 "sys.exit(any(of[n.output[0]] != 1 for n in made.node if n.op_type != 'Cast'))")
        nodes = chain("n", "x", "y", 6)
        ended = self.search(model(nodes, [value("x", (4, 8))], [value("y", (4, 8))]),
                            check=["--check", sys.executable, "-c", check, "polygraphy_debug.onnx"])
        self.assertEqual(self.kept(ended), {n.name for n in nodes})
        self.assertLess(self.calls(), 40)

    def test_the_search_ends_when_its_checks_are_spent(self):
        # Every other node is needed.
        wanted = {f"n{i}" for i in range(0, 40, 2)}
        check = ("import sys, onnx; open('calls.txt', 'a').write('x'); "
                 "made = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1])).graph; "
                 "of = {v.name: v.type.tensor_type.elem_type for v in [*made.value_info, "
                 "*made.output]}; "
                 "held = {n.name for n in made.node if n.op_type == 'Neg' and of[n.output[0]] == 1}; "
                 f"sys.exit(not {wanted!r} <= held)")
        nodes = [node("Neg", [f"t{i}" if i else "x"], [f"t{i + 1}" if i < 39 else "y"],
                      name=f"n{i}") for i in range(40)]
        made = model(nodes, [value("x", (4, 8))], [value("y", (4, 8))])
        check = ["--check", sys.executable, "-c", check, "polygraphy_debug.onnx"]
        ended = self.search(made, "--max-checks", "12", check=check)
        self.assertEqual(self.calls(), 12)
        self.assertLessEqual(wanted, self.kept(ended))
        self.assertIn("The search ended after 12 checks (--max-checks)", ended.out)
        # What is written is what passed.
        self.assertLessEqual(wanted, {name for name, of in self.types().items()
                                      if of == TensorProto.FLOAT})
        ended = self.search(made, "--max-checks", "1", code=1, check=check)
        self.assertIn("no set of nodes passed within 1 check", ended.err)
        self.assertIn("--max-checks: expected a number >= 1",
                      self.search(made, "--max-checks", "0", code=2, check=check).err)

    def test_options_that_nobody_uses_are_told(self):
        ended = self.search(planted(), "--pool-limit", "workspace:1G", "--sparse-weights", "--fp16")
        for flag in ("--pool-limit", "--sparse-weights"):
            self.assertIn(flag + " has no effect: nothing here builds an engine", ended.out)
        self.assertNotIn("--fp16 has no effect", ended.out)

    def test_nothing_needs_float32(self):
        ended = self.search(planted())
        self.assertIn("none needs float32", ended.out)
        self.assertEqual(self.calls(), 1)
        self.assertEqual(set(self.types().values()), {TensorProto.FLOAT16})

    def test_no_set_is_enough(self):
        ended = self.search(planted(overflowing), code=1,
                            check=["--check", sys.executable, "-c",
                                   "import sys; 'polygraphy_debug.onnx'; sys.exit(1)"])
        self.assertIn("Could not find a configuration that satisfied accuracy requirements.",
                      ended.err)
        self.assertFalse(self.path("mixed.onnx").exists())

    def test_a_node_in_a_body(self):
        bodies = {"then_branch": helper.make_graph(
            [constant("thousand2", np.float32(1000)), node("Mul", ["a", "thousand2"], ["s"], name="scale"),
             node("Mul", ["s", "s"], ["q"], name="square"),
             node("Mul", ["q", "millionth"], ["t"], name="back")], "then", [], [value("t", (4, 8))]),
            "else_branch": helper.make_graph(
                [node("Neg", ["a"], ["e"], name="other")], "else", [], [value("e", (4, 8))])}
        made = model(chain("before", "x", "a", 5) + [node("If", ["yes"], ["b"], name="if", **bodies)]
                     + chain("after", "b", "y", 5), [value("x", (4, 8))], [value("y", (4, 8))],
                     [scalar("millionth", 1e-6), numpy_helper.from_array(np.array(True), "yes")])
        self.assertEqual(self.kept(self.search(made)), {"square", "back"})

    def test_what_leaves_a_body_can_stay_in_float32(self):
        # Rounded once at its output, the value would miss the bars.
        bodies = {name: helper.make_graph([node(op, ["x"], [out], name=out)], name, [],
                                          [value(out, (4, 8))])
                  for name, op, out in (("then_branch", "Neg", "t"), ("else_branch", "Abs", "e"))}
        made = model([node("If", ["yes"], ["b"], name="if", **bodies),
                      node("Neg", ["b"], ["y"], name="behind")], [value("x", (4, 8))],
                     [value("y", (4, 8))], [numpy_helper.from_array(np.array(True), "yes")])
        self.path("check.py").write_text(CHECK.replace("0.02", "1e-6"))
        self.assertEqual(self.kept(self.search(made)), {"t", "if", "behind"})

    def test_what_overflows_is_kept_though_onnxruntime_does_not_see_it(self):
        # Between two nodes it keeps float32, and so the square, its mean and the root are finite.
        nodes = [node("Mul", ["x", "wide"], ["w"], name="widen"),
                 node("Mul", ["w", "w"], ["q"], name="square"),
                 node("ReduceMean", ["q"], ["m"], name="mean", axes=[1]),
                 node("Sqrt", ["m"], ["r"], name="root"),
                 node("Div", ["w", "r"], ["y"], name="divide")]
        made = model(nodes, [value("x", (4, 8))], [value("y", (4, 8))], [scalar("wide", 9000)])
        ended = self.search(made, check=["--", "--onnxrt", "--atol", "0.02", "--rtol", "0.02"])
        self.assertEqual(self.kept(ended), {"square", "mean", "root"})
        self.assertIn("cannot show what overflows: 3 nodes with values that float16 does not have "
                      "stay float32", ended.out)
        reference = onnx.reference.ReferenceEvaluator(str(self.path("mixed.onnx")))
        np.testing.assert_allclose(reference.run(None, {"x": self.x})[0], np.load(self.path("y.npy")),
                                   rtol=0.02)
        # A command may not compute in float16 either.
        ended = self.search(made, check=["--check", "true", "polygraphy_debug.onnx"])
        self.assertIn("none needs float32", ended.out)
        self.assertIn("The check passes, though 3 nodes in float16 (Mul 'square' and others) would "
                      "have values that float16 does not have", ended.out)

    def attention(self, last=7, plain=False):
        """Scores of which those from `last` on are masked away with the least of float32. `plain`: what
        masks is a result of the model, too."""
        mask = np.where(np.arange(8) < last, 0, np.finfo(np.float32).min).astype(np.float32)
        nodes = [*chain("before", "x", "a", 4),
                 node("Unsqueeze", ["mask", "first"], ["row"], name="row"),
                 node("Add", ["a", "row"], ["masked"], name="hide"),
                 node("Softmax", ["masked"], ["p"], name="softmax", axis=1),
                 *chain("after", "p", "y", 4)]
        if plain:
            nodes.append(node("Neg", ["masked"], ["seen"], name="look"))
        results = [value("y", (4, 8))] + [value("seen", (4, 8))] * plain
        return model(nodes, [value("x", (4, 8))], results,
                     [numpy_helper.from_array(mask, "mask"),
                      numpy_helper.from_array(np.array([0]), "first")])

    def test_a_mask_that_ends_in_softmax_needs_no_float32(self):
        own = ["--", "--onnxrt", "--atol", "0.02", "--rtol", "0.02"]
        ended = self.search(self.attention(), check=own)
        self.assertIn("none needs float32", ended.out)
        self.assertNotIn("values that float16 does not have", ended.out)
        reference = onnx.reference.ReferenceEvaluator(str(self.path("mixed.onnx")))
        np.testing.assert_allclose(reference.run(None, {"x": self.x})[0], np.load(self.path("y.npy")),
                                   rtol=0.02, atol=0.02)

    def test_a_mask_that_is_read_otherwise_does(self):
        # A row in which nothing is left: the mask itself decides what Softmax makes of it.
        passes = ["--check", "true", "polygraphy_debug.onnx"]
        for made in (self.attention(last=0), self.attention(plain=True)):
            self.assertIn("would have values that float16 does not have",
                          self.search(made, check=passes).out)

    def test_what_only_kept_nodes_read_is_not_cast(self):
        self.search(planted(overflowing))
        graph = onnx.load(str(self.path("mixed.onnx"))).graph
        read = {name for n in graph.node for name in n.input} | {o.name for o in graph.output}
        self.assertEqual([n.name for n in graph.node if not set(n.output) & read], [])
        # It keeps its name.
        (square,) = [n for n in graph.node if n.name == "f0square"]
        self.assertEqual(list(square.output), ["f0q"])

    def test_constants_of_a_kept_node_are_not_rounded(self):
        made = model([constant("tiny", np.float32(1e-8)), constant("huge", np.float32(1e8)),
                      *chain("before", "x", "a", 4), node("Mul", ["a", "tiny"], ["b"], name="down"),
                      node("Mul", ["b", "huge"], ["c"], name="up"), *chain("after", "c", "y", 4)],
                     [value("x", (4, 8))], [value("y", (4, 8))])
        self.assertEqual(self.kept(self.search(made)), {"down", "up"})

    def test_a_session_is_taken_up(self):
        made = planted(overflowing)
        wanted = self.kept(self.search(made, "--save-debug-replay", "r.json"))
        whole = self.calls()
        replay = json.loads(self.path("r.json").read_text())
        self.assertEqual(len(replay), whole)
        self.path("r.json").write_text(json.dumps(dict(list(replay.items())[:2])))
        self.path("calls.txt").unlink()
        ended = self.search(made, "--load-debug-replay", "r.json")
        self.assertEqual((self.kept(ended), self.calls()), (wanted, whole - 2))
        # What was found out about the nodes of another model is not believed.
        other = self.search(planted(cancelling), "--load-debug-replay", "r.json")
        self.assertEqual(self.kept(other), {"f0add", "f0subtract"})

    def test_sizes_are_found_that_the_model_runs_with(self):
        made = model([node("Pad", ["x", "pads"], ["padded"], name="pad", mode="reflect"),
                      *cancelling("f", "padded", "y")],
                     [value("x", ("n", "m"))], [value("y", ("n", "k"))],
                     [numpy_helper.from_array(np.array([0, 3, 0, 3]), "pads"),
                      scalar("large", 4096)])
        ended = self.search(made)
        self.assertIn("it ran with x (1, 4) ('m' = 4), which is used", ended.out)
        self.assertNotIn("cannot be measured", ended.out + ended.err)
        self.assertEqual(self.kept(ended), {"fadd", "fsubtract"})

    def test_bad_input(self):
        for words, code, said in ((["--int8"], 5, "--int8: here debug precision lowers"),
                                  (["-p", "float16"], 5, "--precision float16"),
                                  (["--jobs", "0"], 2, "--jobs: expected a number >= 1"),
                                  (["--jobs", "2", "--artifacts", "a"], 2, "leave out --artifacts")):
            with self.subTest(words=words):
                self.assertIn(said, self.search(planted(), *words, code=code).err)
        integers = model([node("Neg", ["x"], ["y"])], [value("x", (4, 8), TensorProto.INT64)],
                         [value("y", (4, 8), TensorProto.INT64)])
        onnx.save(integers, str(self.path("i.onnx")))
        ended = self.vernier("debug", "precision", "i.onnx", "--check", "true")
        self.assertEqual(ended.code, 1)
        self.assertIn("no node that computes with float32", ended.err)
