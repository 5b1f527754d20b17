#include "report/threshold_advice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "util/number_text.h"

namespace vernier {
namespace {

struct ThresholdFlag {
  std::string_view function;
  std::string_view flag;
  bool at_least;  // the value must reach the threshold, not stay below it
};
constexpr ThresholdFlag kFlags[] = {
    {"l2", "--l2-threshold", false},
    {"cosine_similarity", "--cosine-similarity-threshold", true},
    {"psnr", "--psnr-threshold", true},
    {"snr", "--snr-threshold", true},
    {"rmse", "--rmse-threshold", false},
    {"ulp", "--ulp-threshold", false},
    {"kl_divergence", "--kl-divergence-threshold", false},
    {"perceptual_metrics", "--lpips-threshold", false},
};

}  // namespace

std::string ThresholdAdvice(const RunRecord& record) {
  std::string text;
  for (const ThresholdFlag& known : kFlags) {
    std::optional<double> worst;
    for (const PairRecord& pair : record.pairs) {
      for (const OutputRecord& output : pair.outputs) {
        for (const GateRecord& gate : output.figures.gates) {
          const bool failed = gate.function == known.function && gate.verdict == "failed";
          if (!failed || !gate.value || !std::isfinite(*gate.value)) continue;
          const double value = *gate.value;
          worst = !worst           ? value
                  : known.at_least ? std::min(*worst, value)
                                   : std::max(*worst, value);
        }
      }
    }
    if (worst) text += " " + std::string(known.flag) + " " + RoundedToPass(*worst, known.at_least);
  }
  return text;
}

bool HasThreshold(const GateRecord& gate) {
  return gate.value && std::isfinite(*gate.value) &&
         std::ranges::any_of(
             kFlags, [&](const ThresholdFlag& known) { return known.function == gate.function; });
}

std::string RoundedToPass(double value, bool at_least) {
  if (value == 0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 1);
  constexpr int kAllDigits = 17;
  if (!std::isnormal(unit)) return FormatG(value, kAllDigits);
  const double steps = at_least ? std::floor(value / unit) : std::ceil(value / unit);
  const std::string text = FormatG(steps * unit, 2);
  // The number as written may lie on the other side of the value by a rounding error.
  const double written = ParseDouble(text).value_or(value);
  if (at_least ? written <= value : written >= value) return text;
  return FormatG((at_least ? steps - 1 : steps + 1) * unit, 2);
}

}  // namespace vernier
