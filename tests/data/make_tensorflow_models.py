"""Writes one small network in every format that TensorFlow knows, and in ONNX.

Usage: make_tensorflow_models.py FOLDER (with a Python that has tensorflow, keras, tf2onnx and onnx)

  saved/          a SavedModel, written by TensorFlow 2: its graph calls a function
  signatures/     a SavedModel with the signatures `both` and `double`, and no serving_default
  frozen.pb       a frozen graph
  other.pb        the same with other weights
  ckpt/           a checkpoint `model` with its graph, of TensorFlow 1's kind
  ckpt2/          a checkpoint of TensorFlow 2's kind: values without a graph
  mlp.keras, mlp.h5
  weights.npz     w0 to w3, of all of the above
  mlp.onnx        from onnx.helper: nothing of TensorFlow was involved
  onnx.pb         the same file under a name that does not tell
  conv.pb         a frozen graph with a convolution and a pooling
  delay/          a checkpoint whose output is the input of the run before: a variable keeps it
  types.pb        a frozen graph that gives back a string, an int64 and a scalar bool
"""

import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
INPUTS, HIDDEN, CLASSES = 16, 32, 10


def weights():
    random = np.random.default_rng(5)
    shapes = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
    return [(random.standard_normal(shape) / 4).astype(np.float32) for shape in shapes]


class Network(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = [tf.Variable(w) for w in weights()]

    @tf.function(input_signature=[tf.TensorSpec([None, INPUTS], tf.float32, name="x")])
    def __call__(self, x):
        hidden = tf.nn.relu(x @ self.w[0] + self.w[1])
        scores = hidden @ self.w[2] + self.w[3]
        return {"logits": scores, "probabilities": tf.nn.softmax(scores)}


def write_saved_model(folder):
    network = Network()
    tf.saved_model.save(network, f"{folder}/saved", signatures=network.__call__)
    double = tf.function(lambda x: {"doubled": x + x},
                         input_signature=[tf.TensorSpec([None, INPUTS], tf.float32, name="x")])
    tf.saved_model.save(network, f"{folder}/signatures",
                        signatures={"both": network.__call__, "double": double})
    tf.train.Checkpoint(network=network).write(f"{folder}/ckpt2/model")


def write_graphs(folder):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None, INPUTS], name="x")
        w = [v1.get_variable(f"w{i}", initializer=value, use_resource=i % 2 == 0)
             for i, value in enumerate(weights())]
        hidden = tf.nn.relu(x @ w[0] + w[1], name="hidden")
        scores = tf.add(hidden @ w[2], w[3], name="scores")
        tf.identity(scores, name="logits")
        tf.nn.softmax(scores, name="probabilities")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, f"{folder}/ckpt/model")
        frozen = v1.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["logits", "probabilities"])
    write(frozen, f"{folder}/frozen.pb")
    bias = next(node for node in frozen.node if node.name == "w3").attr["value"].tensor
    bias.CopyFrom(tf.make_tensor_proto(tf.make_ndarray(bias) + 0.01))
    write(frozen, f"{folder}/other.pb")


def write(graph_def, path):
    with open(path, "wb") as file:
        file.write(graph_def.SerializeToString())


def write_more_graphs(folder):
    random = np.random.default_rng(6)
    with tf.Graph().as_default() as graph:
        image = v1.placeholder(tf.float32, [None, 12, 12, 3], name="image")
        kernel = tf.constant((random.standard_normal((3, 3, 3, 8)) / 5).astype(np.float32))
        features = tf.nn.relu(tf.nn.conv2d(image, kernel, strides=2, padding="SAME"))
        tf.reduce_mean(tf.nn.max_pool2d(features, 2, 2, "VALID"), [1, 2], name="pooled")
    write(graph.as_graph_def(), f"{folder}/conv.pb")
    with tf.Graph().as_default() as graph:
        text = v1.placeholder(tf.string, [2], name="text")
        number = v1.placeholder(tf.int64, [3], name="number")
        tf.strings.join([text, "!"], name="louder")
        tf.identity(number * 2, name="twice")
        tf.reduce_all(number > 0, name="positive")
    write(graph.as_graph_def(), f"{folder}/types.pb")


def write_delay(folder):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [400, 400], name="x")
        kept = v1.get_variable("kept", initializer=np.zeros((400, 400), np.float32),
                               use_resource=True)
        before = tf.identity(kept.read_value())
        with tf.control_dependencies([before]):
            assigned = kept.assign(x, read_value=False)
        with tf.control_dependencies([assigned]):
            tf.identity(before, name="before")
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, f"{folder}/delay/model")


def write_keras(folder):
    x = keras.Input((INPUTS,), name="x")
    hidden = keras.layers.Dense(HIDDEN, activation="relu", name="hidden")(x)
    scores = keras.layers.Dense(CLASSES, name="scores")(hidden)
    outputs = [keras.layers.Activation("linear", name="logits")(scores),
               keras.layers.Softmax(name="probabilities")(scores)]
    model = keras.Model(x, outputs)
    model.set_weights(weights())
    model.save(f"{folder}/mlp.keras")
    model.save(f"{folder}/mlp.h5")


def write_onnx(folder):
    np.savez(f"{folder}/weights.npz", **{f"w{i}": w for i, w in enumerate(weights())})
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    names = ["w0", "b0", "w1", "b1"]
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["h0"]),
             helper.make_node("Add", ["h0", "b0"], ["h1"]),
             helper.make_node("Relu", ["h1"], ["h2"]),
             helper.make_node("MatMul", ["h2", "w1"], ["h3"]),
             helper.make_node("Add", ["h3", "b1"], ["logits"]),
             helper.make_node("Softmax", ["logits"], ["probabilities"], axis=-1)]
    graph = helper.make_graph(
        nodes, "mlp", [helper.make_tensor_value_info("x", float32, ["n", INPUTS])],
        [helper.make_tensor_value_info(name, float32, ["n", CLASSES])
         for name in ("logits", "probabilities")],
        [onnx.numpy_helper.from_array(w, name) for w, name in zip(weights(), names)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{folder}/mlp.onnx")
    shutil.copy(f"{folder}/mlp.onnx", f"{folder}/onnx.pb")


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for part in (write_saved_model, write_graphs, write_more_graphs, write_delay,
                 write_keras, write_onnx):
        part(folder)


if __name__ == "__main__":
    main()
