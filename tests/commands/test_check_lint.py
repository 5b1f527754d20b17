"""vernier check lint: every rule finds the model that breaks it, and nothing in one that does not."""

import json
import pathlib
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import lint_models
from lint_case import LintCase
from lint_models import BESIDE, BROKEN, all_models, model, node, value, weight

# What Polygraphy said of the same models, recorded by recordings.py.
PEER = json.loads((pathlib.Path(__file__).parent / "lint_peer.json").read_text())

# Models of which the exit code or the failing nodes differ on purpose.
STRICTER = {
    "external-data-0": "Polygraphy gives up without a report",
    "weight-fields-1": "Polygraphy gives up without a report",
    "unknown-type-0": "Polygraphy ends with a traceback",
    "unknown-type-1": "Polygraphy ends with a traceback",
    "unknown-type-2": "Polygraphy ends with a traceback",
    "duplicate-output-0": "both are wanted, and a runner may refuse that",
    "cycle-0": "the nodes of the cycle are named",
    "dangling-input-0": "the node is named",
    "not-sorted-0": "the node is named",
    "duplicate-value-0": "the node is named",
    "duplicate-value-3": "the node of the second definition is named, once",
    "duplicate-node-name-0": "both nodes are checked all the same",
    "missing-import-0": "no runner takes the operator: it is told as a warning, as there",
    "missing-import-1": "ONNX Runtime refuses the model; Polygraphy has it run another, with the import",
    "opset-import-0": "no node can be run",
    "ir-version-0": "the runner refuses its nodes too",
    "ir-version-1": "no node can be run",
    "newer-opset-0": "no node can be run",
    "input-shape-0": "no node can be run, and what did not run does not pass",
    "weight-size-0": "told of the initializer, not of its reader",
    "bad-dimension-0": "told of the initializer, not of its reader",
}

# Polygraphy ends with a traceback, and here the rest of the model is checked.
GIVEN_UP = {"non-tensor-input-0"}

# Nodes of entries that Polygraphy has of a model as a whole, or the other way round; or no such entry.
OTHER_ENTRIES = {
    "missing-import-1": "Polygraphy has ONNX Runtime run another model, with the import",
    "opset-import-0": "no runner takes the model: an entry of it all, and no node is run",
    "newer-opset-0": "no runner takes the model: an entry of it all, and no node is run",
    "ir-version-1": "no runner takes the model: an entry of it all, and no node is run",
    "duplicate-value-2": "the node is at fault by a rule, and is not run; what reads it is not unused",
}

INFO = {"unnamed-node", "unused-import", "float16-underflow"}
WARNINGS = {"import-twice", "newer-opset", "duplicate-metadata", "no-nodes", "no-outputs",
            "unnamed-weight", "duplicate-weight", "duplicate-output", "missing-import",
            "custom-operator", "runtime-operator", "declared-shape", "unused-node", "unused-input", "unused-weight",
            "float16-overflow", "non-finite-weight", "non-tensor-input"}
# Made by runners, or of no model that can be built: tests of their own below.
ELSEWHERE = {"unreadable", "unsupported-opset", "runner-failed", "runner-warning", "sizes-needed"}


