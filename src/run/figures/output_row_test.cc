#include "run/figures/output_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/functions/comparator.h"
#include "run/workers/fake_workers.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing_workers::Floats;

OutputRow RowOf(const std::vector<float>& a, const std::vector<float>& b,
                const CompareOptions& options = {}) {
  const auto size = [](const std::vector<float>& x) {
    return Dims{static_cast<int64_t>(x.size())};
  };
  ComparisonDetail detail;
  detail.differences = StatisticsLevel::kMoments;
  const IterationComparison comparison =
      CompareIteration({"A", std::nullopt, {{"y", Floats(size(a), a)}}},
                       {"B", std::nullopt, {{"y", Floats(size(b), b)}}}, options, detail);
  return MakeOutputRow(comparison.outputs.at(0));
}

TEST(OutputRow, SaysWhatWasMeasured) {
  const OutputRow row = RowOf({1, 2}, {1, 3});
  EXPECT_EQ(row.output, "y");
  EXPECT_EQ(row.verdict, "failed");
  EXPECT_EQ(row.elements, 2);
  EXPECT_EQ(row.mismatches, 1);
  EXPECT_EQ(row.max_absolute_error, 1);
  EXPECT_EQ(row.mean_absolute_error, 0.5);
  EXPECT_FALSE(row.bound.has_value());
}

TEST(OutputRow, OfOtherShapesHasNoNumbers) {
  const OutputRow row = RowOf({1, 2}, {1, 2, 3});
  EXPECT_EQ(row.verdict, "failed");
  EXPECT_FALSE(row.elements.has_value());
  EXPECT_FALSE(row.max_absolute_error.has_value());
}

TEST(OutputRow, OfAMetricThatWasAskedForHasItsValue) {
  CompareOptions options;
  options.functions = {CompareFunction::kL2};
  EXPECT_NEAR(RowOf({0, 0}, {3, 4}, options).metrics[CompareFunction::kL2].value_or(0), 5, 1e-6);
}

TEST(OutputRow, FoldsToTheWorstOfAllIterations) {
  CompareOptions options;
  options.atol.fallback = 0.25;
  options.rtol.fallback = 0;
  OutputRecord record;
  FoldRow(RowOf({1, 2}, {1, 2}, options), record);
  FoldRow(RowOf({1, 2}, {1, 3}, options), record);
  FoldRow(RowOf({1, 2}, {1.5f, 2}, options), record);
  EXPECT_EQ(record.compared, 3);
  EXPECT_EQ(record.passed, 1);
  EXPECT_EQ(record.max_absolute_error, 1);
  EXPECT_EQ(record.worst_times_tolerance, 4);
  EXPECT_EQ(record.elements, 2);
  EXPECT_FALSE(record.uneven);
}

TEST(OutputRow, NanIsTheWorstAndStays) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OutputRecord record;
  FoldRow(RowOf({1, 2}, {1, nan}), record);
  FoldRow(RowOf({1, 2}, {1, 9}), record);
  EXPECT_TRUE(std::isnan(record.max_absolute_error.value_or(0)));
  EXPECT_EQ(record.not_finite, 1);
}

TEST(FoldRow, KeepsTheWorstLogits) {
  CompareOptions options;
  options.functions = {CompareFunction::kLogits};
  const OutputRow near = RowOf({1, 2, 5}, {1, 2, 5.001f}, options);
  const OutputRow far = RowOf({1, 2, 5}, {1, 5, 2}, options);
  EXPECT_TRUE(near.logits->passed);
  EXPECT_EQ(near.logits->top1_share, 1);
  EXPECT_EQ(near.logits->classes, 3);
  EXPECT_TRUE(near.logits->kl_max_position.empty());  // no axis but that of the classes
  OutputRecord record;
  for (const OutputRow* row : {&near, &far, &near}) FoldRow(*row, record);
  EXPECT_FALSE(record.logits->passed);
  EXPECT_EQ(record.logits->kl_mean, far.logits->kl_mean);
  EXPECT_EQ(record.passed, 2);
}

}  // namespace
}  // namespace vernier
