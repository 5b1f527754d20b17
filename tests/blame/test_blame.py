"""`vernier blame` as a user meets it: disturbance, tensors that cannot be exposed, saved references,
bundles, interrupted searches, two models whose tensors have other names."""

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
from onnx import TensorProto, helper, numpy_helper

import planted
from program import VERNIER, Case, blame, two_models

EXAMPLES = Path(__file__).parents[2] / "examples"
FUSING = str(Path(__file__).with_name("fusing_runner.py"))


def chain(length=6, names="t"):
    """MatMul and Add by turns."""
    random = np.random.default_rng(7)
    nodes, weights, tip = [], [], "x"
    for i in range(length):
        weight = random.normal(size=(16, 16)).astype(np.float32) / 4
        bias = random.normal(size=16).astype(np.float32)
        weights += [numpy_helper.from_array(weight, f"w{i}"),
                    numpy_helper.from_array(bias, f"b{i}")]
        nodes += [helper.make_node("MatMul", [tip, f"w{i}"], [f"{names}{i}m"], name=f"MatMul_{i}"),
                  helper.make_node("Add", [f"{names}{i}m", f"b{i}"], [f"{names}{i}"],
                                   name=f"Add_{i}")]
        tip = f"{names}{i}"
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info(tip, TensorProto.FLOAT, [4, 16])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cancelling(scale=1.0):
    """Normalised twice by hand: the second mean is nothing but the rounding of the first."""
    random = np.random.default_rng(11)
    weight = (random.normal(size=(48, 48)) / 7 * scale).astype(np.float32)
    weights = [numpy_helper.from_array(weight, "w"),
               numpy_helper.from_array(np.ones(48, np.float32), "one"),
               numpy_helper.from_array(np.zeros(48, np.float32), "zero"),
               numpy_helper.from_array(np.float32(1e-5), "epsilon")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], name="project"),
             helper.make_node("LayerNormalization", ["p", "one", "zero"], ["n"], name="norm"),
             helper.make_node("ReduceMean", ["n"], ["mean"], name="mean", axes=[-1]),
             helper.make_node("Sub", ["n", "mean"], ["c"], name="centre"),
             helper.make_node("Mul", ["c", "c"], ["s"], name="square"),
             helper.make_node("ReduceMean", ["s"], ["v"], name="variance", axes=[-1]),
             helper.make_node("Add", ["v", "epsilon"], ["ve"], name="add"),
             helper.make_node("Sqrt", ["ve"], ["d"], name="root"),
             helper.make_node("Div", ["c", "d"], ["y"], name="divide")]
    graph = helper.make_graph(
        nodes, "cancelling", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16, 48])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16, 48])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def offset():
    """LayerNormalization of large values that differ little."""
    ones = numpy_helper.from_array(np.ones(64, np.float32), "one")
    thousand = numpy_helper.from_array(np.float32(1000), "thousand")
    nodes = [helper.make_node("Add", ["x", "thousand"], ["a"], name="offset"),
             helper.make_node("LayerNormalization", ["a", "one"], ["n"], name="norm"),
             helper.make_node("Tanh", ["n"], ["y"], name="tanh")]
    graph = helper.make_graph(
        nodes, "offset", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 64])], [ones, thousand])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Conditioning(Case):
    """What rounding does where inputs cancel is nobody's fault."""

    def test_a_mean_that_cancels_is_not_blamed(self):
        onnx.save(cancelling(), "good.onnx")
        ended, found = blame(self.folder.name, "good.onnx", "--onnxrt", "--openvino")
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)
        mean = next(layer for layer in found["layers"] if layer["node"] == "mean")
        self.assertIn("condition number", mean["outputs"][0]["bar_why"])

    def test_a_fault_before_it_is_first(self):
        onnx.save(cancelling(), "good.onnx")
        onnx.save(cancelling(scale=1.01), "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=openvino bad.onnx", "--reference", "gold")
        self.assertEqual(ended.returncode, 1)
        self.assertEqual([culprit["node"] for culprit in found["culprits"]], ["project"])

    def test_a_model_that_amplifies_rounding_says_so(self):
        onnx.save(offset(), "model.onnx")
        ended, found = blame(self.folder.name, "model.onnx", "--onnxrt", "--openvino")
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)
        self.assertGreater(found["condition"], 8)
        self.assertIn("amplifies rounding", ended.stdout)


    def test_a_search_that_goes_on_knows_what_was_amplified(self):
        onnx.save(offset(), "model.onnx")
        words = ["model.onnx", "--onnxrt", "--openvino", "--max-host-mem", "1K", "--resume", "s.json"]
        blame(self.folder.name, *words)
        state = json.loads(Path("s.json").read_text())
        self.assertEqual(state["layers"].pop()["node"], "tanh")
        Path("s.json").write_text(json.dumps(state))
        ended, found = blame(self.folder.name, *words)
        self.assertEqual(found["culprits"], [], ended.stdout)
        self.assertEqual(ended.returncode, 0)


