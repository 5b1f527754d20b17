"""Models that keep their state inside: it is reset before each feed, or each sequence (--reset)."""

import json
import re
import sys
import textwrap
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.comparator import RunResults
from polygraphy.json import load_json

from program import Case

PORT = '<port id="{}" precision="FP32"{}><dim>1</dim><dim>4</dim></port>'
# Of OpenVINO: id, type, version, attributes, how many inputs, the name of the output.
LAYERS = [(0, "Parameter", 1, 'shape="1,4" element_type="f32"', 0, "x"),
          (1, "Const", 1, 'element_type="f32" shape="1, 4" offset="0" size="16"', 0, ""),
          (2, "ReadValue", 6, 'variable_id="sum" variable_type="dynamic" variable_shape="..."', 1,
           ""),
          (3, "Add", 1, 'auto_broadcast="numpy"', 2, "y"),
          (4, "Assign", 6, 'variable_id="sum"', 1, ""), (5, "Result", 1, "", 1, None)]
# Layer and port at both ends.
EDGES = [(0, 0, 3, 1), (1, 0, 2, 0), (2, 1, 3, 0), (3, 2, 4, 0), (3, 2, 5, 0)]

SCRIPT = """
    class Sum:
        def __init__(self):
            self.total = 0.0

        def {method}(self):
            self.total = 0.0

        def infer(self, feed):
            self.total = self.total + feed["x"]
            return {{"y": self.total}}

    def load(path):
        return Sum()
    """


FUNCTION = """
total = 0.0

def infer(feed):
    global total
    total = total + feed["x"]
    return {"y": total}
"""


def write_ir(path, opened=False):
    """y is the sum of all x so far, in OpenVINO's own format. `opened`: x has any size."""
    lines = ['<?xml version="1.0"?>', '<net name="sum" version="11">', "<layers>"]
    for number, kind, version, attributes, inputs, name in LAYERS:
        takes = "".join(PORT.format(i, "") for i in range(inputs))
        named = f' names="{name}"' if name else ""
        gives = "" if name is None else f"<output>{PORT.format(inputs, named)}</output>"
        lines.append(f'<layer id="{number}" name="{name or kind}" type="{kind}" '
                     f'version="opset{version}">' + (f"<data {attributes} />" if attributes else "")
                     + (f"<input>{takes}</input>" if takes else "") + gives + "</layer>")
    lines += ["</layers>", "<edges>"]
    for layer, port, to_layer, to_port in EDGES:
        lines.append(f'<edge from-layer="{layer}" from-port="{port}" to-layer="{to_layer}" '
                     f'to-port="{to_port}" />')
    text = "\n".join([*lines, "</edges>", "</net>"])
    if opened:
        text = text.replace('shape="1,4"', 'shape="1,?"', 1).replace("<dim>4</dim>",
                                                                     "<dim>-1</dim>", 1)
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(bytes(16))


