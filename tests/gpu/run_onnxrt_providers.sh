#!/usr/bin/env bash
# ONNX Runtime's CUDA provider end to end, on a machine with a GPU: command lines and what each must
# end with. The CPU is the reference.
#
# Usage: VERNIER=.../vernier ONNXRT_LIB=.../libonnxruntime.so.1 tests/gpu/run_onnxrt_providers.sh [FOLDER]
#
# ONNXRT_LIB is of the wheel onnxruntime-gpu, its providers beside it. The loader has to find CUDA and
# cuDNN (LD_LIBRARY_PATH), and must not find TensorRT 10. python3 must have onnx. Prints a line for
# each command with its seconds; models and logs go to FOLDER. Exit code 1 when one of them ended
# otherwise.
set -uo pipefail

vernier=$(realpath "${VERNIER:?the program to test}")
library=$(realpath "${ONNXRT_LIB:?libonnxruntime.so of onnxruntime-gpu}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder" || exit 1
failed=0

# check NAME EXIT_CODE TEXT ARGUMENTS...: TEXT must occur in the output.
check() {
  local name=$1 wanted=$2 text=$3 start code log=$folder/$1.log
  shift 3
  start=$(date +%s.%N)
  timeout 100 "$vernier" "$@" --onnxrt-lib "$library" >"$log" 2>&1
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

python3 "$root/tests/gpu/provider_models.py" . || exit 1

all="runs all"
cuda="cuda=onnxrt --providers cuda"
bars=(--atol 1e-3 --rtol 1e-2)  # CUDA's provider computes float32 products in TF32
wide=(--atol 1e-2 --rtol 1e-2)  # one behind the other
check cuda_alone 0 "on CUDAExecutionProvider" run conv.onnx --onnxrt --providers cuda
check cuda_cpu 0 "PASSED" run conv.onnx --onnxrt --runner "$cuda cpu" "${bars[@]}"
check all_nodes 0 "$all" run conv.onnx --onnxrt --runner "$cuda" "${bars[@]}"
check mark_all 0 "PASSED" run conv.onnx --onnxrt --runner "$cuda" --onnx-outputs mark all \
  "${bars[@]}"
check attention 0 "PASSED" run attention.onnx --onnxrt --runner "$cuda" --input-shapes 'x:[2,16,64]' \
  "${wide[@]}"
check attention_all 0 "PASSED" run attention.onnx --onnxrt --runner "$cuda" --onnx-outputs mark all \
  --input-shapes 'x:[2,16,64]' "${wide[@]}"
check iterations 0 "20 iterations" run conv.onnx --onnxrt --runner "$cuda" --iterations 20 "${bars[@]}"
check float16 0 "PASSED" run "$root/examples/digits_fp16.onnx" --onnxrt --runner "$cuda" \
  --atol 1e-2 --rtol 1e-2
check save 0 "PASSED" run conv.onnx --onnxrt --save-inputs in.json --save-outputs out.json
check load 0 "PASSED" run conv.onnx --onnxrt --providers cuda --load-inputs in.json \
  --load-outputs out.json "${bars[@]}" --save-record run.json
NVIDIA_TF32_OVERRIDE=0 check without_tf32 0 "PASSED" run conv.onnx --onnxrt --runner "$cuda" \
  --tolerance auto
check profile 0 "CUDA" profile conv.onnx --onnxrt --providers cuda
NVIDIA_TF32_OVERRIDE=0 check blame 0 "PASSED" blame conv.onnx --onnxrt --runner "$cuda"
check one_node_on_cpu 0 "1 on CPUExecutionProvider: Det (strange)" run det.onnx --onnxrt \
  --providers cuda cpu
check no_node_on_cuda 0 "no node of the model runs on CUDAExecutionProvider" run lone_det.onnx \
  --onnxrt --providers cuda
check no_tensorrt 5 "TensorrtExecutionProvider cannot be used: libnvinfer.so.10" run conv.onnx \
  --onnxrt --providers tensorrt cuda cpu
check nobody 2 "available providers are" run conv.onnx --onnxrt --providers rocm
CUDA_VISIBLE_DEVICES='' check no_device 6 "no CUDA-capable device" run conv.onnx --onnxrt \
  --providers cuda

((failed == 0)) && echo "everything ended as expected"
exit "$failed"
