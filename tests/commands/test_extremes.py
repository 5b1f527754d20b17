"""check extremes: what runners make of infinities, NaN, denormals and limits."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto

from index_models import FLOAT, gather
from lint_models import model, node, value, weight
from program import Case

FLUSHING = """
import numpy as np

def infer(feed):
    x = feed['x'].astype(np.float32)
    x = np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x)
    return {'y': np.nan_to_num(x) if GENTLE else x}
"""


class Extremes(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (2, 16))],
                        outputs=[value("y", (2, 16))]), str(self.path("m.onnx")))

    def check(self, *words):
        ended = self.vernier("check", "extremes", "m.onnx", "--save-record", "r.json", *words)
        if not self.path("r.json").exists():
            return ended, None
        return ended, json.loads(self.path("r.json").read_text())

    def script(self, gentle):
        self.path("other.py").write_text(f"GENTLE = {gentle}\n" + FLUSHING)
        return "--model-runner", "other.py", "--python", sys.executable

    def test_counts_what_came_out(self):
        ended, record = self.check("--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        rows = {answer["set"]: answer for answer in record["answers"]}
        self.assertEqual(list(rows), ["denormals", "zeros", "large", "nan", "inf"])
        self.assertEqual(rows["denormals"]["denormal"], 32)
        self.assertEqual(rows["zeros"]["zero"], 32)
        self.assertEqual(rows["nan"]["nan"], 2)
        self.assertEqual(rows["inf"]["infinite"], 2)
        self.assertEqual(rows["large"]["infinite"], 0)

    def test_flushed_denormals_are_told(self):
        words = ("--onnxrt", *self.script(False))
        ended, record = self.check(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        flushed = {a["set"]: a["flushed"] for a in record["answers"] if a["compared"]}
        self.assertEqual(flushed, {"denormals": 32, "zeros": 0, "large": 0, "nan": 0, "inf": 0})
        self.assertIn("32 denormals flushed to zero", ended.out)
        self.assertEqual(self.check(*words, "--strict")[0].code, 1)

    def test_finite_on_one_side_only_is_a_mismatch(self):
        ended, record = self.check("--onnxrt", *self.script(True), "--sets", "nan", "inf")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        others = [a for a in record["answers"] if a["compared"]]
        self.assertEqual([(a["set"], a["only_here_finite"], a["output"]) for a in others],
                         [("nan", 2, "y"), ("inf", 2, "y")])
        self.assertFalse(record["agree"])
        self.assertIn("runners differ in what is finite with: inf, nan", ended.out + ended.err)

    def test_every_element_is_held_against_its_own_whatever_the_types(self):
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (2, 1600))],
                        outputs=[value("y", (2, 1600))]), str(self.path("m.onnx")))
        self.path("other.py").write_text(
            "import numpy as np\ndef infer(feed):\n    y = feed['x'].astype('f8')\n"
            "    y.flat[[1023, 1024, 3199]] = np.nan, np.inf, 1\n    return {'y': y}\n")
        ended, record = self.check("--onnxrt", "--model-runner", "other.py", "--python",
                                   sys.executable, "--sets", "zeros")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        [zeros] = [a for a in record["answers"] if a["compared"]]
        self.assertEqual(zeros["compared"], 3200)
        self.assertEqual(zeros["only_here_not_finite"], 2)
        self.assertEqual(zeros["other_value"], 1)
        self.assertEqual(zeros["only_here_finite"], 0)
        self.assertEqual(zeros["output"], "y")

    def test_a_runner_that_fails_with_a_set_is_told_and_the_others_go_on(self):
        self.path("other.py").write_text(
            "import numpy as np\ndef infer(feed):\n"
            "    if np.isnan(feed['x']).any():\n        raise ValueError('no NaN, please')\n"
            "    return {'y': feed['x']}\n")
        ended, record = self.check("--onnxrt", "--model-runner", "other.py", "--python",
                                   sys.executable)
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        failed = [a["set"] for a in record["answers"] if a["failure"]]
        self.assertEqual(failed, ["nan"])
        self.assertEqual(len(record["answers"]), 10)
        self.assertIn("no NaN, please", ended.out + ended.err)

    def scripts(self, **bodies):
        words = []
        for name, text in bodies.items():
            script = f"import numpy as np\ndef infer(feed):\n    {text}\n"
            self.path(f"{name}.py").write_text(script)
            words += ["--runner", f"{name}={name}.py"]
        return (*words, "--python", sys.executable)

    def test_integers_and_booleans_are_held_exactly(self):
        large = "np.full(3, 2**62, 'i8')"
        words = self.scripts(
            a=f"return {{'y': feed['x'], 'k': np.isnan(feed['x']), 'n': {large}}}",
            b=f"return {{'y': feed['x'], 'k': np.zeros((2, 16), bool), 'n': {large} + 1}}")
        ended, record = self.check(*words, "--sets", "nan", "zeros")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        others = {a["set"]: (a["compared"], a["other_exact"])
                  for a in record["answers"] if a["beside"]}
        self.assertEqual(others, {"nan": (67, 5), "zeros": (67, 3)})
        self.assertIn("5 different integers, booleans or strings", ended.out)
        self.assertIn("runners differ in integers, booleans or strings with: nan, zeros (a "
                      "failure with --strict only)", ended.out + ended.err)
        self.assertEqual(self.check(*words, "--sets", "nan", "--strict")[0].code, 1)

    def test_outputs_without_floats_are_compared_too(self):
        words = self.scripts(a="return {'y': np.arange(3)}",
                             b="return {'y': np.arange(3, dtype='i4')}")
        ended, record = self.check(*words, "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual({a["compared"] for a in record["answers"] if a["beside"]}, {3})

    def test_nan_for_infinity_is_a_difference(self):
        words = self.scripts(a="return {'y': feed['x']}",
                             b="return {'y': np.where(np.isinf(feed['x']), np.nan, feed['x'])}")
        ended, record = self.check(*words, "--sets", "inf")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual([a["other_kind"] for a in record["answers"]], [0, 2])
        self.assertIn("runners differ in what is NaN, Inf or -Inf with: inf", ended.out + ended.err)
        self.assertEqual(self.check(*words, "--sets", "inf", "--strict")[0].code, 1)

    def test_zeros_of_the_other_sign_are_told(self):
        words = self.scripts(a="return {'y': feed['x']}", b="return {'y': -feed['x']}")
        ended, record = self.check(*words, "--sets", "zeros", "--strict")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual([a["other_sign"] for a in record["answers"]], [0, 32])
        self.assertIn("32 zeros of the opposite sign", ended.out)

    def test_the_summary_says_what_was_compared(self):
        body = "return {'y': feed['x'], 'z': np.zeros(4, 'f4')}"
        ended, record = self.check(*self.scripts(a=body, b=body), "--sets", "large", "nan")
        self.assertIn("compared 2 outputs, 72 elements in all; shows nothing with any set: "
                      "z (all elements are zero)", ended.out)
        self.assertEqual((record["outputs"], record["shows_nothing"]),
                         (2, [{"output": "z", "why": "all elements are zero"}]))
        ended, _ = self.check("--onnxrt")
        self.assertIn("compared nothing: fewer than two runners answered", ended.out)

    def test_a_set_that_no_input_takes_is_told(self):
        f8 = TensorProto.FLOAT8E4M3FN
        onnx.save(model([node("Identity", ["x"], ["y"])], inputs=[value("x", (3,), f8)],
                        outputs=[value("y", (3,), f8)], opset=19, ir=9), str(self.path("m.onnx")))
        ended, record = self.check("--onnxrt", "--sets", "nan", "inf")
        self.assertEqual((ended.code, record["not_tried"]), (4, ["inf"]), ended.out + ended.err)
        self.assertIn("not tried, as no input's type has such values: inf", ended.out + ended.err)
        ended, record = self.check("--onnxrt")
        self.assertEqual((ended.code, record["not_tried"]), (0, ["inf"]), ended.out + ended.err)
        ended, record = self.check("--onnxrt", "--sets", "inf")
        self.assertEqual((ended.code, record["answers"]), (4, []), ended.out + ended.err)

    def test_another_runner_is_first_where_the_first_fails(self):
        words = []
        for name, body in {"bad": "raise ValueError('never')", "a": "return {'y': feed['x']}",
                           "b": "return {'y': feed['x']}"}.items():
            self.path(f"{name}.py").write_text(f"def infer(feed):\n    {body}\n")
            words += ["--runner", f"{name}={name}.py"]
        ended, record = self.check(*words, "--python", sys.executable, "--sets", "zeros")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertEqual([(a["runner"], a["beside"]) for a in record["answers"]],
                         [("bad", None), ("a", None), ("b", "a")])
        self.assertIn("the same (beside a)", ended.out)

    def test_other_finite_values_are_told(self):
        self.path("other.py").write_text("def infer(feed):\n    return {'y': feed['x'] / 4}\n")
        words = ("--onnxrt", "--model-runner", "other.py", "--python", sys.executable)
        ended, record = self.check(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        others = {a["set"]: a["other_value"] for a in record["answers"] if a["compared"]}
        self.assertEqual((others["large"], others["nan"], others["zeros"]), (32, 30, 0))
        self.assertIn("32 finite, but different", ended.out)
        self.assertIn("differ in finite values (by more than 1 %) with: inf, large, nan",
                      ended.out + ended.err)
        self.assertEqual(self.check(*words, "--strict")[0].code, 1)

    def test_outputs_that_are_no_tensors_are_told(self):
        sequence = onnx.helper.make_tensor_sequence_value_info("s", FLOAT, None)
        onnx.save(model([node("SequenceConstruct", ["x"], ["s"]), node("Neg", ["x"], ["y"])],
                        inputs=[value("x", (2, 16))], outputs=[sequence, value("y", (2, 16))]),
                  str(self.path("m.onnx")))
        ended, record = self.check("--onnxrt", "--sets", "zeros")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("outputs that were not examined: s", ended.out + ended.err)
        self.assertEqual(record["answers"][0]["not_compared"], ["s"])

    def test_outputs_and_inputs_without_elements_are_no_pass(self):
        onnx.save(model([node("Relu", ["x"], ["y"])], inputs=[value("x", ("n", 4))],
                        outputs=[value("y", ("n", 4))]), str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt", "--input-shapes", "x:[0,4]")
        self.assertEqual(ended.code, 4)
        self.assertIn("the inputs of floating-point types have no elements", ended.out + ended.err)
        onnx.save(model([node("Slice", ["x", "zero", "zero"], ["y"])], inputs=[value("x", (4,))],
                        outputs=[value("y", None)], weights=[weight("zero", np.array([0]))]),
                  str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("no output has an element", ended.out + ended.err)

    def test_a_model_without_floats_has_nothing_to_try(self):
        onnx.save(gather(), str(self.path("m.onnx")))
        ended, _ = self.check("--onnxrt")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("nothing was tried", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
