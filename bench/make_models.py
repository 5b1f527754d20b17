"""Makes the models and result files of the bench, the same bytes on every run.

Run with the Python of Polygraphy's environment, which has onnx and Polygraphy:

    python make_models.py FOLDER [--large]

--large also makes the 64 MiB result files and the sparse 6 GiB of external data.
"""

import argparse
import os
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CONV_LAYERS = 200
CONV_CHANNELS = 16
CONV_SIDE = 56
CONV_GAIN = 1.09
PLANTED = "Softsign"  # what a check of the bench takes for a fault
EXTERNAL_TENSORS = 6
EXTERNAL_BYTES = 1 << 30  # of each
MEBIBYTE_FLOATS = 1 << 18


def save(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(list(nodes), path.stem, inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString(deterministic=True))


def floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def identity(path, shape):
    save(path, [helper.make_node("Identity", ["x"], ["y"])], [floats("x", shape)],
         [floats("y", shape)])


def perceptron(path):
    """Two fully connected layers: small enough that the tool's own cost is what is measured."""
    rng = np.random.default_rng(1)
    weights = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
               for name, shape in (("w1", (16, 32)), ("w2", (32, 10)))]
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Relu", ["a"], ["h"]),
             helper.make_node("MatMul", ["h", "w2"], ["y"])]
    save(path, nodes, [floats("x", (4, 16))], [floats("y", (4, 10))], weights)


def convolutions(path, planted=None):
    """A chain of 200 convolutions, each with a ReLU; one layer may have another
    operator instead. The gain makes up for what the zero padding takes away, so that the last layer's values
    are still of the first's size."""
    rng = np.random.default_rng(2)
    nodes, weights = [], []
    current = "x"
    for layer in range(CONV_LAYERS):
        scale = CONV_GAIN * np.sqrt(2 / (CONV_CHANNELS * 9))
        kernel = rng.standard_normal((CONV_CHANNELS, CONV_CHANNELS, 3, 3)) * scale
        weights.append(numpy_helper.from_array(kernel.astype(np.float32), f"w{layer}"))
        nodes.append(helper.make_node("Conv", [current, f"w{layer}"], [f"conv{layer}"],
                                      pads=[1, 1, 1, 1]))
        operator = PLANTED if layer == planted else "Relu"
        nodes.append(helper.make_node(operator, [f"conv{layer}"], [f"relu{layer}"]))
        current = f"relu{layer}"
    shape = (1, CONV_CHANNELS, CONV_SIDE, CONV_SIDE)
    save(path, nodes, [floats("x", shape)], [floats(current, shape)], weights)


def overflowing(path):
    """The same chain with one node that float16 cannot hold."""
    convolutions(path)
    model = onnx.load(path)
    at, node = 300, model.graph.node[300]
    made = helper.make_node("Mul", [node.input[0], "overflowing"], ["overflowed"], name="planted")
    node.input[0] = "overflowed"
    model.graph.node.insert(at, made)
    model.graph.initializer.append(numpy_helper.from_array(np.array(6e4, np.float32), "overflowing"))
    path.write_bytes(model.SerializeToString(deterministic=True))


def external(path):
    """One Identity, and tensors whose 6 GiB lie in a sparse file that takes no room on the disk."""
    data = path.with_suffix(".data")
    with open(data, "wb") as file:
        os.truncate(file.fileno(), EXTERNAL_TENSORS * EXTERNAL_BYTES)
    tensors = []
    for index in range(EXTERNAL_TENSORS):
        tensor = TensorProto(name=f"weight{index}", data_type=TensorProto.FLOAT,
                             dims=[EXTERNAL_BYTES // 4], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", data.name), ("offset", index * EXTERNAL_BYTES),
                           ("length", EXTERNAL_BYTES)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
    save(path, [helper.make_node("Identity", ["x"], ["y"])], [floats("x", (4,))],
         [floats("y", (4,))], tensors)


def result_files(folder):
    """What two runs of Polygraphy would have saved: one output of 64 MiB, slightly different."""
    from polygraphy.comparator import IterationResult, RunResults

    rng = np.random.default_rng(3)
    values = rng.standard_normal(64 * MEBIBYTE_FLOATS, dtype=np.float32)
    other = values + np.float32(1e-6) * rng.standard_normal(values.size, dtype=np.float32)
    for name, array in (("first", values), ("second", other)):
        result = IterationResult(outputs={"y": array}, runtime=0.001, runner_name=name)
        RunResults([(name, [result])]).save(str(folder / f"{name}.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    identity(options.folder / "identity.onnx", (1, 1, 2, 2))
    identity(options.folder / "mebibyte.onnx", (MEBIBYTE_FLOATS,))
    identity(options.folder / "large.onnx", (384 * MEBIBYTE_FLOATS,))
    perceptron(options.folder / "perceptron.onnx")
    convolutions(options.folder / "conv200.onnx")
    convolutions(options.folder / "planted.onnx", planted=150)
    overflowing(options.folder / "overflowing.onnx")
    if options.large:
        external(options.folder / "external.onnx")
        result_files(options.folder)
    print(f"models in {options.folder}, made with onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
