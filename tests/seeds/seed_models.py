"""The models and scripts that the command lines of the founding documents name."""

import pathlib
import textwrap

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def info(name, *shape):
    return helper.make_tensor_value_info(name, FLOAT, shape)


def save(folder, name, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, pathlib.Path(name).stem, inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, folder / name)


def weight(name, *shape):
    values = np.random.default_rng(7).standard_normal(shape, dtype=np.float32)
    return numpy_helper.from_array(values / np.float32(np.sqrt(shape[-1])), name)


def convolution(folder, name, batch):
    """Small, with the names that the documents use; `batch` may be dynamic."""
    nodes = [
        helper.make_node("Conv", ["input", "w1"], ["conv1_output"], strides=[16, 16]),
        helper.make_node("Relu", ["conv1_output"], ["relu1_output"]),
        helper.make_node("GlobalAveragePool", ["relu1_output"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w2"], ["output1"]),
        helper.make_node("Sigmoid", ["output1"], ["output2"]),
        helper.make_node("Add", ["output1", "output2"], ["final_output"]),
    ]
    save(folder, name, nodes, [info("input", batch, 3, 224, 224)],
         [info("final_output", batch, 5)], [weight("w1", 4, 3, 16, 16), weight("w2", 4, 5)])


def write_models(folder):
    folder.mkdir(parents=True, exist_ok=True)
    identity = [helper.make_node("Identity", ["X"], ["Y"])]
    save(folder, "identity.onnx", identity, [info("X", 1, 2, 4, 4)], [info("Y", 1, 2, 4, 4)])
    save(folder, "dynamic_identity.onnx", identity, [info("X", 1, 2, "height", "width")],
         [info("Y", 1, 2, "height", "width")])
    for name in ("model.onnx", "resnet50.onnx", "large_model.onnx", "huge_model.onnx"):
        convolution(folder, name, 4 if name == "model.onnx" else 1)
    convolution(folder, "dynamic_model.onnx", "batch")
    save(folder, "multi_input_model.onnx",
         [helper.make_node("Mul", ["image", "mask"], ["masked"])],
         [info("image", 1, 3, 224, 224), info("mask", 1, 1, 224, 224)],
         [info("masked", 1, 3, 224, 224)])
    for name, text in SCRIPTS.items():
        (folder / name).write_text(textwrap.dedent(text))


# What the documents' scripts do, in our words.
SCRIPTS = {
    "data_loader.py": """
        import numpy as np


        def load_data():
            # pictures would be read here
            for seed in range(3):
                generator = np.random.default_rng(seed)
                yield {"input": generator.random((4, 3, 224, 224), dtype=np.float32)}
        """,
    "calibration_data.py": """
        import numpy as np


        def load_data():
            for level in (0.25, 0.75):
                ramp = np.linspace(0, level, 3 * 224 * 224, dtype=np.float32)
                yield {"input": np.stack([ramp.reshape(3, 224, 224)] * 4)}
        """,
    "pytorch_runner.py": """
        import torch


        def load(model_path):
            model = torch.jit.load("model.pt").eval()

            def infer(feed):
                with torch.no_grad():
                    return {"final_output": model(torch.from_numpy(feed["input"]))}
            return infer
        """,
}
