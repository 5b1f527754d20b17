"""Scripts that the program writes for this package do what their command does."""

import os
import subprocess
import sys

import pytest

from vernier import __main__ as program


def call(*words, cwd):
    return subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, "VIRTUAL_ENV": sys.prefix}, check=False)


@pytest.mark.parametrize("code, words", [
    (0, ["--onnxrt", "--runner", "again=onnxrt --graph-optimization-level ORT_DISABLE_ALL",
         "--compare", "ulp", "--iterations", "2", "--save-outputs", "out.npz"]),
    (0, ["--onnxrt", "--load-outputs", "gold.npz", "--seed", "3", "--check-error-stat", "max",
         "mean", "--input-shapes", "x:[2,3]"]),
    (4, ["--onnxrt", "--load-outputs", "gold.npz", "--seed", "4", "--tolerance", "auto",
         "--input-shapes", "x:[2,3]"]),
    (3, ["--onnxrt", "--load-outputs", "none.npz", "--compare", "ulp"]),
])
def test_the_same_verdict_and_files(model, tmp_path, code, words):
    saved = call(program.program(), "run", model, "--onnxrt", "--seed", "3", "--input-shapes",
                 "x:[2,3]", "--save-outputs", "gold.npz", cwd=tmp_path)
    assert saved.returncode == 0, saved.stdout + saved.stderr
    command = [program.program(), "run", model, *words]
    assert call(*command, cwd=tmp_path).returncode == code
    written = call(*command, "--gen-script", "again.py", cwd=tmp_path)
    assert written.returncode == 0, written.stdout + written.stderr
    (tmp_path / "out.npz").unlink(missing_ok=True)
    ended = call(sys.executable, "again.py", cwd=tmp_path)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert (tmp_path / "out.npz").exists() == ("--save-outputs" in words)
    said = {3: "none.npz", 4: "made from other inputs"}.get(code, "compared 1 output in")
    assert said in ended.stdout + ended.stderr
