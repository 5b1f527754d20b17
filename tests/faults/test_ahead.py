"""A lone runner is sent its next feed before it has answered: nobody may see that but by the clock.

Only a random feed, only to a plug-in, and only where the inference before was short and its outputs
small. The fake backend notes every run that it is asked for.
"""

import json
import unittest

from fault_run import FaultTest, is_sanitized

# An inference is sent ahead where the one before took less than 10 ms. Under load it may take longer:
# what is seen once in as many tries is there.
TRIES = 6

ITERATIONS = 12
WRONG = 3  # the iteration at which --fail-fast ends the run


class SentAhead(FaultTest):
    def runs(self):
        note = self.notes / "note"
        return len(note.read_text().splitlines()) if note.exists() else 0

    def lone(self, *arguments, behaviour="", iterations=ITERATIONS, model=None):
        return self.begin("--runner", "bad=fake", "--iterations", iterations, *arguments,
                          behaviour=behaviour, model=model).end()

    def outputs_wrong_once(self, model=None, name="wrong_once.json", iterations=ITERATIONS):
        """Saved outputs that a runner which echoes its inputs differs from in one iteration."""
        path = self.folder / name
        ended = self.lone("--save-outputs", path, behaviour=f"lie=nan iteration={WRONG}",
                          model=model, iterations=iterations)
        self.assertEqual(ended.code, 0, ended)
        return path

    def stop_early(self, expected, behaviour="", *more):
        """A run that --fail-fast ends. What it saved and its record, without times."""
        outputs, record = self.folder / "outputs.json", self.folder / "record.json"
        ended = self.lone("--load-outputs", expected, "--fail-fast", "--save-outputs", outputs,
                          "--save-record", record, *more, behaviour=behaviour)
        with open(record, encoding="utf-8") as file:
            made = json.load(file)
        pairs = [{key: value for key, value in pair.items() if "second" not in key}
                 for pair in made["pairs"]]
        runners = [(runner["name"], runner["iterations"], runner.get("failure", ""))
                   for runner in made["runners"]]
        with open(outputs, encoding="utf-8") as file:
            saved = [[result["outputs"] for result in results]
                     for _, results in json.load(file)["lst"]]
        return ended, (ended.code, pairs, runners, made.get("faults"), made.get("error"), saved)

    def tried(self, check, *arguments):
        """Holds where it holds in one of some tries."""
        for left in reversed(range(TRIES)):
            try:
                return check(*arguments)
            except AssertionError:
                if left == 0:
                    raise

    def test_every_iteration_has_its_own_values(self):
        sizes = {"in the message": [2, 3], "lent": [150, 200], "in memory of its own": [800, 1000],
                 "too large": [1100, 2000]}
        for name, dims in sizes.items():
            model = self.write_model("echo.onnx", ["x"], dims)
            for behaviour in ("", "sleep=3", "sleep=15", "chatter=1"):
                with self.subTest(name, behaviour=behaviour):
                    saved = self.folder / "saved.npz"
                    ended = self.begin("--runner", "bad=identity", "--iterations", ITERATIONS,
                                       "--save-outputs", saved, model=model).end()
                    self.assertEqual(ended.code, 0, ended)
                    ended = self.lone("--load-outputs", saved, behaviour=behaviour, model=model)
                    self.assertEqual(ended.code, 0, ended)
                    self.assertIn(f"Passed: {ITERATIONS}/{ITERATIONS} iterations", ended.out)
                    self.assertEqual(self.runs(), ITERATIONS)

    def test_one_more_is_run_where_fail_fast_ends_the_run(self):
        expected = self.outputs_wrong_once()

        def check():
            ended, _ = self.stop_early(expected)
            self.assertEqual(ended.code, 1, ended)
            self.assertEqual(self.runs(), WRONG + 2)

        self.tried(check)

    def check_what_is_told(self, model, behaviour, more):
        ended = self.lone("--save-outputs", self.folder / "saved.json", *more, behaviour=behaviour,
                          model=model)
        self.assertEqual(ended.code, 0, ended)
        read = ended.out.count("the next inputs are here")
        self.assertGreater(read, 0, ended)
        # There is nothing behind the last.
        self.assertLess(read, ITERATIONS)

    def test_a_backend_is_given_the_inputs_of_the_next_run_and_then_just_these(self):
        for dims in ([2, 3], [150, 200]):
            model = self.write_model("echo.onnx", ["x", "y"], dims)
            # Those that are here after a while, and those that are waited for.
            for behaviour, more in (("ahead=1 sleep=8", []), ("ahead=1 sleep=8", ["--warm-up", "3"]),
                                    ("ahead=200", [])):
                with self.subTest(dims=dims, behaviour=behaviour, more=more):
                    self.tried(self.check_what_is_told, model, behaviour, more)

    def test_what_is_told_ahead_and_not_wanted_is_not_seen_either(self):
        expected = self.outputs_wrong_once()
        _, plain = self.stop_early(expected)
        ended, seen = self.stop_early(expected, "ahead=1 sleep=5")
        self.assertEqual(seen, plain, ended)

    def test_two_runners_are_not_told_of_each_others_inputs(self):
        ended = self.begin("--runner", "a=fake", "--runner", "b=fake", "--iterations", ITERATIONS,
                           behaviour="ahead=1 sleep=3").end()
        self.assertEqual(ended.code, 0, ended)
        self.assertNotIn("the next inputs are here", ended.out)

    def test_not_where_an_inference_takes_long(self):
        self.stop_early(self.outputs_wrong_once(), "sleep=15")
        self.assertEqual(self.runs(), WRONG + 1)

    def check_runs_of_large(self, model, expected, runs):
        ended = self.lone("--load-outputs", expected, "--fail-fast", model=model,
                          iterations=WRONG + 3)
        self.assertEqual(ended.code, 1, ended)
        self.assertEqual(self.runs(), runs)

    def test_not_where_outputs_are_large(self):
        for dims, more in (([800, 1000], 2), ([1100, 2000], 1)):  # 3.2 and 8.8 MB
            with self.subTest(dims=dims):
                model = self.write_model("large.onnx", ["x"], dims)
                expected = self.outputs_wrong_once(model, "wrong_once.npz", WRONG + 3)
                self.tried(self.check_runs_of_large, model, expected, WRONG + more)

    def test_not_in_this_process_which_a_crash_would_take_along(self):
        expected = self.outputs_wrong_once()
        ended, _ = self.stop_early(expected, f"crash=SIGSEGV iteration={WRONG + 1}", "--in-process")
        self.assertEqual(ended.code, 1, ended)
        self.stop_early(expected, "", "--in-process")
        self.assertEqual(self.runs(), WRONG + 1)

    def test_what_is_logged_in_an_iteration_that_nobody_wants_is_not_shown(self):
        expected = self.outputs_wrong_once()

        def check():
            ended, _ = self.stop_early(expected, f"log=unwanted iteration={WRONG + 1}")
            self.assertEqual(self.runs(), 1, "the unwanted iteration should have been run")
            return ended

        ended = self.tried(check)
        self.assertNotIn("unwanted", ended.out + ended.err)

    def test_not_beside_another_runner(self):
        ended = self.run_pair("--iterations", ITERATIONS, "--fail-fast", "--load-outputs",
                              self.outputs_wrong_once())
        self.assertEqual(ended.code, 1, ended)
        self.assertEqual(self.runs(), WRONG + 1)

    def check_unseen(self, expected, plain, fate):
        ended, seen = self.stop_early(expected, f"{fate} iteration={WRONG + 1}")
        self.assertEqual(seen, plain, ended)
        self.assertNotIn("[!]", ended.err + ended.out)
        self.assertEqual(self.runs(), 1, "the unwanted iteration should have been run")

    def test_what_becomes_of_an_iteration_that_nobody_wants_is_not_seen(self):
        expected = self.outputs_wrong_once()
        _, plain = self.stop_early(expected)
        for fate in ("crash=SIGSEGV", "crash=exit=3", "fail=6", "scribble=garbage", "lie=fewer",
                     "sleep=400", "say=hello crash=SIGKILL"):
            with self.subTest(fate=fate):
                self.tried(self.check_unseen, expected, plain, fate)

    def test_one_that_hangs_is_not_seen_either(self):
        expected = self.outputs_wrong_once()
        _, plain = self.stop_early(expected)
        ended, seen = self.stop_early(expected, f"hang=1 iteration={WRONG + 1}", "--timeout", "2")
        self.assertEqual(seen, plain, ended)
        self.assertNotIn("hung", ended.err + ended.out)

    def test_with_v_its_end_is_told(self):
        expected = self.outputs_wrong_once()

        def check():
            ended, _ = self.stop_early(expected, f"crash=SIGSEGV iteration={WRONG + 1}", "-v")
            self.assertIn("died of SIGSEGV, a memory access violation while running an iteration "
                          "that is no longer needed", ended.err + ended.out)

        self.tried(check)

    def test_a_crash_belongs_to_the_iteration_that_it_happens_in(self):
        for where in (0, 1, 2, 7, ITERATIONS - 1):
            with self.subTest(where=where):
                outputs = self.folder / "outputs.json"
                outputs.unlink(missing_ok=True)
                ended = self.lone("--save-outputs", outputs,
                                  behaviour=f"crash=SIGKILL iteration={where}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "died of SIGKILL", f"running iteration {where}")
                if where > 0:
                    self.assertEqual(self.saved_iterations(outputs), {"bad": where})

    def test_so_does_a_status(self):
        outputs = self.folder / "outputs.json"
        ended = self.lone("--save-outputs", outputs, behaviour="fail=6 iteration=5")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "told to fail at run")
        self.assertEqual(self.saved_iterations(outputs), {"bad": 5})

    def test_and_a_hang(self):
        ended = self.lone("--timeout", "2", behaviour="hang=1 iteration=5")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "running iteration 5", "no answer within 2 s (--timeout)")

    def test_warm_ups_and_iterations_are_as_many_as_were_asked_for(self):
        ended = self.lone("--warm-up", "4")
        self.assertEqual(ended.code, 0, ended)
        # Act() notes runs of all kinds.
        self.assertEqual(self.runs(), 4 + ITERATIONS)

    def test_no_result_that_is_there_already_is_made_again(self):
        outputs = self.folder / "outputs.json"
        ended = self.lone("--save-outputs", outputs, iterations=8)
        self.assertEqual(ended.code, 0, ended)
        ended = self.lone("--save-outputs", outputs, "--resume")
        self.assertEqual(ended.code, 0, ended)
        # The first and the last of the eight are made again, as samples.
        self.assertEqual(self.runs(), ITERATIONS - 8 + 2)
        self.assertEqual(self.saved_iterations(outputs), {"bad": ITERATIONS})

    def test_memory_does_not_grow(self):
        model = self.write_model("lent.onnx", ["x"], [150, 200])  # 120 kB
        few, many = (self.lone(iterations=n, model=model) for n in (50, 2000))
        self.assertEqual(many.code, 0, many)
        if not is_sanitized():  # which keeps freed memory back
            self.assertLess(many.max_rss, few.max_rss + (16 << 20))


if __name__ == "__main__":
    unittest.main()
