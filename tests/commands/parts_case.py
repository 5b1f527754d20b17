"""What tests of parts share: a model, inputs, and scripts that disturb a shard."""

import sys

import numpy as np

from program import Case

SCALES = """
def load(path):
    return lambda feed: {"y": feed["x"] * 1.0}
"""

# What it computes is not in any file.
DEPENDS = """
import os
def load(path):
    return lambda feed: {"y": feed["x"] * float(os.environ["SCALE"])}
"""

# A feed more appears while the shard runs.
WRITES = """
def load(path):
    def infer(feed):
        with open("in/z.json", "w") as file:
            file.write("[]")
        return {"y": feed["x"]}
    return infer
"""

# Kills the whole run in its sixth inference, once, when some of what the others gave was saved.
KILLS = """
import glob, os, signal, time
def saved():
    text = "".join(open(name).read() for name in glob.glob("o.*partial*/journal.jsonl"))
    return min(text.count('"runner":0,'), text.count('"runner":1,'))
def load(path):
    def infer(feed):
        with open("calls", "a") as file:
            file.write("x")
        if os.path.exists("deadly") and os.path.getsize("calls") == 6:
            os.remove("deadly")
            end = time.monotonic() + 20
            while time.monotonic() < end and saved() < 3:
                time.sleep(0.01)
            os.kill(os.getppid(), signal.SIGKILL)
        return {"y": feed["x"]}
    return infer
"""

# Fails in its third inference, as long as there is a file called "ill".
FAILS = """
import os
calls = []
def load(path):
    def infer(feed):
        calls.append(1)
        if len(calls) == 3 and os.path.exists("ill"):
            raise ValueError("no more")
        return {"y": feed["x"]}
    return infer
"""

LOADER = """
import numpy as np
def load_data():
    for i in range(4):
        yield {"x": np.full(4, i, np.float32)}
"""


class PartsCase(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx")
        self.path("in").mkdir()
        for i, name in enumerate("abcd"):
            self.save_feeds(f"in/{name}.json", [{"x": np.full(4, i, np.float32)}])
        for name, text in (("scales", SCALES), ("depends", DEPENDS), ("writes", WRITES),
                           ("kills", KILLS), ("fails", FAILS),
                           ("loader", LOADER)):
            self.path(f"{name}.py").write_text(text, encoding="utf-8")
        self.command = ["run", "m.onnx", "--onnxrt", "--onnxrt"]

    def shard(self, number, *words, count=2, record="r.json"):
        ended = self.vernier(*words, "--shard", f"{number}/{count}", "--python", sys.executable,
                             "--save-record", record)
        self.assertIn(ended.code, (0, 1), ended.out + ended.err)
        stem, extension = record.rsplit(".", 1)
        return f"{stem}.shard-{number:04}-of-{count:04}.{extension}"

    def refused(self, parts, *said):
        ended = self.vernier("merge", *parts, "-o", "merged.json")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        for words in said:
            self.assertIn(words, ended.err)
        self.assertFalse(self.path("merged.json").exists())
