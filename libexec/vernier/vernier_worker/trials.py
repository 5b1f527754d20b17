"""Inferences in unusual circumstances: the twin of src/backend/wire/trial_messages.cc."""

import numpy as np

ALIGNMENT = 64


def _copy(array, shift):
    """A copy that may be written to and begins `shift` bytes behind a multiple of 64."""
    if array.dtype.hasobject:
        return array.copy()
    item = array.itemsize
    shift = (shift + item - 1) // item * item % ALIGNMENT
    memory = np.empty(array.nbytes + 2 * ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT + shift
    copy = memory[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _bytes_that_differ(before, after):
    """Positions of the bytes, or of the elements of texts."""
    if before.dtype.hasobject:
        pairs = zip(before.reshape(-1).tolist(), after.reshape(-1).tolist())
        return [i for i, (a, b) in enumerate(pairs) if a != b]
    a, b = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (before, after))
    return np.flatnonzero(a != b)


class Inputs:
    """Copies of the inputs for a runner that may do to them what it likes."""

    def __init__(self, feed, shift):
        self.feed = feed
        self.copies = [(name, _copy(array, shift)) for name, array in feed]
        self.kept = [array for _, array in self.copies]  # `copies` is handed out

    def report(self, out):
        written = []
        for (name, before), after in zip(self.feed, self.kept):
            places = _bytes_that_differ(before, after)
            if len(places) > 0:
                written.append((name, len(places), int(places[0])))
        out.u64(len(written))
        for name, count, first in written:
            out.text(name)
            out.u64(count)
            out.u64(first)
        out.u64(0)  # outputs that were made in memory of ours
