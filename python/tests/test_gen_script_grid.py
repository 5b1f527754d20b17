"""Every script that the program writes for a grid of options runs, with the verdict of the command:
for Polygraphy's API as it is and with changed imports, for the package as it is."""

import ast
import os
import shlex
import subprocess
import sys

import pytest

from scripts_of_both import OURS, PEER
from vernier import __main__ as program

OPTIONS = [
    "--rtol 1e-3 --atol y:1e-4 1e-5",
    "--rtol 1e-9 --load-outputs gold.json --seed 7",
    "--check-error-stat max",
    "--check-error-stat y:quantile mean --error-quantile 0.5",
    "--compare l2 cosine_similarity psnr snr --l2-threshold 1 --psnr-threshold -5",
    "--compare indices --postprocess top-1 --index-tolerance 1",
    "--seed 3 --iterations 2 --save-inputs in.json --save-outputs out.json",
    "--val-range [0,1] x:[-1,2]",
    "--input-shapes x:[2,3]",
    "--load-inputs feeds.json",
    "--load-outputs gold.json --check-error-stat mean --check-average",
    "--data-loader-script scripts.py:feeds",
    "--data-loader-script scripts.py:Loader --iterations 1",
    "--compare-func-script scripts.py:agree",
    "--postprocess-func-script scripts.py:halve",
    "--onnx-outputs h",
    "--onnx-outputs-by-type relu MatMul",
    "--save-onnx made/so.onnx",
    "--onnx-outputs mark all --onnx-exclude-outputs y",
    "--validate --fail-fast",
    "--warm-up 2 --sequential-runners",
    "--no-shape-check --infinities-compare-equal",
    "--save-accuracy-results accuracy.json",
    "--providers cpu --graph-optimization-level ORT_DISABLE_ALL",
    "-v --log-format timestamp no-colors",
    "--log-file log.txt -q",
]
# What Polygraphy's API has no words for.
MORE = ["--report a.xml", "--report a.xml --report b.md --save-record r.json", "--strict",
        "--tolerance auto", "--compare ulp --ulp-threshold y:3 5", "--pairs all",
        "--intra-op-threads 1 --compare rmse", "--runner again='onnxrt --intra-op-threads 1'"]
SCRIPTS = """
import numpy as np
import beside

def feeds():
    for i in range(2):
        yield {"x": np.full((1, 3), i + beside.OFFSET, np.float32)}

class Loader:
    def __iter__(self):
        return feeds()

def agree(a, b):
    return {name: bool(np.all(a[name] == b[name])) for name in a}

def halve(outputs):
    for name in outputs:
        outputs[name] = outputs[name] / 2
    return outputs
"""


@pytest.fixture
def folder(model, tmp_path):
    (tmp_path / "scripts.py").write_text(SCRIPTS)
    (tmp_path / "beside.py").write_text("OFFSET = 1\n")
    for words in (["--seed", "3", "--save-outputs", "gold.json"],
                  ["--seed", "5", "--save-inputs", "feeds.json"]):
        call(program.program(), "run", model, "--onnxrt", *words, cwd=tmp_path)
    return tmp_path


def call(*words, cwd):
    return subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, "VIRTUAL_ENV": sys.prefix, "NO_COLOR": "1"},
                          check=False, timeout=120)


def written(folder, line, name):
    """The script of a command, and whether the command passes."""
    command = [program.program(), "run", "small.onnx", "--onnxrt", "--onnxrt", *shlex.split(line)]
    ended = call(*command, "--gen-script", name, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return (folder / name).read_text(), call(*command, cwd=folder).returncode


@pytest.mark.parametrize("line", OPTIONS)
def test_scripts_for_polygraphy(folder, line):
    text, code = written(folder, line, "script.py")
    assert "from polygraphy" in text
    changed = text.replace("from polygraphy import", f"from {OURS} import")
    (folder / "ours.py").write_text(changed.replace("from polygraphy.", f"from {OURS}."))
    for python, script in ((sys.executable, "ours.py"), (PEER, "script.py")):
        if not python:
            continue
        ended = call(python, script, cwd=folder)
        said = ended.stdout + ended.stderr
        assert (ended.returncode != 0) == (code != 0), f"{text}\n{said}"
        if code == 0:
            assert "Traceback" not in said
        else:
            assert ended.stderr.rstrip().endswith(": FAILED"), said


@pytest.mark.parametrize("line", [*MORE, *(f"{line} --report a.xml --report b.md"
                                           for line in OPTIONS)])
def test_scripts_for_the_package(folder, line):
    text, code = written(folder, line, "script.py")
    assert "import vernier\n" in text
    (folder / "a.xml").unlink(missing_ok=True)
    ended = call(sys.executable, "script.py", cwd=folder)
    assert ended.returncode == code, f"{text}\n{ended.stdout}{ended.stderr}"
    assert (folder / "a.xml").exists() == ("a.xml" in line)


def test_values_are_those_that_people_write(folder):
    text, _ = written(folder, "--rtol 1e-3 --atol y:1e-4 1e-5 --seed 3 --report a.xml --report b.md"
                      " --input-shapes x:[2,3] --index-tolerance 2", "script.py")
    run, = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") == "run")
    values = {word.arg: ast.literal_eval(word.value) for word in run.keywords}
    assert values == {"rtol": 1e-3, "atol": {"y": 1e-4, "": 1e-5}, "seed": 3,
                      "report": ["a.xml", "b.md"], "input_shapes": "x:[2,3]", "index_tolerance": 2}
