"""--resume goes on where an earlier run ended, however it ended, and makes the same file."""

import shutil
import signal
import subprocess
import unittest

from fault_run import FaultTest, PATIENCE_S, VERNIER, interrupt

FORMATS = ("saved.json", "saved.npz", "saved.safetensors", "saved")
TOTAL = 40


class Resume(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("model.onnx", ["x"], [50, 30])

    def options(self, name, iterations=TOTAL, *more):
        return ["--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                str(iterations), "--save-outputs", self.folder / name, *more]

    def run_whole(self, name, *more, behaviour="", iterations=TOTAL):
        return self.begin(*self.options(name, iterations, *more), behaviour=behaviour).end()

    def inferences(self):
        """Of the fake backend in the last run."""
        note = self.notes / "note"
        return len(note.read_text().splitlines()) if note.exists() else 0

    def begin_and_wait(self, name, count, *more):
        run = self.begin(*self.options(name, 10000, *more), behaviour="sleep=30")
        run.wait_for_stage(count)
        return run

    def kill_after(self, name, count, *more):
        run = self.begin_and_wait(name, count, *more)
        run.process.kill()
        self.assertEqual(run.end().code, -signal.SIGKILL)

    def assert_whole(self, name, iterations=TOTAL):
        """The file has everything, and that of a run that nothing happened to."""
        ended = self.run_whole("whole.safetensors", iterations=iterations)
        self.assertEqual(ended.code, 0, ended)
        for saved in (name, "whole.safetensors"):
            compared = subprocess.run(
                [VERNIER, "run", "--load-outputs", self.folder / saved,
                 self.folder / "whole.safetensors", "--pairs", "all", "--atol", "0", "--rtol", "0"],
                capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(compared.returncode, 0, compared.stdout + compared.stderr)
            self.assertEqual(compared.stdout.count(f"{iterations}/{iterations} iterations"), 6,
                             compared.stdout)
        self.assert_nothing_beside(name)
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def assert_nothing_beside(self, name):
        left = {p.name for p in self.folder.iterdir()} - {name, "whole.safetensors", "model.onnx",
                                                          "notes"}
        self.assertEqual(left, set())

    def test_after_kill_9(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.kill_after(name, 12)
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("--resume: going on from", ended.out)
                self.assertIn(f"Passed: {TOTAL}/{TOTAL} iterations", ended.out)
                # Twelve had begun, so eleven at least were there; two of them are made again.
                self.assertLessEqual(self.inferences(), TOTAL - 11 + 2)
                self.assert_whole(name)

    def test_after_ctrl_c(self):
        for name in FORMATS:
            with self.subTest(name=name):
                run = self.begin_and_wait(name, 12)
                interrupt(run)
                self.assertEqual(run.end().code, 130)
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertLessEqual(self.inferences(), TOTAL - 11 + 2)
                self.assert_whole(name)

    def test_killed_again_and_again(self):
        for name in FORMATS:
            with self.subTest(name=name):
                for count in (5, 7, 1, 9):
                    self.kill_after(name, count, "--resume")
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assert_whole(name)

    def test_a_runner_after_the_other(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.kill_after(name, 5, "--sequential-runners", "--iterations", str(TOTAL))
                ended = self.run_whole(name, "--resume", "--sequential-runners",
                                       behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertLessEqual(self.inferences(), TOTAL - 4 + 2)
                self.assert_whole(name)

    def test_side_by_side(self):
        self.kill_after("saved.npz", 12, "--parallel")
        ended = self.run_whole("saved.npz", "--resume", "--parallel", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertLessEqual(self.inferences(), TOTAL - 10 + 2)
        self.assert_whole("saved.npz")

    def test_a_runner_that_had_crashed_catches_up(self):
        ended = self.run_whole("saved.json", behaviour="crash=SIGSEGV iteration=7")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.saved_iterations(self.folder / "saved.json"),
                         {"good": TOTAL, "bad": 7})
        ended = self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.inferences(), TOTAL - 7 + 2)
        self.assert_whole("saved.json")

    def test_inputs_are_whole_again_too(self):
        for inputs in ("inputs.json", "inputs"):
            with self.subTest(inputs=inputs):
                self.kill_after("saved.json", 8, "--save-inputs", self.folder / inputs)
                ended = self.run_whole("saved.json", "--resume", "--save-inputs",
                                       self.folder / inputs)
                self.assertEqual(ended.code, 0, ended)
                again = self.run_whole("again.json", "--load-inputs", self.folder / inputs,
                                       "--load-outputs", self.folder / "saved.json")
                self.assertEqual(again.code, 0, again)
                self.assertIn(f"Passed: {TOTAL}/{TOTAL} iterations", again.out)
                (self.folder / "saved.json").unlink()

    def test_everything_was_there(self):
        self.run_whole("saved.json")
        ended = self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.inferences(), 2)
        self.assert_whole("saved.json")

    def test_nothing_was_there(self):
        ended = self.run_whole("saved.json", "--resume")
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("nothing was saved at", ended.out)
        self.assert_whole("saved.json")

    def assert_refused(self, name, words, *more):
        path = self.folder / name
        before = path.read_bytes()
        ended = self.run_whole(name, "--resume", *more)
        self.assertEqual(ended.code, 3, ended)
        self.assertIn(words, ended.err)
        self.assertEqual(path.read_bytes(), before)
        self.assert_nothing_beside(name)

    def test_what_is_of_another_command_is_refused_and_stays(self):
        self.run_whole("saved.json")
        self.assert_refused("saved.json", "was not saved by this command", "--seed", "7")
        self.assert_refused("saved.json", "is of the runners 'good', 'bad'", "--runner",
                            "third=identity")
        (self.folder / "saved.json").write_text('{"a": 1')
        self.assert_refused("saved.json", "move")

    def test_an_end_before_everything_is_taken_over_loses_nothing(self):
        self.run_whole("saved.json")
        before = (self.folder / "saved.json").read_bytes()
        ended = self.run_whole("saved.json", "--resume", behaviour="fail=6 iteration=0")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual((self.folder / "saved.json").read_bytes(), before)
        self.assert_nothing_beside("saved.json")

    def test_fewer_iterations_than_were_there_lose_nothing(self):
        self.run_whole("saved.json")
        before = (self.folder / "saved.json").read_bytes()
        ended = self.run_whole("saved.json", "--resume", iterations=5)
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("which stays as it is", ended.out)
        self.assertEqual((self.folder / "saved.json").read_bytes(), before)
        self.assert_nothing_beside("saved.json")

    def test_two_at_once_are_refused(self):
        run = self.begin_and_wait("saved.json", 3)
        ended = self.run_whole("saved.json", "--resume")
        self.assertNotEqual(ended.code, 0, ended)
        self.assertIn("in use", ended.err)
        interrupt(run)
        self.assertEqual(run.end().code, 130)

    def test_words_that_make_no_sense(self):
        ended = self.begin("--runner", "good=identity", "--resume").end()
        self.assertEqual(ended.code, 2, ended)
        self.assertIn("--save-outputs", ended.err)


if __name__ == "__main__":
    unittest.main()
