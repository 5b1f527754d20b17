"""What a summary says of how much was compared, and how much of that shows anything."""

import json
import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class Coverage(Case):
    def compare(self, left, right, *words):
        self.save_runs("a.json", [("a", left)])
        self.save_runs("b.json", [("b", right)])
        ended = self.vernier("run", "--load-outputs", "a.json", "b.json", "--save-record", "r.json",
                             *words)
        (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
        return ended, pair["coverage"]

    def test_counts_what_was_compared(self):
        outputs = {"x": np.arange(6, dtype="f4"), "y": np.arange(4, dtype="i8")}
        ended, said = self.compare([outputs] * 3, [outputs] * 3)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("a vs. b: PASSED, compared 2 outputs in 3 iterations, 10 elements in each\n",
                      ended.out)
        self.assertEqual((said["outputs"], said["elements"], said["vacuous_elements"]), (2, 10, 0))

    def test_names_what_one_side_lacks(self):
        outputs = {"x": np.arange(6, dtype="f4"), "extra": np.ones(2, "f4")}
        ended, said = self.compare([outputs, outputs], [{"x": outputs["x"]}])
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("compared 1 of 2 outputs in 1 of 2 iterations, 6 elements; only in a: extra",
                      ended.out)
        self.assertEqual(said["outputs_on_one_side"], 1)

    def test_a_log_file_that_nobody_reads_is_an_error(self):
        os.mkfifo(self.path("log"))
        self.save_runs("a.json", [("a", [{"y": np.arange(3, dtype="f4")}])])
        ended = self.vernier("compare", "a.json", "a.json", "--log-file", "log")
        self.assertEqual(ended.code, 7, ended.out + ended.err)
        self.assertIn("--log-file: 'log' cannot be written", ended.out + ended.err)

    def test_what_ends_a_lenient_comparison_is_no_pass(self):
        y = np.arange(3, dtype="f4")
        ended, _ = self.compare([{"y": y}, {"y": y}], [{"y": y}, {}], "--lenient")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertNotIn("PASSED,", ended.out)
        self.assertIn("a vs. b: INCOMPLETE, ", ended.out)
        self.assertIn("ended at iteration 1, in which no output is on both sides", ended.out)

    def test_one_file_of_uneven_runners_is_incomplete(self):
        y = {"y": np.arange(3, dtype="f4")}
        self.save_runs("a.json", [("a", [y] * 6), ("b", [y] * 4)])
        for words in ([], ["--decision", "top1", "--max-flip-rate", "1"]):
            for lenient in ([], ["--lenient"]):
                ended = self.vernier("compare", "a.json", *words, *lenient)
                self.assertEqual(ended.code, 4, ended.out + ended.err)
                self.assertIn("a vs. b: INCOMPLETE, compared 1 output in 4 of 6 iterations",
                              ended.out)
        self.assertIn("iteration 4 contains a different set of runners", ended.out + ended.err)
        self.save_runs("a.json", [("a", [y] * 6), ("b", [y] * 3 + [{"y": y["y"] + 1}])])
        self.assertEqual(self.vernier("compare", "a.json", "--lenient").code, 1)

    def test_a_side_that_has_nothing_holds_up_no_other(self):
        y = {"y": np.arange(3, dtype="f4")}
        self.save_runs("a.json", [("a", [y, y])])
        self.save_runs("half.json", [("b", [y, {"y": y["y"] + 1}]), ("dead", [])])
        ended = self.vernier("run", "--load-outputs", "a.json", "half.json", "--save-record",
                             "r.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 1, said)
        self.assertRegex(said, "a vs. .*b: FAILED, compared 1 output in 2 iterations")
        self.assertIn("0 of 2 iterations could be compared: dead has none", said)
        self.assertNotIn("different numbers of iterations", said)
        self.save_runs("half.json", [("b", [y, y]), ("dead", [])])
        ended = self.vernier("run", "--load-outputs", "a.json", "half.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 4, said)
        self.assertRegex(said, "a vs. .*b: PASSED, compared 1 output in 2 iterations")

    def test_strict_misses_what_lenient_accepts(self):
        y = np.arange(3, dtype="f4")
        self.assertEqual(self.compare([{"y": y}] * 3, [{"y": y}], "--lenient")[0].code, 0)
        for words in ((), ("--decision", "top1", "--max-flip-rate", "0.9")):
            ended, _ = self.compare([{"y": y}] * 3, [{"y": y}], "--lenient", "--strict", *words)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertIn("only 1 of 3 iterations could be compared", ended.out)
            self.assertIn("a vs. b: INCOMPLETE", ended.out)

    def test_names_outputs_that_some_iterations_could_not_compare(self):
        x, y = np.arange(4, dtype="f4"), np.arange(3, dtype="f4")
        ended, said = self.compare([{"x": x, "y": y}] * 2,
                                   [{"x": x, "y": y}, {"x": x, "y": np.arange(5, dtype="f4")}])
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("compared 2 outputs in 2 iterations, up to 7 elements in each; could not be "
                      "compared: y (in 1 of 2 iterations)", ended.out)
        words = {"y": np.array(["a", "b"])}
        ended, said = self.compare([words], [words], "--compare", "l2")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("NOT VERIFIED, compared 0 of 1 output in 1 iteration; not verified: y",
                      ended.out)
        self.assertEqual((said["outputs"], said["elements"]), (0, 0))

    def test_counts_the_iterations_that_were_asked_for(self):
        self.save_model("m.onnx")
        run = ["run", "m.onnx", "--onnxrt"]
        self.assertEqual(self.vernier(*run, "--iterations", "4", "--save-inputs", "in.npz",
                                      "--save-outputs", "out.npz").code, 0)
        ended = self.vernier(*run, "--load-outputs", "out.npz", "--iterations", "7")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn(": INCOMPLETE, compared 1 output in 4 of 7 iterations", ended.out)
        self.assertIn("out.npz has no iterations 4 to 6\n", ended.out)
        with np.load(self.path("in.npz")) as inputs:
            values = inputs[sorted(inputs.files)[2]].tobytes()
        whole = self.path("in.npz").read_bytes()
        self.assertEqual(whole.count(values), 1)
        self.path("in.npz").write_bytes(whole.replace(values, values[::-1]))
        ended = self.vernier(*run, "--onnxrt", "--load-inputs", "in.npz")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn(": INCOMPLETE, compared 1 output in 2 of 4 iterations", ended.out)
        self.assertNotIn(": PASSED,", ended.out)
        ended = self.vernier("batch", "m.onnx", "--", "--onnxrt", "--onnxrt", "--load-inputs",
                             "in.npz")
        self.assertRegex(ended.out, r"m.onnx +unreadable +0 of 1 ")

    def test_outputs_that_were_made_from_other_inputs_are_not_compared(self):
        self.save_model("m.onnx")
        run = ["run", "m.onnx", "--onnxrt", "--iterations", "2"]
        for name, seed in (("a.npz", "1"), ("b.safetensors", "2")):
            self.assertEqual(self.vernier(*run, "--seed", seed, "--save-outputs", name).code, 0)
        same = self.vernier(*run, "--seed", "1", "--load-outputs", "a.npz")
        self.assertEqual(same.code, 0, same.out + same.err)
        for words in ([*run, "--seed", "2", "--load-outputs", "a.npz"],
                      [*run, "--seed", "2", "--load-outputs", "a.npz", "--sequential-runners"],
                      ["compare", "b.safetensors", "a.npz"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertIn("iteration 0 of 'a.npz' was made from other inputs", ended.out)
            self.assertIn("give both the same --load-inputs, or the same --seed", ended.out)
            self.assertNotIn("times over", ended.out)
            self.assertNotIn("PASSED,", ended.out)
            lenient = self.vernier(*words, "--lenient")
            self.assertEqual(lenient.code, 1, lenient.out + lenient.err)
            self.assertIn("was made from other inputs", lenient.out + lenient.err)
            self.assertEqual(self.vernier(*words, "--lenient", "--strict").code, 4)

    def test_lone_outputs_that_are_no_tensors_never_pass_where_they_are_not_compared(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2,))
        y = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, (2,))
        graph = helper.make_graph([helper.make_node("SequenceConstruct", ["x"], ["y"])], "g", [x],
                                  [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        self.assertEqual(self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--strict").code, 0)
        for call, code, words in ((self.vernier, 4, ["--lenient"]), (self.lenient, 1, [])):
            ended = call("run", "m.onnx", "--onnxrt", "--onnxrt", *words)
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertNotIn("PASSED", ended.out)
        ended = self.vernier("batch", "m.onnx", "--", "--onnxrt", "--onnxrt", "--lenient")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertEqual(self.peer("run", "m.onnx", "--onnxrt", "--onnxrt").code, 1)

    def test_no_iteration_of_two_files_is_no_pass(self):
        one = [{"y": np.ones(3, np.float32)}]
        files = {"one.json": one, "none.json": [], "none_too.json": []}
        for name, iterations in files.items():
            self.save_runs(name, [(name, iterations)])
        for pair in (("one.json", "none.json"), ("none.json", "one.json"),
                     ("none.json", "none_too.json")):
            for call, code, words in ((self.vernier, 4, []), (self.vernier, 4, ["--lenient"]),
                                      (self.lenient, 1, [])):
                ended = call("compare", *pair, *words)
                self.assertEqual(ended.code, code, ended.out + ended.err)
                self.assertIn("NOTHING COMPARED", ended.out)
                self.assertNotIn("PASSED", ended.out)

    def test_counts_elements_that_show_nothing(self):
        outputs = {"x": np.arange(6, dtype="f4"), "zeros": np.zeros(3, "f4"),
                   "nothing": np.zeros((0, 5), "f4")}
        ended, said = self.compare([outputs], [outputs])
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("; shows nothing: zeros (", ended.out)
        self.assertIn("nothing (no elements)", ended.out)
        self.assertIn("[3 of 9 elements]", ended.out)
        self.assertEqual((said["vacuous_outputs"], said["vacuous_elements"]), (2, 3))
        self.assertEqual(self.compare([outputs], [outputs], "--strict")[0].code, 1)

    def test_constants_in_some_iterations_are_noted_where_another_shows_something(self):
        zeros, ramp = {"x": np.zeros(6, "f4")}, {"x": np.arange(6, dtype="f4")}
        empty = {"x": np.zeros((0, 6), "f4")}
        for runs, code, note in (([zeros, ramp, ramp], 0, "all elements are zero"),
                                 ([ramp, empty, ramp], 0, "no elements"),
                                 ([zeros, zeros, empty], 1, "")):
            ended, said = self.compare(runs, runs, "--strict")
            self.assertEqual(ended.code, code, ended.out + ended.err)
            self.assertEqual("; shows nothing: x (" in ended.out, code == 1, ended.out)
            self.assertEqual(said["vacuous_outputs"], code)
            said = f"note: a vs. b: output 'x' shows nothing in 1 of 3 iterations ({note})"
            self.assertEqual(said in ended.out, code == 0, ended.out)

    def test_no_constant_makes_up_for_another(self):
        """A single element is never called constant, other constants are no values that vary, and
        a tolerance that lets everything pass is no matter of values."""
        zeros, ones, ramp = np.zeros(6, "f4"), np.ones(6, "f4"), np.arange(6, dtype="f4")
        for runs, words in (([zeros, ones, np.full(3, 7, "f4")], ()),
                            ([zeros, np.float32([3]), zeros], ()),
                            ([zeros, ramp], ("--atol", "inf"))):
            outputs = [{"x": values} for values in runs]
            ended, said = self.compare(outputs, outputs, "--strict", *words)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertNotIn("note: a vs. b: output 'x' shows nothing in", ended.out)
            self.assertEqual(said["vacuous_outputs"], 1, ended.out)

    def test_nothing_in_common_never_passes(self):
        ended, said = self.compare([{"x": np.ones(2, "f4"), "z": np.ones(3, "f4")}],
                                   [{"y": np.ones(5, "i8"), "w": np.ones(6, "i8")}])
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("NOTHING COMPARED, compared 0 of 4 outputs", ended.out)
        self.assertEqual((said["outputs"], said["elements"]), (0, 0))

    def save_list_maker(self, wrapper):
        """Makes 'listed', a sequence or an optional of the input, and 'plain', a tensor."""
        inside = helper.make_tensor_type_proto(TensorProto.FLOAT, [4])
        types = {"SequenceConstruct": helper.make_sequence_type_proto,
                 "Optional": helper.make_optional_type_proto}
        nodes = [helper.make_node(wrapper, ["x"], ["listed"]),
                 helper.make_node("Relu", ["x"], ["plain"])]
        outputs = [helper.make_value_info("listed", types[wrapper](inside)),
                   helper.make_tensor_value_info("plain", TensorProto.FLOAT, [4])]
        graph = helper.make_graph(
            nodes, "lists", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])], outputs)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.path("m.onnx"))

    def test_an_output_that_is_no_tensor_is_covered(self):
        self.save_list_maker("SequenceConstruct")
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("PASSED, compared 3 outputs", ended.out)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--lenient")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("PASSED, compared 1 output", ended.out)
        for words in ([], ["--validate"], ["--save-outputs", "o.json"]):
            ended = self.vernier("run", "m.onnx", "--onnxrt", *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertNotIn("not done", ended.out)

    def save_node(self, node, x, y):
        graph = helper.make_graph([node], "g", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.path("m.onnx"))

    def test_a_lone_output_that_is_no_tensor_is_saved(self):
        self.save_node(
            helper.make_node("SequenceConstruct", ["x"], ["s"]),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
            helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "o.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn('"s[0]"', self.path("o.json").read_text())

    def test_an_input_that_is_no_tensor_is_no_output(self):
        self.save_node(
            helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=0),
            helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [None]))
        ended = self.vernier("run", "m.onnx", "--onnxrt")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertNotIn("output 's'", ended.out + ended.err)
        self.assertIn("input 's' is a sequence, a map or optional", ended.out + ended.err)

    def test_nodes_with_strings_are_linted_by_rules_alone(self):
        self.save_node(helper.make_node("Identity", ["x"], ["y"]),
                                 *(helper.make_tensor_value_info(n, TensorProto.STRING, [2])
                                   for n in "xy"))
        ended = self.vernier("check", "lint", "m.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out, r"; 0 ran in [^,]+, 1 not run\n")
        self.assertIn("nodes were not run: input 'x': values of type string cannot be generated; "
                      "load them with --load-inputs", ended.out)

    def test_a_gap_in_saved_iterations_is_named(self):
        for side, kept in (("whole", (0, 1, 2)), ("gap", (0, 2)), ("same", (0, 2))):
            self.path(side).mkdir()
            for i in kept:
                self.save_runs(f"{side}/{i:010}.json", [(side, [{"y": np.ones(2, "f4")}])])
        ended = self.vernier("compare", "whole", "gap")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("'gap' lacks iteration 1: 'gap/0000000001.json' is not there",
                      ended.out + ended.err)
        self.assertEqual(self.vernier("compare", "gap", "same").code, 0)
        self.assertEqual(self.vernier("compare", "whole", "gap", "--lenient").code, 0)

    def numbered(self, name, numbers, runner=""):
        # Iterations of different values: whoever compares others sees it.
        np.savez(self.path(name), **{f"{runner}{n:010}/y": np.full(2, n, "f4") for n in numbers})

    def test_iterations_of_other_numbers_in_archives_are_not_compared(self):
        self.numbered("whole.npz", range(4))
        for runner in ("", "a/"):
            self.numbered("gap.npz", (0, 1, 3), runner)
            ended = self.vernier("compare", "whole.npz", "gap.npz", "--lenient")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertRegex(ended.err, r"'gap.npz': (it|runner 'a') has the iterations 1 and 3, "
                                        "and none between them: number them without gaps")
        self.numbered("from1.npz", range(1, 5))
        self.numbered("too.npz", range(1, 5), "b/")
        for sides in (("whole.npz", "from1.npz"), ("too.npz", "whole.npz")):
            ended = self.vernier("compare", *sides)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("begins with iteration 1, which would be compared with iteration 0: "
                          "number its iterations from 0 (--lenient", ended.err)
            self.assertEqual(self.vernier("compare", *sides, "--lenient").code, 1)
            self.assertEqual(self.vernier("compare", *sides, "--lenient", "--strict").code, 3)
        self.assertEqual(self.vernier("compare", "too.npz", "from1.npz").code, 0)

    def test_numbers_of_inputs_have_no_gaps_either(self):
        self.save_node(helper.make_node("Identity", ["y"], ["z"]),
                       *(helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "yz"))
        for numbers, code in (((0, 2), 3), ((1, 2), 0)):
            self.numbered("in.npz", numbers)
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "in.npz",
                                 "--save-outputs", "out.npz")
            self.assertEqual(ended.code, code, ended.out + ended.err)
        # What vernier saves is numbered from 0, whatever the inputs are.
        again = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "in.npz",
                             "--load-outputs", "out.npz")
        self.assertEqual(again.code, 0, again.out + again.err)

    def test_a_gap_in_onnx_test_data_is_named(self):
        for side, kept in (("sets", (0, 2)), ("others", (0, 1)), ("same", (0, 2))):
            for i in kept:
                self.path(f"{side}/test_data_set_{i}").mkdir(parents=True)
                tensor = numpy_helper.from_array(np.ones(2, "f4"), "y")
                self.path(f"{side}/test_data_set_{i}/output_0.pb").write_bytes(
                    tensor.SerializeToString())
        ended = self.vernier("compare", "others", "sets")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("'sets' lacks iteration 1: 'sets/test_data_set_1' is not there", ended.err)
        self.assertEqual(self.vernier("compare", "sets", "same").code, 0)

    def test_an_optional_that_holds_a_tensor_is_compared(self):
        self.save_list_maker("Optional")
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("compared 3 outputs", ended.out)  # one of them is that the value is present
        self.assertNotIn("not compared", ended.out + ended.err)

    def alone(self, left, right, *words, code):
        """The output of a comparison of one output `y`."""
        ended, _ = self.compare([{"y": left}], [{"y": right}], *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out

    def test_indices_are_compared_exactly_across_types(self):
        words, small = ["--compare", "indices"], np.array([1, 2, 3])
        for left, right in (("i8", "u8"), ("u8", "i8"), ("i8", "u4"), ("i4", "f4")):
            self.alone(small.astype(left), small.astype(right), *words, code=0)
        for left, right in ((np.array([2**62]), np.array([2**62 + 1], "u8")),
                            (np.array([2**53 + 1]), np.array([2.0**53])),
                            (np.array([-1]), np.array([2**64 - 1], "u8"))):
            self.alone(left, right, *words, code=1)
            self.alone(right, left, *words, code=1)

    def test_the_largest_values_are_not_all_there_is(self):
        """A NaN is none of them, and they may agree without it."""
        left, right = np.array([[5, x, 1, 2, 0] for x in (np.nan, 0)], "f4")
        words = ["--postprocess", "top-2"]
        said = self.alone(left, right, *words, code=4)
        self.assertIn("a vs. b: INCOMPLETE, compared 1 output", said)
        self.assertIn("not done: a vs. b: output 'y' of a holds NaN, which --postprocess left out",
                      said)
        self.alone(right, right, *words, code=0)
        self.alone(left, right, *words, "--lenient", code=0)
        self.assertIn("validation failed: output 'y' of a holds NaN",
                      self.alone(left, right, *words, "--validate", code=1))

    def test_psnr_says_what_its_peak_is(self):
        words = ["--compare", "psnr", "--psnr-threshold", "5"]
        values = np.array([-3, -2, -1], "f4")
        self.assertIn("note: output 'y' of a has no positive value, and PSNR takes 1 as its peak",
                      self.alone(values, values - np.float32(0.1), *words, code=0))
        for left, right in ((values, values), (values + 9, values + np.float32(9.1))):
            self.assertNotIn("peak", self.alone(left, right, *words, code=0))


if __name__ == "__main__":
    unittest.main()
