#include "report/tolerance_advice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "report/run_summary.h"
#include "report/threshold_advice.h"
#include "report/verdict_text.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

struct NeededTolerance {
  std::string name;
  double value = 0;
  bool integer = false;
};

std::string ToleranceText(const NeededTolerance& needed) {
  const bool exact = needed.integer && needed.value <= 0x1p53;
  return exact ? std::to_string(static_cast<int64_t>(std::ceil(needed.value)))
               : RoundedToPass(needed.value, false);
}

// What `simple` would have needed. nullopt: no tolerance is enough.
std::optional<double> RequiredOf(const OutputRecord& output) {
  if (!output.required_absolute || !output.required_relative) return std::nullopt;
  const double required = HoldsIntegers(output)
                              ? *output.required_absolute
                              : std::min(*output.required_absolute, *output.required_relative);
  return std::isfinite(required) && required > 0 ? std::optional(required) : std::nullopt;
}

// Records that do not tell of functions have `simple` alone.
bool FailedSimple(const OutputRecord& output) {
  return output.figures.gates.empty() ||
         std::ranges::any_of(output.figures.gates, [](const GateRecord& gate) {
           return gate.function == "simple" && gate.verdict == "failed";
         });
}

// Whether there is an option for everything that the output failed.
bool HasOptions(const OutputRecord& output) {
  if (output.without_numbers > 0) return false;
  if (FailedSimple(output) && !RequiredOf(output)) return false;
  return std::ranges::all_of(output.figures.gates, [](const GateRecord& gate) {
    return gate.verdict != "failed" || gate.function == "simple" || HasThreshold(gate);
  });
}

std::string FlagText(std::string_view flag, const std::vector<NeededTolerance>& needed,
                     bool by_name) {
  if (needed.empty()) return "";
  std::string text = " " + std::string(flag);
  if (!by_name) {
    return text + " " +
           ToleranceText(*std::ranges::max_element(needed, {}, &NeededTolerance::value));
  }
  for (const NeededTolerance& one : needed) {
    text += " " + QuoteForShell(one.name + ":" + ToleranceText(one));
  }
  return text;
}

}  // namespace

std::string AdviceToAccept(const RunRecord& record) {
  std::vector<NeededTolerance> absolute;  // an output may be in several pairs
  bool by_name = false;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      if (!HasFailed(output)) continue;
      if (!HasOptions(output)) return "";
      if (!FailedSimple(output)) continue;
      by_name |= output.bar.has_value();
      auto at = std::ranges::find(absolute, output.name, &NeededTolerance::name);
      if (at == absolute.end()) at = absolute.insert(at, {output.name, 0, true});
      at->value = std::max(at->value, *RequiredOf(output));
      at->integer &= HoldsIntegers(output);
    }
  }
  std::vector<NeededTolerance> relative = absolute;
  std::erase_if(relative, [](const NeededTolerance& needed) { return needed.integer; });
  by_name |= !relative.empty() && relative.size() < absolute.size();
  return FlagText("--atol", absolute, by_name) + FlagText("--rtol", relative, by_name) +
         ThresholdAdvice(record);
}

}  // namespace vernier
