"""A state that only later inferences read: `check consistency` makes several after each reset."""

import sys
import textwrap
import unittest

from program import Case


class Delays(Case):
    def write(self, text):
        self.path("m.py").write_text(textwrap.dedent(text), encoding="utf-8")

    def delay_line(self, reset, *words, code):
        self.write(f"""
            class Line:
                def __init__(self):
                    self.held = [0.0] * 4
                    self.count = 0

                def reset_states(self):
                    {reset}

                def infer(self, feed):
                    self.held = [feed["x"], *self.held[:3]]
                    self.count += 1
                    return {{"y": feed["x"] + self.held[3] + self.count // 2}}

            def load(path):
                return Line()
            """)
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,4]", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_a_state_that_only_later_inferences_read_is_looked_at(self):
        whole = "self.held, self.count = [0.0] * 4, 0"
        said = self.delay_line(whole, "--only", "repeated-runs", "fresh-session", code=0)
        for done in ("repeated-runs | 4 more runs", "fresh-session | 2 more processes"):
            self.assertIn(f"PASSED | {done}, the same bits; 4 inferences after each reset", said)
        # One of four places is kept, which the third inference reads.
        part = "self.held, self.count = [self.held[0], 0.0, 0.0, 0.0], 0"
        said = self.delay_line(part, "--only", "repeated-runs", code=1)
        self.assertIn("FAILED | repeated-runs | ", said)
        self.assertIn("run 2, inference 3", said)
        self.assertIn("PASSED | repeated-runs | ", self.delay_line(
            part, "--only", "repeated-runs", "--steps", "2", code=0))
        # The same wrong state every time: only a session that was not reset shows it.
        wrong = "self.held, self.count = [0.0] * 4, -1"
        said = self.delay_line(wrong, "--only", "repeated-runs", "fresh-session", code=1)
        self.assertIn("PASSED | repeated-runs | ", said)
        self.assertIn("a session that was not reset before its first inference, inference 2", said)

    def state_of_rows(self, state, *words, code):
        """Whose next state is made of h, which has the rows of the batch."""
        self.write(f"""
            import numpy as np

            class Net:
                def reset_states(self):
                    self.h = 0

                def infer(self, feed):
                    h = feed["x"] + np.float32(0.5) * self.h
                    self.h = {state}
                    return {{"y": h}}

            def load(path):
                return Net()
            """)
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[4,3]", "--only",
                             "identical-rows", "permuted-rows", "batch-of-one", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_rows_that_mix_in_the_state_are_found(self):
        for state, broken in (("h.mean(0, keepdims=True)", "batch-of-one"),
                              ("np.roll(h, 1, 0)", "permuted-rows"),
                              ("h + np.arange(len(h), dtype='f4')[:, None]", "identical-rows")):
            with self.subTest(state=state):
                said = self.state_of_rows(state, code=1)
                self.assertIn(f"FAILED | {broken} | ", said)
                self.assertIn(", inference 2", said)
                self.state_of_rows(state, "--steps", "1", code=0)
        said = self.state_of_rows("h", code=0)
        for done in ("identical-rows | 6 rows", "permuted-rows | 5 batches",
                     "batch-of-one | 9 rows"):
            self.assertIn(f"PASSED | {done}, the same bits; batches of 2 to 4 rows; 4 inferences "
                          "after each reset", said)

    def test_the_method_that_resets_is_named(self):
        self.write("""
            class Sum:
                total = 0

                def begin(self):
                    self.total = 0

                def infer(self, feed):
                    self.total = self.total + feed["x"]
                    return {"y": self.total}

            def load(path):
                return Sum()
            """)
        words = ("check", "consistency", "--runner", "a=m.py", "--python", sys.executable,
                 "--input-shapes", "x:[1,4]", "--only", "repeated-runs", "fresh-session")
        for more, code in (((), 1), (("--reset", "begin"), 0), (("--reset", "a:begin"), 0),
                           (("--reset", "b:begin"), 2)):
            with self.subTest(more=more):
                ended = self.vernier(*words, *more)
                said = ended.out + ended.err
                self.assertEqual(ended.code, code, said)
                self.assertEqual("repeated-runs | 4 more runs, the same bits; 4 inferences after "
                                 "each reset" in said, code == 0, said)

    def test_what_cannot_go_on_with_the_same_inputs_is_no_fault(self):
        """As a mask that has to become longer with the past."""
        self.write("""
            class Once:
                def reset_states(self):
                    self.used = False

                def infer(self, feed):
                    assert not getattr(self, "used", False), "the mask does not fit"
                    self.used = True
                    return {"y": feed["x"]}

            def load(path):
                return Once()
            """)
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,4]", "--only",
                             "repeated-runs", "fresh-session")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        self.assertIn("PASSED | fresh-session | 2 more processes, the same bits; 1 inference after "
                      "each reset, as the next one fails: ", said)

    def net_that_forgets(self, kept, *words, code, steps=4):
        """What it computes of x, h, the peak p, the mean m and the count n; `kept` stays."""
        self.write(f"""
            import numpy as np

            class Net:
                def __init__(self):
                    self.h, self.p, self.m, self.n, self.hot = 0, 0, 0, 0, False
                    self.first = None

                def reset_states(self):
                    kept = {{name: getattr(self, name) for name in {kept!r}}}
                    self.__init__()
                    vars(self).update(kept)

                def infer(self, feed):
                    x = feed["x"]
                    assert "first" not in {kept!r} or self.first is None or (x == self.first).all()
                    self.first, self.n = x, self.n + 1
                    self.m = self.m + (x - self.m) / self.n if "m" in {kept!r} else x
                    self.p = max(self.p, np.abs(x).max())
                    self.h = self.h / 2 + x if self.n % {steps} == 1 else self.h
                    hot, self.hot = self.hot, bool(np.abs(x).max() > 1)
                    return {{"y": (self.h + x / self.p - self.m + hot).astype("f4")}}

            def load(path):
                return Net()
            """)
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,4]", "--only",
                             "repeated-runs", "fresh-session", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_what_a_reset_leaves_shows_after_other_inputs_and_numbers_of_them(self):
        said = self.net_that_forgets([], code=0)
        self.assertIn("PASSED | repeated-runs | 4 more runs, the same bits; 4 inferences after "
                      "each reset; also after 8 resets that followed other inputs", said)
        behind = "after a reset that followed 1 inference with "
        for kept, case, words, steps in ((["n"], behind + "other inputs", (), 4),
                                         (["n"], behind + "other inputs", (), 2),
                                         (["n"], behind + "other inputs", ("--steps", "12"), 3),
                                         (["m", "n"], behind + "other inputs", (), 1),
                                         (["p"], behind + "doubled inputs", (), 1),
                                         (["hot"], behind + "doubled inputs", (), 1)):
            with self.subTest(kept=kept, words=words, steps=steps):
                said = self.net_that_forgets(kept, *words, code=1, steps=steps)
                self.assertIn("FAILED | repeated-runs | ", said)
                self.assertIn(f"smallest case: {case}", said)

    def test_a_runner_that_refuses_other_inputs_is_not_at_fault(self):
        said = self.net_that_forgets(["first"], code=0)
        self.assertRegex(said, "PASSED . repeated-runs .*4 inferences after each reset; not tried "
                               "after resets that follow other inputs, which the runner "
                               "refuses: .*")

    def test_what_nothing_resets_shows_after_other_inputs(self):
        self.write("""
            import numpy as np

            peak = 0

            def infer(feed):
                global peak
                peak = max(peak, np.abs(feed["x"]).max())
                return {"y": feed["x"] / peak}
            """)
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,4]", "--only",
                             "repeated-runs")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 1, said)
        self.assertIn("smallest case: after 1 inference with doubled inputs", said)


if __name__ == "__main__":
    unittest.main()
