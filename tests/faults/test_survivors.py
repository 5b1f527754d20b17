"""Of runners that share a worker, only the one that ends it is lost."""

import json
import shutil
import unittest

from fault_run import FaultTest, Run


class Survivors(FaultTest):
    def setUp(self):
        super().setUp()
        self.bad = self.folder / "guilty.onnx"
        self.bad2 = self.folder / "guilty2.onnx"
        shutil.copy(self.model, self.bad)
        shutil.copy(self.model, self.bad2)
        self.record = self.folder / "record.json"

    def share(self, *runners, behaviour, options=()):
        """Runs these ("a", or "a guilty.onnx") in one worker."""
        words = []
        for runner in runners:
            name, _, model = runner.partition(" ")
            words += ["--runner", f"{name}=fake {self.folder / model if model else ''}".strip()]
        words += ["--iterations", "4", "--save-record", self.record, *options]
        # The model of those that name none.
        shared = [self.model] if any(" " not in runner for runner in runners) else []
        return Run([*shared, *words], f"model=guilty {behaviour}", self.notes / "note").end()

    def failures(self):
        runners = json.loads(self.record.read_text())["runners"]
        return {runner["name"]: runner.get("failure", "") for runner in runners}

    def assert_only_these_failed(self, ended, *names):
        self.assertEqual(ended.code, 6, ended)
        failed = {name for name, why in self.failures().items() if why}
        self.assertEqual(failed, set(names), ended)

    def test_the_others_go_on_and_are_compared(self):
        for how, words in (("crash=SIGSEGV", "died of SIGSEGV"), ("hang=1", "hung")):
            for order in (("a", "b", "bad guilty.onnx"), ("bad guilty.onnx", "a", "b")):
                with self.subTest(how=how, order=order):
                    ended = self.share(*order, behaviour=f"{how} iteration=2",
                                       options=("--timeout", "1"))
                    self.assert_only_these_failed(ended, "bad")
                    self.assert_failed_line(ended, words, "while running iteration 2")
                    self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)
                    notes = json.loads(self.record.read_text())["notes"]
                    self.assertIn("a was started again in another worker: "
                                  "bad ended the worker that they shared", notes)

    def test_what_was_finished_is_kept(self):
        saved = self.folder / "saved.json"
        ended = self.share("a", "bad guilty.onnx", "b", behaviour="crash=SIGSEGV iteration=2",
                           options=("--save-outputs", saved))
        self.assert_only_these_failed(ended, "bad")
        self.assertEqual(self.saved_iterations(saved), {"a": 4, "bad": 2, "b": 4})
        self.assertIn("a vs. bad", ended.out)
        self.assertIn("Passed: 2/2 iterations", ended.out)

    def test_while_it_is_opened(self):
        for stage in ("open", "signature", "info"):
            for order in (("a", "bad guilty.onnx", "b"), ("bad guilty.onnx", "a", "b"),
                          ("a", "b", "bad guilty.onnx")):
                with self.subTest(stage=stage, order=order):
                    ended = self.share(*order, behaviour=f"crash=SIGFPE stage={stage}",
                                       options=("--pairs", "a:b"))
                    self.assert_only_these_failed(ended, "bad")
                    self.assert_failed_line(ended, "died of SIGFPE", "while opening '")
                    self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)

    def test_while_it_is_closed(self):
        ended = self.share("bad guilty.onnx", "a", "b", behaviour="crash=SIGSEGV stage=close")
        self.assert_only_these_failed(ended, "bad")
        self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)

    def test_during_warm_up(self):
        ended = self.share("a", "b", "bad guilty.onnx", behaviour="crash=SIGSEGV iteration=0",
                           options=("--warm-up", "2"))
        self.assert_only_these_failed(ended, "bad")
        self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)

    def test_two_are_guilty(self):
        for how in ("stage=open", "stage=run"):
            with self.subTest(how=how):
                ended = self.share("a", "bad guilty.onnx", "worse guilty2.onnx", "b",
                                   behaviour=f"crash=SIGSEGV {how}", options=("--pairs", "a:b"))
                self.assert_only_these_failed(ended, "bad", "worse")
                self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)

    def test_all_are_guilty(self):
        ended = self.share("a guilty.onnx", "b guilty.onnx", "c guilty2.onnx",
                           behaviour="crash=SIGSEGV")
        self.assert_only_these_failed(ended, "a", "b", "c")
        # One start for each that failed.
        self.assertEqual(len((self.notes / "note").read_text().splitlines()), 3)

    def test_a_framework_that_dies_while_it_loads_is_not_started_again_and_again(self):
        ended = self.share("a", "b", "c", behaviour="crash=SIGSEGV stage=create")
        self.assert_only_these_failed(ended, "a", "b", "c")
        self.assertEqual(len((self.notes / "note").read_text().splitlines()), 1)

    def test_one_by_one_as_before(self):
        ended = self.share("a", "bad guilty.onnx", "b", behaviour="crash=SIGSEGV iteration=1",
                           options=("--sequential-runners", "--pairs", "a:b"))
        self.assert_only_these_failed(ended, "bad")
        self.assertIn("a vs. b: PASSED, compared 1 output in 4 iterations", ended.out)
        self.assertNotIn("started again", ended.out)

    def test_with_a_process_each_nothing_is_started_again(self):
        ended = self.share("a", "bad guilty.onnx", "b", behaviour="crash=SIGSEGV iteration=1",
                           options=("--use-subprocess", "--pairs", "a:b"))
        self.assert_only_these_failed(ended, "bad")
        self.assertNotIn("started again", ended.out)

    def test_a_mismatch_of_those_that_are_left_is_found(self):
        ended = self.begin("--runner", "a=fake", "--runner", "b=fake", "--runner",
                           f"bad=fake {self.bad}", "--iterations", "3",
                           behaviour="model=guilty crash=SIGSEGV iteration=1 off=0.1").end()
        self.assertEqual(ended.code, 1, ended)
        self.assertIn("a vs. b: FAILED, compared 1 output in 3 iterations", ended.out)

    def test_a_model_that_was_saved_and_shown_is_so_once(self):
        saved = self.folder / "edited.onnx"
        ended = self.share("a", "b", "bad guilty.onnx", behaviour="crash=SIGSEGV iteration=1",
                           options=("--mark-all", "--save-onnx", saved, "-v"))
        self.assert_only_these_failed(ended, "bad")
        self.assertEqual(ended.out.count("a                                   | Starting again"), 1)

    def test_resumed(self):
        saved = self.folder / "saved.json"
        options = ("--save-outputs", saved, "--seed", "3")
        ended = self.share("a", "b", "bad guilty.onnx", behaviour="crash=SIGSEGV iteration=2",
                           options=options)
        self.assert_only_these_failed(ended, "bad")
        ended = self.share("a", "b", "bad guilty.onnx", behaviour="",
                           options=(*options, "--resume"))
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.saved_iterations(saved), {"a": 4, "b": 4, "bad": 4})


if __name__ == "__main__":
    unittest.main()
