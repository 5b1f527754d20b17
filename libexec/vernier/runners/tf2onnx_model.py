"""A TensorFlow model converted: to ONNX by the user's own tf2onnx, or to a frozen graph.

Not a runner: its one output is the bytes of the converted model.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow loads
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # converting needs no GPU

import numpy as np  # noqa: E402
from vernier_worker import quiet  # noqa: E402

with quiet.without_notes():
    import tensorflow as tf
    tf.config.list_logical_devices()  # more of it is loaded only then

v1 = tf.compat.v1
tf.get_logger().setLevel("ERROR")  # functions of TensorFlow 1 are deprecated, and still needed here

# What Polygraphy takes for no output of a graph.
NO_OUTPUT_OPS = ["Switch", "FusedBatchNorm", "Assert", "NextIteration", "Enter", "LoopCond", "Exit",
                 "Print", "Assign", "NoOp", "ReadVariableOp", "VarIsInitializedOp", "Const"]
NO_OUTPUT_SCOPES = ["while", "Assert"]


def _ends(graph_def, scope=None):
    """Names of the inputs and outputs of a graph, by Polygraphy's rules."""
    nodes = [n for n in graph_def.node if not (scope and n.name.startswith(scope))]
    used = {name.split(":")[0].lstrip("^") for node in nodes for name in node.input}
    inputs = [n.name + ":0" for n in nodes if "Placeholder" in n.op]
    outputs = [n.name + ":0" for n in nodes
               if n.name not in used and n.input
               and not any(op in n.op for op in NO_OUTPUT_OPS)
               and not any(scope in n.name for scope in NO_OUTPUT_SCOPES)]
    return inputs, outputs


def _from_frozen(path):
    graph_def = v1.GraphDef()
    with open(path, "rb") as file:
        try:
            graph_def.ParseFromString(file.read())
        except Exception as error:
            raise ValueError(f"Could not import TensorFlow GraphDef from: {path}. Is this a valid "
                             f"TensorFlow model? ({error})") from None
    inputs, outputs = _ends(graph_def)
    return graph_def, inputs, outputs


def _from_checkpoint(folder, name):
    prefix = os.path.join(folder, name) if name else tf.train.latest_checkpoint(folder)
    if prefix is None or not os.path.exists(prefix + ".meta"):
        raise ValueError(f"there is no checkpoint with a graph (.meta) at '{prefix or folder}'")
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        saver = v1.train.import_meta_graph(prefix + ".meta", clear_devices=True)
        saver.restore(session, prefix)
        scope = saver.saver_def.restore_op_name.rsplit("/", 1)[0] + "/"
        inputs, outputs = _ends(graph.as_graph_def(), scope)
        frozen = v1.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), [name.split(":")[0] for name in outputs])
    return frozen, inputs, outputs


def _freeze(function, output_names):
    """A function's graph without variables and calls, with an operation named for each output."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    frozen = convert_variables_to_constants_v2(function)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen.graph.as_graph_def(), name="")
        outputs = [tf.identity(graph.get_tensor_by_name(tensor.name), name=name).name
                   for name, tensor in zip(output_names, frozen.outputs)]
    return graph.as_graph_def(), [tensor.name for tensor in frozen.inputs], outputs


def _from_saved_model(folder):
    model = tf.saved_model.load(folder)
    signatures = dict(model.signatures)
    function = signatures.get("serving_default")
    if function is None and len(signatures) == 1:
        function = next(iter(signatures.values()))
    if function is None:
        raise ValueError(f"the SavedModel has no signature 'serving_default', only "
                         f"{sorted(signatures)}")
    return _freeze(function, sorted(function.structured_outputs))


def _from_keras(path):
    import keras
    model = keras.models.load_model(path, compile=False)
    specs = [tf.TensorSpec(t.shape, t.dtype, name=t.name) for t in model.inputs]
    function = tf.function(lambda *tensors: model(
        list(tensors) if len(tensors) > 1 else tensors[0], training=False))
    return _freeze(function.get_concrete_function(*specs), list(model.output_names))


def _strip(model):
    """Signatures of SavedModel and Keras have no output numbers."""
    names = [value.name for value in [*model.graph.input, *model.graph.output]]
    plain = {name: name[:-2] for name in names if name.endswith(":0")}
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        value.name = plain.get(value.name, value.name)
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [plain.get(name, name) for name in names]


def convert(path, kind, target, ckpt, opset):
    readers = {"frozen": lambda: _from_frozen(path), "keras": lambda: _from_keras(path),
               "saved-model": lambda: _from_saved_model(path),
               "ckpt": lambda: _from_checkpoint(path, ckpt)}
    graph_def, inputs, outputs = readers[kind]()
    if not outputs:
        raise ValueError("the graph has no outputs")
    if target == "frozen":
        return graph_def.SerializeToString()
    import tf2onnx
    model, _ = tf2onnx.convert.from_graph_def(graph_def, input_names=inputs, output_names=outputs,
                                              opset=opset)
    if kind in ("saved-model", "keras"):
        _strip(model)
    return model.SerializeToString()


def load(model_path, options):
    """A "model" that is given nothing and gives the converted one."""
    opset = int(options["opset"]) if options.get("opset") else None
    data = convert(model_path, options["model_type"], options["target"], options.get("ckpt"), opset)
    return lambda feed: {"model": np.frombuffer(data, np.uint8)}
