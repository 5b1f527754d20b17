#include "kernels/measures/difference.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr double kInfinityDouble = std::numeric_limits<double>::infinity();

template <typename T>
ElementSpan Span(DType dtype, const std::vector<T>& values) {
  return {dtype, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())};
}

template <typename A, typename B>
DifferenceSummary Differ(DType a_type, const std::vector<A>& a, DType b_type,
                         const std::vector<B>& b, const DifferenceRule& rule = {}) {
  const std::array<double, 1> quantile = {0.5};
  return *SummariseDifferences(Span(a_type, a), Span(b_type, b), rule, quantile);
}

struct FloatCase {
  const char* name;
  float a, b;
  DifferenceRule rule;
  bool matches;
};

class FloatRule : public testing::TestWithParam<FloatCase> {};

// The pair under test in every position of more than one block, between elements that match.
TEST_P(FloatRule, HoldsInEveryPlace) {
  const FloatCase& c = GetParam();
  for (const size_t place : {0u, 15u, 16u, 1023u, 1024u, 1029u}) {
    std::vector<float> a(1030, 1.f), b(1030, 1.f);
    a[place] = c.a;
    b[place] = c.b;
    const DifferenceSummary s = Differ(DType::kFloat32, a, DType::kFloat32, b, c.rule);
    EXPECT_EQ(s.mismatches, c.matches ? 0 : 1) << place;
    EXPECT_EQ(s.first_mismatch, c.matches ? -1 : static_cast<int64_t>(place));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specials, FloatRule,
    testing::Values(FloatCase{"EitherBoundRescues", 101, 100, {0, 0.02, false}, true},
                    FloatCase{"EqualToTheBoundPasses", 1, 2, {1, 0, false}, true},
                    // float32(1e-5) is a little less than the float64 tolerance.
                    FloatCase{"SingleAgainstDouble", 1e-5f, 0, {1e-5, 0, false}, true},
                    FloatCase{"NanMeetsNan", kNan, kNan, {1e30, 1e30, false}, false},
                    FloatCase{"NanMeetsNumber", kNan, 1, {1e30, 1e30, false}, false},
                    FloatCase{"InfinityMeetsItself", kInfinity, kInfinity, {1, 1, false}, false},
                    FloatCase{"InfinitiesMayMatch", kInfinity, kInfinity, {0, 0, true}, true},
                    FloatCase{"OppositeInfinities", kInfinity, -kInfinity, {1, 1, true}, false}),
    [](const auto& info) { return info.param.name; });

TEST(SummariseDifferences, IntegersDoNotWrap) {
  const std::vector<int32_t> a32 = {INT32_MAX}, b32 = {INT32_MIN};
  EXPECT_EQ(Differ(DType::kInt32, a32, DType::kInt32, b32).absolute.max, 4294967295.0);
  const std::vector<int64_t> a64 = {INT64_MAX}, b64 = {INT64_MIN};
  const DifferenceSummary s = Differ(DType::kInt64, a64, DType::kInt64, b64);
  EXPECT_EQ(s.absolute.max, 0x1p64);
  EXPECT_NEAR(s.relative.max, 2, 1e-15);
  const std::vector<uint64_t> one = {1}, two = {2};
  EXPECT_EQ(Differ(DType::kUint64, one, DType::kUint64, two).absolute.max, 1);
  EXPECT_EQ(Differ(DType::kUint64, two, DType::kUint64, one).absolute.max, 1);
}

TEST(SummariseDifferences, JudgesLargeIntegersExactly) {
  // As float64 the difference would be rounded down to the tolerance.
  const std::vector<int64_t> a = {(int64_t{1} << 53) + 1}, b = {0};
  EXPECT_EQ(Differ(DType::kInt64, a, DType::kInt64, b, {0x1p53, 0, false}).mismatches, 1);
  EXPECT_EQ(Differ(DType::kInt64, a, DType::kInt64, b, {0x1p53 + 2, 0, false}).mismatches, 0);
}

TEST(SummariseDifferences, MixesSignedAndUnsigned) {
  const std::vector<int64_t> a = {-1, 5};
  const std::vector<uint64_t> b = {3, 7};
  const DifferenceSummary s = Differ(DType::kInt64, a, DType::kUint64, b);
  EXPECT_EQ(s.absolute.max, 4);
  EXPECT_EQ(s.absolute.min, 2);
}

TEST(SummariseDifferences, IntegerZerosDivideHonestly) {
  const std::vector<uint8_t> one = {1}, zero = {0};
  EXPECT_EQ(Differ(DType::kUint8, one, DType::kUint8, zero).relative.max, kInfinityDouble);
  EXPECT_TRUE(std::isnan(Differ(DType::kUint8, zero, DType::kUint8, zero).relative.max));
  EXPECT_EQ(Differ(DType::kUint8, zero, DType::kUint8, zero).mismatches, 0);
}

TEST(SummariseDifferences, FloatZerosCountAsASmallNumber) {
  const std::vector<float> one = {1, 2}, zero = {-0.0f, 2};
  const DifferenceSummary s = Differ(DType::kFloat32, one, DType::kFloat32, zero);
  EXPECT_EQ(s.relative.max, 0x1p52);
  EXPECT_EQ(s.zeros_in_b, 1);
}

TEST(SummariseDifferences, BoolsDifferByExclusiveOr) {
  const std::vector<uint8_t> a = {1, 0, 1}, b = {1, 1, 0};
  const DifferenceSummary s = Differ(DType::kBool, a, DType::kBool, b);
  EXPECT_EQ(s.mismatches, 2);
  EXPECT_EQ(s.absolute_dtype, DType::kBool);
  EXPECT_EQ(s.relative.infinite_count, 1);
}

TEST(SummariseDifferences, TakesTheMagnitudeOfComplexDifferences) {
  const std::vector<float> a = {3, 4}, b = {0, 0};
  const ElementSpan a_span{DType::kComplex64, std::as_bytes(std::span(a)), 1};
  const ElementSpan b_span{DType::kComplex64, std::as_bytes(std::span(b)), 1};
  const auto s = SummariseDifferences(a_span, b_span, {}, {});
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->absolute.max, 5);
  EXPECT_EQ(s->zeros_in_b, 1);
}

