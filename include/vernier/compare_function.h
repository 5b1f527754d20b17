// The functions that compare two outputs, by their names. Records and reports consist of these; how
// an output is judged is in compare_options.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vernier {

/// The statistic of the differences that `simple` compares with the tolerances.
enum class ErrorStat : uint8_t { kElemwise, kMax, kMean, kMedian, kQuantile };

enum class CompareFunction : uint8_t {
  kSimple,
  kIndices,
  kLogits,
  // The metrics: functions that reduce an output to one number. Their rows, in this order, are in
  // src/compare/functions/metric_table.cc.
  kL2,
  kRmse,
  kRelativeL2,
  kCosineSimilarity,
  kPsnr,
  kSnr,
  kPerceptual,
  kUlp,
  kKlDivergence,
  kScript,  ///< --compare-func-script: alone, and not by CompareIteration
};

/// The place of a metric among the metrics; at least kMetricCount if it is not a metric.
constexpr size_t MetricIndex(CompareFunction function) {
  return static_cast<size_t>(function) - static_cast<size_t>(CompareFunction::kL2);
}
inline constexpr size_t kMetricCount = MetricIndex(CompareFunction::kScript);

/// One T for each metric.
template <typename T>
class PerMetric {
 public:
  /// `metric` must be one.
  T& operator[](CompareFunction metric) { return values_[MetricIndex(metric)]; }
  const T& operator[](CompareFunction metric) const { return values_[MetricIndex(metric)]; }

 private:
  std::array<T, kMetricCount> values_{};
};

/// "elemwise", "max", ...: the spelling of --check-error-stat. The inverse gives nullopt for an
/// unknown name.
std::string_view ErrorStatName(ErrorStat stat);
std::optional<ErrorStat> ErrorStatFromName(std::string_view name);

/// "simple", "indices", "l2", "perceptual_metrics", ...: the spelling of --compare.
std::string_view CompareFunctionName(CompareFunction function);
std::optional<CompareFunction> CompareFunctionFromName(std::string_view name);

/// "simple", "L2 Norm", "PSNR", ...: the function's name in log lines.
std::string_view CompareFunctionLabel(CompareFunction function);

}  // namespace vernier
