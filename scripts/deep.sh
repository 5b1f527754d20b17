#!/usr/bin/env bash
# What takes too long for every push: the tests that need no Polygraphy, and the malformed input,
# under AddressSanitizer and UBSan, every cut of the test models, planted faults of seeds that no
# earlier run had, whether anybody notices that a plug-in or suite is missing, the sizes at which 32
# bits and copies would show, the Python package built by pip from this source tree, and packages,
# tried on bare machines where this user may make them (root).
# Usage: scripts/deep.sh [WORKDIR]; WORKDIR needs 20 GB of disk (default: a folder in build/).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=${1:-$PWD/build/deep}
readonly work

build_sanitized() {
  quietly build/configure-asan.log cmake --preset asan
  quietly build/build-asan.log cmake --build build/asan
}

# Frameworks are not instrumented: what they never free is theirs, and the signal that one of them
# dies of must reach the parent as a signal.
sanitized() {
  local options=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigfpe=0:handle_sigbus=0
  # Without the last one OpenVINO's TBB opens a library with RTLD_DEEPBIND, which ASan forbids.
  ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 TBB_ENABLE_SANITIZERS=1 "$@"
}

sanitized_tests() { sanitized ctest --preset asan --no-tests=error -LE oracle; }

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
find_ccache
stage configure configure_release
stage build build_release
status=0
stage removals scripts/try-removals.py || status=$?
stage "build with sanitizers" build_sanitized
stage "tests with sanitizers" sanitized_tests || status=$?
stage "cut models with sanitizers" cut_models || status=$?
stage "backend tests of ONNX with OpenVINO" backend_tests openvino || status=$?
stage "backend tests of ONNX with its reference" backend_tests onnxref || status=$?
stage "planted faults" planted_faults || status=$?
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
