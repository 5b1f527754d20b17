#include "kernels/classes/logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "core/test_values.h"
#include "kernels/classes/logit_blocks.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

template <typename T>
ElementSpan SpanOf(const std::vector<T>& values) {
  return {sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64, std::as_bytes(std::span(values)),
          static_cast<int64_t>(values.size())};
}

LogitMeasures Measured(const std::vector<double>& a, const std::vector<double>& b, int64_t classes,
                       int64_t top_k = 2) {
  const LogitRows rows{static_cast<int64_t>(a.size()) / classes, classes, 1};
  return MeasureLogits(SpanOf(a), SpanOf(b), rows, top_k, nullptr);
}

template <typename T>
std::vector<T> RandomLogits(size_t count, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, 3);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(normal(generator));
  return values;
}

// By the definition, in long double.
template <typename T>
double DivergenceOf(const T* a, const T* b, size_t classes) {
  long double p_sum = 0, q_sum = 0, divergence = 0;
  for (size_t i = 0; i < classes; ++i) {
    p_sum += std::exp(static_cast<long double>(a[i]));
    q_sum += std::exp(static_cast<long double>(b[i]));
  }
  for (size_t i = 0; i < classes; ++i) {
    const long double log_p = static_cast<long double>(a[i]) - std::log(p_sum);
    const long double log_q = static_cast<long double>(b[i]) - std::log(q_sum);
    divergence += std::exp(log_p) * (log_p - log_q);
  }
  return static_cast<double>(divergence);
}

TEST(Logits, TwoClassesByHand) {
  // P is 3/4 and 1/4, Q 1/2 and 1/2.
  const LogitMeasures found = Measured({std::log(3.0), 0}, {7, 7}, 2, 5);
  EXPECT_EQ(found.positions, 1);
  EXPECT_EQ(found.compared, 1);
  EXPECT_NEAR(found.divergence_mean, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-15);
  EXPECT_FALSE(found.divergence_error);  // of one row
  EXPECT_EQ(found.divergence_most, found.divergence_mean);
  EXPECT_NEAR(found.top_probability_rms, 0.25, 1e-15);
  EXPECT_EQ(found.top_k, 2);
  EXPECT_EQ(found.equal_top1, 1);  // of equal logits the first is the top-1
  EXPECT_EQ(found.equal_sets, 1);
}

TEST(Logits, TokensByHand) {
  // P is 3/4 and 1/4, Q 1/2 and 1/2, at three rows of which the last is excluded.
  const std::vector<double> a = {std::log(3.0), 0, std::log(3.0), 0, 1, 2}, b = {7, 7, 7, 7, 9, 0};
  const std::vector<int64_t> next = {0, 1, kExcludedRow};
  const LogitMeasures found =
      MeasureLogits(SpanOf(a), SpanOf(b), LogitRows{3, 2, 1, next}, 1, nullptr);
  EXPECT_EQ(found.positions, 3);
  EXPECT_EQ(found.excluded, 1);
  EXPECT_EQ(found.compared, 2);
  EXPECT_EQ(found.tokens.count(), 2);
  EXPECT_NEAR(found.tokens.first_perplexity(), 1 / std::sqrt(0.75 * 0.25), 1e-14);
  EXPECT_NEAR(found.tokens.second_perplexity(), 2, 1e-14);
  EXPECT_NEAR(found.tokens.ratio(), 2 * std::sqrt(0.75 * 0.25), 1e-14);
  // The differences of the losses are ln 3/2 and ln 1/2: half of ln 3 from their mean.
  EXPECT_NEAR(*found.tokens.ratio_error(), found.tokens.ratio() * std::log(3.0) / 2, 1e-14);
  EXPECT_NEAR(found.tokens.probability_rms(), 0.25, 1e-15);
}

TEST(Logits, TokensAfterOneAnotherAreAsAllAtOnce) {
  TokenLosses all, first, later;
  for (int i = 0; i < 9; ++i) {
    const double loss = 1 + i, more = 1e-3 * (i % 4) - 1e-3;
    all.Add(loss, more);
    (i < 4 ? first : later).Add(loss, more);
  }
  first.Append(later);
  EXPECT_EQ(first.count(), 9);
  EXPECT_NEAR(first.ratio(), all.ratio(), 1e-15);
  EXPECT_NEAR(*first.ratio_error(), *all.ratio_error(), 1e-15);
  EXPECT_FALSE(TokenLosses().ratio_error());
  EXPECT_TRUE(std::isnan(TokenLosses().ratio()));
}

