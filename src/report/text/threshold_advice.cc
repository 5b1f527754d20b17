#include "report/text/threshold_advice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "compare/functions/metric_table.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// The worst value that failed, of all outputs.
std::optional<double> WorstFailure(const MetricRow& metric, const RunRecord& record) {
  std::optional<double> worst;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      for (const GateRecord& gate : FailedGates(pair, output)) {
        if (gate.function != metric.name || !gate.value || !std::isfinite(*gate.value)) continue;
        const double value = *gate.value;
        worst = !worst                    ? value
                : metric.higher_is_better ? std::min(*worst, value)
                                          : std::max(*worst, value);
      }
    }
  }
  return worst;
}

}  // namespace

std::string ThresholdAdvice(const RunRecord& record) {
  std::string text;
  for (const MetricRow* metric : MetricsByOrigin()) {
    const std::optional<double> worst = WorstFailure(*metric, record);
    if (!worst) continue;
    const std::string value = RoundedToPass(*worst, metric->higher_is_better);
    // Behind a blank, -2.9e+02 would be an option.
    text += " " + std::string(metric->flag) + (value.starts_with('-') ? "=" : " ") + value;
  }
  return text;
}

std::vector<GateRecord> FailedGates(const PairRecord& pair, const OutputRecord& output) {
  if (!output.failed_gates.empty() || pair.average_passed) return output.failed_gates;
  std::vector<GateRecord> failed;
  std::ranges::copy_if(output.figures.gates, std::back_inserter(failed),
                       [](const GateRecord& gate) { return gate.verdict == "failed"; });
  return failed;
}

bool HasThreshold(const GateRecord& gate) {
  return gate.value && std::isfinite(*gate.value) &&
         std::ranges::any_of(MetricsByOrigin(), [&](const MetricRow* metric) {
           return metric->name == gate.function;
         });
}

namespace {

// Two digits, and zeros up to the point in place of an exponent where these are few.
std::string TwoDigits(double value) {
  const double digits = std::floor(std::log10(std::fabs(value))) + 1;
  constexpr double kMostDigits = 6;
  return FormatG(value, digits > 2 && digits <= kMostDigits ? static_cast<int>(digits) : 2);
}

}  // namespace

std::string RoundedToPass(double value, bool at_least) {
  if (value == 0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 1);
  constexpr int kAllDigits = 17;
  if (!std::isnormal(unit)) return FormatG(value, kAllDigits);
  const double steps = at_least ? std::floor(value / unit) : std::ceil(value / unit);
  const std::string text = TwoDigits(steps * unit);
  // The number as written may lie on the other side of the value by a rounding error.
  const double written = ParseDouble(text).value_or(value);
  if (at_least ? written <= value : written >= value) return text;
  return TwoDigits((at_least ? steps - 1 : steps + 1) * unit);
}

}  // namespace vernier
