// What is known of the comparison functions that reduce an output to one number.
#pragma once

#include <span>
#include <string_view>

#include "vernier/compare_options.h"

namespace vernier {

struct MetricTraits {
  CompareFunction function = CompareFunction::kL2;
  std::string_view field;  ///< in files: "l2_norm"
  std::string_view unit;   ///< behind a value: " dB"
  bool higher_is_better = false;
  double builtin = 0;  ///< the threshold where none is given
  PerOutput<double> CompareOptions::*threshold = nullptr;
  std::string_view table;  ///< the peer's name for the per-output thresholds, in its warnings
  std::string_view flag;   ///< the option that sets them

  double Threshold(std::string_view name, const CompareOptions& options) const {
    return (options.*threshold).Lookup(name, builtin);
  }
  /// NaN never passes; a value equal to the threshold does.
  bool Passes(double value, double limit) const {
    return higher_is_better ? value >= limit : value <= limit;
  }
};

/// All of them, in the order of CompareFunction.
std::span<const MetricTraits> AllMetrics();

/// nullptr for `simple` and `indices`.
const MetricTraits* FindMetric(CompareFunction function);

}  // namespace vernier
