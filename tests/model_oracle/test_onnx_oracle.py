"""Checks the ONNX reader and editor against the onnx package, Polygraphy's loaders and ONNX Runtime.

    VERNIER_ONNX_DRIVER=build/onnx_driver [VERNIER_TEST_MODELS=folder] python3 test_onnx_oracle.py

Needs onnx, onnxruntime and polygraphy. Models: those under tests/data/models, the `light` ones of
the onnx package, and those of the folders in VERNIER_TEST_MODELS (separated by colons).
"""

import fnmatch
import glob
import difflib
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from polygraphy import constants
from polygraphy.backend.onnx import ModifyOutputs
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {
    "tensor_type": "tensor", "sparse_tensor_type": "sparse_tensor", "sequence_type": "sequence",
    "map_type": "map", "optional_type": "optional", "opaque_type": "opaque", None: "untyped",
}  # fmt: skip
KNOWN_DTYPES = 23  # the largest TensorProto.DataType that vernier knows
G_LOGGER.module_severity = G_LOGGER.CRITICAL + 100


def model_paths():
    folders = [os.path.join(HERE, "..", "data", "models")]
    folders += [f for f in os.environ.get("VERNIER_TEST_MODELS", "").split(":") if f]
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    folders.append(os.path.join(data, "light"))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        folders += glob.glob(os.path.join(data, kind, "*"))
    return sorted(p for folder in folders for p in glob.glob(os.path.join(folder, "*.onnx")))


