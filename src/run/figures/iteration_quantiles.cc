#include "run/figures/iteration_quantiles.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "compare/functions/comparison.h"
#include "compare/functions/metric_table.h"

namespace vernier {

double BetweenNumbers(double low, double high, double share) {
  if (low == high || share == 0) return low;
  if (std::isinf(low) || std::isinf(high)) return std::isinf(high) ? high : low;
  const double apart = high - low;
  return share < 0.5 ? low + apart * share : high - apart * (1 - share);
}

namespace {

// Of sorted numbers, one at least.
double QuantileOf(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return BetweenNumbers(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

void IterationQuantiles::AddTo(std::string_view statistic, std::optional<double> value) {
  if (!value) return;
  auto known = std::ranges::find(series_, statistic, &decltype(series_)::value_type::first);
  if (known == series_.end()) known = series_.insert(known, {statistic, Series()});
  Series& series = known->second;
  if (*value == 0) {
    ++series.zeros;
  } else if (std::isnan(*value)) {
    ++series.nan;
  } else if (!series.usual || *series.usual == *value) {
    series.usual = *value;
    ++series.usual_count;
  } else {
    series.others.push_back(*value);
  }
}

void IterationQuantiles::Add(const OutputComparison& output, const OutputRow& row) {
  AddTo("max_absolute_error", row.max_absolute_error);
  AddTo("max_relative_error", row.max_relative_error);
  AddTo("mean_absolute_error", row.mean_absolute_error);
  for (const FunctionResult& result : output.functions) {
    const MetricRow* const metric = FindMetric(result.function);
    const auto* const data = std::get_if<MetricResult>(&result.data);
    if (metric != nullptr && data != nullptr) AddTo(metric->name, data->value);
  }
  if (!row.logits) return;
  AddTo("kl", row.logits->kl_mean);
  AddTo("top1", row.logits->top1_share);
}

std::vector<double> IterationQuantiles::Sorted(const Series& series) {
  std::vector<double> sorted = series.others;
  sorted.resize(sorted.size() + static_cast<size_t>(series.zeros), 0);
  sorted.resize(sorted.size() + static_cast<size_t>(series.usual_count), series.usual.value_or(0));
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<QuantilesRecord> IterationQuantiles::Quantiles() const {
  std::vector<QuantilesRecord> records;
  for (const auto& [statistic, series] : series_) {
    const std::vector<double> sorted = Sorted(series);
    if (std::ssize(sorted) + series.nan < 2 || sorted.empty()) continue;
    records.push_back({.statistic = std::string(statistic),
                       .iterations = std::ssize(sorted),
                       .nan = series.nan,
                       .p1 = QuantileOf(sorted, 0.01),
                       .p5 = QuantileOf(sorted, 0.05),
                       .median = QuantileOf(sorted, 0.5),
                       .p95 = QuantileOf(sorted, 0.95),
                       .p99 = QuantileOf(sorted, 0.99)});
  }
  std::ranges::sort(records, {}, &QuantilesRecord::statistic);
  return records;
}

}  // namespace vernier
