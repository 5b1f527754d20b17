#!/usr/bin/env bash
# `pip install .` as a user types it: the program, its plug-ins and the package are compiled from this
# source tree in a fresh environment, installed there, and run. Takes as long as a build.
# Usage: scripts/pip-install.sh [WORKDIR] (default: a folder in build/)
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 1 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=${1:-$PWD/build/pip}
readonly work
# Of an earlier run alone: no files of users are removed.
if [[ -e $work/.pip-install || $# == 0 ]]; then rm -rf "$work"; fi
mkdir -p "$work"
if [[ -n $(ls -A "$work") ]]; then usage_error "'$work' is not empty: name a new folder"; fi
touch "$work/.pip-install"
work_path=$(realpath "$work")
python3 -m venv "$work/environment"
readonly python=$work_path/environment/bin/python
# pip gets the build's own needs (pyproject.toml) by itself. What git ignores is left behind.
scripts/source-files.sh | tar --files-from - --create | tar --extract --directory "$work"/ \
  --one-top-level=source
start=$SECONDS
"$python" -m pip --disable-pip-version-check install --no-input "$work_path/source" numpy \
  >"$work/pip.log" 2>&1 || {
  tail -n 40 "$work/pip.log" >&2
  echo "pip-install.sh: pip install . FAILED; all of its output is in $work/pip.log" >&2
  exit 1
}
echo "pip install .: $((SECONDS - start)) s"
cd "$work"
"$python" - <<'PYTHON'
import numpy
import vernier

runs = vernier.RunResults()
runs.add([{"y": numpy.arange(4, dtype=numpy.float32)}], runner_name="a")
runs.save("saved.npz")
loaded = vernier.load_results("saved.npz")
assert [(name, len(iterations)) for name, iterations in loaded] == [("a", 1)], list(loaded)
assert (loaded["a"][0]["y"] == numpy.arange(4)).all(), loaded["a"][0]["y"]
PYTHON
program=$("$python" -c 'import pathlib, vernier; print(pathlib.Path(vernier.__file__).parent)')
"$program/_program/bin/vernier" backends --require identity pluginref
"$program/_program/bin/vernier" inspect model "$work_path/source/examples/digits.onnx" >/dev/null
echo "pip-install.sh: the installed package and program run"
