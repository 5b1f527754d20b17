"""Commands that are killed while they are at work leave what they had found."""

import json
import signal
import subprocess
import sys
import time
import unittest

from program import VERNIER, Case

# A runner that comes to a point from which it does not return.
STUCK = """
import os, time

def infer(feed):
    if {condition}:
        open('stuck', 'w').close()
        time.sleep(600)
    return {{'y': feed['x'] * 2}}
"""


class Interrupted(Case):
    def test_what_was_compared_until_then_is_told(self):
        self.save_model("m.onnx", "Identity", ["n", 3])
        self.path("runner.py").write_text(STUCK.format(condition="os.path.exists('stop')"))
        process = subprocess.Popen(
            [VERNIER, "run", "m.onnx", "--onnxrt", "--runner", "other=runner.py", "--python",
             sys.executable, "--iterations", "1000000", "--save-record", "r.json", "--report",
             "r.md"], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if "Comparing Output" in line or "FAILED" in line:
                break
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("[E] interrupted", said)
        self.assertRegex(said, r"vs\. other: FAILED, compared 1 output in \d+ ")
        self.assertIn("not done: the run was interrupted in iteration", said)
        record = json.loads(self.path("r.json").read_text())
        self.assertEqual(len(record["pairs"]), 1)
        self.assertFalse(record["complete"])
        self.assertIn("**failed**", self.path("r.md").read_text())


class Killed(Case):
    def kill_when_stuck(self, condition, command, *words):
        self.save_model("m.onnx", "Identity", ["n", 3])
        self.path("runner.py").write_text(STUCK.format(condition=condition))
        process = subprocess.Popen(
            [VERNIER, *command, "m.onnx", "--model-runner", "runner.py", "--python",
             sys.executable, *words],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while not self.path("stuck").exists():
            self.assertLess(time.monotonic(), end, "the runner never came there")
            time.sleep(0.01)
        process.kill()
        process.wait()
        return json.loads(self.path("record.json").read_text())

    def test_check_consistency_keeps_each_property(self):
        record = self.kill_when_stuck("len(feed['x']) == 5", ["check", "consistency"],
                                      "--save-record", "record.json", "--only", "repeated-runs",
                                      "shape-sweep")
        self.assertFalse(record["complete"])
        self.assertEqual([(p["name"], p["verdict"]) for p in record["runners"][0]["properties"]],
                         [("repeated-runs", "holds")])

    def test_profile_keeps_each_point_and_report_reads_them(self):
        record = self.kill_when_stuck("len(feed['x']) == 3", ["profile"], "--input-shapes",
                                      "x:[{1,2,3},3]", "--runs", "3", "--save-profile",
                                      "record.json")
        self.assertFalse(record["complete"])
        self.assertEqual(len(record["profile"]["points"]), 2)
        ended = self.vernier("report", "record.json", "-o", "page.html")
        self.assertTrue(self.path("page.html").exists(), ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
