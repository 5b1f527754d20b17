"""--BACKEND.OPTION=VALUE: options of plug-ins that have no flags of their own."""

import unittest

from program import Case


class PluginOptions(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx")

    def run_with(self, *words):
        return self.vernier("run", "m.onnx", *words)

    def test_reach_the_plugin(self):
        self.assertEqual(self.run_with("--identity", "--identity.device=cpu").code, 0)
        ended = self.run_with("--identity", "--identity.device=moon")
        self.assertNotEqual(ended.code, 0)
        self.assertIn("--identity.device: expected one of cpu, cuda, got 'moon'", ended.err)

    def test_by_the_word_of_the_runner_or_the_name_of_the_plugin(self):
        for name in ("onnxrt", "onnxruntime"):
            ended = self.run_with("--onnxrt", f"--{name}.graph_optimization_level=NO_SUCH")
            self.assertNotEqual(ended.code, 0)
            self.assertIn("got 'NO_SUCH'", ended.err)

    def test_inside_of_a_runner(self):
        ended = self.run_with("--identity", "--runner", "b=identity --identity.device=moon")
        self.assertIn("got 'moon'", ended.err)
        self.assertNotEqual(ended.code, 0)

    def test_unknown_ones_are_told(self):
        ended = self.run_with("--identity", "--identity.nosuch=1")
        self.assertEqual(ended.code, 2)
        self.assertIn("--identity.nosuch: the backend has no such option; it has: device", ended.err)
        ended = self.run_with("--identity", "--openvino.device=CPU")
        self.assertEqual(ended.code, 2)
        self.assertIn("no runner of this run has the backend 'openvino'", ended.err)
        ended = self.run_with("--identity", "--identity.device")
        self.assertEqual(ended.code, 2)


if __name__ == "__main__":
    unittest.main()
