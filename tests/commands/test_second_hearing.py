"""--tolerance auto hears outputs that are over their bounds again: is it the condition?"""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

ROWS, WIDTH = 16, 96


class SecondHearing(Case):
    def save_difference(self, name, factor=1.001):
        """tanh(x) minus nearly the same by another function: what is left has their errors."""
        nodes = [helper.make_node("Tanh", ["x"], ["one"], "tanh"),
                 helper.make_node("Mul", ["x", "two"], ["double"], "double"),
                 helper.make_node("Sigmoid", ["double"], ["gate"], "sigmoid"),
                 helper.make_node("Mul", ["gate", "two"], ["wide"], "wide"),
                 helper.make_node("Sub", ["wide", "unit"], ["same"], "centre"),
                 helper.make_node("Mul", ["same", "factor"], ["other"], "factor"),
                 helper.make_node("Sub", ["one", "other"], ["y"], "difference")]
        constants = {"two": 2.0, "unit": 1.0, "factor": factor}
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, WIDTH])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, WIDTH])],
            [numpy_helper.from_array(np.float32(v), n) for n, v in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))
        return name

    def judge(self, *words):
        ended = self.vernier("run", *words, "--tolerance", "auto", "--val-range", "[-1,1]",
                             "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text(encoding="utf-8"))
        return ended, record["pairs"][0]["outputs"][0]["auto_tolerance"]

    def test_amplified_rounding_passes_and_says_so(self):
        ended, bound = self.judge(self.save_difference("m.onnx"), "--onnxrt", "--openvino")
        self.assertEqual(ended.code, 0, ended.out)
        self.assertRegex(ended.out, r"PASSED, ill-conditioned: κ = \d+.*error bound was .* before")
        self.assertIn("; ill-conditioned: y (κ = ", ended.out)
        self.assertGreater(bound["condition"], 8)
        self.assertLessEqual(bound["condition"], 1000)
        self.assertAlmostEqual(bound["bound"], bound["condition"] * bound["bound_before"],
                               delta=1e-9)
        self.assertGreater(bound["rms_error"], bound["bound_before"])

    def test_strict_does_not_take_it(self):
        ended, _ = self.judge(self.save_difference("m.onnx"), "--onnxrt", "--openvino", "--strict")
        self.assertEqual(ended.code, 1, ended.out)
        self.assertIn("--strict: output 'y' passes only because it is ill-conditioned: κ = ",
                      ended.out + ended.err)
        self.assertIn("\nfailed: onnxrt", ended.out)
        self.assertNotIn("not done", ended.out)

    def test_a_fault_is_still_seen(self):
        self.save_difference("m.onnx")
        self.save_difference("bad.onnx", factor=1.03)
        ended, bound = self.judge("--runner", "good=onnxrt m.onnx", "--runner",
                                "bad=openvino bad.onnx")
        self.assertEqual(ended.code, 1, ended.out)
        self.assertGreater(bound["times_over"], 10)

    def test_what_passes_is_not_heard_again(self):
        self.save_model("m.onnx", "Sigmoid", (64, 64))
        ended, bound = self.judge("m.onnx", "--onnxrt", "--openvino")
        self.assertEqual(ended.code, 0, ended.out)
        self.assertEqual((bound["condition"], bound["bound"]), (1, bound["bound_before"]))

    def test_a_bound_wider_than_the_output_shows_nothing(self):
        self.save_model("m.onnx", "Sigmoid", (64, 64))
        words = ("run", "m.onnx", "--onnxrt", "--openvino", "--tolerance", "auto", "--val-range",
                 "[-24,-23]", "--save-record", "record.json")
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 0, ended.out)
        why = "the error bound is wider than the output"
        self.assertIn("PASSED, shows nothing: the error bound is wider than the output", ended.out)
        self.assertIn(f"; shows nothing: y ({why})", ended.out)
        record = json.loads(self.path("record.json").read_text(encoding="utf-8"))
        self.assertEqual(record["pairs"][0]["outputs"][0]["vacuous"], why)
        self.assertEqual(self.vernier(*words, "--strict").code, 1)

    def save_tokens(self, name, centred, factor=1.0, ids=TensorProto.INT64):
        """Tokens that are normalised: the variance is E[x^2] - E[x]^2, which cancels, or not."""
        table = 0.85 + 0.01 * np.random.default_rng(5).normal(size=(ROWS, WIDTH))
        mean = helper.make_node("ReduceMean", ["rows"], ["mean"], "mean", axes=[1])
        centre = helper.make_node("Sub", ["rows", "mean"], ["centre"], "centre")
        of = "centre" if centred else "rows"
        variance = [helper.make_node("Mul", [of, of], ["squares"], "squares"),
                    helper.make_node("ReduceMean", ["squares"], ["power"], "power", axes=[1])]
        if not centred:
            variance += [helper.make_node("Mul", ["mean", "mean"], ["m2"], "mean_square"),
                         helper.make_node("Sub", ["power", "m2"], ["variance"], "cancels")]
        whole = helper.make_node("Cast", ["ids"], ["places"], "places", to=TensorProto.INT64)
        nodes = [whole, helper.make_node("Gather", ["table", "places"], ["rows"], "rows"), mean,
                 centre,
                 *variance,
                 helper.make_node("Sqrt", ["power" if centred else "variance"], ["deviation"],
                                  "deviation"),
                 helper.make_node("Div", ["centre", "deviation"], ["normal"], "normal"),
                 helper.make_node("Mul", ["normal", "factor"], ["y"], "factor")]
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info("ids", ids, [ROWS])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS, WIDTH])],
            [numpy_helper.from_array(table.astype(np.float32), "table"),
             numpy_helper.from_array(np.float32(factor), "factor")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))
        return name

    def judge_tokens(self, factor=1.0, order="ab"):
        """Two models that are equal but for rounding, and the factor."""
        np.savez(self.path("ids.npz"), ids=np.arange(ROWS, dtype=np.int64))
        runners = {"a": f"a=onnxrt {self.save_tokens('a.onnx', False)}",
                   "b": f"b=onnxrt {self.save_tokens('b.onnx', True, factor)}"}
        return self.judge("--runner", runners[order[0]], "--runner", runners[order[1]],
                          "--load-inputs", "ids.npz")

    def judge_ids(self, factor):
        """Ids that arrive as floats, as Keras exports them, behind well-conditioned nodes."""
        np.savez(self.path("ids.npz"), ids=np.arange(1, ROWS + 1, dtype=np.float32) % ROWS)
        names = [self.save_tokens(f"{name}.onnx", True, by, TensorProto.FLOAT)
                 for name, by in (("a", 1.0), ("b", factor))]
        return self.judge("--runner", f"a=onnxrt {names[0]}", "--runner", f"b=onnxrt {names[1]}",
                          "--load-inputs", "ids.npz")

    def test_ids_that_arrive_as_floats_stay_the_ids_that_they_are(self):
        ended, bound = self.judge_ids(1.0005)
        self.assertEqual(ended.code, 1, ended.out)
        self.assertLess(bound["condition"], 30, "an id is not a rounding away from the one before")
        self.assertGreater(bound["times_over"], 1)

    def test_without_float_inputs_the_weights_are_moved(self):
        ended, bound = self.judge_tokens()
        self.assertGreater(bound["rms_error"], bound["bound_before"])
        self.assertEqual(ended.code, 0, ended.out)
        self.assertRegex(ended.out, r"PASSED, ill-conditioned: κ = \d+")
        self.assertGreater(bound["condition"], 8)

    def test_a_fault_without_float_inputs_is_seen(self):
        for order in ("ab", "ba"):
            with self.subTest(order):
                ended, bound = self.judge_tokens(1.03, order)
                self.assertEqual(ended.code, 1, ended.out)
                self.assertGreater(bound["times_over"], 1)

    def test_what_amplifies_rounding_may_be_the_second_runner(self):
        """The first sums so that nothing cancels, and its inputs move it by little."""
        _, first = self.judge_tokens()
        ended, bound = self.judge_tokens(order="ba")
        self.assertEqual(ended.code, 0, ended.out)
        self.assertRegex(ended.out, r"PASSED, ill-conditioned: κ = \d+")
        self.assertGreater(bound["condition"], 8)
        self.assertLess(bound["condition"], 1.5 * first["condition"])

    def test_randomness_is_no_condition(self):
        nodes = [helper.make_node("RandomNormalLike", ["x"], ["r"], "noise", scale=2e-3),
                 helper.make_node("Add", ["x", "r"], ["y"], "add")]
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [16, 16]) for n in "xy"]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("noise.onnx")))
        ended, bound = self.judge("noise.onnx", "--runner", "a=onnxrt", "--runner", "b=openvino")
        self.assertEqual(ended.code, 1, ended.out)
        self.assertIn(", a does not repeat itself on the same feed", bound["why"])
        self.assertEqual((bound["condition"], bound["bound"]), (1, bound["bound_before"]))

    def test_runners_that_take_turns_cannot_be_heard_again(self):
        ended, bound = self.judge(self.save_difference("m.onnx"), "--onnxrt", "--openvino",
                                "--sequential-runners")
        self.assertEqual(ended.code, 1, ended.out)
        self.assertEqual(bound["condition"], 1)


if __name__ == "__main__":
    unittest.main()
