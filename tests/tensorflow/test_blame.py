"""vernier blame of an ONNX model beside the same network in a format of TensorFlow."""

import json
import pathlib
import sys

import numpy as np
import onnx
import tensorflow as tf
from onnx import numpy_helper

from tensorflow_case import TensorFlowCase

WEIGHTED = ("Conv", "MatMul", "Gemm")


class Convolutions(tf.Module):
    """Three convolutions, channels last; tf2onnx turns them."""

    def __init__(self):
        super().__init__()
        random = np.random.default_rng(11)
        self.kernels = [tf.Variable((random.standard_normal(shape) / 5).astype(np.float32))
                        for shape in ((3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 8, 6))]
        self.bias = tf.Variable(random.standard_normal(8).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([1, 12, 10, 3], tf.float32, name="image")])
    def __call__(self, image):
        x = tf.nn.relu(tf.nn.conv2d(image, self.kernels[0], 1, "SAME") + self.bias)
        x = tf.nn.tanh(tf.nn.conv2d(x, self.kernels[1], 1, "SAME"))
        x = tf.nn.conv2d(x, self.kernels[2], 2, "SAME")
        return {"scores": tf.reduce_mean(x, [1, 2])}


def spoil(model, place, change):
    """The name of the node, the weight of which `change` changes: the place-th with weights."""
    stored = {weight.name: weight for weight in model.graph.initializer}
    nodes = [n for n in model.graph.node if n.op_type in WEIGHTED
             and any(name in stored for name in n.input)]
    node = nodes[place]
    weight = next(stored[name] for name in node.input if name in stored)
    values = numpy_helper.to_array(weight).copy()
    change(values)
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return node.name or node.output[0]


def scale(values):
    values *= 1.03


def zero_channel(values):
    values[0] = 0


def zero_column(values):
    values[:, 0] = 0


class BlameCase(TensorFlowCase):
    def blame(self, model, saved, *words):
        done = self.start("blame", "--runner", f"onnx=onnxrt {model}", "--runner",
                          f"saved=tf {saved}", "--save-blame", "blame.json", *words)
        found = self.folder / "blame.json"
        self.record = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
        return done

    def assert_nothing(self, done):
        self.assertEqual(done.code, 0, str(done))
        self.assertEqual(self.record["culprits"], [], str(done))
        self.assertIn("Nothing is to blame", done.out)
        self.assertEqual((self.record["reference"].split("-N")[0],
                          self.record["candidate"].split("-N")[0]), ("saved", "onnx"))

    def assert_blames(self, done, node):
        self.assertEqual(done.code, 1, str(done))
        first = self.record["culprits"][0]
        self.assertEqual(first["node"], node, str(done))
        self.assertIn("the reference's tensor is '", first["why"])


class Made(BlameCase):
    def test_a_dense_network_in_three_formats(self):
        m = self.models
        for saved in ("saved", "frozen.pb", "ckpt"):
            with self.subTest(saved):
                self.assert_nothing(self.blame(m / "mlp.onnx", m / saved, "--input-shapes",
                                               "x:[4,16]"))
                pairs = self.record["tensor_pairs"]
                self.assertGreater(len(pairs), 3)
                self.assertTrue(all(pair["error"] < 1e-5 for pair in pairs), pairs)
        model = onnx.load(m / "mlp.onnx")
        node = spoil(model, 0, zero_column)
        onnx.save(model, self.folder / "faulty.onnx")
        self.assert_blames(self.blame("faulty.onnx", m / "saved", "--input-shapes", "x:[4,16]"),
                           node)

    def test_channels_last_beside_channels_first(self):
        network = Convolutions()
        tf.saved_model.save(network, str(self.folder / "conv"), signatures=network.__call__)
        done = self.convert("conv", "-o", "conv.onnx")
        self.assertEqual(done.code, 0, str(done))
        self.assert_nothing(self.blame("conv.onnx", "conv"))
        for place, change in ((0, scale), (1, zero_channel), (2, scale)):
            with self.subTest(place):
                model = onnx.load(self.folder / "conv.onnx")
                node = spoil(model, place, change)
                onnx.save(model, self.folder / "faulty.onnx")
                self.assert_blames(self.blame("faulty.onnx", "conv"), node)

    def test_the_reference_is_the_one_without_an_onnx_graph(self):
        m = self.models
        done = self.blame(m / "mlp.onnx", m / "saved", "--reference", "onnx")
        self.assert_fails(done, 2, "'saved'", "can only be the reference")
        done = self.blame(m / "mlp.onnx", f"{m}/frozen.pb --tf-outputs logits")
        self.assert_fails(done, 2, "--tf-outputs", "--map-outputs")


class Trained(BlameCase):
    """basic-pitch, which its authors give away as ONNX and as SavedModel."""

    def network(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "trained"))
        import networks
        return next(n for n in networks.NETWORKS if n.name == "nmp")

    def test_nothing_is_to_blame(self):
        network = self.network()
        self.assert_nothing(self.blame(network.path, network.path.with_suffix(""), *network.words))
        self.assertGreater(len(self.record["tensor_pairs"]), 200)

    def test_a_fault_has_its_layer(self):
        network = self.network()
        for place, change in ((26, zero_channel), (28, scale), (30, scale)):
            with self.subTest(place):
                model = onnx.load(network.path)
                node = spoil(model, place, change)
                onnx.save(model, self.folder / "faulty.onnx")
                self.assert_blames(self.blame("faulty.onnx", network.path.with_suffix(""),
                                              *network.words), node)
                # Nor is anybody else to blame.
                self.assertEqual(len(self.record["culprits"]), 1, self.record["culprits"])
