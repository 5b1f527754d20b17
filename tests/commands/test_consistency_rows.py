"""vernier check consistency: rows that meet in a model are no batch."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from program import Case

ROWS = ("identical-rows", "permuted-rows", "batch-of-one")
# With one for each row the sums of a row are in one order, in a batch or alone.
ONE_THREAD = ("--onnxrt", "--intra-op-threads", "1")


class MeetingRows(Case):
    def properties(self, *words):
        ended = self.vernier("check", "consistency", *words, "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def save_nodes(self, name, nodes, outputs, weights=()):
        """x of ["sequence_length", 3] to `outputs`, whose first dimension is named alike."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["sequence_length", 3])
        out = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["sequence_length", None])
               for n in outputs]
        tensors = [onnx.numpy_helper.from_array(value, n) for n, value in dict(weights).items()]
        graph = helper.make_graph(nodes, "g", [x], out, tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_the_summary_has_short_names(self):
        self.save_nodes("m.onnx", [helper.make_node("Identity", ["x"], ["y"])], ["y"])
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only",
                             "repeated-runs")
        self.assertRegex(ended.out, r"(?m)^\[I\] onnxrt: of 1 properties 1 hold ")

    def save_scan(self, axis, *, mixes):
        """A state [B, 3] that sums up x along `axis`, which its other axis of the first two is
        not the batch of. `mixes`: the next state has the batch reversed."""
        f32 = TensorProto.FLOAT
        body = helper.make_graph(
            [helper.make_node("Add", ["s", "f"], ["n"]), helper.make_node("Tanh", ["n"], ["o"])],
            "body", [helper.make_tensor_value_info(n, f32, None) for n in ("s", "f")],
            [helper.make_tensor_value_info(n, f32, None) for n in ("n", "o")])
        order = ["T", "B", 3] if axis == 0 else ["B", "T", 3]
        nodes = [helper.make_node("Scan", ["state", "x"], ["last", "y"], "steps", body=body,
                                  num_scan_inputs=1, scan_input_axes=[axis],
                                  scan_output_axes=[axis])]
        ends = {n: np.array([v]) for n, v in (("from", -1), ("to", -9999), ("along", 0))}
        nodes.append(helper.make_node("Slice", ["last", "from", "to", "along", "from"],
                                      ["new_state"]) if mixes
                     else helper.make_node("Identity", ["last"], ["new_state"]))
        shapes = {"x": order, "state": ["B", 3], "y": order, "new_state": ["B", 3]}
        value = {n: helper.make_tensor_value_info(n, f32, s) for n, s in shapes.items()}
        graph = helper.make_graph(nodes, "g", [value["x"], value["state"]],
                                  [value["y"], value["new_state"]],
                                  [onnx.numpy_helper.from_array(v, n) for n, v in ends.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def test_a_state_with_another_first_dimension_than_the_inputs_is_tried(self):
        """Or with the same one, behind a Scan along the second."""
        for axis, name in ((0, "permuted-states"), (1, "permuted-rows")):
            for mixes in (False, True):
                with self.subTest(axis=axis, mixes=mixes):
                    self.save_scan(axis, mixes=mixes)
                    ended, properties = self.properties(
                        "m.onnx", "--onnxrt", "--only", "permuted-rows", "permuted-states")
                    self.assertEqual(ended.code, 1 if mixes else 0, ended.out + ended.err)
                    self.assertEqual(properties[name]["verdict"],
                                     "broken" if mixes else "holds", ended.out)
                    if mixes:
                        self.assertIn("'new_state'", properties[name]["detail"])

    def save_graph(self, nodes, inputs, outputs, weights=()):
        """Of named types and shapes."""
        infos = [[helper.make_tensor_value_info(n, t, s) for n, (t, s) in side.items()]
                 for side in (inputs, outputs)]
        tensors = [onnx.numpy_helper.from_array(value, n) for n, value in dict(weights).items()]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", *infos, tensors),
                                    opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(self.path("m.onnx")))

    def test_dimensions_that_must_agree_under_different_names_follow_each_other(self):
        f32 = TensorProto.FLOAT
        random = np.random.default_rng(1)
        gru = {n: random.standard_normal(s).astype("f4")
               for n, s in (("w", (1, 9, 4)), ("r", (1, 9, 3)))}
        cases = (
            ([helper.make_node("MatMul", ["a", "b"], ["y"])],
             {"a": (f32, ["B", "N", "M"]), "b": (f32, ["B", "K", 4])}, (), "'M' as large as 'K'"),
            ([helper.make_node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=3)],
             {"x": (f32, ["T", "N", 4]), "h": (f32, [1, "M", 3])}, gru, "'N' as large as 'M'"))
        for nodes, inputs, weights, said in cases:
            with self.subTest(said):
                self.save_graph(nodes, inputs, {"y": (f32, None)}, weights)
                ended, properties = self.properties("m.onnx", "--onnxrt", "--only", "shape-sweep")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertIn(said + ", which the model needs", properties["shape-sweep"]["detail"])

    def test_a_mask_of_which_the_end_counts_is_at_least_as_long_as_the_tokens(self):
        """It has to cover the cached tokens and the new ones; what is before them is not read."""
        f32 = TensorProto.FLOAT
        self.save_graph(
            [helper.make_node("Concat", ["past", "x"], ["tokens"], axis=1),
             helper.make_node("Shape", ["tokens"], ["shape"]),
             helper.make_node("Gather", ["shape", "one"], ["length"]),
             helper.make_node("Neg", ["length"], ["start"]),
             helper.make_node("Slice", ["mask", "start", "end", "one"], ["tail"]),
             helper.make_node("Concat", ["tokens", "tail"], ["y"], axis=0)],
            {"past": (f32, [2, "P"]), "x": (f32, [2, "N"]), "mask": (f32, [2, "M"])},
            {"y": (f32, None)}, {"one": np.array([1]), "end": np.array([2**62])})
        ended, properties = self.properties("m.onnx", "--onnxrt", "--only", "shape-sweep")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("'M' at least as large as 'P' and 'N' together, which the model needs",
                      properties["shape-sweep"]["detail"])

    def test_indices_that_pick_rows_mix_them_and_are_bounded_by_the_batch(self):
        """As beam_idx, by which a search goes on with the caches of other beams."""
        f32 = TensorProto.FLOAT
        self.save_graph([helper.make_node("Gather", ["past", "beam_idx"], ["own"], "pick"),
                         helper.make_node("Add", ["own", "x"], ["y"])],
                        {"x": (f32, ["B", 3]), "past": (f32, ["B", 3]),
                         "beam_idx": (TensorProto.INT32, ["B"])}, {"y": (f32, ["B", 3])})
        for seed in ("1", "2", "3"):
            ended, properties = self.properties("m.onnx", "--onnxrt", "--seed", seed)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(properties["shape-sweep"]["verdict"], "holds")
            for name in ROWS:
                self.assertIn("node 'pick' (Gather) picks rows by indices made of the inputs",
                              properties[name]["detail"])

    def test_sequences_that_an_input_picks_are_not_permuted(self):
        f32 = TensorProto.FLOAT
        self.save_graph([helper.make_node("Gather", ["state", "beam_idx"], ["own"], "pick", axis=1),
                         helper.make_node("Tanh", ["own"], ["new_state"])],
                        {"state": (f32, [2, "B"]), "beam_idx": (TensorProto.INT32, ["B"])},
                        {"new_state": (f32, [2, "B"])})
        for seed in ("1", "2", "3"):
            _, properties = self.properties("m.onnx", "--onnxrt", "--seed", seed, "--only",
                                            "permuted-states")
            self.assertIn("node 'pick' (Gather) picks rows by indices made of the inputs",
                          properties["permuted-states"]["detail"])

    def test_rows_that_meet_in_the_model_are_no_batch(self):
        random = np.random.default_rng(1)
        weights = {"w": random.standard_normal((1, 16, 3)).astype("f4"),
                   "r": random.standard_normal((1, 16, 4)).astype("f4"),
                   "one": np.array([1]), "two": np.array([1, 2]),
                   "axes": np.array([0], "i8")}
        lstm = [helper.make_node("Unsqueeze", ["x", "one"], ["u"]),
                helper.make_node("LSTM", ["u", "w", "r"], ["l"], "recurrence", hidden_size=4),
                helper.make_node("Squeeze", ["l", "two"], ["y"])]
        attention = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
                     helper.make_node("MatMul", ["x", "t"], ["s"], "scores"),
                     helper.make_node("Softmax", ["s"], ["p"], axis=1),
                     helper.make_node("MatMul", ["p", "x"], ["y"])]
        mean = [helper.make_node("ReduceMean", ["x"], ["m"], "mean", axes=[0]),
                helper.make_node("Sub", ["x", "m"], ["y"])]
        cases = {"node 'recurrence' (LSTM) goes along the rows": lstm,
                 "node 'scores' (MatMul) pairs each row with others": attention,
                 "node 'mean' (ReduceMean) combines rows": mean}
        for why, nodes in cases.items():
            with self.subTest(why):
                self.save_nodes("m.onnx", nodes, ["y"], weights)
                ended, properties = self.properties("m.onnx", "--onnxrt")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                for name in ROWS:
                    self.assertEqual(properties[name]["verdict"], "not applicable")
                    self.assertEqual(properties[name]["detail"],
                                     f"the first dimension of 'x' is not a batch: {why}")

    def test_outputs_whose_rows_do_not_meet_are_tried_beside_others(self):
        nodes = [helper.make_node("CumSum", ["x", "zero"], ["sums"], "sum"),
                 helper.make_node("Relu", ["x"], ["y"])]
        self.save_nodes("m.onnx", nodes, ["sums", "y"], {"zero": np.array(0)})
        ended, properties = self.properties("m.onnx", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for name in ROWS:
            self.assertEqual(properties[name]["verdict"], "holds")
            self.assertEqual(properties[name]["left_out"], [
                {"output": "sums",
                 "why": "its rows are made of several: node 'sum' (CumSum) combines rows"}])

    def save_variance(self, name, integers):
        """The variance of 512 values near 1, as the mean of squares less the square of the mean:
        ONNX Runtime sums a row alone in another order than within a batch."""
        random = np.random.default_rng(0)
        weights = {"w": random.standard_normal((4, 32)).astype("f4"),
                   "spread": np.float32(0.1), "one": np.float32(1)}
        first = (helper.make_node("Gather", ["w", "x"], ["v"]) if integers
                 else helper.make_node("MatMul", ["x", "w"], ["v"]))
        nodes = [first, helper.make_node("Mul", ["v", "spread"], ["s"]),
                 helper.make_node("Add", ["s", "one"], ["a"]),
                 helper.make_node("ReduceMean", ["a"], ["m"], axes=[1]),
                 helper.make_node("Mul", ["a", "a"], ["aa"]),
                 helper.make_node("ReduceMean", ["aa"], ["mm"], axes=[1]),
                 helper.make_node("Mul", ["m", "m"], ["m2"]),
                 helper.make_node("Sub", ["mm", "m2"], ["y"])]
        of_x = (TensorProto.INT64, ["n", 512]) if integers else (TensorProto.FLOAT, ["n", 512, 4])
        tensors = [onnx.numpy_helper.from_array(value, n) for n, value in weights.items()]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", *of_x)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 1, 32])], tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def test_amplified_rounding_is_no_fault_of_a_batch(self):
        for integers in (False, True):
            with self.subTest(integers=integers):
                self.save_variance("m.onnx", integers)
                ended, properties = self.properties("m.onnx", *ONE_THREAD, "--only", *ROWS)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                alone = properties["batch-of-one"]
                self.assertEqual(alone["verdict"], "holds")
                self.assertRegex(alone["detail"], r"rounding may differ by, ill-conditioned: κ = ")
                self.assertGreater(alone["condition"], 8)
                self.assertLessEqual(alone["condition"], 1000)

    def test_strict_does_not_take_amplified_rounding(self):
        self.save_variance("m.onnx", integers=True)
        ended, _ = self.properties("m.onnx", *ONE_THREAD, "--only", "batch-of-one",
                                    "--strict")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("--strict: batch-of-one holds only because the model is ill-conditioned: "
                      "κ = ", ended.out + ended.err)

    def test_dimensions_that_must_agree_vary_together(self):
        infos = [helper.make_tensor_value_info(name, 1, [size, 3])
                 for name, size in (("x", "m"), ("z", "n"), ("y", None))]
        axis = {"axis": 1}
        graph = helper.make_graph([helper.make_node("Concat", ["x", "z"], ["y"], "joined", **axis)],
                                  "g", infos[:2], [helper.make_tensor_value_info("y", 1, None)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("two.onnx")))
        ended, properties = self.properties("two.onnx", "--onnxrt", "--only", "shape-sweep")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        found = properties["shape-sweep"]
        self.assertEqual(found["verdict"], "holds")
        self.assertRegex(found["detail"], "^11 shapes")
        self.assertIn("sizes aside that the model refuses: 'm' of size 2 (node 'joined' (Concat) "
                      "is given (2, 3) and (1, 3))", found["detail"])

    def check_masked(self, dims, body):
        """A script that joins what is cached and new, with one element of the mask for each."""
        shapes = {"ids": dims[0], "past": dims[1], "mask": dims[2]}
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
                  for name, size in shapes.items()]
        out = helper.make_tensor_value_info("joined", TensorProto.FLOAT, None)
        graph = helper.make_graph([helper.make_node("Identity", ["ids"], ["joined"])], "g", inputs,
                                  [out])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("masked.onnx")))
        self.path("runner.py").write_text(
            "import numpy as np\n\nCOUNT = [0]\n\n\ndef infer(feed):\n"
            "    ids, past, mask = feed['ids'], feed['past'], feed['mask']\n" + body)
        ended, properties = self.properties("masked.onnx", "--model-runner", "runner.py",
                                            "--python", sys.executable, "--only", "shape-sweep")
        return ended, properties["shape-sweep"]

    def test_a_dimension_may_be_as_large_as_others_together(self):
        joins = "    return {'joined': np.concatenate([past, ids]) * mask}\n"
        counts = ("    COUNT[0] += len(past) == 5\n    joined = np.concatenate([past, ids])\n"
                  "    return {'joined': joined * mask + np.float32(COUNT[0])}\n")
        refuses = "    if len(ids) == 5:\n        raise ValueError('no five')\n" + joins
        ended, found = self.check_masked(("n", "past", "past + n"), joins)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(found["detail"], r"^11 shapes, .* size 3; 'past \+ n' as large as 'n' and "
                                          r"'past' together, which the model needs$")
        for body, where in ((counts, "'past' of size 5"), (refuses, "'n' of size 5")):
            ended, found = self.check_masked(("n", "past", "total"), body)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertEqual(found["smallest_case"], where)

    def test_a_dimension_may_be_one_larger_than_another(self):
        one_more = ("    if len(mask) != len(past) + 1 and len(mask) > 1:\n"
                    "        raise ValueError('mask and past do not fit')\n"
                    "    return {'joined': np.append(past, ids.sum()) * mask}\n")
        ended, found = self.check_masked(("n", "past", "total"), one_more)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("'total' as large as 'past' and 1, which the model needs", found["detail"])

    def test_no_sum_excuses_a_runner_that_takes_one_size_alone(self):
        fixed = ("    if len(past) > 1:\n        raise ValueError('one only')\n"
                 "    return {'joined': ids * past * mask.sum()}\n")
        ended, found = self.check_masked(("n", "past", "total"), fixed)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(found["smallest_case"], "'past' of size 2")


if __name__ == "__main__":
    unittest.main()