class Driver:
    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["VERNIER_ONNX_DRIVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the driver died with {self.process.wait()} on {request}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class OracleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = Driver()
        cls.folder = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        cls.driver.close()
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


def value_of(value):
    kind = value.type.WhichOneof("value")
    entry = {"name": value.name, "kind": KINDS[kind], "dtype": 0, "shape": None, "onnx_type": 0}
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(value.type, kind)
        entry["onnx_type"] = tensor.elem_type
        entry["dtype"] = tensor.elem_type if tensor.elem_type <= KNOWN_DTYPES else 0
        if tensor.HasField("shape"):
            entry["shape"] = []
            for dim in tensor.shape.dim:
                which = dim.WhichOneof("value")
                size = getattr(dim, which) if which else -1
                entry["shape"].append(-1 if size == "" or (which == "dim_value" and size < 0) else size)
    return entry


def node_of(node):
    subgraphs = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            subgraphs.append([attribute.name, graph_of(attribute.g)])
        subgraphs += [[attribute.name, graph_of(graph)] for graph in attribute.graphs]
    attributes = [
        {
            "name": a.name, "type": a.type, "f": a.f, "i": a.i, "s": a.s.decode("utf-8", "replace"),
            "ints": list(a.ints), "floats": list(a.floats),
            "strings": [s.decode("utf-8", "replace") for s in a.strings],
        }
        for a in node.attribute
    ]  # fmt: skip
    return {
        "name": node.name, "op_type": node.op_type, "domain": node.domain,
        "inputs": list(node.input), "outputs": list(node.output),
        "attributes": attributes, "subgraphs": subgraphs,
    }  # fmt: skip


def graph_of(graph):
    return {
        "name": graph.name,
        "nodes": [node_of(node) for node in graph.node],
        "inputs": [value_of(v) for v in graph.input],
        "outputs": [value_of(v) for v in graph.output],
        "value_info": [value_of(v) for v in graph.value_info],
        "initializers": [
            {
                "name": t.name, "onnx_type": t.data_type, "dims": list(t.dims),
                "external": t.data_location == TensorProto.EXTERNAL, "raw_size": len(t.raw_data),
            }
            for t in graph.initializer
        ],
    }  # fmt: skip


def normal(value):
    """JSON's view of a structure; NaN attributes become equal to themselves."""
    text = json.dumps(value).replace("NaN", "null").replace("-Infinity", "null")
    return json.loads(text.replace("Infinity", "null"))


class Reading(OracleTest):
    def test_structure_is_that_of_the_onnx_package(self):
        paths = model_paths()
        self.assertGreater(len(paths), 20)
        for path in paths:
            with self.subTest(path=path):
                model = onnx.load(path, load_external_data=False)
                ours = self.driver(op="info", path=path)
                self.assertNotIn("error", ours)
                self.assertEqual(ours["ir_version"], model.ir_version)
                self.assertEqual(ours["producer_name"], model.producer_name)
                self.assertEqual(ours["opsets"], [[o.domain, o.version] for o in model.opset_import])
                self.assertEqual(ours["metadata"], [[e.key, e.value] for e in model.metadata_props])
                self.assertEqual(normal(ours["graph"]), normal(graph_of(model.graph)))
                functions = [
                    {
                        "name": f.name, "domain": f.domain, "inputs": list(f.input),
                        "outputs": list(f.output), "body": [node_of(n) for n in f.node],
                    }
                    for f in model.functions
                ]  # fmt: skip
                self.assertEqual(normal(ours["functions"]), normal(functions))

    def test_order_puts_producers_first(self):
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            order = self.driver(op="info", path=path)["order"]
            with self.subTest(path=path):
                self.assertEqual(sorted(order), list(range(len(model.graph.node))))
                seen = set()
                produced = {o for n in model.graph.node for o in n.output}
                for index in order:
                    node = model.graph.node[index]
                    self.assertLessEqual(produced & set(node.input) - {""}, seen | {""})
                    seen |= set(node.output)

    def test_required_inputs_are_those_of_onnx_runtime(self):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        checked = 0
        for path in model_paths():
            try:
                session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
            except Exception:
                continue  # broken on purpose, or operators that it lacks
            checked += 1
            with self.subTest(path=path):
                ours = self.driver(op="info", path=path)["required"]
                self.assertEqual(ours, [i.name for i in session.get_inputs()])
        self.assertGreater(checked, 20)

    def test_whatever_is_accepted_the_onnx_package_accepts(self):
        rng = random.Random(3)
        seeds = [p for p in model_paths() if os.path.getsize(p) < 3000]
        refused_by_us_only = accepted = 0
        for _ in range(int(os.environ.get("VERNIER_FUZZ_COUNT", "20000"))):
            with open(rng.choice(seeds), "rb") as file:
                data = bytearray(file.read())
            for _ in range(rng.choice([1, 1, 1, 2, 4])):
                draw = rng.random()
                at = rng.randrange(len(data))
                if draw < 0.5:
                    data[at] ^= 1 << rng.randrange(8)
                elif draw < 0.7:
                    data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
                elif draw < 0.8:
                    del data[at:]
                elif draw < 0.9:
                    data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 12)))
                else:
                    del data[at : at + rng.randrange(1, 9)]
                if not data:
                    data = bytearray(b"\0")
            ours = self.driver(op="accept", hex=bytes(data).hex())
            try:
                model = onnx.load_from_string(bytes(data))
                theirs = model.HasField("graph")
            except Exception:
                theirs = False
            if ours.get("accepted"):
                accepted += 1
                self.assertTrue(theirs, f"only vernier accepts {bytes(data).hex()}")
            elif theirs:
                refused_by_us_only += 1
                self.assertRegex(ours["error"], "wire type [34] is not used", bytes(data).hex())
        self.assertGreater(accepted, 100)


def select_with_peer(model, outputs, by_type, exclude):
    if outputs in (["*"], ["mark", "all"]):
        outputs = constants.MARK_ALL
    loader = ModifyOutputs(model, outputs=outputs, mark_types=by_type, exclude_outputs=exclude, copy=True)
    return loader()


