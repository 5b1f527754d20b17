"""Memory that came from the parent, and whether a script has left it as it was.

A script that hands on what it was given, as post-processing often does, needs no copy: the parent
gets its own sealed memory back. It is mapped privately, so a page that was written to is a page of
this process alone, and the kernel knows which those are.
"""

import functools
import mmap
import os
import weakref

import numpy as np

PAGEMAP = "/proc/self/pagemap"
# Bits of an entry (Documentation/admin-guide/mm/pagemap.rst).
PRESENT, SWAPPED, OF_A_FILE = np.uint64(1 << 63), np.uint64(1 << 62), np.uint64(1 << 61)
ENTRY_BYTES = 8

_blocks = weakref.WeakSet()


class Block(mmap.mmap):
    """A private mapping of a descriptor, which it owns."""

    def __new__(cls, descriptor):
        # Pages are copied only when they are written to, which a script may do.
        block = super().__new__(cls, descriptor, os.fstat(descriptor).st_size,
                                access=mmap.ACCESS_COPY)
        block.descriptor = descriptor
        block.address = np.frombuffer(block, np.uint8).__array_interface__["data"][0]
        _blocks.add(block)
        return block

    def __del__(self):
        os.close(self.descriptor)


def _has_own_pages(address, size):
    """Are there pages of this process alone? True also where the kernel does not say."""
    first = address // mmap.PAGESIZE
    count = (address + size - 1) // mmap.PAGESIZE - first + 1
    try:
        with open(PAGEMAP, "rb", buffering=0) as file:
            file.seek(first * ENTRY_BYTES)
            entries = np.frombuffer(file.read(count * ENTRY_BYTES), np.uint64)
    except OSError:
        return True
    own = (entries & PRESENT != 0) & (entries & OF_A_FILE == 0)
    return entries.size != count or bool(own.any()) or bool((entries & SWAPPED).any())


@functools.lru_cache(maxsize=None)
def _kernel_tells():
    """Does a page show that it was written to? A sandbox may answer with zeros."""
    descriptor = os.memfd_create("vernier-try", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, mmap.PAGESIZE)
    block = Block(descriptor)
    untouched = block[0] == 0 and not _has_own_pages(block.address, len(block))
    block[0] = 1
    return untouched and _has_own_pages(block.address, len(block))


def place_of(array):
    """The block that holds an array's bytes, and the offset there; None if it is elsewhere."""
    if not array.flags.c_contiguous or array.nbytes == 0:
        return None
    address = array.__array_interface__["data"][0]
    for block in _blocks:
        if block.address <= address and address + array.nbytes <= block.address + len(block):
            return block, address - block.address
    return None


def common_block(arrays, alignment):
    """The one block that all arrays lie in, unchanged, and their offsets; None if there is none."""
    places = [place_of(array) for array in arrays]
    if not places or None in places or len({id(block) for block, _ in places}) != 1:
        return None
    block = places[0][0]
    offsets = [offset for _, offset in places]
    if any(offset % alignment for offset in offsets):
        return None
    if not _kernel_tells() or any(_has_own_pages(block.address + offset, array.nbytes)
                                  for offset, array in zip(offsets, arrays)):
        return None
    return block, offsets
