#include "run/parts/shard_differences.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "io/bytes/checksum.h"
#include "record/plan/plan_difference.h"
#include "run/parts/shard_sources.h"
#include "run/workers/runner_session.h"

namespace vernier {
namespace {

// Options that are not called as the settings that they fill.
struct SettingFlag {
  std::string_view setting, flag;
};
constexpr SettingFlag kSettingFlags[] = {
    {"inputs.load", "--load-inputs"},
    {"inputs.script", "--data-loader-script"},
    {"inputs.shapes", "--input-shapes"},
    {"inputs.dims", "--dim"},
    {"inputs.ranges", "--val-range"},
    {"inputs.maps", "--map-inputs"},
    {"inputs.from_graph", "--inputs-from-graph"},
    {"load_outputs", "--load-outputs"},
    {"output_maps", "--map-outputs"},
    {"postprocess_script", "--postprocess-func-script"},
    {"compare_script", "--compare-func-script"},
    {"compare.functions", "--compare"},
    {"execution.environment", "--env"},
    {"decisions.decisions", "--decision"},
};

bool HasOptionWord(const std::vector<std::string>& words, std::string_view flag) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == flag || (word.starts_with(flag) && word[flag.size()] == '=');
  });
}

// "--atol" of "compare.atol", where one of the commands has that option; else empty.
std::string FlagOfSetting(const std::string& setting, const ShardHead& a, const ShardHead& b) {
  std::string flag = "--" + setting.substr(setting.rfind('.') + 1);
  std::ranges::replace(flag, '_', '-');
  for (const SettingFlag& known : kSettingFlags) {
    if (setting.starts_with(known.setting)) flag = known.flag;
  }
  return HasOptionWord(a.words, flag) || HasOptionWord(b.words, flag) ? flag : std::string();
}

std::string DescribeOtherPlan(const ShardHead& a, const ShardHead& b, const std::string& a_path,
                              const std::string& b_path) {
  const auto found = FindPlanDifference(a.plan, b.plan);
  if (!found.ok() || !*found) return "they are of other runs";
  const PlanDifference& other = **found;
  // Of a tolerance for all outputs the key is empty.
  std::string setting = other.setting;
  constexpr std::string_view kAll = ".\"\"";
  if (setting.ends_with(kAll)) setting.resize(setting.size() - kAll.size());
  std::string name = FlagOfSetting(setting, a, b);
  if (name.empty()) {
    const std::string flag = FlagOfSetting(setting.substr(0, setting.rfind('.')), a, b);
    name = flag.empty() ? "setting '" + setting + "'" : flag + " ('" + setting + "')";
  }
  const auto shown = [](const std::string& value) { return value.empty() ? "not given" : value; };
  return name + " is " + shown(other.first) + " in '" + a_path + "' and " + shown(other.second) +
         " in '" + b_path + "'";
}

// Paths as they are seen from the folder in which the part was made: nodes may have copies of it.
ShardHead SeenFromItsFolder(ShardHead head) {
  const std::string folder = head.folder + "/";
  if (!head.folder.starts_with('/') || folder == "//") return head;
  const auto shorten = [&](std::string& text, std::string_view before) {
    const std::string from = std::string(before) + folder;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.erase(at + before.size(), folder.size());
    }
  };
  const auto shorten_path = [&](std::string& path) {
    if (path.starts_with(folder)) path.erase(0, folder.size());
  };
  shorten(head.plan, "\"");
  for (auto& [path, hash] : head.models) shorten_path(path);
  for (ShardSource& source : head.sources) {
    shorten_path(source.path);
    shorten_path(source.last);
    shorten(source.option, "'");
  }
  return head;
}

}  // namespace

std::string HashOfRun(const ShardHead& head) {
  const ShardHead seen = SeenFromItsFolder(head);
  Checksum checksum;
  const auto add = [&checksum](const std::string& text) {
    checksum.Add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  };
  add(seen.plan);
  for (const auto& [path, hash] : seen.models) add(hash);
  for (const ShardSource& source : seen.sources) {
    add(source.path);
    add(std::to_string(source.size) + " " + source.hash);
  }
  return HexadecimalHash(checksum.value());
}

std::string DifferenceOfHeads(const ShardHead& a_head, const ShardHead& b_head,
                              const std::string& a_path, const std::string& b_path) {
  const ShardHead a = SeenFromItsFolder(a_head), b = SeenFromItsFolder(b_head);
  const auto differ = [&](const std::string& what, const std::string& x, const std::string& y) {
    return what + " is " + x + " in '" + a_path + "' and " + y + " in '" + b_path + "'";
  };
  if (a.version != b.version) return differ("the version of vernier", a.version, b.version);
  if (a.count != b.count) {
    return differ("the number of shards", std::to_string(a.count), std::to_string(b.count));
  }
  if (a.rule != b.rule) return differ("--shard-by", a.rule, b.rule);
  if (a.plan != b.plan) return DescribeOtherPlan(a, b, a_path, b_path);
  for (size_t i = 0; i < std::min(a.models.size(), b.models.size()); ++i) {
    if (a.models[i] == b.models[i]) continue;
    return "model '" + a.models[i].first + "' has other content in '" + b_path + "' (XXH3 " +
           b.models[i].second + ") than in '" + a_path + "' (" + a.models[i].second + ")";
  }
  return DifferenceOfSources(a.sources, b.sources, {"in '" + a_path + "'", "in '" + b_path + "'"});
}

}  // namespace vernier
