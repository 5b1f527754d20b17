"""vernier compare: saved files against each other, held against the peer's run --load-outputs."""

import json
import re
import unittest

import numpy as np
import onnx.numpy_helper

from program import Case, ramp

# Of a folder Polygraphy announces every file, and it misses runners that nobody asked for.
OMITTED = re.compile("No runners have been selected|Loading inference results from")


class LikeThePeer(Case):
    """The log of a comparison is the peer's, line by line."""

    def check(self, *words, code):
        theirs = self.peer("run", "--load-outputs", *words)
        ours = self.lenient("compare", *words)
        self.assertEqual(theirs.code, code)
        self.assertEqual(ours.code, code, ours.err)
        expected = [line for line in theirs.lines() if not OMITTED.search(line)]
        self.assertGreater(len(expected), 5)
        # Behind Polygraphy's lines are our own.
        said = [line for line in ours.lines() if not OMITTED.search(line)]
        self.assertEqual(said[:len(expected)], expected)

    def test_two_files_that_agree(self):
        self.save_runs("a.json", [("A", ramp(2))])
        self.save_runs("b.json", [("B", ramp(2, 1e-6))])
        self.check("a.json", "b.json", "--atol", "1e-3", code=0)

    def test_two_files_that_differ_by_every_measure(self):
        self.save_runs("a.json", [("A", ramp(2))])
        self.save_runs("b.json", [("B", ramp(2, 0.25))])
        self.check("a.json", "b.json", "--compare", "simple", "l2", "cosine_similarity", "psnr",
                   "snr", "--check-error-stat", "max", "--check-average", "-v", code=1)

    def test_three_files_after_post_processing(self):
        for name in "abc":
            self.save_runs(f"{name}.json", [(name.upper(), ramp(1))])
        self.check("a.json", "b.json", "c.json", "--postprocess", "y:top-2,axis=1", "--compare",
                   "indices", code=0)

    def test_one_file_with_two_runners(self):
        self.save_runs("two.json", [("A", ramp(2)), ("B", ramp(2, 1))])
        self.check("two.json", "--validate", "--fail-fast", code=1)

    def test_a_folder_of_iterations(self):
        for i, outputs in enumerate(ramp(3)):
            self.path("folder").mkdir(exist_ok=True)
            self.save_runs(f"folder/{i:010}.json", [("A", [outputs])])
        self.save_runs("b.json", [("B", ramp(3))])
        self.check("folder", "b.json", code=0)


class AnyFormat(Case):
    def setUp(self):
        super().setUp()
        self.outputs = ramp(1)[0]
        np.savez(self.path("a.npz"), **self.outputs)
        np.savez(self.path("b.npz"), **self.outputs)
        self.save_runs("a.json", [("A", [self.outputs])])

    def compared(self, *words, code=0):
        ended = self.vernier("compare", *words, "-qqq", "--save-record", "record.json")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return json.loads(self.path("record.json").read_text())["pairs"][0]

    def test_plain_archives_are_called_as_their_files(self):
        pair = self.compared("a.npz", "b.npz")
        self.assertEqual((pair["first"], pair["second"]), ("a.npz", "b.npz"))
        self.assertEqual([output["name"] for output in pair["outputs"]], ["y", "count"])

    def test_an_archive_meets_the_peers_file(self):
        self.assertEqual(len(self.compared("a.npz", "a.json")["outputs"]), 2)

    def test_a_difference_is_found_across_formats(self):
        np.savez(self.path("b.npz"), y=self.outputs["y"] + 1, count=self.outputs["count"])
        pair = self.compared("a.json", "b.npz", code=1)
        failed = [o["name"] for o in pair["outputs"] if not o["passed"]]
        self.assertEqual(failed, ["y"])

    def test_one_tensor_files(self):
        np.save(self.path("old.npy"), self.outputs["y"])
        np.save(self.path("new.npy"), self.outputs["y"] + np.float32(0.5))
        self.compared("old.npy", "new.npy", code=1)
        self.compared("old.npy", "new.npy", "--atol", "0.6")

    def test_onnx_test_data(self):
        for i in range(2):
            folder = self.path(f"model/test_data_set_{i}")
            folder.mkdir(parents=True)
            for k, (name, value) in enumerate(self.outputs.items()):
                tensor = onnx.numpy_helper.from_array(value, name)
                (folder / f"output_{k}.pb").write_bytes(tensor.SerializeToString())
            tensor = onnx.numpy_helper.from_array(self.outputs["y"], "x")
            (folder / "input_0.pb").write_bytes(tensor.SerializeToString())
        self.assertEqual(len(self.compared("model/test_data_set_0", "a.json")["outputs"]), 2)
        self.save_runs("two.json", [("A", [self.outputs] * 2)])
        self.assertEqual(self.compared("model", "two.json")["compared_iterations"], 2)

    def test_saved_inputs(self):
        self.save_feeds("x.json", [{"x": np.arange(4.0)}, {"x": np.arange(3.0)}])
        self.save_feeds("y.json", [{"x": np.arange(4.0)}, {"x": np.arange(3.0) + 1}])
        self.assertEqual(self.compared("x.json", "y.json", code=1)["passed_iterations"], 1)


