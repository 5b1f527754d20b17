"""vernier profile, with backends that need no framework and, where they are there, real ones.

    VERNIER=path/to/vernier python3 -m unittest test_profile
"""

import json
import pathlib
import unittest

from page_file import data_of
from program import Case

DIGITS = pathlib.Path(__file__).parents[2] / "examples" / "digits.onnx"


class Profile(Case):
    def profile(self, *words, code=0):
        ended = self.vernier("profile", *words, "--save-profile", "profile.json")
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        self.said = ended.stdout + ended.stderr
        return json.loads(self.path("profile.json").read_text())["profile"]

    def test_every_runner_with_every_set_of_shapes(self):
        points = self.profile(DIGITS, "--onnxrt", "--openvino", "--runs", "12", "--input-shapes",
                              "image:[{1,3},1,8,8]")["points"]
        self.assertEqual([(point["shapes"], point["batch"]) for point in points],
                         [("image:[1,1,8,8]", 1)] * 2 + [("image:[3,1,8,8]", 3)] * 2)
        for point in points:
            latency = point["latency_seconds"]
            self.assertEqual(latency["count"], 12)
            order = [latency[name] for name in ("min", "median", "p90", "p95", "p99", "max")]
            self.assertEqual(order, sorted(order))
            self.assertGreater(latency["min"], 0)
            self.assertAlmostEqual(point["per_second"], point["batch"] / latency["mean"])
            self.assertGreater(point["peak_memory_bytes"], 1 << 20)
            self.assertEqual(point["warm_ups"], 5)

    def test_a_backend_that_tells_no_times(self):
        point, = self.profile(DIGITS, "--identity", "--runs", "10", "--report", "o.html")["points"]
        self.assertEqual(point["layers"], [])
        self.assertIn("identity", point["layers_missing"])
        self.assertEqual(point["per_second"], 0)
        self.assertIn("reports no times", self.said)

    def test_what_computes_something_else_is_seen(self):
        profile = self.profile(DIGITS, "--onnxrt", "--runner",
                               f"fp16=onnxrt {DIGITS.with_name('digits_fp16.onnx')}", "--runs", "10", code=1)
        exact, other = profile["points"]
        self.assertFalse(exact["accuracy"]["compared"])
        self.assertFalse(other["accuracy"]["passed"])
        self.assertGreater(other["accuracy"]["times_over_tolerance"], 1)
        self.assertIn("DIFFERS", self.said)
        self.profile(DIGITS, "--onnxrt", "--runner", f"fp16=onnxrt {DIGITS.with_name('digits_fp16.onnx')}",
                     "--runs", "10", "--atol", "0.1", code=0)

    def test_an_output_without_a_counterpart_is_no_match(self):
        self.assertEqual(self.vernier("run", DIGITS, "--onnxrt", "--onnx-outputs", "logits",
                                      "--save-onnx", "fewer.onnx").returncode, 0)
        first, second = (DIGITS, "--onnxrt"), ("--runner", "b=onnxrt fewer.onnx")
        for words in ((*first, *second), (DIGITS, *second, "--onnxrt")):
            points = self.profile(*words, "--runs", "10", "--no-layer-times", code=4)["points"]
            self.assertFalse(points[1]["accuracy"]["compared"])
            self.assertIn("no counterpart of ['probabilities']", self.said)

    def test_layers_of_both_runtimes(self):
        points = self.profile(DIGITS, "--onnxrt", "--openvino", "--runs", "10")["points"]
        for point in points:
            times = [layer["seconds"] for layer in point["layers"]]
            self.assertGreater(len(times), 3, point["layers_missing"])
            self.assertEqual(times, sorted(times, reverse=True))
            self.assertGreater(sum(times), 0)
            self.assertTrue(all(layer["name"] and layer["type"] for layer in point["layers"]))
        points = self.profile(DIGITS, "--onnxrt", "--runs", "10", "--no-layer-times")["points"]
        self.assertEqual(points[0]["layers"], [])

    def test_measuring_layers_is_announced_and_ends_with_the_time_that_was_given(self):
        for words, count in ((["--duration", "1e-6"], "1 inference,"),
                             (["--runs", "3"], "3 inferences,"),
                             (["--duration", "2"], "10 inferences,")):
            self.profile(DIGITS, "--onnxrt", *words)
            self.assertIn("Measuring layers with image:[1,1,8,8]", self.said)
            self.assertRegex(self.said,
                             rf"Layers measured in {count} [0-9.e-]+ s; --no-layer-times")
        self.profile(DIGITS, "--onnxrt", "--runs", "3", "--no-layer-times")
        self.assertNotIn("Measuring layers", self.said)

    def test_shapes_that_a_model_refuses_do_not_end_the_others(self):
        points = self.profile(DIGITS, "--onnxrt", "--runs", "10", "--no-layer-times", "--input-shapes",
                              "image:[1,{2,1},8,8]", code=3)["points"]
        self.assertEqual([bool(point["failure"]) for point in points], [True, False])
        self.assertIn("FAILED", self.said)

    def test_what_makes_no_sense_is_refused_before_anything_runs(self):
        for words, seen in ((("--input-shapes", "image:[{1,2]"), "braces"),
                            (("--input-shapes", "image:{1,2}"), "--input-shapes"),
                            (("--runs", "0"), "--runs"), (("--duration", "-1"), "--duration"),
                            (("--warm-up", "-1"), "--warm-up")):
            ended = self.vernier("profile", DIGITS, "--identity", *words)
            self.assertEqual(ended.returncode, 2, words)
            self.assertIn(seen, ended.stdout + ended.stderr)
        self.assertIn("runner", self.vernier("profile", DIGITS).stderr)

    def test_reports(self):
        self.profile(DIGITS, "--onnxrt", "--runs", "10", "--report", "o.html", "--report", "o.md",
                     "--report", "o.xml", "--report", "o.jsonl")
        self.assertIn("| image:", self.path("o.md").read_text().replace("\\", ""))
        self.assertIn('testsuite name="profile"', self.path("o.xml").read_text())
        kinds = [json.loads(line)["kind"] for line in self.path("o.jsonl").read_text().splitlines()]
        self.assertEqual(kinds.count("profile"), 1)
        self.assertIn("profile", data_of(self.path("o.html").read_text())["record"])


if __name__ == "__main__":
    unittest.main()
