"""Random inputs, of the same numbers as Polygraphy's, and saved ones."""

import os
from collections import OrderedDict

from polygraphy import constants, exception, json
from polygraphy.logger import G_LOGGER


def _pair(given, default):
    if not isinstance(given, (tuple, list)):
        return default
    return tuple(standard if value is None else value for value, standard in zip(given, default))


class DataLoader:
    """Feeds for inputs of `input_metadata`, or of the attribute of that name."""

    def __init__(self, seed=None, iterations=None, input_metadata=None, val_range=None,
                 data_loader_backend_module=None):
        if data_loader_backend_module not in (None, "numpy"):
            raise exception.PolygraphyException(
                "vernier's stand-in for Polygraphy draws with NumPy alone, not with "
                f"{data_loader_backend_module}: 'pip install polygraphy' brings the real one")
        self.seed = constants.DEFAULT_SEED if seed is None else seed
        self.iterations = 1 if iterations is None else iterations
        self.user_input_metadata = input_metadata or {}
        self.input_metadata = None
        self.val_range = val_range

    def _range(self, name):
        given = self.val_range
        if isinstance(given, dict):
            given = given.get(name, given.get(""))
        return _pair(given, (0.0, 1.0))

    def _described(self):
        metadata = self.input_metadata or self.user_input_metadata
        if not metadata:
            raise exception.PolygraphyException(
                "DataLoader: nothing says which inputs there are; give it input_metadata")
        for name, (dtype, shape) in metadata.items():
            own = self.user_input_metadata.get(name)
            own_dtype, own_shape = own if own is not None else (None, None)
            yield name, own_dtype or dtype, own_shape or shape

    def _draw(self, random, name, dtype, shape):
        import numpy as np
        low, high = self._range(name)
        dtype = np.dtype(np.float32 if dtype is None else dtype)
        shape = [constants.DEFAULT_SHAPE_VALUE if not isinstance(size, int) or size < 0 else size
                 for size in shape or ()]
        if dtype.kind in "iub":
            cast = bool if dtype.kind == "b" else int
            return np.array(random.randint(low=cast(low), high=cast(high) + 1, size=shape,
                                           dtype=dtype))
        low, high = float(low), float(high)
        # Two infinities would make NaN.
        scale, shift = (low, 0) if np.isinf(low) else (high - low, low)
        if np.isinf(high):
            scale = high
        return np.array((random.random_sample(size=shape) * scale + shift).astype(dtype))

    def __getitem__(self, index):
        import numpy as np
        if not 0 <= index < self.iterations:
            raise IndexError(f"iteration {index} of {self.iterations}")
        G_LOGGER.verbose(f"Generating data using numpy seed: {self.seed + index}")
        random = np.random.RandomState(self.seed + index)
        return OrderedDict((name, self._draw(random, name, dtype, shape))
                           for name, dtype, shape in self._described())


class StreamingDataLoader:
    """Feeds that were saved as JSON: of one path or several, files or folders of them."""

    def __init__(self, paths, allow_dirs=True):
        self.paths, self.allow_dirs = paths, allow_dirs

    def _files(self):
        paths = [self.paths] if isinstance(self.paths, (str, os.PathLike)) else self.paths
        for path in paths:
            if not os.path.isdir(path):
                yield path
            elif not self.allow_dirs:
                raise exception.PolygraphyException(f"'{path}' is a folder, and allow_dirs is False")
            else:
                names = [name for name in os.listdir(path) if name.endswith(".json")]
                names.sort(key=lambda name: (len(name), name))
                yield from (os.path.join(path, name) for name in names)

    def __iter__(self):
        for path in self._files():
            feeds = json.load_json(path)
            for feed in feeds if isinstance(feeds, list) else [feeds]:
                yield OrderedDict(feed)


__all__ = ["DataLoader", "StreamingDataLoader"]
__getattr__ = exception.missing("comparator.data_loader")
