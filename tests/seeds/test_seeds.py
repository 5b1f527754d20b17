"""The command lines of the founding documents: every one of them, with the backends that are here.

    VERNIER=build/release/bin/vernier VENV/bin/python -m unittest test_seeds

Needs a Python with onnx and numpy, which write the models. Each line runs three times over:
as it stands, where a backend that is not installed must cost one sentence and exit code 5 while the
other runners run and save; with OpenVINO in the place of TensorRT, where it must do what it says;
and, for lines that load files, after the lines that save them.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from seed_models import write_models

HERE = pathlib.Path(__file__).resolve().parent
VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))
LINES = (HERE.parent / "cli_oracle" / "seed_commands.txt").read_text().splitlines()

# Lines that cannot run yet, or not without torch: what they have to say instead.
NOT_YET = {
    "--data-loader-backend-module": r"--data-loader-backend-module torch needs the Python "
                                    r"module 'torch'",
}
# How many feeds the documents' loaders make.
FEEDS = {"data_loader.py": 3, "calibration_data.py": 2}

# What has to exist before a line that loads it: made by another line, or by hand.
LOADED = {
    "input.json": "run model.onnx --onnxrt --save-inputs input.json",
    "inputs.json": "run identity.onnx --onnxrt --save-inputs inputs.json "
                   "--save-outputs run_0_outputs.json",
    "results/model_fp32.json": "run model.onnx --onnxrt --save-outputs results/model_fp32.json",
    "results/model_fp16.json": "run model.onnx --openvino --save-outputs results/model_fp16.json",
    "fp32_baseline.json": "run model.onnx --onnxrt --save-outputs fp32_baseline.json",
}


class Done:
    def __init__(self, words, folder):
        # Where there is TensorRT there is no GPU for it.
        done = subprocess.run([VERNIER, *words], cwd=folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.exit, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.folder = folder
        self.criticals = [line for line in self.err.splitlines() if line.startswith("[!]")]

    def __str__(self):
        return f"exit code {self.exit}\n{self.out[-3000:]}{self.err[-2000:]}"


def saved_outputs(path):
    """Runner -> number of iterations and output names, of the runners that ran."""
    document = json.loads(path.read_text())
    return {name: (len(iterations), list(iterations[0]["outputs"]))
            for name, iterations in document["lst"] if iterations}


def not_yet(words):
    return next((NOT_YET[flag] for flag in NOT_YET
                 if any(word.split("=")[0] == flag for word in words)), None)


OF_AN_ENGINE = ("--save-engine", "--save-timing-cache")


def with_openvino(words):
    """OpenVINO in TensorRT's place, which saves nothing of an engine: that would be refused."""
    kept = [word for i, word in enumerate(words)
            if word not in OF_AN_ENGINE and (i == 0 or words[i - 1] not in OF_AN_ENGINE)]
    return ["--openvino" if word == "--trt" else word for word in kept]


