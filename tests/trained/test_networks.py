"""The trained networks are there, and take the inputs that networks.py has for them."""

import base64
import hashlib
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

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def fetch(self, *listed, **environment):
        (self.folder / "list.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-B", networks.ROOT / "scripts/trained-networks.py", "--list",
             self.folder / "list.txt", "--into", self.folder / "trained"],
            capture_output=True, text=True, check=False,
            env={"PIP_CONFIG_FILE": "/dev/null", "PATH": "/usr/bin:/bin",
                 **(environment or {"PIP_NO_INDEX": "1"})})

    STAMP = f"no-such-network==1.0.0 {64 * '0'} *"

    def test_wheel_that_cannot_be_had_is_named_in_one_sentence(self):
        done = self.fetch(self.STAMP)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("the wheel no-such-network==1.0.0", done.stderr)

    def test_without_a_network_one_wheel_is_enough(self):
        done = self.fetch(self.STAMP, self.STAMP, PIP_INDEX_URL="http://127.0.0.1:9/")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("its server cannot be reached; when there is a network, type the same ",
                      done.stderr)

    def test_what_is_not_sealed_or_not_as_it_was_sealed_is_fetched_again(self):
        place = self.folder / "trained" / "no-such-network-1.0.0"
        place.mkdir(parents=True)
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"model").digest()).decode().strip("=")
        lines = f"{self.STAMP}\nsha256={digest} m.onnx"
        cut = self.STAMP
        sealed, of_none, cut_short = (f"{hashlib.sha256(text.encode()).hexdigest()} {shown}"
                                      for text, shown in ((lines, lines), (cut, cut), (lines, cut)))
        for complete, content, code in (
                (sealed, "model", 0), (sealed, "mod", 1), (sealed, "mode1", 1),
                (sealed, "model", 0), (lines, "model", 1), (of_none, "model", 1),
                (cut_short, "model", 1), (sealed + "\n", "model", 1), ("", "model", 1)):
            (place / ".complete").write_text(complete, encoding="utf-8")
            (place / "m.onnx").write_text(content, encoding="utf-8")
            done = self.fetch(self.STAMP)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        (place / ".complete").write_text(sealed, encoding="utf-8")
        (place / "planted.onnx").touch()
        self.assertEqual(self.fetch(self.STAMP).returncode, 1)

    def test_a_proxy_that_does_not_work_is_told(self):
        done = self.fetch(self.STAMP, PIP_INDEX_URL="https://host.invalid/",
                          https_proxy="http://127.0.0.1:9")
        self.assertRegex(done.stderr, "the proxy does not let it through .*Connection refused")

    def test_what_is_there_is_left_alone(self):
        done = subprocess.run([sys.executable, "-B", networks.ROOT / "scripts/trained-networks.py"],
                              capture_output=True, text=True, check=False,
                              env={"PIP_NO_INDEX": "1", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stdout), (0, "all there\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
