#include "cli/commands/build_command.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "options/table/command_options.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

// Files of one build, which says nothing of the next, and of timings.
constexpr std::string_view kBuildFiles[] = {"load_timing_cache", "save_timing_cache",
                                            "save_tactics", "load_tactics"};
// What this program asks for itself, or says otherwise in a command.
constexpr std::string_view kNotOfConvert[] = {"node_precisions",  "keep_timings", "save_engine",
                                              "layer_precisions", "script",       "model_type"};
// What an engine is run with, which does not build it.
constexpr std::string_view kOfRunning[] = {"optimization_profile", "allow_engine_code",
                                           "load_runtime",         "weight_streaming_budget",
                                           "allocation_strategy",  "cuda_graphs"};

template <size_t N>
bool IsAmong(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
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

void AddConvertOption(const OptionTable& table, const std::string& key, const std::string& value,
                      std::vector<std::string>& words) {
  const OptionRow* row = table.FindDest(key);
  const bool left_out =
      IsAmong(kNotOfConvert, key) || IsAmong(kOfRunning, key) || IsAmong(kBuildFiles, key);
  if (row == nullptr || left_out) return;
  words.emplace_back(row->flags[0]);
  if (row->arity == Arity::kNone) return;
  for (std::string& word : SplitAt(value, '\n')) words.push_back(std::move(word));
}

}  // namespace

std::string BuildCommand(const RunnerPlan& runner, const std::vector<std::string>& layers,
                         const std::string& timings, const std::string& output) {
  const OptionTable table = ConvertOptionTable();
  std::vector<std::string> words = {"vernier", "convert", runner.model.path};
  for (const auto& [key, value] : runner.session_options)
    AddConvertOption(table, key, value, words);
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
