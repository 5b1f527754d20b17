"""--tf with a Keras model (.keras, .h5), by the user's own Keras."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # before TensorFlow loads

from vernier_worker import quiet  # noqa: E402

with quiet.without_notes():
    import keras
    if keras.backend.backend() == "tensorflow":
        import tensorflow
        tensorflow.config.list_logical_devices()  # more of it is loaded only then


def _layer_output(model, name):
    try:
        return model.get_layer(name).output
    except ValueError:
        known = ", ".join(layer.name for layer in model.layers)
        raise ValueError(f"--tf-outputs: the model has no layer '{name}'; its layers are "
                         f"{known}") from None


def with_outputs(model, words):
    """The same model with the outputs of these layers; "*" takes those of all."""
    names = [layer.name for layer in model.layers] if words == ["*"] else words
    outputs = {}
    for name in names:
        if name in model.output_names:  # not always the name of its layer
            tensor = model.outputs[list(model.output_names).index(name)]
        else:
            tensor = _layer_output(model, name)
        parts = keras.tree.flatten(tensor)
        keys = [name] if len(parts) == 1 else [f"{name}_{i}" for i in range(len(parts))]
        outputs.update(zip(keys, parts))
    return keras.Model(model.inputs, list(outputs.values())), list(outputs)


def stateful_layers(model):
    """Recurrent layers that keep their state from one batch to the next."""
    return [layer for layer in model._flatten_layers()  # within other layers and models too
            if getattr(layer, "stateful", False) and callable(getattr(layer, "reset_states", None))]


class KerasModel:
    """One model; inputs and outputs have Keras's own names, which are those of layers."""

    def __init__(self, model, output_names):
        self.model = model
        self.output_names = output_names
        self.input_metadata = {tensor.name: (tensor.dtype, tuple(tensor.shape))
                               for tensor in model.inputs}
        self.precision = keras.tree.flatten(model.inputs)[0].dtype
        policy = getattr(model, "dtype_policy", None)
        if policy is not None and getattr(policy, "compute_dtype", None):
            self.precision = policy.compute_dtype
        stateful = stateful_layers(model)
        if stateful:  # a model with this method is one that keeps a state
            self.reset_states = lambda: [layer.reset_states() for layer in stateful]

    def infer(self, feed):
        arrays = [feed[name] for name in self.input_metadata]
        outputs = self.model.predict_on_batch(arrays if len(arrays) > 1 else arrays[0])
        if isinstance(outputs, dict):
            return outputs
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        return dict(zip(self.output_names, outputs))


def _frozen(model, names):
    """The graph that Keras makes of the model, with constants, and an operation for each output."""
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    specs = [tf.TensorSpec(t.shape, t.dtype, name=t.name) for t in model.inputs]
    function = tf.function(lambda *tensors: model(list(tensors) if len(tensors) > 1 else tensors[0],
                                                  training=False))
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(*specs))
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(frozen.graph.as_graph_def(), name="")
        for name, tensor in zip(names, frozen.outputs):
            tf.identity(graph.get_tensor_by_name(tensor.name), name=name)
    return graph


def _save(model, names, options):
    """--save-pb and --save-tensorboard."""
    if not options.get("save_pb") and not options.get("save_tensorboard"):
        return
    import tensorflow as tf
    graph = _frozen(model, names)
    if options.get("save_pb"):
        path = os.path.abspath(options["save_pb"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".tmp", "wb") as file:
            file.write(graph.as_graph_def().SerializeToString())
        os.replace(path + ".tmp", path)
        print("Saving to", options["save_pb"])
    if options.get("save_tensorboard"):
        print("Writing tensorboard events to", options["save_tensorboard"])
        with graph.as_default():
            writer = tf.compat.v1.summary.FileWriter(options["save_tensorboard"])
            writer.add_graph(graph)
            writer.close()


def load(model_path, options=None):
    """A model that was saved with model.save()."""
    options = options or {}
    model = keras.models.load_model(model_path, compile=False)
    if not getattr(model, "inputs", None):
        raise ValueError("the model does not declare its inputs: build it before it is saved, or "
                         "save it as a SavedModel with model.export()")
    names = list(getattr(model, "output_names", None) or [f"output_{i}"
                                                          for i in range(len(model.outputs))])
    words = options.get("tf_outputs", "")
    if words:
        model, names = with_outputs(model, words.split("\n"))
    _save(model, names, options)
    return KerasModel(model, names)
