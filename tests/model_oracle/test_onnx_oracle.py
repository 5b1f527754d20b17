"""The ONNX reader and the selection of outputs against the onnx package and Polygraphy's loaders.

See oracle_case.py for how to run it. VERNIER_FUZZ_COUNT (20000): the number of damaged files.
"""

import contextlib
import difflib
import fnmatch
import io
import os
import random
import unittest

import onnx
import onnxruntime
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from onnx import TensorProto, helper
from oracle_case import OracleTest, graph_of, model_paths, node_of, normal, select_with_peer
from polygraphy.exception import PolygraphyException
from polygraphy.tools.args import ModelArgs
from polygraphy.tools.run.run import Run


def make_model_with_weights_as_bytes():
    """ModelProto that does not look into the integers of weights, as vernier does not."""
    file = descriptor_pb2.FileDescriptorProto()
    TensorProto.DESCRIPTOR.file.CopyToProto(file)
    tensor = next(message for message in file.message_type if message.name == "TensorProto")
    for field in tensor.field:
        if field.name in ("int32_data", "int64_data", "uint64_data"):
            field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
            field.ClearField("options")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx.ModelProto"))


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
                self.assertEqual(
                    ours["opsets"], [[o.domain, o.version] for o in model.opset_import]
                )
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
        weights_as_bytes = make_model_with_weights_as_bytes()
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
                if not theirs:
                    with self.subTest(only_vernier_accepts=bytes(data).hex()):
                        self.assertTrue(weights_as_bytes.FromString(bytes(data)).HasField("graph"))
            elif theirs:
                refused_by_us_only += 1
                self.assertRegex(ours["error"], "wire type [34] is not used", bytes(data).hex())
        self.assertGreater(accepted, 100)


class Selecting(OracleTest):
    def check(self, path, model, outputs=None, by_type=None, exclude=None):
        ours = self.driver(op="edit", path=path, outputs=outputs, by_type=by_type, exclude=exclude)
        label = f"{path} {outputs} {by_type} {exclude}"
        try:
            theirs = [
                o.name for o in select_with_peer(model, outputs, by_type, exclude).graph.output
            ]
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
        return rng.choice(
            [name[:at] + "*", "*" + name[at:], name[:at] + "?" + name[at + 1 :], "[!a]*"]
        )

    def test_a_name_that_exists_is_no_pattern(self):
        nodes = [
            helper.make_node("Relu", ["x"], ["a[0]"]),
            helper.make_node("Relu", ["a[0]"], ["a0"]),
        ]
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
        log = self.driver(op="edit", path=path, outputs=["Relu", "n*"], by_type=["Rely", "zzz"])[
            "log"
        ]
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
        words = [
            "".join(rng.choice("abcdCR") for _ in range(rng.randrange(1, 9))) for _ in range(300)
        ]
        for word in words[:100]:
            candidates = rng.sample(sorted(set(words)), 40)
            ours = self.driver(op="close", word=word, candidates=candidates)
            self.assertEqual(ours, difflib.get_close_matches(word, candidates, n=5, cutoff=0.6))


# Names that Polygraphy refuses without --model-type.
WIDER_THAN_THE_PEER = {"m.pb": "frozen", "m.trt": "engine", "m.ONNX": "onnx"}


class ModelTypes(OracleTest):
    def test_types_and_splitting_are_the_peers(self):
        words = ["m.onnx", "m.engine", "m.plan", "m.hdf5", "m.uff", "m.prototxt", "m.graphdef"]
        words += ["m.py", "m.py:func", "a:b.onnx", "m.pb", "m.trt", "m.ONNX", "m", ".onnx"]
        words += ["a.b/m", "x.onnx/", "..onnx", "a..onnx", "m.py:", "m.onnx:x"]
        for word in words:
            for tf in (False, True):
                tool = Run()
                parser = tool.setup_parser()
                args = parser.parse_args([word] + (["--tf"] if tf else ["--onnxrt"]))
                expected = None
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(
                    io.StringIO()
                ):
                    try:
                        tool.parse(args)
                    except PolygraphyException:
                        pass
                    else:
                        expected = tool.arg_groups[ModelArgs]
                ours = self.driver(op="type", path=word, tf=tf)
                label = f"{word} {'--tf' if tf else ''}"
                if expected is None:
                    self.assertEqual(ours["type"], WIDER_THAN_THE_PEER.get(word), label)
                else:
                    self.assertEqual(ours["type"], str(expected.model_type), label)
                    self.assertEqual(ours["path"], expected.path, label)


if __name__ == "__main__":
    unittest.main()
