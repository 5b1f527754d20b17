"""--compare perceptual_metrics, with stand-ins for torch and lpips, which are not here."""

import numpy as np

from script_case import ScriptCase

FAKE_TORCH = """
    import contextlib
    import numpy as np
    class Tensor(np.ndarray):
        pass
    def from_numpy(array):
        assert array.flags.c_contiguous
        return array.view(Tensor)
    def device(name):
        assert name == "cpu"
        return name
    no_grad = contextlib.nullcontext
    """
# The distance is the mean absolute difference of what arrives, from -1 to 1.
FAKE_LPIPS = """
    import numpy as np
    class LPIPS:
        def __init__(self, net, version):
            assert (net, version) == ("alex", "0.1")
        def to(self, device):
            return self
        def eval(self):
            return self
        def __call__(self, a, b):
            assert a.shape == b.shape and a.shape[1] == 3 and a.ndim == 4, a.shape
            assert a.min() >= -1 and a.max() <= 1
            np.save("seen.npy", np.asarray(a))
            return np.abs(a - b).mean(axis=(1, 2, 3))
    """


class Perceptual(ScriptCase):
    def images(self, shape, difference, scale=1):
        """Two saved runs of one output each."""
        generator = np.random.default_rng(3)
        image = generator.random(shape).astype(np.float32) * 0.5 * np.float32(scale)
        for name, array in (("a", image), ("b", image + np.float32(difference))):
            np.savez(self.folder / f"{name}.npz", **{f"{name}/0000000000/image": array})
        return ["--load-outputs", "a.npz", "b.npz", "--compare", "perceptual_metrics"]

    def packages(self):
        folder = self.folder / "packages"
        folder.mkdir()
        for name, text in (("torch", FAKE_TORCH), ("lpips", FAKE_LPIPS)):
            self.write(f"packages/{name}.py", text)
        return {"PYTHONPATH": str(folder)}

    def test_the_distance_is_held_against_the_threshold(self):
        env = self.packages()
        for shape in ((1, 3, 8, 9), (2, 1, 8, 9), (8, 9, 3), (4, 8, 9, 2)):
            words = self.images(shape, 0.25)
            with self.subTest(shape=shape):
                failed = self.vernier(*words, env=env)
                self.assertEqual(failed.code, 1, str(failed))
                # Twice the difference, since 0 to 1 becomes -1 to 1.
                self.assertRegex(failed.out, r"LPIPS: 0\.5 \(tolerance: 0\.1\) \| FAILED")
                passed = self.vernier(*words, "--lpips-threshold", "0.6", env=env)
                self.assertEqual(passed.code, 0, str(passed))

    def test_the_network_sees_three_channels_from_minus_one_to_one(self):
        env = self.packages()
        for shape, scale, channels in (
                ((8, 9, 3), 1, lambda x: x.transpose(2, 0, 1)[None]),
                ((3, 8, 9), 255, lambda x: x[None]),
                ((2, 1, 8, 9), 1, lambda x: x[:, [0, 0, 0]]),
                ((4, 8, 9, 2), 1, lambda x: x.transpose(0, 3, 1, 2)[:, [0, 1, 1]]),
                ((1, 5, 8, 9), 255, lambda x: x[:, :3])):
            with self.subTest(shape=shape, scale=scale):
                done = self.vernier(*self.images(shape, 0, scale), env=env)
                self.assertEqual(done.code, 0, str(done))
                image = np.load(self.folder / "a.npz")["a/0000000000/image"]
                np.testing.assert_allclose(np.load(self.folder / "seen.npy"),
                                           channels(image) / scale * 2 - 1, rtol=0, atol=1e-6)

    def test_without_the_packages_it_is_no_pass(self):
        done = self.vernier(*self.images((1, 3, 8, 9), 0))
        self.assertEqual(done.code, 4, str(done))
        self.assertIn("was not verified, and has not passed", done.out)
        self.assertRegex(done.out, r"cannot import '(torch|lpips)': '.*python.* -m pip install torch")
        done = self.vernier(*self.images((1, 3, 8, 9), 0), python="no-such-python")
        self.assertEqual(done.code, 4, str(done))
        self.assertIn("there is no program 'no-such-python'", done.out)

    def test_what_is_no_image_is_no_pass(self):
        done = self.vernier(*self.images((5, 4), 0), env=self.packages())
        self.assertEqual(done.code, 4, str(done))
        self.assertIn("LPIPS compares images", done.out)

    def test_a_network_that_cannot_be_loaded_is_no_pass(self):
        env = self.packages()
        self.write("packages/lpips.py", """
            def LPIPS(net, version):
                raise OSError("no weights here")
            """)
        done = self.vernier(*self.images((1, 3, 8, 9), 0), env=env)
        self.assertEqual(done.code, 4, str(done))
        self.assertIn("LPIPS cannot load its network: OSError: no weights here", done.out)
