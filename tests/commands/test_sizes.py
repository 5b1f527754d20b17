"""Sizes of dimensions that a model leaves free: by name, shared, and found where 1 does not run."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

FLOAT = TensorProto.FLOAT


def model(nodes, inputs, weights=()):
    graph = helper.make_graph(nodes, "g", inputs,
                              [helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)],
                              [numpy_helper.from_array(np.array(v), n) for n, v in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def masked():
    """ids * mask, which fails where their sizes are not the same; frames have the batch alone."""
    nodes = [helper.make_node("Reshape", ["ids", "flat"], ["a"]),
             helper.make_node("Reshape", ["mask", "flat"], ["b"]),
             helper.make_node("Concat", ["a", "b"], ["pairs"], axis=0),
             helper.make_node("Reshape", ["pairs", "two"], ["both"]),
             helper.make_node("ReduceSum", ["frames"], ["sum"], keepdims=0),
             helper.make_node("Add", ["both", "sum"], ["y"])]
    return model(nodes, [value("ids", ["batch", "sequence"]), value("mask", ["batch", "sequence"]),
                         value("frames", ["batch", 3, None])],
                 [("flat", np.int64([1, -1])), ("two", np.int64([2, -1]))])


def padded(output=40):
    """Pad reflect: the length has to be larger than what is added."""
    return model([helper.make_node("Pad", ["x", "pads"], ["y"], mode="reflect")],
                 [value("x", ["batch", "length"])], [("pads", np.int64([0, output, 0, output]))])


def second():
    """The second of what x holds: where there is only one, ONNX Runtime refuses, not OpenVINO."""
    return model([helper.make_node("Gather", ["x", "place"], ["y"], axis=1)],
                 [value("x", ["batch", "length"])], [("place", np.int64([1, 0]))])


class Sizes(Case):
    def put(self, made, name="m.onnx"):
        onnx.save(made, str(self.path(name)))

    def shapes(self, *words, code=0, command=("run",)):
        ended = self.vernier(*command, "m.onnx", "--onnxrt", "--save-inputs", "in.json", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        if code:
            return ended
        from polygraphy.json import load_json
        feed = load_json(str(self.path("in.json")))[0]
        return {name: tuple(tensor.shape) for name, tensor in feed.items()}

    def test_dimensions_of_one_name_have_one_size(self):
        self.put(masked())
        self.assertEqual(self.shapes("--input-shapes", "ids:[2,16]"),
                         {"ids": (2, 16), "mask": (2, 16), "frames": (2, 3, 1)})
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--input-shapes", "ids:[2,16]")
        self.assertIn("[I] Input tensor: mask | Has the shape (2, 16): 'batch' = 2 as in 'ids', "
                      "'sequence' = 16 as in 'ids'", ended.out)

    def test_sizes_of_weights_are_tried(self):
        self.put(model([helper.make_node("MatMul", ["a", "w"], ["y"])], [value("a", ["n", "h"])],
                       [("w", np.ones((7, 5), np.float32))]))
        self.assertEqual(self.shapes(), {"a": (1, 7)})

    def test_polygraphys_ways_stay(self):
        self.put(masked())
        words = ("run", "m.onnx", "--onnxrt", "--input-shapes", "ids:[2,16]")
        for ended in (self.vernier(*words, "--lenient"), self.lenient(*words)):
            self.assertNotEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn("Input tensor: mask [shape=", ended.out)
            self.assertIn("Will generate data of shape: [1, 1]", ended.out)

    def test_sizes_by_name(self):
        self.put(masked())
        expected = {"ids": (1, 16), "mask": (1, 16), "frames": (1, 3, 1)}
        self.assertEqual(self.shapes("--dim", "sequence=16"), expected)
        expected["frames"] = (1, 3, 5)
        self.assertEqual(self.shapes("--dim", "sequence=16", "frames[2]=5"), expected)
        ended = self.vernier("run", "--runner", "a=onnxrt m.onnx --dim sequence=4", "--save-inputs",
                             "in.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_what_cannot_be_meant_is_refused(self):
        self.put(masked())
        ended = self.shapes("--dim", "sequence", code=2)
        self.assertIn("--dim: expected NAME=SIZE", ended.err + ended.out)
        ended = self.shapes("--dim", "seq=3", code=3)
        self.assertIn("the model leaves no dimension 'seq' free; it leaves free ['batch', "
                      "'sequence', 'frames[2]']; did you mean 'sequence'?", ended.err + ended.out)
        # The file says so: nothing is loaded for that.
        self.assertNotIn("Inference Session", ended.out)
        ended = self.shapes("--dim", "sequence=3", "--input-shapes", "ids:[1,4]", code=3)
        self.assertIn("'sequence' is 3, and 4 in the shape given", ended.err + ended.out)
        self.assertNotIn("Inference Session", ended.out)

    def test_a_place_that_has_a_name_sets_the_name(self):
        self.put(masked())
        self.assertEqual(self.shapes("--dim", "ids[1]=4"),
                         {"ids": (1, 4), "mask": (1, 4), "frames": (1, 3, 1)})
        ended = self.shapes("--dim", "ids[1]=4", "sequence=5", code=3)
        self.assertIn("'sequence' has two sizes, 4 by 'ids[1]' and 5 by 'sequence'",
                      ended.err + ended.out)

    def test_shapes_in_turn_are_followed(self):
        self.put(masked())
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--input-shapes",
                             "ids:[{1,4},8]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("compared 1 output in 2 iterations", ended.out)
        ended = self.vernier("profile", "m.onnx", "--onnxrt", "--runs", "2", "--no-layer-times",
                             "--save-record", "p.json", "--input-shapes", "ids:[{1,4},8]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        points = json.loads(self.path("p.json").read_text())["profile"]["points"]
        self.assertEqual([p["shapes"] for p in points],
                         ["ids:[1,8] mask:[1,8] frames:[1,3,1]",
                          "ids:[4,8] mask:[4,8] frames:[4,3,1]"])

    def test_other_sizes_are_tried_before_it_is_a_failure(self):
        self.put(padded())
        self.assertEqual(self.shapes(), {"x": (1, 48)})
        line = "it ran with x (1, 48) ('length' = 48), which is used"
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("compared 1 output", ended.out)
        record = json.loads(self.path("r.json").read_text())
        self.assertIn(line, record["notes"][0])
        self.assertEqual([r["iterations"] for r in record["runners"]], [1, 1])
        for words in (("--sequential-runners",), ("--warm-up", "2"), ("--iterations", "3"),
                      ("--parallel", "--use-subprocess"), ("--openvino",)):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", *words)
            self.assertEqual(ended.code, 0, str(words) + ended.out + ended.err)
            self.assertIn(line, ended.out)
            self.assertNotIn("FAILED", ended.out + ended.err)

    def test_sizes_that_make_empty_outputs_are_not_taken(self):
        # ONNX Runtime computes an empty slice where the length is 4.
        pad = padded(3).graph.node[0]
        cut = helper.make_node("Slice", ["y", "from", "to", "axes"], ["z"])
        self.put(model([pad, cut], [value("x", ["batch", "length"])],
                       [("pads", np.int64([0, 3, 0, 3])), ("from", np.int64([12])),
                        ("to", np.int64([10000])), ("axes", np.int64([1]))]))
        self.assertEqual(self.shapes(), {"x": (1, 8)})
        ended = self.vernier("blame", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertIn("it ran with x (1, 8)", ended.out + ended.err)

    def test_a_size_of_1_that_makes_empty_outputs_is_not_taken(self):
        self.put(model([helper.make_node("Slice", ["x", "from", "to", "axes"], ["y"])],
                       [value("x", ["batch", "length"])],
                       [("from", np.int64([1])), ("to", np.int64([10000])),
                        ("axes", np.int64([1]))]))
        line = ("With free dimensions of size 1 an output is empty; none is with x (1, 2) "
                "('length' = 2)")
        self.assertEqual(self.shapes(), {"x": (1, 2)})
        for words in (("run", "m.onnx", "--onnxrt", "--onnxrt"),
                      ("run", "m.onnx", "--onnxrt", "--openvino", "--sequential-runners"),
                      ("blame", "m.onnx", "--onnxrt", "--onnxrt"),
                      ("profile", "m.onnx", "--onnxrt", "--onnxrt", "--runs", "2"),
                      ("check", "consistency", "m.onnx", "--onnxrt", "--only", "repeated-runs"),
                      ("check", "extremes", "m.onnx", "--onnxrt", "--sets", "zeros"),
                      ("check", "lint", "m.onnx", "--onnxrt")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, str(words) + ended.out + ended.err)
            self.assertIn(line, ended.out, words)
        self.assertEqual(self.shapes("--input-shapes", "x:[1,1]"), {"x": (1, 1)})

    def test_outputs_that_are_empty_by_nature_keep_the_size_of_1(self):
        self.put(model([helper.make_node("Slice", ["x", "from", "to", "axes"], ["y"])],
                       [value("x", ["batch", "length"])],
                       [("from", np.int64([1])), ("to", np.int64([1])), ("axes", np.int64([1]))]))
        self.assertEqual(self.shapes(), {"x": (1, 1)})
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn("which is taken", ended.out)

    def test_every_command_tries_them(self):
        self.put(padded())
        line = "it ran with x (1, 48)"
        for words in (("blame", "m.onnx", "--onnxrt", "--onnxrt"),
                      ("profile", "m.onnx", "--onnxrt", "--onnxrt", "--runs", "2"),
                      ("check", "consistency", "m.onnx", "--onnxrt", "--only", "repeated-runs"),
                      ("check", "extremes", "m.onnx", "--onnxrt", "--sets", "zeros"),
                      ("check", "lint", "m.onnx", "--onnxrt")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, str(words) + ended.out + ended.err)
            self.assertIn(line, ended.out, words)
        for command in ("consistency", "extremes"):
            words = ("--only", "repeated-runs") if command == "consistency" else ()
            self.vernier("check", command, "m.onnx", "--onnxrt", *words, "--save-record", "r.json")
            self.assertIn(line, self.path("r.json").read_text())

    def test_sizes_that_are_not_used_are_not_told(self):
        self.put(padded())
        for words in (("blame", "m.onnx", "--onnxrt", "--onnxrt"),
                      ("check", "consistency", "m.onnx", "--onnxrt", "--only", "repeated-runs")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertNotIn("Will generate data of shape: [1, 1]", ended.out + ended.err)

    def test_who_refuses_1_is_named(self):
        self.put(second())
        for runners in (("--onnxrt", "--openvino"), ("--openvino", "--onnxrt")):
            words = ("run", "m.onnx", *runners, "--save-record", "r.json")
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            line = ("With free dimensions of size 1 the model ran in openvino-runner-N0.* and "
                    "failed in onnxrt-runner-N0.*: .*out of data bounds.*; "
                    r"it ran with x \(1, 2\)")
            self.assertRegex(ended.out, r"\[W\] " + line)
            self.assertRegex(json.loads(self.path("r.json").read_text())["notes"][0], line)
            ended = self.vernier(*words, "--strict")
            self.assertEqual(ended.code, 6, ended.out + ended.err)

    def test_the_order_of_runners_does_not_decide(self):
        self.put(second())
        for runners in (("--onnxrt", "--openvino"), ("--openvino", "--onnxrt")):
            for words in (("profile", "m.onnx", *runners, "--runs", "2", "--no-layer-times"),
                          ("check", "extremes", "m.onnx", *runners, "--sets", "zeros")):
                ended = self.vernier(*words)
                self.assertEqual(ended.code, 0, str(words) + ended.out + ended.err)
                self.assertIn("it ran with x (1, 2)", ended.out)
                self.assertNotIn("FAILED", ended.out)

    def test_a_failure_that_sizes_do_not_make(self):
        """One that the same feed does not repeat, and one with the same words for each size."""
        self.put(second())
        for body, said in (("if not calls: calls.append(1); raise RuntimeError('CUDA error')",
                            "failed, and ran with the same feed once more"),
                           ("raise RuntimeError('license server')", "license server")):
            self.path("own.py").write_text(f"""