class Seeds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.models = pathlib.Path(cls.scratch.name) / "models"
        write_models(cls.models)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def folder(self, words=()):
        """A new folder with the models, and with the files that the line loads."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name))
        for model in self.models.iterdir():
            (folder / model.name).symlink_to(model)
        for name, line in LOADED.items():
            if name in words and not (folder / name).exists():
                done = Done(shlex.split(line), folder)
                self.assertEqual(done.exit, 0, done)
        if "identity.engine" in words:
            (folder / "identity.engine").write_bytes(b"an engine of some TensorRT")
        return folder

    def run_line(self, line, *, openvino=False):
        words = shlex.split(line)
        return Done(with_openvino(words) if openvino else words, self.folder(words))

    def assert_known_flags(self, done):
        self.assertNotIn("Unrecognized Options", done.out)
        self.assertNotIn("usage:", done.err)
        self.assertNotEqual(done.exit, 2, done)
        self.assertLess(done.exit, 64, done)

    def assert_saved(self, done, words):
        for flag in ("--save-outputs", "--save-inputs"):
            if flag in words and words[words.index(flag) + 1:][:1] not in ([], ["--"]):
                name = words[words.index(flag) + 1]
                self.assertTrue((done.folder / name).is_file(), f"{name}\n{done}")

    def test_lines_are_all_here(self):
        self.assertEqual(len(LINES), 38)

    def test_without_tensorrt_each_line_parses_and_the_others_run(self):
        for line in LINES:
            words = shlex.split(line)
            with self.subTest(line):
                done = self.run_line(line)
                self.assert_known_flags(done)
                refusal = not_yet(words)
                if words[0] == "convert":
                    self.assertEqual(done.exit, 5, done)
                    # Without the plug-in, or with it and without the library, or with both.
                    self.assertRegex("\n".join(done.criticals),
                                     "no backend 'tensorrt'|TensorRT was not found|an NVIDIA GPU")
                elif refusal:
                    self.assertEqual(done.exit, 5, done)
                    self.assertRegex("\n".join(done.criticals), refusal)
                elif "--gen-script" in words:
                    self.check_script(done, words)
                elif "--trt" not in words:
                    self.assertEqual(done.exit, 0, done)
                    self.assert_saved(done, words)
                else:
                    self.check_missing_tensorrt(done, words)

    def check_script(self, done, words):
        self.assertEqual(done.exit, 0, done)
        script = (done.folder / words[words.index("--gen-script") + 1]).read_text()
        compile(script, "script", "exec")
        # As Polygraphy writes it, so that whoever has only that can run and change it.
        self.assertIn("from polygraphy.backend.trt import ", script)
        self.assertIn("    OnnxrtRunner(build_onnxrt_session),\n    TrtRunner(deserialize_engine),\n",
                      script)

    def check_missing_tensorrt(self, done, words):
        self.assertEqual(done.exit, 5, done)
        missing = [line for line in done.criticals
                   if re.search("trt-runner.*(tensorrt|NVIDIA GPU)", line)]
        self.assertEqual(len(missing), 1, done)
        # The founding documents' own runner needs torch, which is not here.
        torch = [line for line in done.criticals if "needs the Python module 'torch'" in line]
        self.assertEqual(len(torch), sum(word.startswith("--model-runner") for word in words), done)
        others = 1 + len(torch)
        self.assertEqual(len(done.criticals), others, done)
        if "--onnxrt" in words:
            self.assertRegex(done.out, r"onnxrt(-runner-N0)?\s+onnxruntime [\d.]+ +CPU +float32 .* [mu]s")
            self.assert_saved(done, words)

    def test_with_openvino_in_its_place_the_runners_agree(self):
        for line in LINES:
            words = shlex.split(line)
            if not_yet(words) or "--model-type=engine" in words or "--gen-script" in words:
                continue
            if "--trt" not in words or "--onnxrt" not in words:
                continue
            with self.subTest(line):
                done = self.run_line(line, openvino=True)
                self.assertEqual(done.exit, 0, done)
                count = int(words[words.index("--iterations") + 1]) if "--iterations" in words else 1
                count = next((FEEDS[word] for word in words if word in FEEDS), count)
                self.assertRegex(done.out, rf"vs\. .*Passed: {count}/{count} iterations", done)
                self.assert_saved(done, words)
                for flag in ("--save-heatmaps", "--save-error-metrics-plot"):
                    if flag in words:
                        folder = done.folder / words[words.index(flag) + 1]
                        self.assertGreater(len(list(folder.glob("*.png"))), 0, done)

    def test_saved_results_load_again_and_agree(self):
        folder = self.folder()
        for line in LINES[5:8]:
            with self.subTest(line):
                done = Done(shlex.split(line), folder)
                self.assertEqual(done.exit, 0, done)
        self.assertIn("Passed: 1/1 iterations", done.out)
        self.assertIn("Checking median error", done.out)

    # --- words whose meaning is ours ---------------------------------------------------------------

    def outputs_of(self, flags):
        folder = self.folder()
        done = Done(shlex.split(f"run model.onnx --onnxrt --save-outputs o.json {flags}"), folder)
        self.assertEqual(done.exit, 0, done)
        (_, names), = saved_outputs(folder / "o.json").values()
        return names

    def test_all_spellings_of_mark_all_mark_every_tensor(self):
        every = ["conv1_output", "relu1_output", "pooled", "flat", "output1", "output2",
                 "final_output"]
        for flags in ("--onnx-outputs mark all", "--onnx-outputs mark\\ all", "--onnx-outputs '*'",
                      "--mark-all", "--save-all-intermediate-outputs"):
            with self.subTest(flags):
                self.assertEqual(set(self.outputs_of(flags)), set(every))
        self.assertEqual(self.outputs_of("--onnx-outputs output1 output2"), ["output1", "output2"])
        self.assertEqual(set(self.outputs_of("--mark-all --exclude-outputs final_output flat")),
                         set(every) - {"final_output", "flat"})

    def test_several_shapes_of_one_input_are_used_in_turn(self):
        folder = self.folder()
        done = Done(shlex.split("run dynamic_model.onnx --onnxrt --input-shapes input:[2,3,224,224] "
                                "input:[6,3,224,224] --iterations 4 --save-outputs o.npz"), folder)
        self.assertEqual(done.exit, 0, done)
        import numpy
        with numpy.load(folder / "o.npz") as arrays:
            batches = [arrays[name].shape[0] for name in sorted(arrays.files)
                       if name.endswith("final_output")]
        self.assertEqual(batches, [2, 6, 2, 6])

    def test_every_error_statistic_counts(self):
        base = "run model.onnx --onnxrt --onnxrt --check-error-stat max mean"
        done = Done(shlex.split(base), self.folder())
        self.assertEqual(done.exit, 0, done)
        for stat in ("max", "mean"):
            self.assertRegex(done.out, rf"Checking .*{stat}.* error")

    def test_warm_up_runs_and_use_subprocess_need_nothing_else(self):
        done = Done("run model.onnx --onnxrt --openvino --warm-up-runs 3 --use-subprocess".split(),
                    self.folder())
        self.assertEqual(done.exit, 0, done)
        self.assertEqual(done.out.count("Running 3 warm-up run(s)"), 2, done)
        self.assertIn("Passed: 1/1 iterations", done.out)

    def test_a_missing_runner_leaves_every_feed_to_the_others(self):
        done = Done("run model.onnx --onnxrt --trt --warm-up 2 --iterations 3 --save-outputs o.json"
                    .split(), self.folder())
        self.assertEqual(done.exit, 5, done)
        (count, _), = saved_outputs(done.folder / "o.json").values()
        self.assertEqual(count, 3)

    def test_input_and_output_files_have_second_names(self):
        folder = self.folder(["inputs.json"])
        done = Done("run identity.onnx --onnxrt --input-file inputs.json --output-file o.json"
                    .split(), folder)
        self.assertEqual(done.exit, 0, done)
        self.assertEqual([names for _, names in saved_outputs(folder / "o.json").values()], [["Y"]])

    def test_output_dir_takes_all_that_is_saved(self):
        folder = self.folder()
        before = {path.name for path in folder.iterdir()}
        done = Done("run model.onnx --onnxrt --openvino --output-dir results --save-inputs"
                    " --save-outputs --save-error-metrics-plot plots"
                    " --save-accuracy-results accuracy.json".split(), folder)
        self.assertEqual(done.exit, 0, done)
        self.assertEqual({path.name for path in (folder / "results").iterdir()},
                         {"inputs.json", "outputs.json", "record.json", "report.html", "run.log",
                          "plots", "accuracy.json"})
        self.assertEqual({path.name for path in folder.iterdir()}, before | {"results"})
        self.assertIn("Accuracy Summary", (folder / "results" / "run.log").read_text())

    def test_names_with_a_folder_stay_where_they_are(self):
        folder = self.folder()
        done = Done("run model.onnx --onnxrt --output-dir results --report r.md --log-file logs/l"
                    .split(), folder)
        self.assertEqual(done.exit, 0, done)
        self.assertEqual({path.name for path in (folder / "results").iterdir()},
                         {"record.json", "r.md"})
        self.assertTrue((folder / "logs" / "l").is_file())

    def test_compare_outputs_takes_saved_runs(self):
        names = ["results/model_fp32.json", "results/model_fp16.json"]
        done = Done(["run", "--compare-outputs", *names, "--rtol", "1e-2"], self.folder(names))
        self.assertEqual(done.exit, 0, done)
        self.assertIn("Passed: 1/1 iterations", done.out)

    def test_onnx_graphsurgeon_prints_the_graph_and_is_no_runner(self):
        done = Done("run model.onnx --onnxrt --onnx-graphsurgeon".split(), self.folder())
        self.assertEqual(done.exit, 0, done)
        for word in ("Conv", "MatMul", "final_output"):
            self.assertIn(word, done.out)
        self.assertNotIn("Accuracy Comparison", done.out)

    def test_fp32_contradicts_reduced_precision(self):
        done = Done("run model.onnx --onnxrt --fp32 --fp16".split(), self.folder())
        self.assertEqual(done.exit, 2, done)

    def test_model_type_may_stand_on_either_side_of_the_runners(self):
        for line in ("run --onnxrt model.onnx --model-type=onnx",
                     "run model.onnx --model-type=onnx --onnxrt"):
            with self.subTest(line):
                done = Done(line.split(), self.folder())
                self.assertEqual(done.exit, 0, done)

    def test_verbose_twice_is_vv(self):
        def kinds(flags):
            done = Done(["run", "model.onnx", "--onnxrt", *flags], self.folder())
            return [line[:3] for line in done.out.splitlines()]
        self.assertEqual(kinds(["--verbose", "--verbose"]), kinds(["-vv"]))

    def test_the_warnings_about_a_dynamic_dimension_are_the_peers_words(self):
        done = Done("run dynamic_identity.onnx --onnxrt".split(), self.folder())
        self.assertEqual(done.exit, 0, done)
        self.assertRegex(done.out, r"\[W\] Input tensor: X \[shape=.*\] \| Will generate data of "
                                   r"shape: \[1, 2, 1, 1\]\.")

    def test_convert_is_a_command(self):
        done = Done(shlex.split(LINES[8]), self.folder())
        self.assertEqual(done.exit, 5, done)


if __name__ == "__main__":
    unittest.main()
