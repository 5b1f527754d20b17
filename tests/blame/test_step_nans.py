"""blame over steps where both sides give the same NaN at some step."""

import sys
import textwrap
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case, blame

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "data"))
from causal_models import causal_model, empty_caches  # noqa: E402


def counter(path, wrong=0.0):
    """nN = n + 1, an integer; y = x + nN, and `wrong` more where nN is 10, at step 9."""
    nodes = [helper.make_node("Add", ["n", "one"], ["nN"], name="count"),
             helper.make_node("Cast", ["nN"], ["f"], name="cast", to=TensorProto.FLOAT),
             helper.make_node("Equal", ["nN", "ten"], ["is_ten"], name="is_ten"),
             helper.make_node("Where", ["is_ten", "wrong", "zero"], ["more"], name="choose"),
             helper.make_node("Add", ["f", "more"], ["sum"], name="sum"),
             helper.make_node("Add", ["x", "sum"], ["y"], name="total")]
    info = {n: helper.make_tensor_value_info(n, kind, shape) for n, kind, shape in (
        ("x", TensorProto.FLOAT, [1, 2]), ("n", TensorProto.INT64, [1, 1]),
        ("y", TensorProto.FLOAT, [1, 2]), ("nN", TensorProto.INT64, [1, 1]))}
    constants = {"one": np.array([[1]], "i8"), "ten": np.array([[10]], "i8"),
                 "wrong": np.float32([[wrong]]), "zero": np.float32([[0]])}
    graph = helper.make_graph(nodes, "g", [info["x"], info["n"]], [info["y"], info["nN"]],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


class StepNans(Case):
    def search(self, wrong, code):
        counter("good.onnx")
        counter("bad.onnx", wrong)
        x = np.ones((24, 2), "f4")
        x[3] = x[5:8] = np.nan
        np.savez("x.npz", x=x)
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--step-slice",
                             "x:axis=0,size=1", "--feed-back", "nN:n")
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, code, said)
        self.assertIn("steps 3, 5-7 of sequence 0: all elements of output 'y' are the same NaN "
                      "or infinities on both sides, so nothing of it was compared",
                      " ".join(found["notes"]))
        return said, found

    def test_a_later_step_that_is_wrong_is_named(self):
        said, found = self.search(0.5, 1)
        step = found["at_step"]
        self.assertEqual((step["step"], step["output"], step["wrong_by_itself"]), (9, "y", True))
        self.assertIn(found["culprits"][0]["node"], ("choose", "sum", "total"), said)

    def test_an_output_that_some_steps_lack_is_no_pass(self):
        """Not at the step whose layers are looked at, which are the same on both sides."""
        counter("good.onnx")
        with open("lacks.py", "w", encoding="utf-8") as script:
            script.write(textwrap.dedent("""
                def infer(feed):
                    outputs = {"nN": feed["n"] + 1}
                    if outputs["nN"][0, 0] not in (8, 9):
                        outputs["y"] = feed["x"] + outputs["nN"].astype("f4")
                    return outputs
                """))
        np.savez("x.npz", x=np.ones((24, 2), "f4"))
        ended, found = blame(self.folder.name, "good.onnx", "--onnxrt", "--model-runner",
                             "lacks.py", "--python", sys.executable, "--load-inputs", "x.npz",
                             "--step-slice", "x:axis=0,size=1", "--feed-back", "nN:n")
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 4, said)
        self.assertIn("1 output has no counterpart, first at step 7 of sequence 0",
                      " ".join(found["notes"]), said)
        self.assertNotIn("--lenient", " ".join(found["notes"]))  # no option of blame

    def test_nan_on_one_side_alone_is_called_so(self):
        """One element at one step, which the side does not give when it is fed that step again."""
        counter("good.onnx")
        with open("once.py", "w", encoding="utf-8") as script:
            script.write(textwrap.dedent("""
                import numpy as np

                calls = 0

                def infer(feed):
                    global calls
                    calls += 1
                    next_n = feed["n"] + 1
                    y = feed["x"] + next_n.astype("f4")
                    if calls in (5, 17):  # step 4 of each run of 12 steps
                        y[0, 1] = np.nan
                    return {"nN": next_n, "y": y}
                """))
        np.savez("x.npz", x=np.ones((12, 2), "f4"))
        ended, found = blame(self.folder.name, "good.onnx", "--onnxrt", "--model-runner",
                             "once.py", "--python", sys.executable, "--load-inputs", "x.npz",
                             "--step-slice", "x:axis=0,size=1", "--feed-back", "nN:n")
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 1, said)
        self.assertEqual(found["at_step"]["not_finite"], "NaN", said)
        self.assertIn("output 'y' is NaN on one side alone at step 4 of sequence 0", said)
        self.assertIn("does not repeat itself, or keeps a state that --feed-back does not show",
                      said)
        self.assertNotIn("small errors of many layers", said)

    def test_all_outputs_of_a_step_are_named(self):
        for name in ("good.onnx", "bad.onnx"):
            counter(name)
            model = onnx.load(name)
            model.graph.node.append(helper.make_node("Neg", ["y"], ["z"], name="neg"))
            model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT,
                                                                    [1, 2]))
            onnx.save(model, name)
        x = np.ones((12, 2), "f4")
        x[3] = np.nan
        np.savez("x.npz", x=x)
        _, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         "new=onnxrt bad.onnx", "--load-inputs", "x.npz", "--step-slice",
                         "x:axis=0,size=1", "--feed-back", "nN:n")
        for output in ("y", "z"):
            self.assertIn(f"step 3 of sequence 0: all elements of output '{output}' are the same "
                          "NaN", " ".join(found["notes"]))

    def test_prompts_that_part_at_once_are_advised_to_what_blame_has(self):
        model = causal_model(None)
        onnx.save(model, "good.onnx")
        for node in model.graph.node:
            node.output[:] = ["finite" if name == "logits" else name for name in node.output]
        model.graph.initializer.append(numpy_helper.from_array(np.float32(np.nan), "nan"))
        model.graph.node.append(helper.make_node("Add", ["finite", "nan"], ["logits"], name="bad"))
        onnx.save(model, "bad.onnx")
        ids = np.array([[9, 2, 6, 5, 3]])
        np.savez("prompt.npz", input_ids=ids, attention_mask=np.ones_like(ids),
                 position_ids=np.arange(5)[None], **empty_caches())
        ended, _ = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                         "new=onnxrt bad.onnx", "--load-inputs", "prompt.npz", "--steps", "6",
                         "--decode", "greedy", "--feed-back", "auto", "--advance",
                         "position_ids:+1", "attention_mask:append 1")
        said = ended.stdout + ended.stderr
        self.assertIn("was compared: add --tokens to compare the steps after it", said)

    def test_without_a_fault_nothing_is_blamed(self):
        said, found = self.search(0.0, 4)
        self.assertEqual(found["culprits"], [])
        # 4 steps show nothing of y.
        self.assertIn("Not finished: at 4 of 24 steps an output was not compared: it is the same "
                      "NaN or infinities on both sides", said)
        self.assertNotIn("Nothing is to blame", said)


if __name__ == "__main__":
    unittest.main()
