"""TensorFlow's models where the Python has neither Keras nor tf2onnx."""

from script_case import ScriptCase


class WithoutTensorFlow(ScriptCase):
    def setUp(self):
        super().setUp()
        # A GraphDef of one node, and a file that only its name makes a Keras model.
        (self.folder / "graph.pb").write_bytes(b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder")
        (self.folder / "m.keras").write_bytes(b"PK\x03\x04")

    def test_keras(self):
        done = self.vernier("m.keras", "--tf", "--input-shapes", "x:[2,3]")
        self.assert_fails(done, 5, "has no module 'keras'", "-m pip install keras", "--python")

    def test_tf2onnx(self):
        done = self.vernier("graph.pb", "--onnxrt")
        self.assert_fails(done, 5, "has no module 'tf2onnx'", "-m pip install tf2onnx", "--python")

    def test_the_other_runners_go_on(self):
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "b=onnxrt graph.pb",
                            "--save-outputs", "out.json")
        self.assert_fails(done, 5, "has no module 'tf2onnx'")
        self.assertTrue((self.folder / "out.json").exists())
