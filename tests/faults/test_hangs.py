"""A framework that hangs is ended by --timeout; what it prints stays out of our results."""

import os
import pty
import subprocess
import unittest

from fault_run import FAKE_DIR, VERNIER, FaultTest, workers_of, is_sanitized

from test_crashes import STAGES

# What hangs does so for an hour: that it was ended is seen on a machine under any load.
ENDED_WITHIN_S = 30.0
FLOOD = 200 << 20


class Hangs(FaultTest):
    def test_every_stage_ends_by_the_timeout(self):
        for stage, words in STAGES.items():
            with self.subTest(stage=stage):
                ended = self.run_pair("--timeout", "1", behaviour=f"hang=1 stage={stage}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "hung", words)
                self.assertGreaterEqual(ended.seconds, 1.0)
                self.assertLess(ended.seconds, ENDED_WITHIN_S, ended)

    def test_the_limit_is_named_as_it_was_given(self):
        ended = self.run_pair("--timeout", "0.3", behaviour="hang=1")
        self.assert_failed_line(ended, "within 0.3 s", "--timeout")
        self.assertLess(ended.seconds, ENDED_WITHIN_S)

    def test_the_other_runner_goes_on(self):
        saved = self.folder / "saved.json"
        ended = self.run_pair("--timeout", "1", "--iterations", "4", "--save-outputs", saved,
                              behaviour="hang=1 iteration=1")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.saved_iterations(saved), {"good": 4, "bad": 1})

    def test_no_worker_is_left(self):
        run = self.begin("--runner", "bad=fake", "--timeout", "1", behaviour="hang=1")
        run.wait_for_stage()
        workers = workers_of(run.process.pid)
        self.assertEqual(len(workers), 1)
        run.end()
        self.assert_gone(workers)

    def test_a_slow_runner_is_not_hung(self):
        """All iterations together take longer than one may."""
        ended = self.run_pair("--timeout", "4", "--iterations", "6", behaviour="sleep=700")
        self.assertEqual(ended.code, 0, ended)
        self.assertGreater(ended.seconds, 4.0)

    def test_who_lists_backends_is_told_what_is_waited_for(self):
        def listed(stderr):
            ended = subprocess.run(
                [VERNIER, "backends", "fake", "identity", "--backend-dir", FAKE_DIR],
                env=dict(os.environ, VERNIER_FAKE="sleep=4000 stage=create"),
                stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual([line.split()[0] for line in ended.stdout.splitlines()],
                             ["fake", "identity"])
            return ended.stderr

        self.assertEqual(listed(subprocess.PIPE), "")  # logs and scripts want the answer alone
        ours, theirs = pty.openpty()
        listed(theirs)
        os.close(theirs)
        said = os.read(ours, 4096).decode()
        os.close(ours)
        self.assertIn("[I] Loading fake.", said)
        self.assertNotIn("identity", said)

    def test_half_an_answer_is_no_answer(self):
        quiet = self.run_pair()
        for how in ("partial", "huge"):
            with self.subTest(how=how):
                ended = self.run_pair("--timeout", "1", behaviour=f"scribble={how}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "hung", "while running iteration 0")
                self.assertLess(ended.max_rss - quiet.max_rss, 16 << 20)

    def test_talking_is_no_answer(self):
        ended = self.run_pair("--timeout", "1", behaviour="chatter=1 hang=1")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "hung")
        self.assertLess(ended.seconds, ENDED_WITHIN_S, ended)

    def test_in_process_a_hang_still_ends(self):
        ended = self.run_pair("--timeout", "1", "--in-process", behaviour="hang=1")
        self.assertEqual(ended.code, 6, ended)
        self.assertLess(ended.seconds, ENDED_WITHIN_S, ended)


class Floods(FaultTest):
    def test_what_a_framework_prints_does_not_reach_stdout_or_memory(self):
        for verbosity in ("-v", "--verbosity=INFO", "-qqq"):
            quiet = self.run_pair(verbosity)
            for stream in ("stdout", "stderr"):
                with self.subTest(stream=stream, verbosity=verbosity):
                    ended = self.run_pair(verbosity, behaviour=f"flood={stream} bytes={FLOOD}")
                    self.assertEqual(ended.code, 0, str(ended)[-500:])
                    self.assertNotIn("fffff", ended.out)
                    self.assertEqual("fffff" in ended.err, verbosity == "-v")
                    if not is_sanitized():  # which keeps freed memory back
                        self.assertLess(ended.max_rss - quiet.max_rss, 16 << 20)
                    self.assertEqual(len(ended.out.splitlines()), len(quiet.out.splitlines()))

    def test_colours_are_for_terminals(self):
        for where in ("", "fail=6"):
            ended = self.run_pair("-v", behaviour=f"say=\033[0;93mcheese\033[m {where}")
            self.assertIn("cheese\n", ended.err)
            self.assertNotIn("\033", ended.err + ended.out)

    def test_a_runner_that_fails_is_quoted(self):
        ended = self.run_pair("-qqq", behaviour="say=\033[0;93mcheese\033[m fail=6")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "told to fail at run")
        self.assertIn("The last it wrote to standard error:\n    cheese\n", ended.err)
        # What it said before that has been seen.
        ended = self.run_pair("-v", behaviour="say=cheese fail=6")
        self.assertEqual(ended.err.count("cheese"), 1, ended)

    def test_logging_from_another_thread_does_not_disturb_the_answers(self):
        model = self.write_model("wide.onnx", [f"input_{i}" for i in range(40)], [100])
        ended = self.run_pair("--iterations", "100", behaviour="chatter=1", model=model)
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("Passed: 100/100 iterations", ended.out)


if __name__ == "__main__":
    unittest.main()
