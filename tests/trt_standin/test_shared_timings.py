"""Timings that builds share, with the stand-in for TensorRT: in one command, and over commands.

    As test_standin.py.
"""

import json
import os
import unittest
import unittest.mock

from test_standin import CONFIG, StandIn

BUILD = "IBuilder.buildSerializedNetwork()"


class Folders(StandIn):
    def test_a_folder_of_timings_has_a_file_for_the_release_and_the_device(self):
        printed, seen = self.vernier("run conv.onnx --trt --timing-cache-dir kept "
                                     "--save-record r.json")
        self.assertNotIn("ITimingCache.combine(true)", seen)
        [file] = [path for path in self.path("kept").iterdir() if path.suffix == ".timings"]
        self.assertRegex(file.name, r"^tensorrt-10\.[0-9.]+-[A-Za-z0-9._-]+\.timings$")
        self.assertIn(f"Saving timing cache to {file}", printed)
        engine = json.loads(self.path("r.json").read_text())["runners"][0]["engine"]
        self.assertIn({"setting": "Timing cache", "value": str(file)}, engine["config"])
        _, seen = self.vernier("run matmul.onnx --trt --timing-cache-dir kept")
        self.assert_told(seen, ["ITimingCache.combine(true)", "IBuilder.buildSerializedNetwork()"])
        self.assertEqual(file.read_text().split("\n")[1:-1],
                         ["conv", "first", "pool", "relu", "second", "tanh"])

    def test_the_folder_among_the_caches_of_the_user(self):
        for variable, folder in (("XDG_CACHE_HOME", "vernier"), ("HOME", ".cache/vernier")):
            with self.subTest(variable):
                home = self.path(variable)
                changed = {"XDG_CACHE_HOME": "", variable: str(home)}
                with unittest.mock.patch.dict(os.environ, changed):
                    self.vernier("run conv.onnx --trt --timing-cache-dir auto")
                self.assertTrue(list((home / folder).glob("tensorrt-*.timings")))
        with unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": "", "HOME": ""}):
            printed, _ = self.vernier("run conv.onnx --trt --timing-cache-dir auto", code=2)
        self.assertIn("neither XDG_CACHE_HOME nor HOME names a folder", printed)


class Searches(StandIn):
    """Its engines make zeros of all but a whole copy: what is to blame is beside the point."""

    def test_engines_share_timings_and_are_counted_beforehand(self):
        printed, seen = self.vernier("blame identity.onnx --onnxrt --trt", code=1)
        self.assertEqual(seen.count(BUILD), 3)
        self.assertIn("TensorRT builds at least 3 engines for this search", printed)
        self.assertRegex(printed, r"The first engine took [0-9.e-]+ s; about 2 more are built, "
                                  "for 1 batch of layers")
        # The layers alone have a worker of their own, which takes over what the other one measured;
        # the second build of one worker has it already.
        self.assertEqual(seen.count("ITimingCache.combine(true)"), 1)
        self.assertEqual(seen.count(CONFIG + "createTimingCache(false)"), 2)
        self.assertNotIn("Saving timing cache", printed)

    def test_a_run_and_its_search_share_them_too(self):
        printed, seen = self.vernier("run conv.onnx --onnxrt --trt --blame", code=1)
        self.assertIn("for this search, which share the timings of kernels", printed)
        first, second, *_ = [i for i, line in enumerate(seen) if line == BUILD]
        self.assertIn("ITimingCache.combine(true)", seen[first:second])

    def test_the_folder_of_the_user_takes_the_place_of_the_command_s_own(self):
        self.vernier("blame identity.onnx --onnxrt --trt --timing-cache-dir kept", code=1)
        [file] = self.path("kept").glob("*.timings")
        self.assertIn("copy", file.read_text())

    def test_without_tensorrt_nothing_is_said_of_engines(self):
        printed, _ = self.vernier("blame identity.onnx --onnxrt --onnxrt")
        self.assertNotIn("TensorRT builds", printed)


if __name__ == "__main__":
    unittest.main()
