"""The trained networks under tract, against ONNX Runtime, and ONNX's backend tests."""

import os
import subprocess
import unittest

import backend_suite
import networks

# What tract 0.23.9 says of those that it cannot run.
REFUSED = {
    "silero_vad": "compiling the model: Failed analyse for node #5 \"If_0\" If: .*: Attempt to "
                  "squeeze an axis which dimension is not one",
    "silero_vad_16k_op15": "compiling the model: Translating node #105 \"/model/decoder/If\" If "
                           "ToTypedTranslator: .*(1,128,F32 vs 1,128,1,F32)",
}


def run(network, *words):
    return subprocess.run([os.environ["VERNIER"], "run", network.path, "--onnxrt", "--tract",
                           *network.words, *words], capture_output=True, text=True, check=False,
                          timeout=300, env={**os.environ, "NO_COLOR": "1"})


class Networks(unittest.TestCase):
    def test_agree_with_onnxruntime(self):
        for network in networks.NETWORKS:
            if network.name in REFUSED:
                continue
            with self.subTest(network.name):
                done = run(network, "--tolerance", "auto")
                self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def test_are_refused_where_branches_differ_in_rank(self):
        named = {network.name: network for network in networks.NETWORKS}
        for name, words in REFUSED.items():
            with self.subTest(name):
                done = run(named[name])
                self.assertEqual(done.returncode, 6, done.stdout[-3000:])
                self.assertRegex(done.stdout + done.stderr, words.replace("(1,", r"\(1,").replace(
                    "F32)", r"F32\)"))


class BackendTests(unittest.TestCase):
    def test_all(self):
        lines, passed = backend_suite.deviations(os.environ["VERNIER"], "tract")
        self.assertEqual(lines, [], "\n".join(lines))
        self.assertGreater(passed, 800)


if __name__ == "__main__":
    unittest.main()
