"""--gen-script: the script does under Polygraphy, or the package, what the command does here."""

import ast
import os
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

FLAGS = [
    "--onnxrt --onnxrt",
    "--onnxrt --onnxrt --seed 7 --iterations 2 --val-range [0,2] x:[-1,1.5]",
    "--onnxrt --load-outputs gold.json",
    "--onnxrt --load-outputs gold.json --atol 1e9",
    "--onnxrt --load-outputs gold.json --rtol y:1e9 --atol y:1e9 1e-9",
    "--onnxrt --onnxrt --onnx-outputs * --onnx-exclude-outputs y",
    "--onnxrt --onnxrt --onnx-outputs-by-type MatMul --save-onnx marked.onnx",
    "--onnxrt --onnxrt --sequential-runners --warm-up 2 --validate",
    "--onnxrt --onnxrt --use-subprocess --sequential-runners",
    "--onnxrt --onnxrt --validate --fail-fast",
    "--onnxrt --load-outputs gold.json --compare l2 cosine_similarity psnr snr --l2-threshold 1e9"
    " --cosine-similarity-threshold -2 --psnr-threshold -900 --snr-threshold y:-900 -900",
    "--onnxrt --load-outputs gold.json --check-error-stat mean y:max --atol 5",
    "--onnxrt --load-outputs gold.json --check-error-stat quantile --error-quantile 0.5"
    " --check-average --atol 1e-9 --rtol 1e-9 --save-accuracy-results accuracy.json",
    "--onnxrt --onnxrt --postprocess y:top-2,axis=1 top-1 --compare indices --index-tolerance 1",
    "--onnxrt --input-shapes x:[3,4] --save-inputs in.json --save-outputs out.json --iters 2",
    "--onnxrt --load-inputs feeds.json --load-outputs from_feeds.json",
    "--onnxrt --onnxrt --graph-optimization-level ORT_DISABLE_ALL --providers cpu",
    "--onnxrt --data-loader-script scripts.py:feeds --compare-func-script scripts.py:agree"
    " --load-outputs gold.json",
    "--onnxrt --onnxrt --postprocess-func-script scripts.py:post --no-shape-check -v"
    " --log-format timestamp no-colors --infinities-compare-equal",
    "--load-outputs gold.json other.json",
    "--load-outputs gold.json other.json --atol 1e9 -q",
]

VENV = os.path.dirname(os.path.dirname(sys.executable))

SCRIPTS = """
import numpy as np
def feeds():
    for i in range(2):
        yield {"x": np.full((2, 4), i, np.float32)}
def agree(a, b):
    return {name: np.shape(a[name]) == np.shape(b[name]) for name in a}
def post(outputs):
    outputs["y"] = np.zeros(3, np.float32)
    return outputs
"""


