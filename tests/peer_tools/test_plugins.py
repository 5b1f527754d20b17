"""vernier plugin list, match and replace against the peer's, with ONNX-GraphSurgeon in Python."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))
from program import VERNIER, Case, Ended  # noqa: E402

PATTERN = '''
import onnx_graphsurgeon as gs


def get_matching_subgraphs(graph):
    pattern = gs.GraphPattern()
    x = pattern.variable()
    first = pattern.add("first", "Relu", inputs=[x])
    second = pattern.add("second", "{second}", inputs=[first])
    pattern.set_output_tensors([second])
    return [{{"inputs": [t.name for t in match.inputs], "outputs": [t.name for t in match.outputs],
             "attributes": {{"scale": 0.5, "axes": [0, 1]}}}} for match in pattern.match_all(graph)]


def get_plugin_metadata():
    return {{"name": "{name}", "op": "{op}"}}
'''

OWN_REPLACEMENT = '''

def replace_with_plugin(graph, input_tensors, output_tensors, attrs, op):
    for tensor in output_tensors:
        tensor.inputs.clear()
    graph.layer(name="by_hand", op=op, inputs=input_tensors, outputs=output_tensors, attrs=attrs)
    graph.cleanup().toposort()
    return True
'''


class Plugins(Case):
    def setUp(self):
        super().setUp()
        nodes = [helper.make_node(op, [a], [b], f"{op}_{b}") for op, a, b in (
            ("Relu", "x", "a"), ("Neg", "a", "b"), ("Relu", "b", "c"), ("Neg", "c", "d"),
            ("Relu", "d", "e"), ("Exp", "e", "y"))]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [2, 3])],
                                  [value("y", TensorProto.FLOAT, [2, 3])])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        self.plugin("negated", "Neg")
        self.plugin("grown", "Exp")
        self.plugin("absent", "Tanh")

    def plugin(self, name, second, more=""):
        folder = self.path("plugins") / name
        folder.mkdir(parents=True, exist_ok=True)
        text = PATTERN.format(second=second, name=name, op=name.title() + "Plugin") + more
        (folder / "pattern.py").write_text(text, encoding="utf-8")

    def both(self, tool, *words):
        return (self.peer("plugin", tool, "m.onnx", "--plugin-dir", "plugins", *words),
                self.vernier("plugin", tool, "m.onnx", "--plugin-dir", "plugins", *words))

    def counts(self, ended):
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        return eval(re.search(r"\{'.*\}|\{\}", ended.out).group(0))

    def test_list(self):
        for words in ((), ("--include", "negated"), ("--exclude", "negated", "grown")):
            theirs, ours = self.both("list", *words)
            self.assertEqual(self.counts(ours), self.counts(theirs), words)

    def test_match_writes_the_same_documents(self):
        import yaml
        for who, answer in zip(("theirs", "ours"), ("peer", "vernier")):
            ended = getattr(self, answer)("plugin", "match", "m.onnx", "--plugin-dir", "plugins",
                                          "-o", who + ".yaml")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        documents = [sorted(yaml.safe_load_all(self.path(who + ".yaml").read_text()),
                            key=lambda entry: entry["name"]) for who in ("theirs", "ours")]
        self.assertEqual(documents[1], documents[0])
        self.assertEqual([entry["name"] for entry in documents[0]], ["grown", "negated"])

    def replaced(self):
        match = self.vernier("plugin", "match", "m.onnx", "--plugin-dir", "plugins")
        self.assertEqual(match.code, 0, match.err)
        models = []
        for who in ("peer", "vernier"):
            ended = getattr(self, who)("plugin", "replace", "m.onnx", "--plugin-dir", "plugins",
                                       "-o", who + ".onnx")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            models.append(onnx.load(str(self.path(who + ".onnx"))))
        return models

    def test_replace_writes_the_same_model(self):
        theirs, ours = self.replaced()
        self.assertEqual(ours, theirs)
        self.assertEqual(sorted(node.op_type for node in ours.graph.node),
                         ["GrownPlugin", "NegatedPlugin", "NegatedPlugin"])

    def test_replace_by_the_plug_ins_own_function(self):
        self.plugin("negated", "Neg", OWN_REPLACEMENT)
        theirs, ours = self.replaced()
        self.assertEqual(ours, theirs)
        self.assertIn("by_hand", [node.name for node in ours.graph.node])

    def test_default_places_are_beside_the_model(self):
        for tool in ("match", "replace"):
            ended = self.vernier("plugin", tool, "m.onnx", "--plugin-dir", "plugins")
            self.assertEqual(ended.code, 0, ended.err)
        self.assertTrue(self.path("config.yaml").exists())
        self.assertTrue(self.path("replaced.onnx").exists())

    def test_autotune_without_tuning_only_matches(self):
        ended = self.vernier("plugin", "autotune", "m.onnx", "--plugin-dir", "plugins",
                             "--skip-autotuning", "--save-config-yaml", "c.yaml", "-o", "x.onnx")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertTrue(self.path("c.yaml").exists())
        self.assertFalse(self.path("x.onnx").exists())

    def autotune(self, *words):
        """With a TensorRT and a driver that stand in for the real ones."""
        fake = pathlib.Path(__file__).resolve().parent / "fake"
        ended = Ended(subprocess.run(
            [str(VERNIER), "plugin", "autotune", "m.onnx", "--plugin-dir", "plugins", "-o",
             "best.onnx", *words], cwd=self.folder, text=True, capture_output=True, timeout=120,
            env={**os.environ, "LD_LIBRARY_PATH": os.environ["VERNIER_FAKE_CUDA_DIR"],
                 "PYTHONPATH": os.pathsep.join([str(fake), os.environ["PYTHONPATH"]])}))
        return ended

    @unittest.skipUnless("VERNIER_FAKE_CUDA_DIR" in os.environ, "no stand-in for the driver")
    def test_autotune_writes_what_is_fastest(self):
        # The parser takes no Exp: only with its plug-in can the model be built.
        self.plugin("grown", "Neg")
        for mode in ("greedy", "exhaustive"):
            self.assertEqual(self.autotune("--autotune-mode", mode).code, 6)
        model = onnx.load(str(self.path("m.onnx")))
        model.graph.node[-1].op_type = "Abs"
        onnx.save(model, str(self.path("m.onnx")))
        for mode in ("greedy", "exhaustive"):
            ended = self.autotune("--autotune-mode", mode, "--include", "negated", "--report",
                                  "report.txt", "--timing-cache", "t.cache", "--threshold", "0.9")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            best = onnx.load(str(self.path("best.onnx")))
            self.assertEqual([node.op_type for node in best.graph.node],
                             ["NegatedPlugin", "NegatedPlugin", "Relu", "Abs"])
            self.assertIn("Best Strategy (2 replacements)", self.path("report.txt").read_text())
            self.assertTrue(self.path("t.cache").exists())
            self.path("best.onnx").unlink()

    @unittest.skipUnless("VERNIER_FAKE_CUDA_DIR" in os.environ, "no stand-in for the driver")
    def test_autotune_of_what_no_plug_in_matches(self):
        ended = self.autotune("--include", "absent")
        self.assertEqual(ended.code, 1)
        self.assertIn("no plugin matches", ended.err)
        self.assertFalse(self.path("best.onnx").exists())

    def test_autotune_needs_tensorrt(self):
        ended = self.vernier("plugin", "autotune", "m.onnx", "--plugin-dir", "plugins", "-o",
                             "x.onnx")
        self.assertEqual(ended.code, 5, ended.err)
        self.assertFalse(self.path("x.onnx").exists())

    def test_what_goes_wrong_is_said(self):
        self.assertEqual(self.vernier("plugin", "list", "m.onnx", "--plugin-dir",
                                      "nowhere").code, 3)
        self.assertEqual(self.vernier("plugin", "list", "nowhere.onnx", "--plugin-dir",
                                      "plugins").code, 3)
        self.assertEqual(self.vernier("plugin", "list", "--plugin-dir", "plugins").code, 2)
        self.assertEqual(self.vernier("plugin", "replace", "m.onnx", "--plugin-dir", "plugins",
                                      "--config", "nowhere.yaml").code, 3)
        self.path("c.yaml").write_text("name: negated\nop: X\ninstances:\n- inputs: [nobody]\n"
                                       "  outputs: [b]\n", encoding="utf-8")
        ended = self.vernier("plugin", "replace", "m.onnx", "--plugin-dir", "plugins", "--config",
                             "c.yaml", "-o", "x.onnx")
        self.assertEqual(ended.code, 1, ended.err)
        self.assertIn("'nobody'", ended.err)
        self.assertFalse(self.path("x.onnx").exists())

    def test_a_pattern_that_raises_is_named(self):
        self.plugin("negated", "Neg", "\n\ndef get_matching_subgraphs(graph):\n    raise "
                    "ValueError('no luck')\n")
        ended = self.vernier("plugin", "list", "m.onnx", "--plugin-dir", "plugins")
        self.assertEqual(ended.code, 6)
        self.assertIn("no luck", ended.err)
        self.assertIn("pattern.py", ended.err)
