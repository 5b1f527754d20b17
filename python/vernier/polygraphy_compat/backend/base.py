"""What vernier's own runners are under Polygraphy's methods."""

import os
import tempfile

from vernier._logging import as_polygraphy
from vernier._polygraphy.backend.base import BaseLoader, BaseRunner, has_one_type  # noqa: F401
from vernier._polygraphy.backend.common import call
from vernier._polygraphy.common import TensorMetadata

__all__ = ["BaseLoader", "BaseRunner"]


def numpy_type(name):
    """NumPy's type of a name of vernier's; of texts, whose types differ in length, any of them."""
    import numpy as np
    from vernier._arrays import numpy_type as of_numbers
    return np.dtype(str) if name in ("string", "str") else of_numbers(name)


def label_of(name):
    """A runner's name as a label of vernier.run, in which there is no "="."""
    return name.replace("=", ":")


class FrameworkRunner(BaseRunner):
    """One of vernier's runners under Polygraphy's methods."""

    def __init__(self, name, prefix):
        super().__init__(name, prefix)
        self._runner = None
        self._folder = None

    def vernier_runner(self):
        """The runner that does the work, not yet open."""
        raise NotImplementedError

    def for_run(self):
        """What vernier.run takes for it: this object itself serves where there is no such runner."""
        return self.vernier_runner()

    def activate_impl(self):
        self._runner = self.vernier_runner()
        with as_polygraphy():
            self._runner.activate()

    def deactivate_impl(self):
        self._runner.deactivate()
        self._runner = None

    def result_of(self, feed_dict):
        """vernier's own result, which has outputs of types that NumPy lacks, too."""
        result = self._runner.infer(feed_dict)
        self.inference_time = result.runtime
        return result

    def infer_impl(self, feed_dict):
        result = self.result_of(feed_dict)
        if any(type(value).__module__.split(".")[0] == "torch" for value in feed_dict.values()):
            import torch  # outputs are what the inputs are
            return {name: torch.from_dlpack(result.dlpack(name)).clone() for name in result}
        import numpy as np  # what scripts get is theirs to change
        return {name: np.array(result[name]) for name in result}

    def get_input_metadata_impl(self):
        metadata = TensorMetadata()
        for name, (dtype, shape) in self._runner.inputs.items():
            metadata.add(name, numpy_type(dtype), list(shape) if shape is not None else None)
        return metadata

    def path_of(self, model):
        """A model's path: of a loader that knows it, or of a file of its bytes."""
        model = getattr(model, "path", model)
        if callable(model):
            model = call(model)
        if hasattr(model, "SerializeToString"):
            model = model.SerializeToString()
        if not isinstance(model, (bytes, bytearray)):
            return os.fspath(model)
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="vernier-")
        path = os.path.join(self._folder.name, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        return path


