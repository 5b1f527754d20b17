"""A framework that dies is a verdict, and nobody else's end."""

import json
import os
import signal
import subprocess
import unittest

from fault_run import FAKE_DIR, FaultTest, PATIENCE_S, VERNIER, workers_of

# What is going on, in the words of the message, by the fake backend's stage.
STAGES = {
    "query": "while loading the framework",
    "create": "while loading the framework",
    "open": "while opening '",
    "signature": "while opening '",
    "info": "while opening '",
    "run": "while running iteration 0",
    "close": "while closing a session",
    "destroy": "while unloading the framework",
}

# Far less than any --timeout, and more than a machine under load needs. How fast it is on an idle
# one is a figure, and no test.
DETECTED_WITHIN_S = 15.0


class Crashes(FaultTest):
    def test_every_stage_names_runner_stage_and_signal(self):
        for stage, words in STAGES.items():
            with self.subTest(stage=stage):
                ended = self.run_pair(behaviour=f"crash=SIGSEGV stage={stage}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "died of SIGSEGV", words)

    def test_every_deadly_signal_is_named(self):
        for name in ("SIGFPE", "SIGABRT", "SIGBUS", "SIGILL", "SIGKILL", "SIGTERM"):
            with self.subTest(signal=name):
                ended = self.run_pair("--iterations", "4", behaviour=f"crash={name} iteration=2")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, f"died of {name}", "while running iteration 2")

    def test_other_ends_of_the_process(self):
        for crash, words in {"exit=0": "ended with exit status 0", "exit=3": "exit status 3",
                             "stack_overflow": "SIGSEGV", "double_free": "SIGABRT"}.items():
            with self.subTest(crash=crash):
                ended = self.run_pair(behaviour=f"crash={crash}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, words, "while running iteration 0")

    def test_the_last_that_it_wrote_is_in_the_verdict(self):
        record = self.folder / "record.json"
        for how in ("crash=SIGSEGV", "crash=SIGABRT", "crash=SIGKILL", "crash=exit=3", "hang=1"):
            with self.subTest(how=how):
                ended = self.run_pair(
                    "--iterations", "3", "--timeout", "2", "--save-record", record,
                    behaviour=f"flood=stderr bytes=4000 say=out_of_cheese {how} iteration=1")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "while running iteration 1")
                # At the end of the verdict, and nowhere else.
                lines = [line.rstrip("\n") for _, line in ended.lines]
                self.assertEqual(lines.count("out_of_cheese"), 0, ended)
                failure = json.loads(record.read_text())["runners"][1]["failure"].splitlines()
                self.assertIn("while running iteration 1", failure[0])
                self.assertEqual(failure[-1], "out_of_cheese")
                self.assertLessEqual(len(failure), 22)
                self.assertEqual(lines.count("    out_of_cheese"), 1, ended)

    def test_with_v_it_comes_when_it_is_written_too(self):
        ended = self.run_pair("-v", behaviour="say=out_of_cheese crash=SIGSEGV")
        lines = [line.rstrip("\n") for _, line in ended.lines]
        self.assertEqual(lines.count("out_of_cheese"), 1, ended)
        self.assertEqual(lines.count("    out_of_cheese"), 1, ended)

    def test_one_that_said_nothing_is_not_quoted(self):
        ended = self.run_pair(behaviour="crash=SIGSEGV")
        self.assertNotIn("standard error", ended.err)

    def test_death_is_noticed_at_once(self):
        for stage in STAGES:
            with self.subTest(stage=stage):
                run = self.begin("--runner", "bad=fake", behaviour=f"crash=SIGSEGV stage={stage}")
                ended = run.end()
                seen_ns = self.assert_failed_line(ended, "SIGSEGV")
                self.assertLess((seen_ns - run.death_ns()) / 1e9, DETECTED_WITHIN_S, ended)

    def test_other_runner_goes_on_and_all_that_was_finished_is_saved(self):
        saved = self.folder / "saved.json"
        ended = self.run_pair("--iterations", "5", "--save-outputs", saved,
                              behaviour="crash=SIGSEGV iteration=2")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.saved_iterations(saved), {"good": 5, "bad": 2})
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["model.onnx", "notes", "saved.json"])

    def test_results_of_both_are_compared_until_then(self):
        ended = self.run_pair("--iterations", "5", behaviour="crash=SIGSEGV iteration=3")
        self.assertIn("Passed: 3/3 iterations", ended.out)

    def test_crash_in_the_first_runner(self):
        ended = self.begin("--runner", "bad=fake", "--runner", "good=identity",
                           behaviour="crash=SIGSEGV stage=create").end()
        self.assertEqual(ended.code, 6, ended)
        self.assertIn("good", ended.out)
        self.assertIn("---- Inference Output(s) ----", ended.out)

    def test_only_runner_crashes(self):
        for stage in STAGES:
            with self.subTest(stage=stage):
                ended = self.begin("--runner", "bad=fake",
                                   behaviour=f"crash=SIGSEGV stage={stage}").end()
                self.assertEqual(ended.code, 6, ended)

    def test_sequential_runners(self):
        ended = self.run_pair("--sequential-runners", "--iterations", "4",
                              behaviour="crash=SIGSEGV iteration=2")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "died of SIGSEGV", "while running iteration 2")

    def test_what_the_framework_left_behind_does_not_keep_us_waiting(self):
        ended = self.run_pair(behaviour="crash=SIGSEGV orphan=1")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "died of SIGSEGV")
        self.assertLess(ended.seconds, 10)

    def test_as_the_peer_every_failure_is_one(self):
        link = self.folder / "polygraphy"
        link.symlink_to(os.path.abspath(VERNIER))
        ended = subprocess.run(
            [link, "run", self.model, "--runner", "bad=fake", "--backend-dir",
             os.path.abspath(FAKE_DIR)],
            env=dict(os.environ, VERNIER_FAKE="crash=SIGSEGV"), capture_output=True, text=True,
            timeout=PATIENCE_S, check=False)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)


