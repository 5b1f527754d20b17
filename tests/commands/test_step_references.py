"""Saved outputs that were fed with the state of a reference: which sides show each step's own
error, and which are not compared since another reference fed them."""

import unittest

import onnx

from steps_case import StepsCase

WORDS = ("--load-inputs", "feeds.json", "--step-slice", "x:axis=1,size=4", "--feed-back", "hn:h",
         "--atol", "9")
REFERENCE = ("--state", "reference")

# What a file of two runners was saved with: the first, the second, and the state.
FILES = {"own": ("m.onnx", "late.onnx", ()),
         "ref": ("m.onnx", "late.onnx", REFERENCE),
         "other": ("late.onnx", "m.onnx", REFERENCE)}

TOTAL, OWN, REFUSED = "total", "own", "refused"

# Sides "a" and "b" are the runners of a file, or of the run at hand with the state of "a".
SAVED = {("own a", "own b"): TOTAL, ("ref a", "own b"): TOTAL, ("ref b", "own b"): REFUSED,
         ("ref b", "own a"): REFUSED, ("ref a", "other a"): TOTAL, ("ref a", "other b"): REFUSED,
         ("ref b", "other b"): REFUSED, ("ref b", "other a"): REFUSED, ("ref a", "ref b"): OWN}
LIVE_OF_REFERENCE = {("a", "own a"): TOTAL, ("a", "own b"): TOTAL, ("b", "own a"): REFUSED,
                     ("b", "own b"): REFUSED, ("a", "ref a"): TOTAL, ("a", "ref b"): OWN,
                     ("b", "ref a"): OWN, ("b", "ref b"): OWN, ("a", "other a"): TOTAL,
                     ("a", "other b"): REFUSED, ("b", "other a"): REFUSED,
                     ("b", "other b"): REFUSED}
LIVE_OF_OWN = {("a", "own b"): TOTAL, ("b", "own a"): TOTAL, ("a", "ref a"): TOTAL,
               ("b", "ref a"): TOTAL, ("a", "ref b"): REFUSED, ("b", "ref b"): REFUSED}


