"""Random feeds of the same numbers as Polygraphy's, from descriptions of inputs, and saved ones."""

import math
import os
from collections import OrderedDict
from fnmatch import fnmatchcase

from .. import errors, exception
from ..logger import G_LOGGER
from ..results import load_inputs

SEED, SIZE = 1, 1  # where nothing is given


def _is_open(size):
    return size is None or isinstance(size, str) or size < 0


def _has_open(shape):
    return any(_is_open(size) for size in shape)


def _fits(shape, declared):
    """Can the shape be fed where that one is declared?"""
    return len(shape) == len(declared) and all(
        _is_open(old) or old == new for new, old in zip(shape, declared))


def _pair(given, default):
    if not isinstance(given, (tuple, list)):
        return default
    return tuple(standard if value is None else value for value, standard in zip(given, default))


class DataLoader:
    """Feeds that are drawn when they are asked for, by index.

    In a run of vernier.polygraphy_compat the program draws them. Anywhere else they can be iterated
    and indexed once there is metadata, given or set as `input_metadata`.

    `input_metadata` of the constructor is the user's, by names of inputs or patterns of them; the
    attribute of that name is the model's.
    """

    def __init__(self, seed=None, iterations=None, input_metadata=None, val_range=None,
                 data_loader_backend_module=None):
        self.seed = SEED if seed is None else seed
        self.iterations = 1 if iterations is None else iterations
        self.user_input_metadata = input_metadata or {}
        self.input_metadata = None
        self.val_range = val_range
        self.data_loader_backend_module = data_loader_backend_module or "numpy"
        if self.data_loader_backend_module not in ("numpy", "torch"):
            raise errors.InvalidArgument("data_loader_backend_module: expected numpy or torch, got "
                                         f"{data_loader_backend_module!r}")
        self._logged = set()

    def __getitem__(self, index):
        if not 0 <= index < self.iterations:
            raise IndexError(f"iteration {index} of {self.iterations}")
        if self.input_metadata is None:
            self.input_metadata = self.user_input_metadata
        if not self.input_metadata:
            raise errors.InvalidArgument("DataLoader: nothing says which inputs there are; give it "
                                         "input_metadata")
        draw = _Torch if self.data_loader_backend_module == "torch" else _NumPy
        source = draw(self.seed + index)
        own = self._own()
        return OrderedDict((name, self._drawn(source, name, entry, own.get(name)))
                           for name, entry in self.input_metadata.items())

    def _own(self):
        """What the user says of the model's inputs, by their names."""
        found, used = {}, set()
        for pattern, entry in self.user_input_metadata.items():
            for name in self.input_metadata:
                if name == pattern or fnmatchcase(name, pattern):
                    found[name] = entry
                    used.add(pattern)
        for pattern in self.user_input_metadata:
            if pattern not in used:
                self._once(f"Input tensor: {pattern} | Metadata was provided, but the input does "
                           "not exist in one or more runners.")
        return found

    def _drawn(self, source, name, declared, own):
        dtype, shape = declared
        own_dtype, own_shape = own if own is not None else (None, None)
        dtype = dtype if own_dtype is None else own_dtype
        if own_shape is not None and self._are_values(dtype, own_shape, shape):
            self._once(f"Assuming {name} is a shape tensor. Setting input values to: "
                       f"{tuple(own_shape)}. If these values are not correct, please set it "
                       "correctly in 'input_metadata' or by providing --input-shapes")
            return source.values(list(own_shape), dtype)
        shape = self._fixed(name, self._shape(name, shape, own_shape))
        if source.is_whole(dtype):
            cast = bool if source.is_bool(dtype) else int
            return source.whole(shape, dtype, *map(cast, self._range(name)))
        return source.real(shape, dtype, *map(float, self._range(name)))

    def _are_values(self, dtype, own, declared):
        """Are these the values of a tensor that holds a shape, and not its shape?"""
        whole = dtype is None or (_NumPy.is_whole(dtype) and not _NumPy.is_bool(dtype))
        return (declared is not None and whole and not _has_open(declared) and len(declared) == 1
                and not _has_open(own) and len(own) == declared[0])

    def _shape(self, name, declared, own):
        if own is None or declared is None:
            return declared if own is None else own
        if _has_open(own) and own is not declared:
            self._once(f"Input tensor: {name} [shape={_text(declared)}] | Provided input shape: "
                       f"{_text(own)} is dynamic.\nDynamic shapes cannot be used to generate "
                       "inference data. Will use default shape instead.\nTo avoid this, please "
                       "provide a fixed shape to the data loader. ")
        elif not _fits(own, declared):
            self._once(f"Input tensor: {name} [shape={_text(declared)}] | Cannot use provided "
                       f"custom shape: {_text(own)} to override tensor shape. Will use default "
                       "shape instead.")
        else:
            return own
        return declared

    def _fixed(self, name, shape):
        shape = () if shape is None else shape
        if not _has_open(shape):
            return tuple(shape)
        bound = getattr(shape, "min", None) or getattr(shape, "max", None)
        fixed = tuple(bound or (SIZE if _is_open(size) else size for size in shape))
        if not _fits(fixed, shape):
            raise errors.InvalidArgument(f"Input tensor: {name} | Cannot override original shape: "
                                         f"{_text(shape)} to {_text(fixed)}")
        self._once(f"Input tensor: {name} [shape={_text(shape)}] | Will generate data of shape: "
                   f"{_text(fixed)}.\nIf this is incorrect, please provide a custom data loader.")
        return fixed

    def _range(self, name):
        given = self.val_range
        if hasattr(given, "items"):
            given = given.get(name, given.get(""))
        self.check_range(given)
        return _pair(given, (0.0, 1.0))

    def check_range(self, given):
        if isinstance(given, (tuple, list)) and len(given) != 2:
            raise errors.InvalidArgument(
                "val_range: expected the smallest and the largest value, got "
                f"{given!r}")

    def _once(self, text):
        if text not in self._logged:
            self._logged.add(text)
            G_LOGGER.warning(text)


