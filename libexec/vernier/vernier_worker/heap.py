"""The C heap of a process that runs models."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h of glibc
KEPT = 1 << 30  # free bytes at the heap's end that the kernel does not get back


def keep_freed_memory():
    """Lets the large arrays of one feed have the memory of those of the feed before.

    glibc takes each large array from the kernel and gives it back at once, and the kernel clears it
    every time, which takes longer than computing most of what is in it. To be called when the model
    is loaded: what loading needed for a while is gone by then. Other C libraries are left as they
    are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, KEPT)
