"""--parallel: runners infer at the same time; all that is told and saved is as without it."""

import re
import sys
import unittest

import numpy as np
from polygraphy.json import load_json

from program import Case

# Each waits for the other in every iteration.
MEETING = """
import os, time
import numpy as np
def load(path):
    count = 0
    def infer(feed):
        nonlocal count
        count += 1
        open(f"{name}-{{count}}", "w").close()
        end = time.monotonic() + 60
        while not os.path.exists(f"{other}-{{count}}"):
            if time.monotonic() > end:
                raise RuntimeError("alone")
            time.sleep(0.002)
        return {{"y": feed["x"] * 2}}
    return infer
"""

DIES = """
import os
def load(path):
    count = 0
    def infer(feed):
        nonlocal count
        count += 1
        if count == 2:
            os.abort()
        return {"y": feed["x"]}
    return infer
"""


class Parallel(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx")

    def test_runners_infer_at_the_same_time(self):
        for name, other in (("a", "b"), ("b", "a")):
            self.path(f"{name}.py").write_text(MEETING.format(name=name, other=other))
        ended = self.vernier("run", "m.onnx", "--model-runner", "a.py", "--model-runner", "b.py",
                             "--input-shapes", "x:[4]", "--iterations", "3", "--parallel", "--python",
                             sys.executable)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("Pass Rate: 100.00%", ended.out)

    def test_the_same_log_and_files(self):
        runs = []
        for words in ([], ["--parallel"]):
            ended = self.vernier("run", "m.onnx", "--onnxrt", "--openvino", "--identity", "--onnxrt",
                                 "--lenient", "--iterations", "3", "--save-outputs", "o.json", "-v",
                                 *words)
            text = re.sub(r"\d+-\d\d:\d\d:\d\d|\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "TIME", ended.out)
            log = [line for line in text.splitlines() if line.startswith(("[", "    "))
                   and not re.search(r"Command:|Runtime|ms|seconds| s ", line)]
            with_outputs = [(name, [{k: np.asarray(v).tobytes() for k, v in i.items()}
                                    for i in iterations])
                            for name, iterations in load_json(str(self.path("o.json"))).items()]
            runs.append((ended.code, log, [outputs for _, outputs in with_outputs]))
        for alone, together in zip(*runs):
            self.assertEqual(alone, together)

    def test_one_that_dies_leaves_the_others_going(self):
        self.path("dies.py").write_text(DIES)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--model-runner", "dies.py", "--onnxrt",
                             "--iterations", "4", "--parallel", "--pairs", "all", "--save-outputs",
                             "o.json", "--python", sys.executable)
        self.assertIn("SIGABRT", ended.err)
        saved = load_json(str(self.path("o.json")))
        self.assertEqual(sorted(len(iterations) for _, iterations in saved.items()), [1, 4, 4])

    def test_refused_beside_sequential_runners(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--parallel", "--sequential-runners")
        self.assertEqual(ended.code, 2)
        self.assertIn("give one of them", ended.err)


if __name__ == "__main__":
    unittest.main()
