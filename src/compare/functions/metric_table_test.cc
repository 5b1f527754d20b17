#include "compare/functions/metric_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "util/text/number_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

TEST(MetricTable, NamesEachMetricOnce) {
  std::set<std::string_view> names = {"simple", "indices", "script"};
  for (const MetricRow& metric : MetricTable()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(CompareFunctionFromName(metric.name), metric.function) << metric.name;
    EXPECT_EQ(CompareFunctionLabel(metric.function), metric.label);
    EXPECT_EQ(FindMetric(metric.function), &metric);
    EXPECT_FALSE(metric.label.empty() || metric.field.empty()) << metric.name;
  }
  for (const auto function :
       {CompareFunction::kSimple, CompareFunction::kIndices, CompareFunction::kScript}) {
    EXPECT_EQ(FindMetric(function), nullptr) << CompareFunctionName(function);
  }
}

TEST(MetricTable, HasAnOptionForEachThreshold) {
  for (const MetricRow& metric : MetricTable()) {
    std::string flag = "--" + std::string(metric.threshold);
    std::replace(flag.begin(), flag.end(), '_', '-');
    EXPECT_EQ(metric.flag, flag);
    const std::optional<double> builtin = ParseDouble(metric.builtin);
    ASSERT_TRUE(builtin) << metric.name;
    EXPECT_EQ(metric.Threshold("y", CompareOptions()), *builtin) << metric.name;
    EXPECT_EQ(metric.is_ours(), metric.polygraphy_threshold.empty()) << metric.name;
  }
}

TEST(MetricTable, TakesTheThresholdOfTheOutput) {
  CompareOptions options;
  options.thresholds[CompareFunction::kSnr].fallback = 7;
  options.thresholds[CompareFunction::kSnr].entries = {{"y", 9}};
  const MetricRow& snr = *FindMetric(CompareFunction::kSnr);
  EXPECT_EQ(snr.Threshold("y", options), 9);
  EXPECT_EQ(snr.Threshold("z", options), 7);
  EXPECT_EQ(FindMetric(CompareFunction::kPsnr)->Threshold("y", options), 30);
}

TEST(MetricTable, HasPolygraphysMetricsFirstByOrigin) {
  const std::span<const MetricRow* const> metrics = MetricsByOrigin();
  EXPECT_EQ(metrics.size(), kMetricCount);
  EXPECT_TRUE(std::is_partitioned(metrics.begin(), metrics.end(),
                                  [](const MetricRow* metric) { return !metric->is_ours(); }));
}

}  // namespace
}  // namespace vernier
