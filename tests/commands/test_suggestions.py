"""Unknown backends, options and names, and what is suggested in their place."""

import unittest
from xml.etree import ElementTree

import numpy as np

from program import Case
from test_option_use import RUNNERS


class Backends(Case):
    def test_an_unknown_one_is_refused_before_anything_runs(self):
        self.save_model("m.onnx")
        for command in ("run", "blame", "profile"):
            ended = self.vernier(command, "m.onnx", "--runner", "a=onnxrt", "--runner", "x=onxrt")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertEqual(ended.out, "")
            self.assertIn("[!] --runner x: there is no backend 'onxrt'; did you mean 'onnxrt'? "
                          "(choose from onnxrt, openvino, ", ended.err)


class Suggestions(Case):
    def test_frameworks_by_other_names(self):
        for given, meant in (("--ort", "--onnxrt"), ("--tensorrt", "--trt"), ("--ov", "--openvino"),
                             ("--onxrt", "--onnxrt"), ("--save-outputx", "--save-outputs")):
            ended = self.vernier("run", "m.onnx", given)
            self.assertIn(f"Did you mean {meant}?", ended.out)

    def test_the_value_of_a_misnamed_option_goes_with_it(self):
        for words, meant in (
                (["--metric", "l2"], "--compare l2"), (["--metric=l2"], "--compare l2"),
                (["--metrics"], "--compare"), (["--atoll", "1e-3"], "--atol 1e-3")):
            ended = self.vernier("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 2, ended.err)
            self.assertIn(f"Did you mean {meant}?", ended.out)

    def test_an_option_of_another_command(self):
        self.assertIn("vernier run has --save-outputs.",
                      self.vernier("profile", "m.onnx", "--onnxrt", "--save-outputs", "o").out)

    def test_a_framework_where_nothing_runs(self):
        self.assertIn("vernier run has --onnxrt.", self.vernier("compare", "a", "--ort").out)

    def test_names_in_part_and_in_capitals(self):
        for words, said in (
                (["--compare", "cosin"], "did you mean 'cosine_similarity'?"),
                (["--runner", "x=ONNXRT"], "did you mean 'onnxrt'?"),
                (["--runner", "x=onnxrt --intra-threads 1"], "did you mean --intra-op-threads?"),
                (["--runner", "x=onnxrt --ort"],
                 "'--ort' is not an option of a runner; its backend is the first word")):
            ended = self.vernier("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 2, ended.out)
            self.assertIn(said, ended.err)

    def test_numbers_of_threads_are_judged_before_anything_runs(self):
        for count in ("-3", "1025", "99999999999999999999"):
            option = f"--intra-op-threads={count}"
            for words in (["--onnxrt", option], ["--runner", f"a=onnxrt {option}"]):
                ended = self.vernier("run", "m.onnx", *words)
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn("--intra-op-threads: expected a number from 0 to 1024, got "
                              f"'{count}'", ended.out + ended.err)

    def test_choices_are_one_list(self):
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--compare", "l3")
        self.assertEqual(ended.code, 2)
        self.assertIn("'perceptual_metrics', 'rmse', 'relative_l2', 'ulp', 'kl_divergence', "
                      "'logits')", ended.err)
        self.assertNotIn(") or ", ended.err)


class Names(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", shape=(2, 3))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        self.assertEqual(ended.code, 0, ended.err)

    def suites(self, *words):
        ended = self.vernier(*words, "--report", "r.xml", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.vernier("report", "r.json", "-o", "again.xml")
        names = [[suite.get("name") for suite in
                  ElementTree.parse(self.path(file)).getroot().iter("testsuite")]
                 for file in ("r.xml", "again.xml")]
        self.assertEqual(*names)
        return names[0], ended

    def test_a_loaded_file_is_called_by_its_name(self):
        names, ended = self.suites("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json")
        self.assertEqual(names, ["runners", "onnxrt-runner-N0 vs. gold.json", "run"])
        self.assertIn("\nonnxrt vs. gold.json: PASSED, compared", ended.out)
        self.assertRegex(ended.out, r"\n  onnxrt +onnxruntime ")
        self.path("older").mkdir()
        self.path("older/gold.json").write_bytes(self.path("gold.json").read_bytes())
        names, _ = self.suites("compare", "gold.json", "older/gold.json")
        self.assertEqual(names, ["gold.json vs. older/gold.json", "run"])

    def test_of_several_runners_each_has_the_files_name(self):
        self.vernier("run", "m.onnx", *RUNNERS, "--save-outputs", "two.json")
        names, _ = self.suites("compare", "gold=two.json")
        self.assertEqual(names[0], "gold: onnxrt-runner-N0 vs. gold: onnxrt-runner-N1")
        names, _ = self.suites("compare", "two.json")
        self.assertEqual(names[0], "two.json: onnxrt-runner-N0 vs. two.json: onnxrt-runner-N1")

    def test_a_profile_names_runners_as_a_run_does(self):
        ended = self.vernier("profile", "m.onnx", "--onnxrt", "--duration", "0.01",
                             "--no-layer-times")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out, r"\n  x:\[2,3\]  onnxrt  +\d")

    def test_pairs_by_the_names_that_tables_show(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt", "--pairs",
                             "b:onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("\nb vs. onnxrt: PASSED", ended.out)
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--pairs", "onnxrt:onnxrt")
        self.assertEqual(ended.code, 2, ended.out)
        self.assertIn("--pairs: there is no runner 'onnxrt'", ended.err)

    def test_sides_of_one_name_are_told_apart(self):
        for file in ("a.json", "b.json"):
            self.save_runs(file, [("r", [{"y": np.arange(n, dtype=np.float32)} for n in (3, 4)])])
        names, ended = self.suites("compare", "a.json", "b.json")
        self.assertEqual(names, ["r (a.json) vs. r (b.json)", "run"])
        self.assertIn("\nr (a.json) vs. r (b.json): PASSED, compared 1 output in 2 iterations, up "
                      "to "
                      "4 elements in each\n", ended.out)
        self.assertIn("the label 'a' is used twice",
                      self.vernier("compare", "a=a.json", "a=b.json").err)

    def test_an_incomplete_run_is_called_so(self):
        self.save_runs("a.json", [("a", [{"y": np.arange(3.0), "z": np.arange(3.0)}])])
        self.save_runs("b.json", [("b", [{"y": np.arange(3.0)}])])
        ended = self.vernier("compare", "a.json", "b.json", "--report", "r.xml")
        self.assertEqual(ended.code, 4)
        verdict = ElementTree.parse(self.path("r.xml")).find(".//testcase[@name='verdict']/error")
        self.assertEqual(verdict.get("message"), "INCOMPLETE: The output matches, but less could "
                         "be "
                                                 "compared than was asked for.")

    def test_a_label(self):
        names, ended = self.suites("run", "m.onnx", "--runner", "new=onnxrt", "--load-outputs",
                                   "old=gold.json")
        self.assertEqual(names, ["runners", "new vs. old", "run"])
        self.assertIn("new vs. old: PASSED", ended.out)
        names, _ = self.suites("compare", "a=gold.json", "b=gold.json", "--pairs", "a:b")
        self.assertEqual(names[0], "a vs. b")
        # A file of that name is what is meant.
        self.path("x=gold.json").write_bytes(self.path("gold.json").read_bytes())
        names, _ = self.suites("compare", "x=gold.json", "gold.json")
        self.assertEqual(names[0], "x=gold.json vs. gold.json")

    def test_a_label_in_a_script(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "old=gold.json",
                             "--gen-script", "-")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("old=gold.json", ended.out)
        self.assertIn("vernier.run(", ended.out)

    def test_a_label_does_not_hide_the_file(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "old=gold.json",
                             "--save-outputs", "gold.json")
        self.assertEqual(ended.code, 2, ended.out)
        self.assertIn("gold.json", ended.err)


if __name__ == "__main__":
    unittest.main()
