"""--tolerance auto and blame: of values that are as good as equal, runtimes choose as they like."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

ROWS, WIDTH, PICKED = 4, 60, 20


class NearTies(Case):
    """Few distinct values, so that many places are as good as others: OpenVINO does not keep to the
    order of places there."""

    def save(self, name, shift=0, sign=1):
        """The best scores, the rows of a table at their places, and their product with a weight;
        the places moved by `shift`, and the weight times `sign`."""
        nodes = [helper.make_node("Relu", ["scores"], ["kept"], "relu"),
                 helper.make_node("TopK", ["kept", "k"], ["best", "found"], "topk", axis=1),
                 helper.make_node("Add", ["found", "shift"], ["moved"], "shift"),
                 helper.make_node("Mod", ["moved", "width"], ["at"], "wrap"),
                 helper.make_node("Gather", ["table", "at"], ["rows"], "gather"),
                 helper.make_node("MatMul", ["rows", "weight"], ["product"], "matmul")]
        random = np.random.default_rng(5)
        table = random.standard_normal(WIDTH).astype(np.float32)
        weight = sign * random.standard_normal((PICKED, 6)).astype(np.float32)
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [ROWS, WIDTH])],
            [helper.make_tensor_value_info("best", TensorProto.FLOAT, [ROWS, PICKED]),
             helper.make_tensor_value_info("rows", TensorProto.FLOAT, [ROWS, PICKED]),
             helper.make_tensor_value_info("product", TensorProto.FLOAT, [ROWS, 6])],
            [numpy_helper.from_array(np.array([PICKED]), "k"),
             numpy_helper.from_array(np.array(shift), "shift"),
             numpy_helper.from_array(np.array(WIDTH), "width"),
             numpy_helper.from_array(table, "table"),
             numpy_helper.from_array(weight, "weight")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))
        return name

    def scores(self, distinct):
        """Each row has `distinct` clear values at its head, and then a handful of equal ones."""
        random = np.random.default_rng(7)
        rows = np.repeat(random.permutation(8) / 16, 8)[:WIDTH] * np.ones((ROWS, 1))
        rows[:, :distinct] = 2 + np.arange(distinct) / 4
        rows = random.permuted(rows, axis=1).astype(np.float32)
        np.savez(self.path("scores.npz"), scores=rows)
        return ["--load-inputs", "scores.npz"]

    def run_marked(self, *words, code=0):
        ended = self.vernier("run", *words, "--tolerance", "auto", "--onnx-outputs", "mark", "all",
                             "--save-record", "record.json")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        record = json.loads(self.path("record.json").read_text(encoding="utf-8"))
        return ended, {o["name"]: o for o in record["pairs"][0]["outputs"]}

    def test_places_of_equal_values_may_differ(self):
        feed = self.scores(distinct=10)
        for order in (["--onnxrt", "--openvino"], ["--openvino", "--onnxrt"]):
            ended, outputs = self.run_marked(self.save("m.onnx"), *order, *feed)
            self.assertTrue(outputs["found"]["passed"])
            self.assertIn("% chosen among near ties", ended.out)

    def test_clear_places_are_exact_beside_them(self):
        feed = self.scores(distinct=18)
        wrong = ["--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt moved.onnx"]
        self.save("m.onnx")
        self.save("moved.onnx", shift=1)
        ended, outputs = self.run_marked(*wrong, *feed, code=1)
        self.assertTrue(outputs["found"]["passed"], ended.out)
        self.assertFalse(outputs["moved"]["passed"], "all places are one further")
        self.assertFalse(outputs["rows"]["passed"])

    def test_what_both_chose_alike_excuses_nothing_behind_it(self):
        self.save("m.onnx")
        self.save("negated.onnx", sign=-1)
        runners = ["--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt negated.onnx"]
        ended, outputs = self.run_marked(*runners, *self.scores(distinct=10), code=1)
        self.assertIn("% chosen among near ties", ended.out)
        self.assertTrue(outputs["rows"]["passed"])
        self.assertFalse(outputs["product"]["passed"])

    def test_the_best_values_alone_show_their_ties(self):
        model = onnx.load(self.path(self.save("m.onnx")))
        del model.graph.output[:]
        model.graph.output.extend(
            [helper.make_tensor_value_info("best", TensorProto.FLOAT, [ROWS, PICKED]),
             helper.make_tensor_value_info("found", TensorProto.INT64, [ROWS, PICKED])])
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--openvino", "--tolerance", "auto",
                             *self.scores(distinct=10))
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("% chosen among near ties", ended.out)

    def test_without_ties_all_is_exact(self):
        feed = self.scores(distinct=WIDTH)
        ended, _ = self.run_marked(self.save("m.onnx"), "--onnxrt", "--openvino", *feed)
        self.assertNotIn("near ties", ended.out)
        self.save("moved.onnx", shift=1)
        ended, outputs = self.run_marked("--runner", "a=onnxrt m.onnx", "--runner",
                                         "b=openvino moved.onnx", *feed, code=1)
        self.assertNotIn("near ties", ended.out)
        self.assertEqual([outputs[name]["passed"] for name in ("best", "found", "moved", "rows")],
                         [True, True, False, False])

    def test_blame_accuses_no_choice_among_equals(self):
        ended = self.vernier("blame", self.save("m.onnx"), "--onnxrt", "--openvino",
                             *self.scores(distinct=10), "--save-blame", "blame.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        found = json.loads(self.path("blame.json").read_text(encoding="utf-8"))
        self.assertEqual(found["culprits"], [])


if __name__ == "__main__":
    unittest.main()
