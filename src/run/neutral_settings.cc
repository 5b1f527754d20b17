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
};

}  // namespace

std::span<const NeutralSetting> NeutralSettings() { return kSettings; }

void ReplaceSetting(RunnerPlan& runner, std::string_view key, std::string_view value) {
  std::erase_if(runner.session_options, [&](const auto& option) { return option.first == key; });
  runner.session_options.emplace_back(key, value);
}

}  // namespace vernier
