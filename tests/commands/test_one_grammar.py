"""An option means the same in every command, and what would not be used is refused."""

import json
import unittest

from program import Case

SETS = (["x:[1,3]", "x:[4,3]"], ["x:[{1,4},3]"])


class InputShapes(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", "Relu", ["n", 3])

    def refused(self, *words, code=2):
        ended = self.vernier(*words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def record(self, *words):
        ended = self.vernier(*words, "--save-record", "record.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        return json.loads(self.path("record.json").read_text())

    def test_a_value_that_is_refused_is_quoted(self):
        check = ("check", "consistency", "m.onnx", "--onnxrt")
        for words, sentence in (
                (["--repeats", "1"], "--repeats: expected a number >= 2, got '1'"),
                (["--rows", "0"], "--rows: expected a number >= 2, got '0'"),
                (["--only", "repeated-run"],
                 "--only: 'repeated-run' is not a property; did you mean 'repeated-runs'?"),
                (["--skip", "xyz"], "--skip: 'xyz' is not a property; the properties are: ")):
            self.assertIn(sentence, self.refused(*check, *words))

    def test_compare_takes_no_models(self):
        self.assertIn("'m.onnx' is a model, not a file of saved inputs, outputs or tactics. To "
                      "compare models, use vernier run or vernier blame",
                      self.refused("compare", "m.onnx", "m.onnx", code=3))

    def test_run_takes_each_set_once(self):
        for words in SETS:
            with self.subTest(words=words):
                record = self.record("run", "m.onnx", "--onnxrt", "--onnxrt", "--input-shapes",
                                     *words)
                self.assertEqual([r["iterations"] for r in record["runners"]], [2, 2])
                self.vernier("run", "m.onnx", "--onnxrt", "--input-shapes", *words,
                             "--save-outputs", "outputs.json")
                shown = self.vernier("data", "show", "outputs.json", "--all").out
                self.assertIn("(1, 3)", shown)
                self.assertIn("(4, 3)", shown)

    def test_profile_measures_each_set(self):
        for words in SETS:
            with self.subTest(words=words):
                record = self.record("profile", "m.onnx", "--onnxrt", "--runs", "10",
                                     "--input-shapes", *words)
                self.assertEqual([point["shapes"] for point in record["profile"]["points"]],
                                 ["x:[1,3]", "x:[4,3]"])

    def test_consistency_tries_each_set(self):
        for words in SETS:
            with self.subTest(words=words):
                record = self.record("check", "consistency", "m.onnx", "--onnxrt", "--only",
                                     "shape-sweep", "--input-shapes", *words)
                self.assertIn("2 shapes", record["runners"][0]["properties"][0]["detail"])

    def test_consistency_refuses_several_without_a_sweep(self):
        for words in SETS:
            for which in (["--only", "repeated-runs"], ["--skip", "shape-sweep"]):
                with self.subTest(words=words, which=which):
                    said = self.refused("check", "consistency", "m.onnx", "--onnxrt", *which,
                                        "--input-shapes", *words)
                    self.assertIn("expected one shape for 'x', got 2", said)

    def test_fewer_iterations_than_sets_are_refused(self):
        said = self.refused("run", "m.onnx", "--onnxrt", "--input-shapes", "x:[1,3]", "x:[4,3]",
                            "--iterations", "1")
        self.assertIn("--iterations: expected a number >= 2", said)
        self.record("run", "m.onnx", "--onnxrt", "--input-shapes", "x:[1,3]", "x:[4,3]",
                    "--iterations", "5")

    def test_commands_that_use_one_set_refuse_others(self):
        for command in (["check", "extremes", "m.onnx", "--onnxrt"], ["check", "lint", "m.onnx"]):
            for words in SETS:
                with self.subTest(command=command, words=words):
                    said = self.refused(*command, "--input-shapes", *words)
                    self.assertIn("expected one shape for 'x', got 2", said)

    def test_commands_that_change_or_show_a_model_take_one_set(self):
        two = ["x:[1,3]", "x:[4,3]"]
        for command in (
                ["surgeon", "sanitize", "m.onnx", "-o", "s.onnx", "--override-input-shapes", *two],
                ["debug", "reduce", "m.onnx", "-o", "s.onnx", "--model-input-shapes", *two,
                 "--check", "false"],
                ["inspect", "model", "m.onnx", "--onnxrt", "--input-shapes", *two]):
            with self.subTest(command=command):
                said = self.refused(*command)
                self.assertIn(": expected one shape for 'x', got 2", said)
                self.assertFalse(self.path("s.onnx").exists())

    def test_braces_that_are_none(self):
        for command in (["run", "m.onnx", "--onnxrt"], ["profile", "m.onnx", "--onnxrt"],
                        ["blame", "m.onnx", "--onnxrt", "--onnxrt"]):
            with self.subTest(command=command):
                self.assertIn("an opening brace has no closing brace",
                              self.refused(*command, "--input-shapes", "x:[{1,3]"))

    def test_as_the_peer_the_last_shape_counts(self):
        ended = self.lenient("run", "m.onnx", "--onnxrt", "--input-shapes", "x:[1,3]", "x:[4,3]",
                             "--save-outputs", "outputs.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        shown = self.vernier("data", "show", "outputs.json", "--all").out
        self.assertNotIn("(1, 3)", shown)
        self.assertIn("(4, 3)", shown)

    def test_loaded_inputs_have_their_own_shapes(self):
        self.record("run", "m.onnx", "--onnxrt", "--save-inputs", "inputs.json")
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "inputs.json",
                             "--input-shapes", "x:[4,3]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--input-shapes has no effect", ended.out)


class Repeated(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", "Relu", ["n", 3])

    def test_a_list_that_would_replace_another_is_refused(self):
        for option, first, second in (("--input-shapes", "x:[1,3]", "x:[4,3]"),
                                      ("--atol", "y:1", "z:1"),
                                      ("--onnx-outputs", "y", "x")):
            with self.subTest(option=option):
                words = ("run", "m.onnx", "--onnxrt", "--onnxrt", option, first, option, second)
                ended = self.vernier(*words)
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(f"{option}: it was given twice, and '{first}' of the first would "
                              "not be used", ended.err)

    def test_two_values_for_one_output_are_refused(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--rtol", "y:1", "y:2")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--rtol: 'y:2' is a second value for 'y'; give one", ended.err)

    def test_a_file_that_would_not_be_written_is_refused(self):
        run = ("run", "m.onnx", "--onnxrt", "--onnxrt")
        for command, option, ending in (
                (run, "--save-outputs", "npz"), (run, "--save-record", "json"),
                (run, "--save-accuracy-results", "json"),
                (("batch", "m.onnx"), "--report", "xml")):
            with self.subTest(option=option):
                ended = self.vernier(*command, option, f"a.{ending}", option, f"b.{ending}",
                                     *(["--", "--onnxrt"] if command[0] == "batch" else []))
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(f"{option}: it was given twice, and 'a.{ending}' of the first would "
                              "not be used", ended.err)
                self.assertFalse(self.path(f"b.{ending}").exists())

    def test_a_value_that_replaces_another_is_reported(self):
        words = ("run", "m.onnx", "--onnxrt", "--iterations", "3", "--iterations", "4")
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("[W] --iterations: given twice; 4 counts", ended.out)
        for quiet in (self.vernier(*words, "--lenient"), self.lenient(*words)):
            self.assertEqual(quiet.code, 0, quiet.out + quiet.err)
            self.assertNotIn("given twice", quiet.out)
        ended = self.vernier("run", "m.onnx", "--runner",
                             "a=onnxrt --intra-op-threads 1 --intra-op-threads 2")
        self.assertIn("[W] --runner a: --intra-op-threads: given twice; 2 counts", ended.out)

    def test_as_the_peer_the_last_counts(self):
        for words in (["--atol", "1", "--atol", "2"], ["--rtol", "y:1", "y:2"]):
            ended = self.lenient("run", "m.onnx", "--onnxrt", "--onnxrt", *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--lenient", *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
