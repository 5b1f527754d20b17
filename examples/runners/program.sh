#!/bin/sh
# A model that is a program: y = relu(x) + x, in the language of jq.
#
#     vernier run model.onnx --onnxrt --model-runner examples/runners/program.sh
#
# It reads one feed as JSON and writes its outputs as JSON; lists of numbers take the type that the
# ONNX model's output of that name has.
exec jq '{y: [.x.values[] | map(if . > 0 then 2 * . else . end)]}'
