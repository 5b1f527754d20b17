"""--fail-fast beside decisions: elements that are only reported end nothing."""

import unittest

import numpy as np

from decision_case import flipped, scores
from shard_case import WHOLE, ShardCase

COUNT = 4


class FailFast(ShardCase):
    """The elements of y differ everywhere, and its classes nowhere; those of z come behind it."""

    def save_sides(self, z=(1, 1, 1, 1), y=None):
        left, right = [], []
        for i in range(COUNT):
            rows = scores(4, i)
            left.append({"y": rows, "z": np.ones(3, np.float32)})
            right.append({"y": (rows * np.float32(1.01) if y is None else y(i, rows)),
                          "z": np.full(3, z[i], np.float32)})
        self.save_runs("a.json", [("A", left)])
        self.save_runs("b.json", [("B", right)])
        return ["compare", "a.json", "b.json", "--decision", "y:top1", "--fail-fast"]

    def ends(self, words, code, *sentences):
        ended = self.vernier(*words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        for sentence in sentences:
            self.assertIn(sentence, ended.out + ended.err)
        return ended

    def test_what_no_gate_is_about_is_compared_behind_what_is_only_reported(self):
        words = [*self.save_sides(z=(7, 7, 7, 7)), "--max-flip-rate", "0.5"]
        for more in ([], ["--strict"], ["--compare", "simple", "--judge", "decisions"]):
            judged = "--judge" not in more
            ended = self.ends([*words, *more, "--save-rows", "rows.jsonl"], int(judged),
                              "compared 2 outputs")
            self.assertEqual("output 'z' does not match, and no gate" in ended.out + ended.err,
                             judged)
            again = self.vernier("check", "accuracy", "rows.jsonl", "--max-flip-rate", "0.5")
            self.assertIn("'z'", again.out + again.err)

    def test_gates_are_about_all_samples(self):
        def y(i, rows):
            return flipped(rows, 0, 1, 2, 3) if i == COUNT - 1 else rows * np.float32(1.01)

        words = [*self.save_sides(y=y), "--max-flip-rate", "0.2"]
        ended = self.ends(words, 1, "top1 of 'y' differs in 25 % (20 % allowed)")
        self.assertNotIn("ended early", ended.out + ended.err)
        words[-1] = "0.3"
        self.ends(words, 0, f"in {COUNT} iterations")

    def test_what_the_exit_code_rests_on_ends_the_run(self):
        words = self.save_sides(z=(1, 7, 1, 1))
        for more, iterations in ((["--max-flip-rate", "0.5"], 2),
                                 (["--max-flip-rate", "0.5", "--judge", "both"], 1),
                                 (["--max-flip-rate", "0.5", "--judge", "elements"], 1), ([], 1)):
            self.ends([*words, *more], 1, f"{iterations} of {COUNT} iterations")

    def test_under_the_name_of_polygraphy(self):
        self.save_sides(z=(7, 7, 7, 7))
        run = ["run", "--load-outputs", "a.json", "b.json", "--fail-fast"]
        for more, compared in (([], False),
                               (["--decision", "y:top1", "--max-flip-rate", "0.5"], True)):
            ended = self.lenient(*run, *more)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertEqual("Comparing Output: 'z'" in ended.out, compared, ended.out)

    def test_shards_leave_out_what_the_whole_leaves_out(self):
        for z, code in (((1, 1, 7, 1), 1), ((1, 1, 1, 1), 0)):
            words = [*self.save_sides(z=z), "--max-flip-rate", "0.5"]
            whole = self.vernier(*words, *WHOLE)
            self.assertEqual(whole.code, code, whole.out + whole.err)
            for count, rule in ((2, "stride"), (3, "contiguous")):
                self.expect_whole(whole, self.shards(words, count, rule))


class FailedRunners(ShardCase):
    """A script that dies or raises in its fourth inference, beside one that goes on."""

    SCRIPT = """import os

class Runner:
    def __init__(self):
        self.inferences = 0

    def infer(self, feed):
        self.inferences += 1
        if self.inferences == 4:
            END
        return {"y": feed["x"] * 2, "hn": feed["h"] + feed["x"]}

def load(path):
    return Runner()
"""

    def test_a_runner_that_fails_ends_the_run(self):
        self.path("a.py").write_text(self.SCRIPT.replace("END", "pass"))
        np.savez(self.path("x.npz"), x=np.ones((6, 4), "f4"), h=np.zeros((1, 4), "f4"))
        steps = ["--feed-back", "hn:h", "--step-slice", "x:axis=0,size=1"]
        for end, why in (("os._exit(9)", "ended with exit status 9 while running iteration 3"),
                         ("raise ValueError('no')", "ValueError: no")):
            self.path("b.py").write_text(self.SCRIPT.replace("END", end))
            for fail_fast, made, begun in (([], 12, 12), (["--fail-fast"], 4, 6)):
                with self.subTest(end=end, fail_fast=fail_fast):
                    ended = self.vernier("run", "--runner", "a=a.py", "--runner", "b=b.py",
                                         "--load-inputs", "x.npz", "x.npz", *steps,
                                         "--save-outputs", "out.npz", *fail_fast)
                    said = ended.out + ended.err
                    self.assertEqual(ended.code, 6, said)
                    self.assertIn(why, said)
                    self.assertIn(f"only 3 of {begun} iterations could be compared: b has no "
                                  f"iterations 3 to {begun - 1}", said)
                    with np.load(self.path("out.npz")) as saved:
                        kept = [name for name in saved if name.endswith("/y")]
                    self.assertEqual(sum(name.startswith("a/") for name in kept), made, kept)
                    self.assertEqual(sum(name.startswith("b/") for name in kept), 3, kept)


if __name__ == "__main__":
    unittest.main()
