"""vernier check consistency: every property is held where it holds, and broken where it is."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from program import Case

GOOD = "    return {'y': feed['x'] * 2}\n"
# A runner for each property that is broken, by what its `infer` does.
BROKEN = {
    "repeated-runs": "    COUNT[0] += 1\n    return {'y': feed['x'] * 2 + (COUNT[0] > 3)}\n",
    "fresh-session": "    import os\n    return {'y': feed['x'] * 0 + np.float32(os.getpid() % 9973)}\n",
    "identical-rows": "    return {'y': feed['x'] + np.arange(len(feed['x']), dtype='f4')[:, None]}\n",
    "permuted-rows": "    return {'y': np.cumsum(feed['x'], axis=0, dtype='f4')}\n",
    "batch-of-one": "    return {'y': feed['x'] - feed['x'].mean()}\n",
    "shape-sweep": "    if len(feed['x']) == 3:\n        raise ValueError('three is too many')\n"
                   "    return {'y': feed['x']}\n",
    "other-settings": "    import os\n    two = os.environ.get('OMP_NUM_THREADS') == '2'\n"
                      "    return {'y': feed['x'] + np.float32(two)}\n",
}
ROWS = ("identical-rows", "permuted-rows", "batch-of-one")
SCRIPT = "import numpy as np\nCOUNT = [0]\n\ndef infer(feed):\n"


class CheckConsistency(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", "Identity", ["n", 3])

    def check(self, body, *words):
        self.path("runner.py").write_text(SCRIPT + body)
        ended = self.vernier("check", "consistency", "m.onnx", "--model-runner", "runner.py",
                             "--python", sys.executable, "--save-record", "record.json", *words)
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_every_shape_that_is_given_is_tried(self):
        body = ("    COUNT[0] += len(feed['x']) == 3\n"
                "    return {'y': feed['x'] + np.float32(COUNT[0])}\n")
        shapes = ("--input-shapes", "x:[2,3]", "x:[3,3]", "--only", "repeated-runs", "shape-sweep")
        ended, properties = self.check(GOOD, *shapes)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(properties["shape-sweep"]["verdict"], "holds")
        self.assertIn("2 shapes", properties["shape-sweep"]["detail"])
        ended, properties = self.check(body, *shapes)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(properties["repeated-runs"]["verdict"], "holds")
        self.assertEqual(properties["shape-sweep"]["smallest_case"],
                         "inputs of the shapes 'x' (3, 3)")

    def test_a_model_that_needs_other_sizes_than_one_is_told_how(self):
        node = helper.make_node("Reshape", ["x", "shape"], ["y"])
        graph = helper.make_graph(
            [node], "g", [helper.make_tensor_value_info("x", 1, ["n", 3])],
            [helper.make_tensor_value_info("y", 1, None)],
            [helper.make_tensor("shape", 7, [2], [5, 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.path("two.onnx"))
        fixed = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])], "g",
            [helper.make_tensor_value_info("x", 1, [3, 3])],
            [helper.make_tensor_value_info("y", 1, [3, 3])])
        onnx.save(helper.make_model(fixed, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.path("three.onnx"))
        note = ("sizes that the model leaves free were taken as 1: x [n, 3], and none of 16 other "
                "sizes worked. If it needs others, give them with --input-shapes NAME:[...]")
        ended = self.vernier("run", "three.onnx", "--onnxrt", "--runner", "b=onnxrt two.onnx")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertNotIn("taken as 1", ended.out + ended.err)  # the other model says 3
        ended = self.vernier("blame", "two.onnx", "--onnxrt", "--onnxrt")
        self.assertIn(note, ended.out + ended.err)
        for command in (["run"], ["check", "consistency"]):
            ended = self.vernier(*command, "two.onnx", "--onnxrt")
            self.assertEqual(ended.code, 6, ended.out + ended.err)
            self.assertIn(note, ended.out + ended.err)
            ended = self.vernier(*command, "two.onnx", "--onnxrt", "--input-shapes", "x:[3,3]")
            self.assertEqual(ended.code, 6, ended.out + ended.err)
            self.assertNotIn("left free", ended.out + ended.err)
            ended = self.vernier(*command, "two.onnx", "--onnxrt", "--input-shapes", "x:[5,3]")
            self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_a_good_runner_holds_everything_that_can_be_tried(self):
        ended, properties = self.check(GOOD)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        not_tried = {"poisoned-outputs", "permuted-states", "prefill-decode", "padded-sequence",
                     "fresh-sequence"}
        for name, found in properties.items():
            wanted = "not applicable" if name in not_tried else "holds"
            self.assertEqual(found["verdict"], wanted, name)

    def test_large_outputs_are_the_same_to_it(self):
        # Such come in memory that the worker gets back.
        self.save_model("m.onnx", "Identity", [512, 1024])
        ended, properties = self.check(GOOD)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(properties["repeated-runs"]["verdict"], "holds")
        self.assertNotIn("broken", {p["verdict"] for p in properties.values()})

    def test_each_broken_property_is_named_with_its_smallest_case(self):
        for name, body in BROKEN.items():
            with self.subTest(name):
                ended, properties = self.check(body, "--only", name)
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                self.assertEqual(list(properties), [name])
                self.assertEqual(properties[name]["verdict"], "broken")
                self.assertTrue(properties[name]["smallest_case"])
                self.assertIn(f"FAILED | {name} | ", ended.out + ended.err)

    def test_the_smallest_case_is_the_smallest(self):
        _, properties = self.check(BROKEN["repeated-runs"], "--only", "repeated-runs")
        self.assertEqual(properties["repeated-runs"]["smallest_case"], "run 4")
        _, properties = self.check(BROKEN["shape-sweep"], "--only", "shape-sweep")
        self.assertIn("of size 3", properties["shape-sweep"]["smallest_case"])
        _, properties = self.check(BROKEN["batch-of-one"], "--only", "batch-of-one")
        self.assertEqual(properties["batch-of-one"]["smallest_case"], "row 0 of a batch of 2")
        _, properties = self.check(BROKEN["other-settings"], "--only", "other-settings")
        self.assertIn("OMP_NUM_THREADS=2", properties["other-settings"]["smallest_case"])

    def properties(self, *words):
        ended = self.vernier("check", "consistency", *words, "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def save_transpose(self, name, shape, out):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, out)
        node = helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0, 2])
        graph = helper.make_graph([node], "g", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_rows_of_inputs_that_are_not_those_of_outputs_are_not_tried(self):
        says = {"other.onnx": (["t", "b", 3], ["b", "t", 3],
                               "the first dimension of 'x' is 't', that of 'y' is 'b'"),
                "nameless.onnx": ([None, None, 3], [None, None, 3], "no output has 1 row where"),
                "fixed.onnx": (["t", 4, 3], [4, "t", 3],
                               "the first dimension of 'x' is 't', that of 'y' is 4")}
        for model, (shape, out, why) in says.items():
            self.save_transpose(model, shape, out)
            ended, properties = self.properties(model, "--onnxrt", "--rows", "4")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            for name in ROWS:
                with self.subTest(model, property=name):
                    self.assertEqual(properties[name]["verdict"], "not applicable")
                    self.assertIn(why, properties[name]["detail"])

    def test_outputs_of_named_sizes_are_poisoned_too(self):
        self.save_model("m.onnx", "Relu", ["n", 3])
        _, properties = self.properties("m.onnx", "--onnxrt", "--only", "poisoned-outputs")
        self.assertEqual(properties["poisoned-outputs"]["verdict"], "holds")

    def test_outputs_that_name_no_dimension_have_rows_when_they_follow_the_inputs(self):
        self.save_model("m.onnx", "Identity", [None, 3])
        _, properties = self.properties("m.onnx", "--onnxrt", "--only", *ROWS)
        self.assertEqual({p["verdict"] for p in properties.values()}, {"holds"})

    def test_real_runtimes_hold_everything(self):
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--openvino")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("PASSED | other-settings", ended.out)
        self.assertIn("PASSED | uninitialised-memory", ended.out)

    def test_the_summary_says_what_was_compared_and_what_shows_nothing(self):
        ended, _ = self.check("    return {'y': feed['x'], 'z': np.zeros(4, 'f4'), 'e': feed['x'][:0]}\n",
                              "--only", "repeated-runs", "--input-shapes", "x:[2,3]")
        self.assertIn("1 hold and 0 are broken; compared 3 outputs, 10 elements; shows nothing: "
                      "z (all elements are zero), e (no elements)", ended.out)
        record = json.loads(self.path("record.json").read_text())
        self.assertEqual(record["runners"][0]["coverage"]["shows_nothing"][1],
                         {"output": "e", "why": "no elements"})

    def test_outputs_that_show_nothing_fail_where_that_is_asked_for(self):
        body = "    return {'y': feed['x'], 'z': np.zeros(4, 'f4')}\n"
        ended, _ = self.check(body, "--only", "repeated-runs", "--strict")
        self.assertEqual(ended.code, 1)
        self.assertIn("agreement means nothing (--strict): z (all elements are zero)",
                      ended.out + ended.err)

    def test_outputs_without_elements_are_no_pass(self):
        ended, _ = self.check(GOOD, "--input-shapes", "x:[0,3]")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("nothing was compared: no output has an element", ended.out + ended.err)
        self.assertIn("the inputs given have no rows", ended.out + ended.err)

    def save_sequence(self, name, *others):
        sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy")
        nodes = [helper.make_node("SequenceConstruct", ["x"], ["s"]),
                 helper.make_node("Neg", ["x"], ["y"])]
        outputs = [sequence, *([y] if others else [])]
        graph = helper.make_graph(nodes[:len(outputs)], "g", [x], outputs)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_outputs_that_cannot_be_compared_are_no_pass(self):
        self.save_sequence("both.onnx", "y")
        ended, _ = self.properties("both.onnx", "--onnxrt", "--only", "repeated-runs", "--lenient")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("that could not be compared: s (", ended.out + ended.err)
        ended, _ = self.properties("both.onnx", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("compared 2 outputs, 7 elements", ended.out + ended.err)  # s and y
        self.save_sequence("only.onnx")
        ended, _ = self.properties("only.onnx", "--onnxrt", "--lenient")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("no outputs that could be compared; 's': ", ended.out + ended.err)

    def test_another_type_is_broken(self):
        _, properties = self.check("    COUNT[0] += 1\n    return {'y': feed['x'].astype("
                                   "'f8' if COUNT[0] == 2 else 'f4')}\n", "--only", "repeated-runs")
        self.assertIn("its type is float64 instead of float32",
                      properties["repeated-runs"]["detail"])

    def test_what_no_filling_changes_is_not_blamed_on_memory(self):
        """ONNX Runtime's generator goes on from run to run; a process alone begins again."""
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, 4]) for n in "xy")
        graph = helper.make_graph([helper.make_node("RandomNormalLike", ["x"], ["r"], seed=7.0),
                                   helper.make_node("Add", ["x", "r"], ["y"])], "g", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        _, properties = self.properties("m.onnx", "--onnxrt")
        self.assertEqual(properties["repeated-runs"]["verdict"], "broken")
        self.assertEqual(properties["poisoned-outputs"]["verdict"], "not applicable")
        self.assertIn("see fresh-session and repeated-runs", properties["poisoned-outputs"]["detail"])
        broken = {name for name, found in properties.items() if found["verdict"] == "broken"}
        self.assertEqual(broken, {"repeated-runs"})

    def test_unwritten_memory_of_a_script_is_found(self):
        body = "    y = np.empty((len(feed['x']), 4096), 'f4')\n    y[:, :3] = feed['x']\n" \
               "    return {'y': y}\n"
        ended, properties = self.check(body, "--only", "uninitialised-memory")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(properties["uninitialised-memory"]["smallest_case"],
                         "memory filled with 0xAA instead of 0x55")

    def test_a_process_that_dies_of_rows_breaks_them_and_nothing_else(self):
        body = "    import os\n    if len(feed['x']) > 1:\n        os.kill(os.getpid(), 11)\n" \
               "    return {'y': feed['x']}\n"
        ended, properties = self.check(body, "--only", *ROWS, "input-alignment")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        for name in ROWS:
            self.assertEqual(properties[name]["verdict"], "broken", name)
            self.assertIn("a batch of 2", properties[name]["smallest_case"])
        self.assertEqual(properties["input-alignment"]["verdict"], "holds")

    def save_at_most_seven(self, of_y):
        """z is `x`, in a shape that tells nothing, and looks up the number of rows in 8 of them."""
        weights = [helper.make_tensor("zero", TensorProto.INT64, [], [0]),
                   helper.make_tensor("table", TensorProto.FLOAT, [8], [0.0] * 8),
                   helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 3])]
        nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Shape", ["x"], ["sizes"]),
                 helper.make_node("Gather", ["sizes", "zero"], ["rows"]),
                 helper.make_node("Gather", ["table", "rows"], ["nothing"]),
                 helper.make_node("Add", ["x", "nothing"], ["sum"]),
                 helper.make_node("Reshape", ["sum", "shape"], ["z"])]
        x, y, z = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 3])
                   for name, rows in (("x", "n"), ("y", "n"), ("z", None)))
        graph = helper.make_graph(nodes, "g", [x], [y, z] if of_y else [z], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def test_a_model_that_fails_with_its_rows_breaks_them_as_long_as_one_output_is_told(self):
        self.save_at_most_seven(of_y=True)
        ended, properties = self.properties("m.onnx", "--onnxrt", "--only", "batch-of-one")
        found = properties["batch-of-one"]
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(found["verdict"], "broken")
        self.assertIn("a batch of 8", found["smallest_case"])
        self.assertEqual(found["left_out"],
                         [{"output": "z", "why": "the model does not say whether it has the rows of the "
                                                 "inputs, and does not run with 8 of them"}])
        self.save_at_most_seven(of_y=False)
        _, properties = self.properties("m.onnx", "--onnxrt", "--only", "batch-of-one")
        self.assertEqual(properties["batch-of-one"]["verdict"], "not applicable")
        self.assertIn("does not say which outputs have the rows", properties["batch-of-one"]["detail"])

    def test_rows_are_tried_with_more_than_one_element(self):
        """What sees its neighbours only where the other dimensions are more than 1."""
        self.save_model("m.onnx", "Identity", ["n", "s"])
        body = "    x = feed['x']\n    return {'y': np.cumsum(x, axis=0, dtype='f4') if x.shape[1] > 1 else x}\n"
        ended, properties = self.check(body, "--only", "permuted-rows", "batch-of-one")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(properties["permuted-rows"]["smallest_case"], "a batch of 2 rows reversed")
        self.assertEqual(properties["batch-of-one"]["verdict"], "broken")
        ended, properties = self.check(GOOD)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("batches of 2 to 8 rows, other free dimensions of size 3",
                      properties["batch-of-one"]["detail"])
        for name in ("repeated-runs", "fresh-session", "other-settings", "read-only-inputs",
                     "input-alignment", "uninitialised-memory"):
            self.assertIn("free dimensions of size 1, then 3", properties[name]["detail"], name)
        self.assertIn("compared 1 output, 9 elements", ended.out)

    def test_circumstances_are_tried_with_more_than_one_element(self):
        self.save_model("m.onnx", "Identity", ["n", "s"])
        bodies = {
            "repeated-runs": "    COUNT[0] += 1\n    wrong = COUNT[0] % 2\n",
            "fresh-session": "    import os\n    wrong = os.getpid() % 9973\n",
            "other-settings": "    import os\n    wrong = os.environ.get('OMP_NUM_THREADS') == '2'\n",
            "input-alignment": "    wrong = feed['x'].ctypes.data % 64\n",
        }
        for name, body in bodies.items():
            with self.subTest(name):
                body += "    return {'y': feed['x'] + np.float32(wrong * (feed['x'].size > 1))}\n"
                ended, properties = self.check(body, "--only", name)
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                self.assertIn(", free dimensions of size 3", properties[name]["smallest_case"])

    def test_what_goes_wrong_where_all_dimensions_are_more_than_one(self):
        self.save_model("m.onnx", "Identity", ["n", "s"])
        body = "    if min(feed['x'].shape) > 1:\n        raise ValueError('too many')\n" + GOOD
        ended, properties = self.check(body)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(properties["shape-sweep"]["smallest_case"], "all free dimensions of size 3")
        self.assertIn("free dimensions of size 1, as it does not run with 3",
                      properties["repeated-runs"]["detail"])
        self.assertIn("does not run with free dimensions of size 3: ", ended.out)
        self.assertNotIn("same bits", properties["batch-of-one"]["detail"])

    def test_rows_of_one_where_the_model_runs_with_no_more(self):
        self.save_model("m.onnx", "Identity", ["n", "s"])
        body = "    if feed['x'].shape[1] > 1:\n        raise ValueError('too many')\n" + GOOD
        _, properties = self.check(body, "--only", *ROWS)
        for name in ROWS:
            self.assertEqual(properties[name]["verdict"], "holds", properties[name])
            self.assertIn("other free dimensions of size 1, as it does not run with 3",
                          properties[name]["detail"])

    def test_what_depends_on_more_rows_than_a_few_is_found(self):
        for least in (5, 8):
            body = f"    return {{'y': feed['x'] * (2 if len(feed['x']) < {least} else 3)}}\n"
            _, properties = self.check(body, "--only", "batch-of-one")
            self.assertEqual(properties["batch-of-one"]["smallest_case"],
                             f"row 0 of a batch of {least}")

    def test_many_rows_are_tried_in_few_inferences(self):
        self.save_feeds("in.json", [{"x": np.arange(900, dtype="f4").reshape(300, 3)}])
        body = ("    with open('runs', 'a') as file:\n        file.write('.')\n" + GOOD)
        self.path("runs").write_text("")
        _, properties = self.check(body, "--only", "batch-of-one", "--load-inputs", "in.json")
        self.assertEqual(properties["batch-of-one"]["verdict"], "holds")
        self.assertIn("batches of 2 to 300 rows, of each at most 16 rows alone",
                      properties["batch-of-one"]["detail"])
        self.assertLess(len(self.path("runs").read_text()), 150)

    def test_outputs_that_rows_say_nothing_of_are_named(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 3])
                   for name, rows in (("y", "n"), ("z", "k"))]
        nodes = [helper.make_node("Identity", ["x"], ["y"]),
                 helper.make_node("CumSum", ["x", "axis"], ["z"])]
        graph = helper.make_graph(nodes, "g", [x], outputs,
                                  [helper.make_tensor("axis", TensorProto.INT64, [], [0])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        ended, properties = self.properties("m.onnx", "--onnxrt", "--only", *ROWS)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        z = {"output": "z", "why": "its first dimension is 'k'"}
        for name in ROWS:
            self.assertEqual(properties[name]["left_out"], [z], name)
        self.assertEqual(ended.out.count("; left out: z (its first dimension is 'k')"), 3)
        self.assertIn("left out where rows are held: z (its first dimension is 'k')", ended.out)
        record = json.loads(self.path("record.json").read_text())
        self.assertEqual(record["runners"][0]["coverage"]["no_rows"], [z])

    def test_outputs_that_lose_rows_are_named(self):
        body = "    x = feed['x']\n    return {'y': x, 'z': x[:2]}\n"
        _, properties = self.check(body, "--only", *ROWS)
        self.assertEqual(properties["batch-of-one"]["left_out"],
                         [{"output": "z", "why": "its shape is (1, 3) for 1 row of the inputs, and "
                                                 "(2, 3) for 8"}])

    def test_outputs_that_should_have_the_rows_of_the_inputs_break_it(self):
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy")
        graph = helper.make_graph(
            [helper.make_node("Slice", ["x", "begin", "end"], ["y"])], "g", [x], [y],
            [helper.make_tensor("begin", TensorProto.INT64, [1], [0]),
             helper.make_tensor("end", TensorProto.INT64, [1], [2])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        _, properties = self.properties("m.onnx", "--onnxrt", "--only", "permuted-rows")
        self.assertEqual(properties["permuted-rows"]["smallest_case"], "a batch of 3 rows reversed")
        self.assertIn("output 'y' has the shape (2, 3) where the inputs have 3 rows",
                      properties["permuted-rows"]["detail"])

    def test_every_run_is_watched_for_writes(self):
        cases = {"after two runs": "    COUNT[0] += 1\n    if COUNT[0] > 2:\n",
                 "of several rows": "    if len(feed['x']) > 1:\n"}
        for case, when in cases.items():
            with self.subTest(case):
                body = "    y = feed['x'] * 2\n" + when + "        feed['x'][-1, 0] = 9\n"
                ended, properties = self.check(body + "    return {'y': y}\n", "--only",
                                               "read-only-inputs")
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                self.assertIn("input 'x' at (", properties["read-only-inputs"]["detail"])

    def test_where_every_run_differs_nothing_else_is_blamed(self):
        body = "    return {'y': feed['x'] + np.random.default_rng().random(feed['x'].shape, 'f4')}\n"
        _, properties = self.check(body)
        broken = {name for name, found in properties.items() if found["verdict"] == "broken"}
        self.assertEqual(broken, {"repeated-runs"})

    def test_a_run_that_failed_excuses_nothing_that_is_broken_later(self):
        """Once, in run 3; rows see each other in all runs."""
        for what, fails in {"an exception": "raise ValueError('not now')",
                            "a crash": "import os; os.kill(os.getpid(), 11)"}.items():
            with self.subTest(what):
                flag = self.path("failed")
                flag.unlink(missing_ok=True)
                body = "    import pathlib\n    COUNT[0] += 1\n" \
                       f"    flag = pathlib.Path({str(flag)!r})\n" \
                       "    if COUNT[0] == 3 and not flag.exists():\n" \
                       f"        flag.touch()\n        {fails}\n" + BROKEN["permuted-rows"]
                _, properties = self.check(body)
                self.assertEqual(properties["repeated-runs"]["smallest_case"], "run 3")
                for name in ROWS:
                    self.assertEqual(properties[name]["verdict"], "broken", properties[name])
                self.assertEqual(properties["fresh-session"]["verdict"], "holds")

    def test_a_second_process_that_fails_excuses_nothing(self):
        """The second one that is started, once; two threads make another output."""
        flag = self.path("starts")
        body = "    import os, pathlib\n    COUNT[0] += 1\n" \
               f"    flag = pathlib.Path({str(flag)!r})\n    if COUNT[0] == 1:\n" \
               "        flag.write_text((flag.read_text() if flag.exists() else '') + '+')\n" \
               "        if flag.read_text() == '++':\n            raise ValueError('not now')\n"
        _, properties = self.check(body + BROKEN["other-settings"], "--input-shapes", "x:[1,3]")
        self.assertEqual(properties["fresh-session"]["verdict"], "broken")
        self.assertIn("not now", properties["fresh-session"]["detail"])
        self.assertEqual(properties["other-settings"]["verdict"], "broken")
        self.assertIn("OMP_NUM_THREADS=2", properties["other-settings"]["smallest_case"])

    def test_other_outputs_of_another_process_excuse_only_what_needs_one(self):
        body = "    import os\n    y = np.cumsum(feed['x'], axis=0, dtype='f4') * 1024\n" \
               "    return {'y': y + np.float32(os.getpid() % 9973)}\n"
        _, properties = self.check(body)
        broken = {name for name, found in properties.items() if found["verdict"] == "broken"}
        self.assertEqual(broken, {"fresh-session", *ROWS})
        for name in ("other-settings", "input-alignment"):
            self.assertEqual(properties[name]["verdict"], "not applicable", name)
            self.assertIn("see fresh-session", properties[name]["detail"])

    def test_rows_that_see_each_other_get_a_hint(self):
        ended, _ = self.check(BROKEN["permuted-rows"], "--only", "permuted-rows")
        self.assertIn("is not a batch, or rows are meant to see each other: --skip identical-rows",
                      ended.out)

    def test_the_bar_is_named_as_what_it_is(self):
        body = "    COUNT[0] += 1\n    return {'y': feed['x'] + np.float32(COUNT[0])}\n"
        ended, _ = self.check(body, "--only", "repeated-runs", "--atol", "10")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("times what is tolerated (output 'y'", ended.out)
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--atol", "nosuch:1")
        self.assertEqual(ended.code, 1)
        self.assertIn("--atol: there is no output 'nosuch'", ended.out + ended.err)

    def test_only_the_first_of_loaded_inputs_is_used_and_that_is_said(self):
        feed = {"x": np.ones((2, 3), "f4")}
        self.save_feeds("in.json", [feed, feed])
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--load-inputs",
                             "in.json", "--only", "repeated-runs")
        self.assertIn("Only the first iteration of the loaded inputs is used", ended.out)
        self.save_feeds("in.json", [feed])
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--load-inputs",
                             "in.json", "--only", "repeated-runs")
        self.assertNotIn("Only the first iteration", ended.out)

    def test_loaded_inputs_that_are_not_used_may_be_damaged(self):
        feed = {"x": np.ones((2, 3), "f4")}
        self.save_feeds("in.json", [feed])
        self.path("text.json").write_text("no feed at all")
        two = json.loads(self.path(self.save_feeds("two.json", [feed, feed])).read_text())
        two[1]["x"]["array"] = "no base64!"
        self.path("two.json").write_text(json.dumps(two))
        for paths in (["in.json", "text.json"], ["two.json"]):
            with self.subTest(paths):
                words = ("m.onnx", "--onnxrt", "--load-inputs", *paths)
                ended = self.vernier("check", "consistency", *words, "--only", "repeated-runs")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertIn("Only the first iteration of the loaded inputs is used", ended.out)
                self.assertEqual(self.vernier("run", *words).code, 3)  # which would use them

    def test_all_nan_is_called_so(self):
        ended, _ = self.check("    return {'y': feed['x'] * np.nan}\n", "--only", "repeated-runs")
        self.assertIn("shows nothing: y (all elements are NaN)", ended.out)

    def test_feeds_of_a_script(self):
        self.path("load.py").write_text("import numpy as np\ndef load_data():\n"
                                        "    yield {'x': np.full((2, 3), 7, 'f4')}\n")
        ended, properties = self.check(
            "    assert (feed['x'] == 7).all()\n    return {'y': feed['x'] * 2}\n",
            "--data-loader-script", "load.py")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(properties["permuted-rows"]["verdict"], "holds")
        self.assertIn("shapes of the inputs are given", properties["shape-sweep"]["detail"])
        ended = self.vernier("check", "extremes", "m.onnx", "--model-runner", "runner.py",
                             "--python", sys.executable, "--data-loader-script", "load.py",
                             "--sets", "zeros")
        self.assertIn("AssertionError", ended.out + ended.err)  # zeros are no sevens: the feed came through

    def test_nothing_tried_is_no_pass(self):
        ended, _ = self.check(GOOD, "--only", "poisoned-outputs")
        self.assertEqual(ended.code, 4)
        self.assertIn("nothing was checked", ended.out + ended.err)

    def test_bad_words_are_a_sentence(self):
        for words, says in {("--only", "speed"): "repeated-runs", ("--rows", "1"): "--rows",
                            ("--repeats", "0"): "--repeats",
                            ("--report", "o.html"): "--report"}.items():
            ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertIn(says, ended.out + ended.err)
        ended = self.vernier("check", "consistency", "m.onnx")
        self.assertEqual(ended.code, 2)
        self.assertIn("no runner", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
