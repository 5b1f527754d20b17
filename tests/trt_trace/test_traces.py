"""What vernier calls of TensorRT for a command line is what it called when that was recorded, on a
GPU: nothing more, nothing less, in the same order. No GPU and no TensorRT is needed here.

    VERNIER=... VERNIER_TRT_TRACE_LIBRARY=... VERNIER_FAKE_CUDA_DIR=... python3 -m unittest
"""

import os
import pathlib
import re
import tempfile
import unittest

import trace_cases
import trace_models

TRACES = pathlib.Path(__file__).parent / "traces"
VERNIER = os.environ["VERNIER"]
LIBRARY = os.environ["VERNIER_TRT_TRACE_LIBRARY"]
FAKE_CUDA_DIR = os.environ["VERNIER_FAKE_CUDA_DIR"]


def recording(name):
    """The command line, the exit code, and the calls in order."""
    text = (TRACES / (name + ".trace")).read_text(encoding="utf-8")
    return (re.search(r"^# (.*)", text)[1], int(re.search(r"^# exit (\d+)", text, re.M)[1]),
            calls_of(text))


def calls_of(trace):
    return [line for line in trace.splitlines() if line.startswith("call ")]


class Traces(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-traces-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        trace_models.write_all(self.folder)

    def replay(self, line, name, **environment):
        """The exit code, what was printed, and the trace of a command against a recording."""
        trace = self.folder / "trace"
        # Engines and timings are not kept: to a replayed TensorRT all bytes are alike.
        for file in ("trace", "conv.engine", "timings"):
            (self.folder / file).unlink(missing_ok=True)
        for file in trace_cases.read_by(line):
            (self.folder / file).write_bytes(b"recorded")
        ended = trace_cases.run(VERNIER, LIBRARY, self.folder, line, trace,
                                VERNIER_TRT_REPLAY=str(TRACES / (name + ".trace")),
                                LD_LIBRARY_PATH=FAKE_CUDA_DIR, **environment)
        text = trace.read_text(encoding="utf-8") if trace.exists() else ""
        return ended.returncode, ended.stdout + ended.stderr, text

    def test_every_command_line_makes_the_calls_that_were_recorded(self):
        self.assertGreaterEqual(len(trace_cases.CASES), 20)
        for name, line in trace_cases.CASES.items():
            with self.subTest(name):
                recorded_line, recorded_code, recorded_calls = recording(name)
                self.assertEqual(recorded_line, line, "the recording is of another command line")
                code, printed, trace = self.replay(line, name)
                self.assertNotIn("never recorded", trace + printed)
                self.assertEqual(calls_of(trace), recorded_calls, printed)
                self.assertEqual(code, recorded_code, printed)

    def test_an_inference_behind_another_makes_the_same_calls(self):
        # The device takes so long that the next feed is there before it has done.
        code, printed, trace = self.replay(trace_cases.CASES["lone_runner"], "lone_runner",
                                           VERNIER_FAKE_CUDA="slow")
        self.assertEqual(calls_of(trace), recording("lone_runner")[2], printed)
        self.assertEqual(sum(".enqueueV3(" in call for call in calls_of(trace)), 9)
        self.assertEqual(code, 0, printed)

    def test_an_inference_begins_before_the_one_in_front_of_it_is_waited_for(self):
        """docs/adr/0017-one-inference-ahead.md. A recording does not tell: it has no waits."""
        orders = []
        # On a machine under load the next inputs may come too late.
        while len(orders) < 5 and "ee" not in "".join(orders[-1:]):
            code, printed, trace = self.replay(trace_cases.CASES["lone_runner"], "lone_runner",
                                               VERNIER_FAKE_CUDA="slow",
                                               VERNIER_FAKE_CUDA_WAITS=str(self.folder / "trace"))
            self.assertEqual(code, 0, printed)
            orders.append("".join("w" if line == "wait" else "e" for line in trace.splitlines()
                                  if line == "wait" or re.match(r"call .*\.enqueueV3\(", line)))
            self.assertEqual(orders[-1].count("e"), 9, trace)
            self.assertIn("ew", orders[-1], trace)
        self.assertIn("ee", orders[-1], orders)

    def test_a_call_that_was_never_recorded_fails(self):
        line = trace_cases.CASES["fp16"]
        for more, call in (("--sparse-weights", "setFlag(kSPARSE_WEIGHTS)"),
                           ("--pool-limit workspace:1M", "setMemoryPoolLimit(kWORKSPACE, 1048576)"),
                           ("--tactic-sources jit_convolutions", "setTacticSources(16)")):
            with self.subTest(more):
                code, printed, trace = self.replay(f"{line} {more}", "fp16")
                self.assertNotEqual(code, 0)
                self.assertRegex(printed, "never recorded: .*" + re.escape(call))
                self.assertIn("never recorded", trace)

    def test_what_the_release_lacks_is_refused_by_name(self):
        line = trace_cases.CASES["identity"]
        recorded = recording("identity")[2]
        for option, values in trace_cases.NEWER.items():
            with self.subTest(option):
                code, printed, trace = self.replay(f"{line} {option} {values}", "identity")
                self.assertEqual(code, 5, printed)
                self.assertRegex(printed, rf"{option}( \w+)?(: TensorRT 8\.5\.3 has no \w+|"
                                 r" is not available in TensorRT 8\.5\.3)")
                # Nothing was tried that a plain run does not do.
                made = calls_of(trace)
                self.assertEqual(made, recorded[:len(made)])

    def test_words_that_nobody_knows_are_refused_with_those_that_are(self):
        line = trace_cases.CASES["identity"]
        for option, value in trace_cases.UNKNOWN.items():
            with self.subTest(option):
                code, printed, _ = self.replay(f"{line} {option} {value}", "identity")
                self.assertEqual(code, 2, printed)
                self.assertRegex(printed, rf"{option}: .*'nonsense'")

    def test_a_call_that_is_not_made_any_more_fails(self):
        code, printed, _ = self.replay(trace_cases.CASES["fp16"].replace("--fp16", ""), "fp16")
        self.assertNotEqual(code, 0)
        self.assertIn("the recording goes on with IBuilderConfig#1.setFlag(kFP16)", printed)


if __name__ == "__main__":
    unittest.main()
