#!/usr/bin/env bash
# TensorRT end to end, on a machine with a GPU: command lines and what each must end with.
#
# Usage: VERNIER=.../vernier MODELS=.../models [TENSORRT_ROOT=...] tests/gpu/run_tensorrt.sh [FOLDER]
#
# MODELS has dynamic_identity.onnx, conv.onnx, matmul_2layer.onnx, matmul.fp16.onnx, reducable.onnx
# and qdq_conv.onnx. Prints a line for each command with its seconds; logs go to FOLDER. Exit code 1
# when one of them ended otherwise.
set -uo pipefail

vernier=${VERNIER:?the program to test}
models=${MODELS:?the folder of models}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
failed=0

# check NAME EXIT_CODE TEXT ARGUMENTS...: TEXT must occur in the output.
check() {
  local name=$1 wanted=$2 text=$3 start code log=$folder/$1.log
  shift 3
  start=$(date +%s.%N)
  "$vernier" "$@" >"$log" 2>&1
  code=$?
  local seconds verdict=ok
  seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
  if [[ $code != "$wanted" ]] || ! grep -qF -- "$text" "$log"; then
    verdict="FAILED (exit $code, wanted $wanted and '$text')"
    failed=1
  fi
  printf '%-28s %8s s  %s\n' "$name" "$seconds" "$verdict"
  [[ $verdict == ok ]] || tail -n 12 "$log" | cut -c 1-300
}

identity=$models/dynamic_identity.onnx
check identity 0 "PASSED" run "$identity" --trt --onnxrt
check shapes 0 "shape=(1, 2, 4, 4)" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,4,4]'
check profiles 0 "PASSED" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,3,3]' \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,3,3]' --trt-max-shapes 'X:[1,2,8,8]'
check beyond_profile 6 "shape" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,9,9]' \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,3,3]' --trt-max-shapes 'X:[1,2,8,8]'
check profile_of_nobody 2 "'Z'" run "$identity" --trt --trt-min-shapes 'Z:[1]'
check conv 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3
check conv_fp16 0 "float16" run "$models/conv.onnx" --trt --onnxrt --fp16 --atol 1 \
  --precision-constraints obey -v
check conv_tf32 0 "TF32" run "$models/conv.onnx" --trt --onnxrt --tf32 --atol 1
check fp8_is_newer 5 "--fp8 is not available in TensorRT 8.5.3" run "$identity" --trt --fp8
check int8_needs_more 5 "quantize" run "$models/conv.onnx" --trt --int8
# Its zero points are not 0, which TensorRT does not take.
check int8_asymmetric 6 "symmetric quantization" run "$models/qdq_conv.onnx" --trt --onnxrt --int8
check mark_all 0 "compared" run "$models/matmul_2layer.onnx" --trt --onnxrt \
  --trt-outputs mark all --onnx-outputs mark all --atol 1e-3
check unknown_output 1 "nosuch" run "$models/conv.onnx" --trt --onnxrt --trt-outputs nosuch
check two_builds 0 "compared 1 output" run "$models/conv.onnx" --atol 1 \
  --runner fp32=trt --runner fp16="trt --fp16"
check save_engine 0 "Saving engine" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --save-engine "$folder/conv.engine" --save-timing-cache "$folder/cache" \
  --save-inputs "$folder/inputs.json" --save-outputs "$folder/outputs.json"
check load_engine 0 "PASSED" run "$folder/conv.engine" --model-type engine --trt \
  --load-inputs "$folder/inputs.json" --load-outputs "$folder/outputs.json" --lenient --atol 1e-3
check timing_cache 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --load-timing-cache "$folder/cache"
head -c 100000 "$folder/conv.engine" | head -c 999 >"$folder/cut.engine"
check cut_engine 3 "engine" run "$folder/cut.engine" --trt
check thousand 0 "PASSED" run "$folder/conv.engine" --model-type engine --trt \
  --iterations 1000
check bad_word 2 "expected one of" run "$identity" --trt --tactic-sources nonsense
check subprocess 0 "PASSED" run "$identity" --trt --trt --use-subprocess
exit "$failed"
