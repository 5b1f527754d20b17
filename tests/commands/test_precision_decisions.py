"""vernier debug precision --decision: the nodes without which answers change, and no others."""

import numpy as np
import onnx
from onnx import numpy_helper

from program import Case
from surgeon_models import model, node, value


def network():
    """Class 0 counts twice, by way of two weights that float16 does not have and that cancel each
    other; another weight is merely rounded by it. A second output follows from the first."""
    weights = {"tenth": 0.1, "tiny": 1e-8, "huge": 1e8, "first": [1, 0, 0, 0]}
    nodes = [node("Mul", ["x", "tenth"], ["a"], name="harmless"),
             node("Mul", ["a", "tiny"], ["b"], name="down"),
             node("Mul", ["b", "huge"], ["c"], name="up"),
             node("Mul", ["c", "first"], ["d"], name="pick"),
             node("Add", ["a", "d"], ["y"], name="add"),
             node("Softmax", ["y"], ["p"], name="soft")]
    return model(nodes, [value("x", (4, 4))], [value("y", (4, 4)), value("p", (4, 4))],
                 [numpy_helper.from_array(np.array(v, np.float32), n) for n, v in weights.items()])


class PrecisionDecisions(Case):
    def setUp(self):
        super().setUp()
        onnx.save(network(), str(self.path("m.onnx")))
        # Twice 1.5 is above 2, and twice 0.5 below: not so where class 0 counts once, or ten times.
        x = np.zeros((4, 4), np.float32)
        x[:, 3] = 2
        x[:, 0] = [1.5, 1.5, 0.5, 0.5]
        np.savez(self.path("x.npz"), x=x)

    def search(self, *words, code=0):
        ended = self.vernier("debug", "precision", "m.onnx", "-o", "mixed.onnx", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def kept(self, *words):
        lines = self.search(*words).out.splitlines()
        begin = next(i for i, line in enumerate(lines) if "acceptable accuracy, keep" in line)
        named = (line.split("'") for line in lines[begin + 1:] if line.startswith("    "))
        return {parts[1] for parts in named if len(parts) > 2}

    def test_only_what_changes_answers_stays_float32(self):
        inputs = ["--load-inputs", "x.npz"]
        for gate in (["--max-flip-rate", "0.01"], ["--max-clear-flips", "0"]):
            with self.subTest(gate=gate):
                self.assertEqual(self.kept(*inputs, "--decision", "y:top1", *gate), {"down", "up"})
        self.assertIn("harmless", self.kept("--", "--onnxrt", *inputs))

    def test_a_decision_that_is_none_is_refused(self):
        ended = self.search("--load-inputs", "x.npz", "--decision", "y:nonsense",
                            "--max-flip-rate", "0", code=2)
        self.assertIn("nonsense", ended.out + ended.err)

    def test_accuracy_by_labels_may_be_the_gate(self):
        # Right are classes 0 and 3 by float32's answers; without the two nodes half are wrong.
        np.save(self.path("labels.npy"), np.array([0, 0, 3, 3]))
        inputs = ["--load-inputs", "x.npz", "--decision", "y:top1"]
        labels = ["--labels", "labels.npy"]
        self.assertEqual(self.kept(*inputs, *labels, "--max-drop", "0.01"), {"down", "up"})
        np.save(self.path("short.npy"), np.array([0, 0, 3]))
        ended = self.search(*inputs, "--labels", "short.npy", "--max-drop", "0.01", code=2)
        self.assertIn("--labels 'short.npy': 3 labels for 4 samples", ended.out + ended.err)
        self.assertNotIn("--onnx-outputs", ended.err)
        ended = self.search(*inputs, *labels, "--max-drop", "y:top1:1")
        self.assertIn("passes with every node in float16", ended.out)
        # Half of what the reference has right is lost, and a relative drop of 0.6 allows that.
        ended = self.search(*inputs, *labels, "--max-drop", "0.6", "--drop-type", "relative")
        self.assertIn("passes with every node in float16", ended.out)
        # Where the reference is wrong, other answers are no loss.
        np.save(self.path("labels.npy"), np.array([3, 3, 3, 3]))
        ended = self.search(*inputs, *labels, "--max-drop", "0.01")
        self.assertIn("passes with every node in float16", ended.out)
        for words, sentence in ((["--max-drop", "0.01"], "--max-drop"),
                                (labels, "a check needs a gate that it can miss")):
            with self.subTest(words=words):
                ended = self.search(*inputs, *words, code=2)
                self.assertIn(sentence, ended.out + ended.err)

    def test_labels_may_come_with_the_inputs(self):
        x = np.zeros((4, 4), np.float32)
        x[:, 3], x[:, 0] = 2, [1.5, 1.5, 0.5, 0.5]
        np.savez(self.path("xl.npz"), x=x, label=np.array([0, 0, 3, 3]))
        self.path("loader.py").write_text(
            "import numpy as np\n\n\ndef load_data():\n"
            "    with np.load('x.npz') as file:\n"
            "        yield {'x': file['x'], 'label': np.array([0, 0, 3, 3])}\n")
        gate = ["--decision", "y:top1", "--labels", "loader", "--max-drop", "0.01"]
        for inputs in (["--load-inputs", "xl.npz"], ["--data-loader-script", "loader.py"]):
            with self.subTest(inputs=inputs):
                self.assertEqual(self.kept(*inputs, *gate), {"down", "up"})

    def test_options_of_run_may_have_the_gate(self):
        inputs = ["--load-inputs", "x.npz"]
        given = ["--decision", "y:top1", "--max-clear-flips", "0"]
        self.assertEqual(self.kept(*given, *inputs, "--", "--onnxrt", *inputs), {"down", "up"})
        # There the second output has no decision, so its elements count, as in run.
        self.assertIn("harmless", self.kept("--", "--onnxrt", *inputs, *given))
        self.assertEqual(self.kept("--", "--onnxrt", *inputs, *given, "--judge", "decisions"),
                         {"down", "up"})

    def test_a_gate_that_allows_the_flips_needs_no_node(self):
        ended = self.search("--load-inputs", "x.npz", "--decision", "y:top1", "--max-flip-rate",
                            "1")
        self.assertIn("passes with every node in float16", ended.out)

    def test_a_gate_that_is_not_decided_is_said(self):
        inputs = ["--load-inputs", "x.npz", "--decision", "y:top1"]
        ended = self.search(*inputs, "--max-flip-rate", "0.6")
        self.assertIn("The check passes, but does not decide: --max-flip-rate 0.6: top1 of 'y' ",
                      ended.out + ended.err)
        ended = self.search(*inputs, "--max-flip-rate", "1")
        self.assertNotIn("does not decide", ended.out + ended.err)

    def test_the_margins_are_those_of_the_unchanged_model(self):
        # 0.1: what class 3 leads by there. The float16 model is wrong by 0.45.
        inputs = ["--load-inputs", "x.npz", "--decision", "y:top1", "--max-clear-flips", "0"]
        ended = self.search(*inputs, "--near-tie", "0.11")
        self.assertIn("passes with every node in float16", ended.out)
        self.assertEqual(self.kept(*inputs, "--near-tie", "0.05"), {"down", "up"})

    def test_what_decides_nothing_is_no_search(self):
        inputs = ["--load-inputs", "x.npz"]
        said = self.search(*inputs, "--decision", "y:boxes:yolov8", "--max-clear-flips", "0",
                           code=2)
        self.assertIn("the check says nothing of the model", said.out + said.err)
        self.assertIn("--decision y:boxes:yolov8: nothing was decided", said.out + said.err)
        said = self.search(*inputs, "--decision", "y:threshold=100", "--max-flip-rate", "0", code=2)
        self.assertIn("shows nothing: no sample of either side has a label", said.out + said.err)

    def test_runs_of_the_check_have_the_interpreter(self):
        self.path("d.py").write_text("def decide(o):\n    return o['y'].argmax(-1)\n")
        words = ["--load-inputs", "x.npz", "--decision", "script:d.py", "--max-flip-rate", "1"]
        for behind in ((), ("--", "--onnxrt", "--load-inputs", "x.npz")):
            said = self.search(*words, "--python", "./nowhere", *behind, code=5)
            self.assertIn("./nowhere", said.out + said.err)

    def test_words_that_do_not_fit(self):
        for words, sentence in (
                (["--decision", "y:top1"], "a check needs a gate that it can miss"),
                (["--", "--onnxrt", "--decision", "y:top1"], "a check needs a gate"),
                (["--max-flip-rate", "0.1"], "--max-flip-rate has no effect without --decision"),
                (["--decision", "y:top1", "--max-flip-rate", "0.1", "--check", "true"],
                 "the command of --check judges by itself")):
            with self.subTest(words=words):
                ended = self.search(*words, code=2)
                self.assertIn(sentence, ended.out + ended.err)

    def test_random_inputs_prove_nothing(self):
        ended = self.search("--decision", "y:top1", "--max-flip-rate", "1")
        self.assertIn("the inputs are random", ended.out + ended.err)
