"""--devices: what names no device, and what cannot be placed on one, is refused in one sentence."""

import json
import unittest

from program import Case


class Devices(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx")

    def run_on(self, devices, *words):
        return self.vernier("run", "m.onnx", "--onnxrt", "--devices", devices, *words)

    def names(self):
        """Those of the devices of this machine."""
        probed = self.vernier("gpu-probe")
        return probed.out.split("), ")[:-1] if probed.code == 0 else []

    def test_words_that_are_no_devices_are_quoted(self):
        for devices, expected in (("gpu0", "got 'gpu0'"), ("cuda:0,1", "got '1'"), ("", "got ''"),
                                  ("all,cuda:0", "got 'all'"), ("cuda:0,cuda:0", "named twice")):
            ended = self.run_on(devices)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("--devices: ", ended.err)
            self.assertIn(expected, ended.err)

    def test_what_cannot_be_placed_is_refused(self):
        for words, expected in ((("--in-process",), "--in-process: a device"),
                                (("--env", "CUDA_VISIBLE_DEVICES=0"), "both choose devices"),
                                (("--sequential-runners",), "--sequential-runners: only one"),
                                (("--parallel",), "--parallel: it lets runners")):
            ended = self.run_on("all", *words)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("--devices cannot go with ", ended.err)
            self.assertIn(expected, ended.err)

    def test_a_device_that_is_not_there_is_named(self):
        there = self.names()
        ended = self.run_on("cuda:4095", "--save-record", "r.json")
        self.assertEqual(ended.code, 2 if there else 5, ended.out + ended.err)
        expected = "there is no cuda:4095; there is cuda:0" if there else "CUDA"
        self.assertIn("--devices: ", ended.err)
        self.assertIn(expected, ended.err)
        record = json.loads(self.path("r.json").read_text(encoding="utf-8"))
        self.assertEqual((record["complete"], record["exit_code"]), (False, ended.code))
        self.assertIn("--devices", record["error"])

    def test_all_are_those_that_the_driver_has(self):
        count = len(self.names())
        ended = self.run_on("all", "--iterations", 4, "--save-record", "r.json")
        self.assertEqual(ended.code, 0 if count else 5, ended.out + ended.err)
        if count:
            self.assertIn(f"cuda:{count - 1} is ", ended.out)
            record = json.loads(self.path("r.json").read_text(encoding="utf-8"))
            self.assertEqual(record["runners"][0]["iterations"], 4)


if __name__ == "__main__":
    unittest.main()
