"""Functions that change what runners produced."""

from .. import exception


class BasePostprocessFunc:
    """A base for functions of one's own, which take an IterationResult and return one."""

    def __call__(self, iter_result):
        raise NotImplementedError


class TopKPostprocessFunc(BasePostprocessFunc):
    """Outputs become the indices of their largest values: k, (k, axis), or those by output name."""

    def __init__(self, k=None):
        self.k = 10 if k is None else k

    def _of(self, name):
        k = self.k.get(name, self.k.get("")) if isinstance(self.k, dict) else self.k
        return k if isinstance(k, (tuple, list)) else (k, -1)

    def __call__(self, iter_result):
        import numpy as np
        for name, output in iter_result.items():
            k, axis = self._of(name)
            if not k:
                continue
            output = np.asarray(output)
            # The order of equal values is that of their places; negated, some would wrap.
            rising = np.argsort(np.flip(output, axis), axis=axis, kind="stable")
            falling = np.flip(output.shape[axis] - 1 - rising, axis)
            iter_result[name] = np.take(falling, np.arange(min(k, output.shape[axis])), axis=axis)
        return iter_result


class PostprocessFunc:
    """The older name."""

    top_k = TopKPostprocessFunc


__all__ = ["BasePostprocessFunc", "PostprocessFunc", "TopKPostprocessFunc"]
__getattr__ = exception.missing(__name__)
