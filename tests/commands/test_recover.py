"""vernier data recover: what a killed run had finished becomes a file that the peer reads."""

import contextlib
import io
import json
import re
import resource
import signal
import subprocess
import time
import unittest

import numpy as np
from polygraphy.comparator import RunResults

from program import VERNIER, Case

PATIENCE_S = 60


def small_files_only():
    """Writing fails beyond 60 KB, as it does on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


def journal_size(folder):
    with contextlib.suppress(FileNotFoundError):
        return (folder / "journal.jsonl").stat().st_size
    return 0


def load(path):
    with contextlib.redirect_stdout(io.StringIO()):
        return RunResults.load(str(path))


class Recover(Case):
    def recovers(self, *words, code=0):
        ended = self.vernier("data", "recover", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def fill_the_disk(self, name="out.json"):
        """Leaves the parts of a hundred iterations that did not all fit; a.json has them all."""
        self.save_model("model.onnx", "Identity", [20, 20])
        run = [VERNIER, "run", "model.onnx", "--runner", "A=identity", "--iterations", "100",
               "-qqq", "--save-outputs"]
        subprocess.run([*run, "a.json"], cwd=self.folder, timeout=PATIENCE_S, check=True,
                       stdout=subprocess.DEVNULL)
        ended = subprocess.run([*run, name], cwd=self.folder, capture_output=True, text=True,
                               preexec_fn=small_files_only, timeout=PATIENCE_S, check=False)
        self.assertEqual(ended.returncode, 7, ended.stderr)
        self.assertTrue(self.path(name + ".partial").is_dir())
        self.assertFalse(self.path(name).exists())

    def kill_while_inputs_are_saved(self, name):
        run = subprocess.Popen([VERNIER, "run", "model.onnx", "--identity", "--iterations",
                                "10000000", "--save-inputs", name, "-qqq"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        partial = self.path(name + ".partial")
        end = time.monotonic() + PATIENCE_S
        while journal_size(partial) < 5_000:
            self.assertLess(time.monotonic(), end, "nothing was saved")
            time.sleep(0.01)
        run.kill()
        run.wait(PATIENCE_S)

    def test_inputs_are_no_outputs_to_go_on_from(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        self.kill_while_inputs_are_saved("x.json")
        ended = self.vernier("run", "model.onnx", "--runner", "inputs=identity", "--iterations", "2",
                             "--save-outputs", "x.json", "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("nothing was saved at 'x.json' yet", ended.out)
        self.assertEqual(len(load(self.path("x.json"))["inputs"]), 2)
        self.assertTrue(list(self.folder.glob("x.json.partial*")), "they can still be recovered")

    def test_a_recovery_that_fails_says_where_the_parts_are(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        self.kill_while_inputs_are_saved("x.json")
        part = self.path("x.json.partial") / "0.json"
        part.write_bytes(b"#" * part.stat().st_size)
        said = self.recovers("x.json", code=3)
        self.assertIn("the parts are in 'x.json.partial'", said)
        self.assertEqual([p.name for p in self.folder.glob("x.json*")], ["x.json.partial"])

    def test_inputs_of_a_killed_run(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        for name in ("in.json", "in.npz", "in.safetensors"):
            self.kill_while_inputs_are_saved(name)
            partial = self.path(name + ".partial")
            self.assertFalse(self.path(name).exists())
            said = self.recovers(name)
            count = int(re.search(r"Recovered (\d+) iterations of inputs", said)[1])
            self.assertGreater(count, 10)
            self.assertFalse(partial.exists())
            # They are the run's: drawn again they are the same.
            ended = self.vernier("run", "model.onnx", "--identity", "--iterations", count,
                                 "--save-inputs", "again.json", "-qqq")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(self.vernier("data", "convert", name, "-o", f"{name}.told.json",
                                          "-qqq").code, 0)
            self.assertEqual(self.path(f"{name}.told.json").read_bytes(),
                             self.path("again.json").read_bytes())

    def test_a_killed_run(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        run = subprocess.Popen([VERNIER, "run", "model.onnx", "--identity", "--iterations",
                                "10000000", "--save-outputs", "out.json", "-qqq"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        partial = self.path("out.json.partial")
        end = time.monotonic() + PATIENCE_S
        while sum(f.stat().st_size for f in partial.glob("*")) < 100_000:
            self.assertLess(time.monotonic(), end, "nothing was saved")
            time.sleep(0.01)
        self.recovers("out.json", code=3)  # it is in use
        run.kill()
        run.wait(PATIENCE_S)
        self.assertFalse(self.path("out.json").exists())
        self.assertIn("Recovered ", self.recovers("out.json.partial"))
        self.assertFalse(partial.exists())
        (name, iterations), = load(self.path("out.json")).items()
        self.assertGreater(len(iterations), 10)
        self.assertEqual(iterations[-1].runner_name, name)
        for iteration in iterations:
            self.assertEqual({key: array.shape for key, array in iteration.items()},
                             {"x": (4, 5)})

    def test_a_full_disk(self):
        self.fill_the_disk()
        self.recovers("out.json")
        iterations = load(self.path("out.json"))["A"]
        self.assertTrue(0 < len(iterations) < 100, len(iterations))
        for ours, expected in zip(iterations, load(self.path("a.json"))["A"]):
            np.testing.assert_array_equal(ours["x"], expected["x"])

    def test_into_another_format(self):
        self.fill_the_disk()
        self.recovers("out.json.partial", "-o", "rescued.npz")
        ended = self.vernier("compare", "rescued.npz", "a.json", "--lenient", "-qqq")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_into_no_format(self):
        self.fill_the_disk()
        said = self.recovers("out.json.partial", "-o", "out.xyz", code=2)
        self.assertIn("-o: 'out.xyz' has no extension of a format that can be written", said)
        self.assertFalse(self.path("out.xyz").exists())
        self.assertTrue(self.path("out.json.partial").is_dir())

    def test_an_older_file_is_not_lost(self):
        self.fill_the_disk()
        self.path("out.json").write_text("older")
        self.assertIn("--overwrite", self.recovers("out.json", code=2))
        self.assertEqual(self.path("out.json").read_text(), "older")
        self.recovers("out.json", "--overwrite")
        self.assertGreater(len(load(self.path("out.json"))["A"]), 0)

    def sizes(self, name):
        """Of the journals beside it, by their folders, which may be renamed."""
        return {path.stat().st_ino: journal_size(path)
                for path in self.folder.glob(name + "*.partial*")}

    def kill_while_outputs_are_saved(self, name, *more, atleast=10_000):
        before = self.sizes(name)
        run = subprocess.Popen([VERNIER, "run", "model.onnx", "--runner", "a=identity", "--runner",
                                "b=identity", "--iterations", "10000000", "--save-outputs", name,
                                "-qqq", *more], cwd=self.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while all(size <= before.get(folder, 0) + atleast
                  for folder, size in self.sizes(name).items()):
            self.assertIsNone(run.poll(), "the run ended")
            self.assertLess(time.monotonic(), end, "nothing was saved")
            time.sleep(0.01)
        run.kill()
        run.wait(PATIENCE_S)

    def promised(self, folder):
        """What the journal has: all whole iterations of all runners."""
        lines = (self.path(folder) / "journal.jsonl").read_text().splitlines(keepends=True)
        return sum(line.endswith("\n") and '"iteration"' in line for line in lines)

    @staticmethod
    def recovered(said):
        return sum(map(int, re.findall(r"Recovered (\d+) iteration", said)))

    def test_a_recovery_that_was_killed_is_begun_again(self):
        """It must not take the name of what it is made of."""
        self.save_model("model.onnx", "Identity", [40, 50])
        for name in ("out.json", "out.npz", "out.safetensors"):
            self.kill_while_outputs_are_saved(name, atleast=100_000)
            whole = self.promised(name + ".partial")
            recovery = subprocess.Popen([VERNIER, "data", "recover", name + ".partial", "-qqq"],
                                        cwd=self.folder)
            end = time.monotonic() + PATIENCE_S
            while not self.path(name + ".partial.1").is_dir() and not self.path(name).exists():
                self.assertLess(time.monotonic(), end)
            recovery.kill()
            recovery.wait(PATIENCE_S)
            self.assertFalse(self.path(name).exists(), "it was too fast to be killed")
            self.assertEqual(self.promised(name + ".partial"), whole)
            self.assertEqual(self.recovered(self.recovers(name + ".partial")), whole)

    def test_parts_that_hold_more_are_found_and_the_others_named(self):
        """As a killed --resume leaves them."""
        self.save_model("model.onnx", "Identity", [4, 5])
        for name in ("out.json", "out.npz", "out.safetensors"):
            self.kill_while_outputs_are_saved(name)
            first = self.promised(name + ".partial")
            size = journal_size(self.path(name + ".partial"))
            self.kill_while_outputs_are_saved(name, "--resume", atleast=2 * size)
            more = self.promised(name + ".partial.1")
            self.assertGreater(more, first)
            said = self.recovers(name + ".partial")
            self.assertEqual(self.recovered(said), more)
            self.assertRegex(said, rf"'{name}.partial' holds \d+ iterations? of 'a', \d+ of "
                                   "'b'; it stays")

    def test_parts_of_another_command_are_not_taken_but_named(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        # So many more that a busy machine does not make it fewer.
        self.kill_while_outputs_are_saved("out.npz", "--seed", "7", atleast=400_000)
        self.kill_while_outputs_are_saved("out.npz")
        ours = self.promised("out.npz.partial")
        self.assertGreater(self.promised("out.npz.partial.1"), ours)
        said = self.recovers("out.npz.partial")
        self.assertEqual(self.recovered(said), ours)
        self.assertIn("'out.npz.partial.1' holds ", said)

    def test_a_folder_that_was_resumed_is_named(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        self.kill_while_outputs_are_saved("out")
        ours = self.promised("out.partial")
        self.kill_while_outputs_are_saved("out", "--resume", atleast=40_000)
        said = self.recovers("out.partial")
        self.assertEqual(self.recovered(said), ours)
        self.assertIn("'out.resumed.partial' holds ", said)

    def test_a_gap_in_a_folder_moves_nothing(self):
        self.save_model("model.onnx", "Identity", [4, 5])
        self.kill_while_outputs_are_saved("out")
        lines = (self.path("out.partial") / "journal.jsonl").read_text().splitlines()
        entries = [json.loads(line) for line in lines if '"iteration":1,' in line]
        with open(self.path("out.partial") / "0.json", "r+b") as part:
            part.seek(entries[0]["begin"])
            part.write(b"####")
        for path in self.path("out").glob("*"):
            path.unlink()  # of runners that went on together
        said = self.recovers("out.partial", code=7)
        self.assertIn("the folder has no whole file of them; the parts stay in 'out.partial'", said)
        self.assertNotIn("moved up", said)

    def test_what_is_no_such_folder(self):
        for name in ("nosuch", "nosuch.partial", "."):
            self.assertIn("not a folder of parts", self.recovers(name, code=3))


if __name__ == "__main__":
    unittest.main()
