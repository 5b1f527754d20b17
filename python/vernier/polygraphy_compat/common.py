"""Names, types and shapes of tensors."""

from collections import OrderedDict


class MetadataTuple:
    """Type and shape of one tensor."""

    def __init__(self, dtype, shape, docstring=None):
        self.dtype = dtype
        self.shape = shape
        self.docstring = docstring

    def __iter__(self):
        return iter((self.dtype, self.shape))

    def __repr__(self):
        return f"MetadataTuple({self.dtype}, {self.shape})"


class TensorMetadata(OrderedDict):
    """Names to MetadataTuple."""

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        self[name] = MetadataTuple(dtype, shape, docstring)
        return self
