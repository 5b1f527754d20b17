#!/usr/bin/env bash
# Installs what is missing, builds, and runs one network under two frameworks: a case that passes
# and a case that differs. Exits 0 when both verdicts are as expected. See examples/README.md.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly vernier=build/release/bin/vernier
unexpected=0

has() { "$vernier" backends --require "$1" >/dev/null 2>&1; }

# expect CODE WHAT COMMAND...: shows and runs a command, and checks its exit code.
expect() {
  local expected=$1 what=$2 status=0
  shift 2
  printf '\n$ %s' "$1"
  printf ' %s' "${@:2}" | sed -E "s/ fp16=(.*) --load/ fp16='\1' --load/"
  printf '\n'
  "$@" || status=$?
  if [[ $status == "$expected" ]]; then
    echo "demo: as expected, $what (exit code $status)"
  else
    echo "demo: NOT as expected: exit code $status instead of $expected ($what)" >&2
    unexpected=1
  fi
}

# Only what the demo runs: no tests, no plug-ins of other frameworks, and GPU kernels where there is
# a GPU's driver.
configure_demo() {
  local gpu=OFF
  if [[ -e /dev/nvidiactl ]]; then gpu=AUTO; fi
  configure_release -DVERNIER_BUILD_TESTS=OFF -DVERNIER_GPU="$gpu"
}

# Whether a framework of the demo is here: fetched by the set-up, or of this machine. What cannot be
# known without the program counts as there.
a_framework_is_here() {
  if grep -qsE '^(onnxruntime|openvino)==' .deps/runtimes/.installed; then return; fi
  [[ -n ${ONNXRUNTIME_ROOT:-}${OPENVINO_ROOT:-}${LD_LIBRARY_PATH:-} ]] ||
    PATH=$PATH:/sbin ldconfig -p 2>/dev/null |
    grep -E 'lib(onnxruntime|openvino_c)\.so' >/dev/null ||
    python3 -c 'import importlib.util as u, sys
sys.exit(not any(map(u.find_spec, ("onnxruntime", "openvino"))))' 2>/dev/null
}

# shellcheck source=scripts/stages.sh
source scripts/stages.sh
check_writable
check_room
stage set-up scripts/setup.sh --tolerant
if ! a_framework_is_here; then
  echo "demo: neither ONNX Runtime nor OpenVINO is here, and neither could be fetched: mend" \
    "what is reported above, then type $typed again" >&2
  exit 1
fi
stage configure configure_demo
stage build build_release vernier_demo

runners=()
if has onnxruntime; then runners+=(onnxrt); fi
if has openvino; then runners+=(openvino); fi
if [[ ${#runners[@]} == 0 ]]; then
  echo "demo: neither ONNX Runtime nor OpenVINO can be used here, so there is nothing to show:" >&2
  "$vernier" backends >&2 || true
  exit 1
fi
first=${runners[0]}
second=${runners[1]:-$first}
if [[ $first == "$second" ]]; then
  echo "demo: only one framework can be used here; $first is compared with itself"
fi

expect 0 "the same network gives the same results" \
  "$vernier" run examples/digits.onnx "--$first" "--$second" -qqq \
  --load-inputs examples/digits_inputs.json
expect 1 "float16 arithmetic differs by more than the default tolerance" \
  "$vernier" run examples/digits.onnx "--$first" -qqq \
  --runner "fp16=$first examples/digits_fp16.onnx" --load-inputs examples/digits_inputs.json
printf '\ndemo: cmake --build build/release builds the plug-ins of all other frameworks, too\n'
exit "$unexpected"
