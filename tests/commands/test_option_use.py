"""Nothing that was asked for is passed over in silence: options that need others, words that would
not be used, backends that are not there; and names that stay from run to run."""

import sys
import unittest

import numpy as np

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
            self.assertIn(f"[!] {flag} has no effect without {missing}", said)

    def test_lenient_runs_refuse_our_own_options_alike(self):
        for words in (["--save-blame", "b.json"], ["--bundle", "folder"], ["--max-host-mem", "1G"]):
            said = self.refused("run", "m.onnx", *RUNNERS, "--lenient", *words)
            self.assertRegex(said, rf"\[!\] {words[0]} has .* --blame: add that, or leave")
            self.assertEqual(self.lenient("run", "m.onnx", *RUNNERS, *words).code, 1)

    def test_beside_a_script_that_compares(self):
        self.path("agree.py").write_text("def compare_outputs(a, b):\n    return {'y': True}\n")
        script = [*RUNNERS, "--compare-func-script", "agree.py", "--python", sys.executable]
        for words in (["--worst", "3"], ["--tolerance", "auto"], ["--noise-floor"],
                      ["--max-mismatch-share", "0.1"], ["--rmse-threshold", "1"],
                      ["--logits-kl-threshold", "1"], ["--logits-top-k", "3"]):
            self.assertIn(f"[!] {words[0]} has no effect beside --compare-func-script: leave one "
                          "of the two out", self.refused("run", "m.onnx", *script, *words))
        words = ["--compare", "simple", "--no-shape-check", "--atol", "1", "--l2-threshold", "1"]
        ended = self.vernier("run", "m.onnx", *script, *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --compare, --no-shape-check, --atol and --l2-threshold have no effect "
                      "beside --compare-func-script", ended.out)
        self.assertNotIn("only valid for comparison function", ended.out)
        self.assertNotIn("no effect", self.lenient("run", "m.onnx", *script, *words).out)

    def test_strict_holds_beside_a_script_that_compares(self):
        self.path("agree.py").write_text("def compare_outputs(a, b):\n    return {'y': True}\n")
        for name in "ab":
            self.save_runs(f"{name}.json", [(name, [{"y": np.zeros(4, np.float32)}])])
        words = ["compare", "a.json", "b.json", "--compare-func-script", "agree.py", "--python",
                 sys.executable]
        self.assertEqual(self.vernier(*words).code, 0)
        ended = self.vernier(*words, "--strict")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("shows nothing: y (all elements are zero)", ended.out)

    def test_an_option_of_run_is_no_beginning_of_another(self):
        ended = self.vernier("blame", "m.onnx", *RUNNERS, "--strict")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("Unrecognized Options: ['--strict']\n    vernier run has --strict.",
                      ended.out)

    def test_in_other_commands_too(self):
        self.assertIn("--allow-pickle has no effect without --torch",
                      self.refused("profile", "m.onnx", "--onnxrt", "--allow-pickle"))
        self.assertIn("--save-engine has no effect without --trt",
                      self.refused("blame", "m.onnx", *RUNNERS, "--save-engine", "e"))
        self.assertIn("--save-engine has no effect without --trt",
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
            self.assertNotIn("no effect without", ended.out)

    def test_settings_of_polygraphy_are_told_of(self):
        for words, said in (
                (["--fp16", "--pool-limit", "workspace:1G"],
                 "[W] --fp16 and --pool-limit have no effect without --trt"),
                (["--error-quantile", "0.5"],
                 "[W] --error-quantile has no effect without --check-error-stat quantile"),
                (["--openvino-precision", "bf16"],
                 "[W] --openvino-precision has no effect without --openvino"),
                (["--xla", "--allow-growth", "--gpu-memory-fraction", "0.5", "--freeze-graph"],
                 "[W] --xla, --allow-growth, --gpu-memory-fraction and --freeze-graph have no "
                 "effect without --tf"),
                (["--opset", "13"], "[W] --opset has no effect without a TensorFlow model that "
                                    "is converted to ONNX"),
                (["--tf-outputs", "y"], "[W] --tf-outputs has no effect without a TensorFlow "
                                        "model"),
                (["--no-onnxruntime-shape-inference"],
                 "[W] --no-onnxruntime-shape-inference has no effect without --shape-inference")):
            ended = self.vernier("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(said, ended.out)

    def test_what_compares_needs_two_sides(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        for words in (["--strict"], ["--same-type"], ["--pairs", "all"], ["--worst", "3"],
                      ["--tolerance", "auto"], ["--noise-floor"], ["--ulp-threshold", "3"],
                      ["--max-mismatch-share", "0.5"]):
            for command in (["run", "m.onnx"], ["profile", "m.onnx"], ["batch", "m.onnx", "--"]):
                if command[0] == "profile" and words[0] in ("--pairs", "--worst",
                                                                   "--noise-floor"):
                    continue
                ended = self.vernier(*command, "--onnxrt", *words)
                self.assertEqual(ended.code, 2, (command, words, ended.out, ended.err))
                self.assertIn(f"{words[0]} has no effect without two sides to compare: add that, "
                              f"or leave {words[0]} out", ended.out + ended.err)
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json", *words,
                                 "--compare", "simple", "ulp")
            self.assertNotIn("two sides", ended.out + ended.err)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--compare", "l2", "--rtol", "1e-3",
                             "--check-average", "--l2-threshold", "1")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --compare, --rtol, --check-average and --l2-threshold have no effect "
                      "without two sides to compare", ended.out)
        for words in (["--strict"], ["--same-type"], ["--pairs", "all"], ["--tolerance", "auto"]):
            ended = self.vernier("run", "--load-outputs", "gold.json", *words)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertIn("not done: there is only one side to compare", ended.out)
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only",
                             "repeated-runs", "--strict", "--rtol", "1e-3", "--tolerance", "fixed")
        self.assertNotIn("two sides", ended.out + ended.err)
        ended = self.lenient("run", "m.onnx", "--onnxrt", "--rtol", "1e-3")
        self.assertNotIn("two sides", ended.out)

    def test_a_search_runs_its_reference_without_comparing_it(self):
        ended = self.vernier("debug", "precision", "m.onnx", "-o", "half.onnx", "--", "--onnxrt",
                             "--tolerance", "auto", "--worst=3")
        self.assertNotIn("two sides to compare", ended.out + ended.err)
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_options_of_one_runner_that_another_would_have(self):
        for own, said in (
                ("onnxrt --fp16", "--fp16 has no effect on 'onnxrt': it is an option of --trt"),
                ("onnxruntime --xla", "--xla has no effect on 'onnxrt': it is an option of --tf"),
                ("identity --providers cpu",
                 "--providers has no effect on 'identity': it is an option of --onnxrt"),
                ("onnxrt --torch-in plugin",
                 "--torch-in has no effect on 'onnxrt': it is an option of --torch")):
            self.assertIn(f"[!] --runner x: {said}",
                          self.refused("run", "m.onnx", "--runner", f"x={own}"))
        ended = self.vernier("run", "m.onnx", "--runner", "x=onnxrt --fp16", "--lenient")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--tf-signature has no effect without a TensorFlow model: leave it out",
                      self.refused("run", "m.onnx", *RUNNERS, "--tf-signature", "s"))

    def test_a_precision_that_openvino_lacks(self):
        for words in (["--openvino"], ["--runner", "a=openvino"]):
            said = self.refused("run", "m.onnx", "--onnxrt", *words, "--openvino-precision", "foo")
            self.assertIn("--openvino-precision", said)
            self.assertIn("'foo'", said)

    def test_values_of_onnx_runtimes_options(self):
        for words in (["--onnxrt"], ["--runner", "a=onnxrt"]):
            said = self.refused("run", "m.onnx", "--identity", *words,
                                "--graph-optimization-level", "ort_enable_al")
            self.assertIn("--graph-optimization-level: expected one of ORT_DISABLE_ALL, ", said)
            self.assertIn("got 'ort_enable_al'; did you mean 'ORT_ENABLE_ALL'?", said)
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--providers", "cuba")
        self.assertEqual(ended.code, 2, ended.out)
        self.assertEqual(ended.out.count("ONNX Runtime has no provider 'cuba' of its own; did you "
                                         "mean 'cuda'?"), 1)
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--providers", "CPUExecution")
        self.assertNotIn("did you mean", ended.out)

    def test_what_would_keep_blame_from_its_search(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        for words, said in (
                ([*RUNNERS, "--max-host-mem", "99999999999999G"],
                 "--max-host-mem: '99999999999999G' is too large"),
                (["--runner", "x='onnxrt"], "--runner x: a quote ' is not closed"),
                (["--runner", "x=ort"],
                 "--runner x: there is no backend 'ort'; did you mean 'onnxrt'?"),
                ([*RUNNERS, "--max-host-mem", "1X"], "--max-host-mem: expected a size > 0"),
                ([*RUNNERS, "--reference", "nosuch"],
                 "--reference: there is no runner 'nosuch'; there are 'onnxrt-runner-N0' and "
                 "'onnxrt-runner-N1'"),
                (["--onnxrt"], "blame needs a second side: another runner, or saved outputs"),
                ([*RUNNERS, "--onnxrt"], "but there are 3 sides"),
                (["--onnxrt", "--load-outputs", "gold.json"],
                 "blame against saved outputs needs the inputs that they were made from")):
            ended = self.vernier("run", "m.onnx", *words, "--blame")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"[!] {said}" if not said.startswith("but") else said, ended.err)
            self.assertNotIn("Activating and starting inference", ended.out)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt", "--blame",
                             "--reference", "onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_called_as_polygraphy_it_says_nothing(self):
        for words in (["--save-external-data", "w"], ["--save-engine", "e"], ["--fp16"],
                      ["--xla"], ["--freeze-graph"], ["--opset", "13"],
                      ["--error-quantile", "0.5"], ["--atol", "1e400"]):
            ended = self.lenient("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 0, (words, ended.out, ended.err))
            self.assertNotIn("no effect without", ended.out)

    def test_words_that_do_nothing(self):
        self.assertIn("--noise-floor measures error bounds for --tolerance auto",
                      self.refused("run", "m.onnx", *RUNNERS, "--noise-floor", "--tolerance",
                                   "fixed"))
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--noise-floor", "--tolerance", "y:auto",
                             "fixed")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for word in ("top-0", "top--5", "y:top--5"):
            said = self.refused("run", "m.onnx", *RUNNERS, "--postprocess", word)
            self.assertIn("--postprocess: expected [NAME:]top-K with K >= 1", said)
            self.assertIn(f"got '{word}'", said)
            self.assertEqual(self.lenient("run", "m.onnx", *RUNNERS, "--postprocess", word).code, 0)
        ended = self.vernier("run", "m.onnx", *RUNNERS, "--postprocess", "top-2", "y:top-0")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_a_file_of_inputs_that_is_none(self):
        for text, what in (("[1, 2, 3]", "a number"), ("[[1, 2]]", "a list"), ("true", "true")):
            self.path("i.json").write_text(text)
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "i.json")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn(f": {what} cannot be recognized as a feed_dict: a file of inputs is a "
                          "list "
                          "of objects, one for each iteration", ended.err)

    def test_what_saved_outputs_do_not_need(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        ended = self.vernier("run", "--load-outputs", "gold.json", "gold.json", "--iterations", "2",
                             "--seed", "3", "--val-range", "[0,2]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --iterations, --seed and --val-range have no effect without a runner",
                      ended.out)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--postprocess", "top-1",
                             "--external-data-size-threshold", "5")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--postprocess has no effect without two sides to compare", ended.out)
        self.assertIn("--external-data-size-threshold has no effect without --save-external-data",
                      ended.out)
        self.assertIn("--save-accuracy-results has no effect without two sides to compare",
                      self.refused("run", "m.onnx", "--onnxrt", "--save-accuracy-results",
                                   "a.json"))

    def test_files_that_are_not_there(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--backend-dir", "/nosuch")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--backend-dir: there is no folder '/nosuch'", ended.out + ended.err)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--python", "/nosuch")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --python: there is no file '/nosuch'", ended.out)

    def test_what_tools_for_models_do_not_use(self):
        part = ["surgeon", "extract", "m.onnx", "-o", "o.onnx", "--inputs", "x:auto:auto"]
        ended = self.vernier(*part, "--load-inputs", "/nosuch")
        self.assertIn("[W] --load-inputs has no effect", ended.out + ended.err)
        ended = self.vernier(*part, "--val-range", "garbage")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        for flag in ("--save-timing-cache", "--save-tactics"):
            ended = self.vernier("convert", "m.onnx", "-o", "c.onnx", flag, "t")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"{flag} has no effect on an ONNX file", ended.out + ended.err)
            self.assertFalse(self.path("c.onnx").exists())
        ended = self.vernier("inspect", "model", "m.onnx", "--trt-lib", "/nosuch")
        self.assertIn("[W] --trt-lib has no effect: nothing needs TensorRT", ended.out)
        sanitize = ["surgeon", "sanitize", "m.onnx", "-o", "o.onnx"]
        ended = self.vernier(*sanitize, "--outputs-by-type", "Nosuch")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("No ONNX nodes of op type 'Nosuch'", ended.out + ended.err)
        ended = self.vernier(*sanitize, "--onnxrt-lib", "/no")
        self.assertIn("[W] --onnxrt-lib has no effect without --fold-constants", ended.out)

    def test_places_without_a_name(self):
        self.assertIn("--output-dir: expected a folder, got ''",
                      self.refused("run", "m.onnx", "--onnxrt", "--output-dir", ""))
        self.assertIn("--output: expected a place to save at, got ''",
                      self.refused("check", "lint", "m.onnx", "--output", ""))
        for flag in ("--save-outputs", "--save-inputs", "--save-record", "--save-onnx"):
            self.assertIn(f"{flag}: expected a place to save at, got ''",
                          self.refused("run", "m.onnx", "--onnxrt", flag, ""))
        for flag in ("--initial-state", "--tokens", "--data-loader-script", "--load-inputs"):
            self.assertIn(f"{flag}: expected a file, got ''",
                          self.refused("run", "m.onnx", "--onnxrt", flag, ""))

    def test_no_iteration(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--iterations", "0", "--save-outputs",
                             "o")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --iterations 0: nothing is run, so nothing is compared and no output is "
                      "saved", ended.out)
        self.assertEqual(self.vernier("run", "m.onnx", *RUNNERS, "--iterations", "0").code, 4)
        for words in (["--iterations", "0"], ["--iters", "0"]):
            ended = self.lenient("run", "m.onnx", *RUNNERS, *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertNotIn("nothing is run", ended.out)

    def test_numbers_beyond_all_numbers(self):
        for words in (["--atol", "1e400"], ["--rtol", "y:-1e999"], ["--val-range", "[0,1e400]"],
                      ["--compare", "psnr", "--psnr-threshold", "1e309"], ["--timeout", "1e400"]):
            self.assertIn("is beyond the largest float64",
                          self.refused("run", "m.onnx", *RUNNERS, *words))
        self.assertEqual(self.vernier("run", "m.onnx", *RUNNERS, "--atol", "inf").code, 0)

    def test_numbers_below_all_numbers(self):
        for words in (["--atol", "1e-400"], ["--rtol", "y:0.1e-999"], ["--timeout", "1e-400"]):
            self.assertIn(f"{words[0]}: '{words[1].split(':')[-1]}' is below the smallest positive "
                          "float64", self.refused("run", "m.onnx", *RUNNERS, *words))
        for word in ("0e-400", "1e-310"):
            self.assertEqual(self.vernier("run", "m.onnx", *RUNNERS, "--atol", word).code, 0)

    def test_ranges_end_at_numbers_of_the_type(self):
        self.assertNotIn("as such", self.refused("run", "m.onnx", *RUNNERS, "--val-range",
                                                 "[0,1e400]"))
        words = ("run", "m.onnx", *RUNNERS, "--val-range", "[-1e308,1e308]")
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("input 'x': the range [-1e+308, 1e+308] cannot be used for float32: expected "
                      "both ends within [-3.4028234663852886e+38, 3.4028234663852886e+38]",
                      ended.err)
        self.assertNotIn("cannot be used", self.lenient(*words).err)

    def test_ranges_end_at_numbers(self):
        for bounds in ("x:[nan,1]", "[inf,inf]", "[-inf,0]"):
            words = ("run", "m.onnx", *RUNNERS, "--val-range", bounds)
            self.assertIn("--val-range: expected two finite numbers", self.refused(*words))
            for ended in (self.lenient(*words), self.vernier(*words, "--lenient")):
                self.assertNotIn("finite numbers", ended.out + ended.err)
        for word, said in (("[1,0]", "the smaller first"), ("[0,1", "brackets do not close")):
            words = ("run", "m.onnx", *RUNNERS, "--val-range", word)
            self.assertIn(said, self.refused(*words))
            self.assertEqual(self.vernier(*words, "--lenient").code, 0)
        self.assertIn("got 'x:[2,3', whose brackets do not close",
                      self.refused("run", "m.onnx", *RUNNERS, "--input-shapes", "x:[2,3"))

    def test_thresholds_that_nothing_reaches(self):
        words = ("run", "m.onnx", *RUNNERS, "--compare", "distance_metrics")
        self.assertIn("--cosine-similarity-threshold: expected a number <= 1, got 2",
                      self.refused(*words, "--cosine-similarity-threshold", "2"))

    def test_positions_beyond_all_integers(self):
        self.assertIn("--index-tolerance: expected a whole number from 0 to 9223372036854775807",
                      self.refused("run", "m.onnx", *RUNNERS, "--compare", "indices",
                                   "--index-tolerance", "9223372036854775808"))

    def test_one_value_for_one_output(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        for words in (["run", "m.onnx", *RUNNERS], ["compare", "gold.json", "gold.json"],
                      ["check", "consistency", "m.onnx", "--onnxrt"]):
            self.assertIn("--rtol: '1e-4' is a second value without a name",
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


if __name__ == "__main__":
    unittest.main()
