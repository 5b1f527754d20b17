"""Bases of runners and loaders of one's own."""

import time

from .. import errors, exception

_counts = {}


def _check_inputs(feed_dict, metadata):
    """Names, types and shapes, in Polygraphy's words."""
    wanted, given = set(metadata), set(feed_dict)
    for words, names in (("The following inputs were not found in input data", wanted - given),
                         ("Extra inputs in input data", given - wanted)):
        if names:
            raise errors.InvalidArgument(
                f"{words}: {names}.\nNote: inputs requested were: {wanted}, but "
                f"all inputs are: {given}")
    for name, value in feed_dict.items():
        dtype, shape = metadata[name]
        given = getattr(value, "dtype", None)
        is_numpy = type(value).__module__.split(".")[0] == "numpy"
        if is_numpy and has_one_type(dtype) and given != dtype:
            raise errors.InvalidArgument(
                f"Input tensor: {name} | Received unexpected dtype: {given}.\n"
                f"Note: Expected type: {dtype}")
        dims = getattr(value, "shape", None)
        if dims is not None and not _fits(dims, shape):
            raise errors.InvalidArgument(f"Input tensor: {name} | Received incompatible shape: "
                                  f"{tuple(dims)}.\nNote: Expected a shape compatible with: "
                                  f"{shape}")


def has_one_type(dtype):
    """Whether arrays have a type to check: not of texts, nor where NumPy has no such type."""
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
            raise errors.InvalidArgument(
                f"{self.name} | must be activated prior to calling infer()")
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


__all__ = ["BaseLoader", "BaseRunner"]
__getattr__ = exception.missing(__name__)
