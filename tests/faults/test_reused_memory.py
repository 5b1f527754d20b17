"""Memory that travels between processes is used again: what somebody still needs never changes.

Feeds and outputs of 32 KiB to 2 MiB lie in memory that is filled again once it was read.
"""

import re
import unittest

from fault_run import FaultTest

ITERATIONS = 12


class ReusedMemory(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("large.onnx", ["x"], [150, 200])  # 120 kB

    def payloads(self, path):
        """The arrays of a saved JSON in their order, as text."""
        return re.findall(r"[A-Za-z0-9+/=]{1000,}", path.read_text(encoding="utf-8"))

    def assert_own_values(self, inputs, outputs, runners, iterations=ITERATIONS):
        """Identity: each runner's output of an iteration is that iteration's input."""
        fed = self.payloads(inputs)[:iterations]
        self.assertEqual(len(set(fed)), iterations, "the feeds should differ")
        self.assertEqual(self.payloads(outputs), fed * runners)

    def run_saving(self, *arguments, behaviour=""):
        inputs, outputs = self.folder / "inputs.json", self.folder / "outputs.json"
        ended = self.begin(*arguments, "--iterations", ITERATIONS, "--save-inputs", inputs,
                           "--save-outputs", outputs, behaviour=behaviour).end()
        return ended, inputs, outputs

    def test_saved_outputs_hold_each_iterations_own_values(self):
        for more in ([], ["--in-process"], ["--use-subprocess"], ["--sequential-runners"],
                     ["--use-subprocess", "--parallel"], ["--warm-up", "3"], ["--validate"],
                     ["-vv"]):
            with self.subTest(more=more):
                ended, inputs, outputs = self.run_saving(
                    "--runner", "a=identity", "--runner", "b=identity", "--runner", "c=identity",
                    *more)
                self.assertEqual(ended.code, 0, ended)
                self.assertIn(f"Passed: {ITERATIONS}/{ITERATIONS} iterations", ended.out)
                self.assert_own_values(inputs, outputs, 3)

    def test_a_lone_runners(self):
        ended, inputs, outputs = self.run_saving("--runner", "a=identity")
        self.assertEqual(ended.code, 0, ended)
        self.assert_own_values(inputs, outputs, 1)

    def test_what_a_worker_gave_before_its_death_stays(self):
        ended, inputs, outputs = self.run_saving("--runner", "good=identity", "--runner", "bad=fake",
                                                 behaviour="crash=SIGKILL iteration=7")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "died of SIGKILL", "while running iteration 7")
        fed = self.payloads(inputs)
        self.assertEqual(self.payloads(outputs), fed + fed[:7])

    def test_what_a_hanging_worker_gave_before_stays(self):
        ended, inputs, outputs = self.run_saving("--runner", "bad=fake", "--runner", "good=identity",
                                                 "--timeout", "2", behaviour="hang=1 iteration=5")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "running iteration 5", "--timeout")
        fed = self.payloads(inputs)
        self.assertEqual(self.payloads(outputs), fed[:5] + fed)

    def test_a_wrong_iteration_is_found_as_the_one_it_is(self):
        ended = self.begin("--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                           ITERATIONS, behaviour="lie=nan iteration=9").end()
        self.assertEqual(ended.code, 1, ended)
        self.assertIn(f"Passed: {ITERATIONS - 1}/{ITERATIONS} iterations", ended.out)

    def test_shapes_that_change_from_one_iteration_to_the_next(self):
        model = self.write_model("dynamic.onnx", ["x"], ["n", 200])
        shapes = [word for n in (150, 90, 3, 2000, 151, 40, 6000) for word in (f"x:[{n},200]",)]
        ended = self.begin("--runner", "a=identity", "--runner", "b=identity", "--use-subprocess",
                           "--iterations", "28", "--input-shapes", *shapes, model=model).end()
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("Passed: 28/28 iterations", ended.out)

    def test_a_runner_that_writes_to_its_inputs_spoils_nobody_elses(self):
        ended, inputs, outputs = self.run_saving("--runner", "bad=fake", "--runner", "good=identity",
                                                 behaviour="lie=write_input iteration=4")
        fed = self.payloads(inputs)
        self.assertEqual(len(fed), ITERATIONS, ended)
        self.assertEqual(self.payloads(outputs)[-ITERATIONS:], fed, ended)

    def test_with_fail_fast_the_iterations_are_those_that_were_compared(self):
        outputs = self.folder / "outputs.json"
        ended = self.begin("--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                           ITERATIONS, "--fail-fast", "--save-outputs", outputs,
                           behaviour="lie=nan iteration=3").end()
        self.assertEqual(ended.code, 1, ended)
        self.assertEqual(len(self.payloads(outputs)), 8)
        self.assertIn("in 4 of 12 iterations", ended.out)


if __name__ == "__main__":
    unittest.main()
