"""TorchScript that keeps its state inside: it is reset before each feed, or each sequence."""

import itertools
import json
import pathlib
import sys
import unittest

import numpy as np

from torch_case import CLEAN, PLACES, PLUGIN, TorchCase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "trained"))

from networks import trained_file  # noqa: E402

HIDDEN = ["in_list", "in_dict", "in_tuple", "of_list", "of_branch", "in_fork", "interface",
          "in_constant"]
SILERO = "silero-vad-6.2.3"
STEPS = 20


class StateInside(TorchCase):
    def sums(self, model, size, *words):
        """The inputs and outputs of two iterations."""
        self.passes(model, "--torch", "--input-shapes", f"x:[1,{size}]", "--iterations", "2",
                    "--save-inputs", "i.npz", "--save-outputs", "o.npz", *words)
        with np.load(self.folder / "i.npz") as i, np.load(self.folder / "o.npz") as o:
            return [[file[name] for name in sorted(file) if not name.startswith("__")]
                    for file in (i, o)]

    def test_each_feed_and_each_sequence_begins_anew(self):
        for place, model in itertools.product(PLACES, ("tally.pt", "hundred.pt")):
            with self.subTest(place=place, model=model):
                given, made = self.sums(model, 4, "--torch-in", place)
                for x, y in zip(given, made):
                    np.testing.assert_array_equal(y, x)
                given, made = self.sums(model, 12, "--torch-in", place, "--steps", "3",
                                        "--step-slice", "x:axis=1,size=4")
                self.assertEqual((len(given), len(made)), (2, 6))
                for sequence, whole in enumerate(given):
                    total = np.cumsum(whole.reshape(3, 4), axis=0)
                    np.testing.assert_allclose(
                        np.concatenate(made[3 * sequence:3 * sequence + 3]), total, rtol=1e-6)

    def test_state_in_lists_branches_forks_and_constants_begins_anew(self):
        runners = [word for name in ("tally", *HIDDEN)
                   for word in ("--runner", f"{name}=torch {name}.pt")]
        for place, steps in itertools.product(PLACES, (1, 3)):
            with self.subTest(place=place, steps=steps):
                words = ("--steps", str(steps), "--step-slice", "x:axis=1,size=4")
                done = self.passes(*runners, "--torch-in", place, "--iterations", "2",
                                   "--input-shapes", f"x:[1,{4 * steps}]", "--save-record",
                                   "r.json", *(words if steps > 1 else ()))
                record = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
                self.assertEqual([pair["passed_iterations"] for pair in record["pairs"]],
                                 [2 * steps] * len(HIDDEN))
                said = done.out + done.err
                self.assertEqual(said.count("calls the method 'forward' of an interface"), 1, said)

    def test_a_pickled_module_is_opened_again_for_each_sequence(self):
        done = self.passes("--runner", "a=torch tally.pt", "--runner", "b=torch eager_tally.pt",
                           "--torch-in", "python", "--allow-pickle", "--iterations", "2",
                           "--steps", "3", "--step-slice", "x:axis=1,size=4", "--input-shapes",
                           "x:[1,12]", "--save-record", "r.json",
                           env={"PYTHONPATH": str(self.models)})
        said = done.out + done.err
        self.assertIn("b | Feeds nothing back, and has no method reset_states: it is opened again",
                      said)
        record = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(record["pairs"][0]["passed_iterations"], 6)

    def test_what_reads_its_own_and_writes_to_new_tensors_keeps_no_state(self):
        names = ("stateless", "normalises", "in_list", "trains")
        for place, name in itertools.product(PLACES, names):
            with self.subTest(place=place, name=name):
                keeps = name in ("in_list", "trains")
                done = self.run_torch("--runner", f"a=torch {name}.pt", "--runner",
                                      f"b=torch {name}.pt", "--torch-in", place, "--input-shapes",
                                      "x:[1,4]", "--steps", "2", "--feed-back", "output_0:x",
                                      "--state", "reference")
                self.assertEqual(done.code, 2 if keeps else 0, str(done))
                self.assertEqual("keeps its state inside" in str(done), keeps, str(done))

    def test_statistics_that_a_normalisation_trains_begin_anew(self):
        for place in PLACES:
            with self.subTest(place=place):
                given, made = self.sums("trains.pt", 4, "--torch-in", place)
                for (x,), (y,) in zip(given, made):
                    np.testing.assert_allclose(y, 0.1 * x.mean(), rtol=1e-5)

    def test_the_method_that_is_named(self):
        for place in PLACES:
            with self.subTest(place=place):
                given, made = self.sums("hundred.pt", 4, "--torch-in", place, "--reset", "begin")
                for x, y in zip(given, made):
                    np.testing.assert_allclose(y, x + 100, rtol=1e-6)
                done = self.run_torch("hundred.pt", "--torch", "--torch-in", place,
                                      "--input-shapes", "x:[1,4]", "--reset", "start")
                self.assert_fails(done, 2, "--reset start: the module has no method 'start'; its "
                                  "methods are: 'begin', 'forward', 'reset_states'")
                self.assertRegex(str(done), r"\[!\] pytorch-runner\S* \| --reset start")
        if PLUGIN:  # a Python without torch has nothing to add to that
            done = self.vernier("hundred.pt", "--torch", "--input-shapes", "x:[1,4]", "--reset",
                                "start", python=sys.executable, env=CLEAN)
            self.assert_fails(done, 2, "--reset start: the module has no method 'start'; its "
                              "methods are: 'begin', 'forward', 'reset_states'")
            self.assertNotIn("no module", str(done))

    def test_silero_against_the_export_that_is_fed_back(self):
        time = np.arange(STEPS * 512) / 16000
        voice = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 12)) / 4
        np.savez(self.folder / "speech.npz", **{
            f"{i:010}/{name}": value for i in range(2) for name, value in
            (("input", voice.astype("f4")[None]), ("sr", np.int64(16000)))})
        data = "silero_vad/data/silero_vad"
        self.passes(
            "--runner", f"step=onnxrt {trained_file(SILERO, data + '_16k_op15.onnx')}",
            "--runner", f"script=torch {trained_file(SILERO, data + '.jit')}",
            "--load-inputs", "speech.npz", "--feed-back", "step:auto", "--step-slice",
            "step:input:axis=1,size=576,hop=512,pad=64", "script:input:axis=1,size=512",
            "--map-inputs", "script:x=input", "--map-outputs", "script:output_0=output", "stateN=",
            "--atol", "1e-4", "--save-record", "r.json")
        record = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(record["steps"]["lengths"], [STEPS, STEPS])
        self.assertEqual(record["pairs"][0]["passed_iterations"], 2 * STEPS)


if __name__ == "__main__":
    unittest.main()