def _text(shape):
    return str(tuple(shape))


class StreamingDataLoader:
    """Feeds that were saved, an iteration at a time: of one path or several, files or folders."""

    def __init__(self, paths, allow_dirs=True):
        self.paths, self.allow_dirs = paths, allow_dirs

    def __iter__(self):
        paths = [self.paths] if isinstance(self.paths, (str, os.PathLike)) else self.paths
        for path in paths:
            if not self.allow_dirs and os.path.isdir(path):
                raise errors.InvalidArgument(
                    f"'{os.fspath(path)}' is a folder, and allow_dirs is False")
            for feed in load_inputs(path):
                yield OrderedDict(feed)


class _NumPy:
    """Draws arrays."""

    def __init__(self, seed):
        import numpy as np
        self.random = np.random.RandomState(seed)

    @staticmethod
    def _dtype(dtype):
        import numpy as np
        if str(dtype).startswith("torch."):
            dtype = str(dtype)[len("torch."):]
        return np.dtype(np.float32 if dtype is None else dtype)

    @classmethod
    def is_whole(cls, dtype):
        return cls._dtype(dtype).kind in "iub"

    @classmethod
    def is_bool(cls, dtype):
        return cls._dtype(dtype).kind == "b"

    def values(self, values, dtype):
        import numpy as np
        return np.array(values, dtype=np.int64 if dtype is None else self._dtype(dtype))

    def whole(self, shape, dtype, low, high):
        import numpy as np
        return np.array(self.random.randint(low=low, high=high + 1, size=shape,
                                            dtype=self._dtype(dtype)))

    def real(self, shape, dtype, low, high):
        import numpy as np
        # Two infinities would make NaN.
        scale, shift = (low, 0) if math.isinf(low) else (high - low, low)
        scale = high if math.isinf(high) else scale
        drawn = self.random.random_sample(size=shape) * scale + shift
        return np.array(drawn.astype(self._dtype(dtype)))


class _Torch(_NumPy):
    """Draws tensors; of floats always from 0 to 1, as Polygraphy does."""

    def __init__(self, seed):
        import torch
        self.random = torch.Generator()
        self.random.manual_seed(seed)

    def _type(self, dtype):
        import torch
        return getattr(torch, self._dtype(dtype).name)

    def values(self, values, dtype):
        import torch
        return torch.tensor(values, dtype=torch.int64 if dtype is None else self._type(dtype))

    def whole(self, shape, dtype, low, high):
        import torch
        drawn = torch.randint(int(low), int(high) + 1, tuple(shape), generator=self.random)
        return drawn.to(self._type(dtype))

    def real(self, shape, dtype, low, high):
        import torch
        return torch.rand(tuple(shape), generator=self.random, dtype=self._type(dtype))


__all__ = ["DataLoader", "StreamingDataLoader"]
__getattr__ = exception.missing(__name__)
