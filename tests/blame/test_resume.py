"""`vernier blame --resume`: searches that were killed or interrupted, and what cannot be gone on with."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import planted
from models import chain as fused_chain
from program import FUSING, VERNIER, Case, two_models


def chain(name, length=40, wrong=None):
    """Multiplications, one of which may be wrong, with weights in a file beside the model."""
    nodes, weights = [], []
    for i in range(length):
        weights.append(numpy_helper.from_array(np.full(8, 1.1 if i == wrong else 1, "f4"), f"w{i}"))
        nodes.append(helper.make_node("Mul", [f"t{i - 1}" if i else "x", f"w{i}"], [f"t{i}"],
                                      name=f"n{i}"))
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8])],
        [helper.make_tensor_value_info(f"t{length - 1}", TensorProto.FLOAT, [8])], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, f"{name}.onnx", save_as_external_data=True, location=f"{name}.bin",
              size_threshold=0)


class Resume(Case):
    def setUp(self):
        super().setUp()
        chain("good")
        chain("bad", wrong=38)
        self.words = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                      "--reference", "gold", "--resume", "state.json"]

    def blame(self, *words):
        return subprocess.run([VERNIER, "blame", *self.words, *words], capture_output=True,
                              text=True)

    def stopped(self, by, *words):
        """Ended by a signal once there is something to go on from."""
        command = [VERNIER, "blame", *words, "--max-host-mem", "1K"]
        with open("out.txt", "wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
            end = time.monotonic() + 60
            while not self.layers() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.002)
            process.send_signal(by)
            process.wait()
        return process.returncode, Path("out.txt").read_text()

    @staticmethod
    def layers():
        state = Path("state.json")
        return json.loads(state.read_text())["layers"] if state.exists() else []

    def test_killed_and_resumed(self):
        network = planted.plant(0, "scale_weights")
        words = [*two_models(network), "--resume", "state.json"]
        code, _ = self.stopped(signal.SIGKILL, *words)
        self.assertEqual(code, -signal.SIGKILL, "it had ended before")
        known = [layer["node"] for layer in self.layers()]
        again = subprocess.run([VERNIER, "blame", *words, "--save-blame", "b.json"],
                               capture_output=True, text=True)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertRegex(again.stdout,
                         rf"Going on from 'state.json': {len(known)} of \d+ layers are known")
        found = json.loads(Path("b.json").read_text())
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])
        nodes = [layer["node"] for layer in found["layers"]]
        self.assertEqual(len(nodes), len(set(nodes)))
        self.assertEqual(len(nodes), len(network.bad.graph.node))

    def test_an_interrupted_search_says_how_to_go_on_and_accuses_nobody(self):
        code, out = self.stopped(signal.SIGINT, *self.words)
        self.assertEqual(code, 128 + signal.SIGINT, out)
        seen = re.search(r"Interrupted after (\d+) of 40 layers\. Run the same command to resume "
                         r"from 'state\.json'\.", out)
        self.assertTrue(seen, out)
        self.assertEqual(int(seen[1]), len(self.layers()))
        self.assertIn("Not finished: interrupted", out)
        for claim in ("To blame", "Probing changed", "Nothing is to blame"):
            self.assertNotIn(claim, out)
        again = self.blame()
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn(f"Going on from 'state.json': {seen[1]} of 40 layers are known", again.stdout)
        self.assertIn("1. n38 [Mul]", again.stdout)

    def test_a_finished_search_is_all_known(self):
        first = self.blame()
        self.assertIn("Findings are saved in 'state.json'", first.stdout)
        again = self.blame()
        self.assertIn("Going on from 'state.json': all 40 layers are known", again.stdout)
        self.assertNotIn("Batch", again.stdout)
        table = re.compile("To blame:.*First divergence: n38", re.DOTALL)
        self.assertEqual(table.search(first.stdout)[0], table.search(again.stdout)[0])

    def test_iterations_that_the_run_lacks_are_named(self):
        self.blame()
        state = json.loads(Path("state.json").read_text())
        state["layers"][3]["iteration"] = 7
        Path("state.json").write_text(json.dumps(state))
        again = self.blame()
        self.assertEqual(again.returncode, 3, again.stdout)
        self.assertIn("'state.json' is damaged: layer 'n3' refers to iteration 7, but the run has "
                      "1. Remove the file to start over", again.stderr)

    def test_other_options_that_change_nothing_go_on(self):
        self.blame()
        for words in (["--seed", "1"], ["--max-host-mem", "1G"], ["-v"], ["--iterations", "1"]):
            again = self.blame(*words)
            self.assertEqual(again.returncode, 1, again.stderr)
            self.assertIn("all 40 layers are known", again.stdout)

    def test_other_inputs_models_or_weights_do_not(self):
        Path("load.py").write_text("import numpy as np\n\n\ndef load_data():\n"
                                   "    yield {'x': np.ones(8, 'f4')}\n")
        np.savez("like.npz", x=np.linspace(3, 4, 8, dtype="f4"))
        self.blame()
        kept = Path("state.json").read_bytes()

        def refused(*words):
            ended = self.blame(*words)
            self.assertEqual(ended.returncode, 3, ended.stdout)
            self.assertIn("'state.json' is from another command", ended.stderr)
            self.assertEqual(Path("state.json").read_bytes(), kept)

        for words in (["--seed", "2"], ["--like", "like.npz"], ["--val-range", "[2,3]"],
                      ["--data-loader-script", "load.py", "--python", sys.executable],
                      ["--iterations", "2"], ["--map-outputs", "t39=t39"],
                      ["--map-inputs", "x=x"]):
            with self.subTest(words=words):
                refused(*words)
        weights = bytearray(Path("bad.bin").read_bytes())
        weights[-1] ^= 1
        Path("bad.bin").write_bytes(weights)
        refused()

    def test_what_probes_disturbed_is_searched_again(self):
        onnx.save(fused_chain(), "chain.onnx")
        words = ["chain.onnx", "--onnxrt", "--model-runner", FUSING, "--python", sys.executable,
                 "--resume", "state.json", "--save-blame", "b.json"]
        for environment in ({"FUSING": "t3m"}, {"BREAKING": "t2m"}):
            Path("state.json").unlink(missing_ok=True)
            found = []
            for kept in (None, 12, 5):
                if kept:
                    state = json.loads(Path("state.json").read_text())
                    state["layers"] = state["layers"][:kept]
                    Path("state.json").write_text(json.dumps(state))
                ended = subprocess.run([VERNIER, "blame", *words], capture_output=True, text=True,
                                       env={**os.environ, **environment})
                self.assertEqual(ended.returncode, 1, ended.stderr)
                found.append(json.loads(Path("b.json").read_text()))
            for key in ("effect", "probes", "region", "finding"):
                whole, *again = [each["disturbance"][key] for each in found]
                self.assertEqual(again, [whole, whole])
            self.assertEqual(len({each["culprits"][0]["why"] for each in found}), 1)

    def test_files_that_are_none_of_its_own_stay(self):
        for text in ("{}", "hello", '{"schema_version": 1}'):
            Path("state.json").write_text(text)
            ended = self.blame()
            self.assertEqual(ended.returncode, 3, ended.stdout)
            self.assertRegex(ended.stderr, "--resume: 'state.json' (was not saved by an "
                                           "interrupted search|is from another command)")
            self.assertEqual(Path("state.json").read_text(), text)
        ended = self.blame("--save-blame", "state.json")
        self.assertEqual(ended.returncode, 2, ended.stdout)
        self.assertIn("would both write 'state.json'", ended.stderr)

    def test_what_cannot_be_kept_is_told_before_the_search(self):
        Path("in_the_way").write_text("")
        self.words[self.words.index("--resume") + 1] = "in_the_way/state.json"
        ended = self.blame()
        self.assertEqual(ended.returncode, 7, ended.stdout + ended.stderr)
        self.assertIn("in_the_way", ended.stderr)
        self.assertNotIn("Batch", ended.stdout)


if __name__ == "__main__":
    unittest.main()
