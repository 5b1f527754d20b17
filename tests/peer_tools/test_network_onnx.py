"""vernier convert --convert-to onnx-like-trt-network against the peer's, both with the stand-in for
TensorRT's Python module."""

import os
import pathlib
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "commands"))
from program import PEER, VERNIER, Case, Ended  # noqa: E402

FAKE = HERE.parent / "trt_python" / "fake"
SCRIPT = """
import tensorrt as trt

def load_network():
    builder = trt.Builder(None)
    network = builder.create_network(1)
    x = network.add_input("x", trt.float32, (2, 2))
    network.mark_output(network.add_identity(x).get_output(0))
    return builder, network

def postprocess(network):
    network.name = "renamed"
"""


class NetworkAsOnnx(Case):
    def setUp(self):
        super().setUp()
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy"]
        nodes = [helper.make_node("Identity", ["x"], ["i"], name="same"),
                 helper.make_node("Relu", ["i"], ["r"], name="relu"),
                 helper.make_node("Add", ["r", "x"], ["y"], name="add")]
        graph = helper.make_graph(nodes, "small", info[:1], info[1:])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        self.path("network.py").write_text(SCRIPT)

    def convert(self, program, *words, fake=FAKE):
        path = os.pathsep.join([*([str(fake)] if fake else []), os.environ.get("PYTHONPATH", "")])
        return Ended(subprocess.run(
            [str(program), "convert", *words, "--convert-to", "onnx-like-trt-network"],
            cwd=self.folder, text=True, capture_output=True, timeout=120,
            env={**os.environ, "PYTHONPATH": path,
                 "LD_LIBRARY_PATH": os.environ.get("VERNIER_FAKE_CUDA_DIR", "")}))

    def written(self, program, *words):
        ended = self.convert(program, *words, "-o", "like.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        model = onnx.load(str(self.path("like.onnx")))
        self.path("like.onnx").unlink()
        return model

    def test_the_same_model(self):
        for words in (["m.onnx"], ["m.onnx", "--trt-npps", "network.py"],
                      ["m.onnx", "--tensor-dtypes", "x:float16"],
                      ["network.py", "--model-type", "trt-network-script"]):
            with self.subTest(words):
                theirs, ours = (self.written(program, *words) for program in (PEER, VERNIER))
                self.assertEqual(ours.opset_import, theirs.opset_import)
                self.assertEqual(ours.graph.name, theirs.graph.name)
                for part in ("input", "output", "value_info"):
                    self.assertEqual(list(getattr(ours.graph, part)), list(getattr(theirs.graph, part)))
                self.assertEqual(len(ours.graph.node), len(theirs.graph.node))
                for own, peers in zip(ours.graph.node, theirs.graph.node):
                    # Of an attribute that cannot be read the error is told in our words.
                    for node in (own, peers):
                        for attribute in node.attribute:
                            if attribute.s.startswith(b"<Error: could not retrieve"):
                                attribute.s = attribute.s.rpartition(b": ")[2]
                    self.assertEqual(own, peers)

    def test_what_cannot_be_done_is_told(self):
        ended = self.convert(VERNIER, "m.onnx", "-o", "like.onnx", fake=None)
        self.assertEqual(ended.code, 5, ended.out + ended.err)
        self.assertIn("onnx-like-trt-network needs the Python package tensorrt", ended.err)
        for model, code in (("nowhere.onnx", 3), ("frozen.pb", 5)):
            self.path("frozen.pb").write_bytes(b"\x0a\x00")
            ended = self.convert(VERNIER, model, "-o", "like.onnx")
            self.assertEqual(ended.code, code, ended.out + ended.err)
        ended = self.convert(VERNIER, "m.onnx", "-o", "m.onnx")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertFalse(self.path("like.onnx").exists())
