"""vernier profile judges the outputs of each pair as vernier run does."""

import json
import unittest

import onnx
from onnx import TensorProto, helper

from program import Case

FLOAT, INT64, DOUBLE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE


def model(operator, kind=FLOAT):
    """One operator, then the type that is asked for."""
    inputs = ["x", "x"] if operator in ("Add", "Sub") else ["x"]
    nodes = [helper.make_node(operator, inputs, ["r"]),
             helper.make_node("Cast", ["r"], ["y"], to=kind)]
    x, y = (helper.make_tensor_value_info(n, k, [2, 4]) for n, k in (("x", FLOAT), ("y", kind)))
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)])


class ProfileVerdicts(Case):
    def judge(self, first, second, *words, code):
        """The accuracy of the second model, with the exit code that run has, too."""
        onnx.save(first, str(self.path("a.onnx")))
        onnx.save(second, str(self.path("b.onnx")))
        runners = ["--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx"]
        ran = self.vernier("run", *runners, *words)
        self.assertEqual(ran.code, code, ran.out + ran.err)
        ended = self.vernier("profile", *runners, *words, "--runs", "10", "--no-layer-times",
                             "--save-profile", "p.json")
        self.said = ended.out
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return json.loads(self.path("p.json").read_text())["profile"]["points"][1]["accuracy"]

    def test_a_changed_type_fails_where_that_is_asked_for(self):
        pair = model("Floor", INT64), model("Floor", DOUBLE)
        self.assertTrue(self.judge(*pair, code=0)["passed"])
        for word in ("--same-type", "--strict"):
            found = self.judge(*pair, word, code=1)
            self.assertEqual((found["passed"], found["failed"]), (False, 0))
            self.assertEqual(found["why"], "output 'y' is float64, and int64 in the reference")
            self.assertIn("FAILED, output 'y' is float64", self.said)
            self.assertIn("1 measurement fails against a: output 'y' is float64", self.said)
            self.judge(pair[0], pair[0], "--same-type", code=0)

    def test_agreement_that_shows_nothing_fails_by_strict(self):
        zeros = model("Sub")
        self.assertEqual(self.judge(zeros, zeros, code=0)["vacuous"], 1)
        self.assertIn("1 shows nothing", self.said)
        found = self.judge(zeros, zeros, "--strict", code=1)
        self.assertIn("--strict: output 'y' shows nothing: all elements are zero", found["why"])

    def test_every_metric_names_its_number(self):
        pair = model("Abs"), model("Add")
        found = self.judge(*pair, "--compare", "l2", code=1)
        self.assertRegex(found["why"], r"^output 'y': l2 is [0-9.]+, the threshold is 1e-05$")
        self.assertIn("DIFFERS, output 'y': l2 is", self.said)
        self.assertTrue(self.judge(*pair, "--compare", "l2", "--l2-tolerance", "100",
                                   code=0)["passed"])
        found = self.judge(*pair, code=1)
        self.assertRegex(found["why"], r"^output 'y': [0-9.e+]+ times over tolerance$")

    def test_a_metric_that_does_not_apply_is_not_verified(self):
        negative = model("Neg")
        found = self.judge(negative, negative, "--compare", "kl_divergence", code=4)
        self.assertFalse(found["compared"])
        self.assertIn("NOT VERIFIED, output 'y': kl_divergence: the KL divergence does not apply",
                      self.said)
        self.assertNotIn("DIFFERS", self.said)

    def test_an_output_that_is_no_tensor_is_compared(self):
        y = helper.make_tensor_sequence_value_info("y", FLOAT, None)
        x, z = (helper.make_tensor_value_info(n, FLOAT, [2]) for n in "xz")
        nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["y"]),
                 helper.make_node("Relu", ["x"], ["z"])]
        both = helper.make_model(helper.make_graph(nodes, "g", [x], [y, z]), ir_version=8,
                                 opset_imports=[helper.make_opsetid("", 17)])
        self.assertTrue(self.judge(both, both, code=0)["passed"])
        self.assertTrue(self.judge(both, both, "--lenient", code=0)["passed"])


if __name__ == "__main__":
    unittest.main()
