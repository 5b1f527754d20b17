"""vernier inspect capability against the peer's, both with a stand-in for TensorRT."""

import os
import pathlib
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "commands"))
from program import PEER, VERNIER, Case, Ended  # noqa: E402

FAKE = pathlib.Path(__file__).resolve().parent / "fake"


class Capability(Case):
    def run_both(self, model, *words):
        """The folders that both wrote, and what they said."""
        answers = []
        for who, program in (("theirs", PEER), ("ours", VERNIER)):
            path = os.pathsep.join([str(FAKE), os.environ.get("PYTHONPATH", "")])
            ended = Ended(subprocess.run(
                [str(program), "inspect", "capability", model, "-o", str(self.path(who)), *words],
                cwd=self.folder, text=True, capture_output=True, timeout=120,
                env={**os.environ, "PYTHONPATH": path}))
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            answers.append(ended)
        return answers

    def save(self, *operators, typed=True):
        value = helper.make_tensor_value_info
        names = ["x"] + [f"t{i}" for i in range(1, len(operators))] + ["y"]
        nodes = [helper.make_node(op, [names[i]], [names[i + 1]], f"n{i}")
                 for i, op in enumerate(operators)]
        graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [2])],
                                  [value("y", TensorProto.FLOAT, [2])])
        made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        if typed:
            made = onnx.shape_inference.infer_shapes(made)
        onnx.save(made, str(self.path("m.onnx")))
        return "m.onnx"

    def files(self, who):
        folder = self.path(who)
        files = folder.iterdir() if folder.exists() else ()
        return {file.name: file.read_bytes() for file in files}

    def test_a_model_that_is_taken_writes_nothing(self):
        for words in ((), ("--with-partitioning",)):
            theirs, ours = self.run_both(self.save("Relu", "Neg"), *words)
            self.assertIn([line for line in theirs.lines() if "fully supported" in line][0],
                          ours.lines())
            self.assertEqual(self.files("ours"), {})

    def test_errors_are_listed(self):
        self.run_both(self.save("Relu", "Exp", "Neg", "Tan"))
        self.assertEqual(self.files("ours"), self.files("theirs"))
        self.assertIn("results.txt", self.files("ours"))

    def test_errors_of_an_old_parser_are_listed(self):
        """Polygraphy ends with an AttributeError there."""
        model = self.save("Relu", "Exp", "Neg", "Tan")
        ended = subprocess.run(
            [str(VERNIER), "inspect", "capability", model, "-o", str(self.path("ours"))],
            cwd=self.folder, text=True, capture_output=True, timeout=120,
            env={**os.environ, "PYTHONPATH": str(FAKE), "FAKE_TENSORRT_OLD": "1"})
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        table = self.files("ours")["results.txt"].decode()
        self.assertRegex(table, r"\| Exp +\| n1 +\| In node 1 \(Exp\): UNSUPPORTED_NODE")
        self.assertRegex(table, r"\| Tan +\| n3 +\| In node 3 \(Tan\): UNSUPPORTED_NODE")

    def test_parts_are_saved(self):
        self.run_both(self.save("Relu", "Neg", "Exp", "Neg"), "--with-partitioning")
        theirs, ours = self.files("theirs"), self.files("ours")
        self.assertEqual(sorted(ours), sorted(theirs))
        self.assertIn("unsupported_subgraph-nodes-2-2.onnx", ours)
        self.assertEqual(ours["results.txt"], theirs["results.txt"])
        self.check_models(ours, theirs)

    def test_between_parts_that_are_taken_is_nothing(self):
        """Polygraphy saves an empty model there, and lists it as unsupported."""
        self.run_both(self.save("Relu", "Neg", "Exp", "Neg", "Relu", "Tan", "Relu"),
                      "--with-partitioning")
        theirs, ours = self.files("theirs"), self.files("ours")
        self.assertEqual(set(theirs) - set(ours), {"unsupported_subgraph-nodes-4-3.onnx"})
        self.check_models(ours, theirs)

    def check_models(self, ours, theirs):
        for name in ours:
            if name.endswith(".onnx"):
                self.assertEqual(onnx.load_from_string(ours[name]),
                                 onnx.load_from_string(theirs[name]), name)

    def test_types_that_the_model_does_not_give_are_inferred(self):
        """Polygraphy ends with a traceback there."""
        self.save("Relu", "Neg", "Exp", "Neg", typed=False)
        path = os.pathsep.join([str(FAKE), os.environ.get("PYTHONPATH", "")])
        ended = Ended(subprocess.run(
            [str(VERNIER), "inspect", "capability", "m.onnx", "--with-partitioning"],
            cwd=self.folder, text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": path}))
        self.assertEqual(ended.code, 0, ended.err)
        parts = sorted(path.name for path in self.path("polygraphy_capability_dumps").iterdir())
        self.assertEqual(parts, ["results.txt", "supported_subgraph-nodes-0-1.onnx",
                                 "supported_subgraph-nodes-3-3.onnx",
                                 "unsupported_subgraph-nodes-2-2.onnx"])


class WithoutTensorRt(Case):
    def test_one_sentence_and_5(self):
        self.save_model("m.onnx")
        ended = self.vernier("inspect", "capability", "m.onnx")
        self.assertEqual(ended.code, 5)
        self.assertIn("inspect capability needs the Python package tensorrt", ended.err)
        self.assertFalse(self.path("polygraphy_capability_dumps").exists())
