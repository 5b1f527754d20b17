"""A saved Keras model (.keras, .h5 or a SavedModel folder).

    vernier run net.keras --model-runner keras_model.py --load-outputs others.json

Inputs and outputs have the names that the model gives its layers. Layers with `stateful=True` are
reset before each feed, or with --steps before each sequence.
"""

import keras


class KerasModel:
    """One model; inputs and outputs by name."""

    def __init__(self, model_path):
        self.model = keras.saving.load_model(model_path, compile=False)
        self.input_names = [tensor.name for tensor in self.model.inputs]
        self.output_names = self.model.output_names
        self.input_metadata = {tensor.name: (tensor.dtype, tuple(tensor.shape))
                               for tensor in self.model.inputs}

    def reset_states(self):
        for layer in self.model._flatten_layers():
            if getattr(layer, "stateful", False) and hasattr(layer, "reset_states"):
                layer.reset_states()

    def infer(self, feed):
        inputs = [feed[name] for name in self.input_names]
        results = self.model(inputs if len(inputs) > 1 else inputs[0], training=False)
        if not isinstance(results, (list, tuple)):
            results = [results]
        return dict(zip(self.output_names, results))


def load(model_path):
    return KerasModel(model_path)
