"""State that stays in the worker from step to step: what becomes of it where a worker ends, and
where a plug-in cannot be fed with its own outputs. The fake backend echoes its inputs, and declares
nothing; the identity backend does the same, and declares that it can."""

import json
import unittest

from fault_run import FaultTest

KEPT = "What is fed back stays in its worker"
STEPS = 8


class KeptStates(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("echo.onnx", ["x", "s"], [2, 3])
        self.guilty = self.write_model("guilty.onnx", ["x", "s"], [2, 3])
        self.record = self.folder / "record.json"

    def steps(self, *arguments, behaviour="", sequences=2):
        return self.begin("--iterations", sequences, "--steps", STEPS, "--feed-back", "s:s",
                          "--step-slice", "x:axis=1,size=3",
                          "--save-record", self.record, "-v", *arguments, behaviour=behaviour,
                          model=self.model).end()

    def runners(self):
        runners = json.loads(self.record.read_text(encoding="utf-8"))["runners"]
        return {runner["name"]: runner for runner in runners}

    def test_a_plugin_that_cannot_take_its_outputs_is_given_copies(self):
        for backend in ("fake", "identity"):
            with self.subTest(backend=backend):
                received = []
                for more in ((), ("--save-outputs", self.folder / "o.json")):
                    ended = self.steps("--runner", f"a={backend}", *more)
                    self.assertEqual(ended.code, 0, ended)
                    self.assertEqual(KEPT in ended.out + ended.err, not more, ended)
                    self.assertNotIn("were not released", ended.out + ended.err)
                    received.append(self.runners()["a"]["received"])
                self.assertEqual(received[0]["iterations"], 2 * STEPS)
                self.assertEqual(received[0], received[1])

    def test_a_crash_belongs_to_its_step(self):
        for where in (0, 1, STEPS - 1, STEPS, STEPS + 3):
            with self.subTest(where=where):
                ended = self.steps("--runner", "bad=fake",
                                   behaviour=f"crash=SIGKILL iteration={where}")
                self.assertEqual(ended.code, 6, ended)
                self.assert_failed_line(ended, "died of SIGKILL", f"running iteration {where}")

    def failed(self):
        return {name for name, runner in self.runners().items() if runner.get("failure")}

    def runs(self):
        note = self.notes / "note"
        return len(note.read_text().splitlines()) if note.exists() else 0

    def test_each_step_is_run_once(self):
        ended = self.steps("--runner", "a=fake", sequences=3)
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.runs(), 3 * STEPS)

    def check_several_are_sent(self):
        ended = self.steps("--runner", "a=fake", sequences=3,
                           behaviour=f"fail=6 fails_at={STEPS + 3}")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "told to fail at run", runner="a")
        self.assertEqual(self.runners()["a"]["iterations"], STEPS + 3)
        # To the end of the sequence, and no further.
        self.assertEqual(self.runs(), 2 * STEPS)

    def test_steps_of_the_sequence_are_sent_before_they_are_wanted(self):
        # As many as take less than 10 ms, by the last one: under load one may take longer.
        for left in reversed(range(6)):
            try:
                return self.check_several_are_sent()
            except AssertionError:
                if left == 0:
                    raise

    def test_a_hang_belongs_to_its_step(self):
        ended = self.steps("--runner", "bad=fake", "--timeout", "2",
                           behaviour=f"hang=1 iteration={STEPS + 3}")
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, f"running iteration {STEPS + 3}", "no answer within 2 s")

    def test_a_sequence_is_lost_with_a_worker_that_another_runner_ended(self):
        """The rest of it: the next one begins anew, in another worker."""
        for order in (("far", "a", "bad"), ("bad", "a", "far")):
            for sequences, compared in ((2, STEPS + 3), (3, 2 * STEPS + 3)):
                with self.subTest(order=order, sequences=sequences):
                    self.lose_a_sequence(order, sequences, compared)

    def lose_a_sequence(self, order, sequences, compared):
        runners = {"a": "a=fake", "bad": f"bad=fake {self.guilty}", "far": "far=identity"}
        words = [word for name in order for word in ("--runner", runners[name])]
        behaviour = f"model=guilty crash=SIGSEGV iteration={STEPS + 3}"
        ended = self.steps(*words, behaviour=behaviour, sequences=sequences)
        said, every = ended.out + ended.err, sequences * STEPS
        self.assertEqual(ended.code, 6, ended)
        self.assertIn("a: its state before step 3 of sequence 1 was in the worker that ended "
                      "(--use-subprocess gives each runner one of its own), so the rest of this "
                      "sequence is missing", said)
        self.assertEqual(self.failed(), {"bad"})
        self.assertIn(f"only {compared} of {every} iterations could be compared", said)
        pairs = json.loads(self.record.read_text(encoding="utf-8"))["pairs"]
        (pair,) = (pair for pair in pairs if "bad" not in (pair["first"], pair["second"]))
        self.assertEqual((pair["compared_iterations"], pair["passed_iterations"],
                          pair["expected_iterations"]), (compared, compared, every))
        self.assertTrue(pair["incomplete"])
        ended = self.steps(*words, "--use-subprocess", behaviour=behaviour, sequences=sequences)
        self.assertEqual(self.failed(), {"bad"}, ended)
        self.assertNotIn("is missing", ended.out + ended.err)

    def test_not_where_the_state_begins_anew(self):
        ended = self.steps("--runner", "a=fake", "--runner", f"bad=fake {self.guilty}",
                           behaviour=f"model=guilty crash=SIGSEGV iteration={STEPS}")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.failed(), {"bad"}, ended)

    def test_nor_where_it_begins_anew_with_tokens(self):
        self.model = self.write_model("lm.onnx", ["l", "s"], [1, 1, 3], ["ids"])
        guilty = self.write_model("guilty.onnx", ["l", "s"], [1, 1, 3], ["ids"])
        ended = self.begin("--iterations", 2, "--steps", STEPS, "--feed-back", "s:s",
                           "--decode", "greedy:l=ids", "--val-range", "ids:[0,2]",
                           "--save-record", self.record, "--runner", "a=fake",
                           "--runner", f"bad=fake {guilty}", model=self.model,
                           behaviour=f"model=guilty crash=SIGSEGV iteration={STEPS}").end()
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.failed(), {"bad"}, ended)
        self.assertEqual(self.runners()["a"]["received"]["iterations"], 2 * STEPS)


if __name__ == "__main__":
    unittest.main()
