"""TensorMetadata, BoundedShape and their texts."""
import numpy as np
from PREFIX.common import TensorMetadata
from PREFIX.common.struct import BoundedShape

metadata = TensorMetadata()
print(metadata.add("x", np.float32, (-1, 3), min_shape=(1, 3), max_shape=(8, 3)) is metadata)
metadata.add("s", np.int64, [2], docstring="of shapes").add("none", None, None)
print(list(metadata), len(metadata), "x" in metadata, "q" in metadata)
print(metadata)
dtype, shape = metadata["x"]
print(list(shape), shape.min, shape.max, type(shape).__name__, repr(shape), shape == [-1, 3])
print(metadata["x"].shape.min, list(metadata["s"].shape), metadata["s"].shape.min,
      metadata["s"].docstring, metadata["none"].dtype, metadata["none"].shape)
print(metadata["s"] == TensorMetadata().add("s", np.int64, [2])["s"],
      metadata["s"] == metadata["x"])
fed = TensorMetadata.from_feed_dict({"a": np.ones((1, 2), np.float16), "b": np.zeros((), bool)})
print(fed)
print(BoundedShape([1, None, "n"]), BoundedShape((1,), min=[1]).max)