class NotAPass(Case):
    """What compared nothing, or less than was asked for, never looks like agreement."""

    def setUp(self):
        super().setUp()
        self.save_runs("a.json", [("A", ramp(2))])

    def ends(self, code, *words):
        ended = self.vernier("compare", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_a_file_with_itself_is_named(self):
        self.assertIn("'a.json' was compared with itself", self.ends(0, "a.json", "a.json"))
        self.assertIn("A (a.json) vs. A (a.json (2)): PASSED", self.ends(0, "a.json", "a.json"))
        self.path("link.json").symlink_to("a.json")
        self.assertIn("compared with itself", self.ends(0, "a.json", "link.json"))
        self.ends(1, "a.json", "a.json", "--strict")

    def test_equal_files_are_not_the_same_file(self):
        self.save_runs("b.json", [("B", ramp(2))])
        self.assertNotIn("itself", self.ends(0, "a.json", "b.json"))

    def test_no_tolerance_is_advised_for_strings(self):
        for name, words in (("a", ["x", "y"]), ("b", ["x", "z"])):
            np.savez(self.folder / f"{name}.npz", out=np.array(words))
        done = self.vernier("compare", "a.npz", "b.npz")
        self.assertEqual(done.code, 1, done.err)
        self.assertIn("'y' against 'z'", done.out)
        self.assertNotIn("to accept this difference", done.out)

    def test_one_side(self):
        self.assertIn("there is only one side to compare", self.ends(4, "a.json"))

    def test_fewer_iterations(self):
        self.save_runs("b.json", [("B", ramp(1))])
        self.assertIn("only 1 of 2 iterations could be compared: B has no iteration 1\n",
                      self.ends(4, "a.json", "b.json"))
        # Two that are called alike, by the second in which they ran.
        self.save_runs("c.json", [("onnxrt-runner-N0-11/23/26-05:00:13", ramp(2))])
        self.save_runs("d.json", [("onnxrt-runner-N0-11/23/26-05:00:13", ramp(1))])
        self.assertIn("not done: c.json vs. d.json: only 1 of 2 iterations could be compared: "
                      "d.json has no iteration 1\n", self.ends(4, "c.json", "d.json"))
        self.save_runs("a.json", [("A", ramp(4))])
        self.assertIn("compared: B has no iterations 1 to 3\n", self.ends(4, "a.json", "b.json"))

    def test_no_counterpart(self):
        self.save_runs("b.json", [("B", [{"other": np.zeros((2, 2))}] * 2)])
        self.ends(4, "a.json", "b.json")

    def test_complex_numbers_that_overflow(self):
        for name, sign in (("a.npz", 1), ("b.npz", -1)):
            np.savez(self.path(name), y=np.array([sign * (1e308 + 1e308j), 1]))
        words = ["compare", "a.npz", "b.npz", "--save-record", "r.json"]
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("absolute error too large for its type, relative error 2\n", ended.out)
        self.assertIn("cosine similarity -1,", ended.out)
        self.assertNotIn("nan", ended.out.split("output 'y':")[1].split("repro:")[0])
        self.assertEqual(self.vernier(*words, "--rtol", "2").code, 0)

    def test_no_outputs_on_either_side(self):
        for name in "ab":
            self.save_runs(f"{name}.json", [(name.upper(), [{}])])
        ended = self.vernier("compare", "a.json", "b.json")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("neither side has an output", ended.out + ended.err)
        average = ["--check-average", "--check-error-stat", "mean"]
        for words in ([], ["--lenient"], ["--strict"], average):
            ended = self.vernier("compare", "a.json", "b.json", *words)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertIn("NOTHING COMPARED", ended.out)
            self.assertNotIn("PASSED", ended.out)
            self.assertNotIn("Passed: 1", ended.out)

    def test_iterations_without_an_output_on_either_side(self):
        for name in "ab":
            self.save_runs(f"{name}.json", [(name.upper(), [{"y": np.ones((2, 2))}, {}, {}])])
        ended = self.ends(4, "a.json", "b.json")
        self.assertIn("neither side has an output to compare in 2 of 3 iterations", ended)
        self.assertIn("INCOMPLETE, compared 1 output in 1 of 3 iterations, 4 elements", ended)
        self.assertEqual(self.vernier("compare", "a.json", "b.json", "--lenient").code, 0)

    def test_iterations_with_other_outputs(self):
        for name in "ab":
            self.save_runs(f"{name}.json", [(name.upper(), [{"y": np.ones(3)}, {"z": np.ones(3)}])])
        seen = self.ends(0, "a.json", "b.json")
        self.assertIn("compared 2 outputs in 2 iterations, up to ", seen)

    def test_bad_files(self):
        self.assertIn("'nosuch.json'", self.ends(3, "a.json", "nosuch.json"))
        self.path("cut.json").write_bytes(self.path("a.json").read_bytes()[:700])
        self.assertIn("cut.json", self.ends(3, "a.json", "cut.json"))
        self.path("empty.npz").write_bytes(b"")
        self.assertIn("empty.npz", self.ends(3, "a.json", "empty.npz"))
        self.path("folder").mkdir()
        self.path("folder/readme.txt").write_text("nothing")
        self.assertIn("folder", self.ends(3, "a.json", "folder"))

    def test_files_behind_a_list_option(self):
        said = self.ends(2, "--atol", "1", "a.json", "b.json")
        self.assertIn("put 'b.json' before it", said)

    def test_no_files(self):
        self.assertIn("the following arguments are required: file", self.ends(2))


class Commands(Case):
    """What is no command says so."""

    def test_every_tool_of_the_peer_is_there(self):
        from polygraphy.tools.registry import TOOL_REGISTRY
        tools = [(tool.name, sub.name if sub else None) for tool in TOOL_REGISTRY
                 for sub in (tool.get_subtools_impl() or (None, [None]))[1]]
        self.assertGreater(len(tools), 25)
        for words in ([word for word in tool if word] for tool in tools):
            ended = self.vernier(*words, "--help")
            self.assertEqual(ended.code, 0, words)
            self.assertIn("usage: vernier ", ended.out, words)

    def test_mistakes(self):
        self.assertEqual(self.vernier("comprae").code, 2)
        self.assertEqual(self.vernier().code, 2)

    def test_a_group_without_its_second_word_lists_what_it_has(self):
        for group, command in (("surgeon", "extract"), ("inspect", "model"), ("check", "accuracy")):
            for words in ([group], [group, "nosuch"]):
                ended = self.vernier(*words)
                self.assertEqual(ended.code, 2, words)
                self.assertIn(command, ended.err)
                self.assertEqual("no command" in ended.err, len(words) == 2)
                if len(words) == 2:
                    self.assertEqual(len(ended.err.splitlines()), 2, ended.err)

    def test_an_unknown_command_answers_in_two_lines(self):
        for words, near in ((["comprae"], "'compare'"),
                            (["extract", "m.onnx"], "'surgeon extract'"),
                            (["inspect", "modle"], "'inspect model'"),
                            (["m.onnx", "--onnxrt"], "'run m.onnx'")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, words)
            self.assertEqual(len(ended.err.splitlines()), 2, ended.err)
            self.assertIn(f"did you mean {near}?", ended.err)

    def test_help_lists_the_commands_by_section_with_three_examples(self):
        ended = self.vernier("--help")
        for section in ("Compare", "Find the cause", "Models", "TensorRT", "Saved data",
                        "This installation"):
            self.assertIn(f"\n{section}:\n", ended.out)
        self.assertEqual(ended.out.split("\nExamples:\n")[1].split("\n\n")[0].count("\n"), 2)
        self.assertNotIn("option-docs", ended.out)

    def test_help(self):
        for words in (["--help"], ["compare", "--help"], ["help", "compare"], ["backends", "-h"],
                      ["completion", "--help"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, words)
            self.assertTrue(ended.out.startswith("usage: vernier "), ended.out)


class Backends(Case):
    def test_the_list_and_the_options_that_plug_ins_name(self):
        ended = self.vernier("backends", "onnxruntime")
        self.assertEqual(ended.code, 0, ended.out)
        self.assertEqual(len(ended.out.splitlines()), 1)
        ended = self.vernier("backends", "onnxruntime", "-v")
        self.assertRegex(ended.out, r"\n +providers +list +execution providers")
        self.assertIn("One of ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ", ended.out)
        self.assertIn("Default: ORT_ENABLE_ALL.", ended.out)

    def test_a_name_that_does_not_exist(self):
        ended = self.vernier("backends", "onnxruntme")
        self.assertEqual(ended.code, 5)
        self.assertIn("there is no backend 'onnxruntme'", ended.err)
        self.assertEqual(self.vernier("backends", "--require", "onnxruntme").code, 5)


if __name__ == "__main__":
    unittest.main()
