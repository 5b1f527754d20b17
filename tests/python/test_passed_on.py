"""Tensors that a script hands on as they came are not copied; changed ones are."""

import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "libexec" / "vernier"))

from vernier_worker import tensors, wire  # noqa: E402

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
        before = count()
        for _ in range(20):
            self.hand_on(list(self.arrive().items()))
        self.assertEqual(count(), before)


if __name__ == "__main__":
    unittest.main()
