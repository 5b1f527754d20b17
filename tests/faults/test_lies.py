"""A backend that breaks the rules is told so in a sentence; a backend that is not there, too."""

import unittest

from fault_run import FaultTest

# Behaviour, exit code, words of the sentence.
LIES = [
    ("lie=short", 6, "has 23 bytes, but float32 of shape (2, 3) needs 24"),
    ("lie=huge", 6, "has 1099511627776 bytes"),
    ("lie=no_data", 6, "has no data"),
    ("lie=dtype", 6, "is int32, but its signature says float32"),
    ("lie=strings", 6, "is string, but its signature says float32"),
    ("lie=rank", 6, "has an impossible shape"),
    ("lie=no_shape", 6, "has an impossible shape"),
    ("lie=negative", 6, "has the impossible shape (-1, 3)"),
    ("lie=overflow", 6, "has the impossible shape"),
    ("lie=more", 6, "returned 3 outputs where its signature has 2"),
    ("lie=fewer", 6, "did not return its output 'b'"),
    ("lie=none", 6, "did not return its output 'a'"),
    ("lie=null", 6, "returned no tensor as output 0"),
    ("lie=renamed", 6, "output 'surprise' that its signature does not have"),
    ("lie=twice", 6, "was returned twice"),
    ("lie=bad_code", 6, "a code that does not exist"),
    ("lie=no_session stage=open", 6, "opened nothing and gave no error"),
    ("lie=no_backend stage=create", 6, "created no backend and gave no error"),
    ("lie=endless stage=signature", 6, "does not end"),
    ("lie=endless stage=info", 6, "does not end"),
    ("lie=rank stage=signature", 6, "has an impossible shape"),
    ("lie=no_shape stage=signature", 6, "has an impossible shape"),
    ("lie=null_table stage=query", 5, "another version of the plug-in interface"),
    ("lie=other_major stage=query", 5, "another version of the plug-in interface"),
    ("lie=null_slot stage=query", 5, "lacks a function"),
    ("lie=short_table stage=query", 5, "lacks a function"),
    ("scribble=garbage", 6, "not a message while running iteration 0"),
    ("fail=6", 6, "told to fail at run"),
    ("fail=8", 6, "told to fail at run"),
    ("fail=8 stage=open", 6, "told to fail at open"),
    ("fail=8 stage=create", 6, "told to fail at create"),
    ("fail=4 stage=create", 5, "told to fail at create"),
    ("fail=5 stage=open", 5, "told to fail at open"),
    # A run knows nothing of command lines, names and files: it fails, whatever it says.
    ("fail=1", 6, "told to fail at run"),
    ("fail=2", 6, "told to fail at run"),
    ("fail=3", 6, "told to fail at run"),
]


class Lies(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("two.onnx", ["a", "b"], [2, 3])

    def test_every_lie_is_a_sentence(self):
        for behaviour, code, words in LIES:
            with self.subTest(behaviour=behaviour):
                ended = self.run_pair("--iterations", "2", behaviour=behaviour)
                self.assertEqual(ended.code, code, ended)
                self.assert_failed_line(ended, words)
                # The other runner did its work.
                self.assertIn("---- Inference Output(s) ----", ended.out)

    def test_nan_is_no_lie_but_a_mismatch(self):
        ended = self.run_pair(behaviour="lie=nan")
        self.assertEqual(ended.code, 1, ended)

    def test_outputs_that_cannot_be_handed_over_are_not_compared(self):
        for lie in ("skipped", "device", "lanes", "unknown_dtype"):
            with self.subTest(lie=lie):
                ended = self.run_pair(behaviour=f"lie={lie}")
                self.assertIn(ended.code, (1, 4), ended)

    def test_a_runner_that_writes_into_its_inputs_harms_only_itself(self):
        large = self.write_model("large.onnx", ["a", "b"], [300, 300])
        ended = self.begin("--runner", "one=identity", "--runner", "bad=fake", "--runner",
                           "other=identity", "--pairs", "one:other", "--use-subprocess",
                           behaviour="lie=write_input", model=large).end()
        # Large inputs are read-only memory.
        self.assertEqual(ended.code, 6, ended)
        self.assert_failed_line(ended, "SIGSEGV")
        self.assertIn("Passed: 1/1 iterations", ended.out)
        small = self.begin("--runner", "one=identity", "--runner", "bad=fake", "--runner",
                           "other=identity", "--pairs", "one:other", "--use-subprocess",
                           behaviour="lie=write_input").end()
        self.assertEqual(small.code, 0, small)
        self.assertIn("Passed: 1/1 iterations", small.out)


class Missing(FaultTest):
    def run_with(self, backend, *more):
        return self.begin("--runner", "good=identity", "--runner", f"bad={backend}", "--runner",
                          "also=identity", "--pairs", "good:also", *more).end()

    def test_a_missing_backend_is_five_and_the_others_run(self):
        saved = self.folder / "saved.json"
        ended = self.run_with("trt --trt-lib /nosuch", "--save-outputs", saved)
        self.assertEqual(ended.code, 5, ended)
        self.assert_failed_line(ended, "TensorRT is not at '/nosuch'")
        self.assertEqual(self.saved_iterations(saved)["good"], 1)
        self.assertIn("Passed: 1/1 iterations", ended.out)

    def test_a_file_that_is_no_plugin(self):
        for name, content in (("text", b"not a library"), ("empty", b"")):
            (self.folder / f"libvernier_backend_{name}.so").write_bytes(content)
            with self.subTest(name=name):
                ended = self.run_with(name, "--backend-dir", self.folder)
                self.assertEqual(ended.code, 5, ended)
                self.assert_failed_line(ended, f"libvernier_backend_{name}.so", "cannot be loaded")

    def test_only_a_missing_backend(self):
        ended = self.begin("--runner", "bad=trt --trt-lib /nosuch").end()
        self.assertEqual(ended.code, 5, ended)

    def test_a_backend_that_there_is_not(self):
        ended = self.begin("--runner", "bad=nosuch").end()
        self.assertEqual(ended.code, 2, ended)
        self.assertIn("there is no backend 'nosuch' (choose from ", ended.err)


if __name__ == "__main__":
    unittest.main()
