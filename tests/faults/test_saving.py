"""A disk that is full while results are saved: exit 7, one sentence, and the old file as it was."""

import os
import pathlib
import resource
import signal
import subprocess
import unittest

from fault_run import FaultTest, PATIENCE_S, VERNIER, is_sanitized, wait_until

LIMIT = 200 * 1000


def small_files_only(limit=LIMIT):
    """Writing beyond the limit fails with EFBIG, as it fails on a full disk with ENOSPC."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


class FullDisk(FaultTest):
    def setUp(self):
        super().setUp()
        # Small enough to travel without shared memory, which the limit would hit, too.
        self.model = self.write_model("model.onnx", ["x"], [50, 50])

    def save(self, name, flag="--save-outputs", iterations=100, more=(), **options):
        return self.run_pair("--iterations", str(iterations), flag, self.folder / name, *more,
                             **options)

    def test_old_results_stay_and_the_run_says_so(self):
        for name in ("saved.json", "saved.npz", "saved.safetensors"):
            with self.subTest(name=name):
                path = self.folder / name
                first = self.save(name, iterations=2)
                self.assertEqual(first.code, 0, first)
                old = path.read_bytes()
                ended = self.save(name, preexec_fn=small_files_only)
                self.assertEqual(ended.code, 7, ended)
                self.assertIn("[!]", ended.err)
                self.assertIn(name, ended.err)
                self.assertEqual(path.read_bytes(), old)
                loaded = subprocess.run([VERNIER, "run", "--load-outputs", str(path)],
                                        capture_output=True, timeout=PATIENCE_S, check=False)
                self.assertEqual(loaded.returncode, 0, loaded)

    def test_what_was_saved_before_is_named_and_can_be_had(self):
        for name in ("saved.json", "saved.npz"):
            with self.subTest(name=name):
                ended = self.save(name, preexec_fn=small_files_only)
                self.assertEqual(ended.code, 7, ended)
                partial = self.folder / (name + ".partial")
                self.assertIn(f"what was saved before is in '{partial}': `vernier data recover "
                              f"{partial}` makes a file of it, and the same command with --resume",
                              ended.err)
                self.assertRegex(ended.out, r"not done: the run ended in iteration \d+ of 100\n")
                ended = self.run_pair("--iterations", "100", "--save-outputs", self.folder / name,
                                      "--resume")
                self.assertEqual(ended.code, 0, ended)
                self.assertFalse(partial.exists())
        # Nothing was, so nothing is promised.
        ended = self.save("first.json", preexec_fn=lambda: small_files_only(5_000))
        self.assertEqual(ended.code, 7, ended)
        self.assertNotIn("data recover", ended.err)

    def test_rows_are_saved_although_outputs_are_not(self):
        rows = self.folder / "rows.jsonl"
        ended = self.save("saved.npz", preexec_fn=small_files_only, more=["--save-rows", rows])
        self.assertEqual(ended.code, 7, ended)
        count = len(rows.read_text().splitlines())
        self.assertGreater(count, 2)
        self.assertIn(f": INCOMPLETE, compared 1 output in {count} of 100 iterations", ended.out)
        self.assertFalse((self.folder / "rows.jsonl.partial").exists())

    def test_rows_that_a_resumed_run_makes_again_are_removed(self):
        path, rows = self.folder / "saved.npz", self.folder / "rows.jsonl"
        parts = [self.folder / f"rows.jsonl.partial{number}" for number in ("", ".1")]
        self.assertEqual(self.save(path.name, iterations=4, more=["--save-rows", rows]).code, 0)
        lines = rows.read_text().splitlines(keepends=True)
        for more in ([], ["--resume"]):
            path.unlink()
            parts[0].write_text("".join(lines[:2]) + lines[2][:20])
            parts[1].write_text(lines[1])  # of another run
            ended = self.save(path.name, iterations=4, more=["--save-rows", rows, *more])
            self.assertEqual(ended.code, 0, ended)
            self.assertEqual(rows.read_text(), "".join(lines))
            self.assertEqual(parts[0].exists(), not more)
            self.assertTrue(parts[1].exists())

    def test_large_outputs_that_are_written_while_the_run_goes_on(self):
        # 6 MB each: there is room for the first runner's, and for each in shared memory.
        self.model = self.write_model("large.onnx", ["x"], [1500, 1000])
        path = self.folder / "saved.safetensors"
        first = self.save(path.name, iterations=1)
        self.assertEqual(first.code, 0, first)
        old = path.read_bytes()
        ended = self.save(path.name, iterations=1,
                          preexec_fn=lambda: small_files_only(9 * 1000 * 1000))
        self.assertEqual(ended.code, 7, ended)
        self.assertIn(path.name, ended.err)
        self.assertEqual(path.read_bytes(), old)

    def test_no_temporary_files_are_left(self):
        self.save("saved.json", preexec_fn=small_files_only)
        left = [p.name for p in self.folder.iterdir() if ".tmp" in p.name]
        self.assertEqual(left, [])

    def test_inputs_too(self):
        path = self.folder / "inputs.json"
        first = self.save("inputs.json", "--save-inputs", iterations=2)
        self.assertEqual(first.code, 0, first)
        old = path.read_bytes()
        ended = self.save("inputs.json", "--save-inputs", preexec_fn=small_files_only)
        self.assertEqual(ended.code, 7, ended)
        self.assertEqual(path.read_bytes(), old)

    def test_shared_memory_that_cannot_be_had_is_a_sentence(self):
        large = self.write_model("large.onnx", ["x"], [500, 500])
        ended = self.run_pair(model=large, preexec_fn=small_files_only)
        self.assertNotEqual(ended.code, 0, ended)
        self.assertGreater(ended.code, 0, ended)
        self.assertIn("shared memory", ended.err)


class FullStdout(FaultTest):
    """A log or a listing is lost as a file would be."""

    def end_into(self, stdout, *words, **options):
        ended = subprocess.run([VERNIER, *map(str, words)], stdout=stdout, stderr=subprocess.PIPE,
                               text=True, timeout=PATIENCE_S, check=False, **options)
        return ended.returncode, ended.stderr

    def commands(self):
        saved = self.folder / "saved.npz"
        self.assertEqual(self.run_pair("--save-outputs", saved).code, 0)
        run = ["run", self.model, "--runner", "good=identity"]
        return ([*run], [*run, "--resume", "--save-outputs", self.folder / "new.json"],
                ["compare", saved, saved], ["data", "show", saved],
                ["data", "show", saved, "--format", "json"], ["inspect", "model", self.model],
                ["check", "lint", self.model, "--no-run"], ["run", "--help"], ["--version"],
                ["backends"], ["completion", "bash"])

    def test_it_is_exit_code_7_and_a_sentence(self):
        for words in self.commands():
            with self.subTest(words=words), open("/dev/full", "w") as full:
                code, err = self.end_into(full, *words)
                self.assertEqual(code, 7, err)
                self.assertIn("stdout", err)
                self.assertEqual(err.count("[!]"), 1, err)
                self.assertEqual(self.end_into(subprocess.DEVNULL, *words), (0, ""))

    def test_what_counts_for_more_stays(self):
        run = ["run", self.model, "--runner"]
        for words, usual, code in (([*run, "a=trt", "--trt-lib", "/nosuch"], 5, 5),
                                   ([*run, "good=identity", "--load-inputs", "nosuch.npz"], 3, 7)):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                self.assertEqual(self.end_into(subprocess.DEVNULL, *words)[0], usual)
                ended, err = self.end_into(full, *words)
                self.assertEqual(ended, code, err)
                self.assertIn("stdout", err)

    def test_a_reader_that_had_enough_is_no_error(self):
        for ignored in (False, True):
            reader, writer = os.pipe()
            os.close(reader)
            handler = signal.SIG_IGN if ignored else signal.SIG_DFL
            code, err = self.end_into(writer, "inspect", "model", self.model,
                                      preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
            os.close(writer)
            self.assertEqual((code, err), (0 if ignored else -signal.SIGPIPE, ""))


class OutOfMemory(FaultTest):
    def test_it_is_a_sentence_and_results_load(self):
        """With less and less address space, until nothing works at all. The file is the old one, or
        has what was finished before memory ran out."""
        if is_sanitized():
            self.skipTest("a sanitizer alone wants terabytes of it")
        model = self.write_model("large.onnx", ["x"], [1000, 1000])
        path = self.folder / "saved.json"
        first = self.run_pair("--iterations", "2", "--save-outputs", path, model=model)
        self.assertEqual(first.code, 0, first)
        old = path.read_bytes()
        failed = 0
        for mib in (200, 120, 80, 60, 50, 45, 40, 35, 30):
            limit = mib << 20
            with self.subTest(mib=mib):
                ended = self.run_pair(
                    "--iterations", "2", "--seed", "7", "--save-outputs", path, model=model,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                if ended.code == 0:
                    path.write_bytes(old)
                    continue
                failed += 1
                self.assertGreater(ended.code, 0, ended)
                self.assertTrue(ended.err.strip(), ended)
                if path.read_bytes() != old:
                    saved = self.saved_iterations(path)
                    # The runners take turns, this one first. Where memory ran out in a turn of the
                    # other it went on alone, to its end.
                    self.assertIn((saved["good"], saved["bad"]), [(1, 0), (1, 1), (2, 0), (2, 1)])
                    path.write_bytes(old)
        self.assertGreater(failed, 0)


class Killed(FaultTest):
    """SIGKILL, which no program can answer."""

    def test_waiting_outputs_leave_nothing_behind(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = dict(os.environ, TMPDIR=str(temporary))
        run = subprocess.Popen(
            [VERNIER, "run", str(self.model), "--identity", "--identity", "--sequential-runners",
             "--iterations", "10000000"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: has_deleted_file(run.pid, temporary), "outputs to wait on the disk")
        run.kill()
        run.wait()
        self.assertEqual(list(temporary.iterdir()), [])


def has_deleted_file(pid, folder):
    """Whether the process has a file open that has no name in `folder`."""
    try:
        names = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return any(name.startswith(str(folder)) and name.endswith("(deleted)") for name in names)


class Places(FaultTest):
    def test_where_nothing_can_be_written(self):
        (self.folder / "file").write_text("in the way")
        for path in ("file/saved.json", "file/deeper/saved.json", "notes/"):
            with self.subTest(path=path):
                ended = self.run_pair("--save-outputs", f"{self.folder}/{path}")
                if path == "notes/":
                    self.assertEqual(ended.code, 0, ended)
                else:
                    self.assertEqual(ended.code, 7, ended)
                    self.assertIn("[!]", ended.err)
        self.assertEqual((self.folder / "file").read_text(), "in the way")

    def test_old_results_stay_when_every_runner_dies_before_its_first(self):
        path = self.folder / "saved.json"
        path.write_text("old")
        ended = self.begin("--runner", "bad=fake", "--save-outputs", path,
                           behaviour="crash=SIGSEGV stage=create").end()
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(path.read_text(), "old")


if __name__ == "__main__":
    unittest.main()
