#!/usr/bin/env bash
# Compiles the TensorRT plug-in against every folder of headers that is named; needs no GPU and no
# TensorRT library. A folder has NvInfer.h and NvOnnxParser.h. Warnings are errors.
#
# Usage: scripts/check-trt.sh INCLUDE_DIR...
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $# == 0 ]]; then usage_error "expected folders of headers"; fi
cuda=${CUDA_INCLUDE_DIR:-backends/tensorrt/cuda_types}
object=$(mktemp)
trap 'rm -f "$object"' EXIT
mapfile -t sources < <(find backends/tensorrt -name '*.cc' ! -name '*_test.cc')
for headers in "$@"; do
  version=$(sed -n -E 's/^#define (TRT|NV_TENSORRT)_(MAJOR|MINOR|PATCH)(_ENTERPRISE)? ([0-9]+).*/\4/p' \
    "$headers/NvInferVersion.h" | head -n 3 | paste -s -d .)
  for source in "${sources[@]}"; do
    ${CXX:-g++} -std=c++20 -fPIC -Wall -Wextra -Wconversion -Werror -Wno-deprecated-declarations \
      -isystem "$headers" -isystem "$cuda" -Iinclude -Ibackends -c "$source" -o "$object"
  done
  echo "TensorRT $version: ${#sources[@]} files, no warning"
done
