"""vernier check accuracy, held against the peer's: lines, exit codes, files, and its trap."""

import json
import unittest

from program import Case, ramp

MEASURES = ["simple", "l2", "cosine_similarity", "psnr", "snr"]


class AccuracyCase(Case):
    def setUp(self):
        super().setUp()
        self.save_runs("a.json", [("A", ramp(3))])
        self.save_runs("b.json", [("B", ramp(1, 1e-3) + ramp(3, 0.01)[1:])])
        self.saved("max.json", "--compare", *MEASURES, "--check-error-stat", "max")
        self.saved("elemwise.json", "--compare", "indices", "simple", "l2")

    def saved(self, name, *words):
        """What vernier saves is read by both."""
        self.vernier("compare", "a.json", "b.json", "-qqq", *words, "--save-accuracy-results",
                     name)
        self.assertTrue(self.path(name).exists())

    def ends(self, code, *words):
        ended = self.vernier("check", "accuracy", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err


class LikeThePeer(AccuracyCase):
    def check(self, *words, code):
        theirs = self.peer("check", "accuracy", *words)
        ours = self.lenient("check", "accuracy", *words)
        self.assertEqual((theirs.code, ours.code), (code, code), ours.out + ours.err)
        self.assertGreater(len(theirs.lines()), 2)
        self.assertEqual(ours.lines(), theirs.lines())

    def test_a_statistic_under_other_tolerances(self):
        self.check("max.json", "--check-error-stat", "max", "--atol", "0.1", code=0)
        self.check("max.json", "--check-error-stat", "mean", "--atol", "0.005", "--rtol", "0",
                   code=1)
        self.check("max.json", "--check-error-stat", "median", "y:max", "--atol", "y:0.1", "1e-9",
                   code=0)

    def test_measures_under_other_thresholds(self):
        self.check("max.json", "--compare", "l2", "--l2-threshold", "0.02", code=1)
        self.check("max.json", "--compare", "l2", "--l2-threshold", "y:1", "0", code=0)
        self.check("max.json", "--compare", "quality_metrics", "cosine_similarity",
                   "--psnr-threshold", "40", "--snr-threshold", "y:200", "10", code=1)
        self.check("max.json", "--compare", "l2", "--rtol", "1", code=1)  # and a warning

    def test_averages(self):
        self.check("max.json", "--compare", "l2", "psnr", "--l2-threshold", "0.03",
                   "--psnr-threshold", "20", "--check-average", code=0)
        self.check("max.json", "--check-error-stat", "max", "--atol", "0.006", "--rtol", "0",
                   "--check-average", code=1)
        self.check("max.json", "--compare", "l2", "--l2-threshold", "0.01", "--check-average",
                   "--fail-fast", code=1)

    def test_a_file_of_the_peers(self):
        theirs = self.peer("run", "--load-outputs", "a.json", "b.json", "--compare", *MEASURES,
                           "--check-error-stat", "quantile", "--save-accuracy-results",
                           "theirs.json")
        self.assertEqual(theirs.code, 1)
        self.check("theirs.json", "--check-error-stat", "quantile", "--atol", "1", code=0)
        self.check("theirs.json", "--compare", "snr", "--snr-threshold", "90", code=1)

    def test_saving_the_new_verdicts(self):
        words = ("max.json", "--compare", "l2", "simple", "--check-error-stat", "max",
                 "--l2-threshold", "0.5")
        theirs = self.peer("check", "accuracy", *words, "--save-accuracy-results", "theirs.json")
        ours = self.lenient("check", "accuracy", *words, "--save-accuracy-results", "ours.json")
        self.assertEqual((theirs.code, ours.code), (1, 1))
        self.assertEqual(json.loads(self.path("ours.json").read_text()),
                         json.loads(self.path("theirs.json").read_text()))

    def test_what_cannot_be_judged(self):
        for words in (["max.json", "--atol", "1"], ["elemwise.json", "--fail-fast"],
                      ["max.json", "--check-error-stat", "quantile"],
                      ["elemwise.json", "--compare", "psnr"]):
            theirs = self.peer("check", "accuracy", *words)
            ours = self.lenient("check", "accuracy", *words)
            self.assertEqual((theirs.code, ours.code), (1, 1), words)
            # Ours may go on, or name the file before.
            critical = [line for line in theirs.err.splitlines() if line.startswith("[!]")][0]
            self.assertIn(critical.removeprefix("[!] "), ours.err, words)


class NotAPass(AccuracyCase):
    """The peer ends in PASSED and 0 in each of these."""

    def test_nothing_was_asked_for(self):
        for words in (["max.json"], ["max.json", "--check-average"],
                      ["elemwise.json", "--compare", "indices"],
                      ["max.json", "--compare", "simple"]):
            self.assertEqual(self.peer("check", "accuracy", *words).code, 0)
            said = self.ends(4, *words)
            self.assertIn("nothing was checked", said)
            self.assertNotIn("PASSED", said)
            self.assertEqual(self.lenient("check", "accuracy", *words).code, 1)

    def test_a_file_without_verdicts(self):
        self.path("empty.json").write_text(json.dumps({
            "lst": [{"lst": [[["A", "B"], []]], "aggregation": "per_sample",
                     "polygraphy_class": "AccuracyResult"}],
            "polygraphy_class": "AccuracyResults"}))
        self.assertNotIn("PASSED", self.ends(4, "empty.json", "--compare", "l2"))
        self.path("none.json").write_text('{"lst": [], "polygraphy_class": "AccuracyResults"}')
        self.ends(4, "none.json", "--compare", "l2")
        self.ends(4, "none.json")

    def test_less_than_was_asked_for(self):
        words = ("elemwise.json", "--compare", "indices", "l2", "--l2-threshold", "10")
        self.assertEqual(self.peer("check", "accuracy", *words).code, 0)
        self.assertIn("indices was not checked", self.ends(4, *words))
        self.assertIn("simple was not checked",
                      self.ends(4, "max.json", "--compare", "simple", "l2", "--l2-threshold", "10"))

    def test_a_name_that_no_output_has(self):
        said = self.ends(1, "max.json", "--compare", "l2", "--l2-threshold", "yy:1", "10")
        self.assertIn("--l2-threshold: there is no output 'yy'", said)

    def test_bad_files(self):
        self.assertIn("'nosuch.json'", self.ends(3, "nosuch.json", "--compare", "l2"))
        self.assertIn("'RunResults'", self.ends(3, "a.json", "--compare", "l2"))

    def test_pictures_of_nothing(self):
        said = self.ends(7, "max.json", "--check-error-stat", "max", "--atol", "1",
                         "--save-heatmaps", "maps")
        self.assertIn("no tensors to draw", said)


class InspectAccuracy(AccuracyCase):
    def test_the_peers_lines(self):
        for words in (["max.json"], ["elemwise.json", "-a"]):
            theirs = self.peer("inspect", "data", *words)
            ours = self.lenient("inspect", "data", *words)
            self.assertEqual((theirs.code, ours.code), (0, 0))
            self.assertEqual(ours.lines(), theirs.lines())
        self.assertEqual(self.vernier("data", "show", "max.json").code, 0)


if __name__ == "__main__":
    unittest.main()
