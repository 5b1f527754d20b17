"""vernier check consistency: every property is held where it holds, and broken where it is."""

import json
import sys
import unittest

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

    def test_a_good_runner_holds_everything_that_can_be_tried(self):
        ended, properties = self.check(GOOD)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        not_tried = {"poisoned-outputs"}  # it makes its outputs in memory of its own
        for name, found in properties.items():
            with self.subTest(name):
                self.assertEqual(found["verdict"],
                                 "not applicable" if name in not_tried else "holds")

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

    def test_nothing_tried_is_no_pass(self):
        ended, _ = self.check(GOOD, "--only", "poisoned-outputs")
        self.assertEqual(ended.code, 4)
        self.assertIn("nothing was tried", ended.out + ended.err)

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