class Blame(Case):
    def fusing(self, *words, **environment):
        onnx.save(chain(), "chain.onnx")
        os.environ.update(environment)
        self.addCleanup(lambda: [os.environ.pop(name, None) for name in environment])
        return blame(self.folder.name, "chain.onnx", "--onnxrt", "--model-runner", FUSING,
                     "--python", sys.executable, *words)

    def test_a_reference_that_probes_change_is_no_pass(self):
        ended, found = self.fusing("--reference", "fusing_runner", FUSING="t3m")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertTrue(found["disturbed"])
        self.assertIn("Probing changed the reference", found["culprits"][0]["why"])

    def test_a_fusion_that_probes_cure(self):
        ended, found = self.fusing(FUSING="t3m")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertTrue(found["disturbed"])
        self.assertEqual(found["disturbance"]["effect"], "cures")
        self.assertEqual(found["disturbance"]["probes"], ["t3m"])
        self.assertEqual(found["disturbance"]["region"], ["MatMul_3", "Add_3"])
        self.assertEqual(found["culprits"][0]["node"], "MatMul_3")
        self.assertIn("fusion or interaction", found["culprits"][0]["why"])

    def test_probes_that_cause_a_fault(self):
        ended, found = self.fusing(BREAKING="t2m")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(found["disturbance"]["effect"], "causes")
        self.assertEqual(found["disturbance"]["probes"], ["t2m"])

    def test_only_the_probes_of_the_batch_that_showed_it_are_searched(self):
        """All tensors at once may be too many: there more than four do not go together."""
        for environment, effect in (({"FUSING": "t3m"}, "cures"), ({"BREAKING": "t2m"}, "causes")):
            with self.subTest(effect):
                ended, found = self.fusing("--max-host-mem", "1K", CROWDED="4", **environment)
                self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
                self.assertGreater(found["batches"], 3)
                self.assertEqual(found["disturbance"]["effect"], effect)
                self.assertEqual(found["disturbance"]["probes"], list(environment.values()))
                for name in environment:
                    os.environ.pop(name)

    def test_a_tensor_that_cannot_be_exposed(self):
        for how in ("REFUSING", "DYING"):
            with self.subTest(how):
                ended, found = self.fusing(**{how: "t4m"})
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual([tensor["name"] for tensor in found["unexposed"]], ["t4m"])
                layer = next(layer for layer in found["layers"] if layer["node"] == "Add_4")
                self.assertEqual(layer["group"], ["MatMul_4", "Add_4"])
                self.assertEqual(found["compared"], 11)
                os.environ.pop(how)

    def test_a_tensor_that_the_reference_cannot_expose(self):
        """Its sessions are opened while the candidate's are: what goes wrong there is seen later."""
        for how in ("REFUSING", "DYING"):
            with self.subTest(how):
                ended, found = self.fusing("--reference", "fusing_runner", **{how: "t4m"})
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual([tensor["name"] for tensor in found["unexposed"]], ["t4m"])
                self.assertEqual(found["compared"], 11)
                os.environ.pop(how)

    def test_a_reference_that_does_not_open(self):
        ended, found = self.fusing("--reference", "fusing_runner", REFUSING="t5")
        self.assertEqual(ended.returncode, 6, ended.stdout + ended.stderr)
        self.assertIn("this tensor cannot be an output", ended.stderr)
        self.assertFalse(found["layers"])

    def test_saved_outputs_are_a_reference(self):
        network = planted.plant(0, "scale_weights")
        onnx.save(network.good, "good.onnx")
        onnx.save(network.bad, "bad.onnx")
        subprocess.run([VERNIER, "run", "good.onnx", "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", "in.npz", "--save-outputs", "gold.npz", "-qq"],
                       check=True, capture_output=True)
        ended, found = blame(self.folder.name, "bad.onnx", "--onnxrt", "--load-inputs", "in.npz",
                             "--load-outputs", "gold.npz")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])

    def saved(self, model, name, *words):
        """Inputs and outputs of a model: NAME.in.npz, NAME.npz."""
        subprocess.run([VERNIER, "run", model, "--onnxrt", "--onnx-outputs", "mark", "all",
                        "--save-inputs", name + ".in.npz", "--save-outputs", name + ".npz", "-qq",
                        *words], check=True, capture_output=True)

    def test_fewer_iterations_than_the_other_side_are_no_pass(self):
        onnx.save(chain(2), "chain.onnx")
        self.saved("chain.onnx", "two", "--iterations", "2")
        self.saved("chain.onnx", "three", "--iterations", "3")
        for inputs, outputs in (("two", "three"), ("three", "two")):
            words = ["chain.onnx", "--onnxrt", "--load-inputs", inputs + ".in.npz",
                     "--load-outputs", outputs + ".npz"]
            ended = subprocess.run([VERNIER, "blame", *words, "--report", "o.md"],
                                   capture_output=True, text=True)
            self.assertEqual(ended.returncode, 4, ended.stdout)
            self.assertIn("only the first 2 of both were looked at", ended.stdout)
            self.assertNotIn("\u2705", Path("o.md").read_text())
            self.assertIn("only the first 2 of both", Path("o.md").read_text())
            _, found = blame(self.folder.name, *words)
            self.assertEqual(found["iterations"], 2)

    def test_inputs_that_the_saved_outputs_were_not_made_from(self):
        model = chain(2)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
        onnx.save(model, "chain.onnx")
        self.saved("chain.onnx", "gold")
        self.saved("chain.onnx", "other", "--seed", "7")
        self.saved("chain.onnx", "long", "--input-shapes", "x:[6,16]")
        words = ["chain.onnx", "--onnxrt", "--load-outputs", "gold.npz", "--load-inputs"]
        doubt = "or these are not the inputs that the saved outputs were made from"
        ended, found = blame(self.folder.name, *words, "other.in.npz")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([c["node"] for c in found["culprits"]], ["MatMul_0"])
        self.assertIn(doubt, found["culprits"][0]["why"])
        ended, found = blame(self.folder.name, *words, "long.in.npz")
        self.assertEqual(ended.returncode, 3, ended.stdout)
        self.assertIn("the saved tensor 't0m' has the shape", ended.stderr)
        self.assertIn("have to come from one run", ended.stderr)
        self.assertEqual(found["culprits"], [])
        # What reads more than the inputs is accused without reservation.
        weight = next(w for w in model.graph.initializer if w.name == "w1")
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(2), "w1"))
        onnx.save(model, "chain.onnx")
        _, found = blame(self.folder.name, *words, "gold.in.npz")
        self.assertEqual([c["node"] for c in found["culprits"]], ["MatMul_1"])
        self.assertNotIn(doubt, found["culprits"][0]["why"])

    def test_a_runner_that_fails_is_named(self):
        onnx.save(chain(1), "good.onnx")
        Path("bad.onnx").write_bytes(chain(1).SerializeToString().replace(b"MatMul", b"NoSuch"))
        for first, second in (("good", "bad"), ("bad", "good")):
            ended, _ = blame(self.folder.name, "--runner", f"one=onnxrt {first}.onnx", "--runner",
                             f"two=openvino {second}.onnx", "--reference", "one")
            self.assertIn(ended.returncode, (3, 6), ended.stderr)
            self.assertIn(f"[!] '{'one' if first == 'bad' else 'two'}': ", ended.stderr)

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
            # Each error with what its own bar is for.
            self.assertRegex(failure.get("message"),
                             r"own error is [^;]+, the bar is 1 \(float32, longest sum \d+, \d+ layers?\)"
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

    def test_a_search_is_resumed_by_blame(self):
        onnx.save(chain(1), "chain.onnx")
        ended = subprocess.run([VERNIER, "run", "chain.onnx", "--onnxrt", "--openvino", "--blame",
                                "--resume", "st.json"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("Unrecognized Options: ['st.json']", ended.stdout)
        self.assertIn("`vernier blame --resume st.json`", ended.stdout)

    def test_saved_outputs_need_their_inputs(self):
        onnx.save(chain(), "chain.onnx")
        subprocess.run([VERNIER, "run", "chain.onnx", "--onnxrt", "--save-outputs", "gold.npz",
                        "-qq"], check=True, capture_output=True)
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt", "--load-outputs", "gold.npz")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--load-inputs", ended.stderr)

    def test_one_side_is_not_enough(self):
        onnx.save(chain(), "chain.onnx")
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt")
        self.assertEqual(ended.returncode, 2)

    def test_models_without_a_common_tensor(self):
        onnx.save(chain(), "a.onnx")
        onnx.save(chain(names="u"), "b.onnx")
        ended, _ = blame(self.folder.name, "--runner", "gold=onnxrt a.onnx", "--runner",
                         "new=onnxrt b.onnx")
        self.assertEqual(ended.returncode, 4)

    def test_a_workflow_is_told_who_is_to_blame(self):
        network = planted.plant(0, "scale_weights")
        words = [VERNIER, "blame", *two_models(network), "-q"]
        surroundings = {**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "step.md"}
        ended = subprocess.run(words, capture_output=True, text=True, env=surroundings)
        told = [line for line in ended.stdout.splitlines() if line.startswith("::")]
        self.assertTrue(told[0].startswith("::error title=vernier::"), told)
        self.assertIn(f"title={network.culprits[0]} (", told[1])
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
        for command in (["run"], ["run", "--blame", "--onnx-outputs", "mark", "all"], ["blame", "-v"]):
            ended = subprocess.run(
                [VERNIER, *command, "--runner", "gold=onnxrt good.onnx", "--runner",
                 "new=onnxrt bad.onnx", "--reference", "gold"], capture_output=True, text=True,
                env={**os.environ, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": ""})
            self.assertEqual(ended.returncode, 1, ended.stderr)
            told = re.findall(r"(?m)^\s*::.*", ended.stdout + "\n" + ended.stderr)
            self.assertGreater(len(told), 0)
            for line in told:
                self.assertRegex(line, r"^::error title=(vernier::|MatMul_1%0A|out%0A|t\d)", command)

    def test_batches_without_memory_are_as_small_as_can_be(self):
        network = planted.plant(0, "scale_weights")
        ended, found = blame(self.folder.name, *two_models(network), "--max-host-mem", "40K")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertGreater(found["batches"], 3)
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])

    def test_an_interrupted_search_goes_on(self):
        network = planted.plant(0, "scale_weights")
        words = [*two_models(network), "--max-host-mem", "40K", "--resume", "state.json"]
        _, whole = blame(self.folder.name, *words)
        state = json.loads(Path("state.json").read_text())
        half = len(state["layers"]) // 2
        kept = state["layers"][:half]
        state["layers"] = kept
        Path("state.json").write_text(json.dumps(state))
        ended, again = blame(self.folder.name, *words)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual([c["node"] for c in again["culprits"]],
                         [c["node"] for c in whole["culprits"]])
        self.assertEqual([layer["node"] for layer in again["layers"]],
                         [layer["node"] for layer in whole["layers"]])
        ended, _ = blame(self.folder.name, *words, "--seed", "5")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("another command", ended.stderr)

    def test_the_bundle_of_a_script_runs_from_its_own_folder(self):
        (Path(self.folder.name) / "runner.py").write_text(Path(FUSING).read_text())
        onnx.save(chain(), "chain.onnx")
        os.environ["BREAKING"] = "t2m"
        self.addCleanup(os.environ.pop, "BREAKING")
        ended, _ = blame(self.folder.name, "chain.onnx", "--onnxrt", "--model-runner", "runner.py",
                         "--python", sys.executable, "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertNotIn("no file", again.stderr)
        self.assertIn("compared 1 output", again.stdout, again.stderr)

    def test_the_bundle_shows_the_failure(self):
        network = planted.plant(1, "wrong_epsilon")
        ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        part = onnx.load("bundle/model.onnx")
        onnx.checker.check_model(part, full_check=True)
        self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
        again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                               env={**os.environ, "VERNIER": VERNIER})
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("FAILED", again.stdout)
        # A search that finds nothing does not look as if it had found this.
        first = two_models(network)[:2]
        clean, _ = blame(self.folder.name, *first, first[0], first[1].replace("=", "2=", 1),
                         "--bundle", "bundle")
        self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
        self.assertIn("'bundle' still holds what another search found", clean.stdout)

    def test_a_second_bundle_replaces_the_first_as_a_whole(self):
        first, second = planted.plant(1, "wrong_epsilon"), planted.plant(2, "wrong_epsilon")
        for network in (first, second):
            ended, _ = blame(self.folder.name, *two_models(network), "--bundle", "bundle")
            self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
            part = onnx.load("bundle/model.onnx")
            self.assertEqual([node.name for node in part.graph.node], [network.culprits[0]])
            self.assertEqual(sorted(os.listdir("bundle")),
                             ["found", "model.onnx", "repro.sh", "test_data_set_0"])
            again = subprocess.run(["bundle/repro.sh"], capture_output=True, text=True,
                                   env={**os.environ, "VERNIER": VERNIER})
            self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
            self.assertIn("compared 1 output", again.stdout)

    def test_a_bundle_overwrites_nobodys_files(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        os.mkdir("theirs")
        Path("theirs/model.onnx").write_text("somebody's")
        before = Path("bad.onnx").read_bytes()
        for command in ("run", "blame"):
            more = ["--blame", "--save-outputs", "ran.json"] if command == "run" else []
            for folder, why in ((".", "which is read by this command"),
                                ("theirs", "holds 'model.onnx', which is no part of a bundle")):
                with self.subTest(command=command, folder=folder):
                    ended = subprocess.run([VERNIER, command, *words, *more, "--bundle", folder],
                                           capture_output=True, text=True)
                    self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
                    self.assertIn(why, ended.stderr)
                    self.assertEqual(ended.stdout, "")
        self.assertFalse(Path("ran.json").exists())
        self.assertEqual(Path("theirs/model.onnx").read_text(), "somebody's")
        self.assertEqual(Path("bad.onnx").read_bytes(), before)

    def test_run_with_blame(self):
        network = planted.plant(1, "wrong_epsilon")
        words = two_models(network)
        ended = subprocess.run([VERNIER, "run", *words, "--blame", "--save-blame", "b.json"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        found = json.loads(Path("b.json").read_text())
        self.assertEqual(found["culprits"][0]["node"], network.culprits[0])
        self.assertIn("To blame:", ended.stdout)

    def test_one_report_of_a_run_and_its_blame(self):
        network = planted.plant(1, "wrong_epsilon")
        culprit = network.culprits[0]
        ended = subprocess.run([VERNIER, "run", *two_models(network), "--blame", "--save-blame",
                                "b.json", "--save-record", "r.json", "--report", "o.html", "--report",
                                "o.xml", "--report", "o.md", "-qq"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        page = json.loads(Path("o.html").read_text().split('type="application/json">')[1].split("</script>")[0])
        self.assertEqual(page["blame"]["culprits"][0]["node"], culprit)
        self.assertEqual([len(pair["outputs"]) for pair in page["pairs"]],
                         [1, len(network.bad.graph.node)])
        for output in page["pairs"][1]["outputs"]:
            self.assertIn("charts", output, output["name"])
            self.assertIn("own", output)
        self.assertIn("does not match", page["sentence"])
        self.assertIn(f"{culprit} (LayerNormalization) is to blame", page["sentence"])
        self.assertIn(culprit, Path("o.md").read_text().replace("\\", ""))
        suites = ElementTree.parse("o.xml").getroot().findall("testsuite")
        self.assertEqual([suite.get("name") for suite in suites][1:],
                         ["gold vs. new", "gold vs. new, layer by layer", "blame", "run"])
        for record in ("b.json", "r.json"):
            again = subprocess.run([VERNIER, "report", record, "-o", "later.html", "-o",
                                    "later.md"],
                                   capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stderr)
            later = Path("later.html").read_text().split('type="application/json">')[1].split("</script>")[0]
            self.assertEqual(json.loads(later)["blame"], page["blame"])
            self.assertEqual(len(json.loads(later)["pairs"][-1]["outputs"]),
                             len(network.bad.graph.node))
            self.assertIn(culprit, Path("later.md").read_text().replace("\\", ""))

    def test_float32_against_float16(self):
        """One feed for both; own errors know of the shorter type."""
        good, half = chain(), onnx.ModelProto()
        half.CopyFrom(good)
        for weight in half.graph.initializer:
            values = numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(numpy_helper.from_array(values, weight.name))
        for value in [*half.graph.input, *half.graph.output]:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
        bad = onnx.ModelProto()
        bad.CopyFrom(half)
        weight = next(w for w in bad.graph.initializer if w.name == "w3")
        values = numpy_helper.to_array(weight) * np.float16(1.1)
        weight.CopyFrom(numpy_helper.from_array(values.astype(np.float16), "w3"))
        onnx.save(good, "good.onnx")
        for model, guilty in ((half, []), (bad, ["MatMul_3"])):
            onnx.save(model, "half.onnx")
            ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                                 "new=onnxrt half.onnx")
            over = [layer["node"] for layer in found["layers"] if layer["own_error"] > 1]
            self.assertEqual(over, guilty, ended.stdout + ended.stderr)
            self.assertEqual([c["node"] for c in found["culprits"]][:len(guilty)], guilty)

    def test_the_same_network_in_float16_is_nobodys_fault(self):
        """Its weights are rounded, and ONNX Runtime computes it in float32 all the same."""
        for candidate in ("onnxrt", "openvino"):
            ended, found = blame(self.folder.name, "--runner", f"gold=onnxrt {EXAMPLES}/digits.onnx",
                                 "--runner", f"new={candidate} {EXAMPLES}/digits_fp16.onnx",
                                 "--reference", "gold")
            self.assertEqual(found["culprits"], [], candidate)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_the_node_within_a_branch(self):
        network = planted.plant(7, "in_body")
        _, found = blame(self.folder.name, *two_models(network))
        self.assertEqual(found["culprits"][0]["node"], network.culprits[1])
        self.assertIn("then_branch", found["culprits"][0]["why"])

    def aliased(self, path, prefix, through, wrong=None):
        """A chain whose sums have other names, and the common ones behind an operator."""
        model = chain(3)
        for i, node in enumerate([n for n in model.graph.node if n.op_type == "Add"]):
            common, own = node.output[0], f"{prefix}{i}"
            node.output[0] = own
            place = list(model.graph.node).index(node) + 1
            if through == "quantised":
                model.graph.initializer.extend(
                    [numpy_helper.from_array(np.float32(0.02), f"s{i}"),
                     numpy_helper.from_array(np.int8(0), f"z{i}")])
                new = [helper.make_node("QuantizeLinear", [own, f"s{i}", f"z{i}"], [own + "_q"]),
                       helper.make_node("DequantizeLinear", [own + "_q", f"s{i}", f"z{i}"],
                                        [common])]
            elif through == "Cast":
                new = [helper.make_node("Cast", [own], [common], to=TensorProto.FLOAT)]
            else:
                new = [helper.make_node(through, [own], [common])]
            for offset, made in enumerate(new):
                model.graph.node.insert(place + offset, made)
        if wrong:
            weight = next(w for w in model.graph.initializer if w.name == wrong)
            weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(1.05),
                                                    wrong))
        onnx.save(model, path)

    def test_tensors_meet_through_what_hands_them_on(self):
        self.aliased("good.onnx", "a", "Identity")
        for through in ("Identity", "Cast", "quantised"):
            with self.subTest(through):
                self.aliased("bad.onnx", "u", through, wrong="w1")
                ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx",
                                     "--runner", "new=onnxrt bad.onnx")
                met = {tensor["name"]: tensor["candidate_name"]
                       for layer in found["layers"] for tensor in layer["outputs"]}
                self.assertEqual({name: met.get(name) for name in ("a0", "a1", "a2", "t1m")},
                                 {"a0": "u0", "a1": "u1", "a2": "u2", "t1m": None})
                self.assertEqual(ended.returncode, 1)
                guilty = [c["node"] for c in found["culprits"]]
                self.assertEqual(guilty[0] if through != "quantised" else "MatMul_1", "MatMul_1")
                self.assertIn("MatMul_1", guilty)
                alone = {tensor["name"] for tensor in found["unexposed"]}
                self.assertEqual("u0_q" in alone, through == "quantised")

    def test_quantised_twins_meet(self):
        """The float model against the same with quantisers: names end differently."""
        good = chain(3)
        bad = onnx.ModelProto()
        bad.CopyFrom(good)
        for i, node in enumerate(list(bad.graph.node)):
            if node.op_type != "Add" or node.output[0] == bad.graph.output[0].name:
                continue
            name = node.output[0]
            node.output[0] = name + "_float"
            scale, zero = f"{name}_scale", f"{name}_zero"
            bad.graph.initializer.extend([numpy_helper.from_array(np.float32(0.05), scale),
                                          numpy_helper.from_array(np.int8(0), zero)])
            place = list(bad.graph.node).index(node) + 1
            bad.graph.node.insert(place, helper.make_node(
                "QuantizeLinear", [name + "_float", scale, zero], [name + "_q"]))
            bad.graph.node.insert(place + 1, helper.make_node(
                "DequantizeLinear", [name + "_q", scale, zero], [name]))
        onnx.save(good, "good.onnx")
        onnx.save(bad, "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx")
        self.assertIn(ended.returncode, (0, 1), ended.stderr)
        self.assertGreaterEqual(found["compared"], 6)


if __name__ == "__main__":
    unittest.main()
