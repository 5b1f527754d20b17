"""--data-loader-backend-module torch: random inputs by torch's generator."""

from . import scripts, tensors, wire

FLAG = "--data-loader-backend-module torch"


class Draws:
    """Feeds, each by a generator of its own seed, as Polygraphy's ArraySampler makes them."""

    def __init__(self, _path, _name):
        with scripts.guard(FLAG):
            import torch
        self.torch = torch

    def _dtype(self, code, name):
        """torch's type of the same name; it has all that Polygraphy can draw."""
        wanted = "string" if code == tensors.STRING else tensors.NAMES[code]
        dtype = getattr(self.torch, wanted, None)
        if dtype is None:
            raise wire.Failure(wire.MALFORMED, f"{FLAG}: input '{name}' is {wanted}, which torch "
                               f"{self.torch.__version__} does not have")
        return dtype

    def draw(self, seed, requests):
        """The encoded feed. `requests` are (name, code, dims, low, high); ints are whole numbers."""
        generator = self.torch.Generator()
        generator.manual_seed(seed)
        items = []
        for name, code, dims, low, high in requests:
            dtype = self._dtype(code, name)
            with scripts.guard(f"{FLAG}: input '{name}'", wire.MALFORMED):
                if isinstance(low, int):
                    value = self.torch.randint(low, high + 1, dims, generator=generator, dtype=dtype)
                else:
                    value = self.torch.rand(dims, generator=generator, dtype=dtype)
                    if (low, high) != (0.0, 1.0):
                        value = value * (high - low) + low
            items.append((name, value))
        return tensors.encode(items, "input")
