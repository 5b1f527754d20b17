"""Saved outputs that are written to while they are compared: no verdict on them, and exit 3."""

import json
import os
import shutil
import subprocess
import unittest

from fault_run import FAKE_DIR, FaultTest, PATIENCE_S, VERNIER, wait_until

FORMATS = ("saved.json", "saved.npz", "saved.safetensors", "saved")
SMALL, LARGE = [64, 64], [512, 512]  # read by position; mapped


class ChangedFiles(FaultTest):
    def save(self, name, *more):
        ended = self.begin("--runner", "saved=identity", "--iterations", "3", "--save-outputs",
                           self.folder / name, *more).end()
        self.assertEqual(ended.code, 0, ended)

    def compare(self, name, *more):
        """A run that takes its time over each iteration."""
        run = self.begin("--runner", "bad=fake", "--iterations", "3", "--load-outputs",
                         self.folder / name, "--save-record", self.folder / "record.json", *more,
                         behaviour="sleep=300")
        run.wait_for_stage(2)
        return run

    def forget(self, *stems):
        for stem in stems:
            for path in self.folder.glob(f"{stem}*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def overwrite(self, name, other):
        """The bytes of another file, in the same file."""
        path, source = self.folder / name, self.folder / other
        if path.is_dir():
            for file in path.iterdir():
                file.write_bytes((source / file.name).read_bytes())
        else:
            with open(path, "r+b") as file:
                file.write(source.read_bytes())

    def assert_no_verdict(self, ended):
        self.assertEqual(ended.code, 3, ended)
        self.assertIn("was written to while it was read", ended.err)
        self.assertNotIn("PASSED | Runtime", ended.out)
        self.assertIn("bad vs. saved: NOTHING COMPARED, compared 0 outputs", ended.out)
        record = json.loads((self.folder / "record.json").read_text())
        self.assertEqual(record["pairs"][0]["outputs"], [])

    def test_what_was_written_to_has_no_verdict(self):
        for name in FORMATS:
            for dims in (SMALL, LARGE):
                for seed in ("1", "7"):  # the same bytes, and others
                    with self.subTest(name=name, dims=dims, seed=seed):
                        self.model = self.write_model("model.onnx", ["x"], dims)
                        self.forget("saved", "other")
                        self.save(name)
                        self.save(name.replace("saved", "other"), "--seed", seed)
                        run = self.compare(name)
                        self.overwrite(name, name.replace("saved", "other"))
                        self.assert_no_verdict(run.end())

    def test_a_file_that_takes_its_place_changes_nothing(self):
        for name in FORMATS[:3]:
            with self.subTest(name=name):
                self.model = self.write_model("model.onnx", ["x"], LARGE)
                self.save(name)
                other = name.replace("saved", "other")
                self.save(other, "--seed", "7")
                run = self.compare(name)
                os.replace(self.folder / other, self.folder / name)
                ended = run.end()
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("PASSED", ended.out)

    def test_a_folder_that_loses_iterations_is_a_sentence(self):
        self.save("saved")
        run = self.compare("saved")
        for file in (self.folder / "saved").iterdir():
            file.write_text('{"lst": [], "polygraphy_class": "RunResults"}')
        self.assert_no_verdict(run.end())

    def test_blame_accuses_nobody_of_it(self):
        self.save("saved.npz", "--save-inputs", self.folder / "inputs.json")
        note = self.notes / "blamed"
        blame = subprocess.Popen(
            [VERNIER, "blame", self.model, "--runner", "bad=fake", "--backend-dir", FAKE_DIR,
             "--load-outputs", self.folder / "saved.npz", "--load-inputs",
             self.folder / "inputs.json"],
            env=dict(os.environ, VERNIER_FAKE=f"sleep=300 note={note}"), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        wait_until(lambda: note.exists() and note.read_text(), "the first inference")
        self.overwrite("saved.npz", "saved.npz")
        _, err = blame.communicate(timeout=PATIENCE_S)
        self.assertEqual(blame.returncode, 3, err)
        self.assertIn("saved.npz' was written to while it was read", err)


if __name__ == "__main__":
    unittest.main()
