"""What a runner is."""

import os
import tempfile
import time

from vernier import InvalidArgument

from ..common import TensorMetadata
from .common import call

_counts = {}


def _check_inputs(feed_dict, metadata):
    """Names, types and shapes, in Polygraphy's words."""
    wanted, given = set(metadata), set(feed_dict)
    for words, names in (("The following inputs were not found in input data", wanted - given),
                         ("Extra inputs in input data", given - wanted)):
        if names:
            raise InvalidArgument(f"{words}: {names}.\nNote: inputs requested were: {wanted}, but "
                                  f"all inputs are: {given}")
    for name, value in feed_dict.items():
        dtype, shape = metadata[name]
        given = getattr(value, "dtype", None)
        if type(value).__module__.split(".")[0] == "numpy" and has_one_type(dtype) and given != dtype:
            raise InvalidArgument(f"Input tensor: {name} | Received unexpected dtype: {given}.\n"
                                  f"Note: Expected type: {dtype}")
        dims = getattr(value, "shape", None)
        if dims is not None and not _fits(dims, shape):
            raise InvalidArgument(f"Input tensor: {name} | Received incompatible shape: "
                                  f"{tuple(dims)}.\nNote: Expected a shape compatible with: "
                                  f"{shape}")


def numpy_type(name):
    """NumPy's type of a name of vernier's; of texts, whose types differ in length, any of them."""
    import numpy as np
    from vernier._arrays import numpy_type as of_numbers
    return np.dtype(str) if name in ("string", "str") else of_numbers(name)


def has_one_type(dtype):
    """Whether arrays can be held against a type: not of texts, nor where NumPy has no such type."""
    import numpy as np
    try:
        dtype = np.dtype(np.void if dtype is None else dtype)
    except TypeError:
        return False
    return dtype.kind not in "UOS" and not dtype.name.startswith("void")


def _fits(dims, shape):
    """Names and negative numbers stand for any size."""
    if shape is None:
        return True
    return len(dims) == len(shape) and all(
        not isinstance(want, int) or want < 0 or want == size for size, want in zip(dims, shape))


class BaseLoader:
    """A base for loaders of one's own: called, they give what call_impl returns."""

    def __call__(self, *args, **kwargs):
        return self.call_impl(*args, **kwargs)

    def call_impl(self, *args, **kwargs):
        raise NotImplementedError


class BaseRunner:
    """A base for runners of one's own, with Polygraphy's methods *_impl."""

    def __init__(self, name=None, prefix=None):
        prefix = "Runner" if prefix is None else prefix
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
        if check_inputs:
            _check_inputs(feed_dict, self.get_input_metadata())
        self.inference_time = None
        start = time.perf_counter()
        outputs = self.infer_impl(feed_dict, *args, **kwargs)
        if self.inference_time is None:  # not every runner has a clock of its own
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


