"""The options that `next:` advises are enough."""

import json
import re
import unittest

import numpy as np

from program import Case


class Advice(Case):
    """What a run says to type next lets it pass, or is not said."""

    def advised(self, first, second, *words):
        self.save_runs("a.json", [("a", [first])])
        self.save_runs("b.json", [("b", [second])])
        ended = self.vernier("compare", "a.json", "b.json", *words)
        self.assertEqual(ended.code, 1, ended.out)
        pattern = (r"^next: to accept this difference: use (.*?)"
                   r"(?: \(enough, but not the smallest pair\))?$")
        (said,) = re.findall(pattern, ended.out, re.M) or [""]
        return said.split()

    def test_it_is_enough(self):
        big = 2 ** 60
        for first, second, words in (
                ({"y": np.array([3e-19, 1e-30])}, {"y": np.array([1e-19, 1e-30])}, ["--atol", "0"]),
                ({"y": np.array([big + 1, 5])}, {"y": np.array([big + 2, 5])},
                 ["--atol", "0", "--rtol", "0"]),
                ({"y": np.array([7, 5]), "z": np.array([1.5])},
                 {"y": np.array([9, 5]), "z": np.array([1.25])}, []),
                ({"y": np.array([1.0, 2])}, {"y": np.array([1.0, 2.3])},
                 ["--compare", "simple", "l2"]),
                ({"y": np.array([False, True, True, True])},
                 {"y": np.array([False, False, True, False])}, []),
                ({"y": np.array([1.2e-38, 0, -3.4028235e38], "f4")},
                 {"y": np.array([5, 0, 0], "u4")}, []),
                ({"y": np.array([1, 2], "f4")}, {"y": np.array([1e15, 2], "f4")},
                 ["--compare", "snr"])):
            advice = self.advised(first, second, *words)
            self.assertTrue(advice)
            ended = self.vernier("compare", "a.json", "b.json", *words, *advice, "--lenient")
            self.assertEqual(ended.code, 0, (advice, ended.out))
        self.assertEqual(self.advised({"y": np.array([big + 1])}, {"y": np.array([big + 2])},
                                      "--atol", "0", "--rtol", "0"), ["--atol", "1"])

    def test_it_is_enough_for_all_iterations(self):
        ones = np.ones(4, "f4")
        errors = [1e-4, 1e-1, 1e-2, 0]
        self.save_runs("a.json", [("a", [{"y": ones} for _ in errors])])
        self.save_runs("b.json", [("b", [{"y": ones + np.float32([error, 0, 0, 0])}
                                         for error in errors])])
        for words, value in ((["l2"], "0.11"), (["rmse"], "0.051"), (["ulp"], None),
                             (["cosine_similarity", "--cosine-similarity-threshold", "0.9999999"],
                              None),
                             (["psnr", "l2", "simple", "--psnr-threshold", "90"], None),
                             (["l2", "--check-average"], "0.028")):
            words = ["compare", "a.json", "b.json", "--compare", *words]
            ended = self.vernier(*words, "--save-record", "r.json")
            self.assertEqual(ended.code, 1, ended.out)
            (output,) = json.loads(self.path("r.json").read_text())["pairs"][0]["outputs"]
            self.assertEqual(output["worst_iteration"]["iteration"], 1, words)
            (said,) = re.findall(r"^next: to accept this difference: use (.*?)(?: \(|$)",
                                 ended.out, re.M)
            if value:
                self.assertEqual(said.split()[-1], value)
            given = [i for i, word in enumerate(words) if word.endswith("-threshold")]
            bare = [word for i, word in enumerate(words) if not {i, i - 1} & set(given)]
            ended = self.vernier(*bare, *said.split())
            self.assertEqual(ended.code, 0, (said, ended.out + ended.err))

    def test_one_tolerance_where_one_is_enough(self):
        half = np.float16(65504)
        self.assertEqual(self.advised({"y": np.array([half, 1])}, {"y": np.array([-half, 1])}),
                         ["--rtol", "2"])
        self.assertEqual(self.advised({"y": np.array([1e-3])}, {"y": np.array([0.25])}, "--atol",
                                      "0.1", "--rtol", "0"), ["--atol", "0.25"])

    def test_what_no_option_lets_pass_gets_none(self):
        self.assertEqual(self.advised({"y": np.ones(3), "z": np.ones(3)},
                                      {"y": np.ones(3) * 2, "z": np.ones(4)}), [])

    def test_no_tolerance_changes_a_type(self):
        for words in (["--strict"], ["--same-type"]):
            self.assertEqual(self.advised({"y": np.array([1, 2], "f4")},
                                          {"y": np.array([1, 3], "f8")}, *words), [])

    def test_a_value_that_begins_with_a_dash(self):
        self.advised({"y": np.array([1.0])}, {"y": np.array([2.0])})
        words = ["compare", "a.json", "b.json", "--compare", "snr", "--snr-threshold", "-2.9e+02"]
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 2, ended.out)
        self.assertIn("expected at least one argument; write --snr-threshold=-2.9e+02\n", ended.err)
        self.assertNotIn("; write", self.lenient(*words).err)

    def test_markdown_has_the_columns_that_say_something(self):
        self.advised({"y": np.ones(3)}, {"y": np.ones(3) * 2}, "--compare", "l2", "--report",
                     "r.md")
        said = self.path("r.md").read_text().replace("\\", "")
        self.assertIn("| output | verdict | metrics |\n|---|---|---|\n", said)
        self.assertRegex(said, r"\| y \| \*\*failed\*\* \| l2 1\.732 \(threshold 1e-0?5\) \|")


if __name__ == "__main__":
    unittest.main()
