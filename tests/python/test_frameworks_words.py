"""Of a framework's message the line that says what is wrong is shown first."""

import re

import onnx
from onnx import TensorProto, helper

from script_case import ScriptCase


class FrameworksWords(ScriptCase):
    def test_the_line_that_says_what_is_wrong_comes_first(self):
        for said, cause in (
                ("Exception from src/inference/src/cpp/core.cpp:84:\\n"
                 "Check 'false' failed at src/frontends/report.cpp:151:\\n"
                 "No conversion rule found for operations: my.dom.Foo\\n\\n",
                 "No conversion rule found for operations: my.dom.Foo"),
                ("The following operation failed in the TorchScript interpreter.\\n"
                 "Traceback of TorchScript (most recent call last):\\n  x.mm(w)\\n"
                 "RuntimeError: mat1 and mat2 shapes cannot be multiplied\\n",
                 "mat1 and mat2 shapes cannot be multiplied"),
                ("Graph execution error:\\n\\nDetected at node add defined at\\n"
                 "Incompatible shapes: [2,3] vs. [4,3]\\n\\t [[{{node add}}]] [Op:__inference_f_9]",
                 "Incompatible shapes: [2,3] vs. [4,3]"),
                ("the first\\nthe second", "the first")):
            with self.subTest(cause=cause):
                self.write("model.py", f"""
                    def infer(feed):
                        raise RuntimeError("{said}")
                    """)
                done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.out + done.err, "model: FAILED, .*model.py:infer: "
                                 "RuntimeError: " + re.escape(cause))

    def test_of_openvinos_plug_in_too(self):
        node = helper.make_node("Foo", ["x"], ["y"], domain="my.dom", name="foo")
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "xy"]
        graph = helper.make_graph([node], "g", values[:1], values[1:])
        versions = [helper.make_opsetid("", 17), helper.make_opsetid("my.dom", 1)]
        onnx.save(helper.make_model(graph, opset_imports=versions, ir_version=8),
                  self.folder / "foo.onnx")
        done = self.vernier("foo.onnx", "--openvino")
        self.assertEqual(done.code, 6, str(done))
        self.assertRegex(done.out, "  openvino: FAILED, reading the model: .*No "
                         "conversion rule found for operations: my.dom.Foo\n")
        self.assertNotIn("Exception from", done.out + done.err)
        self.assertNotIn(".cpp:", done.out + done.err)
