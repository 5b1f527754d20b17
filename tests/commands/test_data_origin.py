"""What `data select` and `data convert` keep of how saved outputs were made, so that outputs of
other inputs or other steps stay what they are: not compared."""

import unittest

from program import ramp
from steps_case import StepsCase

STEPS = ("--feed-back", "hn:h", "--step-slice", "x:axis=1,size=4")
LOST = "does not say any more"


class DataOrigin(StepsCase):
    def setUp(self):
        super().setUp()
        self.recurrent("m.onnx")

    def save(self, path, *words):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", path, *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def save_steps(self, path):
        self.save_feeds("feeds.json", self.recordings(4))
        self.save(path, "--load-inputs", "feeds.json", *STEPS)

    def data(self, *words):
        made = self.vernier("data", *words)
        self.assertEqual(made.code, 0, made.out + made.err)
        return made.out + made.err

    def compare(self, *words, code):
        ended = self.vernier("compare", *words, "--atol", "9")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_outputs_of_other_inputs_are_not_compared_after_a_conversion(self):
        for seed in "12":
            self.save(f"{seed}.npz", "--seed", seed, "--iterations", "3")
        for words in (("convert", "2.npz", "-o", "again.npz"),
                      ("convert", "2.npz", "-o", "again.safetensors"),
                      ("select", "2.npz", "--iterations", "0-2", "-o", "again.npz"),
                      ("select", "2.npz", "--tensors", "y", "-o", "again.safetensors")):
            with self.subTest(words):
                self.assertNotIn(LOST, self.data(*words))
                self.assertIn("other inputs", self.compare("1.npz", words[-1], code=4))
                self.data("select", "2.npz", "--tensors", "y", "-o", "y.npz")
                self.compare("y.npz", words[-1], "--lenient", code=0)
        self.data("select", "2.npz", "--iterations", "2", "-o", "last.npz")
        self.data("select", "2.npz", "--iterations", "0", "-o", "first.npz")
        self.compare("last.npz", "first.npz", code=4)

    def test_what_does_not_keep_it_says_so_once(self):
        self.save("plain.npz", "--iterations", "2")
        self.save_steps("steps.npz")
        for path, seen in (("plain.npz", "from what inputs it was made"),
                           ("steps.npz", "how its steps were fed, and from what inputs")):
            for words in (("convert", path, "-o", "x.json"), ("select", path, "--iterations", "0",
                                                              "-o", "x.json"),
                          ("concat", path, path, "-o", "x.json"),
                          ("convert", path, "--format", "pb", "-o", path + ".d")):
                with self.subTest(words):
                    said = self.data(*words)
                    self.assertEqual(said.count(LOST), 1, said)
                    self.assertIn(seen, said)
        said = self.data("convert", "x.json", "-o", "y.npz")
        self.assertNotIn(LOST, said)

    def run_beside(self, path, code):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "feeds.json", *STEPS,
                             "--atol", "9", "--load-outputs", path)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        return said

    def test_iterations_out_of_a_sequence_are_not_taken_for_its_first_steps(self):
        self.save_steps("s.npz")
        for kept in ("1-7", "2-3", "4-7", "0 2"):
            with self.subTest(kept):
                path = f"{kept.replace(' ', '_')}.npz"
                self.data("select", "s.npz", "--iterations", *kept.split(), "-o", path)
                said = self.run_beside(path, 4)
                if kept != "4-7":  # the second sequence, which has other inputs
                    self.assertIn(f"has iterations {kept} of a run alone (data select), which are "
                                  "not all steps of their sequences", said)
        self.assertIn("compare the same iterations of both, or whole sequences",
                      self.compare("s.npz", "1-7.npz", code=4))
        # Of that selection a further one, and the same cut from the file.
        self.data("select", "1-7.npz", "--iterations", "1-2", "-o", "again.npz")
        self.compare("again.npz", "2-3.npz", code=0)

    def test_first_iterations_and_whole_sequences_are(self):
        self.save_steps("s.npz")
        self.data("select", "s.npz", "--iterations", "0-7", "-o", "all.npz")
        self.run_beside("all.npz", 0)
        self.compare("s.npz", "all.npz", code=0)
        self.data("select", "s.npz", "--iterations", "4-7", "-o", "second.npz")
        self.save_feeds("feeds.json", self.recordings(4)[1:])
        self.run_beside("second.npz", 0)

    def test_files_that_were_fed_in_other_ways_have_no_common_account(self):
        """Whichever is last: neither is taken for that of all iterations."""
        self.save_feeds("feeds.json", self.recordings(4))
        for state in ("own", "reference"):
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                 "b=onnxrt m.onnx", "--load-inputs", "feeds.json", *STEPS,
                                 "--state", state, "--save-outputs", f"{state}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.data("convert", "own.npz", "-o", "none.json")
        self.assertNotIn(LOST, self.data("concat", "own.npz", "own.npz", "-o", "twice.npz"))
        self.data("convert", "twice.npz", "-o", "again.npz")
        untold = "'joined.npz' does not say how its steps were fed"
        self.assertNotIn("does not say", self.compare("twice.npz", "again.npz", code=0))
        for parts in (("reference", "own"), ("own", "none")):
            for first, last in (parts, parts[::-1]):
                with self.subTest(first=first, last=last):
                    files = [f + (".json" if f == "none" else ".npz") for f in (first, last)]
                    said = self.data("concat", *files, "-o", "joined.npz")
                    self.assertIn("'joined.npz' " + LOST + " how the steps of a and b were fed",
                                  said)
                    self.assertIn(untold, self.compare("twice.npz", "joined.npz", code=0))

    def test_two_files_that_were_joined_otherwise_are_not_compared_in_silence(self):
        self.save_feeds("feeds.json", self.recordings(4))
        for state in ("own", "reference"):
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                 "b=onnxrt m.onnx", "--load-inputs", "feeds.json", *STEPS,
                                 "--state", state, "--save-outputs", f"{state}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.data("concat", "own.npz", "reference.npz", "-o", "x.npz")
        self.data("concat", "reference.npz", "own.npz", "-o", "y.npz")
        self.data("convert", "x.npz", "-o", "again.safetensors")
        untold = "were fed like those of"
        said = self.compare("x.npz", "y.npz", code=0)
        self.assertIn("is not known: it joins steps that were fed in several ways (data concat); "
                      "compare the files that it was joined from", said)
        self.assertIn(untold, said)
        for words in (("x.npz", "again.safetensors"), ("x.npz",)):
            self.assertNotIn(untold, self.compare(*words, code=0))
        self.data("select", "x.npz", "--iterations", "4-15", "-o", "part.npz")
        self.assertIn(untold, self.compare("x.npz", "part.npz", "--lenient", code=0))

    def test_files_that_lack_runners_of_others_are_not_joined(self):
        """Runners of what follows would have iterations of one number that do not belong
        together."""
        self.save_runs("ab.json", [("a", ramp(2)), ("b", ramp(2))])
        self.save_runs("b.json", [("b", ramp(2))])
        self.save_runs("a.json", [("a", ramp(2))])
        ended = self.vernier("data", "concat", "b.json", "ab.json", "-o", "x.npz")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("the files before 'ab.json' have fewer iterations of a than of b: behind "
                      "them, iterations of one number would not belong together; join files with "
                      "the same runners (data select picks them), or add --lenient", ended.err)
        self.assertFalse(self.path("x.npz").exists())
        self.data("concat", "b.json", "ab.json", "-o", "x.npz", "--lenient")
        for paths in (("ab.json", "b.json"), ("a.json", "b.json", "ab.json"), ("b.json", "b.json")):
            self.data("concat", *paths, "-o", "x.npz")

    def test_runners_of_several_files_in_one_are_no_runners_of_one_run(self):
        self.save_feeds("feeds.json", self.recordings(4))
        for state in ("own", "reference"):
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                 "b=onnxrt m.onnx", "--load-inputs", "feeds.json", *STEPS,
                                 "--state", state, "--save-outputs", f"{state}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            for runner in "ab":
                self.data("convert", f"{state}.npz", "--runner", runner, "-o",
                          f"{state}_{runner}.npz")
        for first, code in (("own", 4), ("reference", 0)):
            with self.subTest(first=first):
                self.data("concat", f"{first}_a.npz", "reference_b.npz", "-o", "both.npz")
                said = self.compare("both.npz", code=code)
                self.assertEqual(code == 4, "were fed with --state reference" in said, said)


if __name__ == "__main__":
    unittest.main()