class GenScript(Case):
    def setUp(self):
        super().setUp()
        weight = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["h"], "m"),
             helper.make_node("Exp", ["h"], ["y"], "e")], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
            [numpy_helper.from_array(weight, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m 1.onnx")))
        self.path("scripts.py").write_text(SCRIPTS)
        for words in (["--seed", "3", "--iterations", "2", "--save-outputs", "gold.json"],
                      ["--seed", "4", "--iterations", "2", "--save-outputs", "other.json"],
                      ["--seed", "5", "--save-inputs", "feeds.json", "--save-outputs",
                       "from_feeds.json"]):
            self.vernier("run", "m 1.onnx", "--onnxrt", *words)

    def generate(self, words, name="script.py", code=0):
        ended = self.lenient("run", *words, "--gen-script", name)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def call(self, *command):
        return subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=120,
                              # Where our own Python worker finds NumPy.
                              env={**os.environ, "NO_COLOR": "1", "VIRTUAL_ENV": VENV}, check=False)

    def test_the_same_verdict_and_files(self):
        for line in FLAGS:
            with self.subTest(line):
                model = ["m 1.onnx"] if "--onnxrt" in line else []
                words = [*model, *line.split(" ")]
                self.generate(words)
                files = re.findall(r"--save-\S+ (\S+)", line)
                saved = []
                for program in ((str(self.folder / "polygraphy"), "run", *words),
                                (sys.executable, "script.py")):
                    ended = self.call(*program)
                    saved.append((ended.returncode != 0,
                                  [self.path(f).exists() and self.path(f).unlink() is None
                                   for f in files]))
                    self.assertNotIn("Error:", ended.stderr.replace("PolygraphyException", ""))
                self.assertEqual(saved[0], saved[1], ended.stdout + ended.stderr)
                self.assertTrue(all(saved[0][1]))

    def test_both_verdicts_occur(self):
        """Otherwise the test above could not fail."""
        codes = {self.lenient("run", *(["m 1.onnx"] if "--onnxrt" in line else []),
                              *line.split(" ")).code for line in FLAGS}
        self.assertEqual(codes, {0, 1})

    def test_on_the_terminal(self):
        ended = self.lenient("run", "m 1.onnx", "--onnxrt", "--gen-script", "-")
        self.assertTrue(ended.out.startswith("#!/usr/bin/env python3\n"), ended.out)
        compile(ended.out, "script", "exec")

    def test_a_shell_script_does_the_same(self):
        words = ["m 1.onnx", "--onnxrt", "--load-outputs", "gold.json", "--onnx-outputs", "*"]
        self.generate(words, "again.sh")
        self.assertTrue(os.access(self.path("again.sh"), os.X_OK))
        there = subprocess.run([str(self.path("again.sh"))], cwd="/", text=True,
                               capture_output=True, timeout=120, check=False)
        here = self.lenient("run", *words)
        self.assertEqual(there.returncode, here.code)
        self.assertIn("FAILED | Output: 'y'", there.stdout)

    def test_engines_are_built_as_polygraphys_scripts_build_them(self):
        """Without TensorRT: the lines of loaders and runners are those that Polygraphy writes."""
        def sections(text):
            found = re.search(r"^# Loaders\n(.*?)\n\n# (?:Runner Ex|Comp)", text, re.DOTALL | re.MULTILINE)
            imports = sorted(line for line in text.splitlines() if "backend.trt import" in line
                             or "lazy_import('tensorrt" in line)
            lines = found[1].replace(str(self.folder) + "/", "").replace("_session_1", "_session")
            return lines.splitlines(), imports

        self.path("e.engine").write_bytes(b"no engine")
        shutil.copy(self.path("m 1.onnx"), self.path("m.onnx"))
        for words in ("m.onnx --trt --onnxrt", "m.onnx --onnxrt --trt --fp16 --trt-min-shapes x:[1,4]"
                      " --trt-opt-shapes x:[2,4] --trt-max-shapes x:[4,4] --save-engine e.plan"
                      " --pool-limit workspace:1G --trt-outputs h --save-timing-cache t.cache",
                      "m.onnx --trt --int8 --calibration-cache c.cache --tf32 --layer-precisions"
                      " e:float16 --optimization-profile 1", "e.engine --trt --model-type engine",
                      "m.onnx --trt --onnx-outputs h --trt-outputs mark all --strongly-typed",
                      "m.onnx --trt --trt-config-script scripts.py:config --save-timing-cache t.cache",
                      "m.onnx --trt --fp16 --trt-config-postprocess-script scripts.py",
                      "m.onnx --trt --trt-config-script scripts.py --trt-config-postprocess-script"
                      " scripts.py:change --trt-npps scripts.py:edit scripts.py",
                      "m.onnx --trt --plugins a.so b.so --save-engine e.plan --load-runtime lean.so",
                      "scripts.py --model-type trt-network-script --trt --plugins a.so --int8",
                      "e.engine --model-type engine --trt --plugins a.so --load-runtime lean.so"
                      " --dla-workspace-allocation-strategy shared_static",
                      "m.onnx --trt --allocation-strategy profile --weight-streaming-budget 12.5%"
                      " --optimization-profile 1", "m.onnx --trt --weight-streaming-budget 1.5G",
                      "m.onnx --trt --weight-streaming-budget -2 --allocation-strategy static",
                      "m.onnx --trt --all-tensor-dtypes float16 --all-tensor-formats linear chw4"
                      " --onnx-flags native_instancenorm --enable-uint8-asymmetric-quantization-dla",
                      "m.onnx --trt --tensor-dtypes x:float16 --all-tensor-dtypes float32"):
            with self.subTest(words=words):
                theirs = self.peer("run", *words.split(), "--gen-script", "theirs.py")
                self.assertEqual(theirs.code, 0, theirs.err)
                ours = self.vernier("run", *words.split(), "--gen-script", "ours.py")
                self.assertEqual(ours.code, 0, ours.out + ours.err)
                self.assertNotIn("Python package vernier", ours.out)
                self.assertEqual(sections(self.path("ours.py").read_text()),
                                 sections(self.path("theirs.py").read_text()))
        for words in (["--trt", "--workspace", "1G"], ["--runner", "half=trt --fp16"]):
            self.more_than_polygraphy_has(words)

    def test_engines_mark_all_tensors_where_the_run_does(self):
        shutil.copy(self.path("m 1.onnx"), self.path("m.onnx"))
        ended = self.vernier("run", "m.onnx", "--trt", "--mark-all", "--gen-script", "ours.py")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("outputs=constants.MARK_ALL", self.path("ours.py").read_text())

    def more_than_polygraphy_has(self, words):
        ended = self.vernier("run", "m.onnx", *words, "--gen-script", "ours.py")
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("It is for the Python package vernier: ", ended.out)

    def test_what_the_api_lacks_is_written_for_the_package(self):
        for words, said in ((["--onnxrt", "--openvino"], "['onnxrt', 'openvino']"),
                            (["--onnxrt", "--tolerance", "auto"], "tolerance='auto'"),
                            (["--onnxrt", "--compare", "ulp"], "compare='ulp'"),
                            (["--onnxrt", "--pairs", "all"], "pairs='all'"),
                            (["--onnxrt", "--check-error-stat", "max", "mean"],
                             "check_error_stat=['max', 'mean']"),
                            (["--onnxrt", "--openvino", "--rtol", "1e-3", "--atol", "y:1e-4",
                              "1e-5", "--seed", "3", "--report", "a.xml", "--report", "b.html"],
                             "rtol=1e-3,\n        atol={'y': 1e-4, '': 1e-5},\n        seed=3,\n"
                             "        report=['a.xml', 'b.html'],\n"),
                            (["--openvino", "--report", "a.xml"], "report='a.xml'"),
                            (["--openvino", "--rtol", "y:1", "y:2"], "rtol=['y:1', 'y:2']"),
                            (["--openvino", "--onnx-outputs", "1e3"], "onnx_outputs='1e3'"),
                            (["--openvino", "--atol", "1e400"], "atol='1e400'"),
                            (["--runner", "t=tf graph.pb --tf-outputs a b"],
                             "vernier.Runner('graph.pb', name='t', backend='tf', "
                             "tf_outputs=['a', 'b'])"),
                            (["--onnxrt", "--runner", "one=onnxrt --intra-op-threads 1"],
                             "vernier.Runner(name='one', backend='onnxrt', intra_op_threads=1)"),
                            (["--onnxrt", "--model-runner", "scripts.py:post"],
                             "['onnxrt', 'scripts.py:post']"),
                            (["--openvino", "--runner", "half=onnxrt other.onnx --fp-to-fp16"],
                             "vernier.Runner('other.onnx', name='half', backend='onnxrt', "
                             "fp_to_fp16=True)"),
                            (["--openvino", "-v"], "level=10")):
            ended = self.generate(["m 1.onnx", *words])
            self.assertIn("It is for the Python package vernier: ", ended.out)
            script = self.path("script.py").read_text()
            compile(script, "script", "exec")
            self.assertIn("        'm 1.onnx',\n", script)
            self.assertIn(said, script)
            self.assertIn("        lenient=True,\n", script)

    def test_a_script_for_the_package_runs_where_it_was_written(self):
        self.generate(["m 1.onnx", "--onnxrt", "--openvino"])
        self.path("stand_in").mkdir()
        (self.path("stand_in") / "vernier.py").write_text(
            "import os\n"
            "class Error(Exception): exit_code = 9\n"
            "class Record:\n"
            "    exit_code = 5\n"
            "    def summary(self): return 'ran ' + os.getcwd()\n"
            "def run(model, *words, **more): open(model); return Record()\n")
        ended = subprocess.run([sys.executable, str(self.path("script.py"))], cwd="/", text=True,
                               capture_output=True, timeout=120, check=False,
                               env={**os.environ, "PYTHONPATH": str(self.path("stand_in"))})
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertEqual(ended.stdout, f"ran {os.path.realpath(self.folder)}\n")

    def test_what_the_package_lacks_is_refused(self):
        self.path("script.py").write_text("old")
        self.path("runner").write_text("#!/bin/sh\n")
        self.path("runner").chmod(0o755)
        for words in (["--onnxrt", "--model-runner", "./runner"],
                      ["--onnxrt", "--runner", "own=./runner"],
                      ["--identity", "--identity.device=cpu"],
                      ["--onnxrt", "--onnxruntime.log=host"]):
            ended = self.vernier("run", "m 1.onnx", *words, "--gen-script", "script.py")
            self.assertEqual(ended.code, 5, words)
            self.assertIn("--gen-script FILE.sh writes the command itself", ended.err)
        self.assertEqual(self.path("script.py").read_text(), "old")

    def test_what_only_the_program_does_is_refused(self):
        for words in (["--blame"], ["--blame", "--save-blame", "b.json"],
                      ["--blame", "--bundle", "folder"], ["--blame", "--max-host-mem", "1G"],
                      ["--blame", "--max-gpu-mem", "1G"],
                      ["--save-outputs", "o.json", "--resume"]):
            ended = self.vernier("run", "m 1.onnx", "--onnxrt", "--openvino", *words, "--gen-script",
                                 "script.py")
            self.assertEqual(ended.code, 5, words)
            refused = next(word for word in words if word.startswith("--")
                           and not word.startswith("--save-outputs"))
            self.assertIn(f"does not take {refused}; --gen-script FILE.sh", ended.err)
            self.assertFalse(self.path("script.py").exists(), words)

    def test_words_do_not_become_code(self):
        """The command stands in a comment."""
        bad = "a\nprint('INJECTED')#.json"
        for line_end in ("\n", "\r", "\r\n"):
            words = ["m 1.onnx", "--onnxrt", "--load-outputs", bad.replace("\n", line_end)]
            for more in ([], ["--openvino"]):  # for Polygraphy, for the package
                self.generate([*words, *more])
                with open(self.path("script.py"), newline="", encoding="utf-8") as file:
                    script = file.read()
                calls = [node.func.id for node in ast.walk(ast.parse(script))
                         if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
                self.assertEqual(calls.count("print"), 2 if more else 0, script)

    def test_words_for_tensorrt_do_not_become_code(self):
        bad = "X)\nprint(1)#"
        for words in (["--onnx-flags", bad], ["--all-tensor-dtypes", bad], ["--tactic-sources", bad],
                      ["--layer-precisions", "e:" + bad], ["--tensor-dtypes", "x:" + bad],
                      ["--tensor-formats", f"x:[{bad}]"], ["--all-tensor-formats", bad],
                      ["--pool-limit", bad + ":1G"], ["--int8", "--calibration-base-class", bad],
                      ["--dla-workspace-allocation-strategy", bad], ["--load-runtime", bad],
                      ["--plugins", bad], ["--trt-config-script", bad],
                      ["--weight-streaming-budget", "50" + bad + "%"], ["--weight-streaming-budget", bad]):
            with self.subTest(words):
                ended = self.lenient("run", "m 1.onnx", "--trt", *words, "--gen-script", "-")
                if ended.code == 0:  # else it was refused
                    calls = [node.func.id for node in ast.walk(ast.parse(ended.out))
                             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
                    self.assertNotIn("print", calls, ended.out)
                    self.assertNotIn("PRINT", calls, ended.out)

    def test_words_that_are_no_text(self):
        log = b"caf\xe9.log"
        self.generate(["m 1.onnx", "--onnxrt", "--log-file", os.fsdecode(log)])
        ended = self.call(sys.executable, "script.py")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue(os.path.exists(os.fsencode(self.folder) + b"/" + log))
        ended = self.generate(["m 1.onnx", "--onnxrt", "--openvino", "--log-file",
                               os.fsdecode(log)], name="package.py", code=1)
        self.assertIn("--gen-script FILE.sh", ended.err)
        self.assertFalse(self.path("package.py").exists())

    def test_the_repro_line_reproduces(self):
        ended = self.vernier("run", "m 1.onnx", "--onnxrt", "--load-outputs", "gold.json",
                             "--onnx-outputs", "*", "--input-shapes", "x:[2,4]")
        self.assertEqual(ended.code, 1)
        command = re.search(r"^repro: (.*)$", ended.out, re.MULTILINE)[1]
        again = subprocess.run(["sh", "-c", command], cwd="/", text=True, capture_output=True,
                               timeout=120, check=False)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn(f"repro: {command}\n", again.stdout)


if __name__ == "__main__":
    unittest.main()
