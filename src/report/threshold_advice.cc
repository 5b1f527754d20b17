#include "report/threshold_advice.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compare/metric_table.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// To the side that lets pass.
std::string Rounded(double value, bool up) {
  if (value == 0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 1);
  const double steps = value / unit;
  return FormatG((up ? std::ceil(steps) : std::floor(steps)) * unit, 2);
}

// The worst value that failed, of all outputs.
std::optional<double> WorstFailure(const MetricRow& metric, const RunRecord& record) {
  std::optional<double> worst;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      for (const GateRecord& gate : output.figures.gates) {
        const bool failed = gate.function == metric.name && gate.verdict == "failed";
        if (!failed || !gate.value || !std::isfinite(*gate.value)) continue;
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
    text += " " + std::string(metric->flag) + " " + Rounded(*worst, !metric->higher_is_better);
  }
  return text;
}

}  // namespace vernier
