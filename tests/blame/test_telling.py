"""What is told of a search: on the console, in reports and to a workflow."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.append(str(Path(__file__).parent.parent / "reports"))

import planted
from models import chain
from page_file import data_of
from program import VERNIER, Case, two_models


class Telling(Case):
    def test_what_was_looked_at_is_counted(self):
        network = planted.plant(1, "wrong_epsilon")
        ended = subprocess.run([VERNIER, "blame", *two_models(network), "--iterations", "3",
                                "--report", "o.md", "--report", "o.xml", "--save-blame", "b.json"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn(" in 3 iterations", Path("o.md").read_text())
        self.assertIn("the worst of 3 iterations", ended.stdout)
        found = json.loads(Path("b.json").read_text())
        worst = {tensor["name"]: layer["iteration"]
                 for layer in found["layers"] for tensor in layer["outputs"]}
        failures = {case.get("name"): case.find("failure") for case in
                    ElementTree.parse("o.xml").getroot().find("testsuite[@name='gold vs. new, layer by layer']")}
        failed = {name: failure for name, failure in failures.items() if failure is not None}
        self.assertGreater(len(failed), 0)
        for name, failure in failed.items():
            self.assertIn(f"in iteration {worst[name]}, its worst of 3", failure.text)
            self.assertNotIn("iterations passed", failure.text)
            # Each error with what its own error bound is for.
            self.assertRegex(failure.get("message"),
                             r"own error is [^;]+, the threshold is 1 \(float32, longest sum \d+, "
                             r"\d+ layers?(, counted from '[^']+')?\)"
                             if "own error" in failure.get("message") else "total error is")
            self.assertNotIn("own error: ", failure.get("message"))

    def test_no_tolerance_is_advised_where_a_layer_is_to_blame(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        for command in (["blame"], ["run", "--blame"]):
            ended = subprocess.run([VERNIER, *command, *words, "--report", "o.html", "--report",
                                    "o.xml", "--report", "o.md"], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn("To blame:", ended.stdout)
            page = Path("o.html").read_text().split('type="application/json">')[1].split("</script>")[0]
            for text in (ended.stdout, page, Path("o.xml").read_text(), Path("o.md").read_text()):
                self.assertNotIn("to accept this difference", text)
                self.assertNotIn("--onnx-outputs", text)

    def test_a_workflow_is_told_who_is_to_blame(self):
        network = planted.plant(0, "scale_weights")
        words = [VERNIER, "blame", *two_models(network), "-q"]
        surroundings = {**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "step.md"}
        ended = subprocess.run(words, capture_output=True, text=True, env=surroundings)
        seen = [line for line in ended.stdout.splitlines() if line.startswith("::")]
        self.assertTrue(seen[0].startswith("::error title=vernier::"), seen)
        self.assertIn(f"title={network.culprits[0]} (", seen[1])
        step = Path("step.md").read_text()
        self.assertIn("is to blame", step)
        # blame has no tolerances to widen, and knows where the tensors part.
        self.assertNotIn("--atol", step)
        self.assertNotIn("--onnx-outputs", step)
        ended = subprocess.run(words, capture_output=True, text=True,
                               env={**surroundings, "GITHUB_ACTIONS": ""})
        self.assertNotIn("::error", ended.stdout)

    def test_names_cannot_command_a_workflow(self):
        forged = "out\n::error title=x::forged\n  ::stop-commands::tok"
        good, bad = chain(3), chain(3)
        for model in (good, bad):
            for node in model.graph.node:
                node.name += "\n::stop-commands::tok"
                node.output[0] = {model.graph.output[0].name: forged}.get(node.output[0],
                                                                          node.output[0])
            model.graph.output[0].name = forged
        weight = next(w for w in bad.graph.initializer if w.name == "w1")
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(2), "w1"))
        onnx.save(good, "good.onnx")
        onnx.save(bad, "bad.onnx")
        blamed = ["--reference", "gold"]
        for command in (["run"], ["run", "--blame", "--onnx-outputs", "mark", "all", *blamed],
                        ["blame", "-v", *blamed]):
            ended = subprocess.run(
                [VERNIER, *command, "--runner", "gold=onnxrt good.onnx", "--runner",
                 "new=onnxrt bad.onnx"], capture_output=True, text=True,
                env={**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": ""})
            self.assertEqual(ended.returncode, 1, ended.stderr)
            seen = re.findall(r"(?m)^\s*::.*", ended.stdout + "\n" + ended.stderr)
            self.assertGreater(len(seen), 0)
            for line in seen:
                self.assertRegex(line, r"^::error title=(vernier::|MatMul_1%0A|out%0A|t\d)", command)

    def test_one_report_of_a_run_and_its_blame(self):
        network = planted.plant(1, "wrong_epsilon")
        culprit = network.culprits[0]
        ended = subprocess.run([VERNIER, "run", *two_models(network), "--blame", "--save-blame",
                                "b.json", "--save-record", "r.json", "--report", "o.html", "--report",
                                "o.xml", "--report", "o.md", "-qq"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        page = data_of(Path("o.html").read_text())
        whole, texts = page["record"], page["texts"]
        self.assertEqual(whole["blame"]["culprits"][0]["node"], culprit)
        self.assertEqual([len(pair["outputs"]) for pair in whole["pairs"]],
                         [1, len(network.bad.graph.node)])
        for output, seen in zip(whole["pairs"][1]["outputs"], texts["pairs"][1]["outputs"]):
            self.assertIn("charts", output["worst_iteration"], output["name"])
            self.assertIn("own_error", seen)
        heading = re.search(r"<h1>(.*?)</h1>", Path("o.html").read_text()).group(1)
        self.assertIn("does not match", heading)
        self.assertIn(f"{culprit} (LayerNormalization) is to blame", heading)
        self.assertIn(culprit, Path("o.md").read_text().replace("\\", ""))
        suites = ElementTree.parse("o.xml").getroot().findall("testsuite")
        self.assertEqual([suite.get("name") for suite in suites][1:],
                         ["gold vs. new", "gold vs. new, layer by layer", "blame", "run"])
        for record in ("b.json", "r.json"):
            again = subprocess.run([VERNIER, "report", record, "-o", "later.html", "-o",
                                    "later.md"],
                                   capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stderr)
            later = data_of(Path("later.html").read_text())["record"]
            self.assertEqual(later["blame"], page["record"]["blame"])
            self.assertEqual(len(later["pairs"][-1]["outputs"]),
                             len(network.bad.graph.node))
            self.assertIn(culprit, Path("later.md").read_text().replace("\\", ""))

if __name__ == "__main__":
    unittest.main()
