"""vernier blame of an ONNX model beside the same network as PyTorch has it."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

from torch_case import CLEAN, PLACES, PYTHON, TorchCase, VERNIER

SHAPES = ["--input-shapes", "x:[16,6]", "bias:[3]"]
# TorchScript and the export of it have no names in common.
FORMS = ("net.pt", "traced.pt")


class BlameCase(TorchCase):
    def blame(self, model, script, *words):
        done = self.start([VERNIER, "blame"],
                          ["--runner", f"onnx=onnxrt {model}", "--runner", f"script=torch {script}",
                           "--save-blame", "blame.json", *words], python=PYTHON, env=CLEAN)
        found = self.folder / "blame.json"
        self.record = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
        return done


class Blame(BlameCase):
    def setUp(self):
        super().setUp()
        self.write_twin()

    def spoil(self, name):
        """faulty.onnx: one row of the weight is zero."""
        model = onnx.load(self.folder / "twin.onnx")
        weight = next(w for w in model.graph.initializer if w.name == name)
        values = numpy_helper.to_array(weight).copy()
        values[0] = 0
        weight.CopyFrom(numpy_helper.from_array(values, name))
        onnx.save(model, self.folder / "faulty.onnx")

    def test_a_sound_pair_has_no_culprit(self):
        for form in FORMS:
            with self.subTest(form):
                done = self.blame("twin.onnx", f"{form} --torch-outputs y p", *SHAPES)
                self.assertEqual(done.code, 0, str(done))
                self.assertIn("Nothing is to blame", done.out)
                paired = {pair["candidate"] for pair in self.record["tensor_pairs"]}
                self.assertEqual(paired, {"h", "r", "g", "y", "p"})

    def test_a_fault_has_its_layer(self):
        for form in FORMS:
            for weight, output in (("fc1.weight", "h"), ("fc2.weight", "g")):
                with self.subTest(form, weight=weight):
                    self.spoil(weight)
                    done = self.blame("faulty.onnx", f"{form} --torch-outputs y p", *SHAPES)
                    self.assertEqual(done.code, 1, str(done))
                    first = self.record["culprits"][0]
                    self.assertEqual((first["op_type"], first["outputs"]), ("Gemm", [output]),
                                     str(done))
                    self.assertIn("the reference's tensor is 'linear_", first["why"])

    @unittest.skipIf(PLACES == ["python"], "needs the TorchScript plug-in")
    def test_the_plug_in_hands_out_outputs_alone(self):
        done = self.blame("twin.onnx", "net.pt --torch-outputs y p --torch-in plugin", *SHAPES)
        self.assertIn("exposes no inner tensors", done.out)
        self.assertEqual(done.code, 0, str(done))


class Marks(TorchCase):
    def test_inner_tensors_of_a_script(self):
        outputs = self.outputs("net.pt", "--torch", "--torch-in", "python", *SHAPES,
                               "--torch-outputs", "y", "p", "--onnx-outputs", "mark", "all")
        weights = np.load(self.folder / "net.npz")
        inner = [value for name, value in outputs.items() if name not in ("y", "p")]
        self.assertGreater(len(inner), 2)
        self.assertTrue(any(value.shape == (16, len(weights["fc1.bias"])) for value in inner))
        np.testing.assert_array_equal(outputs["y.1"], outputs["y"])

    def test_an_unknown_tensor_is_named(self):
        done = self.run_torch("net.pt", "--torch", "--torch-in", "python", *SHAPES,
                              "--onnx-outputs", "nosuch")
        self.assertNotEqual(done.code, 0, str(done))
        self.assertIn("nothing is called 'nosuch'", done.out + done.err)


class Trained(BlameCase):
    def test_silero(self):
        """A script with branches; its state and the last samples are kept inside."""
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "trained"))
        import networks
        network = next(n for n in networks.NETWORKS if n.name == "silero_vad_16k_op15")
        feed = networks.feed(network)
        feed["input"][:, :64] = 0
        feed["state"][...] = 0
        np.savez(self.folder / "feed.npz", **feed)
        done = self.blame(network.path, network.path.with_name("silero_vad.jit"), "--load-inputs",
                          "feed.npz", "--map-inputs", "script:x=input[:,64:]", "script:state=",
                          "--map-outputs", "script:stateN=")
        self.assertGreater(len(self.record["tensor_pairs"]), 5, str(done))
        self.assertEqual(self.record["culprits"], [], str(done))


if __name__ == "__main__":
    unittest.main()
