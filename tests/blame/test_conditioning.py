"""What rounding does where inputs cancel is nobody's fault."""

import json
import unittest
from pathlib import Path

import onnx

from onnx import TensorProto, helper

from models import cancelling, centred, offset
from program import Case, blame


class Conditioning(Case):
    def test_a_mean_that_cancels_is_not_blamed(self):
        onnx.save(cancelling(), "good.onnx")
        ended, found = blame(self.folder.name, "good.onnx", "--onnxrt", "--openvino")
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)
        mean = next(layer for layer in found["layers"] if layer["node"] == "mean")
        self.assertIn("condition number", mean["outputs"][0]["bound_why"])

    def test_a_fault_before_it_is_first(self):
        onnx.save(cancelling(), "good.onnx")
        onnx.save(cancelling(scale=1.01), "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=openvino bad.onnx", "--reference", "gold")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["project"])

    def test_an_output_that_cancels_does_not_excuse_the_one_beside_it(self):
        onnx.save(centred(), "good.onnx")
        onnx.save(centred(scale=1.0001), "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx", "--reference", "gold")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["again"])
        outputs = {tensor["name"]: tensor for tensor in found["layers"][-1]["outputs"]}
        self.assertEqual(outputs["y"]["condition"], 1, outputs)
        self.assertGreater(outputs["y"]["own_error"], 10, outputs)

    def test_a_model_that_amplifies_rounding_says_so(self):
        onnx.save(offset(), "model.onnx")
        ended, found = blame(self.folder.name, "model.onnx", "--onnxrt", "--openvino")
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)
        self.assertGreater(found["condition"], 8)
        self.assertIn("amplifies rounding", ended.stdout)

    def test_a_search_that_goes_on_knows_what_was_amplified(self):
        onnx.save(offset(), "model.onnx")
        words = ["model.onnx", "--onnxrt", "--openvino", "--max-host-mem", "1K", "--resume", "s.json"]
        blame(self.folder.name, *words)
        state = json.loads(Path("s.json").read_text())
        self.assertEqual(state["layers"].pop()["node"], "tanh")
        Path("s.json").write_text(json.dumps(state))
        ended, found = blame(self.folder.name, *words)
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)

    def test_randomness_is_no_condition(self):
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [8, 8]) for n in "xy"]
        nodes = [helper.make_node("RandomUniformLike", ["x"], ["r"], "noise"),
                 helper.make_node("Add", ["x", "r"], ["y"], "add")]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), "noise.onnx")
        ended, found = blame(self.folder.name, "noise.onnx", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["noise"])
        self.assertNotIn("amplifies rounding", ended.stdout)


if __name__ == "__main__":
    unittest.main()
