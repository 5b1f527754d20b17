"""DataLoader: numbers, shapes, ranges, and feeds that were saved."""
import numpy as np
from PREFIX.common import TensorMetadata
from PREFIX.comparator import DataLoader, StreamingDataLoader, TopKPostprocessFunc
from PREFIX.json import save_json
from PREFIX.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.ERROR
inputs = (TensorMetadata().add("x", np.float32, (-1, 3)).add("d", np.float64, (2,))
          .add("i", np.int8, (4,)).add("b", np.bool_, (3,)).add("h", np.float16, ("n", 2))
          .add("s", np.int64, (2,)).add("bound", np.float32, (-1, 2), (3, 2), (5, 2)))


def drawn(**settings):
    loader = DataLoader(**settings)
    loader.input_metadata = inputs
    for feed in loader:
        print([(name, str(a.dtype), a.shape, a.tolist()) for name, a in feed.items()])


drawn()
drawn(seed=7, iterations=2)
drawn(val_range=(-2, 3))
drawn(val_range={"x": (-2, 3), "i": (-5, 5), "": (0, 2)})
drawn(input_metadata=TensorMetadata().add("x", None, (2, 3)).add("s", None, (5, 6)))
drawn(input_metadata=TensorMetadata().add("x*", np.float64, (4, 3)), iterations=1)
own = DataLoader(input_metadata=TensorMetadata().add("q", np.float32, (2,)))
print([feed["q"].tolist() for feed in own])
print(own[0]["q"].tolist())
try:
    own[5]
except IndexError:
    print("IndexError")
save_json([{"x": np.ones(2)}, {"x": np.zeros(2)}], "a.json")
save_json([{"x": np.full(1, 5)}], "b.json")
for paths in ("a.json", ["b.json", "a.json"]):
    print([feed["x"].tolist() for feed in StreamingDataLoader(paths)])
from PREFIX.comparator import IterationResult  # noqa: E402
for k in (2, (2, 0), {"y": 1, "": 3}, None):
    result = IterationResult({"y": np.array([[3, 9, 1], [8, 2, 4.]]), "z": np.arange(4)})
    top = TopKPostprocessFunc(k)(result)
    print([(name, a.tolist()) for name, a in top.items()])