class StepReferences(StepsCase):
    def setUp(self):
        super().setUp()
        self.recurrent("m.onnx")
        self.late("late.onnx")
        self.save_feeds("feeds.json", self.recordings(12))

    def save(self, name, suffix=".npz"):
        first, second, state = FILES[name]
        ended = self.live(first, second, *state, "--save-outputs", name + suffix)
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def live(self, first, second, *words):
        return self.vernier("run", "--runner", f"a=onnxrt {first}", "--runner",
                            f"b=onnxrt {second}", *WORDS, *words)

    def check(self, ended, seen, order=("", ""), met_later=False):
        said = ended.out + ended.err
        self.assertEqual(ended.code, 4 if seen == REFUSED else 0, said)
        (pair,) = self.record()["pairs"]
        times = [o["time"] for o in pair["outputs"] if "time" in o]
        if seen == REFUSED:
            self.assertIn("give both the same --state, or save the outputs again", said)
            # A run meets another reference's state when it gets there: at the third step here.
            self.assertLessEqual({t["steps"] for t in times}, {2} if met_later else set(), order)
        elif times:
            self.assertEqual({t["own"] for t in times}, {seen == OWN}, said)
            self.assertEqual("each step's own error of" in said, seen == OWN, said)
        return said

    def test_a_live_side_and_a_saved_one(self):
        for name in FILES:
            self.save(name)
        for state, table in ((REFERENCE, LIVE_OF_REFERENCE), ((), LIVE_OF_OWN)):
            for (live, saved), seen in table.items():
                name, runner = saved.split()
                with self.subTest(state=state, live=live, saved=saved):
                    ended = self.live("m.onnx", "late.onnx", *state, "--load-outputs",
                                      f"f={name}.npz", "--pairs", f"{live}:f: {runner}",
                                      "--save-record", "r.json")
                    self.check(ended, seen, met_later=name == "other" and state == REFERENCE)

    def test_two_saved_sides(self):
        for name in FILES:
            self.save(name)
            for runner in "ab":
                made = self.vernier("data", "convert", f"{name}.npz", "--runner", runner, "-o",
                                    f"{name}_{runner}.npz")
                self.assertEqual(made.code, 0, made.out + made.err)
        for (first, second), seen in SAVED.items():
            files = [side.replace(" ", "_") + ".npz" for side in (first, second)]
            for order in (files, files[::-1]):
                with self.subTest(order=order):
                    ended = self.vernier("compare", *order, "--atol", "9", "--save-record",
                                         "r.json")
                    self.check(ended, seen, order)

    def test_another_model_is_another_reference(self):
        self.save("ref")
        self.recurrent("gain.onnx", gain=0.9)
        for first, options, code in (("m.onnx", "", 0), ("late.onnx", "", 4), ("gain.onnx", "", 4)):
            with self.subTest(first=first, options=options):
                ended = self.live(first + options, "late.onnx", *REFERENCE, "--load-outputs",
                                  "f=ref.npz", "--pairs", "b:f: b")
                said = ended.out + ended.err
                self.assertEqual(ended.code, code, said)
                self.assertEqual("whose first runner is another" in said, code == 4, said)

    def test_a_reference_that_feeds_the_same_states_is_the_same(self):
        """Another export, or settings that change no bit: whatever it is, its states are equal."""
        self.save("ref")
        model = onnx.load(str(self.path("m.onnx")))
        model.producer_name = "another exporter"
        onnx.save(model, str(self.path("again.onnx")))
        for first in ("again.onnx", "m.onnx --graph-optimization-level ORT_DISABLE_ALL"):
            with self.subTest(first=first):
                ended = self.live(first, "late.onnx", *REFERENCE, "--load-outputs", "f=ref.npz",
                                  "--pairs", "b:f: b", "--save-outputs", "again.npz",
                                  "--save-record", "r.json")
                self.check(ended, OWN)
                for name in ("ref", "again"):
                    made = self.vernier("data", "convert", f"{name}.npz", "--runner", "b", "-o",
                                        f"{name}_b.npz")
                    self.assertEqual(made.code, 0, made.out + made.err)
                self.check(self.vernier("compare", "ref_b.npz", "again_b.npz", "--save-record",
                                        "r.json"), OWN)

    def test_states_stay_with_iterations_that_are_cut_out_and_joined(self):
        self.save("ref")
        self.save("other")
        for name in ("ref", "other"):
            for part, words in (("first", "0-11"), ("second", "12-23")):
                self.vernier("data", "select", f"{name}.npz", "--iterations", words, "--runners",
                             "b", "-o", f"{name}_{part}.npz")
            made = self.vernier("data", "concat", f"{name}_first.npz", f"{name}_second.npz", "-o",
                                f"{name}_joined.npz")
            self.assertEqual(made.code, 0, made.out + made.err)
            self.assertNotIn("does not say any more", made.out + made.err)
        ended = self.vernier("compare", "ref_joined.npz", "ref_joined.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier("compare", "ref_joined.npz", "other_joined.npz")
        self.assertEqual(ended.code, 4, ended.out + ended.err)

    def select(self, name, ranges, output):
        """Of runner b."""
        made = self.vernier("data", "select", f"{name}.npz", "--runners", "b", "--iterations",
                            *ranges.split(), "-o", output)
        self.assertEqual(made.code, 0, made.out + made.err)
        return output

    def pieces(self, name, *ranges):
        """Cut out and joined again; what is said of it."""
        files = [self.select(name, words, f"{i}.npz") for i, words in enumerate(ranges)]
        made = self.vernier("data", "concat", *files, "-o", "joined.npz")
        self.assertEqual(made.code, 0, made.out + made.err)
        return made.out + made.err

    def test_sequences_that_are_cut_and_joined_are_whole_again(self):
        lost = "does not say any more"
        for name in ("ref", "own"):
            self.save(name)
            self.select(name, "0-23", f"{name}_b.npz")
        self.assertNotIn(lost, self.pieces("ref", "0-4", "5-15", "16-23"))
        ended = self.vernier("compare", "joined.npz", "ref_b.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("in 24 iterations", ended.out)
        # It is known that they have the reference's state.
        ended = self.vernier("compare", "joined.npz", "own_b.npz", "--atol", "9")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("with --state reference", ended.out + ended.err)
        self.assertNotIn(lost, self.pieces("ref", "3-4", "15-16"))
        self.select("ref", "3-4 15-16", "at_once.npz")
        for other, code in (("at_once.npz", 0), ("ref_b.npz", 4)):
            ended = self.vernier("compare", "joined.npz", other)
            self.assertEqual(ended.code, code, ended.out + ended.err)
        for parts in (("5-15", "0-4"), ("0-4", "6-11"), ("0-3", "16-23"), ("0-11", "5-11")):
            with self.subTest(parts=parts):
                self.assertIn(lost, self.pieces("ref", *parts))

    def test_a_renamed_reference_is_the_same(self):
        self.save("ref", ".safetensors")
        self.path("m.onnx").rename(self.path("renamed.onnx"))
        ended = self.vernier("run", "--runner", "x=onnxrt renamed.onnx", "--runner",
                             "y=onnxrt late.onnx", *WORDS, *REFERENCE, "--load-outputs",
                             "f=ref.safetensors", "--pairs", "y:f: b")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