calls = []
def load(path):
    def infer(feed):
        {body}
        return {{'y': feed['x'] * 2}}
    return infer
""")
            for runners in (("--model-runner", "own.py", "--openvino"),
                            ("--openvino", "--model-runner", "own.py")):
                ended = self.vernier("run", "m.onnx", *runners, "--python", sys.executable)
                self.assertEqual(ended.code, 6, ended.out + ended.err)
                self.assertIn(said, ended.out + ended.err)
                self.assertNotIn("sizes that the model leaves free", ended.out + ended.err)

    def test_what_was_tried_is_told_beside_given_sizes(self):
        self.put(padded(5000))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--dim", "batch=1")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertRegex(ended.out + ended.err, r"of \['length'\], which were taken as 1, \d+ "
                                                r"other sizes were tried and none worked")

    def test_a_shape_needs_the_name_of_an_input(self):
        self.put(padded())
        ended = self.shapes("--input-shapes", "[1,48]", code=3)
        self.assertIn("write its name before it, as in x:[2,3]", ended.err + ended.out)

    def test_a_question_mark_is_no_name(self):
        self.put(model([helper.make_node("Identity", ["x"], ["y"])], [value("x", ["?", "?"])]))
        self.assertEqual(self.shapes("--dim", "x[0]=4", "x[1]=5"), {"x": (4, 5)})

    def test_sizes_that_were_given_are_never_changed(self):
        self.put(padded())
        for words in (("--input-shapes", "x:[1,2]"), ("--dim", "length=2"),
                      ("--dim", "length=2", "batch=1"), ("--lenient",)):
            ended = self.vernier("run", "m.onnx", "--onnxrt", *words)
            self.assertNotEqual(ended.code, 0, ended.out + ended.err)
            self.assertNotIn("which is taken", ended.out)
        self.assertEqual(self.shapes("--dim", "batch=3"), {"x": (3, 48)})

    def test_a_model_that_no_size_helps_fails_as_before(self):
        self.put(padded(5000))
        ended = self.vernier("run", "m.onnx", "--onnxrt")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("sizes that the model leaves free were taken as 1: x [batch, length], and ",
                      ended.out + ended.err)
        self.assertRegex(ended.out + ended.err, r"and none of \d+ other sizes worked")
        # Of standard error what the inference with size 1 wrote, without that of the trials.
        self.assertEqual(ended.err.count("sequential_executor.cc"), 1, ended.err)


if __name__ == "__main__":
    unittest.main()
