#include "run/comparison/output_names.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/functions/metric_table.h"
#include "util/text/close_matches.h"
#include "util/text/quoted.h"
#include "util/values/joined.h"
#include "vernier/compare_options.h"
#include "vernier/number_rule.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr size_t kMostNames = 12;

// Options, each with the name of an output that it is for.
using NamedOutputs = std::vector<std::pair<std::string, std::string_view>>;

template <typename T>
void AddNames(const std::string& flag, const PerOutput<T>& table, NamedOutputs& named) {
  for (const auto& entry : table.entries) named.emplace_back(flag, entry.first);
}

// An option is called like its field, except for the axis, which is a part of a word of --compare.
std::string FlagOf(std::string_view field) {
  if (field == "logits_axis") return "--compare logits";
  std::string flag = "--" + std::string(field);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

// The names in each field that may differ for each output.
struct OptionNames {
  NamedOutputs ours, theirs;

  template <typename T>
  void operator()(const char* field, const PerOutput<T>& table, const FieldRule& rule = {}) {
    AddNames(FlagOf(field), table, rule.ours ? ours : theirs);
  }
  template <typename T>
  void operator()(const char* /*field*/, const T& /*value*/, const FieldRule& /*rule*/ = {}) {}

  void Thresholds(const PerMetric<PerOutput<double>>& thresholds) {
    for (const MetricRow* metric : MetricsByOrigin()) {
      AddNames(std::string(metric->flag), thresholds[metric->function],
               metric->is_ours() ? ours : theirs);
    }
  }
};

// What stands before R in --max-flip-rate names an output, unless it is a decision: "top1", or the
// function of a script. Of "logits:top1" it is "logits".
std::string_view OutputOfRate(std::string_view name, const std::vector<DecisionPlan>& decisions) {
  for (const DecisionPlan& decision : decisions) {
    if (name == decision.text || name == decision.subject()) return decision.output;
    const std::string end = ":" + decision.text;
    if (name.size() > end.size() && name.ends_with(end)) {
      return name.substr(0, name.size() - end.size());
    }
  }
  return name;
}

void AddNamesOfDecisions(const DecisionOptions& decisions, NamedOutputs& named) {
  for (const DecisionPlan& decision : decisions.decisions) {
    if (!decision.output.empty()) named.emplace_back("--decision", decision.output);
  }
  for (const auto& [name, rate] : decisions.max_flip_rate.entries) {
    const std::string_view output = OutputOfRate(name, decisions.decisions);
    if (!output.empty()) named.emplace_back("--max-flip-rate", output);
  }
}

// Two sides have the same, most of the time.
std::vector<std::string> EachOnce(std::span<const std::string> outputs) {
  std::vector<std::string> names;
  for (const std::string& output : outputs) {
    if (std::ranges::find(names, output) == names.end()) names.push_back(output);
  }
  return names;
}

// Empty: all of them are there.
std::string WhatIsMissing(const NamedOutputs& named, std::span<const std::string> outputs,
                          std::span<const std::string> wholes) {
  const std::vector<std::string_view> known(outputs.begin(), outputs.end());
  for (const auto& [flag, name] : named) {
    const bool found = std::any_of(known.begin(), known.end(), [&](std::string_view output) {
      return output == name || IsPartOf(output, name);
    });
    const bool in_whole = std::any_of(wholes.begin(), wholes.end(), [&](const std::string& whole) {
      return BelongsTo(name, whole);
    });
    if (found || in_whole) continue;
    const std::string near = DidYouMean(CloseMatches(name, known, 1));
    return flag + ": there is no output '" + std::string(name) + "'" +
           (near.empty() ? ", but " + JoinedUpTo(EachOnce(outputs), kMostNames, Quoted) : near);
  }
  return "";
}

}  // namespace

Status CheckOutputNames(const RunPlan& plan, const std::vector<std::string>& outputs,
                        std::span<const std::string> wholes) {
  OptionNames names;
  AddNamesOfDecisions(plan.decisions, names.ours);
  CompareOptions::EachField(*plan.compare, names);
  names("postprocess", plan.postprocess);
  if (std::string missing = WhatIsMissing(names.ours, outputs, wholes); !missing.empty()) {
    return InvalidArgument(std::move(missing));
  }
  if (std::string missing = WhatIsMissing(names.theirs, outputs, wholes); !missing.empty()) {
    return NotFound(std::move(missing));
  }
  return {};
}

}  // namespace vernier
