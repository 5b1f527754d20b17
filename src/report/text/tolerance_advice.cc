#include "report/text/tolerance_advice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "report/text/run_summary.h"
#include "report/text/threshold_advice.h"
#include "report/text/verdict_text.h"
#include "util/text/shell_words.h"
#include "vernier/part_names.h"

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

// A relative error of 0/0 is NaN, and hides the others.
bool NeedsAbsolute(const OutputRecord& output) {
  return HoldsIntegers(output) || !(*output.required_relative < *output.required_absolute);
}

// What `simple` would have needed: either tolerance alone is enough. nullopt: none is.
std::optional<double> RequiredOf(const OutputRecord& output) {
  if (!output.required_absolute || !output.required_relative) return std::nullopt;
  const double required =
      NeedsAbsolute(output) ? *output.required_absolute : *output.required_relative;
  return std::isfinite(required) && required > 0 ? std::optional(required) : std::nullopt;
}

void AddNeeded(const OutputRecord& output, double value, std::vector<NeededTolerance>& all) {
  auto at = std::ranges::find(all, output.name, &NeededTolerance::name);
  if (at == all.end()) at = all.insert(at, {output.name, 0, true});
  at->value = std::max(at->value, value);
  at->integer &= HoldsIntegers(output);
}

// Records without functions have `simple` alone.
bool FailedSimple(const PairRecord& pair, const OutputRecord& output) {
  return output.figures.gates.empty() ||
         std::ranges::any_of(FailedGates(pair, output),
                             [](const GateRecord& gate) { return gate.function == "simple"; });
}

// Whether there is an option for everything that the output failed.
bool HasOptions(const PairRecord& pair, const OutputRecord& output) {
  if (output.without_numbers > 0) return false;
  // No tolerance makes a sequence longer.
  const bool counts = output.dtype == "int64" || output.dtype == "bool";
  if (counts && CountedBy(output.name) != '\0') return false;
  if (FailedSimple(pair, output) && !RequiredOf(output)) return false;
  return std::ranges::all_of(FailedGates(pair, output), [](const GateRecord& gate) {
    return gate.function == "simple" || HasThreshold(gate);
  });
}

// Tolerances of so many outputs can be read; of more, one for all of them is given.
constexpr size_t kMostNamed = 4;

// Of all outputs, those that passed included: an absolute tolerance with which each passes by
// itself. nullopt: it is not known of one of them.
std::optional<double> AbsoluteForAll(const RunRecord& record) {
  double all = 0;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      const std::optional<double> one =
          output.required_absolute ? output.required_absolute : output.max_absolute_error;
      if (!one || !std::isfinite(*one)) return std::nullopt;
      all = std::max(all, *one);
    }
  }
  return all;
}

// The largest few, for the eye: " y:0.5 z:0.25".
std::string LargestOf(std::vector<NeededTolerance> needed) {
  std::ranges::stable_sort(needed, std::ranges::greater(), &NeededTolerance::value);
  std::string text;
  for (size_t i = 0; i < std::min(needed.size(), kMostNamed); ++i) {
    text += " " + needed[i].name + ":" + ToleranceText(needed[i]);
  }
  return text;
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
  std::vector<NeededTolerance> absolute, relative;  // an output may be in several pairs
  std::vector<NeededTolerance> alone;               // if there were no relative tolerance
  bool automatic = false;
  bool integers = false;
  bool floats = false;
  for (const PairRecord& pair : record.pairs) {
    if (pair.retyped || pair.rejected) return "";
    for (const OutputRecord& output : pair.outputs) {
      if (!HasFailed(output)) continue;
      if (!HasOptions(pair, output)) return "";
      if (!FailedSimple(pair, output)) continue;
      (HoldsIntegers(output) ? integers : floats) = true;
      automatic |= output.bound.has_value();
      // One tolerance by itself would leave the other one to the bound.
      const bool both = output.bound && !HoldsIntegers(output);
      const double needed = *RequiredOf(output);
      if (both || NeedsAbsolute(output)) AddNeeded(output, needed, absolute);
      if (both || !NeedsAbsolute(output)) AddNeeded(output, needed, relative);
      AddNeeded(output, *output.required_absolute, alone);
    }
  }
  const bool by_name = automatic || (integers && floats);
  if (by_name && alone.size() > kMostNamed) {
    const std::optional<double> all = AbsoluteForAll(record);
    if (!all) return "";
    return " --atol " + RoundedToPass(*all, false) + (automatic ? " --tolerance fixed" : "") +
           ThresholdAdvice(record) + " for all " + std::to_string(alone.size()) +
           " outputs (by name: --atol" + LargestOf(alone) + " and " +
           std::to_string(alone.size() - kMostNamed) + " more)";
  }
  return FlagText("--atol", absolute, by_name) + FlagText("--rtol", relative, by_name) +
         ThresholdAdvice(record);
}

}  // namespace vernier
