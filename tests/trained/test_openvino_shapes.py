"""Models that OpenVINO only takes once it knows the sizes of their inputs."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import networks
import numpy as np
import onnx
from onnx import TensorProto, helper

SILERO = next(n for n in networks.NETWORKS if n.name == "silero_vad_16k_op15")


class Ran:
    def __init__(self, done):
        self.code, self.said = done.returncode, done.stdout + done.stderr


class OpenVinoShapes(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def run_it(self, model, *words, near="1e-3"):
        command = [os.environ["VERNIER"], "run", model, "--onnxrt", "--openvino", "--atol", near,
                   "--rtol", near, *words]
        done = subprocess.run([str(w) for w in command], cwd=self.folder, capture_output=True,
                              text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
        # Places in OpenVINO's sources are no reason.
        self.assertNotRegex(done.stdout, r"refuses it: [^\n]*Exception from")
        return Ran(done)

    def feeds(self, network, *batches):
        """A file for each batch."""
        files = []
        for index, batch in enumerate(batches):
            feed = networks.feed(network, seed=index)
            rows = {"input": (0, batch), "state": (1, batch)}
            for name, (axis, size) in rows.items():
                feed[name] = np.concatenate([feed[name]] * size, axis)
            files.append(self.folder / f"feed{index}.npz")
            np.savez(files[-1], **feed)
        return files

    def test_listed_shapes_are_there_before_the_first_feed(self):
        ran = self.run_it(SILERO.path, *SILERO.words)
        self.assertEqual(ran.code, 0, ran.said)
        self.assertIn("was compiled for input:[1,576], sr:[], state:[2,1,128]; without sizes "
                      "OpenVINO refuses it: it cannot convert Conv-15", ran.said)
        opened = ran.said.index("was compiled for")
        self.assertLess(opened, ran.said.index("Streaming iteration 0"))

    def test_loaded_feeds_tell_the_sizes(self):
        ran = self.run_it(SILERO.path, "--load-inputs", *self.feeds(SILERO, 1))
        self.assertEqual(ran.code, 0, ran.said)
        self.assertIn("was compiled for input:[1,576]", ran.said)

    def test_other_sizes_compile_it_once_more(self):
        ran = self.run_it(SILERO.path, "--load-inputs", *self.feeds(SILERO, 1, 2, 3))
        self.assertEqual(ran.code, 0, ran.said)
        self.assertEqual(ran.said.count("was compiled "), ran.said.count("was compiled for") +
                         ran.said.count("was compiled again"))
        self.assertIn("compared 2 outputs in 3 iterations", ran.said)

    def test_every_network_that_openvino_takes(self):
        """Its Python, told the sizes, takes all but those with If around a recurrence."""
        for network in networks.NETWORKS:
            if network.name in ("silero_vad", "minilm-int8"):
                continue  # refused by OpenVINO itself; int8 products may saturate there
            with self.subTest(network.name):
                ran = self.run_it(network.path, *network.words, near="1e-2")
                self.assertEqual(ran.code, 0, ran.said[-3000:])

    def test_what_it_refuses_with_sizes_too_is_its_own_failure(self):
        network = networks.NETWORKS[0]
        ran = self.run_it(network.path, *network.words)
        self.assertEqual(ran.code, 6, ran.said[-2000:])
        self.assertIn("OpConversionFailure", ran.said)

    def test_sizes_are_found_whoever_refuses_those_of_one(self):
        """After a failed inference OpenVINO gives NaN, unless the model is opened afresh."""
        for name in ("ch_PP-OCRv4_rec_infer", "ch_ppocr_mobile_v2.0_cls_infer"):
            path = next(n for n in networks.NETWORKS if n.name == name).path
            for words in (["run", path, "--openvino", "--onnxrt", "--tolerance", "auto"],
                          ["run", path, "--onnxrt", "--openvino", "--tolerance", "auto"],
                          ["blame", path, "--onnxrt", "--openvino"],
                          ["check", "consistency", path, "--openvino"]):
                with self.subTest(name, words=words):
                    done = subprocess.run([os.environ["VERNIER"], *map(str, words)],
                                          cwd=self.folder, capture_output=True, text=True,
                                          check=False)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-2000:])
                    self.assertRegex(done.stdout + done.stderr,
                                     "With free dimensions of size 1 the model (ran in .* and )?"
                                     "failed in openvino")

    def test_a_model_that_it_takes_as_it_is_stays_so(self):
        path = self.folder / "m.onnx"
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"], name="r")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        ran = self.run_it(path, "--input-shapes", "x:[1,3]", "x:[4,3]", "--iterations", "2")
        self.assertEqual(ran.code, 0, ran.said)
        self.assertNotIn("was compiled", ran.said)
        # On demand it is compiled for what is fed.
        fed = self.run_it(path, "--input-shapes", "x:[1,3]", "x:[4,3]", "--iterations", "2",
                          "--openvino-shapes", "static")
        self.assertEqual(fed.code, 0, fed.said)
        for sizes in ("x:[1,3]", "x:[4,3]"):
            self.assertIn(f"was compiled for {sizes}\n", fed.said)
        self.assertNotIn("refuses", fed.said)

    def branches_before_what_they_read(self):
        """A quantiser may write such a file, which both frameworks read."""
        def branch(name, op):
            return helper.make_graph([helper.make_node(op, ["late"], [name])], name, [],
                                     [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

        nodes = [helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
                 helper.make_node("Cast", ["sum"], ["is"], to=TensorProto.BOOL),
                 helper.make_node("If", ["is"], ["y"], name="choose",
                                  then_branch=branch("then", "Relu"),
                                  else_branch=branch("else", "Neg")),
                 helper.make_node("Exp", ["x"], ["late"], name="exp")]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        path = self.folder / "unsorted.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        return path

    def test_nodes_may_come_before_what_their_branches_read(self):
        path = self.branches_before_what_they_read()
        for words in ((), ("--onnx-outputs", "mark", "all")):
            with self.subTest(words=words):
                ran = self.run_it(path, "--input-shapes", "x:[2,3]", *words)
                self.assertEqual(ran.code, 0, ran.said)
        done = subprocess.run([os.environ["VERNIER"], "blame", path, "--onnxrt", "--openvino",
                               "--input-shapes", "x:[2,3]"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_nodes_of_branches_may_come_before_what_they_read(self):
        def branch(name, op):
            nodes = [helper.make_node(op, [name + "_late"], [name]),
                     helper.make_node("Exp", ["x"], [name + "_late"])]
            return helper.make_graph(nodes, name, [],
                                     [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

        outer = helper.make_graph(
            [helper.make_node("Neg", ["inner"], ["outer"]),
             helper.make_node("If", ["is"], ["inner"], then_branch=branch("a", "Relu"),
                              else_branch=branch("b", "Neg"))], "outer", [],
            [helper.make_tensor_value_info("outer", TensorProto.FLOAT, None)])
        nodes = [helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
                 helper.make_node("Cast", ["sum"], ["is"], to=TensorProto.BOOL),
                 helper.make_node("If", ["is"], ["y"], name="choose", then_branch=outer,
                                  else_branch=branch("c", "Neg"))]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
        path = self.folder / "unsorted.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        # ONNX Runtime refuses such a file.
        done = subprocess.run([os.environ["VERNIER"], "run", path, "--openvino", "--input-shapes",
                               "x:[2,3]"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
