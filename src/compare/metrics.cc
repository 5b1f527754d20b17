#include "compare/metrics.h"

namespace vernier {
namespace {

Result<double> ComputeMetric(const MetricRow& metric, PairMeasurement& pair) {
  const bool measured = metric.needs == MetricNeeds::kElements || pair.Measure() != nullptr;
  if (!measured) return pair.status();
  if (metric.needs == MetricNeeds::kProducts && pair.a().dtype() == DType::kString) {
    return Unavailable("strings have no " + std::string(metric.label) +
                       "; --compare simple says whether they are equal");
  }
  return metric.value(pair.Input());
}

}  // namespace

FunctionResult JudgeMetric(CompareFunction function, PairMeasurement& pair) {
  const MetricRow& row = *FindMetric(function);
  FunctionResult result;
  const Result<double> value = ComputeMetric(row, pair);
  if (!value.ok()) {
    const bool unavailable = value.status().code() == StatusCode::kUnavailable;
    result.verdict = unavailable ? Verdict::kNotVerified : Verdict::kFailed;
    result.why = value.status().message();
    return result;
  }
  const MetricResult metric{*value, row.Threshold(pair.name(), pair.options())};
  if (!row.Passes(metric.value, metric.threshold)) result.verdict = Verdict::kMismatched;
  if (result.verdict == Verdict::kMismatched && pair.a().element_count() == 0) {
    result.why = "empty outputs have no " + std::string(row.label);
  }
  result.data = metric;
  return result;
}

}  // namespace vernier
