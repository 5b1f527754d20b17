"""What becomes of the parts of inputs that earlier runs left, when --resume makes all inputs again."""

import shutil
import signal
import unittest

from fault_run import FaultTest

NAMES = ("inputs.json", "inputs.npz", "inputs.safetensors")
TOTAL = 100  # far more than any run here comes to before it is killed


class ResumedInputs(FaultTest):
    def kill_after(self, count, *words):
        run = self.begin("--runner", "bad=fake", "--iterations", "10000", *words,
                         behaviour="sleep=30")
        run.wait_for_stage(count)
        run.process.kill()
        self.assertEqual(run.end().code, -signal.SIGKILL)

    def resume(self, name):
        ended = self.begin("--runner", "bad=fake", "--iterations", str(TOTAL), "--save-outputs",
                           self.folder / "saved.json", "--save-inputs", self.folder / name,
                           "--resume").end()
        self.assertEqual(ended.code, 0, ended)
        self.assertTrue((self.folder / name).exists())
        return ended

    def begin_again(self):
        for path in self.folder.iterdir():
            if path not in (self.notes, self.model):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_those_of_this_command_are_gone_however_many_there_are(self):
        for name in NAMES:
            with self.subTest(name=name):
                words = ("--save-outputs", self.folder / "saved.json", "--save-inputs",
                         self.folder / name)
                self.kill_after(4, *words)
                self.kill_after(6, *words, "--resume")
                self.assertTrue((self.folder / f"{name}.partial.1").exists())
                ended = self.resume(name)
                self.assertNotIn("data recover", ended.out + ended.err)
                self.assertEqual({path.name for path in self.folder.iterdir()},
                                 {"model.onnx", "notes", "saved.json", name})
                self.begin_again()

    def test_those_of_another_command_stay(self):
        for name in NAMES:
            for what, count, *words in (("other inputs", 3, "--seed", "7"),
                                        ("more inputs", TOTAL + 3)):
                with self.subTest(name=name, what=what):
                    self.kill_after(count, "--save-inputs", self.folder / name, *words)
                    self.kill_after(3, "--save-outputs", self.folder / "saved.json")
                    ended = self.resume(name)
                    parts = self.folder / f"{name}.partial.1"
                    self.assertTrue((parts / "journal.jsonl").exists())
                    self.assertIn(f"`vernier data recover {parts}`", ended.out + ended.err)
                    self.begin_again()


if __name__ == "__main__":
    unittest.main()
