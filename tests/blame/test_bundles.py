"""`blame --bundle`: a folder that shows the failure of one layer."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

import planted
from models import chain
from program import FUSING, VERNIER, Case, blame, two_models

def branches(factor):
    """An If whose other branch takes no batch of 1: it squeezes that away, and a rank with it."""
    never = helper.make_graph(
        [helper.make_node("Squeeze", ["x"], ["flat"]),
         helper.make_node("Gemm", ["flat", "square"], ["made"]),
         helper.make_node("Unsqueeze", ["made", "one"], ["in_then"])],
        "then", [], [helper.make_tensor_value_info("in_then", 1, None)])
    taken = helper.make_graph([helper.make_node("Mul", ["x", "factor"], ["in_else"])], "else", [],
                              [helper.make_tensor_value_info("in_else", 1, None)],
                              [numpy_helper.from_array(np.float32(factor), "factor")])
    graph = helper.make_graph(
        [helper.make_node("If", ["yes"], ["y"], name="the_if", then_branch=never,
                          else_branch=taken)], "g",
        [helper.make_tensor_value_info("x", 1, ["n", "m", 3]),
         helper.make_tensor_value_info("yes", 9, [])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(np.eye(3, dtype=np.float32), "square"),
         numpy_helper.from_array(np.int64([1]), "one")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Bundles(Case):
    def test_the_bundle_shows_the_failure(self):
        network = planted.plant(1, "wrong_epsilon")
        ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        part = onnx.load("bundle/model.onnx")
        onnx.checker.check_model(part, full_check=True)
        self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
        script = Path("bundle/repro.sh").read_text().splitlines()
        comments = [line.startswith("#") for line in script]
        self.assertEqual(comments[:2], [True, True], script)  # more than the interpreter's line
        self.assertEqual(comments, sorted(comments, reverse=True), script)  # all at the head
        self.assertNotRegex("\n".join(script), r"-N\d+-\d\d/")
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("FAILED", again.stdout)
        self.assertIn(" vs. bundle: FAILED", again.stdout)
        # A search that finds nothing does not look as if it had found this.
        first = two_models(network)[:2]
        clean, _ = blame(self.folder.name, *first, first[0], first[1].replace("=", "2=", 1),
                         "--bundle", "bundle")
        self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
        self.assertIn("note: --bundle: no layer is to blame, so nothing was saved: 'bundle' still "
                      "holds the findings of another search\n", clean.stdout)

    def test_the_bundle_of_a_script_runs_from_its_own_folder(self):
        (Path(self.folder.name) / "runner.py").write_text(Path(FUSING).read_text())
        onnx.save(chain(), "chain.onnx")
        os.environ["BREAKING"] = "t2m"
        self.addCleanup(os.environ.pop, "BREAKING")
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt", "--model-runner", "runner.py",
                         "--python", sys.executable, "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertNotIn("no file", again.stderr)
        self.assertIn("compared 1 output", again.stdout, again.stderr)

    def test_the_bundle_of_a_node_with_bodies_runs(self):
        onnx.save(branches(2), "good.onnx")
        onnx.save(branches(3), "bad.onnx")
        np.savez("in.npz", x=np.float32([[[1, 2, 3]]]), yes=np.array(False))
        ended, _ = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         "new=onnxrt bad.onnx", "--reference", "gold", "--load-inputs", "in.npz",
                         "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("compared 1 output in 1 iteration", again.stdout)

    def test_a_second_bundle_replaces_the_first_as_a_whole(self):
        first, second = planted.plant(1, "wrong_epsilon"), planted.plant(2, "wrong_epsilon")
        for network in (first, second):
            ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
            self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
            part = onnx.load("bundle/model.onnx")
            self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
            self.assertEqual(sorted(os.listdir("bundle")),
                             ["found", "model.onnx", "repro.sh", "test_data_set_0"])
            again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                                   env={**os.environ, "VERNIER": VERNIER})
            self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
            self.assertIn("compared 1 output", again.stdout)

    def test_a_bundle_overwrites_nobodys_files(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        os.mkdir("theirs")
        Path("theirs/model.onnx").write_text("somebody's")
        before = Path("bad.onnx").read_bytes()
        for command in ("run", "blame"):
            more = ["--blame", "--save-outputs", "ran.json"] if command == "run" else []
            for folder, why in ((".", "which is read by this command"),
                                ("theirs", "holds 'model.onnx', which is not part of a bundle")):
                with self.subTest(command=command, folder=folder):
                    ended = subprocess.run([VERNIER, command, *words, *more, "--bundle", folder],
                                           capture_output=True, text=True)
                    self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
                    self.assertIn(why, ended.stderr)
                    self.assertEqual(ended.stdout, "")
        self.assertFalse(Path("ran.json").exists())
        self.assertEqual(Path("theirs/model.onnx").read_text(), "somebody's")
        self.assertEqual(Path("bad.onnx").read_bytes(), before)

if __name__ == "__main__":
    unittest.main()
