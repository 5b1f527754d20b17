"""--compare logits: a position that a mean hides, and logits of which there are none."""

import unittest

import numpy as np

from program import Case


class HiddenLogits(Case):
    def compare(self, left, right, *words, code):
        self.save_runs("a.json", [("a", [{"y": values} for values in left])])
        self.save_runs("b.json", [("b", [{"y": values} for values in right])])
        ended = self.vernier("compare", "a.json", "b.json", "--compare", "logits", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_one_bad_position_among_thousands_has_a_note(self):
        a = np.zeros((1, 5000, 4), "f4")
        a[..., 0] = 4
        b = a.copy()
        b[0, 4321] = [4, 3.9, 3.9, 3.9]
        said = self.compare([a, a], [a, b], code=0)
        self.assertRegex(said, r"note: a vs\. b: output 'y': the mean KL divergence is within its "
                               r"threshold, but that of position \(0, 4321\) in iteration 1 is "
                               r"1\.0556 nats, 1056 times that: a fault of few positions hides")
        self.assertNotIn("the mean KL divergence is within", self.compare([a, a], [a, a], code=0))

    def test_no_logits_are_no_pass(self):
        none, some = np.zeros((1, 0, 4), "f4"), np.random.default_rng(1).normal(size=(1, 2, 4))
        some = some.astype("f4")
        said = self.compare([none], [none], code=4)
        self.assertIn("not done: a vs. b: --compare logits: output 'y' has no elements in any "
                      "iteration: there is nothing to judge", said)
        self.assertNotIn("PASSED, ", said)
        self.compare([none], [none], "--lenient", code=0)
        self.compare([some, none], [some, none], code=0)


if __name__ == "__main__":
    unittest.main()
