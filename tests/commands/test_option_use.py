"""Nothing that was asked for is passed over in silence: options that need others, words that would
not be used, backends that are not there; and names that stay from run to run."""

import unittest
from xml.etree import ElementTree

from program import Case

RUNNERS = ["--onnxrt", "--onnxrt"]


class OptionUse(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", shape=(2, 3))

    def refused(self, *words):
        """The one sentence of a usage error, with nothing done before it."""
        before = sorted(self.folder.iterdir())
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 2, (words, ended.out, ended.err))
        self.assertEqual(ended.out, "", words)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return ended.err

    def test_an_option_without_the_one_that_it_needs(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        loaded = ["--load-outputs", "gold.json", "gold.json"]
        for words, missing in (
                ([*RUNNERS, "--save-blame", "b.json"], "--blame"),
                ([*RUNNERS, "--bundle", "folder"], "--blame"),
                ([*RUNNERS, "--reference", "x"], "--blame"),
                ([*RUNNERS, "--max-host-mem", "1G"], "--blame"),
                ([*RUNNERS, "--max-gpu-mem", "1G"], "--blame"),
                ([*RUNNERS, "--max-mismatch-excess", "3"], "--max-mismatch-share"),
                (["--onnxrt", "--data-loader-func-name", "f"], "--data-loader-script"),
                (["--onnxrt", "--save-external-data", "w"], "--save-onnx"),
                (["--onnxrt", "--save-engine", "e"], "--trt"),
                (["--onnxrt", "--save-tactics", "t"], "--trt"),
                (["--onnxrt", "--save-timing-cache", "t"], "--trt"),
                (["--onnxrt", "--save-pb", "p"], "--tf"),
                (["--onnxrt", "--identity-device", "cpu"], "--identity"),
                (["--onnxrt", "--allow-pickle"], "--torch"),
                ([*loaded, "--save-inputs", "i.json"], "a runner"),
                ([*loaded, "--save-outputs", "o.json"], "a runner"),
                ([*loaded, "--save-onnx", "o.onnx"], "a runner"),
                (["--onnxrt", "--resume"], "--save-outputs or --save-intermediate-outputs")):
            flag = [word for word in words if word.startswith("--") and word not in RUNNERS
                    and word != "--load-outputs"][0]
            said = self.refused("run", "m.onnx", *words)
            self.assertIn(f"[!] {flag} has an effect only with {missing}", said)

    def test_in_other_commands_too(self):
        self.assertIn("--allow-pickle has an effect only with --torch",
                      self.refused("profile", "m.onnx", "--onnxrt", "--allow-pickle"))
        self.assertIn("--save-engine has an effect only with --trt",
                      self.refused("blame", "m.onnx", *RUNNERS, "--save-engine", "e"))
        self.assertIn("--save-engine has an effect only with --trt",
                      self.refused("check", "consistency", "m.onnx", "--onnxrt", "--save-engine",
                                   "e"))

    def test_with_it_all_is_well(self):
        for words in ([*RUNNERS, "--max-mismatch-share", "0.5", "--max-mismatch-excess", "3"],
                      [*RUNNERS, "--blame", "--save-blame", "b.json"],
                      ["--runner", "a=onnxrt", "--intra-op-threads", "1", "--save-onnx", "o.onnx",
                       "--save-external-data", "w"],
                      ["--runner", "a=identity", "--identity-device", "cpu"]):
            ended = self.vernier("run", "m.onnx", *words)
            self.assertEqual(ended.code, 0, (words, ended.out, ended.err))
            self.assertNotIn("an effect only with", ended.out)

    def test_settings_of_polygraphy_are_told_of(self):
        for words, said in (
                (["--fp16", "--pool-limit", "workspace:1G"],
                 "[W] --fp16 and --pool-limit have an effect only with --trt"),
                (["--error-quantile", "0.5"],
                 "[W] --error-quantile has an effect only with --check-error-stat quantile"),
                (["--openvino-precision", "bf16"],
                 "[W] --openvino-precision has an effect only with --openvino"),
                (["--no-onnxruntime-shape-inference"],
                 "[W] --no-onnxruntime-shape-inference has an effect only with --shape-inference")):
            ended = self.vernier("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(said, ended.out)

    def test_called_as_polygraphy_it_says_nothing(self):
        for words in (["--save-external-data", "w"], ["--save-engine", "e"], ["--fp16"],
                      ["--error-quantile", "0.5"], ["--atol", "1e400"]):
            ended = self.lenient("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 0, (words, ended.out, ended.err))
            self.assertNotIn("an effect only with", ended.out)

    def test_numbers_beyond_all_numbers(self):
        for words in (["--atol", "1e400"], ["--rtol", "y:-1e999"], ["--val-range", "[0,1e400]"],
                      ["--compare", "psnr", "--psnr-threshold", "1e309"], ["--timeout", "1e400"]):
            self.assertIn("is beyond the largest number that there is",
                          self.refused("run", "m.onnx", *RUNNERS, *words))
        self.assertEqual(self.vernier("run", "m.onnx", *RUNNERS, "--atol", "inf").code, 0)

    def test_ranges_end_at_numbers(self):
        for bounds in ("x:[nan,1]", "[inf,inf]", "[-inf,0]"):
            words = ("run", "m.onnx", *RUNNERS, "--val-range", bounds)
            self.assertIn("--val-range: expected two finite numbers", self.refused(*words))
            for ended in (self.lenient(*words), self.vernier(*words, "--lenient")):
                self.assertNotIn("finite numbers", ended.out + ended.err)
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--val-range", "[1,0]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_one_value_for_one_output(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        for words in (["run", "m.onnx", *RUNNERS], ["compare", "gold.json", "gold.json"],
                      ["check", "consistency", "m.onnx", "--onnxrt"]):
            self.assertIn("--rtol: expected one value for what is not named",
                          self.refused(*words, "--rtol", "1e-3", "1e-4"))

    def test_profile_measures_every_shape(self):
        """An unquoted brace comes as several shapes."""
        self.save_model("n.onnx", shape=("n", 3))
        for shapes in (["x:[1,3]", "x:[8,3]"], ["x:[{1,8},3]"]):
            ended = self.vernier("profile", "n.onnx", "--onnxrt", "--duration", "0.01",
                                 "--no-layer-times", "--input-shapes", *shapes)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn("1 runner measured with 2 sets of shapes", ended.out)

    def test_help_names_what_is_needed_where_it_is(self):
        self.assertIn("Needs --blame.", " ".join(self.vernier("run", "--help").out.split()))
        self.assertNotIn("Needs --blame.", " ".join(self.vernier("blame", "--help").out.split()))


class Backends(Case):
    def test_an_unknown_one_is_refused_before_anything_runs(self):
        self.save_model("m.onnx")
        for command in ("run", "blame", "profile"):
            ended = self.vernier(command, "m.onnx", "--runner", "a=onnxrt", "--runner", "x=onxrt")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertEqual(ended.out, "")
            self.assertIn("[!] --runner x: there is no backend 'onxrt'; did you mean 'onnxrt'? "
                          "(choose from onnxrt, openvino, identity, trt, tf, ", ended.err)


class Suggestions(Case):
    def test_frameworks_by_other_names(self):
        for given, meant in (("--ort", "--onnxrt"), ("--tensorrt", "--trt"), ("--ov", "--openvino"),
                             ("--onxrt", "--onnxrt"), ("--save-outputx", "--save-outputs")):
            ended = self.vernier("run", "m.onnx", given)
            self.assertIn(f"Did you mean {meant}?", ended.out)

    def test_an_option_of_another_command(self):
        self.assertIn("vernier run has --save-outputs.",
                      self.vernier("profile", "m.onnx", "--onnxrt", "--save-outputs", "o").out)

    def test_choices_are_one_list(self):
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--compare", "l3")
        self.assertEqual(ended.code, 2)
        self.assertIn("'perceptual_metrics', 'rmse', 'relative_l2', 'ulp', 'kl_divergence')", ended.err)
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
        names, _ = self.suites("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json")
        self.assertEqual(names, ["runners", "onnxrt-runner-N0 vs. gold.json", "run"])
        self.path("older").mkdir()
        self.path("older/gold.json").write_bytes(self.path("gold.json").read_bytes())
        names, _ = self.suites("compare", "gold.json", "older/gold.json")
        self.assertEqual(names, ["gold.json vs. older/gold.json", "run"])

    def test_of_several_runners_each_has_the_files_name(self):
        self.vernier("run", "m.onnx", *RUNNERS, "--save-outputs", "two.json")
        names, _ = self.suites("compare", "two.json")
        self.assertEqual(names[0], "two.json: onnxrt-runner-N0 vs. two.json: onnxrt-runner-N1")

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