TEST(Logits, AConstantMoreIsNoDifference) {
  const std::vector<double> a = RandomLogits<double>(5000, 1);
  std::vector<double> b = a;
  for (double& value : b) value += 1024;
  const LogitMeasures found = Measured(a, b, 2500);
  EXPECT_NEAR(found.divergence_most, 0, 1e-12);
  EXPECT_EQ(found.equal_sets, 2);
}

TEST(Logits, AreAsTheDefinitionHasThem) {
  for (const size_t classes : {2UL, 17UL, 1024UL, 2500UL, 2501UL}) {
    const float scale = classes % 2 == 0 ? 0.003f : 0.3f;  // near each other, and not
    const std::vector<float> a = RandomLogits<float>(3 * classes, classes);
    std::vector<float> b = a;
    const std::vector<float> noise = RandomLogits<float>(b.size(), 7);
    for (size_t i = 0; i < b.size(); ++i) b[i] += scale * noise[i];
    const LogitRows rows{3, static_cast<int64_t>(classes), 1};
    const LogitMeasures found = MeasureLogits(SpanOf(a), SpanOf(b), rows, 5, nullptr);
    double sum = 0, most = 0;
    for (size_t row = 0; row < 3; ++row) {
      const double one = DivergenceOf(&a[row * classes], &b[row * classes], classes);
      sum += one;
      most = std::max(most, one);
    }
    EXPECT_NEAR(found.divergence_mean, sum / 3, 1e-9 * sum) << classes;
    EXPECT_NEAR(found.divergence_most, most, 1e-9 * most) << classes;
  }
}

TEST(Logits, CountFlipsAndTheirMargins) {
  // Rows: equal; a flip by a hair of what differs; a flip against a clear preference.
  const std::vector<double> a = {2, 1, 0, 1.01, 1, 0, 5, 1, 0};
  const std::vector<double> b = {2, 1, 0, 1, 1.01, 0.05, 1.9, 2, 0};
  const LogitMeasures found = Measured(a, b, 3, 1);
  EXPECT_EQ(found.equal_top1, 1);
  EXPECT_EQ(found.equal_sets, 1);
  EXPECT_EQ(found.flips, 2);
  EXPECT_EQ(found.close_flips, 1);
  EXPECT_DOUBLE_EQ(found.flip_margin_most, 4);
  EXPECT_DOUBLE_EQ(found.flip_margin_mean, (4 + (1.01 - 1)) / 2);
  EXPECT_EQ(found.flip_row, 2);
}

TEST(Logits, AnErrorInOneClassDoesNotExcuseItsOwnFlip) {
  // The others agree, or differ by less than a sixth of the margin of 1, on average.
  EXPECT_EQ(Measured({2, 1, 0, 0, 0}, {2, 3, 0, 0, 0}, 5, 1).close_flips, 0);
  EXPECT_EQ(Measured({2, 1, 0, 0, 0}, {2, 3, 0, 0, 0.25}, 5, 1).close_flips, 0);
  EXPECT_EQ(Measured({2, 1, 0, 0, -2}, {2, 3, 0.2, -0.2, -1.8}, 5, 1).close_flips, 1);
  EXPECT_EQ(Measured({2, 1, 0, 0, -2}, {2, 4, 0.2, -0.2, -1.8}, 5, 1).close_flips, 0);
  // Masked classes say nothing; without others there is no noise to be seen.
  const double none = -kInfinity;
  EXPECT_EQ(Measured({9, 8, 0, none, none}, {9, 10, 0.9, none, none}, 5, 1).close_flips, 1);
  EXPECT_EQ(Measured({1.01, 1}, {1, 1.01}, 2, 1).close_flips, 0);
}

TEST(Logits, ARowThatIsWrongAsAWholeDoesNotExcuseItsOwnFlip) {
  EXPECT_EQ(Measured({3, 1, 0, -1, -3}, {-3, -1, 0, 1, 3}, 5, 1).close_flips, 0);
  EXPECT_EQ(Measured({3, 2.9, 0, -1, -3}, {2.9, 3, 1, 0, -4}, 5, 1).close_flips, 0);
  EXPECT_EQ(Measured({3, 2.9, 0, -1, -3}, {2.9, 3, 0.1, -1.1, -3.1}, 5, 1).close_flips, 1);
}