class Selecting(OracleTest):
    def check(self, path, model, outputs=None, by_type=None, exclude=None):
        ours = self.driver(op="edit", path=path, outputs=outputs, by_type=by_type, exclude=exclude)
        label = f"{path} {outputs} {by_type} {exclude}"
        try:
            theirs = [o.name for o in select_with_peer(model, outputs, by_type, exclude).graph.output]
        except PolygraphyException as error:
            self.assertIn("error", ours, label)
            self.assertEqual(ours["error"].split("{")[0], str(error).split("{")[0], label)
            return "error"
        if not theirs and (outputs or exclude):  # the peer goes on to fail in the runtime
            self.assertIn("error", ours, label)
            return "error"
        self.assertNotIn("error", ours, label)
        self.assertEqual(ours["names"], theirs, label)
        return "names"

    def test_same_names_in_the_same_order(self):
        rng = random.Random(1)
        seen = {"error": 0, "names": 0}
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            names = [o for n in model.graph.node for o in n.output if o]
            if len(names) > 300 or any(c in name for name in names for c in "*?[]"):
                continue  # names with a pattern's characters: differs on purpose
            names += [i.name for i in model.graph.input] + [i.name for i in model.graph.initializer]
            types = sorted({n.op_type for n in model.graph.node})
            for _ in range(20):
                draw = lambda: [self.word(rng, names) for _ in range(rng.randrange(1, 4))]
                outputs = rng.choice([None, ["*"], ["mark", "all"], draw(), draw()])
                by_type = rng.choice([None, None, [rng.choice(types + ["conv", "ADD", "nope"])]])
                exclude = rng.choice([None, draw()])
                seen[self.check(path, model, outputs, by_type, exclude)] += 1
        self.assertGreater(min(seen.values()), 100)

    @staticmethod
    def word(rng, names):
        if not names or rng.random() < 0.1:
            return rng.choice(["nope", "*", "nope*", "?"])
        name = rng.choice(names)
        draw = rng.random()
        if draw < 0.5:
            return name
        at = rng.randrange(len(name) + 1)
        return rng.choice([name[:at] + "*", "*" + name[at:], name[:at] + "?" + name[at + 1 :], "[!a]*"])

    def test_a_name_that_exists_is_no_pattern(self):
        nodes = [helper.make_node("Relu", ["x"], ["a[0]"]), helper.make_node("Relu", ["a[0]"], ["a0"])]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
        model = helper.make_model(helper.make_graph(nodes, "g", [x], []))
        onnx.save(model, self.path("brackets.onnx"))
        answer = self.driver(op="edit", path=self.path("brackets.onnx"), outputs=["a[0]"])
        self.assertEqual(answer["names"], ["a[0]"])

    def test_warnings_and_suggestions_are_the_peers(self):
        path = self.path("types.onnx")
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
        nodes = [helper.make_node(op, ["x"], [op]) for op in ("Relu", "Selu", "Sigmoid", "Softmax")]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [x])), path)
        log = self.driver(op="edit", path=path, outputs=["Relu", "n*"], by_type=["Rely", "zzz"])["log"]
        types = {"Relu", "Selu", "Sigmoid", "Softmax"}
        similar = difflib.get_close_matches("Rely", types, n=5, cutoff=0.6)
        self.assertEqual(
            [(line["severity"], line["text"]) for line in log],
            [
                (30, "No tensors matched wildcard pattern: 'n*'"),
                (40, "No ONNX nodes of op type 'Rely' were found in the model."
                     f" Did you mean one of: {similar}?"),
                (40, "No ONNX nodes of op type 'zzz' were found in the model."
                     f" Available op types: {sorted(types)}"),
            ],
        )  # fmt: skip

    def test_patterns_are_fnmatchcase(self):
        rng = random.Random(5)
        alphabet = "aabbcé*?[]!-^\\x"
        pairs = []
        for _ in range(30000):
            pattern = "".join(rng.choice(alphabet) for _ in range(rng.randrange(9)))
            name = "".join(rng.choice("abcéx-]!^[\\") for _ in range(rng.randrange(6)))
            pairs.append([name, pattern])
        ours = self.driver(op="fnmatch", pairs=pairs)
        for (name, pattern), match in zip(pairs, ours):
            self.assertEqual(match, fnmatch.fnmatchcase(name, pattern), f"{name!r} {pattern!r}")

    def test_suggestions_are_difflibs(self):
        rng = random.Random(6)
        words = ["".join(rng.choice("abcdCR") for _ in range(rng.randrange(1, 9))) for _ in range(300)]
        for word in words[:100]:
            candidates = rng.sample(sorted(set(words)), 40)
            ours = self.driver(op="close", word=word, candidates=candidates)
            self.assertEqual(ours, difflib.get_close_matches(word, candidates, n=5, cutoff=0.6))


