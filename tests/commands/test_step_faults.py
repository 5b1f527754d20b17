"""Steps of a Python runner whose state, or logits, are not what the next step takes; and of one
whose state nobody knows. Both are of that runner alone."""

import sys
import unittest

import numpy as np

from steps_case import StepsCase

# At call 3 it hands on what is put there for {wrong}.
SUMS = """
import numpy as np

class Sums:
    input_metadata = {{"x": (np.float32, (1, 4)), "h": (np.float32, (1, 4))}}

    def __init__(self):
        self.calls = 0

    def infer(self, feed):
        self.calls += 1
        new = np.tanh(feed["h"] + feed["x"]).astype("f4")
        handed = {wrong} if self.calls == 3 else new
        return {{"y": new.sum(axis=1, keepdims=True), "hn": handed}}

def load(path):
    return Sums()
"""

# A cache that takes a second element at step 4, and has one at most from step 6 on; and a state
# that grows late.
GROWS = """
import numpy as np

step = 0

def infer(feed):
    global step
    step += 1
    cache = feed["cache"]
    if step in (1, 5):
        cache = np.concatenate([cache, feed["x"]], axis=1)
    if step > 6:
        cache = cache[:, -1:]
    still = feed["still"] if step != 4 else np.zeros((1, 2), "f4")
    return {"y": feed["x"] + cache.sum(axis=1, keepdims=True), "cached": cache, "stays": still}
"""

HIDDEN = """
import numpy as np

class Hidden:
    {declared}

    def __init__(self):
        self.h = np.zeros((1, 4), "f4")

    def infer(self, feed):
        self.h = np.tanh(self.h + feed["x"])
        return {{"y": self.h.sum(axis=1, keepdims=True)}}

def load(path):
    return Hidden()
"""

# Logits whose largest value is that of the next token; at call 2 {wrong}.
LOGITS = """
import numpy as np

calls = 0

def infer(feed):
    global calls
    calls += 1
    logits = np.eye(8, dtype="f4")[(feed["tokens"] + 1) % 8]
    return {{"logits": {wrong} if calls == 2 else logits}}
"""