class StateInside(Case):
    def run_sum(self, *words, code=0):
        ended = self.vernier("run", *words, "--python", sys.executable, "--iterations", "2",
                             "--save-inputs", "i.json", "--save-outputs", "o.json")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def sums(self):
        """What came of each iteration, and the inputs."""
        ((_, iterations),) = RunResults.load(str(self.path("o.json")))
        return [i["y"] for i in iterations], [f["x"] for f in load_json(str(self.path("i.json")))]

    def assert_begins_anew(self, *words, shapes=("--input-shapes", "x:[1,{}]")):
        """Each feed, and each sequence of steps."""
        self.run_sum(*words, *(word.format(4) for word in shapes))
        made, given = self.sums()
        self.assertEqual(len(made), 2)
        for y, x in zip(made, given):
            np.testing.assert_array_equal(y, x)
        self.run_sum(*words, "--steps", "3", "--step-slice", "x:axis=1,size=4",
                     *(word.format(12) for word in shapes))
        made, given = self.sums()
        self.assertEqual((len(given), len(made)), (2, 6))
        for sequence, whole in enumerate(given):
            total = np.zeros((1, 4), "f4")
            for step in range(3):
                total = total + whole[:, 4 * step:4 * step + 4]
                np.testing.assert_allclose(made[3 * sequence + step], total, rtol=1e-6)

    def write(self, name, text):
        self.path(name).write_text(textwrap.dedent(text), encoding="utf-8")

    def test_variables_of_openvino(self):
        write_ir(self.path("sum.xml"))
        self.assert_begins_anew("sum.xml", "--openvino", shapes=())

    def test_variables_of_a_model_that_leaves_sizes_open(self):
        write_ir(self.path("sum.xml"), opened=True)
        self.assert_begins_anew("sum.xml", "--openvino")
        for words in (("--steps", "2", "--step-slice", "x:axis=1,size=3"), ()):
            ended = self.vernier("run", "sum.xml", "--openvino", "--input-shapes", "x:[1,6]",
                                 *words)
            self.assertEqual(ended.code, 6, ended.out + ended.err)
            self.assertNotIn("not an ONNX model", ended.out + ended.err)
        ended = self.vernier("run", "sum.xml", "--openvino", "--input-shapes", "x:[1,4]",
                             "--openvino-shapes", "static")
        self.assertNotEqual(ended.code, 0)
        self.assertIn("--openvino-shapes static: only ONNX models can be compiled for other sizes "
                      "than their own", ended.out + ended.err)

    def test_a_model_of_openvino_that_is_not_there(self):
        ended = self.vernier("run", "missing.xml", "--openvino")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("'missing.xml' cannot be read: No such file or directory",
                      ended.out + ended.err)

    def test_an_object_with_reset_states(self):
        self.write("sum.py", SCRIPT.format(method="reset_states"))
        self.assert_begins_anew("--model-runner", "sum.py")

    def test_the_method_that_is_named(self):
        self.write("sum.py", SCRIPT.format(method="begin"))
        words = ("--runner", "a=sum.py")
        self.assert_begins_anew(*words, "--reset", "a:begin")
        self.assert_begins_anew(*words, "--reset", "begin")
        # Nobody knows of it without: then the state is what the script makes of it.
        self.run_sum(*words, "--input-shapes", "x:[1,4]")
        made, given = self.sums()
        np.testing.assert_allclose(made[1], given[0] + given[1], rtol=1e-6)

    def test_what_has_no_method_is_opened_again(self):
        """For each sequence, as soon as steps show that it keeps something."""
        named = SCRIPT.format(method="begin").replace(
            "def infer", 'input_metadata = {"x": ("float32", (1, 4))}\n\n        def infer')
        for text in (SCRIPT.format(method="begin"), FUNCTION, named):
            with self.subTest(text):
                self.write("sum.py", text)
                ended = self.run_sum("--model-runner", "sum.py", "--steps", "3", "--step-slice",
                                     "x:axis=1,size=4", "--input-shapes", "x:[1,12]")
                self.assertIn("has no method reset_states: it is opened again before each "
                              "sequence", ended.out + ended.err)
                made, given = self.sums()
                for sequence, whole in enumerate(given):
                    total = np.zeros((1, 4), "f4")
                    for step in range(3):
                        total = total + whole[:, 4 * step:4 * step + 4]
                        np.testing.assert_allclose(made[3 * sequence + step], total, rtol=1e-6)

    def test_a_module_beside_the_script_is_opened_again_too(self):
        self.write("kept.py", "total = 0.0\n")
        self.write("sum.py", """
            import kept

            def infer(feed):
                kept.total = kept.total + feed["x"]
                return {"y": kept.total}
            """)
        self.run_sum("--model-runner", "sum.py", "--steps", "3", "--step-slice",
                     "x:axis=1,size=4", "--input-shapes", "x:[1,12]")
        made, given = self.sums()
        for sequence, whole in enumerate(given):
            np.testing.assert_allclose(made[3 * sequence], whole[:, :4], rtol=1e-6)

    def test_a_slow_opening_is_told_once(self):
        for seconds, seen in ((0.2, 1), (0, 0)):
            self.write("sum.py", f"import time\ntime.sleep({seconds})\n" + FUNCTION)
            ended = self.run_sum("--model-runner", "sum.py", "--steps", "3", "--step-slice",
                                 "x:axis=1,size=4", "--input-shapes", "x:[1,12]")
            said = ended.out + ended.err
            self.assertEqual(len(re.findall(r" \| Opening the model took 0\.\d+ s, and "
                                            r"each sequence opens it again; a method "
                                            r"reset_states avoids that",
                                            said)), seen, said)

    def test_a_function_beside_a_function(self):
        self.write("sum.py", """
            total = 0.0

            def reset_states():
                global total
                total = 0.0

            def infer(feed):
                global total
                total = total + feed["x"]
                return {"y": total}
            """)
        self.assert_begins_anew("--model-runner", "sum.py")

    def test_against_a_network_that_is_fed_back(self):
        self.write("sum.py", SCRIPT.format(method="reset_states"))
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
                  for name in ("x", "h", "y", "hn")]
        nodes = [helper.make_node("Add", ["x", "h"], ["y"]),
                 helper.make_node("Identity", ["y"], ["hn"])]
        onnx.save(helper.make_model(helper.make_graph(nodes, "g", values[:2], values[2:]),
                                    opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  str(self.path("m.onnx")))
        ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner", "b=sum.py",
                             "--python", sys.executable, "--iterations", "2", "--steps", "4",
                             "--feed-back", "auto", "--step-slice", "x:axis=1",
                             "--map-outputs", "hn=", "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (pair,) = json.loads(self.path("r.json").read_text(encoding="utf-8"))["pairs"]
        self.assertEqual([(o["name"], o["time"]["steps"]) for o in pair["outputs"]], [("y", 8)])
        for state in ("reference", "cross"):
            ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner", "b=sum.py",
                                 "--python", sys.executable, "--steps", "4", "--feed-back", "auto",
                                 "--step-slice", "x:axis=1", "--map-outputs", "hn=", "--state",
                                 state)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"--state {state}: b keeps its state inside", ended.out + ended.err)
        ended = self.vernier("blame", "--runner", "a=onnxrt m.onnx", "--runner", "b=sum.py",
                             "--python", sys.executable, "--steps", "4", "--feed-back", "a:auto",
                             "--step-slice", "x:axis=1")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("blame over steps: b keeps its state inside", ended.out + ended.err)
        self.assertNotIn("own error of", ended.out + ended.err)

    def test_the_checks_reset_it_too(self):
        words = ("check", "consistency", "--model-runner", "sum.py", "--python", sys.executable,
                 "--input-shapes", "x:[1,4]", "--only", "repeated-runs", "read-only-inputs")
        self.write("sum.py", SCRIPT.format(method="reset_states"))
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.write("sum.py", SCRIPT.format(method="begin"))  # nobody knows of it
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("FAILED | repeated-runs | ", ended.out + ended.err)

    def fresh_session(self, script, code):
        self.write("sum.py", script)
        ended = self.vernier("check", "consistency", "--model-runner", "sum.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,4]", "--only",
                             "repeated-runs", "fresh-session")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertIn("PASSED | repeated-runs | ", ended.out + ended.err)
        return ended.out + ended.err

    def test_a_reset_that_does_not_restore_the_first_state_is_found(self):
        whole = SCRIPT.format(method="reset_states")
        self.assertIn("PASSED | fresh-session | 2 more processes, the same bits",
                      self.fresh_session(whole, 0))
        before, after = whole.split("def reset_states")
        said = self.fresh_session(before + "def reset_states" + after.replace("0.0", "0.5"), 1)
        self.assertIn("FAILED | fresh-session | ", said)
        self.assertIn("a session that was not reset before its first inference", said)

    def test_a_state_that_the_reset_makes_is_no_fault(self):
        whole = SCRIPT.format(method="reset_states")
        said = self.fresh_session(whole.replace("self.total = 0.0", "pass", 1), 0)
        self.assertIn("PASSED | fresh-session | 1 more process, the same bits; the first state "
                      "comes from the reset itself: the first inference fails without it (", said)
        self.assertIn("no attribute 'total'", said)

    def test_a_run_goes_on_with_the_whole_of_a_sequence(self):
        whole = SCRIPT.format(method="reset_states")
        words = ("run", "--runner", "a=sum.py", "--python", sys.executable, "--input-shapes",
                 "x:[1,20]", "--steps", "5", "--step-slice", "x:axis=1,size=4", "--iterations", "2",
                 "--save-outputs")
        self.write("sum.py", whole)
        self.assertEqual(self.vernier(*words, "whole.json").code, 0)
        self.write("sum.py", whole.replace("def infer(self, feed):", """def infer(self, feed):
            Sum.calls = getattr(Sum, "calls", 0) + 1
            assert Sum.calls < 8"""))
        ended = self.vernier(*words, "o.npz")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.write("sum.py", whole)
        ended = self.vernier(*words, "o.npz", "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("saved iterations: a: 7", ended.out + ended.err)
        ended = self.vernier("compare", "whole.json", "o.npz", "--atol", "0", "--rtol", "0")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_a_step_that_cannot_be_read_is_made_again_with_its_sequence(self):
        self.write("sum.py", """
            import os, signal
            calls = 0
            total = 0.0
            fatal = os.path.join(os.path.dirname(__file__), "fatal")

            def reset_states():
                global total
                total = 0.0

            def infer(feed):
                global calls, total
                calls += 1
                if os.path.exists(fatal) and calls == 13:
                    os.kill(os.getppid(), signal.SIGKILL)
                total = total + feed["x"]
                return {"y": total}
            """)
        words = ("run", "--runner", "a=sum.py", "--python", sys.executable, "--input-shapes",
                 "x:[1,20]", "--steps", "5", "--step-slice", "x:axis=1,size=4", "--iterations", "3",
                 "--save-outputs")
        self.assertEqual(self.vernier(*words, "whole.json").code, 0)
        self.write("fatal", "")
        ended = self.vernier(*words, "o.safetensors")
        self.assertEqual(ended.code, -9, ended.out + ended.err)
        self.path("fatal").unlink()
        parts = self.path("o.safetensors.partial")
        lines = [json.loads(line) for line in (parts / "journal.jsonl").read_text().splitlines()]
        (begin,) = (line["begin"] for line in lines if line.get("iteration") == 7)
        content = bytearray((parts / "tensors.part").read_bytes())
        content[begin + 1] ^= 1
        (parts / "tensors.part").write_bytes(content)
        ended = self.vernier(*words, "o.safetensors", "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("what cannot be read is made again", ended.out + ended.err)
        ended = self.vernier("compare", "whole.json", "o.safetensors", "--atol", "0", "--rtol", "0")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_what_cannot_be_reset_is_refused(self):
        self.write("sum.py", SCRIPT.format(method="reset_states"))
        self.save_model("m.onnx")
        python = ("--runner", "a=sum.py", "--input-shapes", "x:[1,4]", "--python", sys.executable)
        onnxrt = ("--runner", "b=onnxrt m.onnx")
        for words, said in (
                ((*python, "--reset", "begin"), "has no method 'begin'"),
                ((*python, "--reset", "c:begin"), "--reset c:begin: there is no runner 'c'"),
                ((*python, "--reset", "a:"), "--reset a:: expected [RUNNER:]METHOD, and '' is no"),
                ((*python, "--reset", "be-gin"), "--reset be-gin: expected [RUNNER:]METHOD"),
                ((*python, "--reset", "a:x", "a:y"), "--reset a:y: 'a' has a method already"),
                ((*python, *onnxrt, "--reset", "b:begin"),
                 "--reset b:begin: 'b' is not TorchScript or Python"),
                ((*onnxrt, "--reset", "begin"), "--reset begin: no runner is TorchScript or "
                                                "Python")):
            with self.subTest(words=words):
                ended = self.vernier("run", *words)
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(said, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
