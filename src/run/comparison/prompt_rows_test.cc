#include "run/comparison/prompt_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <variant>
#include <vector>

#include "compare/functions/comparator.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::ElementsAre;

Tensor RowsOfFloats(Dims dims, std::vector<float> values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

Tensor RowsOfIds(Dims dims, std::vector<int64_t> values) {
  return *Tensor::Copy(DType::kInt64, std::move(dims), std::as_bytes(std::span(values)));
}

// Logits of three prompts, of which the second has ended; `second` are those of the other side.
class PromptRowsTest : public testing::Test {
 protected:
  void Compare(const std::vector<float>& second, const FedPositions* positions = nullptr) {
    a_ = {.runner_name = "a", .runtime_s = {}, .outputs = {{"y", RowsOfFloats({3, 1, 2}, kFirst)}}};
    b_ = {.runner_name = "b", .runtime_s = {}, .outputs = {{"y", RowsOfFloats({3, 1, 2}, second)}}};
    MatchedSides sides(a_, b_);
    sides.pairing.pairs = {{0, 0, PairedBy::kExact}};
    const auto rows = PromptRows::Take({.batch = 3, .going_on = {0, 2}}, sides, positions, nullptr);
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->sides().a().outputs[0].tensor.dims(), (Dims{2, 1, 2}));
    CompareOptions options;
    options.functions = {CompareFunction::kSimple, CompareFunction::kLogits};
    options.logits_top1_threshold.fallback = 0;
    ComparisonDetail detail;
    detail.distances = true;
    detail.positions = rows->positions();
    found_ = CompareIteration(rows->sides().a(), rows->sides().b(), options, detail,
                              rows->sides().pairing);
    rows->Restore(sides, found_);
  }
  const LogitsResult& logits() const {
    return std::get<LogitsResult>(found_.outputs[0].Find(CompareFunction::kLogits)->data);
  }

  const std::vector<float> kFirst = {1, 0, 2, 0, 3, 0};
  IterationResult a_, b_;
  IterationComparison found_;
};

TEST_F(PromptRowsTest, AreInNoComparison) {
  Compare({1, 0, NAN, 90, 3, 0});
  EXPECT_TRUE(found_.outputs[0].passed());
  EXPECT_EQ(found_.outputs[0].measures->difference.count, 4);
  EXPECT_EQ(found_.outputs[0].left_out, 2);
  EXPECT_EQ(logits().measures.positions, 2);
  EXPECT_EQ(logits().measures.nan, 0);
}

TEST_F(PromptRowsTest, PlacesAndShapesAreThoseOfTheWholeOutputs) {
  Compare({1, 0, 2, 0, 3, 4});
  const OutputComparison& output = found_.outputs[0];
  EXPECT_FALSE(output.passed());
  EXPECT_EQ(output.a_dims, (Dims{3, 1, 2}));
  EXPECT_EQ(output.b.dims(), (Dims{3, 1, 2}));
  EXPECT_EQ(output.measures->difference.first_mismatch, 5);
  EXPECT_EQ(output.measures->difference.absolute.argmax, 5);
  EXPECT_EQ(
      std::get<SimpleResult>(output.Find(CompareFunction::kSimple)->data).difference.first_mismatch,
      5);
  EXPECT_THAT(logits().position_dims, ElementsAre(3, 1));
  EXPECT_EQ(logits().measures.worst_row, 2);
  EXPECT_EQ(logits().measures.flip_row, 2);
  // The mean is over two rows, one of which has no divergence.
  EXPECT_DOUBLE_EQ(logits().measures.divergence_mean, logits().measures.divergence_most / 2);
}

TEST_F(PromptRowsTest, TokensAreThoseOfTheirRows) {
  FedPositions fed;
  fed.tokens =
      PositionValues{.source = "ids", .tensor = RowsOfIds({3, 2}, {0, 1, 0, 9, 0, 0}), .count = 1};
  Compare({1, 0, 2, 0, 3, 0}, &fed);
  EXPECT_EQ(logits().tokens.tokens, "ids");  // 9 is no class, and of the prompt that has ended
  const TokenLosses::Sums sums = logits().measures.tokens.sums();
  EXPECT_EQ(sums.count, 2);
}

TEST_F(PromptRowsTest, OnlyWhatHasThemCanBeTaken) {
  const Tensor rows = RowsOfFloats({3, 1, 2}, kFirst);
  EXPECT_TRUE(PromptRows::Fit(rows, rows, 3));
  EXPECT_FALSE(PromptRows::Fit(rows, rows, 2));
  EXPECT_FALSE(PromptRows::Fit(rows, RowsOfFloats({3, 2}, kFirst), 3));
  EXPECT_FALSE(PromptRows::Fit(RowsOfFloats({}, {1}), RowsOfFloats({}, {1}), 1));
}

}  // namespace
}  // namespace vernier
