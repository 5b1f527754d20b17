#include "debug/engine_precisions.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "util/text/number_text.h"
#include "util/text/split_text.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

constexpr std::string_view kLower[] = {"fp16", "bf16", "fp8", "int8", "tf32"};
constexpr std::string_view kPrecisions[] = {"precision_constraints", "layer_precisions",
                                            "node_precisions"};

bool Has(const RunnerPlan& runner, std::string_view key) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [&](const auto& option) { return option.first == key; });
}

void Remove(RunnerPlan& runner, auto which) {
  std::erase_if(runner.session_options, [&](const auto& option) { return which(option.first); });
}

}  // namespace

bool IsLowerPrecision(std::string_view key) { return ListHas(kLower, key); }

bool IsStronglyTyped(std::string_view version) {
  const std::optional<int64_t> major = ParseInt(version.substr(0, version.find('.')));
  return major && *major >= 10;
}

void KeepInFloat32(RunnerPlan& runner) {
  if (runner.backend != kTensorRtBackend) return;
  Remove(runner,
         [](std::string_view key) { return ListHas(kLower, key) || ListHas(kPrecisions, key); });
}

void ObeyTypes(RunnerPlan& runner) {
  KeepInFloat32(runner);
  if (!Has(runner, "strongly_typed")) runner.session_options.emplace_back("strongly_typed", "1");
}

void ObeyPrecisions(RunnerPlan& runner, std::span<const std::string> tensors,
                    std::string_view higher) {
  const auto permits = [&](std::string_view key) { return Has(runner, key); };
  if (std::none_of(std::begin(kLower), std::end(kLower), permits)) {
    runner.session_options.emplace_back("fp16", "1");
  }
  if (!Has(runner, "precision_constraints")) {
    runner.session_options.emplace_back("precision_constraints", "obey");
  }
  std::string lines;
  for (const std::string& tensor : tensors) {
    lines += (lines.empty() ? "" : "\n") + tensor + ":" + std::string(higher);
  }
  if (!lines.empty()) runner.session_options.emplace_back("node_precisions", lines);
}

void KeepBuilder(RunnerPlan& runner) { runner.backend_options.emplace_back("keep_builder", "1"); }

void ShareBuilder(RunnerPlan& runner, const std::string& timings) {
  const auto given = [&](std::string_view key) { return Has(runner, key); };
  const std::string saved(TimingsOf(runner));
  KeepBuilder(runner);
  if (given("save_tactics") || given("load_tactics")) return;
  runner.session_options.emplace_back("keep_timings", "1");
  if (given("load_timing_cache") || given("timing_cache_dir")) return;
  const std::string& file = saved.empty() ? timings : saved;
  // That there is no such file yet would be reported.
  std::error_code error;
  if (std::filesystem::exists(file, error))
    runner.session_options.emplace_back("load_timing_cache", file);
  if (saved.empty()) runner.session_options.emplace_back("save_timing_cache", file);
}

std::string_view TimingsOf(const RunnerPlan& runner) {
  for (const auto& [key, value] : runner.session_options) {
    if (key == "save_timing_cache") return value;
  }
  return {};
}

void SetEngineFile(RunnerPlan& runner, const std::string& path) {
  Remove(runner, [](std::string_view key) { return key == "save_engine"; });
  runner.session_options.emplace_back("save_engine", path);
}

std::vector<std::string> AskedLayers(const EngineBuildRecord& build) {
  for (const auto& [setting, value] : build.config) {
    if (setting == "Layer precisions") return SplitAt(value, '\n');
  }
  return {};
}

std::vector<std::string> DisobeyedLayers(const EngineBuildRecord& build) {
  std::vector<std::string> sentences;
  for (const LayerPrecisionRecord& layer : build.layers) {
    if (layer.asked.empty() || layer.got.empty() || layer.asked == layer.got) continue;
    sentences.push_back("layer '" + layer.layer + "' was set to " + layer.asked + " and computes " +
                        layer.got);
  }
  return sentences;
}

}  // namespace vernier
