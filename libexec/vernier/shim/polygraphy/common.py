"""Names, types and shapes of a model's inputs."""

from collections import OrderedDict

from polygraphy import exception


class BoundedShape(list):
    """A shape, with the smallest and the largest that are valid where it is open."""

    def __init__(self, shape, min=None, max=None):
        super().__init__(shape)
        self.min, self.max = min, max


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

    @classmethod
    def from_feed_dict(cls, feed_dict):
        """Names, types and shapes of arrays."""
        metadata = cls()
        for name, array in feed_dict.items():
            metadata.add(name, array.dtype, tuple(array.shape))
        return metadata

    def add(self, name, dtype, shape, min_shape=None, max_shape=None, docstring=None):
        if min_shape is not None or max_shape is not None:
            shape = BoundedShape(shape, min_shape, max_shape)
        self[name] = MetadataTuple(dtype, shape, docstring)
        return self


__getattr__ = exception.missing("common")
