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
#include "vernier/part_names.h"

namespace vernier {
namespace {

constexpr size_t kMostNames = 12;

// Options, each with the name of an output that it is for.
using NamedOutputs = std::vector<std::pair<std::string_view, std::string_view>>;

template <typename T>
void AddNames(std::string_view flag, const PerOutput<T>& table, NamedOutputs& named) {
  for (const auto& entry : table.entries) named.emplace_back(flag, entry.first);
}

NamedOutputs NamedByPolygraphy(const RunPlan& plan) {
  const CompareOptions& compare = plan.compare;
  NamedOutputs named;
  AddNames("--atol", compare.atol, named);
  AddNames("--rtol", compare.rtol, named);
  AddNames("--check-error-stat", compare.check_error_stat, named);
  AddNames("--error-quantile", compare.error_quantile, named);
  AddNames("--index-tolerance", compare.index_tolerance, named);
  AddNames("--postprocess", plan.postprocess, named);
  return named;
}

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

NamedOutputs NamedByUs(const CompareOptions& compare, const DecisionOptions& decisions) {
  NamedOutputs named;
  for (const DecisionPlan& decision : decisions.decisions) {
    if (!decision.output.empty()) named.emplace_back("--decision", decision.output);
  }
  for (const auto& [name, rate] : decisions.max_flip_rate.entries) {
    const std::string_view output = OutputOfRate(name, decisions.decisions);
    if (!output.empty()) named.emplace_back("--max-flip-rate", output);
  }
  AddNames("--tolerance", compare.tolerance, named);
  AddNames("--compare logits", compare.logits_axis, named);
  AddNames("--logits-kl-threshold", compare.logits_kl_threshold, named);
  AddNames("--logits-top1-threshold", compare.logits_top1_threshold, named);
  AddNames("--max-mismatch-share", compare.max_mismatch_share, named);
  AddNames("--max-mismatch-excess", compare.max_mismatch_excess, named);
  return named;
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
    return std::string(flag) + ": there is no output '" + std::string(name) + "'" +
           (near.empty() ? ", but " + JoinedUpTo(outputs, kMostNames, Quoted) : near);
  }
  return "";
}

}  // namespace

Status CheckOutputNames(const RunPlan& plan, const std::vector<std::string>& outputs,
                        std::span<const std::string> wholes) {
  NamedOutputs theirs = NamedByPolygraphy(plan), ours = NamedByUs(plan.compare, plan.decisions);
  for (const MetricRow* metric : MetricsByOrigin()) {
    AddNames(metric->flag, plan.compare->thresholds[metric->function],
             metric->is_ours() ? ours : theirs);
  }
  if (std::string missing = WhatIsMissing(ours, outputs, wholes); !missing.empty()) {
    return InvalidArgument(std::move(missing));
  }
  if (std::string missing = WhatIsMissing(theirs, outputs, wholes); !missing.empty()) {
    return NotFound(std::move(missing));
  }
  return {};
}

}  // namespace vernier
