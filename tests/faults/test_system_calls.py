"""The first system calls of saving fail one after another, and runs are killed at random moments.

save_faults.py, run as a program, does this for every call.
"""

import random
import tempfile
import unittest

from save_faults import WAYS, InputScene, Lost, Scene

FIRST_CALLS = 40
KILLS = 50


class SystemCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="vernier-saving-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.scene = Scene(cls.holder.name)

    def test_the_first_calls_fail_one_after_another(self):
        """Each in one format and one way, by turns; the program tries every combination."""
        ways = list(WAYS)
        made = 0
        for number in range(1, FIRST_CALLS + 1):
            name, way = Scene.FORMATS[number % len(Scene.FORMATS)], ways[number % len(ways)]
            with self.subTest(name=name, number=number, way=way):
                made += self.scene.fail_call(name, number, way) is not None
        self.assertEqual(made, FIRST_CALLS)

    def test_killed_while_the_parts_are_made(self):
        """There may be no part yet, or only one of them."""
        for name in Scene.FORMATS:
            for number in range(1, 13):
                with self.subTest(name=name, number=number):
                    self.assertIsNotNone(self.scene.fail_call(name, number, "SIGKILL"))

    def test_killed_while_the_first_files_of_a_folder_are_made(self):
        """All it holds may be the beginning of one; the calls from the end of the parts on."""
        for number in range(44, 60):
            with self.subTest(number=number):
                self.assertIsNotNone(self.scene.fail_call("saved", number, "SIGKILL"))

    def test_the_calls_of_publishing_fail_one_after_another(self):
        """The last ones, which make the file of the parts."""
        for name in Scene.FORMATS:
            total = self.scene.count_calls(name)
            for number in range(total - 9, total + 1):
                with self.subTest(name=name, number=number):
                    self.assertIsNotNone(self.scene.fail_call(name, number, "EIO"))

    def test_a_recovery_that_fails_leaves_no_copy(self):
        """Each try would leave one more, and the disk may be full."""
        for kind in (Scene, InputScene):
            with tempfile.TemporaryDirectory(prefix="vernier-saving-") as folder:
                scene = kind(folder)
                for name in ("saved.json", "saved.npz", "saved.safetensors"):
                    with self.subTest(saving=kind.SAVING, name=name):
                        self.assertGreater(scene.fail_recoveries(name), 3)

    def test_killed_at_random_moments(self):
        chance = random.Random(8)
        for kill in range(KILLS):
            name = Scene.FORMATS[kill % len(Scene.FORMATS)]
            with self.subTest(kill=kill, name=name):
                self.scene.kill_at_random(name, chance)

    def test_what_is_lost_is_noticed(self):
        """The checks themselves: a byte of the results is changed."""
        self.scene.prepare("saved.npz")
        code, _ = self.scene.run("place/saved.npz")
        self.scene.check_target("saved.npz", code)
        wrong = dict(self.scene.truth)
        name, data = next(iter(wrong.items()))
        self.scene.truth = {**wrong, name: bytes(len(data))}
        self.addCleanup(setattr, self.scene, "truth", wrong)
        with self.assertRaises(Lost):
            self.scene.check_target("saved.npz", code)


class SystemCallsOfInputs(unittest.TestCase):
    """The same of --save-inputs."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="vernier-saving-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.scene = InputScene(cls.holder.name)

    def test_the_calls_fail_one_after_another(self):
        ways = list(WAYS)
        for at, name in enumerate(InputScene.FORMATS):
            total = self.scene.count_calls(name)
            for number in range(1, total + 1):
                way = ways[(number + at) % len(ways)]
                with self.subTest(name=name, number=number, way=way):
                    self.assertIsNotNone(self.scene.fail_call(name, number, way))

    def test_killed_at_random_moments(self):
        chance = random.Random(8)
        for kill in range(12):
            name = InputScene.FORMATS[kill % 3]
            with self.subTest(kill=kill, name=name):
                self.scene.kill_at_random(name, chance)


if __name__ == "__main__":
    unittest.main()