TEST(Logits, ATieHasNoOrder) {
  const LogitMeasures found = Measured({1, 1, 0}, {1, 1.01, 0}, 3, 1);
  EXPECT_EQ(found.flips, 1);
  EXPECT_EQ(found.close_flips, 1);
}

TEST(Logits, HugeDifferencesDoNotOverflowToNoise) {
  EXPECT_EQ(Measured({3e300, 1e300, 0, 0}, {3e300, 4e300, 1e299, 0}, 4, 1).close_flips, 0);
  EXPECT_EQ(Measured({3e300, 2e300, 0}, {3e300, 4e300, 2e300}, 3, 1).close_flips, 1);
}

TEST(Logits, SetsDoNotDependOnTheOrderWithin) {
  const LogitMeasures found = Measured({4, 3, 2, 1}, {3, 4, 1, 2}, 4, 2);
  EXPECT_EQ(found.equal_sets, 1);
  EXPECT_EQ(found.equal_top1, 0);
  EXPECT_EQ(Measured({4, 3, 2, 1}, {4, 2, 3, 1}, 4, 2).equal_sets, 0);
  // At the border equal logits go by their place.
  EXPECT_EQ(Measured({4, 2, 2, 2}, {4, 2, 2, 2.5}, 4, 2).equal_sets, 0);
}

TEST(Logits, MaskedClassesOfBothSidesAreEqual) {
  const LogitMeasures masked =
      Measured({1, -kInfinity, 0, -kInfinity}, {1, -kInfinity, 0.5, -kInfinity}, 4);
  const LogitMeasures without = Measured({1, 0}, {1, 0.5}, 2);
  EXPECT_EQ(masked.compared, 1);
  EXPECT_NEAR(masked.divergence_mean, without.divergence_mean, 1e-15);
  EXPECT_EQ(masked.top_probability_rms, without.top_probability_rms);
}

TEST(Logits, KeepRowsApartThatCannotBeCompared) {
  const LogitMeasures found =
      Measured({1, 0, -kInfinity, -kInfinity, kNan, 0, 1, kInfinity, 1, -kInfinity, 1, 0},
               {1, 0, -kInfinity, -kInfinity, 1, 0, 1, 0, 1, 0, 1, 0}, 2);
  EXPECT_EQ(found.positions, 6);
  EXPECT_EQ(found.masked, 1);
  EXPECT_EQ(found.nan, 1);
  EXPECT_EQ(found.infinite, 1);
  EXPECT_EQ(found.torn, 1);
  EXPECT_EQ(found.compared, 2);
  EXPECT_EQ(found.equal_top1, 2);
  EXPECT_EQ(found.divergence_mean, kInfinity);
  EXPECT_FALSE(found.divergence_error);
  EXPECT_EQ(found.divergence_most, kInfinity);
  EXPECT_EQ(found.divergence_quantiles[0], 0);
  EXPECT_EQ(found.worst_row, 4);
}

TEST(Logits, OfNothing) {
  const LogitMeasures empty = Measured({}, {}, 3);
  EXPECT_EQ(empty.positions, 0);
  EXPECT_TRUE(std::isnan(empty.divergence_mean));
  const LogitMeasures masked = Measured({-kInfinity, -kInfinity}, {-kInfinity, -kInfinity}, 2);
  EXPECT_EQ(masked.masked, 1);
  EXPECT_TRUE(std::isnan(masked.divergence_most));
  EXPECT_TRUE(std::isnan(masked.top_probability_rms));
}

TEST(Logits, FarApartDoublesAreNoInfinity) {
  const LogitMeasures found = Measured({1e308, -1e308}, {-1e308, 1e308}, 2);
  EXPECT_EQ(found.compared, 1);
  EXPECT_EQ(found.flips, 1);
  EXPECT_EQ(found.divergence_mean, kInfinity);
}

