"""Runs models in ONNX Runtime and OpenVINO: does each runtime take them, and do the two agree?"""

import pathlib
import re

import numpy as np
import onnx

# What a runtime is known not to take, so that a change is noticed.
KNOWN_REFUSALS = {
    # NumPy has no such types, so the Python bindings cannot feed them.
    "onnxruntime": {"id_bfloat16", "id_float8e4m3fn", "id_float8e5m2", "id_complex64"},
    # No strings through the Python binding, no float8 inputs, no complex numbers, and no local
    # functions in the ONNX front end.
    "openvino": {"id_string", "id_float8e4m3fn", "id_float8e5m2", "id_complex64", "function"},
}
MIN_DISTINCT_VALUES = 100


def feeds_for(path):
    random = np.random.RandomState(1)
    graph = onnx.load(path, load_external_data=False).graph
    constants = {initializer.name for initializer in graph.initializer}
    feeds = {}
    for entry in graph.input:
        if entry.name in constants:
            continue
        kind = entry.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else 1 for d in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if kind.elem_type == onnx.TensorProto.STRING:
            feeds[entry.name] = np.full(shape, "text", dtype=object)
        else:
            feeds[entry.name] = np.asarray(random.random_sample(shape)).astype(dtype)
        if entry.name == "shape":
            feeds[entry.name] = np.array([2, 3], np.int64)
    return feeds


def run_onnxruntime(path, feeds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def run_openvino(path, feeds):
    import openvino
    core = openvino.Core()
    hints = {"INFERENCE_PRECISION_HINT": "f32"}
    model = core.compile_model(core.read_model(path), "CPU", hints)
    # OpenVINO drops Identity nodes and gives the port all the names that they joined, so any one
    # name of a port may be that of another tensor.
    ordered = [feeds[(port.get_names() & feeds.keys()).pop()] for port in model.inputs]
    results = model(ordered)
    return {f"{index}": results[index] for index in range(len(model.outputs))}


def outcome(runner, path, feeds):
    try:
        return runner(path, feeds), "runs"
    except Exception as error:  # a runtime may raise anything; the text is the result
        return None, re.sub(r"\s+", " ", str(error))[:110]


def check_distinct(name, outputs):
    """A light model's output must be informative: a constant one would agree by accident."""
    poor = []
    for key, array in outputs.items():
        wanted = min(MIN_DISTINCT_VALUES, array.size - 1)
        found = len(np.unique(array))
        if found <= wanted:
            poor.append(f"{name}: output {key} has {found} distinct values of {array.size}")
    return poor


def check_all(folder, names):
    unexpected = 0
    for name in names:
        path = str(pathlib.Path(folder) / f"{name}.onnx")
        feeds = feeds_for(path)
        ort, ort_text = outcome(run_onnxruntime, path, feeds)
        vino, vino_text = outcome(run_openvino, path, feeds)
        worst = "-"
        if ort and vino:
            pairs = list(zip(ort.values(), vino.values()))
            numeric = all(a.dtype.kind in "fiub" and a.size for a, _ in pairs)
            if numeric and all(a.shape == b.shape for a, b in pairs):
                with np.errstate(invalid="ignore"):
                    worst = max(float(np.abs(a.astype("f8") - b.astype("f8")).max())
                                for a, b in pairs)
                worst = f"{worst:.2g}"
        print(f"{name:24} onnxruntime: {ort_text:6} openvino: {vino_text} max difference: {worst}")
        for runtime, result in (("onnxruntime", ort), ("openvino", vino)):
            refused = result is None
            if refused != (name in KNOWN_REFUSALS[runtime]):
                print(f"  unexpected: {runtime} {'refuses' if refused else 'takes'} {name}")
                unexpected += 1
        if name.startswith("light_") and ort:
            for line in check_distinct(name, ort):
                print(f"  {line}")
                unexpected += 1
    print(f"{len(names)} models, {unexpected} unexpected")
    return 1 if unexpected else 0
