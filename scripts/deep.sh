#!/usr/bin/env bash
# What takes too long for every push: every test and the malformed input under AddressSanitizer,
# UBSan and LeakSanitizer, what has threads under ThreadSanitizer, every cut of the test models,
# planted faults of seeds that no earlier run had, the proof of automatic error bounds, whether
# anybody notices that a plug-in or suite is missing, the sizes at which 32 bits and copies would
# show, the Python package built by pip from this source tree, and packages, tried on bare machines
# where this user may make them (root).
# Usage: scripts/deep.sh [WORKDIR]; WORKDIR needs 20 GB of disk (default: a folder in build/).
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 1 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=${1:-$PWD/build/deep}
readonly work

# build_sanitized PRESET [TARGET...]
build_sanitized() {
  local targets=()
  if (($# > 1)); then targets=(--target "${@:2}"); fi
  with_tensorrt && configure_preset "$1" "${tensorrt[@]}" &&
    quietly "build/build-$1.log" cmake --build "build/$1" "${targets[@]}"
}

# The environment that ctest gives the tests with sanitizers, a setting a line. Frameworks are not
# instrumented: what they never free is theirs (tests/sanitizers/leaks.txt), and the signal that one
# of them dies of must reach the parent as a signal. Without TBB_ENABLE_SANITIZERS OpenVINO's TBB
# opens a library with RTLD_DEEPBIND, which ASan forbids.
sanitizer_settings() {
  python3 - <<'PYTHON'
import json, os
presets = json.load(open("CMakePresets.json", encoding="utf-8"))["testPresets"]
preset, = (each for each in presets if each["name"] == "asan")
for name, value in preset["environment"].items():
    print(f"{name}={value.replace('${sourceDir}', os.getcwd())}")
PYTHON
}

sanitized() {
  local settings
  settings=$(sanitizer_settings) || return
  mapfile -t settings <<<"$settings"
  env "${settings[@]}" "$@"
}

# LeakSanitizer stops the threads of its process by ptrace, which a container may forbid.
leaks_can_be_found() {
  local said
  said=$(sanitized build/asan/bin/util_test --gtest_list_tests 2>&1) || true
  if [[ $said == *'LeakSanitizer has enc'* ]]; then
    echo "deep.sh: ptrace is not allowed here, so leaks are NOT found: run it where it is" >&2
    return 1
  fi
}

sanitized_tests() { leaks_can_be_found && ctest --preset asan --no-tests=error; }

# Where threads meet: kernels, the thread pool, savers, the parent's side of workers.
readonly with_threads=(backend_test batch_test compare_test io_test kernels_test run_test
  session_test util_test)

# Each byte takes several there: the one test of arrays of 8 GB would need more than 20 GB.
threaded_tests() {
  local names
  names=$(IFS='|' && echo "${with_threads[*]}")
  ctest --preset tsan --no-tests=error -R "^($names)[.]" -E 'CountsBeyondTwoBillionElements$'
}

cut_models() {
  rm -rf "$work/models"
  .deps/peer/bin/python tests/data/make_models.py "$work/models" >/dev/null
  VERNIER=build/asan/bin/vernier VERNIER_HOSTILE_MODELS=$work/models \
    VERNIER_HOSTILE_GROUPS=onnx_cut_given sanitized python3 tests/hostile/test_hostile.py
}

# ONNX's own tests; those with ONNX Runtime are part of every run of the tests.
backend_tests() {
  .deps/peer/bin/python -B tests/trained/backend_suite.py build/release/bin/vernier --runner "$1"
}

# Seeds begin at the second of the run, so that no two runs share any.
planted_faults() {
  local first
  first=$(date +%s)
  echo "planted faults: seeds from $first on"
  VERNIER=$PWD/build/release/bin/vernier PLANTED_FROM=$first \
    .deps/peer/bin/python -B tests/blame/test_planted.py || return
  .deps/peer/bin/python -B bench/trained_faults.py --vernier build/release/bin/vernier \
    --first-seed "$first"
}

# What tolerance.oracle samples, with seeds that no earlier run had: 98 % of each kind of fault must
# be found.
tolerance_proof() {
  local vernier=$PWD/build/release/bin/vernier python=$PWD/.deps/peer/bin/python first
  first=$(date +%s)
  echo "tolerance proof: seeds from $first on"
  (cd bench && "$python" -B tolerance_proof.py --vernier "$vernier" --first-seed "$first")
}

# What Polygraphy said when it was recorded, and what it says now.
recordings() {
  PYTHONPATH=$(echo "$PWD"/.deps/graphsurgeon/lib/python3*/site-packages) \
    .deps/peer/bin/python -B tests/commands/recordings.py "$PWD/.deps/peer/bin/polygraphy"
}

packages() {
  local suite
  scripts/packages.sh || return
  for suite in bookworm trixie jammy noble; do
    CARRY=build/packages scripts/bare-machine.sh "$suite" scripts/try-packages.sh || return
  done
}

# They are left out of ordinary runs, where their set is not installed.
launchers() { ctest --preset release --no-tests=error -L clusters; }

scale() {
  VERNIER=build/release/bin/vernier python3 tests/scale/test_scale.py --work "$work"
}

mkdir -p "$work"
scripts/deps.sh --tests --with graphsurgeon,clusters
# After the set-up, because it looks for what the set-up installs.
# shellcheck source=scripts/stages.sh
source scripts/stages.sh
stage configure configure_all
stage build build_release
status=0
stage removals scripts/try-removals.py || status=$?
stage "build with sanitizers" build_sanitized asan
stage "tests with sanitizers" sanitized_tests || status=$?
stage "build with ThreadSanitizer" build_sanitized tsan "${with_threads[@]}"
stage "tests with ThreadSanitizer" threaded_tests || status=$?
stage "cut models with sanitizers" cut_models || status=$?
stage "backend tests of ONNX with OpenVINO" backend_tests openvino || status=$?
stage "backend tests of ONNX with its reference" backend_tests onnxref || status=$?
stage "planted faults" planted_faults || status=$?
stage "tolerance proof" tolerance_proof || status=$?
stage "recordings of Polygraphy" recordings || status=$?
stage "launchers of clusters" launchers || status=$?
stage scale scale || status=$?
stage "pip install ." scripts/pip-install.sh "$work/pip" || status=$?
if [[ $(id -u) == 0 ]] && command -v debootstrap >/dev/null; then
  stage packages packages || status=$?
else
  echo "deep.sh: packages were NOT tried: that needs root and debootstrap" >&2
fi
exit "$status"
