"""Saved outputs of steps that a run goes on with (--resume) or compares (--load-outputs), where the
run has other sequences or steps than the file."""

import sys
import unittest

from steps_case import StepsCase

# As many sequences as the file COUNT says, which nobody knows before the last.
LOADER = """
import pathlib

import numpy as np

def load_data():
    random = np.random.default_rng(5)
    for _ in range(int(pathlib.Path("count").read_text())):
        yield {"x": random.normal(size=(1, 24)).astype("f4")}
"""

# A state inside: what it has of h, a tenth more in the network "late".
INSIDE = """
import numpy as np

h = np.zeros((1, 4), "f4")

def reset_states():
    global h
    h = np.zeros((1, 4), "f4")

def infer(feed):
    global h
    h = np.tanh({gain} * h + feed["x"])
    return {{"y": h}}
"""


class StepFiles(StepsCase):
    def steps(self, model, count, *words):
        self.path("loader.py").write_text(LOADER, encoding="utf-8")
        self.path("count").write_text(str(count), encoding="utf-8")
        ended = self.vernier("run", *model, "--python", sys.executable, "--data-loader-script",
                             "loader.py", "--step-slice", "x:axis=1,size=4", *words)
        return ended.code, ended.out + ended.err

    def check_other_network(self, model, make, other, *words):
        make()
        code, said = self.steps(model, 3, *words, "--save-outputs", "o.npz")
        self.assertEqual(code, 0, said)
        code, said = self.steps(model, 2, *words, "--save-outputs", "o.npz", "--resume")
        self.assertEqual(code, 0, said)
        other()
        for count in (1, 2, 3):
            with self.subTest(count=count):
                self.path("o.npz").unlink()
                make()
                self.assertEqual(self.steps(model, 3, *words, "--save-outputs", "o.npz")[0], 0)
                other()
                code, said = self.steps(model, count, *words, "--save-outputs", "o.npz",
                                        "--resume")
                self.assertEqual(code, 3, said)
                self.assertIn("was not saved by this command", said)

    def test_fewer_sequences_of_another_network_are_not_resumed(self):
        for more in ((), ("--sequential-runners",)):
            with self.subTest(more=more):
                self.check_other_network(("m.onnx", "--onnxrt"), lambda: self.recurrent("m.onnx"),
                                         lambda: self.late("m.onnx"), "--feed-back", "hn:h", *more)

    def test_nor_of_a_network_with_its_state_inside(self):
        def write(gain):
            self.path("m.py").write_text(INSIDE.format(gain=gain), encoding="utf-8")
        self.check_other_network(("--model-runner", "m.py"), lambda: write(1), lambda: write(1.1))

    def test_fewer_iterations_end_with_one_that_is_made_again(self):
        """Without steps, too: the first one alone may hide what is wrong."""
        self.path("m.py").write_text("def infer(feed):\n    return {'y': feed['x']}\n",
                                     encoding="utf-8")
        words = ("run", "--model-runner", "m.py", "--python", sys.executable, "--input-shapes",
                 "x:[4]", "--save-outputs", "o.npz")
        self.assertEqual(self.vernier(*words, "--iterations", "4").code, 0)
        self.path("m.py").write_text("calls = 0\n\ndef infer(feed):\n    global calls\n"
                                     "    calls += 1\n"
                                     "    return {'y': feed['x'] + calls - 1}\n",
                                     encoding="utf-8")
        ended = self.vernier(*words, "--iterations", "3", "--resume")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("iteration 2 of ", ended.out + ended.err)

    def test_json_does_not_say_its_steps_and_is_not_resumed(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h", "--save-outputs", "o.json")
        self.assertEqual(self.steps(model, 3, *words)[0], 0)
        saved = self.path("o.json").read_bytes()
        for more in ((), ("--steps", "4"), ("--steps", "3")):
            code, said = self.steps(model, 3, *words, "--resume", *more)
            self.assertEqual(code, 3, said)
            self.assertIn("--resume: 'o.json' does not say which steps it holds", said)
            self.assertEqual(self.path("o.json").read_bytes(), saved)

    def test_json_of_another_number_of_steps_is_not_compared(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h")
        self.assertEqual(self.steps(model, 3, *words, "--save-outputs", "o.json")[0], 0)
        load = (*words, "--load-outputs", "o.json")
        for more in ((), ("--sequential-runners",)):
            with self.subTest(more=more):
                code, said = self.steps(model, 3, *load, *more)
                self.assertEqual(code, 0, said)
                for count, here in ((2, "12 steps"), (4, "24 steps" if more else
                                                      "more than 18 steps")):
                    code, said = self.steps(model, count, *load, *more)
                    self.assertEqual(code, 3, said)
                    self.assertIn("'o.json' has 18 iterations of onnxrt", said.replace(
                        "onnxruntime", "onnxrt"))
                    self.assertIn(f"and this run {here} over all sequences", said)
                code, said = self.steps(model, 3, *load, "--steps", "4", *more)
                self.assertEqual(code, 3, said)


if __name__ == "__main__":
    unittest.main()
