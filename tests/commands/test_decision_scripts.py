"""--decision script:FILE.py[:FUNCTION]: what a Python function decides from a side's outputs."""

import json
import math
import unittest

import numpy as np

from decision_case import Decisions, flipped, scores

WORDS = """
NAMES = [chr(ord("a") + i) for i in range(20)]

def decide(outputs):
    return [NAMES[i] for i in outputs["y"].argmax(-1)]

def whole(outputs):
    return "".join(decide(outputs))
"""

NEAR = """
def decide(outputs):
    return list(outputs["y"].argmax(-1))

def same(a, b):
    assert type(a) is int
    return abs(a - b) <= 1
"""

HOLDERS = """
import math
from collections import ChainMap, UserDict, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
import numpy as np

Point = namedtuple("Point", "x y")

@dataclass(frozen=True)
class Answer:
    value: object

"""


class Scripts(Decisions):
    A = scores(40)

    def script(self, text, name="words.py"):
        self.path(name).write_text(text)

    def decide(self, right, *words, code, script="words.py", left=None):
        left = self.A if left is None else left
        return self.compare([{"y": left}], [{"y": right}], "--decision", f"script:{script}", *words,
                            code=code)

    def test_a_list_has_a_decision_for_each_sample(self):
        self.script(WORDS)
        pair = self.decide(flipped(self.A, 3, 8), "--max-flip-rate", "0.01", code=1)
        (decision,) = pair["decisions"]
        self.assertEqual((decision["kind"], decision["output"]), ("script:words.py", "decide"))
        self.assertEqual((decision["samples"], decision["flips"], decision["clear_flips"],
                          decision["near_ties"]), (40, 2, 2, 0))
        self.assertEqual([(flip["row"], flip["first"], flip["second"])
                          for flip in decision["worst"]], [(3, "d", "e"), (8, "i", "j")])
        self.assertTrue(math.isnan(float(decision["worst"][0]["first_margin"])))
        self.says("decision script:words.py of 'decide': 38 of 40 samples agree",
                  "FAILED by decisions")

    def test_what_can_be_read_once_is_a_list(self):
        for text in ("return (int(row.argmax()) for row in outputs['y'])",
                     "return map(int, outputs['y'].argmax(-1))",
                     "yield from outputs['y'].argmax(-1)",
                     "return [iter(row[:3]) for row in outputs['y']]",
                     "return dict(enumerate(outputs['y'].argmax(-1))).values()"):
            self.script(f"def decide(outputs):\n    {text}\n")
            (decision,) = self.decide(self.A, "--max-flip-rate", "0", code=0)["decisions"]
            self.assertEqual((decision["samples"], decision["flips"]), (40, 0), text)
            (decision,) = self.decide(self.A[::-1], "--max-flip-rate", "0", code=1)["decisions"]
            self.assertEqual((decision["samples"], decision["flips"]), (40, 40), text)

    def test_anything_else_is_one_decision(self):
        self.script(WORDS)
        pair = self.decide(flipped(self.A, 3), code=1, script="words.py:whole")
        (decision,) = pair["decisions"]
        self.assertEqual((decision["samples"], decision["flips"]), (1, 1))
        self.assertEqual(decision["output"], "whole")
        self.assertTrue(decision["worst"][0]["first"].startswith("abcd"))

    def test_a_function_beside_it_says_what_is_the_same(self):
        self.script(NEAR)
        pair = self.decide(flipped(self.A, 3), "--max-flip-rate", "decide:0", code=0)
        self.assertEqual(pair["decisions"][0]["flips"], 0)
        self.script(NEAR.replace("abs(a - b) <= 1", "0.25 if a != b else True"))
        pair = self.decide(flipped(self.A, 3), "--max-flip-rate", "decide:0", code=1)
        (decision,) = pair["decisions"]
        self.assertEqual((decision["flips"], decision["worst"][0]["similarity"]), (1, 0.25))
        self.assertAlmostEqual(decision["similarity"], (39 + 0.25) / 40, places=12)

    def test_a_script_decides_about_all_outputs(self):
        self.script(WORDS)
        other = np.ones(3, np.float32)
        pair = self.compare([{"y": self.A, "z": other}], [{"y": self.A, "z": other + 1}],
                            "--decision", "script:words.py", "--max-flip-rate", "0.5", code=0)
        self.assertEqual(pair["judged_by"], "decisions")

    def test_nan_is_invalid(self):
        self.script("def decide(outputs):\n    return [float(x) for x in outputs['y'][:, 0]]\n")
        left = self.A.copy()
        left[2, 0] = np.nan
        pair = self.decide(left, "--max-flip-rate", "0.01", code=1, left=left)
        (decision,) = pair["decisions"]
        self.assertEqual((decision["flips"], decision["invalid"]), (1, 1))

    def test_nan_within_a_decision_is_invalid(self):
        left = self.A.copy()
        left[2, 0] = np.nan
        for made in ("{'score': x}", "frozenset([x])", "(1, {2: [x]})"):
            self.script("def decide(outputs):\n"
                        f"    return [{made} for x in map(float, outputs['y'][:, 0])]\n")
            pair = self.decide(left, "--max-flip-rate", "0.01", code=1, left=left)
            self.assertEqual(pair["decisions"][0]["invalid"], 1, made)

    def test_arrays_are_lists_at_any_depth(self):
        for made in ("{'classes': x}", "({1: [x]},)", "deque([x])", "Answer(x)", "Point(x, 1)",
                     "MappingProxyType({'a': x})", "UserDict(a=x)", "ChainMap({'a': x})",
                     "SimpleNamespace(a=x)", "np.array([x, None], object)[:1]"):
            self.script(HOLDERS + f"def decide(outputs):\n    y = outputs['y'].argsort(-1)[:, :3]\n"
                        f"    return [{made} for x in y]\n")
            (decision,) = self.decide(self.A, "--max-flip-rate", "0", code=0)["decisions"]
            self.assertEqual((decision["samples"], decision["flips"]), (40, 0), made)
            (decision,) = self.decide(self.A[::-1], "--max-flip-rate", "0", code=1)["decisions"]
            self.assertEqual((decision["flips"], decision["invalid"]), (40, 0), made)

    def test_nan_at_any_depth_is_invalid(self):
        for nan in ("np.array([np.nan])", "math.nan", "Decimal('nan')", "Decimal('sNaN')",
                    "np.datetime64('NaT')", "np.longdouble('nan')"):
            for made in ("{'a': U}", "(1, U)", "deque([U])", "Answer(U)", "Point(U, 1)",
                         "MappingProxyType({'a': U})", "UserDict(a=U)", "SimpleNamespace(a=U)"):
                self.script(HOLDERS + f"U = {nan}\ndef decide(outputs):\n    return [{made}] * 2\n")
                (decision,) = self.decide(self.A, "--max-flip-rate", "0", code=1)["decisions"]
                self.assertEqual(decision["invalid"], 2, nan + made)

    def test_dates_are_no_numbers(self):
        self.script("import numpy as np\ndef decide(outputs):\n"
                    "    return np.array(['2020-01-01', 'NaT'], 'M8[ns]')\n")
        (decision,) = self.decide(self.A, "--max-flip-rate", "0", code=1)["decisions"]
        self.assertEqual((decision["samples"], decision["invalid"]), (2, 1))

    def test_what_cannot_be_compared_is_said(self):
        self.script("class Odd:\n    def __eq__(self, other):\n        raise ValueError('odd')\n"
                    "def decide(outputs):\n    return [{'a': Odd()}]\n")
        self.decide(self.A, code=6)
        self.says("words.py:decide: its decisions, a dict and a dict, cannot be compared by '==' "
                  "(ValueError: odd)", "define same(a, b)")
        self.script("import numpy as np\ndef decide(outputs):\n    return [1, np.ma.masked]\n")
        self.decide(self.A, code=6)
        self.says("words.py:decide returned no value (None, or a masked one) for sample 1")

    def test_what_cannot_be_written_is_decided(self):
        self.script("def decide(outputs):\n"
                    "    return [10**5000 + int(n) for n in outputs['y'].argmax(-1)]\n")
        pair = self.decide(flipped(self.A, 3), "--max-flip-rate", "0", code=1)
        self.assertEqual(pair["decisions"][0]["flips"], 1)
        self.assertIn("<an int: ", pair["decisions"][0]["worst"][0]["first"])

    def test_a_copy_of_the_worker_answers_nothing(self):
        iterations = [{"y": self.A[i:i + 4]} for i in range(0, 40, 4)]
        other = [{"y": flipped(one["y"], i % 4) if i % 2 else one["y"]}
                 for i, one in enumerate(iterations)]
        words = ["--decision", "script:words.py", "--max-flip-rate", "0"]
        for fork in ("", "os.fork()\n    ", "os.fork() or time.sleep(0.1)\n    ",
                     "p = os.fork()\n    p and os.waitpid(p, 0)\n    "):
            self.script(f"import os, time\ndef decide(outputs):\n    {fork}"
                        "return [int(n) for n in outputs['y'].argmax(-1)]\n")
            (decision,) = self.compare(iterations, other, *words, code=1)["decisions"]
            self.assertEqual((decision["samples"], decision["flips"]), (40, 5), fork)

    def test_a_text_that_is_no_utf_8_is_shown(self):
        self.script("def decide(outputs):\n    return [chr(0xd800)] * len(outputs['y'])\n")
        pair = self.decide(self.A, "--max-flip-rate", "0", code=0)
        self.assertEqual(pair["decisions"][0]["agree"], 40)

    def test_gates_rows_and_kinds_go_together(self):
        self.script(WORDS)
        self.compare([{"y": self.A}], [{"y": flipped(self.A, 3)}], "--decision", "script:words.py",
                     "y:top1", "--max-flip-rate", "decide:0.5", "--save-rows", "rows.jsonl", code=0)
        (row,) = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        self.assertEqual(row["a/decide/decision"][3], "d")
        self.assertEqual(row["b/decide/decision"][3], "e")
        ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-flip-rate", "decide:0.01")
        self.assertEqual(ended.code, 1, ended.out + ended.err)

    def test_other_numbers_of_samples_are_not_decided(self):
        self.script("def decide(outputs):\n    return list(outputs['y'][outputs['y'] > 2])\n")
        self.decide(self.A - 2, "--max-flip-rate", "1", code=4)
        self.says("--decision script:words.py: nothing was decided: words.py:decide decides about "
                  "40 samples of the first side and 0 of the second")

    def test_scripts_that_are_of_no_use_are_named(self):
        self.decide(self.A, code=3, script="missing.py")
        self.says("missing.py")
        self.script("def decide(outputs):\n    pass\n")
        self.decide(self.A, code=6)
        self.says("words.py:decide returned None; expected a decision")
        self.script("def decide(outputs):\n    return outputs['no']\n")
        self.decide(self.A, code=6)
        self.says("words.py:decide: KeyError")
        self.script(NEAR.replace("abs(a - b) <= 1", "7"))
        self.decide(self.A, code=6)
        self.says("same() returned 7; expected True, False or a number from 0 to 1")
        self.script(NEAR.replace("abs(a - b) <= 1", "[True]"))
        self.decide(self.A, code=6)
        self.says("same() returned [True]; expected True, False or a number from 0 to 1")
        self.script(NEAR.replace("abs(a - b) <= 1", "10**400"))
        self.decide(self.A, code=6)
        self.says("same() returned 1000", "expected True, False or a number from 0 to 1")
        self.script("x = 1\n")
        self.decide(self.A, code=3)
        self.says("decide")

    def test_an_output_in_front_of_it_is_refused(self):
        self.script(WORDS)
        self.compare([{"y": self.A}], [{"y": self.A}], "--decision", "y:script:words.py", code=2)
        self.says("--decision: a script decides about all outputs: leave 'y' out")


if __name__ == "__main__":
    unittest.main()
