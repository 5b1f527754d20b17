#include "check/extremes/extreme_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

NamedTensor FloatsOf(const std::string& name, const std::vector<float>& values) {
  const Dims dims = {static_cast<int64_t>(values.size())};
  return {name, *Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(values)))};
}

ExtremeAnswer Held(const std::vector<float>& first, const std::vector<float>& second) {
  ExtremeAnswer answer;
  ExtremeCoverage coverage;
  HoldAgainstFirst({FloatsOf("y", first)}, {FloatsOf("y", second)}, answer, coverage);
  return answer;
}

TEST(ExtremeCounts, ElementsAreCountedByTheirKinds) {
  ExtremeAnswer answer;
  CountElements({FloatsOf("y", {1, kNotANumber, kInfinite, -kInfinite, kTiny, 0, -0.0F})}, answer);
  EXPECT_EQ(answer.elements, 7);
  EXPECT_EQ(answer.nan, 1);
  EXPECT_EQ(answer.infinite, 2);
  EXPECT_EQ(answer.denormal, 1);
  EXPECT_EQ(answer.zero, 2);
}

TEST(ExtremeCounts, WhatIsFiniteOnOneSideAloneIsADisagreement) {
  const ExtremeAnswer answer = Held({1, kInfinite}, {kNotANumber, 2});
  EXPECT_EQ(answer.only_here_not_finite, 1);
  EXPECT_EQ(answer.only_here_finite, 1);
  EXPECT_TRUE(answer.disagrees());
  EXPECT_EQ(answer.output, "y");
}

TEST(ExtremeCounts, WhatIsNotFiniteOnEitherSideIsOfAnotherKind) {
  const ExtremeAnswer answer = Held({kInfinite, kInfinite}, {-kInfinite, kNotANumber});
  EXPECT_EQ(answer.other_kind, 2);
  EXPECT_FALSE(answer.disagrees());
}

TEST(ExtremeCounts, DenormalsAreFlushedOrKept) {
  const ExtremeAnswer answer = Held({kTiny, 0}, {0, kTiny});
  EXPECT_EQ(answer.flushed, 1);
  EXPECT_EQ(answer.kept, 1);
}

TEST(ExtremeCounts, ZerosMayHaveOtherSigns) { EXPECT_EQ(Held({0, 0}, {-0.0F, 0}).other_sign, 1); }

TEST(ExtremeCounts, OnePerCentIsAnotherValue) {
  EXPECT_EQ(Held({100, 100}, {100.5F, 102}).other_value, 1);
}

TEST(ExtremeCounts, OutputsWithoutACounterpartAreNamed) {
  ExtremeAnswer answer;
  ExtremeCoverage coverage;
  HoldAgainstFirst({FloatsOf("y", {1, 2}), FloatsOf("gone", {1})},
                   {FloatsOf("y", {1, 2}), FloatsOf("z", {1})}, answer, coverage);
  EXPECT_THAT(answer.not_compared, ElementsAre("z", "gone"));
  EXPECT_EQ(answer.compared, 2);
  ASSERT_EQ(coverage.size(), 1u);
  EXPECT_TRUE(coverage.at("y").shows);
}

TEST(ExtremeCounts, ZerosAloneShowNothing) {
  ExtremeAnswer answer;
  ExtremeCoverage coverage;
  HoldAgainstFirst({FloatsOf("y", {0, 0})}, {FloatsOf("y", {0, 0})}, answer, coverage);
  EXPECT_FALSE(coverage.at("y").shows);
  EXPECT_FALSE(coverage.at("y").why.empty());
  EXPECT_THAT(answer.not_compared, IsEmpty());
}

}  // namespace
}  // namespace vernier
