"""What the tests of this folder share: the driver, the models, and the peer's own selection.

    VERNIER_ONNX_DRIVER=build/onnx_driver [VERNIER_TEST_MODELS=folder] python3 test_onnx_oracle.py

Needs onnx, onnxruntime and polygraphy. Models: those under tests/data/models, those of the onnx
package, and those of the folders in VERNIER_TEST_MODELS (separated by colons).
"""

import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import onnx
from onnx import TensorProto
from polygraphy import constants
from polygraphy.backend.onnx import ModifyOutputs
from polygraphy.logger import G_LOGGER

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {
    "tensor_type": "tensor", "sparse_tensor_type": "sparse_tensor", "sequence_type": "sequence",
    "map_type": "map", "optional_type": "optional", "opaque_type": "opaque", None: "untyped",
}  # fmt: skip
KNOWN_DTYPES = 23  # the largest TensorProto.DataType that vernier knows
G_LOGGER.module_severity = G_LOGGER.CRITICAL + 100


def model_paths():
    folders = [os.path.join(HERE, "..", "data", "models")]
    folders += [f for f in os.environ.get("VERNIER_TEST_MODELS", "").split(":") if f]
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    folders.append(os.path.join(data, "light"))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        folders += glob.glob(os.path.join(data, kind, "*"))
    return sorted(p for folder in folders for p in glob.glob(os.path.join(folder, "*.onnx")))


class Driver:
    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["VERNIER_ONNX_DRIVER"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the driver died with {self.process.wait()} on {request}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class OracleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = Driver()
        cls.folder = tempfile.mkdtemp()

    @classmethod
    def tearDownClass(cls):
        cls.driver.close()
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


def value_of(value):
    kind = value.type.WhichOneof("value")
    entry = {"name": value.name, "kind": KINDS[kind], "dtype": 0, "shape": None, "onnx_type": 0}
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(value.type, kind)
        entry["onnx_type"] = tensor.elem_type
        entry["dtype"] = tensor.elem_type if tensor.elem_type <= KNOWN_DTYPES else 0
        if tensor.HasField("shape"):
            entry["shape"] = []
            for dim in tensor.shape.dim:
                which = dim.WhichOneof("value")
                size = getattr(dim, which) if which else -1
                entry["shape"].append(
                    -1 if size == "" or (which == "dim_value" and size < 0) else size
                )
    return entry


def node_of(node):
    subgraphs = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            subgraphs.append([attribute.name, graph_of(attribute.g)])
        subgraphs += [[attribute.name, graph_of(graph)] for graph in attribute.graphs]
    attributes = [
        {
            "name": a.name, "type": a.type, "f": a.f, "i": a.i, "s": a.s.decode("utf-8", "replace"),
            "ints": list(a.ints), "floats": list(a.floats),
            "strings": [s.decode("utf-8", "replace") for s in a.strings],
        }
        for a in node.attribute
    ]  # fmt: skip
    return {
        "name": node.name, "op_type": node.op_type, "domain": node.domain,
        "inputs": list(node.input), "outputs": list(node.output),
        "attributes": attributes, "subgraphs": subgraphs,
    }  # fmt: skip


def graph_of(graph):
    return {
        "name": graph.name,
        "nodes": [node_of(node) for node in graph.node],
        "inputs": [value_of(v) for v in graph.input],
        "outputs": [value_of(v) for v in graph.output],
        "value_info": [value_of(v) for v in graph.value_info],
        "initializers": [
            {
                "name": t.name, "onnx_type": t.data_type, "dims": list(t.dims),
                "external": t.data_location == TensorProto.EXTERNAL, "raw_size": len(t.raw_data),
            }
            for t in graph.initializer
        ],
    }  # fmt: skip


def normal(value):
    """JSON's view of a structure; NaN attributes become equal to themselves."""
    text = json.dumps(value).replace("NaN", "null").replace("-Infinity", "null")
    return json.loads(text.replace("Infinity", "null"))


def select_with_peer(model, outputs, by_type, exclude):
    if outputs in (["*"], ["mark", "all"]):
        outputs = constants.MARK_ALL
    loader = ModifyOutputs(
        model, outputs=outputs, mark_types=by_type, exclude_outputs=exclude, copy=True
    )
    return loader()
