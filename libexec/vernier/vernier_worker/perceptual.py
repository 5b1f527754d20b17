"""--compare perceptual_metrics: the LPIPS distance, by the user's own torch and lpips.

As Polygraphy computes it, on the CPU with AlexNet, but where it warns and passes this refuses.
"""

import sys

import numpy as np

from . import scripts, wire

# What LPIPS was made for; values beyond are taken for 0 to 255.
LARGEST_UNIT = 1.0


def _as_images(array):
    """Three-channel images, one after another, channels first, from -1 to 1."""
    if array.ndim == 3:
        array = array.transpose(2, 0, 1)[None] if array.shape[2] <= 3 else array[None]
    elif array.ndim == 4 and array.shape[3] <= 3:
        array = array.transpose(0, 3, 1, 2)
    array = array.astype(np.float32)
    if array.max() > LARGEST_UNIT:
        array = array / 255.0
    if array.max() <= LARGEST_UNIT and array.min() >= 0.0:
        array = array * 2.0 - 1.0
    channels = array.shape[1]
    if channels == 1:
        array = np.repeat(array, 3, axis=1)
    elif channels == 2:
        array = np.concatenate([array, array[:, 1:]], axis=1)
    return np.ascontiguousarray(array[:, :3])


def _check(array):
    if array.ndim not in (3, 4) or array.size == 0 or array.dtype.kind not in "fiub":
        raise wire.Failure(
            wire.INVALID, "LPIPS compares images: numbers of rank 3 or 4, not "
            f"{array.dtype} of shape {array.shape}")


class Perceptual:
    """The network, loaded when it is first needed."""

    def __init__(self, _path, _name):
        try:
            import lpips
            import torch
        except ImportError as error:
            raise wire.Failure(
                wire.UNAVAILABLE, f"LPIPS needs the packages torch and lpips, and {sys.executable} "
                f"cannot import '{error.name}': '{sys.executable} -m pip install torch lpips' adds "
                "them, or --python names another interpreter") from None
        self.torch = torch
        with scripts.guard("LPIPS cannot load its network", wire.UNAVAILABLE):
            self.network = lpips.LPIPS(net="alex", version="0.1").to(torch.device("cpu"))
            self.network.eval()

    def measure(self, a, b):
        """The mean distance of the images of two arrays of one shape."""
        _check(a)
        _check(b)
        with scripts.guard("LPIPS"), self.torch.no_grad():
            images = [self.torch.from_numpy(_as_images(side)) for side in (a, b)]
            return float(self.network(*images).mean().item())
