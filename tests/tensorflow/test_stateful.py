"""Keras layers that keep their state: it is fresh at the begin of each feed and each sequence."""

import pathlib
import subprocess
import sys
import textwrap
import unittest

from tensorflow_case import TensorFlowCase

# A recurrent network that takes one step at a time and keeps its state, and the same for five.
MAKER = """
    import keras

    def build(steps, stateful):
        x = keras.Input(batch_shape=(1, steps, 3), name="x")
        inner = keras.layers.LSTM(4, stateful=stateful, name="inner", return_sequences=True)(x)
        y = keras.layers.LSTM(2, stateful=stateful, name="y", return_sequences=True)(inner)
        return keras.Model(x, y)

    keras.utils.set_random_seed(0)
    step, whole = build(1, True), build(5, False)
    whole.set_weights(step.get_weights())
    # Within another model, too.
    x = keras.Input(batch_shape=(1, 1, 3), name="x")
    keras.Model(x, keras.layers.Identity(name="y")(step(x))).save("nested.keras")
    step.save("step.keras")
    whole.save("whole.keras")
    """
EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/runners/keras_model.py"


class Stateful(TensorFlowCase):
    def setUp(self):
        super().setUp()
        subprocess.run([sys.executable, "-c", textwrap.dedent(MAKER)], cwd=self.folder, check=True,
                       capture_output=True)

    def test_each_sequence_begins_with_a_fresh_state(self):
        for side in ("tf step.keras", "tf nested.keras", f"{EXAMPLE} step.keras"):
            with self.subTest(side):
                done = self.vernier("--runner", f"step={side}", "--runner", "whole=tf whole.keras",
                                    "--iterations", 2, "--steps", 5, "--step-slice",
                                    "x:axis=1,size=1", "--steps-axis", "whole:1", "--input-shapes",
                                    "x:[1,5,3]")
                self.assert_passes(done, "PASSED, compared 1 output in 10 iterations")

    def test_each_feed_begins_with_a_fresh_state(self):
        done = self.vernier("--runner", "a=tf step.keras", "--iterations", 2, "--seed", 1,
                            "--input-shapes", "x:[1,1,3]", "--save-outputs", "two.json",
                            "--save-inputs", "x.json")
        self.assert_passes(done)
        done = self.vernier("--runner", "a=tf step.keras", "--load-inputs", "x.json", "x.json",
                            "--save-outputs", "four.json")
        self.assert_passes(done)
        outputs = [[iteration["y"].tolist() for iteration in iterations]
                   for iterations in map(self.iterations, ("two.json", "four.json"))]
        self.assertEqual(outputs[1], outputs[0] * 2)

    def iterations(self, name):
        from polygraphy.comparator import RunResults
        ((_, iterations),) = RunResults.load(str(self.folder / name))
        return iterations


if __name__ == "__main__":
    unittest.main()
