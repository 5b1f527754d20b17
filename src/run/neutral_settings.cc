#include "run/neutral_settings.h"

namespace vernier {
namespace {

constexpr NeutralSetting kSettings[] = {
    {"onnxruntime", "intra_op_threads", "1"},
    {"onnxruntime", "intra_op_threads", "2"},
    {"onnxruntime", "graph_optimization_level", "ORT_DISABLE_ALL"},
    {"onnxruntime", "graph_optimization_level", "ORT_ENABLE_BASIC"},
    {"onnxruntime", "graph_optimization_level", "ORT_ENABLE_EXTENDED"},
    {"openvino", "threads", "1"},
    {"openvino", "threads", "2"},
    {"tensorflow", "threads", "1"},
    {"tensorflow", "threads", "2"},
    {"tensorflow", "graph_optimization", "off"},
};

// What a script calls is its own: the thread pools that are common are all given the number.
constexpr std::string_view kOneThread =
    "OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1";
constexpr std::string_view kTwoThreads =
    "OMP_NUM_THREADS=2 MKL_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 TF_NUM_INTRAOP_THREADS=2";
// Kernels without the vector instructions of this machine; without oneDNN.
constexpr std::string_view kPlainTorch = "ATEN_CPU_CAPABILITY=default";
constexpr std::string_view kPlainTensorFlow = "TF_ENABLE_ONEDNN_OPTS=0";

constexpr NeutralEnvironment kEnvironments[] = {
    {"torch", kOneThread},
    {"torch", kTwoThreads},
    {"torch", kPlainTorch},
    {"keras", kOneThread},
    {"keras", kTwoThreads},
    {"keras", kPlainTensorFlow},
    {"tensorflow", kPlainTensorFlow},
    {"onnxref", kOneThread},
    {"onnxref", kTwoThreads},
    {"python", kOneThread},
    {"python", kTwoThreads},
};

}  // namespace

std::span<const NeutralSetting> NeutralSettings() { return kSettings; }

std::span<const NeutralEnvironment> NeutralEnvironments() { return kEnvironments; }

void ReplaceSetting(RunnerPlan& runner, std::string_view key, std::string_view value) {
  std::erase_if(runner.session_options, [&](const auto& option) { return option.first == key; });
  runner.session_options.emplace_back(key, value);
}

}  // namespace vernier