class StepFaults(StepsCase):
    def run_three(self, wrong, *words, declared=True):
        self.recurrent("a.onnx")
        text = SUMS.format(wrong=wrong)
        text = text if declared else text.replace("input_metadata", "not_looked_at")
        self.path("b.py").write_text(text, encoding="utf-8")
        self.path("c.py").write_text(SUMS.format(wrong="new"), encoding="utf-8")
        ended = self.vernier("run", "--runner", "b=b.py", "--runner", "c=c.py", "--runner",
                             "d=c.py", "--python", sys.executable, "--iterations", "2",
                             "--steps", "5", "--step-slice", "x:axis=1,size=4", "--feed-back",
                             "hn:h", "--pairs", "all", "--save-record", "r.json", *words)
        return ended.code, ended.out + ended.err

    def failed(self):
        return {r["name"]: r.get("failure", "") for r in self.record()["runners"]
                if r.get("failure")}

    def test_a_state_of_another_type_or_shape_fails_its_runner_alone(self):
        for wrong, given in (("new.astype('f8')", "float64 (1, 4)"),
                             ("new.astype('i4')", "int32 (1, 4)"), ("new[:, :3]", "float32 (1, 3)"),
                             ("new[0]", "float32 (4,)")):
            for more in ((), ("--sequential-runners",), ("--parallel",)):
                with self.subTest(wrong=wrong, more=more):
                    code, said = self.run_three(wrong, *more)
                    self.assertEqual(code, 6, said)
                    failed = self.failed()
                    self.assertEqual(list(failed), ["b"], said)
                    self.assertIn(f"gave output 'hn' as {given} at step 2 of sequence 0, and the "
                                  "input 'h' of the next step, which is fed with it (--feed-back), "
                                  "takes float32 (1, 4)", failed["b"])
                    pairs = {(p["first"], p["second"]): p for p in self.record()["pairs"]}
                    self.assertEqual(pairs["c", "d"]["compared_iterations"], 10)

    def test_so_does_one_that_declares_nothing_and_changes_its_state(self):
        for wrong, given in (("new.astype('c8')", "complex64 (1, 4)"),
                             ("new.astype('f2')", "float16 (1, 4)"),
                             ("new.astype('i4')", "int32 (1, 4)"), ("new[0]", "float32 (4,)"),
                             ("new[:, :1]", "float32 (1, 1)")):
            for more in ((), ("--parallel",)):
                with self.subTest(wrong=wrong, more=more):
                    code, said = self.run_three(wrong, *more, declared=False)
                    self.assertEqual(code, 6, said)
                    failed = self.failed()
                    self.assertEqual(list(failed), ["b"], said)
                    self.assertIn(f"gave output 'hn' as {given} at step 2 of sequence 0, and the "
                                  "input 'h' of the next step, which is fed with it (--feed-back), "
                                  "is not declared, and took float32 (1, 4)", failed["b"])
                    pairs = {(p["first"], p["second"]): p for p in self.record()["pairs"]}
                    self.assertEqual(pairs["c", "d"]["compared_iterations"], 10)

    def test_nor_does_it_end_a_run_that_crosses_states(self):
        self.path("b.py").write_text(SUMS.format(wrong="new[0]").replace("input_metadata", "_"),
                                     encoding="utf-8")
        self.path("c.py").write_text(SUMS.format(wrong="new"), encoding="utf-8")
        ended = self.vernier("run", "--runner", "c=c.py", "--runner", "b=b.py", "--runner",
                             "d=c.py", "--python", sys.executable, "--steps", "5", "--step-slice",
                             "x:axis=1,size=4", "--feed-back", "hn:h", "--pairs", "first",
                             "--state", "cross", "--save-record", "r.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 6, said)
        self.assertEqual(list(self.failed()), ["b"], said)
        pairs = {(p["first"], p["second"]): p for p in self.record()["pairs"]}
        self.assertEqual(pairs["c", "d"]["compared_iterations"], 5)

    def test_a_state_that_nobody_declares_may_grow_at_any_step_and_be_cut_then(self):
        for name in ("a", "b"):
            self.path(name + ".py").write_text(GROWS, encoding="utf-8")
        np.savez(self.path("x.npz"), x=np.ones((1, 9), "f4"), cache=np.zeros((1, 0), "f4"),
                 still=np.zeros((1, 1), "f4"))
        ended = self.vernier("run", "--runner", "a=a.py", "--runner", "b=b.py", "--python",
                             sys.executable, "--load-inputs", "x.npz", "--step-slice",
                             "x:axis=1,size=1", "--feed-back", "cached:cache", "stays:still")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_logits_of_a_step_that_choose_no_token_fail_their_runner_alone(self):
        # The step itself is compared: other shapes are a mismatch.
        for wrong, code in (("logits.astype('i4')", 6), ("logits[:, :0]", 1), ("logits[0, 0]", 1)):
            with self.subTest(wrong=wrong):
                self.path("b.py").write_text(LOGITS.format(wrong=wrong), encoding="utf-8")
                self.path("c.py").write_text(LOGITS.format(wrong="logits"), encoding="utf-8")
                ended = self.vernier("run", "--runner", "b=b.py", "--runner", "c=c.py", "--runner",
                                     "d=c.py", "--python", sys.executable, "--decode",
                                     "greedy:logits=tokens", "--steps", "4", "--input-shapes",
                                     "tokens:[1,2]:int64", "--val-range", "tokens:[0,7]",
                                     "--pairs", "all", "--save-record", "r.json")
                said = ended.out + ended.err
                self.assertEqual(ended.code, code, said)
                failed = self.failed()
                self.assertEqual(list(failed), ["b"], said)
                self.assertIn("gave no logits as 'logits' at step 1 of sequence 0: logits are "
                              "floats", failed["b"])

    def test_a_state_that_nobody_knows_is_no_other_ones(self):
        self.recurrent("a.onnx")
        for declared in ("input_metadata = {'x': (np.float32, (1, 4))}", "pass"):
            self.path("b.py").write_text(HIDDEN.format(declared=declared), encoding="utf-8")
            for state in ("reference", "cross"):
                with self.subTest(declared=declared, state=state):
                    ended = self.vernier(
                        "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=b.py", "--python",
                        sys.executable, "--iterations", "2", "--steps", "4", "--step-slice",
                        "x:axis=1", "--feed-back", "a:hn:h", "--map-outputs", "hn=", "--state",
                        state)
                    said = ended.out + ended.err
                    self.assertEqual(ended.code, 2, said)
                    self.assertIn(f"--state {state}: b feeds nothing back and has no reset_states, "
                                  "so perhaps it keeps its state inside, where another runner's "
                                  "state cannot be set; leave out --state", said)
                    self.assertNotIn("own error", said)

    def test_what_takes_the_shared_state_has_none_of_its_own(self):
        self.recurrent("a.onnx")
        self.path("b.py").write_text(SUMS.format(wrong="new").replace(', "hn": handed', ""),
                                     encoding="utf-8")
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=b.py", "--python",
                             sys.executable, "--iterations", "2", "--steps", "4", "--step-slice",
                             "x:axis=1", "--feed-back", "a:hn:h", "--map-outputs", "hn=",
                             "--state", "reference", "--atol", "100")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
