"""--workers-per-runner: iterations are inferred at the same time, and all that is told and saved is
as with one worker."""

import json
import signal
import subprocess
import sys
import time
import unittest

import numpy as np
from polygraphy.json import load_json

from program import VERNIER, Case

COUNT = 9

# Iteration 0 waits for iteration 1, 2 for 3, and so on: one worker would wait for ever.
MEETING = """
import os, time
def load(path):
    def infer(feed):
        number = int(feed["x"][0])
        open(f"met-{number}", "w").close()
        end = time.monotonic() + 60
        while number % 2 == 0 and number < 8 and not os.path.exists(f"met-{number + 1}"):
            if time.monotonic() > end:
                raise RuntimeError("alone")
            time.sleep(0.002)
        return {"y": feed["x"] * 2}
    return infer
"""

# Iterations whose turn comes first take longest.
UNEVEN = """
import time
def load(path):
    def infer(feed):
        number = int(feed["x"][0])
        time.sleep(0.05 if number % 3 == 0 else 0)
        return {"y": feed["x"] * (1.25 if number in (4, 7) else 1)}
    return infer
"""

# Its feeds come slowly.
SLOW = """
import time
import numpy as np
def load_data():
    for i in range(12):
        if i > 0:
            time.sleep(0.5)
        with open("made", "a") as file:
            file.write("x")
        yield {"x": np.full(4, 4, np.float32)}
"""

# Its feeds end with one that never comes.
ENDLESS = """
import time
import numpy as np
def load_data():
    for i in range(9):
        yield {"x": np.full(4, i, np.float32)}
    open("waiting", "w").close()
    time.sleep(120)
"""

DIES = """
import os
def load(path):
    def infer(feed):
        if feed["x"][0] == 5:
            os.abort()
        return {"y": feed["x"]}
    return infer
"""


