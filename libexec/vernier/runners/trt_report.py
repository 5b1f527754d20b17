"""An engine's report, as the plug-in writes it (backends/tensorrt/engine/engine_report.h)."""

import json

# TensorRT's names for element types, and ours.
NAMES = {"FLOAT": "float32", "HALF": "float16", "INT8": "int8", "INT32": "int32", "INT64": "int64",
         "UINT8": "uint8", "BOOL": "bool", "BF16": "bfloat16", "FP8": "float8_e4m3fn"}


def type_name(dtype):
    return NAMES.get(dtype.name, dtype.name.lower())


def describe_plan(plan):
    """An engine file, with its builder if it names one.

    See backends/tensorrt/engine/plan_version.h.
    """
    if plan.startswith(b"ptrt") and len(plan) >= 12:
        number = int.from_bytes(plan[8:12], "little")
        release = "TensorRT 8.5" if number == 232 else "a TensorRT older than 8.6"
        return f"this engine, built with {release} (format {number}),"
    if not plan.startswith((b"ftrt", b"ptrt")):
        return "this file, which does not begin as TensorRT's engines do,"
    if len(plan) < 28 or plan[4] != 0:
        return "this engine"
    return f"this engine, built with TensorRT {'.'.join(str(part) for part in plan[24:28])},"


def _layers(trt, engine, context):
    """The inspector's own JSON of each layer, as text."""
    inspector = engine.create_engine_inspector()
    inspector.execution_context = context
    json_form = trt.LayerInformationFormat.JSON
    return [inspector.get_layer_information(i, json_form) for i in range(engine.num_layers)]


def _shapes(engine, name, is_input, profile):
    if not is_input:
        return {}
    ends = engine.get_tensor_profile_shape(name, profile)
    return {end: list(shape) for end, shape in zip(("min", "opt", "max"), ends)}


# In the inspector's JSON, and ours.
SPELLINGS = {"FP32": "float32", "Float": "float32", "FP16": "float16", "Half": "float16",
             "BF16": "bfloat16", "FP8": "float8", "Int8": "int8", "INT8": "int8", "Int32": "int32"}


def _precision(text, asked):
    """What a layer of the engine was asked for and gives; fused layers are named "a + b"."""
    try:
        layer = json.loads(text)
        kind = layer["Outputs"][0].get("Format/Datatype") or layer["Outputs"][0]["Datatype"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    wanted = [asked[part] for part in layer.get("Name", "").split(" + ") if part in asked]
    got = next((ours for theirs, ours in SPELLINGS.items() if theirs in kind), "")
    return {"layer": layer.get("Name", ""), "asked": wanted[0] if wanted else "", "got": got}


def write(path, trt, engine, context, asked=None):
    """`asked`: precisions by layer that the builder was given; None for an engine from a file."""
    asked = asked or {}
    names = [engine.get_tensor_name(i) for i in range(engine.num_io_tensors)]
    inputs = {n for n in names if engine.get_tensor_mode(n) == trt.TensorIOMode.INPUT}
    report = {
        "name": engine.name,
        "refittable": bool(engine.refittable),
        "device_memory_bytes": getattr(engine, "device_memory_size_v2",
                                       None) or engine.device_memory_size,
        "tensors": [{"name": n, "input": n in inputs,
                     "dtype": type_name(engine.get_tensor_dtype(n)),
                     "shape": list(engine.get_tensor_shape(n))} for n in names],
        "profiles": [{"shapes": [_shapes(engine, n, n in inputs, profile) for n in names]}
                     for profile in range(engine.num_optimization_profiles)],
        "layers_repeat": int(trt.__version__.split(".")[0]) < 10,
        "detailed": engine.profiling_verbosity == trt.ProfilingVerbosity.DETAILED,
        "layers": _layers(trt, engine, context)}
    report["precisions"] = [row for row in (_precision(text, asked) for text in report["layers"]
                                            if asked) if row]
    lines = "\n".join(f"{layer}:{kind}" for layer, kind in asked.items())
    report["config"] = [{"setting": "Layer precisions", "value": lines}] if asked else []
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(report, file)
