#include "report/text/next_step.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compare/functions/logits.h"
#include "record/schema/coverage.h"
#include "report/text/run_summary.h"
#include "report/text/tolerance_advice.h"
#include "report/text/verdict_text.h"
#include "util/text/shell_words.h"
#include "util/text/visible_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// One line, whatever the names in it hold.
std::string OneLine(std::string_view text) { return VisibleLine(text) + "\n"; }

const RunnerRecord* FindRunner(const RunRecord& record, const std::string& name) {
  const auto found = std::ranges::find(record.runners, name, &RunnerRecord::name);
  return found == record.runners.end() ? nullptr : &*found;
}

// Whether `blame` can probe it. Scripts may do with the model what they like.
bool IsOnnx(const RunnerRecord* runner) {
  return runner != nullptr && runner->model.ends_with(".onnx") && runner->backend != "python";
}

// Empty: nothing would name the layer.
std::string LayerAdvice(const RunRecord& record, const RunnerRecord* first,
                        const RunnerRecord* second) {
  const bool steps = record.steps.has_value();
  const bool both = IsOnnx(first) && IsOnnx(second);
  if (both && steps) {
    return "to find the step and its layer: `vernier blame` with these runners and steps";
  }
  const bool divided = !record.shard.empty() || !record.shards.empty();
  if (both && divided) return "to find the layer: run an iteration that failed with --blame";
  if (both) return "to find the layer: add --blame";
  // Over steps, both sides must be runners.
  if (steps) return "";
  const bool one_saved = (first == nullptr) != (second == nullptr);
  if (!one_saved || !(IsOnnx(first) || IsOnnx(second))) return "";
  return "to find the layer: `vernier blame` with outputs that were saved with --onnx-outputs '*' "
         "and their inputs";
}

bool HasMismatch(const PairRecord& pair) { return std::ranges::any_of(pair.outputs, HasFailed); }

// "reason: a computes in float32, b in float16", where both say it and differ. Frameworks name a
// type for strings as well, which is no reason.
std::string PrecisionReason(const RunnerRecord* first, const RunnerRecord* second) {
  if (first == nullptr || second == nullptr) return "";
  // Scripts need not say what they compute in.
  const bool known = !first->precision.empty() && !second->precision.empty();
  if (!known || first->precision == second->precision) return "";
  if (first->precision == "strings" || second->precision == "strings") return "";
  return OneLine("reason: " + first->name + " computes in " + first->precision + ", " +
                 second->name + " in " + second->precision);
}

bool EndsAtInt32(const SideRecord& side) {
  return side.min == std::numeric_limits<int32_t>::min() ||
         side.max == std::numeric_limits<int32_t>::max();
}

bool ExceedsInt32(const SideRecord& side) {
  return side.min < std::numeric_limits<int32_t>::min() ||
         side.max > std::numeric_limits<int32_t>::max();
}

// Of integers that one side has within 32 bits only, where the other's are larger.
std::string SaturationReason(const PairRecord& pair) {
  for (const OutputRecord& output : pair.outputs) {
    const std::optional<SideRecord>&first = output.figures.first, &second = output.figures.second;
    if (!HasFailed(output) || !HoldsIntegers(output) || !first || !second) continue;
    const bool by_first = EndsAtInt32(*first) && ExceedsInt32(*second);
    const bool by_second = EndsAtInt32(*second) && ExceedsInt32(*first);
    if (!by_first && !by_second) continue;
    return OneLine("reason: " + (by_first ? pair.first : pair.second) +
                   " ends at the limits of int32 in"
                   " output '" +
                   output.name + "', and " + (by_first ? pair.second : pair.first) +
                   " has values beyond");
  }
  return "";
}

bool HoldsProbabilities(const OutputRecord& output) {
  return std::ranges::any_of(output.figures.gates, [](const GateRecord& gate) {
    return gate.function == "logits" && gate.why == kProbabilities;
  });
}

// Where --compare logits met what a softmax gave: the words that compare the others.
std::string LogitsAdvice(const RunRecord& record) {
  std::vector<std::string> words;
  bool any = false, all = true;
  for (const PairRecord& pair : record.pairs) {
    all &= pair.not_logits.empty();
    for (const OutputRecord& output : pair.outputs) {
      const bool refused = HoldsProbabilities(output);
      any |= refused;
      all &= refused;
      const std::string word = output.name + ":logits";
      const bool known = std::ranges::find(words, word) != words.end();
      if (output.logits && !refused && !known) words.push_back(word);
    }
  }
  if (any && all) return OneLine("next: use --compare kl_divergence in place of logits");
  if (!any || words.empty()) return "";
  return OneLine("next: to compare what holds logits: use --compare " + JoinForShell(words) +
                 " in place of logits");
}

// Nothing but NaN is not finite, in as many places on both sides and first in the same one.
bool HasNansAlike(const OutputRecord& output) {
  const auto &first = output.figures.first, &second = output.figures.second;
  return first && second && first->nan_count == output.not_finite &&
         second->nan_count == output.not_finite && first->first_nan == second->first_nan;
}

// What shows where values that are not finite come from, as far as the command has not got it; with
// `before` in front. Empty: it has all, or nothing ran.
std::string AdviceToFind(const RunRecord& record, std::string_view before) {
  const auto has = [&](std::string_view word) {
    return record.command.find(word) != std::string::npos;
  };
  std::string words = has("--onnx-outputs") || has("--mark-all") ? "" : " --onnx-outputs '*'";
  if (!has("--validate")) words += " --validate";
  if (record.runners.empty() || words.empty()) return "";
  return std::string(before) + "find where they start: add" + words;
}

}  // namespace

std::string FormatAdvice(const RunRecord& record) {
  // Where the outputs part is known then, and a bound is no tolerance that could be wider.
  if (record.blame) return "";
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      if (!HasFailed(output) || output.not_finite == 0) continue;
      if (HasNansAlike(output)) {
        return OneLine("reason: output '" + output.name + "' holds " +
                       Counted(output.not_finite, "NaN", "NaN") +
                       " on both sides, the first at the same place, and NaN never passes a "
                       "comparison; use inputs for which the model gives numbers (--load-inputs, "
                       "--val-range)" +
                       AdviceToFind(record, ", or "));
      }
      return OneLine("reason: output '" + output.name + "' differs in " +
                     Counted(output.not_finite, "NaN or infinite value") +
                     AdviceToFind(record, "; "));
    }
  }
  const auto pair = std::ranges::find_if(record.pairs, HasMismatch);
  if (pair == record.pairs.end()) return LogitsAdvice(record);
  const RunnerRecord* first = FindRunner(record, pair->first);
  const RunnerRecord* second = FindRunner(record, pair->second);
  std::string next = LayerAdvice(record, first, second);
  if (const std::string options = AdviceToAccept(record); !options.empty()) {
    next += (next.empty() ? "" : "; ") + ("to accept this difference: use" + options);
    // Of a pair of tolerances, each is only known to be enough beside the other as it was.
    const bool pair = options.find(" --atol ") != std::string::npos ||
                      options.find(" --rtol ") != std::string::npos;
    if (pair && !options.ends_with(')')) next += " (enough, but not the smallest pair)";
  }
  std::string reason = SaturationReason(*pair);
  if (reason.empty()) reason = PrecisionReason(first, second);
  return reason + (next.empty() ? "" : OneLine("next: " + next));
}

}  // namespace vernier
