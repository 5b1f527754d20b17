"""Records say which bytes a runner received."""

import json
import sys
import unittest

import onnx

from lint_models import model, node, value
from program import Case


class ReceivedBytes(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Relu", ["x"], ["y"])]), str(self.path("m.onnx")))

    def received(self, *words):
        ended = self.vernier("run", "m.onnx", "--save-record", "r.json", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        record = json.loads(self.path("r.json").read_text())
        return ended, [runner.get("received") for runner in record["runners"]]

    def test_runners_received_the_same_bytes(self):
        ended, received = self.received("--onnxrt", "--openvino", "-vv", "--iterations", "3")
        self.assertEqual(received[0], received[1])
        self.assertEqual(received[0]["iterations"], 3)
        (entry,) = received[0]["first_iteration"]
        self.assertEqual(entry["input"], "x")
        first = entry["xxh3_64"]
        self.assertRegex(first, "^[0-9a-f]{16}$")
        self.assertEqual(ended.out.count(f"Received bytes with XXH3: x {first}"), 2)

    def test_the_hash_follows_the_bytes(self):
        _, one = self.received("--onnxrt")
        _, again = self.received("--onnxrt")
        _, other = self.received("--onnxrt", "--seed", "5")
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)

    def test_large_inputs_in_shared_memory_too(self):
        onnx.save(model([node("Relu", ["x"], ["y"])], inputs=[value("x", (512, 1024))],
                        outputs=[value("y", (512, 1024))]), str(self.path("m.onnx")))
        _, received = self.received("--onnxrt", "--openvino")
        self.assertEqual(received[0], received[1])

    def test_scripts_tell_it_too_where_they_can(self):
        try:
            import ctypes
            ctypes.CDLL("libxxhash.so.0")
        except OSError:
            self.skipTest("no libxxhash.so.0 here")
        self.path("s.py").write_text("def infer(feed):\n    return {'y': feed['x']}\n")
        ended, received = self.received("--onnxrt", "--model-runner", "s.py", "--python",
                                        sys.executable, "--val-range", "[0,1]")
        self.assertEqual(received[0], received[1])


if __name__ == "__main__":
    unittest.main()
