#!/usr/bin/env bash
# TensorRT end to end, on a machine with a GPU: command lines and what each must end with.
#
# Usage: VERNIER=.../vernier MODELS=.../models [TENSORRT_ROOT=...] tests/gpu/run_tensorrt.sh [FOLDER]
#
# JOBS=N runs so many commands at once, where none needs what another wrote; seconds then say little.
# TENSORRT_PYTHON names a Python that has the module tensorrt, for the lines about scripts.
# MODELS has dynamic_identity.onnx, conv.onnx, matmul_2layer.onnx, matmul.fp16.onnx, reducable.onnx
# and qdq_conv.onnx; python3 must have onnx. Prints a line for each command with its seconds; logs go
# to FOLDER. Exit code 1 when one of them ended otherwise.
set -uo pipefail

vernier=${VERNIER:?the program to test}
models=${MODELS:?the folder of models}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
jobs=${JOBS:-1}
# A file for each failure: commands that run at once are processes.
failures=$folder/failures
rm -rf "$failures"
mkdir -p "$failures"

# check NAME EXIT_CODE TEXT ARGUMENTS...: TEXT must occur in the output.
check() {
  if ((jobs == 1)); then
    check_now "$@"
    return
  fi
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
  check_now "$@" &
}

# What was checked so far is finished: the next ones read what it wrote.
finish() { wait; }

check_now() {
  local name=$1 wanted=$2 text=$3 start code log=$folder/$1.log
  shift 3
  start=$(date +%s.%N)
  "$vernier" "$@" >"$log" 2>&1
  code=$?
  local seconds verdict=ok
  seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
  if [[ $code != "$wanted" ]] || ! grep -qF -- "$text" "$log"; then
    verdict="FAILED (exit $code, wanted $wanted and '$text')"
    touch "$failures/$name"
  fi
  printf '%-28s %8s s  %s\n' "$name" "$seconds" "$verdict"
  [[ $verdict == ok ]] || tail -n 12 "$log" | cut -c 1-300
}

# What a precision may cost, as the share of noise in the output: 10 bits of significand (float16,
# TF32) keep errors of a product below 0.1 %, so 40 dB (1 %) leaves room for cancellation alone; 8
# bits with calibrated ranges below 5 %, so 20 dB (10 %). A wrong or missing layer is near 0 dB.
half=(--compare snr --snr-threshold 40)
coarse=(--compare snr --snr-threshold 20)

identity=$models/dynamic_identity.onnx
check identity 0 "PASSED" run "$identity" --trt --onnxrt
check shapes 0 "shape=(1, 2, 4, 4)" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,4,4]'
check profiles 0 "PASSED" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,3,3]' \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,3,3]' --trt-max-shapes 'X:[1,2,8,8]'
check beyond_profile 6 "shape" run "$identity" --trt --onnxrt --input-shapes 'X:[1,2,9,9]' \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,3,3]' --trt-max-shapes 'X:[1,2,8,8]'
check profile_of_nobody 2 "'Z'" run "$identity" --trt --trt-min-shapes 'Z:[1]'
check conv 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3
check conv_fp16 0 "float16" run "$models/conv.onnx" --trt --onnxrt --fp16 "${half[@]}" \
  --precision-constraints obey -v
check conv_tf32 0 "TF32" run "$models/conv.onnx" --trt --onnxrt --tf32 "${half[@]}"
check fp8_is_newer 5 "--fp8 is not available in TensorRT 8.5.3" run "$identity" --trt --fp8
# Calibration, with random feeds and with a script's; the cache is written, then read.
cat >"$folder/feeds.py" <<'PY'
import numpy as np

def load_data():
    for i in range(3):
        yield {"a": np.full((1, 16, 8, 8), i + 1, dtype=np.float32)}
PY
for kind in IInt8EntropyCalibrator2 IInt8EntropyCalibrator IInt8MinMaxCalibrator \
  IInt8LegacyCalibrator; do
  # By itself it takes the median for the largest value, and clips half of them.
  range=()
  [[ $kind == IInt8LegacyCalibrator ]] && range=(--quantile 0.9999 --regression-cutoff 1)
  check "int8_$kind" 0 "int8" run "$models/conv.onnx" --trt --onnxrt --int8 "${coarse[@]}" \
    --calib-base-cls "$kind" "${range[@]}" --calibration-cache "$folder/$kind.cache" --iterations 2
done
finish
check int8_cache 0 "Reading calibration cache" run "$models/conv.onnx" --trt --onnxrt --int8 \
  "${coarse[@]}" --calibration-cache "$folder/IInt8EntropyCalibrator2.cache"
