#include "kernels/measures/pair_measures.h"
#include "core/test_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

template <typename T>
ElementSpan SideOf(DType dtype, const std::vector<T>& values) {
  return {dtype, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())};
}
ElementSpan SideOf(const std::vector<float>& values) { return SideOf(DType::kFloat32, values); }

std::vector<int64_t> Places(const PairMeasures& measures) {
  std::vector<int64_t> places;
  for (const WorstElement& element : measures.worst) places.push_back(element.place);
  return places;
}

// Arrays of the same bytes are summarised once, which must not show.
TEST(MeasurePair, SidesOfTheSameBytesAreThoseOfEachAlone) {
  std::vector<float> a(400'001);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i)) * 3;
  std::vector<float> b = a;
  MeasureRequest request{.rule = {1e-5, 1e-5}};
  request.differences = StatisticsLevel::kRanks;
  request.sides = StatisticsLevel::kRanks;
  request.side_quantiles = {0.9, 0.99};
  ThreadPool pool(2);
  for (const float last : {a.back(), 7.5f, std::numeric_limits<float>::quiet_NaN()}) {
    b.back() = last;
    if (std::isnan(last)) a.back() = last;
    const PairMeasures measured = *MeasurePair(SideOf(a), SideOf(b), request, &pool);
    const ValueStatistics alone =
        MeasureValues(SideOf(b), request.sides, request.side_quantiles, &pool);
    EXPECT_EQ(measured.b.argmax, alone.argmax);
    EXPECT_EQ(measured.b.nan_count, alone.nan_count);
    EXPECT_EQ(std::isnan(last), std::isnan(measured.b.mean));
    EXPECT_EQ(measured.difference.absolute.nan_count, std::isnan(last) ? 1 : 0);
    if (std::isnan(last)) continue;
    EXPECT_EQ(measured.b.mean, alone.mean);
    EXPECT_EQ(measured.b.max, alone.max);
    EXPECT_EQ(measured.b.quantiles, alone.quantiles);
    EXPECT_EQ(measured.difference.mismatches, last == a.back() ? 0 : 1);
    EXPECT_EQ(measured.difference.absolute.argmax, last == a.back() ? 0 : alone.count - 1);
    EXPECT_EQ(measured.difference.relative.median, 0);
  }
}

TEST(MeasurePair, FillsOnlyWhatIsAskedFor) {
  const std::vector<float> a = {1, 2, 4}, b = {1, 2, 3};
  const PairMeasures least = *MeasurePair(SideOf(a), SideOf(b), {.rule = {1e-5, 1e-5}});
  EXPECT_EQ(least.difference.mismatches, 1);
  EXPECT_EQ(least.difference.first_mismatch, 2);
  EXPECT_EQ(least.a.count, 3);
  EXPECT_EQ(least.a.argmax, -1);
  EXPECT_EQ(least.products.dot, 0);
  EXPECT_FALSE(least.ulp.applies);
  EXPECT_TRUE(least.worst.empty());

  MeasureRequest request{.rule = {1e-5, 1e-5}, .sides = StatisticsLevel::kMoments};
  request.differences = StatisticsLevel::kRanks;
  request.difference_quantiles = {1.0};
  const PairMeasures more = *MeasurePair(SideOf(a), SideOf(b), request);
  EXPECT_EQ(more.a.max, 4);
  EXPECT_TRUE(std::isnan(more.a.median));
  EXPECT_EQ(more.difference.absolute.median, 0);
  EXPECT_THAT(more.difference.absolute.quantiles, testing::ElementsAre(1));
}

TEST(MeasurePair, RanksTheWorstElements) {
  const std::vector<float> a = {1, kNan, 3, 5, 1, 3}, b = {1, 1, 1, 1, kNan, 1};
  MeasureRequest request{.rule = {1, 1}, .worst = 10};
  EXPECT_EQ(Places(*MeasurePair(SideOf(a), SideOf(b), request)),
            (std::vector<int64_t>{1, 4, 3, 2, 5}));
  request.worst = 4;
  const PairMeasures four = *MeasurePair(SideOf(a), SideOf(b), request);
  EXPECT_EQ(Places(four), (std::vector<int64_t>{1, 4, 3, 2}));
  EXPECT_EQ(four.worst[2].a, 5);
  EXPECT_EQ(four.worst[2].b, 1);
  EXPECT_EQ(four.worst[2].absolute, 4);
  EXPECT_EQ(four.worst[2].relative, 4);
  EXPECT_EQ(four.worst[2].ratio, 4);
}

TEST(MeasurePair, CountsUnitsInTheLastPlace) {
  const std::vector<float> a = {-0.0f, 1, kNan, -1e-45f, kInfinity};
  const std::vector<float> b = {0.0f, std::nextafterf(1, 2), 1, 1e-45f,
                                std::numeric_limits<float>::max()};
  const PairMeasures m = *MeasurePair(SideOf(a), SideOf(b), {.ulp = true});
  EXPECT_TRUE(m.ulp.applies);
  EXPECT_EQ(m.ulp.max, 2u);
  EXPECT_EQ(m.ulp.place_of_max, 3);
  EXPECT_EQ(m.ulp.measured, 4);
  EXPECT_EQ(m.ulp.different, 3);

  const std::vector<double> low = {-1.7976931348623157e308}, high = {kInfinity};
  const ElementSpan low_span = SideOf(DType::kFloat64, low),
                    high_span = SideOf(DType::kFloat64, high);
  EXPECT_EQ(MeasurePair(low_span, high_span, {.ulp = true})->ulp.max, 0xffdfffffffffffffu);
  const std::vector<uint8_t> e4m3_a = {0x38, 0x7f}, e4m3_b = {0x39, 0x38};
  const PairMeasures eight = *MeasurePair(SideOf(DType::kFloat8E4M3FN, e4m3_a),
                                          SideOf(DType::kFloat8E4M3FN, e4m3_b), {.ulp = true});
  EXPECT_EQ(eight.ulp.max, 1u);
  EXPECT_EQ(eight.ulp.measured, 1);
  EXPECT_FALSE(
      MeasurePair(SideOf(DType::kInt8, e4m3_a), SideOf(DType::kInt8, e4m3_b), {.ulp = true})
          ->ulp.applies);
}

TEST(MeasureValues, FindsTheFirstNanAndInfinity) {
  std::vector<float> values(3000, 1.f);
  values[1500] = -kInfinity;
  values[1600] = kInfinity;
  values[2999] = kNan;
  const ValueStatistics s = MeasureValues(SideOf(values), StatisticsLevel::kMoments, {});
  EXPECT_EQ(s.first_nan, 2999);
  EXPECT_EQ(s.first_infinite, 1500);
  EXPECT_EQ(s.nan_count, 1);
  EXPECT_EQ(s.infinite_count, 2);
}

TEST(MakePairMetrics, FollowsFromTheSums) {
  const std::vector<float> a = {3, 4}, b = {3, 2};
  const PairMeasures m = *MeasurePair(SideOf(a), SideOf(b), {.products = true});
  const PairMetrics metrics = MakePairMetrics(m.products, 2);
  EXPECT_DOUBLE_EQ(metrics.l2, 2);
  EXPECT_DOUBLE_EQ(metrics.rmse, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(metrics.cosine, 17 / (5 * std::sqrt(13.0)));
  EXPECT_DOUBLE_EQ(metrics.psnr, 20 * std::log10(4.0) - 10 * std::log10(2.0));
  EXPECT_DOUBLE_EQ(metrics.snr, 10 * std::log10(12.5 / 2));
  const PairMetrics empty = MakePairMetrics({}, 0);
  EXPECT_EQ(empty.l2, 0);
  EXPECT_EQ(empty.cosine, 1);
  EXPECT_TRUE(std::isnan(empty.psnr));
  EXPECT_TRUE(std::isnan(empty.snr));
}

TEST(MeasurePair, SubtractsLargeIntegersBeforeItRoundsThem) {
  const int64_t large = int64_t{1} << 62;
  const std::vector<int64_t> a = {large, large + 2, 3}, b = {large + 1, large + 100, 3};
  const ElementSpan a_span = SideOf(DType::kInt64, a), b_span = SideOf(DType::kInt64, b);
  EXPECT_EQ(MeasurePair(a_span, b_span, {.products = true})->products.difference_squared, 9605);
  const ElementSpan c_span = SideOf(DType::kUint64, b);
  EXPECT_EQ(MeasurePair(a_span, c_span, {.products = true})->products.difference_squared, 9605);
}

TEST(MeasurePair, SubtractsLargeIntegersFromFloatsAsTheyAre) {
  const int64_t large = int64_t{1} << 53, most = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> a = {large + 1, -large - 1, most, large + 2};
  const std::vector<uint64_t> c = {UINT64_MAX, uint64_t{1} << 63, 3, 4};
  const std::vector<double> b = {0x1p53, -0x1p53, 0x1p63, 0x1p53 + 2}, d = {0x1p64, 0x1p63, 3, 4};
  const ElementSpan a_span = SideOf(DType::kInt64, a), b_span = SideOf(DType::kFloat64, b);
  MeasureRequest request;
  request.products = true;
  request.rule.exact_integers = true;
  EXPECT_EQ(MeasurePair(a_span, b_span, request)->difference.mismatches, 3);
  EXPECT_EQ(MeasurePair(b_span, a_span, request)->difference.mismatches, 3);
  EXPECT_EQ(MeasurePair(a_span, b_span, request)->products.difference_squared, 3);
  const ElementSpan c_span = SideOf(DType::kUint64, c), d_span = SideOf(DType::kFloat64, d);
  EXPECT_EQ(MeasurePair(c_span, d_span, request)->difference.mismatches, 1);
  request.rule.atol = 1;
  EXPECT_EQ(MeasurePair(a_span, b_span, request)->difference.mismatches, 0);
  request.rule = {};
  EXPECT_EQ(MeasurePair(a_span, b_span, request)->difference.mismatches, 0);
}

TEST(MeasurePair, ScalesSquaresThatFloat64CannotHold) {
  const std::vector<double> a = {3e200, 4e200}, b = {3e200, 2e200};
  const PairMeasures m =
      *MeasurePair(SideOf(DType::kFloat64, a), SideOf(DType::kFloat64, b), {.products = true});
  const PairMetrics metrics = MakePairMetrics(m.products, 2);
  EXPECT_DOUBLE_EQ(metrics.l2, 2e200);
  EXPECT_DOUBLE_EQ(metrics.cosine, 17 / (5 * std::sqrt(13.0)));
  EXPECT_DOUBLE_EQ(metrics.psnr, 20 * std::log10(4.0) - 10 * std::log10(2.0));
  EXPECT_DOUBLE_EQ(metrics.snr, 10 * std::log10(12.5 / 2));
}

TEST(MeasurePair, HasTheSameProductsWhateverElseIsAskedFor) {
  const std::vector<float> a = {3e38f, 1}, b = {-3e38f, 1};
  const double difference = 2 * static_cast<double>(a[0]);
  for (const bool infinities_equal : {false, true}) {
    for (const bool halves : {false, true}) {
      for (const size_t worst : {size_t{0}, size_t{2}}) {
        MeasureRequest request{.rule = {1e-5, 3, infinities_equal, halves}};
        request.products = true;
        request.worst = worst;
        const PairMeasures m = *MeasurePair(SideOf(a), SideOf(b), request);
        const PairMetrics metrics = MakePairMetrics(m.products, 2);
        EXPECT_DOUBLE_EQ(metrics.l2, difference);
        EXPECT_DOUBLE_EQ(metrics.rmse, difference / std::sqrt(2.0));
        EXPECT_NEAR(metrics.psnr, 10 * std::log10(0.5), 1e-9);
      }
    }
  }
}

TEST(MeasurePair, DividesDifferencesBeyondTheirTypeByHalves) {
  const std::vector<float> a = {3e38f, 1}, b = {-3e38f, 1};
  MeasureRequest request{.rule = {1e-5, 1e-5}, .worst = 1};
  EXPECT_EQ(MeasurePair(SideOf(a), SideOf(b), request)->worst.at(0).relative, kInfinity);
  request.rule.halves_where_needed = true;
  EXPECT_EQ(MeasurePair(SideOf(a), SideOf(b), request)->worst.at(0).relative, 2);
  request.worst = 0;
  request.rule.rtol = 2;
  EXPECT_EQ(MeasurePair(SideOf(a), SideOf(b), request)->difference.mismatches, 0);
  request.rule.infinities_equal = true;
  EXPECT_EQ(MeasurePair(SideOf(a), SideOf(b), request)->difference.mismatches, 0);
}

TEST(MeasureDivergence, ComparesDistributions) {
  const std::vector<float> a = {1, 1, 2}, b = {1, 2, 1}, zero = {0, 1, 1}, negative = {-1, 1, 1};
  EXPECT_NEAR(MeasureDivergence(SideOf(a), SideOf(b))->a_from_b, 0.25 * std::log(2.0), 1e-15);
  EXPECT_EQ(MeasureDivergence(SideOf(a), SideOf(a))->a_from_b, 0);
  EXPECT_EQ(MeasureDivergence(SideOf(a), SideOf(zero))->a_from_b,
            std::numeric_limits<double>::infinity());
  EXPECT_NEAR(MeasureDivergence(SideOf(zero), SideOf(b))->a_from_b,
              0.5 * std::log(0.5 / 0.5) + 0.5 * std::log(0.5 / 0.25), 1e-15);
  EXPECT_FALSE(MeasureDivergence(SideOf(a), SideOf(negative))->applies);
}

TEST(MeasureDivergence, KnowsNumbersThatFloat64BarelyHolds) {
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<double> tiny = {least, 2 * least}, swapped = {2 * least, least};
  EXPECT_NEAR(
      MeasureDivergence(SideOf(DType::kFloat64, tiny), SideOf(DType::kFloat64, swapped))->a_from_b,
      std::log(2.0) / 3, 1e-12);
  const std::vector<double> one = {1, 2}, huge = {1.7e308, 0.85e308};
  EXPECT_NEAR(
      MeasureDivergence(SideOf(DType::kFloat64, tiny), SideOf(DType::kFloat64, huge))->a_from_b,
      std::log(2.0) / 3, 1e-12);
  EXPECT_NEAR(
      MeasureDivergence(SideOf(DType::kFloat64, one), SideOf(DType::kFloat64, swapped))->a_from_b,
      std::log(2.0) / 3, 1e-12);
  EXPECT_NEAR(
      MeasureDivergence(SideOf(DType::kFloat64, huge), SideOf(DType::kFloat64, one))->a_from_b,
      std::log(2.0) / 3, 1e-12);
}

TEST(MeasurePair, ProductsOfTinyNumbersAreThoseOfScaledOnes) {
  for (const double scale : {0x1p-660, 0x1p-1060}) {
    const std::vector<double> a = {scale, 2 * scale, 3 * scale};
    const std::vector<double> b = {9 * scale, -2 * scale, scale};
    MeasureRequest request;
    request.products = true;
    const auto measures =
        MeasurePair(SideOf(DType::kFloat64, a), SideOf(DType::kFloat64, b), request);
    ASSERT_TRUE(measures.ok());
    const PairMetrics metrics = MakePairMetrics(measures->products, 3);
    EXPECT_NEAR(metrics.cosine, 8 / std::sqrt(14.0 * 86.0), 1e-12);
    EXPECT_NEAR(metrics.snr, 10 * std::log10(14.0 / 84.0), 1e-9);
    EXPECT_NEAR(metrics.psnr, 10 * std::log10(9.0 * 3 / 84.0), 1e-9);
    EXPECT_NEAR(metrics.l2 / scale, std::sqrt(84.0), 0.5);
  }
}

}  // namespace
}  // namespace vernier