class Processes(FaultTest):
    def test_only_the_one_that_died_is_lost(self):
        ended = self.begin("--runner", "a=fake", "--runner", "b=fake",
                           behaviour="crash=SIGSEGV session=1").end()
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "SIGSEGV", runner="b")
        self.assertNotIn("[!] a ", ended.err)

    def test_use_subprocess_gives_each_its_own(self):
        # A process of its own has one session, so nothing is session 1.
        ended = self.begin("--runner", "a=fake", "--runner", "b=fake", "--use-subprocess",
                           behaviour="crash=SIGSEGV session=1").end()
        self.assertEqual(ended.code, 0, ended)

    def test_workers_are_shared_or_not_as_asked(self):
        for options, expected in ((["--use-subprocess"], 2), ([], 1), (["--in-process"], 0)):
            with self.subTest(options=options):
                run = self.begin("--runner", "a=fake", "--runner", "b=fake", *options,
                                 behaviour="sleep=700")
                run.wait_for_stage()
                count = len(workers_of(run.process.pid))
                ended = run.end()
                self.assertEqual((ended.code, count), (0, expected), ended)

    def test_in_process_works(self):
        ended = self.run_pair("--in-process", "--iterations", "3")
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("Passed: 3/3 iterations", ended.out)

    def test_in_process_a_crash_takes_everything_with_it(self):
        ended = self.run_pair("--in-process", behaviour="crash=SIGSEGV")
        self.assertEqual(ended.code, -signal.SIGSEGV, ended)

    def test_worker_inherits_only_its_own_descriptors(self):
        run = self.run_in_background()
        (worker,) = workers_of(run.process.pid)
        targets = [os.readlink(f"/proc/{worker}/fd/{n}") for n in os.listdir(f"/proc/{worker}/fd")]
        run.process.send_signal(signal.SIGINT)
        run.end()
        self.assertFalse([t for t in targets if str(self.folder) in t], targets)
        self.assertEqual(sum(t.startswith("socket:") for t in targets), 1, targets)

    def run_in_background(self):
        run = self.begin("--runner", "bad=fake", "--iterations", "1000", "--save-outputs",
                         self.folder / "saved.json", behaviour="sleep=50")
        run.wait_for_stage(3)
        return run


if __name__ == "__main__":
    unittest.main()