class Workers(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx")
        feeds = [{"x": np.full(4, i, np.float32)} for i in range(COUNT)]
        self.save_feeds("feeds.json", feeds)
        for name, text in (("meeting", MEETING), ("uneven", UNEVEN), ("dies", DIES)):
            self.path(f"{name}.py").write_text(text)

    def run_with(self, workers, *words, feeds=("--load-inputs", "feeds.json")):
        return self.vernier("run", "m.onnx", "--onnxrt", "--intra-op-threads", "1", *words, *feeds,
                            "--workers-per-runner", workers, "--python", sys.executable)

    def saved(self, workers, *words, files=("r.json", "r.jsonl"), **kinds):
        """The exit code, and the bytes of what a run saves."""
        for name in files:
            self.path(name).unlink(missing_ok=True)
        ended = self.run_with(workers, *words, "--reproducible", "--save-record", "r.json",
                              "--save-rows", "r.jsonl", **kinds)
        return ended.code, [self.path(name).read_bytes() for name in files]

    def expect_same(self, code, *words, numbers=(2, 3), **kinds):
        one = self.saved(1, *words, **kinds)
        self.assertEqual(one[0], code)
        for workers in numbers:
            self.assertEqual(self.saved(workers, *words, **kinds), one, (workers, words))

    def test_records_and_rows_have_the_same_bytes(self):
        self.expect_same(1, "--model-runner", "uneven.py", numbers=(2, 3, COUNT + 1))
        self.expect_same(1, "--model-runner", "uneven.py", "--compare", "l2", "cosine_similarity",
                         "--check-error-stat", "mean")
        self.expect_same(0, "--identity", "--onnxrt", "--pairs", "first", "--iterations", "7",
                         "--seed", "3", "--warm-up", "2", feeds=())

    def test_fail_fast_ends_where_it_does_with_one_worker(self):
        self.expect_same(1, "--model-runner", "uneven.py", "--fail-fast")
        record = json.loads(self.path("r.json").read_text())
        self.assertEqual({runner["iterations"] for runner in record["runners"]}, {5})

    def test_what_is_there_is_compared_before_slow_feeds_come(self):
        self.path("slow.py").write_text(SLOW)
        ended = self.run_with(4, "--model-runner", "uneven.py", "--fail-fast",
                              feeds=("--data-loader-script", "slow.py"))
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertLessEqual(len(self.path("made").read_text()), 4)

    def test_ctrl_c_keeps_what_was_inferred_before(self):
        self.path("endless.py").write_text(ENDLESS)
        for workers in ("1", "4"):
            self.path("waiting").unlink(missing_ok=True)
            process = subprocess.Popen(
                [VERNIER, "run", "m.onnx", "--onnxrt", "--model-runner", "uneven.py",
                 "--data-loader-script", "endless.py", "--python", sys.executable,
                 "--workers-per-runner", workers, "--save-record", "r.json", "--save-outputs",
                 "o.json"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            self.addCleanup(process.kill)
            end = time.monotonic() + 60
            while not self.path("waiting").exists():
                self.assertLess(time.monotonic(), end, "the loader never came there")
                time.sleep(0.01)
            time.sleep(1)  # what was fed before is inferred
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 130, said)
            record = json.loads(self.path("r.json").read_text())
            self.assertEqual(record["pairs"][0]["compared_iterations"], 9, workers)
            self.assertIn("interrupted while making feed 9", record["error"])
            self.assertEqual([len(saved) for _, saved in load_json(str(self.path("o.json")))
                              .items()], [9, 9])

    def test_iterations_are_inferred_at_the_same_time(self):
        ended = self.vernier("run", "m.onnx", "--model-runner", "meeting.py", "--load-inputs",
                             "feeds.json", "--workers-per-runner", 2, "--save-outputs", "o.json",
                             "--python", sys.executable)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--workers-per-runner 2: each worker computes with", ended.out)

    def test_outputs_and_inputs_are_saved_in_order(self):
        ended = self.run_with(3, "--model-runner", "uneven.py", "--save-outputs", "o.json",
                              "--save-inputs", "i.json")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        for _, iterations in load_json(str(self.path("o.json"))).items():
            firsts = [float(np.asarray(outputs["y"])[0]) for outputs in iterations]
            expected = [float(i) for i in range(COUNT)]
            self.assertIn(firsts, (expected, [i * (1.25 if i in (4, 7) else 1) for i in expected]))
        fed = [float(np.asarray(feed["x"])[0]) for feed in load_json(str(self.path("i.json")))]
        self.assertEqual(fed, [float(i) for i in range(COUNT)])

    def test_a_worker_that_dies_ends_its_runner_in_that_iteration(self):
        counts = []
        for workers in (1, 3):
            self.path("o.json").unlink(missing_ok=True)
            ended = self.run_with(workers, "--model-runner", "dies.py", "--save-outputs", "o.json")
            self.assertEqual(ended.code, 6, ended.out + ended.err)
            self.assertIn("SIGABRT", ended.err)
            self.assertIn("running iteration 5", ended.err)
            runs = load_json(str(self.path("o.json")))
            counts.append(sorted(len(iterations) for _, iterations in runs.items()))
        self.assertEqual(counts, [[5, COUNT], [5, COUNT]])

    def test_shards_with_several_workers_merge_into_the_whole(self):
        words = ("--model-runner", "uneven.py")
        code, (whole, _) = self.saved(1, *words)
        for number in (1, 2):
            ended = self.run_with(2, *words, "--shard", f"{number}/2", "--save-record", "part.json")
            self.assertIn(ended.code, (0, 1), ended.out + ended.err)
        parts = [f"part.shard-000{number}-of-0002.json" for number in (1, 2)]
        ended = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertEqual(self.path("merged.json").read_bytes(), whole)

    def test_a_run_is_resumed_with_another_number(self):
        words = ("--model-runner", "uneven.py", "--save-outputs", "o.npz")
        whole = self.run_with(1, *words)
        self.assertEqual(whole.code, 1, whole.out + whole.err)
        resumed = self.run_with(4, *words, "--resume")
        self.assertEqual(resumed.code, 1, resumed.out + resumed.err)

    def test_what_cannot_be_is_refused_in_one_sentence(self):
        cases = (
            (("--sequential-runners",), "--sequential-runners: only one runner"),
            (("--in-process",), "--in-process: a framework"),
            (("--parallel",), "--parallel: it lets runners"),
            (("--steps", "3", "--feed-back", "auto"), "--steps: a state"),
            (("--feed-back", "auto"), "--feed-back: a state goes from each iteration to the next; "
                                      "leave --workers-per-runner out"),
            (("--step-slice", "x:axis=0"), "--step-slice: a state"),
            (("--advance", "x"), "--advance: a state"),
        )
        for words, expected in cases:
            ended = self.run_with(2, *words, feeds=())
            self.assertEqual(ended.code, 2, words)
            self.assertIn(f"--workers-per-runner cannot go with {expected}", ended.err)
        for count in ("0", "65", "-1", "two"):
            ended = self.run_with(count)
            self.assertEqual(ended.code, 2, count)
            self.assertIn("--workers-per-runner", ended.err)
        self.save_runs("saved.json", [("A", [{"y": np.zeros(4, np.float32)}])])
        ended = self.vernier("run", "--load-outputs", "saved.json", "saved.json",
                             "--workers-per-runner", "2")
        self.assertEqual(ended.code, 2)
        self.assertIn("saved outputs alone: nothing is inferred", ended.err)


if __name__ == "__main__":
    unittest.main()
