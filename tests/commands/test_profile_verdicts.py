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
        found = self.judge(*pair, code=0)
        self.assertTrue(found["passed"])
        self.assertEqual(found["types_differ"], ["y (int64 against float64)"])
        self.assertIn("; types differ: y (int64 against float64))", self.said)
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


    def test_a_sequence_that_the_reference_alone_makes_is_no_pass(self):
        y = helper.make_tensor_sequence_value_info("y", FLOAT, None)
        x, z = (helper.make_tensor_value_info(n, FLOAT, [2]) for n in "xz")
        nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["y"]),
                 helper.make_node("Relu", ["x"], ["z"])]
        both, one = (helper.make_model(helper.make_graph(nodes[2 - len(made):], "g", [x], made),
                                       ir_version=8,
                                       opset_imports=[helper.make_opsetid("", 17)])
                     for made in ([y, z], [z]))
        found = self.judge(both, one, "--report", "p.xml", code=4)
        self.assertFalse(found["compared"])
        self.assertIn("no counterpart of ['y[]', 'y[0]', 'y[1]']", found["why"])
        report = self.path("p.xml").read_text()
        self.assertIn("not compared: no counterpart of", report)
        self.assertEqual(report.count("not compared: "), 1)  # of the candidate alone
        self.assertTrue(self.judge(both, one, "--lenient", code=0)["passed"])

    def test_the_worst_output_is_one_that_failed(self):
        u, v, x = (helper.make_tensor_value_info(n, FLOAT, [4, 8]) for n in "uvx")
        first = [helper.make_node("Identity", ["x"], ["u"]),
                 helper.make_node("Identity", ["x"], ["v"])]
        second = [helper.make_node("Neg", ["x"], ["u"]),
                  helper.make_node("Add", ["x", "little"], ["v"])]
        little = helper.make_tensor("little", FLOAT, [1], [5e-6])
        found = self.judge(
            *(helper.make_model(helper.make_graph(nodes, "g", [x], [u, v], constants),
                                ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
              for nodes, constants in ((first, []), (second, [little]))),
            "--compare", "simple", "cosine_similarity", "--rtol", "0", "--atol", "u:100", "v:7e-6",
            code=1)
        self.assertEqual((found["failed"], found["worst_output"]), (1, "u"))
        self.assertIn("output 'u': cosine_similarity is", found["why"])

    def test_a_perceptual_distance_is_measured_as_in_run(self):
        image = helper.make_tensor_value_info("x", FLOAT, [1, 3, 64, 64])
        out = helper.make_tensor_value_info("y", FLOAT, [1, 3, 64, 64])
        made = helper.make_model(
            helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [image], [out]),
            ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        self.hide_packages("torch", "lpips")
        found = self.judge(made, made, "--compare", "perceptual_metrics", code=4)
        ran = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                           "--compare", "perceptual_metrics")
        reason = found["why"].split("perceptual_metrics: ")[1]
        self.assertIn(reason.splitlines()[0], ran.out + ran.err)


if __name__ == "__main__":
    unittest.main()
