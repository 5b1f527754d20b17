"""--save-run-file and --run-file: a run as a file, which anybody can carry out and edit."""

import json
import re
import shutil
import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.comparator import RunResults

from program import Case


class RunFile(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", shape=(2, 3))

    def arrays(self, name):
        """Runner, iteration, output: the bytes."""
        runs = RunResults.load(str(self.folder / name))
        return {(runner, i, output): array.tobytes() for runner, iterations in runs.items()
                for i, outputs in enumerate(iterations) for output, array in outputs.items()}

    def edited(self, **changes):
        """run.json with other settings."""
        path = self.folder / "run.json"
        plan = json.loads(path.read_text(encoding="utf-8"))
        plan.update(changes)
        path.write_text(json.dumps(plan), encoding="utf-8")

    def test_a_run_is_the_same_from_its_file(self):
        words = ["m.onnx", "--onnxrt", "--runner",
                 "other=onnxrt --graph-optimization-level ORT_DISABLE_ALL",
                 "--iterations", "3", "--rtol", "1e-4", "--seed", "7", "--val-range", "[-2,2]",
                 "--save-outputs", "out.json", "--report", "r.md"]
        first = self.vernier("run", *words, "--save-run-file", "run.json")
        self.assertEqual(first.code, 0, first.out + first.err)
        outputs = self.arrays("out.json")
        plan = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(plan["inputs"]["seed"], 7)
        self.assertEqual(plan["compare"]["rtol"], {"": 1e-4})
        for name in ("out.json", "r.md"):
            (self.folder / name).unlink()
        again = self.vernier("run", "--run-file", "run.json")
        self.assertEqual(again.code, 0, again.out + again.err)
        self.assertEqual(self.arrays("out.json"), outputs)
        self.assertTrue((self.folder / "r.md").exists())

    def test_what_the_file_decides_decides(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json",
                     "--save-run-file", "run.json")
        self.edited(inputs={"seed": 2})
        ended = self.vernier("run", "--run-file", "run.json", "-q")
        self.assertEqual(ended.code, 1, ended.out + ended.err)

    def repeated(self, ended):
        """What the repro line of a run does from another folder."""
        command = re.search(r"^repro: (.*)$", ended.out, re.MULTILINE)[1]
        again = subprocess.run(["sh", "-c", command], cwd="/", text=True, capture_output=True,
                               timeout=120, check=False)
        self.assertIn(f"repro: {command}\n", again.stdout, again.stderr)
        return command, again.returncode

    def test_the_repro_line_is_made_of_the_plan(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json", "--iters", "1",
                     "--seed=1", "-q", "--save-run-file", "run.json")
        self.edited(inputs={"seed": 2})
        command, code = self.repeated(self.vernier("run", "--run-file", "run.json"))
        self.assertTrue(command.endswith(" run m.onnx --onnxrt --load-outputs gold.json --seed 2"),
                        command)
        self.assertEqual(code, 1)

    def test_what_no_words_say_is_a_run_file_in_the_repro_line(self):
        self.vernier("run", "m.onnx", "--runner", "x=onnxrt", "--onnxrt", "--save-run-file",
                     "run.json")
        runners = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))["runners"]
        runners[0]["name"] = "it's=mine"
        self.edited(runners=runners)
        command, code = self.repeated(self.vernier("run", "--run-file", "run.json"))
        self.assertIn("mktemp", command)
        self.assertEqual(code, 0)

    def test_blame_is_part_of_it(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--onnxrt", "--blame", "--save-blame", "b.json",
                     "--save-run-file", "run.json")
        (self.folder / "b.json").unlink()
        ended = self.vernier("run", "--run-file", "run.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertTrue((self.folder / "b.json").exists())

    def test_nothing_else_may_be_given_that_it_decides(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-run-file", "run.json")
        for words, named in ((["m.onnx"], "'m.onnx'"), (["--openvino"], "--openvino"),
                             (["--seed", "2"], "--seed")):
            ended = self.vernier("run", "--run-file", "run.json", *words)
            self.assertEqual(ended.code, 2, ended.out)
            self.assertIn(f"'run.json' decides everything about the run: leave {named} out",
                          ended.err)

    def test_a_file_that_is_wrong_is_a_sentence(self):
        model = '"path": "m.onnx", "type": "onnx"'
        for text, code, said in (
                ("", 3, "is not the file of a run"),
                ('{"vernier_run": 99}', 3, "this vernier reads up to 1"),
                ('{"vernier_run": 1, "runer": []}', 2,
                 "there is no setting 'runer'; did you mean 'runners'?"),
                ('{"vernier_run": 1, "inputs": {"seed": 1.5}}', 2,
                 "'inputs.seed': expected a whole number"),
                ('{"vernier_run": 1,\n"inputs": {"seed": 1.}}', 2,
                 "line 2, at 'inputs.seed': not valid JSON"),
                ('{"vernier_run": 1, "inputs": {"seed": 1, "seed": 2}}', 2,
                 "'inputs.seed' is given twice"),
                ('{"vernier_run": 1, "runners": [{"name": "a", "backend": "onxrt", "model": {%s}}]}'
                 % model, 2, "'runners[0].backend': there is no backend 'onxrt'; did you mean"),
                ('{"vernier_run": 1, "runners": [{"name": "a", "backend": "onnxrt", "model": '
                 '{"path": "m.onnx", "type": "onxx"}}]}', 2,
                 "'runners[0].model.type': there is no model type 'onxx'; did you mean 'onnx'?")):
            (self.folder / "run.json").write_text(text, encoding="utf-8")
            ended = self.vernier("run", "--run-file", "run.json")
            self.assertEqual(ended.code, code, (text, ended.out, ended.err))
            self.assertIn(said, ended.err)
        self.assertEqual(self.vernier("run", "--run-file", "nosuch.json").code, 3)

    def test_a_run_file_without_runners_runs_nothing_and_says_so(self):
        (self.folder / "run.json").write_text('{"vernier_run": 1}', encoding="utf-8")
        self.assertEqual(self.vernier("run", "--run-file", "run.json").code, 2)

    def test_its_numbers_and_names_keep_to_the_rules_of_options(self):
        self.vernier("run", "m.onnx", "--runner", "a=onnxrt", "--runner", "b=onnxrt",
                     "--save-run-file", "run.json")
        whole = json.loads(self.path("run.json").read_text(encoding="utf-8"))
        for part, setting, value in (("compare", "atol", {"": -1}),
                                     ("compare", "error_quantile", {"": 7}),
                                     ("compare", "l2_threshold", {"y": -1}),
                                     ("compare", "max_mismatch_share", {"": 5}),
                                     ("execution", "warm_up", -5), ("inputs", "iterations", -1)):
            self.edited(**{part: {**whole.get(part, {}), setting: value}})
            ended = self.vernier("run", "--run-file", "run.json")
            self.assertEqual(ended.code, 2, (setting, ended.out, ended.err))
            self.assertIn(f"{part}.{setting}", ended.err)
            self.edited(**{part: whole.get(part, {})})
        for name, said in (("a", "two runners are called 'a'"), ("", "has no name")):
            first, second = whole["runners"]
            self.edited(runners=[first, {**second, "name": name}])
            ended = self.vernier("run", "--run-file", "run.json")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(said, ended.err)

    def test_nothing_that_is_read_is_overwritten(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold.json")
        self.vernier("run", "m.onnx", "--onnxrt", "--load-outputs", "gold.json", "--save-outputs",
                     "o.json", "--save-run-file", "run.json")
        (self.folder / "o.json").unlink()
        for save in ({"outputs": "m.onnx"}, {"record": "m.onnx"}, {"record": "run.json"},
                     {"record": "gold.json"}, {"record": "o.json", "outputs": "./o.json"}):
            self.edited(save=save)
            before = {path: path.read_bytes() for path in self.folder.glob("*.*")}
            ended = self.vernier("run", "--run-file", "run.json")
            self.assertEqual(ended.code, 2, (save, ended.out, ended.err))
            self.assertIn("name ", ended.err)
            self.assertEqual({path: path.read_bytes() for path in before}, before, save)

    def test_the_log_is_none_of_its_files(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "o.json", "--save-run-file",
                     "run.json")
        model = self.path("m.onnx").read_bytes()
        for name, said in (("o.json", "would both write 'o.json'"), ("m.onnx", "overwritten")):
            ended = self.vernier("run", "--run-file", "run.json", "--log-file", name)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(said, ended.err)
        self.assertEqual(self.path("m.onnx").read_bytes(), model)
        ended = self.vernier("batch", "m.on*x", "--log-file", "m.onnx", "--", "--onnxrt")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertEqual(self.path("m.onnx").read_bytes(), model)

    def test_the_log_replaces_nothing_that_is_read_behind_the_dashes(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-inputs", "in.json")
        before = self.path("in.json").read_bytes()
        options = ("--log-file", "in.json", "--", "--onnxrt", "--load-inputs", "in.json")
        for words in (("batch", "m.onnx"), ("debug", "precision", "m.onnx", "-o", "low.onnx")):
            ended = self.vernier(*words, *options)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("would be overwritten: name another file", ended.err)
            self.assertEqual(self.path("in.json").read_bytes(), before)

    def test_words_of_maps_and_the_first_state_are_kept(self):
        self.vernier("run", "m.onnx", "--onnxrt", "--save-inputs", "h.npz")
        self.path("map.txt").write_text("x=x\n", encoding="utf-8")
        self.path("pairs.txt").write_text("y=y\n", encoding="utf-8")
        sides = ("run", "m.onnx", "--runner", "a=onnxrt", "--runner", "b=onnxrt")
        for name, option in (("map.txt", ("--map-inputs", "@map.txt")),
                             ("pairs.txt", ("--map-outputs", "@pairs.txt")),
                             ("h.npz", ("--initial-state", "h.npz"))):
            before = self.path(name).read_bytes()
            for saved in ("--log-file", "--save-record", "--save-run-file"):
                ended = self.vernier(*sides, *option, saved, name)
                self.assertEqual(ended.code, 2, (name, saved, ended.out, ended.err))
                self.assertIn("would be overwritten: name another file", ended.err)
                self.assertEqual(self.path(name).read_bytes(), before)

    def test_files_that_no_word_names_are_kept(self):
        """External weights, and the files of folders."""
        weights = numpy_helper.from_array(np.ones(600, np.float32), "w")
        x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [600]) for name in "xy")
        model = helper.make_model(
            helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y],
                              [weights]),
            opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, str(self.path("e.onnx")), save_as_external_data=True,
                  location="e.bin", size_threshold=0)
        self.path("w").mkdir()
        shutil.copy(self.path("e.onnx"), self.path("w"))
        self.vernier("run", "m.onnx", "--onnxrt", "--save-outputs", "gold")
        gold = next(self.path("gold").glob("*.json"))
        sides = ("--runner", "a=onnxrt e.onnx", "--runner", "b=onnxrt e.onnx")
        for words in (("run", "e.onnx", "--onnxrt", "--save-record", "e.bin"),
                      ("run", "e.onnx", "--onnxrt", "--log-file", "e.bin"),
                      ("run", *sides, "--log-file", "e.bin"),
                      ("run", *sides, "--save-run-file", "e.bin"),
                      ("run", "--runner", "a=onnxrt w/e.onnx --external-data-dir .",
                       "--save-run-file", "e.bin"),
                      ("blame", *sides, "--save-blame", "e.bin"),
                      ("batch", "e.onnx", "--log-file", "e.bin", "--", "--onnxrt"),
                      ("batch", "m.onnx", "--log-file", "e.bin", "--", *sides[:2]),
                      ("check", "extremes", *sides[:2], "--log-file", "e.bin"),
                      ("check", "consistency", *sides[:2], "--log-file", "e.bin"),
                      ("check", "lint", "e.onnx", "-o", "e.bin"),
                      ("run", "m.onnx", "--onnxrt", "--load-outputs", "gold", "--save-record",
                       f"gold/{gold.name}")):
            before = self.path("e.bin").read_bytes(), gold.read_bytes()
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, (words, ended.out, ended.err))
            self.assertIn("would be overwritten: name another file", ended.err)
            self.assertEqual((self.path("e.bin").read_bytes(), gold.read_bytes()), before)


if __name__ == "__main__":
    unittest.main()
