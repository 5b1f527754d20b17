#include "cli/debug/engine_precisions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/command_table.h"
#include "util/number_text.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

constexpr std::string_view kLower[] = {"fp16", "bf16", "fp8", "int8", "tf32"};
constexpr std::string_view kPrecisions[] = {"precision_constraints", "layer_precisions",
                                            "node_precisions"};
// Files of one build, which says nothing of the next, and of timings.
constexpr std::string_view kFiles[] = {"load_timing_cache", "save_timing_cache", "save_tactics",
                                       "load_tactics"};
// What this program asks for itself, or says otherwise in a command.
constexpr std::string_view kOwn[] = {"node_precisions",  "keep_timings", "save_engine",
                                     "layer_precisions", "script",       "model_type"};
// What an engine is run with, which does not build it.
constexpr std::string_view kOfRunning[] = {"optimization_profile", "allow_engine_code",
                                           "load_runtime",         "weight_streaming_budget",
                                           "allocation_strategy",  "cuda_graphs"};

template <size_t N>
bool Contains(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

bool Has(const RunnerPlan& runner, std::string_view key) {
  return std::any_of(runner.session_options.begin(), runner.session_options.end(),
                     [&](const auto& option) { return option.first == key; });
}

void Remove(RunnerPlan& runner, auto which) {
  std::erase_if(runner.session_options, [&](const auto& option) { return which(option.first); });
}

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// "0\tmin\tx\t1,3" of each input, as the flags that say the same.
std::vector<std::string> ProfileWords(const RunnerPlan& runner) {
  std::map<std::pair<int64_t, size_t>, std::vector<std::string>> shapes;  // by profile and end
  constexpr std::string_view kEnds[] = {"min", "opt", "max"};
  for (const auto& [key, value] : runner.session_options) {
    const std::vector<std::string> parts = SplitAt(value, '\t');
    if (key != "profile" || parts.size() < 3) continue;
    const auto end = std::find(std::begin(kEnds), std::end(kEnds), parts[1]) - std::begin(kEnds);
    const std::string extents = parts.size() > 3 ? parts[3] : "";
    const int64_t profile = ParseInt(parts[0]).value_or(0);
    shapes[{profile, static_cast<size_t>(end)}].push_back(parts[2] + ":[" + extents + "]");
  }
  std::vector<std::string> words;
  for (const auto& [place, inputs] : shapes) {
    words.push_back("--trt-" + std::string(kEnds[place.second]) + "-shapes");
    words.insert(words.end(), inputs.begin(), inputs.end());
  }
  return words;
}

void AddOption(const OptionTable& table, const std::string& key, const std::string& value,
               std::vector<std::string>& words) {
  const OptionRow* row = table.FindDest(key);
  const bool left_out = Contains(kOwn, key) || Contains(kOfRunning, key) || Contains(kFiles, key);
  if (row == nullptr || left_out) return;
  words.emplace_back(row->flags[0]);
  if (row->arity == Arity::kNone) return;
  for (std::string& word : SplitAt(value, '\n')) words.push_back(std::move(word));
}

}  // namespace

bool IsLowerPrecision(std::string_view key) { return Contains(kLower, key); }

bool IsStronglyTyped(std::string_view version) {
  const std::optional<int64_t> major = ParseInt(version.substr(0, version.find('.')));
  return major && *major >= 10;
}

void KeepInFloat32(RunnerPlan& runner) {
  if (runner.backend != kTensorRt) return;
  Remove(runner,
         [](std::string_view key) { return Contains(kLower, key) || Contains(kPrecisions, key); });
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
  if (given("load_timing_cache")) return;
  const std::string& file = saved.empty() ? timings : saved;
  // That there is no such file yet would be told.
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
    sentences.push_back("layer '" + layer.layer + "' was asked for " + layer.asked + " and gives " +
                        layer.got);
  }
  return sentences;
}

std::string BuildCommand(const RunnerPlan& runner, const std::vector<std::string>& layers,
                         const std::string& timings, const std::string& output) {
  const OptionTable table = FindCommand("convert")->options();
  std::vector<std::string> words = {"vernier", "convert", runner.model.path};
  for (const auto& [key, value] : runner.session_options) AddOption(table, key, value, words);
  for (std::string& word : ProfileWords(runner)) words.push_back(std::move(word));
  if (!layers.empty()) {
    words.emplace_back("--layer-precisions");
    words.insert(words.end(), layers.begin(), layers.end());
  }
  if (!timings.empty()) words.insert(words.end(), {"--load-timing-cache", timings});
  words.insert(words.end(), {"-o", output});
  return JoinForShell(words);
}

}  // namespace vernier
