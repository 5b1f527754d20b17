"""Names, types and shapes of tensors."""

from collections import OrderedDict

from . import exception

class BoundedShape(list):
    """A shape, with the smallest and the largest that are valid where it is open."""

    def __init__(self, shape, min=None, max=None):
        super().__init__(shape)
        self.min, self.max = min, max

    def __repr__(self):
        return f"BoundedShape({list(self)}, min={self.min}, max={self.max})"


class MetadataTuple:
    """Type and shape of one tensor."""

    def __init__(self, dtype, shape, docstring=None):
        self.dtype = dtype
        self.shape = shape
        self.docstring = docstring

    def __iter__(self):
        return iter((self.dtype, self.shape))

    def __eq__(self, other):
        if not isinstance(other, MetadataTuple):
            return NotImplemented
        return _sizes(self) == _sizes(other) and _name(self.dtype) == _name(other.dtype)

    __hash__ = None

    def __repr__(self):
        return f"MetadataTuple({_name(self.dtype)}, {self.shape}, {self.docstring})"

    def __str__(self):
        words = []
        if self.dtype is not None:
            words.append(f"dtype={_name(self.dtype)}")
        if self.shape is not None:
            words.append(f"shape={tuple(self.shape)}")
        if self.docstring:
            words.append(self.docstring)
        return "[" + ", ".join(words) + "]" if words else ""


def _sizes(entry):
    return None if entry.shape is None else list(entry.shape)


def _name(dtype):
    """What NumPy calls the type, where it knows it."""
    if dtype is None:  # which NumPy takes for float64
        return None
    import numpy as np
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype).removeprefix("torch.")


class TensorMetadata(OrderedDict):
    """Names to MetadataTuple."""

    @staticmethod
    def from_feed_dict(feed_dict):
        """Of the arrays of a feed."""
        metadata = TensorMetadata()
        for name, value in feed_dict.items():
            metadata.add(name, value.dtype, tuple(value.shape))
        return metadata

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        if shape is not None:
            shape = BoundedShape(shape, min_shape, max_shape)
        self[name] = MetadataTuple(dtype, shape, docstring)
        return self

    def __str__(self):
        return "{" + ",\n ".join(f"{name} {meta}".strip() for name, meta in self.items()) + "}"


__all__ = ["BoundedShape", "MetadataTuple", "TensorMetadata"]
__getattr__ = exception.missing(__name__)