check int8_script 0 "Writing calibration cache" run "$models/conv.onnx" --trt --int8 \
  --data-loader-script "$folder/feeds.py" --calibration-cache "$folder/script.cache"
check int8_unknown_class 2 "IInt8MinMaxCalibrator" run "$models/conv.onnx" --trt --int8 \
  --calib-base-cls Nonsense
# Its zero points are not 0, which TensorRT does not take.
check int8_asymmetric 6 "symmetric quantization" run "$models/qdq_conv.onnx" --trt --onnxrt --int8
check mark_all 0 "compared" run "$models/matmul_2layer.onnx" --trt --onnxrt \
  --trt-outputs mark all --onnx-outputs mark all --atol 1e-3
check unknown_output 1 "nosuch" run "$models/conv.onnx" --trt --onnxrt --trt-outputs nosuch
check two_builds 0 "compared 1 output" run "$models/conv.onnx" "${half[@]}" \
  --runner fp32=trt --runner fp16="trt --fp16"
check save_engine 0 "Saving engine" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --save-engine "$folder/conv.engine" --save-timing-cache "$folder/cache" \
  --save-inputs "$folder/inputs.json" --save-outputs "$folder/outputs.json"
finish
check load_engine 0 "PASSED" run "$folder/conv.engine" --model-type engine --trt \
  --load-inputs "$folder/inputs.json" --load-outputs "$folder/outputs.json" --lenient --atol 1e-3
check timing_cache 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --load-timing-cache "$folder/cache"
head -c 100000 "$folder/conv.engine" | head -c 999 >"$folder/cut.engine"
check cut_engine 3 "engine" run "$folder/cut.engine" --trt
check thousand 0 "PASSED" run "$folder/conv.engine" --model-type engine --trt \
  --iterations 1000
# Many iterations of a lone runner, each with values of its own, behind one another on the GPU. The
# same inputs one at a time, beside a second runner, and recorded must give the same bits.
exact=(--atol 0 --rtol 0)
check lone_saved 0 "PASSED" run "$folder/conv.engine" --trt --iterations 200 --warm-up 1 \
  --save-inputs "$folder/lone_in.npz" --save-outputs "$folder/lone_out.npz"
# Outputs of 512 KiB and of 4 MiB, which stay on the GPU: an identity's are its inputs.
check identity_engine 0 "Saving engine" convert "$identity" -o "$folder/identity.engine" \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,256,256]' \
  --trt-max-shapes 'X:[1,2,1024,512]'
finish
lone=(--load-inputs "$folder/lone_in.npz" --load-outputs "$folder/lone_out.npz" "${exact[@]}")
check lone_one_at_a_time 0 "compared 1 output in 200 iterations" run "$folder/conv.engine" --trt \
  "${lone[@]}"
check lone_beside_another 0 "compared 1 output in 200 iterations" run "$folder/conv.engine" --trt \
  --trt "${lone[@]}"
check lone_as_graph 0 "compared 1 output in 200 iterations" run "$folder/conv.engine" --trt \
  --iterations 200 --cuda-graphs --load-outputs "$folder/lone_out.npz" "${exact[@]}"
check lone_again 0 "compared 1 output in 200 iterations" run "$folder/conv.engine" --trt \
  --iterations 200 --load-outputs "$folder/lone_out.npz" "${exact[@]}"
check lone_in_process 0 "compared 1 output in 200 iterations" run "$folder/conv.engine" --trt \
  --iterations 200 --in-process --load-outputs "$folder/lone_out.npz" "${exact[@]}"
cp "$folder/lone_out.npz" "$folder/lone_more.npz"
check lone_resumed 0 "PASSED" run "$folder/conv.engine" --trt --iterations 250 --warm-up 1 \
  --save-outputs "$folder/lone_more.npz" --resume
# What was sent ahead and is not wanted: other inputs, and outputs that run out.
check lone_unwanted 4 "was made from other inputs" run "$folder/conv.engine" --trt \
  --iterations 200 --seed 7 --fail-fast --load-outputs "$folder/lone_out.npz" "${exact[@]}"
for edges in 256,256 1024,512; do
  check "lone_$edges" 0 "PASSED" run "$folder/identity.engine" --trt --iterations 40 \
    --input-shapes "X:[1,2,$edges]" --save-inputs "$folder/in_$edges.npz" \
    --save-outputs "$folder/out_$edges.npz"
done
check lone_shapes 0 "PASSED" run "$folder/identity.engine" --trt --iterations 40 \
  --input-shapes 'X:[1,2,3,3]' 'X:[1,2,256,256]' 'X:[1,2,256,256]' 'X:[1,2,64,1]' \
  --save-inputs "$folder/in_shapes.npz" --save-outputs "$folder/out_shapes.npz"
