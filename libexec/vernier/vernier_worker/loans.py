"""Memory for large outputs that is used again: lent to the parent, which says when it is done.

Getting new shared memory from the kernel takes longer than copying into it. What is lent cannot be
written to by anybody: not through its descriptor, which is sealed, nor in this process, where its
pages are read-only until it is back.
"""

import ctypes
import fcntl
import mmap
import os
import threading

import numpy as np

LEAST = 1 << 20  # below this new memory costs less than talking about it
LEAST_OF_A_THREAD = 8 << 20  # bytes to copy
MOST_THREADS = 4  # more do not copy faster: memory is the limit
F_SEAL_FUTURE_WRITE = 0x10  # linux/fcntl.h; Python 3.9 has no name for it
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _copy(target, source):
    """One array of bytes to another. NumPy lets other threads run meanwhile."""
    count = min(len(os.sched_getaffinity(0)), MOST_THREADS, source.size // LEAST_OF_A_THREAD)
    cuts = [source.size * i // max(count, 1) for i in range(1, max(count, 1) + 1)]
    copied = []

    def copy_part(begin, end):
        np.copyto(target[begin:end], source[begin:end])
        copied.append(end)

    threads = []
    try:
        for begin, end in zip(cuts, cuts[1:]):
            thread = threading.Thread(target=copy_part, args=(begin, end))
            thread.start()
            threads.append(thread)
    except RuntimeError:  # this process may not have more
        pass
    copy_part(0, cuts[0])
    for thread in threads:
        thread.join()
    if len(copied) < len(cuts):
        np.copyto(target, source)


class Block:
    """Shared memory that only this object can write to, and only while it is not lent."""

    def __init__(self, size):
        self.descriptor = os.memfd_create("vernier-tensors", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, size)
            self.map = mmap.mmap(self.descriptor, size)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, SEALS)
        except BaseException:
            os.close(self.descriptor)
            raise
        self.size = size
        self.bytes = np.frombuffer(self.map, np.uint8)
        self.address = self.bytes.__array_interface__["data"][0]
        self.number = os.fstat(self.descriptor).st_ino

    def __del__(self):
        if hasattr(self, "number"):
            os.close(self.descriptor)

    def protect(self, protection):
        if _libc.mprotect(self.address, self.size, protection) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")

    def fill(self, pieces):
        for offset, data in pieces:
            data = np.frombuffer(data, np.uint8)
            _copy(self.bytes[offset:offset + data.size], data)


class Pool:
    """The blocks of one worker."""

    def __init__(self):
        self.free = []
        self.lent = {}
        self.is_usable = True  # does the kernel have all that this needs?

    def lend(self, pieces, total):
        """A descriptor of memory that holds the pieces (offset and bytes); None: it must be
        allocated elsewhere."""
        if total < LEAST or not self.is_usable:
            return None
        try:
            block = self._take(total)
            block.fill(pieces)
            block.protect(mmap.PROT_READ)
        except OSError:
            self.is_usable = False
            return None
        self.lent[block.number] = block
        return os.dup(block.descriptor)

    def _take(self, total):
        """The smallest free block that is large enough, else a new one in place of the free ones."""
        fitting = [block for block in self.free if block.size >= total]
        if not fitting:
            self.free = []
            return Block(total)
        block = min(fitting, key=lambda b: b.size)
        self.free.remove(block)
        return block

    def take_back(self, number):
        block = self.lent.pop(number, None)
        if block is None:
            return
        try:
            block.protect(mmap.PROT_READ | mmap.PROT_WRITE)
        except OSError:
            return  # there is new memory
        self.free.append(block)
