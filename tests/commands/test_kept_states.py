"""State that stays in the worker from step to step: nobody may see that but by memory and time.

Where outputs are saved, states are sent back and forth: those runs are what the others must equal.
"""

import pathlib
import subprocess
import sys
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER
from steps_case import StepsCase

KEPT = "What is fed back stays in its worker"
FEED_BACK = ("--feed-back", "auto", "--step-slice", "x:axis=1")


class KeptStates(StepsCase):
    def growing(self, name, width=300, copies=1):
        """A cache that grows by copies of x at each step, and its sum."""
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
                for n, s in (("x", [1, width]), ("past", [1, "p"]), ("y", [1, 1]),
                             ("present", [1, "q"]))}
        nodes = [helper.make_node("Tile", ["x", "copies"], ["more"]),
                 helper.make_node("Concat", ["past", "more"], ["present"], axis=1),
                 helper.make_node("ReduceSum", ["present", "axes"], ["y"], keepdims=1)]
        graph = helper.make_graph(nodes, "g", [info["x"], info["past"]],
                                  [info["y"], info["present"]],
                                  [numpy_helper.from_array(np.array([1], "i8"), "axes"),
                                   numpy_helper.from_array(np.array([1, copies], "i8"), "copies")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=9), str(self.path(name)))

    def passing_on(self, name):
        """Two states: k goes through as it is, s counts; y = x + k + s."""
        names = ("x", "k", "s", "y", "kn", "sn")
        info = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in names}
        nodes = [helper.make_node("Identity", ["k"], ["kn"]),
                 helper.make_node("Add", ["s", "x"], ["sn"]),
                 helper.make_node("Add", ["sn", "k"], ["y"])]
        graph = helper.make_graph(nodes, "g", [info[n] for n in names[:3]],
                                  [info[n] for n in names[3:]])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def ran(self, *words, code=0):
        """The record of a run whose states stay, and of one whose states do not."""
        records = []
        for more, kept in (((), True), (("--save-outputs", "o.json"), False)):
            ended = self.vernier("run", *words, "--save-record", "r.json", "-v", *more)
            said = ended.out + ended.err
            self.assertEqual(ended.code, code, said)
            self.assertEqual(KEPT in said, kept, said)
            records.append(self.record())
        return records

    def assert_same(self, records):
        """The bytes that runners were given in all steps, and all that was found."""
        (kept, sent) = records
        for one, other in zip(kept["runners"], sent["runners"]):
            self.assertEqual((one["iterations"], one["received"]),
                             (other["iterations"], other["received"]))
        self.assertEqual([self.figures(p) for p in kept["pairs"]],
                         [self.figures(p) for p in sent["pairs"]])

    def figures(self, pair):
        return {key: value for key, value in pair.items() if "second" not in key}

    def test_a_lone_runner_is_given_the_same_bytes(self):
        self.recurrent("m.onnx")
        random = np.random.default_rng(7)
        self.save_feeds("feeds.json", [{"x": random.normal(size=(1, 4 * steps)).astype("f4")}
                                       for steps in (1, 50, 2, 3)])
        for backend in ("onnxrt", "openvino"):
            with self.subTest(backend=backend):
                records = self.ran("m.onnx", "--" + backend, "--load-inputs", "feeds.json",
                                   *FEED_BACK)
                self.assertEqual(records[0]["runners"][0]["iterations"], 56)
                self.assert_same(records)

    def test_caches_grow(self):
        self.growing("m.onnx")
        random = np.random.default_rng(8)
        self.save_feeds("feeds.json", [{"x": random.normal(size=(1, 300 * 60)).astype("f4"),
                                        "past": random.normal(size=(1, first)).astype("f4")}
                                       for first in (0, 70000)])
        for backend in ("onnxrt", "openvino"):
            with self.subTest(backend=backend):
                self.assert_same(self.ran(
                    "m.onnx", "--" + backend, "--load-inputs", "feeds.json", "--feed-back",
                    "present:past", "--step-slice", "x:axis=1,size=300"))

    def test_a_state_that_is_handed_on_as_it_is(self):
        self.passing_on("m.onnx")
        random = np.random.default_rng(9)
        self.save_feeds("feeds.json", [
            {"x": random.normal(size=(1, 4 * 20)).astype("f4"),
             "k": random.normal(size=(1, 4)).astype("f4"), "s": np.zeros((1, 4), "f4")}
            for _ in range(2)])
        for backend in ("onnxrt", "openvino"):
            with self.subTest(backend=backend):
                self.assert_same(self.ran("m.onnx", "--" + backend, "--load-inputs", "feeds.json",
                                          "--feed-back", "kn:k", "sn:s", "--step-slice",
                                          "x:axis=1,size=4"))

    def test_two_runners_are_compared_as_before(self):
        self.recurrent("a.onnx")
        self.save_feeds("feeds.json", self.recordings(steps=12))
        for gain, code, more in ((1.0, 0, ()), (1.01, 1, ()), (1.01, 1, ("--compare-state",)),
                                 (1.01, 1, ("--atol", "y:100")), (1.0, 0, ("--use-subprocess",))):
            self.recurrent("b.onnx", gain)
            for second in ("onnxrt", "openvino"):
                with self.subTest(gain=gain, more=more, second=second):
                    self.assert_same(self.ran(
                        "--runner", "a=onnxrt a.onnx", "--runner", f"b={second} b.onnx",
                        "--load-inputs", "feeds.json", *FEED_BACK, *more, code=code))

    def test_runs_that_look_at_states_are_sent_them(self):
        self.recurrent("a.onnx")
        self.recurrent("b.onnx")
        self.save_feeds("feeds.json", self.recordings())
        for words in (("--state", "reference"), ("--state", "cross"), ("--validate",),
                      ("--sequential-runners",), ("--parallel",), ("--tolerance", "auto"),
                      ("--report", "page.html")):
            with self.subTest(words=words):
                ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner",
                                     "b=onnxrt b.onnx", "--load-inputs", "feeds.json", *FEED_BACK,
                                     *words, "-v")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertNotIn(KEPT, ended.out + ended.err)

    def test_python_runners_are_sent_their_state(self):
        self.path("sums.py").write_text(
            "def runner(_path):\n    def infer(feed):\n"
            "        return {'y': feed['x'] + feed['h'], 'hn': feed['x'] + feed['h']}\n"
            "    return infer\n", encoding="utf-8")
        self.save_feeds("feeds.json", [{"x": np.ones((1, 20), "f4"), "h": np.zeros((1, 4), "f4")}])
        ended = self.vernier("run", "--runner", "a=sums.py:runner", "--python", sys.executable,
                             "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice",
                             "x:axis=1,size=4", "-v")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertNotIn(KEPT, ended.out + ended.err)

    def peak(self, *words):
        """The most memory that vernier itself held, in bytes; its workers are not counted."""
        peak = 0
        with subprocess.Popen([VERNIER, "run", *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                held = [line.split()[1] for line in status.splitlines()
                        if line.startswith("VmHWM:")]
                peak = max([peak, *(1024 * int(size) for size in held)])
                time.sleep(0.002)
        self.assertEqual(process.returncode, 0)
        return peak

    def test_caches_are_not_in_the_memory_of_vernier(self):
        self.growing("m.onnx", width=1000, copies=1000)  # by 4 MB at each step
        words = ("m.onnx", "--onnxrt", "--load-inputs", "feeds.json", "--feed-back",
                 "present:past", "--step-slice", "x:axis=1,size=1000")
        self.save_feeds("feeds.json", [{"x": np.ones((1, 1000 * 30), "f4"),
                                        "past": np.zeros((1, 0), "f4")}])
        few, many = (self.peak(*words, "--steps", steps) for steps in ("2", "30"))
        self.assertLess(many - few, 24e6)


if __name__ == "__main__":
    unittest.main()
