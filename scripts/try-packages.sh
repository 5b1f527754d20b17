#!/usr/bin/env bash
# Installs each package of build/packages where it runs, and compares a network with it. Made for a
# bare machine (scripts/bare-machine.sh), as root: it installs what it tries.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly packages=build/packages
work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT

# try PROGRAM: one network under ONNX Runtime twice, with a report and saved outputs; then against
# its float16 copy, with heat maps and a verdict that has to be a mismatch.
try() {
  local status=0
  "$1" run examples/digits.onnx --onnxrt --runner second=onnxrt -qqq \
    --load-inputs examples/digits_inputs.json --report "$work/report.html" \
    --save-outputs "$work/outputs.npz"
  [[ -s $work/report.html && -s $work/outputs.npz ]]
  "$1" compare "$work/outputs.npz" "$work/outputs.npz" -qqq >/dev/null
  rm -rf "$work/heatmaps"
  "$1" run examples/digits.onnx --onnxrt --runner fp16='onnxrt examples/digits_fp16.onnx' -qqq \
    --load-inputs examples/digits_inputs.json --save-heatmaps "$work/heatmaps" >/dev/null ||
    status=$?
  [[ $status == 1 ]] || { echo "try-packages.sh: exit code $status instead of 1" >&2; return 1; }
  [[ -n $(find "$work/heatmaps" -name '*.png') ]] ||
    { echo "try-packages.sh: no heat map was written" >&2; return 1; }
}

tarball() {
  mkdir "$work/opt"
  tar --extract --file "$packages"/vernier-*.tar.gz --directory "$work/opt" --strip-components=1
  try "$work/opt/bin/vernier"
}

deb() {
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    "./$(echo "$packages"/vernier_*.deb)" >"$work/apt.log" 2>&1 ||
    { tail -n 20 "$work/apt.log" >&2; return 1; }
  try /usr/bin/vernier
  DEBIAN_FRONTEND=noninteractive apt-get remove --yes vernier >/dev/null 2>&1
  [[ ! -e /usr/bin/vernier ]]
}

wheel() {
  "$VIRTUAL_ENV/bin/pip" install --quiet --disable-pip-version-check "$packages"/vernier-*.whl
  try "$VIRTUAL_ENV/bin/vernier"
  "$VIRTUAL_ENV/bin/python" - <<'PYTHON'
import numpy
import vernier

record = vernier.run("examples/digits.onnx", runners=["onnxrt", "onnxrt"])
assert record and record.outputs, record.summary()
record = vernier.compare({"y": numpy.zeros(3)}, {"y": numpy.ones(3)})
assert not record and record.mismatched() == ["y"], record.summary()
PYTHON
}

apt-get update >/dev/null 2>&1 || true
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3-venv \
  ca-certificates >/dev/null 2>&1
python3 -m venv "$work/environment"
export VIRTUAL_ENV=$work/environment
"$VIRTUAL_ENV/bin/pip" install --quiet --disable-pip-version-check onnxruntime
# shellcheck disable=SC1091
machine=$(. /etc/os-release && echo "$PRETTY_NAME")
for kind in tarball deb wheel; do
  "$kind"
  echo "try-packages.sh: the $kind works on $machine"
done
