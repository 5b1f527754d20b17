"""A TensorFlow model converted: to ONNX by the user's own tf2onnx, or to a frozen graph.

Not a runner: its one output is the bytes of the converted model.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow loads
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # converting needs no GPU

import numpy as np  # noqa: E402
from vernier_worker import quiet, wire  # noqa: E402

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
    return _needed(graph.as_graph_def(), [tensor.name for tensor in frozen.inputs], outputs)


def _needed(graph_def, inputs, outputs):
    """Without what functions leave behind: what is not read would look like an output."""
    ends = [name.split(":")[0] for name in [*inputs, *outputs]]
    return v1.graph_util.extract_sub_graph(graph_def, ends), inputs, outputs


def _signature(signatures, wanted):
    """The one that --tf-signature names, else 'serving_default', else the only one."""
    found = signatures.get(wanted or "serving_default")
    if found is None and wanted:
        raise wire.Failure(wire.NOT_FOUND, f"--tf-signature: the SavedModel has no signature "
                           f"'{wanted}', only {str(sorted(signatures))[1:-1]}")
    if found is None and len(signatures) == 1:
        found = next(iter(signatures.values()))
    if found is None:
        raise ValueError(f"the SavedModel has no signature 'serving_default', only "
                         f"{str(sorted(signatures))[1:-1]}; --tf-signature chooses one")
    return found


def _from_saved_model(folder, wanted):
    try:
        model = tf.saved_model.load(folder)
    except (AttributeError, NotImplementedError):
        # An optimiser or a layer of another Keras; the signatures' graph needs neither.
        return _from_session(folder, wanted)
    function = _signature(dict(model.signatures), wanted)
    return _freeze(function, sorted(function.structured_outputs))


def _from_session(folder, wanted):
    """The same through TensorFlow 1's loader, which makes no objects of the model."""
    from tensorflow.python.framework import convert_to_constants
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        meta = v1.saved_model.loader.load(session, ["serve"], folder)
        signatures = {key: value for key, value in meta.signature_def.items()
                      if key != "__saved_model_init_op"}
        signature = _signature(signatures, wanted)
        ends = [tensor.name for tensor in signature.outputs.values()]
        frozen = convert_to_constants.convert_variables_to_constants_from_session_graph(
            session, graph.as_graph_def(), sorted({name.split(":")[0] for name in ends}))
    inputs = {tensor.name: key for key, tensor in signature.inputs.items()}
    _rename(frozen, {name.split(":")[0]: key for name, key in inputs.items()})
    keep = [key + ":0" for key in inputs.values()]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(_inlined(frozen, keep + ends), name="")
        outputs = [tf.identity(graph.get_tensor_by_name(signature.outputs[key].name), name=key).name
                   for key in sorted(signature.outputs)]
    return _needed(graph.as_graph_def(), keep, outputs)


def _rename(graph_def, names):
    """Operations get other names, where these are free."""
    taken = {node.name for node in graph_def.node}
    names = {old: new for old, new in names.items() if new not in taken}
    for node in graph_def.node:
        node.name = names.get(node.name, node.name)
        for i, read in enumerate(node.input):
            operation, colon, number = read.partition(":")
            node.input[i] = names.get(operation, operation) + colon + number


def _inlined(graph_def, keep):
    """The graph without calls of functions, by TensorFlow's own optimiser."""
    from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
    from tensorflow.python.grappler import tf_optimizer
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        meta = v1.train.export_meta_graph(graph_def=graph.as_graph_def(add_shapes=True),
                                          graph=graph)
    ends = meta_graph_pb2.CollectionDef()
    ends.node_list.value.extend(keep)
    meta.collection_def["train_op"].CopyFrom(ends)
    config = config_pb2.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.min_graph_nodes = -1  # however small it is
    rewrites.optimizers.append("function")
    return tf_optimizer.OptimizeGraph(config, meta)


def _from_keras(path, wanted):
    import keras
    model = keras.models.load_model(path, compile=False)
    names = list(model.output_names)
    if wanted:
        model, names = _beside("keras_model").with_outputs(model, wanted)
    specs = [tf.TensorSpec(t.shape, t.dtype, name=t.name) for t in model.inputs]
    function = tf.function(lambda *tensors: model(
        list(tensors) if len(tensors) > 1 else tensors[0], training=False))
    return _freeze(function.get_concrete_function(*specs), names)


def _beside(name):
    """Another of the scripts in this folder."""
    from importlib import util
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    spec = util.spec_from_file_location(name, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _chosen(graph_def, outputs, wanted):
    """The tensors of --tf-outputs: of the model's own outputs, or any of the graph."""
    if wanted == ["*"]:
        print("[W] --tf-outputs takes every tensor of TensorFlow's graph; those of the converted "
              "model are marked by --onnx-outputs mark all")
        return outputs
    known = {node.name for node in graph_def.node}
    chosen = []
    for name in wanted:
        tensor = name if ":" in name else name + ":0"
        if tensor not in outputs and tensor.split(":")[0] not in known:
            raise wire.Failure(wire.NOT_FOUND, f"--tf-outputs: the graph has no tensor '{name}'")
        chosen.append(tensor)
    return chosen


def _strip(model):
    """Signatures of SavedModel and Keras have no output numbers."""
    names = [value.name for value in [*model.graph.input, *model.graph.output]]
    plain = {name: name[:-2] for name in names if name.endswith(":0")}
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        value.name = plain.get(value.name, value.name)
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [plain.get(name, name) for name in names]


def convert(path, options, wanted):
    """The bytes of the model that the options ask for."""
    kind, target = options["model_type"], options["target"]
    readers = {"frozen": lambda: _from_frozen(path), "keras": lambda: _from_keras(path, wanted),
               "saved-model": lambda: _from_saved_model(path, options.get("signature")),
               "ckpt": lambda: _from_checkpoint(path, options.get("ckpt"))}
    graph_def, inputs, outputs = readers[kind]()
    if not outputs:
        raise ValueError("the graph has no outputs")
    if target == "frozen":
        return graph_def.SerializeToString()
    if wanted and kind != "keras":
        outputs = _chosen(graph_def, outputs, wanted)
    import tf2onnx
    opset = int(options["opset"]) if options.get("opset") else None
    model, _ = tf2onnx.convert.from_graph_def(graph_def, input_names=inputs, output_names=outputs,
                                              opset=opset)
    if kind in ("saved-model", "keras"):
        _strip(model)
    return model.SerializeToString()


def load(model_path, options, lists):
    """A "model" that is given nothing and gives the converted one."""
    data = convert(model_path, options, lists.get("tf_outputs", []))
    return lambda feed: {"model": np.frombuffer(data, np.uint8)}
