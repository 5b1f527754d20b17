"""--torch, where torch is not installed, and with a stand-in for it."""

import zipfile

from script_case import ScriptCase

FAKE_TORCH = """
    import contextlib
    import types
    import numpy as np
    __version__ = "0"
    inference_mode = contextlib.nullcontext
    cuda = types.SimpleNamespace(is_available=lambda: False)
    class Tensor(np.ndarray):
        def to(self, device):
            return self
    def from_numpy(array):
        return array.view(Tensor)
    class Script:
        forward = types.SimpleNamespace(schema=types.SimpleNamespace(arguments=[
            types.SimpleNamespace(name="self"),
            types.SimpleNamespace(name="x", has_default_value=lambda: False)]))
        def eval(self): return self
        def parameters(self): return []
        def to(self, device): return self
        def __call__(self, x):
            return np.maximum(x, 0) + x, x
    jit = types.SimpleNamespace(ScriptModule=Script, load=lambda path, map_location: Script())
    """


class Torch(ScriptCase):
    def setUp(self):
        super().setUp()
        with zipfile.ZipFile(self.folder / "m.pt", "w") as archive:
            archive.writestr("m/constants.pkl", b"")
            archive.writestr("m/code/__torch__.py", b"")

    def test_without_it(self):
        done = self.vernier("m.pt", "--torch", "--input-shapes", "x:[2,3]")
        self.assert_fails(done, 5, "has no module 'torch'", "-m pip install torch", "--python")

    def test_a_file_that_does_not_exist_is_named_first(self):
        done = self.vernier("missing.pt", "--torch", "--input-shapes", "x:[2,3]")
        self.assert_fails(done, 3, "'missing.pt' does not exist")
        self.assertNotIn("has no module", done.out + done.err)

    def test_inputs_of_the_other_runner(self):
        (self.folder / "packages").mkdir()
        self.write("packages/torch.py", FAKE_TORCH)
        env = {"PYTHONPATH": str(self.folder / "packages")}
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "script=torch m.pt", "--lenient",
                            env=env)
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 2 outputs", done.out)
        (self.folder / "m.pt").write_bytes(b"a pickle, maybe")
        done = self.vernier("m.pt", "--torch", "--input-shapes", "x:[2,3]", env=env)
        self.assert_fails(done, 3, "m.pt' is not a file that torch writes")