TEST(SummariseDifferences, DividesComplexDifferencesThatOverflow) {
  const std::vector<double> a = {1e308, 1e308, 1.7e308, 1.7e308};
  const std::vector<double> b = {-1e308, -1e308, 1.7e308, -1.7e308};
  const ElementSpan a_span{DType::kComplex128, std::as_bytes(std::span(a)), 2};
  const ElementSpan b_span{DType::kComplex128, std::as_bytes(std::span(b)), 2};
  const auto s = SummariseDifferences(a_span, b_span, {}, {});
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->relative.max, 2);
  EXPECT_NEAR(s->relative.min, std::sqrt(2.0), 1e-15);
}

TEST(SummariseDifferences, ReadsSmallFloats) {
  const std::vector<uint16_t> a = {0x3f80}, b = {0x4000};  // 1 and 2 as bfloat16
  EXPECT_EQ(Differ(DType::kBFloat16, a, DType::kBFloat16, b).relative.max, 0.5);
  const std::vector<uint8_t> c = {0x38}, d = {0x40};  // 1 and 2 as float8_e4m3fn
  EXPECT_EQ(Differ(DType::kFloat8E4M3FN, c, DType::kFloat8E4M3FN, d).absolute.max, 1);
}

TEST(SummariseDifferences, RefusesStringsAgainstNumbers) {
  const Tensor strings = *Tensor::FromStrings({1}, std::vector<std::string>{"a"});
  const std::vector<float> numbers = {1};
  const ElementSpan s{DType::kString, strings.bytes(), 1};
  EXPECT_FALSE(SummariseDifferences(s, Span(DType::kFloat32, numbers), {}, {}).ok());
  EXPECT_TRUE(SummariseDifferences(s, s, {}, {}).ok());
}

TEST(SummariseDifferences, MeasuresTheWorstElement) {
  const std::vector<float> a = {1, 1.5, 100}, b = {1, 1, 101};
  const DifferenceSummary s = Differ(DType::kFloat32, a, DType::kFloat32, b, {0.125, 0.001, false});
  EXPECT_EQ(s.mismatches, 2);
  EXPECT_NEAR(s.worst_ratio, 8, 1e-3);  // 1 / 0.125, not 0.0099 / 0.001
  const DifferenceSummary fine = Differ(DType::kFloat32, a, DType::kFloat32, b, {4, 0.5, false});
  EXPECT_LE(fine.worst_ratio, 1);
  EXPECT_GT(fine.worst_ratio, 0);
}

TEST(FindMismatches, ListsPlacesUpToTheLimit) {
  const std::vector<float> a = {1, 2, 3, 4}, b = {1, 0, 3, 0};
  const auto all = FindMismatches(Span(DType::kFloat32, a), Span(DType::kFloat32, b), {}, 10);
  EXPECT_EQ(*all, (std::vector<int64_t>{1, 3}));
  const auto one = FindMismatches(Span(DType::kFloat32, a), Span(DType::kFloat32, b), {}, 1);
  EXPECT_EQ(*one, (std::vector<int64_t>{1}));
}

TEST(VisitDifferences, ShowsEachElementOfTheRangeOnceAndInOrder) {
  constexpr int64_t kFirst = 3;
  constexpr int64_t kCount = 2500;  // several blocks, the last one not full
  std::vector<float> a(2600), b(2600, 4);
  for (size_t i = 0; i < a.size(); ++i) a[i] = 4 + static_cast<float>(i);
  int64_t next = kFirst;
  const auto check = [&](const DifferenceBlock& block) {
    ASSERT_EQ(block.start, next);
    ASSERT_EQ(block.absolute.size(), block.relative.size());
    for (size_t i = 0; i < block.absolute.size(); ++i, ++next) {
      ASSERT_EQ(block.absolute[i], static_cast<double>(next));
      ASSERT_EQ(block.relative[i], static_cast<double>(next) / 4);
    }
  };
  const ElementSpan a_span = Span(DType::kFloat32, a), b_span = Span(DType::kFloat32, b);
  ASSERT_TRUE(VisitDifferences(a_span, b_span, {}, kFirst, kCount, check).ok());
  EXPECT_EQ(next, kFirst + kCount);
}

TEST(VisitDifferences, StartsWithinAByteOfPackedTypes) {
  const std::vector<uint8_t> a = {0x21, 0x43, 0x65}, b = {0, 0, 0};  // 1 2 3 4 5 6
  const ElementSpan a_span{DType::kUint4, std::as_bytes(std::span(a)), 6};
  const ElementSpan b_span{DType::kUint4, std::as_bytes(std::span(b)), 6};
  std::vector<double> seen;
  const auto keep = [&](const DifferenceBlock& block) {
    seen.insert(seen.end(), block.absolute.begin(), block.absolute.end());
  };
  ASSERT_TRUE(VisitDifferences(a_span, b_span, {}, 1, 4, keep).ok());
  EXPECT_EQ(seen, (std::vector<double>{2, 3, 4, 5}));
}

}  // namespace
}  // namespace vernier
