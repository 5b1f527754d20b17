"""What a runner is."""

import os
import tempfile
import time

from vernier import InvalidArgument

from ..common import TensorMetadata
from .common import call

_counts = {}


class BaseLoader:
    """A base for loaders of one's own: called, they give what call_impl returns."""

    def __call__(self, *args, **kwargs):
        return self.call_impl(*args, **kwargs)

    def call_impl(self, *args, **kwargs):
        raise NotImplementedError


class BaseRunner:
    """A base for runners of one's own, with Polygraphy's methods *_impl."""

    def __init__(self, name=None, prefix=None):
        prefix = prefix or type(self).__name__
        if name is None:
            count = _counts.get(prefix, 0)
            _counts[prefix] = count + 1
            name = f"{prefix}-N{count}-{time.strftime('%x-%X')}"
        self.name = name
        self.is_active = False
        self.inference_time = None

    def activate(self):
        if not self.is_active:
            self.activate_impl()
            self.is_active = True

    def deactivate(self):
        if self.is_active:
            self.is_active = False
            self.deactivate_impl()

    def infer(self, feed_dict, check_inputs=True, *args, **kwargs):
        if not self.is_active:
            raise InvalidArgument(f"{self.name} | must be activated prior to calling infer()")
        start = time.perf_counter()
        outputs = self.infer_impl(feed_dict, *args, **kwargs)
        if self.inference_time is None or not getattr(self, "times_itself", False):
            self.inference_time = time.perf_counter() - start
        return outputs

    def get_input_metadata(self, use_numpy_dtypes=None):
        return self.get_input_metadata_impl()

    def last_inference_time(self):
        return self.inference_time

    def activate_impl(self):
        pass

    def deactivate_impl(self):
        pass

    def get_input_metadata_impl(self):
        raise NotImplementedError

    def infer_impl(self, feed_dict):
        raise NotImplementedError

    def __enter__(self):
        self.activate()
        return self

    def __exit__(self, *_):
        self.deactivate()


class FrameworkRunner(BaseRunner):
    """One of vernier's runners under Polygraphy's methods."""

    times_itself = True

    def __init__(self, name, prefix):
        super().__init__(name, prefix)
        self._runner = None
        self._folder = None

    def vernier_runner(self):
        """The runner that does the work, not yet open."""
        raise NotImplementedError

    def activate_impl(self):
        self._runner = self.vernier_runner()
        self._runner.activate()

    def deactivate_impl(self):
        self._runner.deactivate()
        self._runner = None

    def infer_impl(self, feed_dict):
        result = self._runner.infer(feed_dict)
        self.inference_time = result.runtime
        if any(type(value).__module__.split(".")[0] == "torch" for value in feed_dict.values()):
            import torch  # outputs are what the inputs are
            return {name: torch.from_dlpack(result.dlpack(name)).clone() for name in result}
        return {name: result[name] for name in result}

    def get_input_metadata_impl(self):
        import numpy as np
        metadata = TensorMetadata()
        for name, (dtype, shape) in self._runner.inputs.items():
            metadata.add(name, np.dtype(dtype), list(shape) if shape is not None else None)
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