def run_model(path, seed=0):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    rng = np.random.default_rng(seed)
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
             "tensor(bool)": np.bool_, "tensor(float16)": np.float16, "tensor(double)": np.float64}  # fmt: skip
    feeds = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        feeds[value.name] = rng.integers(0, 2, shape).astype(types[value.type])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def same(a, b):
    if isinstance(a, (list, dict)) or not isinstance(a, np.ndarray):
        return True
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def loads(path_or_bytes):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(path_or_bytes, options, ["CPUExecutionProvider"])
    except Exception:
        return None


class Editing(OracleTest):
    def test_marked_models_differ_from_the_original_in_their_outputs_only(self):
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            if any(o.external_data for o in model.graph.initializer):
                continue
            saved = self.path("marked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                edited = onnx.load(saved)
                self.assertEqual([o.name for o in edited.graph.output], answer["names"])
                del edited.graph.output[:]
                del model.graph.output[:]
                self.assertEqual(edited, model)

    def test_marked_models_load_and_have_the_types_that_onnx_runtime_infers(self):
        loaded = typed = total = 0
        for path in model_paths():
            if loads(path) is None:
                continue
            saved = self.path("marked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                declared = onnx.load(saved, load_external_data=False).graph.output
                session = loads(saved)
                # Broken before: ONNX Runtime may be unable to expose some tensor at all.
                bare = onnx.load(path)
                del bare.graph.output[:]
                bare.graph.output.extend(onnx.ValueInfoProto(name=n) for n in answer["names"])
                reference = loads(bare.SerializeToString())
                if reference is None:
                    continue
                self.assertIsNotNone(session)
                loaded += 1
                found = {o.name: (o.type, o.shape) for o in reference.get_outputs()}
                for output in session.get_outputs():
                    self.assertEqual(output.type, found[output.name][0], output.name)
                    if found[output.name][1]:  # [] is a scalar or an unknown rank
                        self.assertEqual(len(output.shape), len(found[output.name][1]), output.name)
                total += len(declared)
                typed += sum(o.type.tensor_type.HasField("shape") for o in declared)
        self.assertGreater(loaded, 20)
        print(f"{loaded} marked models load; {typed} of {total} outputs have type and rank")
        self.assertGreater(typed, 0.9 * total)

    def test_marked_models_pass_the_checker(self):
        passed = 0
        for path in model_paths():
            try:
                onnx.checker.check_model(path)
            except Exception:
                continue
            saved = self.path("checked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                if answer["untyped"] or answer["unranked"]:
                    with self.assertRaises(onnx.checker.ValidationError):
                        onnx.checker.check_model(saved)
                    continue
                onnx.checker.check_model(saved)
                passed += 1
        self.assertGreater(passed, 20)

    def test_results_are_those_of_the_peers_edited_model(self):
        compared = 0
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            if os.path.getsize(path) > 1e6 or any(t.external_data for t in model.graph.initializer):
                continue
            saved, theirs = self.path("ours.onnx"), self.path("theirs.onnx")
            if "error" in self.driver(op="edit", path=path, outputs=["*"], save=saved):
                continue
            try:
                onnx.save(select_with_peer(model, ["*"], None, None), theirs)
                reference = run_model(theirs)
            except Exception:
                continue
            with self.subTest(path=path):
                ours = run_model(saved)
                self.assertEqual(list(ours), list(reference))
                if any("Random" in n.op_type or n.op_type in ("Bernoulli", "Multinomial", "Dropout")
                       for n in model.graph.node):  # fmt: skip
                    continue
                compared += 1
                declared = {o.name: o.type for o in onnx.load(saved).graph.output}
                for name, value in reference.items():
                    self.assertTrue(same(ours[name], value), name)
                    if declared[name].tensor_type.HasField("shape"):
                        self.assertEqual(len(declared[name].tensor_type.shape.dim), value.ndim, name)
        self.assertGreater(compared, 20)


class Inferring(OracleTest):
    def test_types_of_every_operator_test_of_the_onnx_package(self):
        from onnx.backend.test.case.node import collect_testcases

        typed = ranked = total = 0
        path, saved = self.path("case.onnx"), self.path("inferred.onnx")
        for case in collect_testcases(None):
            model = onnx.ModelProto()
            model.CopyFrom(case.model)
            declared = {o.name: o.type for o in model.graph.output}
            del model.graph.output[:]
            if len(model.graph.node) != 1 or model.functions:
                continue  # expanded functions: their parts have cases of their own
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if model.graph.node[0].op_type == "Constant":
                continue
            with self.subTest(case=case.name):
                self.assertNotIn("error", answer)
                with open(saved, "rb") as file:
                    edited = onnx.load_from_string(file.read())
                for output in edited.graph.output:
                    expected = declared[output.name]
                    total += 1
                    kind = output.type.WhichOneof("value")
                    if kind is None:
                        continue
                    self.assertEqual(kind, expected.WhichOneof("value"), output.name)
                    typed += 1
                    ours, theirs = output.type.tensor_type, expected.tensor_type
                    self.assertEqual(ours.elem_type, theirs.elem_type, output.name)
                    if ours.HasField("shape"):
                        ranked += 1
                        self.assertEqual(len(ours.shape.dim), len(theirs.shape.dim), output.name)
        print(f"{total} outputs of operators: {typed} typed, {ranked} of them with rank")
        self.assertGreater(typed, 0.9 * total)


class Weights(OracleTest):
    """Saving elsewhere: embedded, moved out, one file a tensor."""

    def make(self, folder, count=3):
        folder = self.path(folder)
        os.makedirs(folder, exist_ok=True)
        rng = np.random.default_rng(1)
        weights = [
            numpy_helper.from_array(rng.standard_normal((4, 300 if i else 4)).astype(np.float32), f"w{i}")
            for i in range(count)
        ]
        then = helper.make_graph(
            [helper.make_node("Identity", ["inner"], ["t"])], "then", [],
            [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(rng.standard_normal((4, 500)).astype(np.float32), "inner")],
        )  # fmt: skip
        nodes = [helper.make_node("Identity", [w.name], [w.name + "_out"]) for w in weights]
        nodes.append(helper.make_node("If", ["c"], ["if_out"], then_branch=then, else_branch=then))
        outs = [helper.make_tensor_value_info(f"w{i}_out", TensorProto.FLOAT, None) for i in range(count)]
        outs.append(helper.make_tensor_value_info("if_out", TensorProto.FLOAT, None))
        c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        graph = helper.make_graph(nodes, "g", [c], outs, weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = os.path.join(folder, "m.onnx")
        onnx.save(model, path)
        return path, model

    def check(self, path, model):
        """The file at `path` computes what `model` computes, and keeps its tensors' values."""
        reloaded = onnx.load(path)
        pairs = zip(model.graph.initializer, reloaded.graph.initializer)
        for before, after in pairs:
            np.testing.assert_array_equal(numpy_helper.to_array(before), numpy_helper.to_array(after))
        inner = [m.graph.node[-1].attribute[0].g.initializer[0] for m in (model, reloaded)]
        np.testing.assert_array_equal(*(numpy_helper.to_array(t) for t in inner))
        for name, value in run_model(path).items():
            self.assertTrue(same(value, run_model(self.reference)[name]), name)

    def edit(self, path, saved, **more):
        answer = self.driver(op="edit", path=path, save=self.path(saved), **more)
        self.assertNotIn("error", answer)
        return self.path(saved)

    def test_moves_out_and_back_in(self):
        path, model = self.make("plain")
        self.reference = path
        out = self.edit(path, "moved/m.onnx", external_path="weights.bin")
        self.check(out, model)
        tensors = onnx.load(out, load_external_data=False).graph.initializer
        self.assertEqual([t.data_location for t in tensors], [0, 1, 1])  # as the peer: one is small
        self.assertTrue(os.path.exists(self.path("moved/weights.bin")))
        back = self.edit(out, "back/m.onnx")
        self.check(back, model)
        self.assertEqual(os.listdir(self.path("back")), ["m.onnx"])
        self.assertFalse(any(t.data_location for t in onnx.load(back, load_external_data=False).graph.initializer))

    def test_default_name_and_one_file_a_tensor(self):
        path, model = self.make("plain2")
        self.reference = path
        self.check(self.edit(path, "named/m.onnx", external_path=""), model)
        self.assertEqual(sorted(os.listdir(self.path("named"))), ["m.onnx", "m.onnx.data"])
        self.check(self.edit(path, "many/m.onnx", external_path="", one_file=False), model)
        self.assertEqual(sorted(os.listdir(self.path("many"))), ["inner", "inner_1", "m.onnx", "w1", "w2"])

    def test_threshold_counts_as_the_peers(self):
        path, model = self.make("plain3")
        self.reference = path
        for threshold in (0, 64, 97, 98, 4833, 4834, 100000):
            ours = self.edit(path, f"t{threshold}/m.onnx", external_path="w", threshold=threshold)
            self.check(ours, model)
            theirs = onnx.load(path)
            onnx.external_data_helper.convert_model_to_external_data(theirs, location="w", size_threshold=threshold)
            got = onnx.load(ours, load_external_data=False).graph.initializer
            self.assertEqual([t.data_location for t in got], [t.data_location for t in theirs.graph.initializer])

    def test_saving_over_itself(self):
        path, model = self.make("self")
        self.reference = self.path("reference.onnx")
        shutil.copy(path, self.reference)
        for more in ({"external_path": "w"}, {"external_path": "w"}, {}):
            self.check(self.edit(path, "self/m.onnx", **more), model)

    def test_outputs_and_weights_together(self):
        path, model = self.make("both")
        out = self.edit(path, "both2/m.onnx", external_path="w", outputs=["w1_out", "if_out"])
        self.assertEqual(list(run_model(out)), ["w1_out", "if_out"])

    def test_other_folder(self):
        path, model = self.make("apart")
        self.reference = path
        out = self.edit(path, "apart2/m.onnx", external_path="w")
        os.makedirs(self.path("weights"))
        os.rename(self.path("apart2/w"), self.path("weights/w"))
        answer = self.driver(op="external", path=out)
        self.assertIn("does not exist", answer["error"])
        self.assertNotIn("error", self.driver(op="external", path=out, dir=self.path("weights")))
        self.check(self.edit(out, "joined/m.onnx", dir=self.path("weights")), model)


class ModelTypes(OracleTest):
    def test_types_and_splitting_are_the_peers(self):
        import contextlib
        import io

        from polygraphy.tools.run.run import Run

        words = ["m.onnx", "m.engine", "m.plan", "m.hdf5", "m.uff", "m.prototxt", "m.graphdef", "m.py",
                 "m.py:func", "a:b.onnx", "m.pb", "m.trt", "m.ONNX", "m", ".onnx", "a.b/m", "x.onnx/",
                 "..onnx", "a..onnx", "m.py:", "m.onnx:x"]  # fmt: skip
        for word in words:
            for tf in (False, True):
                tool = Run()
                parser = tool.setup_parser()
                args = parser.parse_args([word] + (["--tf"] if tf else ["--onnxrt"]))
                expected = None
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    try:
                        tool.parse(args)
                    except PolygraphyException:
                        pass
                    else:
                        from polygraphy.tools.args import ModelArgs

                        expected = tool.arg_groups[ModelArgs]
                ours = self.driver(op="type", path=word, tf=tf)
                label = f"{word} {'--tf' if tf else ''}"
                if expected is None:
                    self.assertIsNone(ours["type"], label)
                else:
                    self.assertEqual(ours["type"], str(expected.model_type), label)
                    self.assertEqual(ours["path"], expected.path, label)


if __name__ == "__main__":
    unittest.main()