TEST(Logits, KnowWhatASoftmaxGave) {
  const LogitMeasures both = Measured({0.25, 0.75, 1, 0}, {0.5, 0.5, 0.75, 0.25}, 2);
  EXPECT_TRUE(both.a_is_softmax && both.b_is_softmax);
  const LogitMeasures one = Measured({0.25, 0.75, 1, 0}, {0.5, 0.5, 0.75, 0.5}, 2);
  EXPECT_TRUE(one.a_is_softmax);
  EXPECT_FALSE(one.b_is_softmax);
  EXPECT_FALSE(Measured({1.25, -0.25}, {1.25, -0.25}, 2).a_is_softmax);
  const LogitMeasures padded = Measured({0.25, 0.75, 0, 0}, {0, 0, 0, 0}, 2);
  EXPECT_TRUE(padded.a_is_softmax);
  EXPECT_FALSE(padded.b_is_softmax);
  std::vector<float> quantised, logits;
  for (int row = 0; row < 8; ++row) {
    quantised.insert(quantised.end(), {0.25F, row % 2 == 0 ? 0.73F : 0.77F});
    logits.insert(logits.end(), {0.25F, row == 5 ? 1.5F : 0.73F});
  }
  const LogitMeasures near =
      Measured({quantised.begin(), quantised.end()}, {logits.begin(), logits.end()}, 2);
  EXPECT_TRUE(near.a_is_softmax);
  EXPECT_FALSE(near.b_is_softmax);
  // One row of many classes is enough.
  std::vector<double> many(16, 0.06);
  EXPECT_TRUE(Measured(many, many, 16).a_is_softmax);
  many[0] = 0.2;
  EXPECT_FALSE(Measured(many, many, 16).a_is_softmax);
  quantised.resize(14);
  EXPECT_FALSE(
      Measured({quantised.begin(), quantised.end()}, {quantised.begin(), quantised.end()}, 2)
          .a_is_softmax);
}

template <typename T>
std::vector<T> WithClassesFirst(const std::vector<T>& rows, size_t classes) {
  const size_t count = rows.size() / classes;
  std::vector<T> out(rows.size());
  for (size_t row = 0; row < count; ++row) {
    for (size_t c = 0; c < classes; ++c) out[c * count + row] = rows[row * classes + c];
  }
  return out;
}

void ExpectSameLogits(const LogitMeasures& x, const LogitMeasures& y) {
  EXPECT_EQ(x.divergence_mean, y.divergence_mean);
  EXPECT_EQ(x.divergence_error, y.divergence_error);
  EXPECT_EQ(x.divergence_quantiles, y.divergence_quantiles);
  EXPECT_EQ(x.worst_row, y.worst_row);
  EXPECT_EQ(x.top_probability_rms, y.top_probability_rms);
  EXPECT_EQ(x.equal_sets, y.equal_sets);
  EXPECT_EQ(x.flips, y.flips);
  EXPECT_EQ(x.flip_margin_mean, y.flip_margin_mean);
  EXPECT_EQ(x.flip_row, y.flip_row);
}

TEST(Logits, AreTheSameBitsForAnyThreadsAndAxis) {
  const std::vector<float> a = RandomLogits<float>(300 * 1500, 1);
  const std::vector<float> b = RandomLogits<float>(300 * 1500, 2);
  const LogitRows rows{300, 1500, 1};
  const LogitMeasures alone = MeasureLogits(SpanOf(a), SpanOf(b), rows, 5, nullptr);
  ASSERT_GT(alone.flips, 0);
  for (const size_t threads : {1UL, 3UL}) {
    ThreadPool pool(threads);
    ExpectSameLogits(alone, MeasureLogits(SpanOf(a), SpanOf(b), rows, 5, &pool));
    const std::vector<float> c = WithClassesFirst(a, 1500), d = WithClassesFirst(b, 1500);
    ExpectSameLogits(alone, MeasureLogits(SpanOf(c), SpanOf(d), {1, 1500, 300}, 5, &pool));
  }
}

// In however many blocks a row is read.
TEST(Logits, AreTheSameBitsForAnyBlocks) {
  const std::vector<float> a = RandomLogits<float>(1000, 1);
  const std::vector<float> b = RandomLogits<float>(1000, 2);
  const LogitKernels<float>& kernels = VectorLogitKernels<float>();
  for (const auto add : {kernels.add, kernels.add_near}) {
    LogitSums whole;
    add({a.data(), b.data(), 1000}, 20, 21, whole);
    LogitSums parts;
    for (size_t start = 0; start < 1000; start += 3 * kSumLanes) {
      add({&a[start], &b[start], std::min<size_t>(3 * kSumLanes, 1000 - start)}, 20, 21, parts);
    }
    EXPECT_EQ(TotalOfLanes(whole.weight), TotalOfLanes(parts.weight));
    EXPECT_EQ(TotalOfLanes(whole.excess), TotalOfLanes(parts.excess));
    EXPECT_EQ(TotalOfLanes(whole.tilt), TotalOfLanes(parts.tilt));
  }
}

}  // namespace
}  // namespace vernier