finish
for kind in 256,256 1024,512 shapes; do
  check "lone_is_right_$kind" 0 "compared 1 output in 40 iterations" run "$identity" --onnxrt \
    --load-inputs "$folder/in_$kind.npz" --load-outputs "$folder/out_$kind.npz" "${exact[@]}"
done
check bad_word 2 "expected one of" run "$identity" --trt --tactic-sources nonsense
check subprocess 0 "PASSED" run "$identity" --trt --trt --use-subprocess
check convert 0 "Saving engine" convert "$models/conv.onnx" -o "$folder/converted.engine"
finish
check converted 0 "PASSED" run "$folder/converted.engine" --trt --load-inputs \
  "$folder/inputs.json" --load-outputs "$folder/outputs.json" --lenient --atol 1e-3
check convert_int8 0 "Saving engine" convert "$models/conv.onnx" -o "$folder/int8.engine" --int8
check save_tactics 0 "Saving tactic replay" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --save-tactics "$folder/tactics.json"
finish
check load_tactics 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --load-tactics "$folder/tactics.json"
sed 's/"tactic": -\{0,1\}[0-9]*/"tactic": 12345/' "$folder/tactics.json" >"$folder/other.json"
check other_tactics 6 "does not offer" run "$models/conv.onnx" --trt \
  --load-tactics "$folder/other.json"
check merged_cache 0 "Saving timing cache" run "$models/matmul_2layer.onnx" --trt --onnxrt \
  --atol 1e-3 --save-timing-cache "$folder/cache"
finish
# Which layer it is, with the groups that TensorRT makes; the longest of all come first.
(cd "$(dirname "$0")/../blame" && VERNIER=$vernier python3 - "$folder" <<'PY'
import sys
import onnx
import test_fusion
onnx.save(test_fusion.network(), sys.argv[1] + "/good.onnx")
onnx.save(test_fusion.network(scale=1.05), sys.argv[1] + "/bad.onnx")
PY
)
check blame 0 "Nothing is to blame" blame "$folder/good.onnx" --onnxrt --trt
check blame_fault 1 "c2_node" blame --runner "gold=onnxrt $folder/good.onnx" \
  --runner "new=trt $folder/bad.onnx" --reference gold
check merged_cache_serves 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --load-timing-cache "$folder/cache"
check formats_hwc8 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --fp16 "${half[@]}" \
  --all-tensor-dtypes float16 --all-tensor-formats linear chw2 hwc8 --lenient
check format_chw32 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --all-tensor-formats chw32
check format_unknown 2 "expected one of" run "$models/conv.onnx" --trt --all-tensor-formats nchw
check strategy_profile 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
  --allocation-strategy profile
check strategy_runtime 5 "--allocation-strategy runtime is not available in TensorRT 8.5.3" run \
  "$models/conv.onnx" --trt --allocation-strategy runtime
check budget 5 "--weight-streaming-budget is not available in TensorRT 8.5.3" run \
  "$models/conv.onnx" --trt --weight-streaming-budget 50%
check runtime_library 5 "--load-runtime is not available in TensorRT 8.5.3" run \
  "$folder/conv.engine" --trt --load-runtime x.so
check asked_precision 0 "asked for" run "$models/conv.onnx" --trt --onnxrt --fp16 "${half[@]}" -v \
  --layer-precisions conv:float32 --precision-constraints obey
check several_profiles 0 "PASSED" run "$identity" --trt --onnxrt \
  --trt-min-shapes 'X:[1,2,1,1]' --trt-opt-shapes 'X:[1,2,2,2]' --trt-max-shapes 'X:[1,2,3,3]' \
  --trt-min-shapes 'X:[1,2,4,4]' --trt-opt-shapes 'X:[1,2,5,5]' --trt-max-shapes 'X:[1,2,6,6]' \
  --optimization-profile 1 --input-shapes 'X:[1,2,6,6]'
# A shape that follows from data, and one that is an input.
python3 "$(dirname "$0")/shape_models.py" "$folder"
check data_dependent 0 "PASSED" run "$folder/places.onnx" --trt --onnxrt --iterations 4 --cuda-graphs
check shape_tensor 0 "PASSED" run "$folder/expand.onnx" --trt --onnxrt --val-range 'shape:[6,6]' \
  --trt-min-shapes 'shape:[1,6]' --trt-opt-shapes 'shape:[6,6]' --trt-max-shapes 'shape:[8,6]'
check cuda_graphs 0 "PASSED" run "$folder/conv.engine" --trt --cuda-graphs --load-inputs \
  "$folder/inputs.json" --load-outputs "$folder/outputs.json" --lenient --atol 1e-3
check debug_tensors 5 "--mark-debug is not available in TensorRT 8.5.3" run "$identity" --trt \
  --mark-debug Y
