"""Ctrl-C, kill and a reader that goes away: all of it ends, and what was saved is whole."""

import os
import signal
import subprocess
import time
import unittest

from fault_run import FAKE_DIR, FaultTest, VERNIER, alive, interrupt, wait_until, workers_of

# What is interrupted would go on for a minute and more: that it ended early is seen under any load.
ENDED_WITHIN_S = 15.0


class Interrupts(FaultTest):
    def begin_long(self, *arguments, behaviour="sleep=5", **options):
        """A run of ten thousand iterations that has done a few."""
        run = self.begin("--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                         "10000", *arguments, behaviour=behaviour, **options)
        run.wait_for_stage(1 if "hang" in behaviour else 5)
        return run, workers_of(run.process.pid)

    def test_signals_end_a_run_with_their_own_codes(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                run, workers = self.begin_long()
                self.assertEqual(len(workers), 2)
                start = interrupt(run, number)
                ended = run.end()
                self.assertEqual(ended.code, 128 + number, ended)
                self.assertLess(time.monotonic() - start, ENDED_WITHIN_S)
                self.assert_gone(workers)

    def test_what_was_finished_is_saved_whole(self):
        saved = self.folder / "saved.json"
        run, _ = self.begin_long("--save-outputs", saved)
        interrupt(run)
        self.assertEqual(run.end().code, 130)
        iterations = self.saved_iterations(saved)
        self.assertEqual(set(iterations), {"good", "bad"})
        self.assertGreater(iterations["bad"], 0)
        self.assertEqual(iterations["good"], iterations["bad"])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["model.onnx", "notes", "saved.json"])

    def test_ctrl_c_reaches_the_whole_group_and_workers_do_not_die_first(self):
        saved = self.folder / "saved.json"
        run, workers = self.begin_long("--save-outputs", saved, start_new_session=True)
        os.killpg(run.process.pid, signal.SIGINT)
        ended = run.end()
        self.assertEqual(ended.code, 130, ended)
        self.assertNotIn("died of", ended.err)
        self.assertGreater(self.saved_iterations(saved)["bad"], 0)
        self.assert_gone(workers)

    def test_a_hung_framework_does_not_hold_ctrl_c(self):
        for stage in ("create", "open", "run"):
            with self.subTest(stage=stage):
                run, workers = self.begin_long(behaviour=f"hang=1 stage={stage}")
                start = interrupt(run)
                ended = run.end()
                self.assertEqual(ended.code, 130, ended)
                self.assertLess(time.monotonic() - start, ENDED_WITHIN_S)
                self.assert_gone(workers)

    def test_kill_leaves_the_lines_that_were_logged(self):
        run, workers = self.begin_long()
        time.sleep(0.5)
        interrupt(run, signal.SIGKILL)
        ended = run.end()
        self.assertEqual(ended.code, -signal.SIGKILL, ended)
        iterations = [line for line in ended.out.splitlines() if "Iteration: " in line]
        self.assertGreater(len(iterations), 5, ended)
        self.assert_gone(workers)

    def test_ctrl_c_while_a_framework_hangs_at_its_end(self):
        for stage in ("close", "destroy"):
            with self.subTest(stage=stage):
                run = self.begin("--runner", "bad=fake", behaviour=f"hang=1 stage={stage}")
                run.wait_for_stage()
                start = interrupt(run)
                ended = run.end()
                self.assertEqual(ended.code, 130, ended)
                self.assertLess(time.monotonic() - start, ENDED_WITHIN_S)

    def test_half_an_answer_does_not_hold_ctrl_c(self):
        run = self.begin("--runner", "bad=fake", behaviour="scribble=partial")
        run.wait_for_stage()
        start = interrupt(run)
        self.assertEqual(run.end().code, 130)
        self.assertLess(time.monotonic() - start, ENDED_WITHIN_S)

    def test_kill_takes_the_workers_along(self):
        for behaviour in ("sleep=5", "hang=1"):
            with self.subTest(behaviour=behaviour):
                saved = self.folder / "saved.json"
                saved.write_text("old")
                run, workers = self.begin_long("--save-outputs", saved, behaviour=behaviour)
                run.process.kill()
                self.assertEqual(run.end().code, -signal.SIGKILL)
                self.assert_gone(workers)
                self.assertEqual(saved.read_text(), "old")

    def test_a_stopped_worker_counts_as_hung(self):
        run = self.begin("--runner", "bad=fake", "--iterations", "10000", "--timeout", "1",
                         behaviour="sleep=5")
        run.wait_for_stage(3)
        (worker,) = workers_of(run.process.pid)
        os.kill(worker, signal.SIGSTOP)
        ended = run.end()
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "hung")
        self.assertFalse(alive(worker))

    def test_a_worker_killed_from_outside(self):
        run = self.begin("--runner", "bad=fake", "--iterations", "10000", behaviour="sleep=5")
        run.wait_for_stage(3)
        (worker,) = workers_of(run.process.pid)
        os.kill(worker, signal.SIGKILL)
        ended = run.end()
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "died of SIGKILL", "memory", "while running iteration")


class Readers(FaultTest):
    def test_a_reader_that_goes_away_ends_the_run_quietly(self):
        command = [VERNIER, "run", str(self.model), "--runner", "bad=fake", "--backend-dir",
                   FAKE_DIR, "--iterations", "20000", "-v"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, VERNIER_FAKE="")) as process:
            self.assertIn(b"RUNNING", process.stdout.readline())
            workers = workers_of(process.pid)
            process.stdout.close()
            errors = process.stderr.read()
            process.wait(timeout=60)
        self.assertIn(process.returncode, (0, -signal.SIGPIPE))
        self.assertEqual(errors, b"")
        self.assert_gone(workers)

    def test_closed_streams(self):
        for redirection in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(redirection=redirection):
                command = f'exec "$@" {redirection}'
                ended = subprocess.run(
                    ["sh", "-c", command, "sh", VERNIER, "run", str(self.model), "--runner",
                     "bad=fake", "--backend-dir", FAKE_DIR, "--runner", "good=identity",
                     "--save-outputs", str(self.folder / "saved.json")],
                    env=dict(os.environ, VERNIER_FAKE="flood=stdout bytes=100000"),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
                self.assertEqual(ended.returncode, 0, ended)
                self.assertEqual(self.saved_iterations(self.folder / "saved.json"),
                                 {"bad": 1, "good": 1})

    def test_nothing_is_left_when_a_run_ends(self):
        run = self.begin("--runner", "bad=fake", behaviour="sleep=300")
        run.wait_for_stage()
        workers = workers_of(run.process.pid)
        self.assertEqual(len(workers), 1)
        self.assertEqual(run.end().code, 0)
        wait_until(lambda: not any(map(alive, workers)), "workers to end", timeout=1)


if __name__ == "__main__":
    unittest.main()
