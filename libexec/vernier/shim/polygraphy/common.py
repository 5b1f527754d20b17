"""Names, types and shapes of a model's inputs."""

from collections import OrderedDict

from polygraphy import exception


class MetadataTuple:
    """Type and shape of one input."""

    def __init__(self, dtype, shape, docstring=None):
        self.dtype = dtype
        self.shape = shape
        self.docstring = docstring

    def __iter__(self):
        yield from (self.dtype, self.shape)

    def __repr__(self):
        return f"MetadataTuple({self.dtype}, {self.shape})"


class TensorMetadata(OrderedDict):
    """Input names to MetadataTuple."""

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        self[name] = MetadataTuple(dtype, shape, docstring)
        return self


__getattr__ = exception.missing("common")
