"""What is done to a model of 2 GiB as a file: cases of the bench."""

import pathlib
import shutil
import subprocess

import measure
from rows import Row, Section

LAYERS = 32  # of 64 MiB each, one more than is extracted
INSPECT_S, COPY_SHARE = 0.2, 10  # goals: seconds, per cent over the copy

MAKE = """
import sys
import numpy as np, onnx
from onnx import TensorProto, helper
path, layers = sys.argv[1], int(sys.argv[2])
side = 4096
rng = np.random.default_rng(5)
block = rng.standard_normal(side * side, dtype=np.float32).tobytes()
nodes, weights = [], []
with open(path + ".data", "wb") as data:
    for i in range(layers):
        nodes.append(helper.make_node("MatMul", [f"t{i}", f"w{i}"], [f"t{i + 1}"], name=f"n{i}"))
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[side, side],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", path.rpartition("/")[2] + ".data"),
                           ("offset", data.tell()), ("length", len(block))):
            tensor.external_data.add(key=key, value=str(value))
        weights.append(tensor)
        data.write(block)
shape = (1, side)
graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("t0", 1, shape)],
                          [helper.make_tensor_value_info(f"t{layers}", 1, shape)], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
open(path, "wb").write(model.SerializeToString())
"""


def models(setting):
    folder = setting.folder / "models"
    folder.mkdir(exist_ok=True)
    layers = 8 if setting.quick else LAYERS
    path = folder / "large.onnx"
    subprocess.run([setting.peer_python, "-c", MAKE, str(path), str(layers)], check=True,
                   env=setting.env)
    part, data, copied = folder / "part.onnx", folder / "part.onnx.data", folder / "copied.data"

    def run(*words, expect=()):
        return measure.run([str(word) for word in words], setting.env, setting.folder / "models.log",
                           expect)

    # Into new files each time: an old one would be replaced at once by dd, which frees its pages for
    # the copy, and by us when the new one is whole.
    def extract():
        part.unlink(missing_ok=True), data.unlink(missing_ok=True)
        return run(setting.vernier, "surgeon", "extract", path, "--outputs", f"t{layers - 1}:auto",
                   "-o", part, "--save-external-data", data.name, expect=("PASSED",))

    def copy():
        copied.unlink(missing_ok=True)
        # Synced as the extracted file is, and without a reflink.
        return run("dd", f"if={path}.data", f"of={copied}", "bs=1M", "conv=fsync",
                   f"count={64 * (layers - 1)}")

    try:
        extract(), copy()  # the pages are read
        samples = measure.alternate(
            {"inspect": lambda: run(setting.vernier, "inspect", "model", path, "--show", "layers"),
             "extract": extract, "copy": copy}, setting.rounds)
        peer = run(setting.peer_python, pathlib.Path(setting.peer_python).parent / "polygraphy",
                   "inspect", "model", path, "--show", "layers")
    finally:
        shutil.rmtree(folder)
    inspect, extracted, copying = (measure.wall(samples[name])
                                   for name in ("inspect", "extract", "copy"))
    added = 100 * (extracted.median / copying.median - 1)
    peak = measure.tree_peak(samples["extract"])
    return Section(
        "16. A model of 2 GiB",
        f"{layers} weights of 64 MiB beside the model. `inspect model --show layers` (Polygraphy: one "
        f"run), and `surgeon extract` of all layers but the last with their weights, against `dd` of "
        "as many bytes, synced as well.",
        [Row("`inspect model`", f"{peer.wall:.3f} s", f"{inspect.text()} s",
             f"1/{peer.wall / inspect.median:.0f}", f"≤ {INSPECT_S} s",
             "met" if inspect.median <= INSPECT_S else "missed"),
         Row("a copy of the bytes", "–", f"{copying.text()} s"),
         Row("`surgeon extract`", "–", f"{extracted.text()} s", f"{added:+.0f} % on the copy",
             f"≤ +{COPY_SHARE} %", "met" if added <= COPY_SHARE else "missed"),
         Row("`surgeon extract`: memory, all processes", "–", f"{peak.text(1 / 2**20, 1)} MiB")])


CASES = {"models": models}
