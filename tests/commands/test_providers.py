"""--providers: what ONNX Runtime runs where is told. The provider of Azure is in every release and
takes no node of ordinary models: it stands for any that leaves all to the CPU."""

import json
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

from program import Case
from surgeon_models import model, node, value


class Providers(Case):
    def setUp(self):
        super().setUp()
        made = model([node("MatMul", ["x", "w"], ["h"], name="product"),
                      node("Sigmoid", ["h"], ["y"], name="gate")],
                     [value("x", (4, 8))], [value("y", (4, 3))],
                     [numpy_helper.from_array(np.ones((8, 3), np.float32), "w")])
        onnx.save(made, str(self.path("m.onnx")))

    def run_with(self, *providers, code=0):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--providers", *providers, "--save-record",
                             "r.json", "--iterations", "2")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def device(self):
        (runner,) = json.loads(self.path("r.json").read_text())["runners"]
        return runner["device"]

    def test_a_provider_that_runs_nothing_is_told(self):
        for words in (["azure"], ["AzureExecutionProvider", "cpu"]):
            ended = self.run_with(*words)
            self.assertIn("[W] --providers: no node of the model runs on AzureExecutionProvider: "
                          "2 on CPUExecutionProvider", ended.out)
            self.assertEqual(self.device(), "CPU")

    def test_the_cpu_alone_is_not_worth_a_word(self):
        ended = self.run_with("cpu")
        self.assertNotIn("--providers: ", ended.out)
        self.assertNotIn("ONNX Runtime runs", ended.out)
        self.assertEqual(self.device(), "CPU")

    def test_what_runs_first_is_told_beside_it(self):
        ended = self.run_with("cpu", "azure")
        self.assertIn("ONNX Runtime runs all 2 nodes on CPUExecutionProvider", ended.out)

    def test_one_that_is_not_there(self):
        ended = self.run_with("cuda", code=2)
        self.assertIn("Requested provider was: cuda, but available providers are: [", ended.err)


if __name__ == "__main__":
    unittest.main()
