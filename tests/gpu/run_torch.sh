#!/usr/bin/env bash
# PyTorch end to end, on a machine with a recent one (torch.export, AOTInductor) and perhaps a GPU:
# command lines and what each must end with.
#
# Usage: VERNIER=.../vernier PYTHON=.../python3 tests/gpu/run_torch.sh [FOLDER]
#
# PYTHON has torch 2.6 or newer and NumPy. Prints a line for each command with its seconds; models and
# logs go to FOLDER. Exit code 1 when one of them ended otherwise.
set -uo pipefail

vernier=$(realpath "${VERNIER:?the program to test}")
python=$(command -v "${PYTHON:-python3}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
failed=0

# check NAME EXIT_CODE TEXT ARGUMENTS...: TEXT must occur in the output.
check() {
  local name=$1 wanted=$2 text=$3 start code log=$folder/$1.log
  shift 3
  start=$(date +%s.%N)
  (cd "$folder" && "$vernier" run "$@" --python "$python") >"$log" 2>&1
  code=$?
  local seconds verdict=ok
  seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
  if [[ $code != "$wanted" ]] || ! grep -qF -- "$text" "$log"; then
    verdict="FAILED (exit $code, wanted $wanted and '$text')"
    failed=1
  fi
  printf '%-20s %8s s  %s\n' "$name" "$seconds" "$verdict"
  [[ $verdict == ok ]] || tail -n 12 "$log" | cut -c 1-300
}

"$python" -c 'import torch; print("torch", torch.__version__, "cuda", torch.cuda.is_available())' ||
  exit 1
"$python" "$root/tests/torch/make_models.py" "$folder" --compiled >"$folder/models.log" 2>&1 ||
  { tail -n 5 "$folder/models.log"; exit 1; }
cp "$root/examples/runners/pytorch_eager.py" "$folder"

shapes=(--input-shapes 'x:[4,6]' 'bias:[3]')
script='torch net.pt --torch-outputs y p --torch-in python'
# TensorFloat-32 of a GPU is no mistake.
close=(--atol 1e-3 --rtol 1e-3)
check script 0 PASSED --runner "a=$script" --runner "b=$script" "${shapes[@]}"
check export 0 "compared 2 outputs in 3 iterations" --runner 'a=torch export.pt2 --torch-outputs y p' \
  --runner "b=$script" "${shapes[@]}" "${close[@]}" --iterations 3
check export_by_itself 0 "x [dtype=float32" export.pt2 --torch
check export_marked 0 "relu" export.pt2 --torch --onnx-outputs mark all
check export_wrong_shape 3 "x" export.pt2 --torch --input-shapes 'x:[4,7]'
# A package is machine code that torch made here: what it cannot load by itself is not vernier's fault.
if "$python" -c 'import sys, torch; torch._inductor.aoti_load_package(sys.argv[1])' \
    "$folder/compiled.pt2" >"$folder/compiled_alone.log" 2>&1; then
  check compiled 0 "compared 2 outputs in 1 iteration" \
    --runner 'a=torch compiled.pt2 --torch-outputs y p' --runner "b=$script" \
    --input-shapes 'x:[2,6]' 'bias:[3]' "${close[@]}"
else
  printf '%-20s not tried: torch alone ended with %s when it loaded its package\n' compiled $?
  failed=1
fi

# TorchScript runs in the plug-in where it was built against this very PyTorch, else in Python.
# served NAME PATTERN ARGUMENTS...: the record's path of the framework must match.
served() {
  local name=$1 pattern=$2 verdict=ok
  shift 2
  (cd "$folder" && "$vernier" run "$@" --python "$python" --save-record "$name.json") \
    >"$folder/$name.log" 2>&1 || verdict="FAILED (exit $?)"
  if [[ $verdict == ok ]] && ! grep -qE "\"framework_path\": \"$pattern" "$folder/$name.json"; then
    verdict="FAILED ($(grep -o '"framework_path": "[^"]*"' "$folder/$name.json"))"
  fi
  printf '%-20s %8s    %s\n' "$name" '' "$verdict"
  [[ $verdict == ok ]] || { failed=1; tail -n 12 "$folder/$name.log" | cut -c 1-300; }
}
TORCH_ROOT=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
export TORCH_ROOT
if "$vernier" backends --require torch >"$folder/backends.log" 2>&1; then
  echo "the plug-in is of this torch"
  check plugin 0 "compared 2 outputs in 3 iterations" \
    --runner 'a=torch net.pt --torch-outputs y p --torch-in plugin' --runner "b=$script" \
    "${shapes[@]}" "${close[@]}" --iterations 3
  served plugin_chosen '[^"]*libtorch' net.pt --torch "${shapes[@]}"
  check plugin_keeps_input 0 PASSED --runner 'a=torch delay.pt --torch-in plugin' \
    --runner 'b=torch delay.pt --torch-in python' --input-shapes 'x:[300,300]' --iterations 4
else
  echo "the plug-in is not of this torch: $(grep "^torch" "$folder/backends.log" | cut -c 1-200)"
  check plugin_refused 5 "torch" net.pt --torch --torch-in plugin "${shapes[@]}"
  served python_chosen '[^"]*python' net.pt --torch "${shapes[@]}"
fi
check pickle_refused 3 "--allow-pickle" module.pt --torch --input-shapes 'input:[2,6]'
check pickle_allowed 0 "PASSED" --runner 'a=torch module.pt --allow-pickle' \
  --runner 'b=torch module_script.pt --torch-in python' --input-shapes 'input:[2,6]' "${close[@]}"
check keeps_its_input 0 "PASSED" --runner 'a=torch delay.pt --torch-in python' \
  --runner 'b=torch delay.pt --torch-in python' --input-shapes 'x:[300,300]' --iterations 4
check eager 0 "[dtype=float32" --model-runner pytorch_eager.py --mark-all
check drawn_by_torch 0 "PASSED" --runner "a=$script" --runner "b=$script" "${shapes[@]}" \
  --data-loader-backend-module torch
exit $failed