check dla_workspace 5 "--dla-workspace-allocation-strategy is not available in TensorRT 8.5.3" \
  run "$folder/conv.engine" --trt --dla-workspace-allocation-strategy shared_static
check mark_all_conv 0 "compared" run "$models/conv.onnx" --trt --onnxrt --trt-outputs mark all \
  --onnx-outputs mark all --atol 1e-3
# Without cuBLAS TensorRT 8.5's compiler has nothing for it, on an H200.
transformer=(run "$folder/transformer.onnx" --trt --onnxrt --trt-outputs mark all --onnx-outputs
  mark all --atol 1e-3)
if python3 -c 'import ctypes; ctypes.CDLL("libcublas.so.11").cublasCreate_v2' 2>/dev/null; then
  check mark_all_transformer 0 "compared 20 of" "${transformer[@]}"
  check external_sources 0 "[CUBLAS, CUDNN]" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 \
    --tactic-sources cublas cudnn -v
else
  check mark_all_transformer 6 "Could not find any implementation for node {ForeignNode" \
    "${transformer[@]}"
fi
check transformer_conv 0 "PASSED" run "$folder/transformer_conv.onnx" --trt --onnxrt --atol 1e-3
check unsupported 6 "node 'strange' (Det)" run "$folder/determinant.onnx" --trt
CUDA_VISIBLE_DEVICES='' check no_gpu 5 "needs an NVIDIA GPU" run "$identity" --trt --onnxrt
# What TensorRT 8 alone reads.
python3 "$(dirname "$0")/legacy_models.py" "$folder"
check caffe 0 "PASSED" run --runner "gold=onnxrt $folder/conv_same.onnx" \
  --runner "new=trt $folder/conv.prototxt" --atol 1e-3
check caffe_engine 0 "Saving engine" convert "$folder/conv.caffemodel" -o "$folder/caffe.engine" \
  --engine-capability standard
check uff 0 "PASSED" run --runner "gold=onnxrt $folder/relu_same.onnx" \
  --runner "new=trt $folder/relu.uff --trt-outputs y" --input-shapes 'x:[1,3,4,4]'
check uff_alone 2 "neither shapes nor outputs" run "$folder/relu.uff" --trt
# A Python that has `tensorrt`.
if [[ -n ${TENSORRT_PYTHON:-} ]]; then
  cat >"$folder/scripts.py" <<'PY'
import tensorrt as trt

def load_config(builder, network):
    config = builder.create_builder_config()
    config.set_tactic_sources(0)
    config.set_flag(trt.BuilderFlag.FP16)
    return config

def postprocess_config(builder, network, config):
    config.clear_flag(trt.BuilderFlag.FP16)

def postprocess(network):
    network.name = "renamed"

def load_network():
    builder = trt.Builder(trt.Logger(trt.Logger.WARNING))
    network = builder.create_network(1)
    y = network.add_identity(network.add_input("X", trt.float32, (1, 2, 3, 3))).get_output(0)
    y.name = "Y"
    network.mark_output(y)
    return builder, network
PY
  check python_config 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt "${half[@]}" \
    --trt-config-script "$folder/scripts.py" --python "$TENSORRT_PYTHON"
  check python_postprocess 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt --atol 1e-3 --fp16 \
    --tactic-sources edge_mask_convolutions --trt-cpps "$folder/scripts.py" --trt-npps "$folder/scripts.py" --python "$TENSORRT_PYTHON"
  check python_network 0 "PASSED" run "$folder/scripts.py:load_network" --trt \
    --python "$TENSORRT_PYTHON"
fi
check inspect_engine 0 "==== TensorRT Engine ====" inspect model "$folder/conv.engine" \
  --show layers attrs
check inspect_cut_engine 3 "engine" inspect model "$folder/cut.engine"
check record 0 "PASSED" run "$models/conv.onnx" --trt --onnxrt "${half[@]}" --fp16 --tf32 \
  --layer-precisions conv:float32 --precision-constraints obey --save-record "$folder/record.json"
finish
for text in '"setting": "TF32"' '"value": "allowed"' '"asked": "float32"' '"got": "float'; do
  grep -qF -- "$text" "$folder/record.json" || {
    echo "the record lacks $text"
    touch "$failures/record_text"
  }
done
# 256 MiB in, 256 MiB out, compared where they lie.
check large_on_device 0 "PASSED" run "$identity" --trt --trt \
  --input-shapes 'X:[1,2,4096,8192]'
finish
count=$(find "$failures" -type f | wc -l)
echo "$(find "$folder" -maxdepth 1 -name '*.log' | wc -l) command lines, $count ended otherwise"
exit $((count > 0))