class CheckLint(LintCase):
    def test_a_faultless_model_has_no_findings(self):
        for words in ((), ("--no-run",), ("--onnxrt", "--openvino")):
            with self.subTest(words):
                ended, said = self.lint(lint_models.good(), *words)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertEqual(said["lint_entries"], [])
                self.assertEqual(said["summary"], {"passing": ["MatMul_of_h", "Relu_of_y"],
                                                   "failing": []})

    def test_each_rule_finds_the_model_that_breaks_it(self):
        for rule, makers in BROKEN.items():
            for i, make in enumerate(makers):
                with self.subTest(f"{rule}-{i}"):
                    ended, said = self.lint(make(), "--no-run")
                    found = self.rules(said)
                    self.assertIn(rule, found, ended.out + ended.err)
                    self.assertLessEqual(found, {rule} | BESIDE.get(rule, set()))
                    fault = "exception" in {e["level"] for e in said["lint_entries"]}
                    self.assertEqual(ended.code, 1 if fault else 0, ended.out + ended.err)
                    level = ("info" if rule in INFO else
                             "warning" if rule in WARNINGS else "exception")
                    self.assertIn(rule, self.rules(said, level))
                    self.assertIn(f"[{rule}]", ended.out + ended.err)

    def test_of_a_model_that_could_not_run_no_node_passes(self):
        made = model([node("MatMul", ["x", "w"], ["h"], "mul"), node("Relu", ["h"], ["y"], "relu")],
                     [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)], [value("y")],
                     [weight("w", np.ones((8, 8), np.float32))])
        ended, said = self.lint(made)
        self.assertEqual(ended.code, 1, ended.out)
        self.assertEqual(said["summary"]["passing"], [])
        self.assertEqual(said["vernier"]["not_run"], ["mul", "relu"])
        # Rules alone found no fault of theirs.
        _, said = self.lint(made, "--no-run")
        self.assertEqual(said["summary"]["passing"], ["mul", "relu"])

    def test_every_rule_has_a_model(self):
        listed = {line.split()[0]
                  for line in self.vernier("check", "lint", "--list-rules").out.splitlines()}
        self.assertEqual(listed, set(BROKEN) | ELSEWHERE)

    def test_polygraphy_says_the_same(self):
        for name, raw in all_models():
            peer = PEER[name]
            with self.subTest(name):
                ended, said = self.lint(raw)
                if name not in STRICTER and name not in GIVEN_UP:
                    self.assertEqual(ended.code, peer["code"], ended.out + ended.err)
                    self.assertEqual(sorted(said["summary"]["failing"]), peer["failing"])
                    self.assertLessEqual(set(peer["passing"]), set(said["summary"]["passing"]))
                elif name in GIVEN_UP:
                    self.assertEqual((ended.code, set(peer)), (0, {"code"}), ended.out + ended.err)
                else:
                    self.assertGreaterEqual(ended.code, peer["code"], ended.out + ended.err)
                for entry in said["lint_entries"]:
                    self.assertLessEqual({"level", "source", "message"}, set(entry))

    def test_a_node_that_no_output_depends_on_does_not_pass(self):
        """Runtimes leave it out of a model that runs as a whole."""
        made = BROKEN["unused-node"][0]()
        for words in ((), ("--no-run",), ("--skip", "unused-node")):
            with self.subTest(words):
                ended, said = self.lint(made, *words)
                self.assertEqual(said["summary"]["passing"], PEER["unused-node-0"]["passing"])
                if words != ("--no-run",):
                    self.assertEqual(said["vernier"]["not_run"], ["Abs_of_idle"])
                    self.assertIn("of 2 nodes 1 passed and 0 failed; 1 ran in ", ended.out)

    def test_an_idle_node_of_a_body_leaves_its_owner_among_the_passing(self):
        _, said = self.lint(BROKEN["unused-node"][1](), "--no-run")
        (entry,) = said["lint_entries"]
        self.assertEqual((entry["source"], entry["nodes"]), ("vernier", ["If_of_y"]))
        self.assertIn("Abs_of_idle in a body of If_of_y", entry["message"])
        self.assertEqual(said["summary"]["passing"], ["Abs_of_h", "If_of_y"])

    def test_entries_are_polygraphys(self):
        """Each of its entries has one here, of the same level and source and of that node at least."""
        for name, raw in all_models():
            if name in OTHER_ENTRIES or "entries" not in PEER[name]:
                continue
            with self.subTest(name):
                ended, said = self.lint(raw)
                left = [(e["level"], e["source"], e.get("nodes", [])) for e in said["lint_entries"]]
                for level, source, nodes in PEER[name]["entries"]:
                    of_it = [entry for entry in left if entry[:2] == (level, source)
                             and set(nodes) <= set(entry[2])]
                    self.assertTrue(of_it, f"{level} of {source} on {nodes}: {left}")
                    left.remove(of_it[0])
                # What is left is of rules that it lacks, or says the same in more entries.
                for level, source, nodes in left:
                    self.assertTrue(source == "vernier" or PEER[name]["entries"], (level, source, nodes))

    def test_sources_without_a_runner(self):
        """Rules name who says it there, whether it was asked or not."""
        for name, level, source, beginning in (
                ("duplicate-node-name", "exception", "onnx_graphsurgeon",
                 "Duplicate node name: 'twin' for nodes with topological IDs: [0, 1] found."),
                ("unused-node", "warning", "onnx_graphsurgeon",
                 "Does not affect outputs, can be removed."),
                ("dangling-input", "exception", "onnx_checker",
                 "Nodes in a graph must be topologically sorted, however input 'nobody' of node: name: "
                 "Add_of_y OpType: Add is not output of any previous nodes"),
                ("not-sorted", "exception", "onnx_checker",
                 "Nodes in a graph must be topologically sorted, however input 'h' of node: name: "
                 "Relu_of_y OpType: Relu is not output of any previous nodes."),
                ("attribute", "exception", "onnxruntime", "Required attribute 'axis' is missing."),
                ("import-twice", "warning", "vernier", "domain 'ai.onnx' is imported twice")):
            with self.subTest(name):
                _, said = self.lint(BROKEN[name][0](), "--no-run")
                entry = next(e for e in said["lint_entries"] if e["rule"] == name)
                self.assertEqual((entry["level"], entry["source"]), (level, source))
                self.assertTrue(entry["message"].startswith(beginning), entry["message"])
        # Polygraphy's checker says nothing of bodies; the runtime of the node does.
        _, said = self.lint(BROKEN["dangling-input"][1](), "--no-run")
        self.assertEqual([(e["source"], e["nodes"]) for e in said["lint_entries"]
                          if e["rule"] == "dangling-input"], [("onnxruntime", ["If_of_y"])])

    def test_a_rule_can_be_skipped(self):
        made = BROKEN["unused-node"][0]()
        ended, said = self.lint(made, "--no-run", "--skip", "unused-node")
        self.assertEqual((ended.code, said["lint_entries"]), (0, []))
        ended, _ = self.lint(made, "--no-run", "--skip", "unused-nodes")
        self.assertEqual(ended.code, 2)
        self.assertIn("'unused-nodes' is not a rule; did you mean 'unused-node'?", ended.err)

    def test_warnings_fail_where_strictness_is_asked_for(self):
        made = BROKEN["unused-input"][0]()
        self.assertEqual(self.lint(made, "--no-run")[0].code, 0)
        self.assertEqual(self.lint(made, "--no-run", "--strict")[0].code, 1)

    def test_files_that_are_no_models(self):
        for raw in (b"", b"\x08\x08garbage", lint_models.good().SerializeToString()[:-7]):
            ended, said = self.lint(raw, "--no-run", "--model-type", "onnx")
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertEqual(self.rules(said), {"unreadable"})
            self.assertEqual(said["lint_entries"][0]["source"], "onnx_loader")
        ended = self.vernier("check", "lint", "nowhere.onnx")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("nowhere.onnx", ended.out + ended.err)
        ended = self.vernier("check", "lint")
        self.assertEqual(ended.code, 2)

    def test_inputs_that_nothing_can_be_drawn_for_are_told_and_end_with_a_report(self):
        shapeless = BROKEN["input-shape"][0]()
        ended, said = self.lint(shapeless, "--onnxrt")
        self.assertEqual((ended.code, said["vernier"]["not_run"]), (1, ["Relu_of_y"]), ended.out)
        self.assertIn("nodes were not run: input 'x' has no shape", ended.out + ended.err)
        ended, said = self.lint(shapeless, "--onnxrt", "--input-shapes", "x:[2,3]")
        self.assertEqual((ended.code, said["vernier"]["not_run"]), (1, []), ended.out)
        ended, said = self.lint(BROKEN["non-tensor-input"][0](), "--onnxrt")
        self.assertEqual((ended.code, len(said["vernier"]["not_run"])), (0, 1), ended.out)
        self.assertIn("input 's' is not a tensor", ended.out)

    def test_rules_are_reported_also_where_a_runner_cannot_be_asked(self):
        ended, said = self.lint(BROKEN["unused-input"][0](), "--onnxrt", "--onnxrt-lib",
                                "/nowhere/libonnxruntime.so")
        self.assertEqual((ended.code, self.rules(said)), (5, {"unused-input"}),
                         ended.out + ended.err)

    def test_sizes_that_no_tensor_has(self):
        """Polygraphy and ONNX Runtime pass over negative ones."""
        relu, huge = lint_models.relu(), (2**40, 2**40)
        hidden = [node("Abs", ["x"], ["h"]), node("Relu", ["h"], ["y"])]
        for made, level, says in (
                (model([relu], inputs=[value("x", (-1, 3))]), "warning",
                 "input 'x' declares a size of -1"),
                (model([relu], outputs=[value("y", (-1, 3))]), "warning",
                 "output 'y' declares a size of -1"),
                (model(hidden, values=[value("h", (2, -5))]), "warning",
                 "value 'h' declares a size of -5"),
                (model([relu], inputs=[value("x", huge)], outputs=[value("y", None)]), "exception",
                 "input 'x' declares more elements than any memory holds")):
            for words in (("--no-run",), ("--onnxrt",)):
                with self.subTest(says, words=words):
                    ended, said = self.lint(made, *words)
                    self.assertEqual(ended.code, int(level == "exception"), ended.out + ended.err)
                    self.assertEqual([(e["level"], e["source"]) for e in said["lint_entries"]
                                      if e["rule"] == "bad-dimension"], [(level, "vernier")])
                    self.assertIn(says, ended.out + ended.err)
        # Nothing can be drawn: no node is said to pass.
        self.assertEqual((said["summary"]["passing"], said["vernier"]["not_run"]), ([], ["Relu_of_y"]))

    def test_what_a_runner_warns_of(self):
        # ONNX Runtime runs it, and says that the shape is not what the model declares.
        made = model([node("Reshape", ["x", "s"], ["y"])], inputs=[value("x"),
                     value("s", (1,), TensorProto.INT64)], outputs=[value("y", (2, 3))])
        ended, said = self.lint(made, "--onnxrt", "--val-range", "s:[6,6]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual([(e["level"], e["rule"], e["source"]) for e in said["lint_entries"]],
                         [("warning", "runner-warning", "onnxruntime")], ended.out + ended.err)
        self.assertIn("{2,3}", said["lint_entries"][0]["message"])
        self.assertEqual(self.lint(made, "--onnxrt", "--val-range", "s:[6,6]", "--strict")[0].code, 1)

    def test_a_node_that_only_fails_when_it_runs(self):
        # Indices are known at run time only; behind it, a node is left out.
        made = model([node("Abs", ["x"], ["h"]), node("Gather", ["h", "i"], ["g"]),
                      node("Neg", ["g"], ["y"]), node("Relu", ["h"], ["z"])],
                     inputs=[value("x"), value("i", (1,), TensorProto.INT64)],
                     outputs=[value("y", None), value("z")])
        ended, said = self.lint(made, "--onnxrt", "--val-range", "i:[7,7]")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(said["summary"], {"passing": ["Abs_of_h", "Relu_of_z"],
                                           "failing": ["Gather_of_g"]})
        self.assertEqual([(e["rule"], e["source"], e["nodes"]) for e in said["lint_entries"]],
                         [("runner-failed", "onnxruntime", ["Gather_of_g"])])
        self.assertEqual(set(said["vernier"]["not_run"]), {"Gather_of_g", "Neg_of_y"})
        # Legal indices, from the graph.
        ended, said = self.lint(made, "--onnxrt", "--inputs-from-graph")
        self.assertEqual((ended.code, said["lint_entries"]), (0, []), ended.out + ended.err)

    def test_an_opset_that_a_runner_does_not_take(self):
        ended, said = self.lint(model([lint_models.relu()], opset=99), "--onnxrt")
        self.assertEqual(ended.code, 1)
        self.assertIn("unsupported-opset", self.rules(said, "exception"))
        text = next(e["message"] for e in said["lint_entries"] if e["rule"] == "unsupported-opset")
        self.assertIn("opset 99 of 'ai.onnx'", text)
        self.assertIn("by rules; none was run", ended.out)
        self.assertEqual((said["vernier"]["runners"], said["vernier"]["not_run"]), ([], ["Relu_of_y"]))

    def test_imports_that_no_node_uses_are_no_exception(self):
        made = model([lint_models.relu()], imports=[("ai.onnx.ml", 2), ("com.microsoft", 1)])
        ended, said = self.lint(made, "--openvino")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("unsupported-opset", self.rules(said))
        self.assertEqual(len(said["summary"]["passing"]), 1)

    def test_who_refused_the_model_has_not_run_it(self):
        # OpenVINO takes any opset whose operators it knows.
        ended, said = self.lint(model([lint_models.relu()], opset=99), "--onnxrt", "--openvino")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertRegex(ended.out, r"; 1 ran in openvino [^,]+\n")
        (runner,) = said["vernier"]["runners"]
        self.assertTrue(runner.startswith("openvino "), runner)

    def test_bodies_are_looked_into(self):
        inner = helper.make_graph([node("Add", ["h", "nobody"], ["t"])], "b", [], [value("t")])
        other = helper.make_graph([node("Identity", ["h"], ["e"])], "o", [], [value("e")])
        made = model([node("Abs", ["x"], ["h"]),
                      node("If", ["c"], ["y"], then_branch=inner, else_branch=other)],
                     inputs=[value("x"), value("c", (), TensorProto.BOOL)])
        ended, said = self.lint(made, "--no-run")
        self.assertEqual(self.rules(said), {"dangling-input"})
        self.assertEqual(said["summary"]["failing"], ["If_of_y"])
        self.assertIn("in a body of If_of_y", said["lint_entries"][0]["message"])

    def test_sizes_that_do_not_fit_the_model(self):
        for words, says in {"nosuch:[2,3]": "no input 'nosuch'", "x:[2,3,4]": "does not fit",
                            "x:[2,9]": "does not fit", "x:[-1,3]": "leaves open"}.items():
            ended, said = self.lint(lint_models.good(), "--no-run", "--input-shapes", words)
            self.assertEqual((ended.code, said), (3, None), ended.out + ended.err)
            self.assertIn(says, ended.out + ended.err)
        # The elements of an input, which are not its sizes.
        made = model([node("Concat", ["s", "k"], ["y"], axis=0)],
                     inputs=[value("s", (2,), TensorProto.INT64)],
                     outputs=[value("y", (3,), TensorProto.INT64)],
                     weights=[weight("k", np.array([4]))])
        ended, said = self.lint(made, "--no-run", "--input-shapes", "s:[2,8]")
        self.assertEqual((ended.code, said["lint_entries"]), (0, []), ended.out + ended.err)

    def test_an_input_that_is_no_tensor_is_told(self):
        made = model([node("SequenceLength", ["s"], ["y"])],
                     inputs=[helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
                     outputs=[value("y", (), TensorProto.INT64)])
        ended, said = self.lint(made)
        self.assertEqual((ended.code, self.rules(said)), (0, {"non-tensor-input"}),
                         ended.out + ended.err)
        self.assertEqual(said["vernier"]["not_run"], ["SequenceLength_of_y"])
        self.assertRegex(ended.out, r"; 0 ran in [^,]+, 1 not run\n")
        self.assertIn("nodes were not run: input 's' is of the kind sequence", ended.out)

    def test_one_feed_is_enough(self):
        ended, _ = self.lint(lint_models.good(), "--iterations", "3")
        self.assertIn("--iterations has no effect", ended.out)

    def test_a_script_gives_the_feed(self):
        made = model([node("Gather", ["w", "x"], ["y"])], inputs=[value("x", [2], TensorProto.INT64)],
                     outputs=[value("y", None)], weights=[weight("w", np.ones((5, 3), "f4"))])
        for index, code in ((4, 0), (7, 1)):
            self.path("feeds.py").write_text(
                "import numpy as np\n"
                "def load_data():\n"
                f"    yield {{'x': np.array([0, {index}])}}\n"
                "def failing():\n"
                "    raise ValueError('no data')\n")
            ended, said = self.lint(made, "--data-loader-script", "feeds.py")
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual(self.rules(said), {"runner-failed"} if code else set())
        ended, said = self.lint(made, "--data-loader-script", "feeds.py:failing")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("feeds.py:failing: ValueError: no data", ended.err)
        self.assertEqual(said["vernier"]["runners"], [])  # the rules have spoken all the same
        # A Python that cannot run it is no reason to do without what was asked for.
        self.path("python").write_text("#!/bin/sh\nexit 1\n")
        self.path("python").chmod(0o755)
        ended, _ = self.lint(made, "--data-loader-script", "feeds.py", "--python", "./python")
        self.assertEqual(ended.code, 6, ended.out + ended.err)

    def test_a_model_can_be_checked_as_float16(self):
        for largest, rules in ((7e4, {"float16-overflow"}), (6e4, set())):
            made = model([node("Add", "xw", "y")], weights=[weight("w", np.full(3, largest, "f4"))])
            for word in ((), ("--fp-to-fp16",)):
                ended, said = self.lint(made, *word)
                self.assertEqual((ended.code, self.rules(said)), (0, rules), ended.out)
        self.assertEqual(len(said["summary"]["passing"]), 3)  # with the casts at both ends

    def test_external_weights_are_read_where_they_lie(self):
        made = model([node("Add", ["x", "w"], ["y"])],
                     weights=[weight("w", np.array([1, 7e4, np.nan], "f4"))])
        onnx.save(made, str(self.path("m.onnx")), save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        ended = self.vernier("check", "lint", "m.onnx", "--no-run")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for rule in ("float16-overflow", "non-finite-weight"):
            self.assertIn(f"[{rule}]", ended.out)
        self.path("w.bin").write_bytes(b"1234")
        ended = self.vernier("check", "lint", "m.onnx", "--no-run")
        self.assertEqual(ended.code, 1)
        self.assertIn("[external-data]", ended.out + ended.err)

    def test_a_model_that_fails_where_nodes_cannot_be_run_alone(self):
        made = model([node("SplitToSequence", ["x"], ["s"], axis=0),
                      node("SequenceAt", ["s", "i"], ["a"]), node("Relu", ["a"], ["y"])],
                     outputs=[value("y", None)], weights=[weight("i", np.array(7))])
        ended, said = self.lint(made, "--onnxrt")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        (entry,) = said["lint_entries"]
        self.assertEqual((entry["rule"], entry["source"]), ("runner-failed", "onnxruntime"))
        self.assertIn("the model as a whole does not run: Invalid sequence index (7)",
                      entry["message"])

    def test_nodes_do_not_run_on_weights_that_are_ignored(self):
        made = model([node("Abs", ["x"], ["h"]), node("Add", ["h", "w"], ["a"]),
                      node("Relu", ["a"], ["y"])], weights=[weight("w", np.ones((2, 3), "f4"))])
        onnx.save(made, str(self.path("m.onnx")), save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        self.path("w.bin").unlink()
        ended = self.vernier("check", "lint", "m.onnx", "--ignore-external-data", "-o", "r.json")
        said = json.loads(self.path("r.json").read_text())
        self.assertEqual((ended.code, said["lint_entries"]), (0, []), ended.out + ended.err)
        self.assertEqual(said["vernier"]["not_run"], ["Add_of_a", "Relu_of_y"])
        self.assertIn("external weights are ignored", ended.out)

    def test_without_a_runner_the_rules_are_enough(self):
        ended, said = self.lint(lint_models.good(), "--onnxrt-lib", "/nowhere/libonnxruntime.so")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("nodes were not run", ended.out)
        self.assertEqual(said["vernier"]["runners"], [])
        # One that was asked for by name has to be there.
        ended, _ = self.lint(lint_models.good(), "--onnxrt", "--onnxrt-lib",
                             "/nowhere/libonnxruntime.so")
        self.assertEqual(ended.code, 5, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
