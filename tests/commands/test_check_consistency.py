"""vernier check consistency: every property is held where it holds, and broken where it is."""

import json
import sys
import unittest

from program import Case

GOOD = "    return {'y': feed['x'] * 2}\n"
# A runner for each property that is broken, by what its `infer` does.
BROKEN = {
    "repeated-runs": "    COUNT[0] += 1\n    return {'y': feed['x'] * 2 + (COUNT[0] > 3)}\n",
    "fresh-session": "    import os\n    return {'y': feed['x'] * 0 + np.float32(os.getpid() % 9973)}\n",
    "identical-rows": "    return {'y': feed['x'] + np.arange(len(feed['x']), dtype='f4')[:, None]}\n",
    "permuted-rows": "    return {'y': np.cumsum(feed['x'], axis=0, dtype='f4')}\n",
    "batch-of-one": "    return {'y': feed['x'] - feed['x'].mean()}\n",
    "shape-sweep": "    if len(feed['x']) == 3:\n        raise ValueError('three is too many')\n"
                   "    return {'y': feed['x']}\n",
}
SCRIPT = "import numpy as np\nCOUNT = [0]\n\ndef infer(feed):\n"


class CheckConsistency(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", "Identity", ["n", 3])

    def check(self, body, *words):
        self.path("runner.py").write_text(SCRIPT + body)
        ended = self.vernier("check", "consistency", "m.onnx", "--model-runner", "runner.py",
                             "--python", sys.executable, "--save-record", "record.json", *words)
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_a_good_runner_holds_everything_that_can_be_tried(self):
        ended, properties = self.check(GOOD)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        # Nothing is known of a script's settings, and it makes its outputs in memory of its own.
        not_tried = {"other-settings", "poisoned-outputs"}
        for name, found in properties.items():
            with self.subTest(name):
                self.assertEqual(found["verdict"],
                                 "not applicable" if name in not_tried else "holds")

    def test_each_broken_property_is_named_with_its_smallest_case(self):
        for name, body in BROKEN.items():
            with self.subTest(name):
                ended, properties = self.check(body, "--only", name)
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                self.assertEqual(list(properties), [name])
                self.assertEqual(properties[name]["verdict"], "broken")
                self.assertTrue(properties[name]["smallest_case"])
                self.assertIn(f"FAILED | {name} | ", ended.out + ended.err)

    def test_the_smallest_case_is_the_smallest(self):
        _, properties = self.check(BROKEN["repeated-runs"], "--only", "repeated-runs")
        self.assertEqual(properties["repeated-runs"]["smallest_case"], "run 4")
        _, properties = self.check(BROKEN["shape-sweep"], "--only", "shape-sweep")
        self.assertIn("of size 3", properties["shape-sweep"]["smallest_case"])
        _, properties = self.check(BROKEN["batch-of-one"], "--only", "batch-of-one")
        self.assertEqual(properties["batch-of-one"]["smallest_case"], "row 0 of a batch of 2")

    def test_real_runtimes_hold_everything(self):
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--openvino")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("PASSED | other-settings", ended.out)
        self.assertIn("PASSED | uninitialised-memory", ended.out)

    def test_nothing_tried_is_no_pass(self):
        ended, _ = self.check(GOOD, "--only", "other-settings")
        self.assertEqual(ended.code, 4)
        self.assertIn("nothing was tried", ended.out + ended.err)

    def test_bad_words_are_a_sentence(self):
        for words, says in {("--only", "speed"): "repeated-runs", ("--rows", "1"): "--rows",
                            ("--repeats", "0"): "--repeats",
                            ("--report", "o.html"): "--report"}.items():
            ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", *words)
            self.assertEqual(ended.code, 2, words)
            self.assertIn(says, ended.out + ended.err)
        ended = self.vernier("check", "consistency", "m.onnx")
        self.assertEqual(ended.code, 2)
        self.assertIn("no runner", ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
