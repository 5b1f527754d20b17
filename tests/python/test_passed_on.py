"""Tensors that a script hands on as they came are not copied; changed ones are."""

import gc
import mmap
import os
import pathlib
import signal
import sys
import unittest
from unittest import mock

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "libexec" / "vernier"))

from vernier_worker import loans, tensors, wire  # noqa: E402

A = np.random.default_rng(1).random(100_000)
B = np.arange(50_000, dtype=np.float32)


class PassedOn(unittest.TestCase):
    def setUp(self):
        self.description, self.memory = tensors.encode([("a", A), ("b", B)], "x")
        self.addCleanup(os.close, self.memory)

    def arrive(self, description=None, memory=None):
        """What a script is given."""
        memory = os.dup(self.memory) if memory is None else memory
        return dict(tensors.decode(wire.Reader(description or self.description), memory))

    def hand_on(self, items):
        """Whether it is the same memory; what the parent reads must be the items in any case."""
        description, memory = tensors.encode(items, "output")
        same = memory is not None and os.fstat(memory).st_ino == os.fstat(self.memory).st_ino
        received = self.arrive(description, memory)
        for name, value in items:
            np.testing.assert_array_equal(received[name], value)
            self.assertEqual(received[name].dtype, value.dtype)
        return same

    def test_what_is_as_it_came_is_not_copied(self):
        feed = self.arrive()
        for items in (feed, {"other": feed["b"]}, {"y": feed["a"].reshape(100, 1000)},
                      {"y": feed["a"][8:]}, {"y": feed["a"].view(np.int64)},
                      {"y": feed["b"], "z": feed["b"]}):
            with self.subTest(list(items)):
                self.assertTrue(self.hand_on(list(items.items())))

    def test_everything_else_is(self):
        feed = self.arrive()
        for items in ({"y": feed["a"][1:]}, {"y": feed["a"][::2]}, {"y": feed["a"].astype(np.float32)},
                      {"y": feed["a"], "new": np.zeros(3)}, {"y": feed["b"].byteswap()},
                      {"small": feed["b"][:16]}, {"y": self.arrive()["a"], "z": feed["b"]}):
            with self.subTest(list(items)):
                self.assertFalse(self.hand_on(list(items.items())))

    def test_a_single_changed_element_is_seen(self):
        for index in (0, 511, 70_000, 99_999):
            feed = self.arrive()
            feed["a"][index] = -5
            with self.subTest(index):
                self.assertFalse(self.hand_on([("a", feed["a"])]))
        # The sender's own bytes are as they were.
        np.testing.assert_array_equal(self.arrive()["a"], A)

    def test_nothing_stays_open(self):
        def count():
            return len(os.listdir("/proc/self/fd"))
        self.hand_on(list(self.arrive().items()))
        gc.collect()  # what other tests have left
        before = count()
        for _ in range(20):
            self.hand_on(list(self.arrive().items()))
        self.assertEqual(count(), before)


class Lent(unittest.TestCase):
    """Memory for large outputs is used again, and only when it is back."""

    def setUp(self):
        self.pool = loans.Pool()

    def lend(self, value):
        """The array as the parent reads it, and the number that it gives back."""
        description, memory = tensors.encode([("y", value)], "output", self.pool)
        number = os.fstat(memory).st_ino
        return dict(tensors.decode(wire.Reader(description), memory))["y"], number

    def test_what_is_not_back_is_not_touched(self):
        arrays = [np.full(300_000, i, np.float64) for i in range(4)]
        lent = [self.lend(array) for array in arrays]
        self.assertEqual(len({number for _, number in lent}), 4)
        for array, (received, _) in zip(arrays, lent):
            np.testing.assert_array_equal(received, array)

    def test_what_is_back_is_used_again(self):
        numbers = set()
        for i in range(6):
            # Smaller ones fit, too.
            array = np.full(300_000 - i, i, np.float64)
            received, number = self.lend(array)
            np.testing.assert_array_equal(received, array)
            numbers.add(number)
            del received
            self.pool.take_back(number)
        self.assertEqual(len(numbers), 1)

    def test_larger_outputs_take_the_place_of_smaller_ones(self):
        for size in (200_000, 300_000, 400_000):
            self.pool.take_back(self.lend(np.ones(size))[1])
        self.assertEqual(len(self.pool.free), 1)

    def test_what_is_lent_cannot_be_written_to(self):
        received, number = self.lend(np.ones(300_000))
        block = self.pool.lent[number]
        child = os.fork()
        if child == 0:
            block.map[5] = 1
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.WTERMSIG(status), signal.SIGSEGV)
        for write in (lambda: os.pwrite(block.descriptor, b"x", 0),
                      lambda: mmap.mmap(block.descriptor, 4096),
                      lambda: os.ftruncate(block.descriptor, 0)):
            self.assertRaises(PermissionError, write)
        np.testing.assert_array_equal(received, np.ones(300_000))

    def test_several_threads_copy_every_byte(self):
        for size in (8 << 20, (16 << 20) + 3, (50 << 20) + 1):
            array = np.random.default_rng(size).integers(0, 255, size, dtype=np.uint8)
            received, number = self.lend(array)
            self.assertTrue(np.array_equal(received, array), size)
            del received
            self.pool.take_back(number)

    def test_where_there_can_be_no_threads_every_byte_is_copied(self):
        array = np.random.default_rng(1).integers(0, 255, 40 << 20, dtype=np.uint8)
        failing = mock.Mock(side_effect=RuntimeError("can't start new thread"))
        with mock.patch.object(loans.threading.Thread, "start", failing):
            received, _ = self.lend(array)
        self.assertTrue(np.array_equal(received, array))

    def test_what_nobody_lent_is_ignored(self):
        self.pool.take_back(123456789)
        self.assertEqual(self.pool.free, [])

    def test_where_the_kernel_cannot_do_it_memory_is_new(self):
        self.pool.is_usable = False
        received, _ = self.lend(np.ones(300_000))
        np.testing.assert_array_equal(received, np.ones(300_000))
        self.assertEqual(self.pool.lent, {})

    def test_nothing_stays_open(self):
        before = len(os.listdir("/proc/self/fd"))
        for size in (200_000, 300_000, 250_000):
            self.pool.take_back(self.lend(np.ones(size))[1])
        self.pool = loans.Pool()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main()
