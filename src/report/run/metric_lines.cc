// One line for a metric's value, and one for an error bound of --tolerance auto.
#include <cmath>
#include <string>

#include "compare/functions/metric_table.h"
#include "report/run/comparison_text.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Two numbers in as few digits as distinguish them.
std::string Against(double value, double bound) {
  for (int digits = 2; digits < 18; ++digits) {
    const std::string left = FormatG(value, digits), right = FormatG(bound, digits);
    if (left != right || value == bound) return left + " against " + right;
  }
  return "";
}

// By which of its quantities an output is over its bound.
std::string WhatBroke(const BoundVerdict& verdict) {
  switch (verdict.worst) {
    case BoundMeasure::kError:
      return " by the error, " + Against(verdict.rms, verdict.bound);
    case BoundMeasure::kGain:
      return " by the gain, " + Against(std::fabs(verdict.gain), verdict.gain_bound);
    case BoundMeasure::kBeyond:
      return " by the share of elements beyond rounding";
    case BoundMeasure::kWithin:
      return " by the error of the other elements, " +
             Against(verdict.within, verdict.within_bound);
    case BoundMeasure::kElement:
      break;
  }
  return " by a single element, which may differ by " + FormatG(verdict.atol, 2) + " or " +
         FormatG(verdict.rtol, 2) + " of itself";
}

}  // namespace

std::string FormatMetricLine(CompareFunction function, double value, double threshold) {
  std::string value_text;
  std::string threshold_text;
  for (int digits = 5; digits < 18; ++digits) {
    value_text = FormatG(value, digits);
    threshold_text = FormatG(threshold, digits);
    if (value == threshold || value_text != threshold_text) break;
  }
  const MetricRow& metric = *FindMetric(function);
  const std::string unit(metric.unit);
  return std::string(CompareFunctionLabel(function)) + ": " + value_text + unit + " (" +
         (metric.higher_is_better ? "min required" : "tolerance") + ": " + threshold_text + unit +
         ") | " + (metric.Passes(value, threshold) ? "PASSED" : "FAILED");
}

std::string FormatBoundLine(std::string_view name, const BoundVerdict& verdict) {
  std::string text = "Tolerance auto | Output: '" + std::string(name) + "' | error bound " +
                     FormatG(verdict.bound, 2) + " of the output's scale " +
                     FormatG(verdict.scale, 3) + ": " + verdict.why + " | error " +
                     FormatG(verdict.rms, 2) + ", gain " + FormatG(verdict.gain, 2);
  if (verdict.clean_bound > 0) {
    text += ", beyond rounding " + FormatG(100 * verdict.beyond, 3) + " % of the elements (" +
            FormatG(100 * verdict.allowed, 2) + " % may be)";
  }
  text += " | ";
  const std::string condition = "κ = " + FormatG(verdict.condition, 3) + ", the error bound was " +
                                FormatG(verdict.bound_before, 2) + " before";
  const bool widened = verdict.condition > 1;
  if (verdict.passed) {
    return text + "PASSED" +
           (verdict.shows_nothing() ? ", shows nothing: the error bound is wider than the output"
                                    : "") +
           (widened ? ", ill-conditioned: " + condition : "");
  }
  return text + "FAILED, " + FormatG(verdict.times_over, 3) + " times the error bound" +
         WhatBroke(verdict) + (widened ? ", also as an ill-conditioned output: " + condition : "");
}

}  // namespace vernier
