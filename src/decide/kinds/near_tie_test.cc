#include "decide/kinds/near_tie.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

Tensor FloatsOf(Dims dims, const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

// How many flips there are, and how many of them are clear, where the candidate differs from the
// reference by Gaussian noise alone. `make` turns normal values into an output.
template <typename Make>
std::pair<int, int> ClearOfNoise(const std::string& words, Dims dims, double noise,
                                 const Make& make) {
  std::mt19937_64 random(25);
  std::normal_distribution<double> normal;
  std::vector<double> a(static_cast<size_t>(*ElementCount(dims)));
  std::vector<double> b = a;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = normal(random);
    b[i] = a[i] + noise * normal(random);
  }
  int flips = 0, clear = 0;
  const Result<std::vector<DecisionSample>> samples =
      Decide(*ParseDecision(words), make(dims, a), make(dims, b), {}, {});
  for (const DecisionSample& sample : *samples) {
    if (sample.flip == Flip::kNone) continue;
    ++flips;
    if (sample.flip == Flip::kClear) ++clear;
  }
  return {flips, clear};
}

Tensor AsTheyAre(const Dims& dims, const std::vector<double>& values) {
  return FloatsOf(dims, {values.begin(), values.end()});
}

// Along the last axis, of logits that are sure of most samples.
Tensor SoftmaxOf(const Dims& dims, const std::vector<double>& values) {
  const auto classes = static_cast<size_t>(dims.back());
  std::vector<float> shares;
  for (size_t first = 0; first < values.size(); first += classes) {
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(5 * values[first + c]);
    for (size_t c = 0; c < classes; ++c) {
      shares.push_back(static_cast<float>(std::exp(5 * values[first + c]) / sum));
    }
  }
  return FloatsOf(dims, shares);
}

Tensor SigmoidOf(const Dims& dims, const std::vector<double>& values) {
  std::vector<float> shares;
  for (const double value : values) {
    shares.push_back(static_cast<float>(1 / (1 + std::exp(-5 * value))));
  }
  return FloatsOf(dims, shares);
}

// What a network gives whose last step rounds: the other classes, which are small, hardly move.
TEST(NearTie, RoundingMovesLargeValuesByMoreThanOthers) {
  const Tensor exact = FloatsOf({2, 4}, {18.02F, 18.03F, 0.1F, 0.2F, 18.2F, 18.4F, 0.1F, 0.2F});
  const std::vector<float> rounded = {18, 18, 0.10009765625F, 0.2001953125F,
                                      18, 18, 0.10009765625F, 0.2001953125F};
  const auto decided = [&](const Tensor& b) {
    return *Decide(*ParseDecision("top1"), exact, b, {}, {});
  };
  const std::vector<DecisionSample> bfloats = decided(FloatsOf({2, 4}, rounded));
  EXPECT_EQ(bfloats[0].flip, Flip::kNearTie);
  EXPECT_EQ(bfloats[0].near_tie, 0.125);
  EXPECT_EQ(bfloats[1].flip, Flip::kClear);  // 0.2 apart: rounding alone made no tie of these
  std::vector<float> other = rounded;
  other[3] += 1e-5F;
  EXPECT_EQ(decided(FloatsOf({2, 4}, other))[0].flip, Flip::kClear);
}

TEST(NearTie, TheStepIsThatOfTheValues) {
  EXPECT_EQ(StepOfValues(FloatsOf({2}, {1.0078125F, -256})), 0x1p-7);
  EXPECT_EQ(StepOfValues(FloatsOf({3}, {1.0009765625F, 65504, -0x1p-24F})), 0x1p-10);
  EXPECT_EQ(StepOfValues(FloatsOf({2}, {1.0009765625F, 0x1p-25F})), 0);
  EXPECT_EQ(StepOfValues(FloatsOf({2}, {1.0009765625F, 65536})), 0);
  EXPECT_EQ(StepOfValues(FloatsOf({1}, {0.1F})), 0);
  const std::vector<uint16_t> bits = {0x3C01};
  EXPECT_EQ(StepOfValues(*Tensor::Copy(DType::kFloat16, {1}, std::as_bytes(std::span(bits)))),
            0x1p-10);
  EXPECT_EQ(SpacingAt(18.03, 0x1p-7), 0.125);
  EXPECT_EQ(SpacingAt(0, 0x1p-7), 0);
  EXPECT_EQ(SpacingAt(0x1p-13, 0x1p-10), 0x1p-23);
  EXPECT_EQ(SpacingAt(1e-6, 0x1p-10), 0x1p-24) << "subnormal numbers of float16 are multiples";
  EXPECT_EQ(SpacingAt(1e-39, 0x1p-7), 0x1p-133);
}

// Margins below one step of float16, of a softmax that is next to 0 there.
TEST(NearTie, TheStepsOfSubnormalNumbersAreTheLeastOne) {
  std::vector<float> exact, rounded;
  for (int i = 0; i < 40; ++i) {
    exact.push_back(i == 0 ? 1.0F : static_cast<float>(3e-8 * i));
    rounded.push_back(i == 0 ? 1.0F
                             : static_cast<float>(std::nearbyint(3e-8 * i * 0x1p24) * 0x1p-24));
  }
  std::swap(exact[20], exact[21]);
  for (const bool first : {true, false}) {
    const Tensor a = FloatsOf({1, 40}, exact), b = FloatsOf({1, 40}, rounded);
    const auto samples = *Decide(*ParseDecision("rank=30"), first ? a : b, first ? b : a, {}, {});
    EXPECT_EQ(samples[0].flip, Flip::kNearTie) << samples[0].near_tie;
  }
}

// docs/decisions.md: 2.1 % of such flips are beyond the limit, and a little more where few values
// say how large the noise is.
TEST(NoiseLimit, FewFlipsOfNoiseAreClear) {
  const auto expect_few = [](std::pair<int, int> found, const char* what) {
    EXPECT_GT(found.first, 200) << what;
    EXPECT_GT(found.second, 0) << what;
    EXPECT_LT(found.second, 0.04 * found.first) << what;
  };
  expect_few(ClearOfNoise("top1", {20000, 100}, 0.05, AsTheyAre), "top1");
  expect_few(ClearOfNoise("rank=3", {8000, 100}, 0.02, AsTheyAre), "rank");
  expect_few(ClearOfNoise("top5", {8000, 100}, 0.02, AsTheyAre), "top5");
  expect_few(ClearOfNoise("threshold=1", {4000, 100}, 0.01, AsTheyAre), "threshold");
  expect_few(ClearOfNoise("argmax=-1", {1500, 200, 8}, 0.01, AsTheyAre), "argmax");
  expect_few(ClearOfNoise("ctc", {1500, 200, 8}, 0.01, AsTheyAre), "ctc");
}

TEST(NoiseLimit, FewFlipsOfNoiseInProbabilitiesAreClear) {
  const auto expect_few = [](std::pair<int, int> found, const char* what) {
    EXPECT_GT(found.first, 200) << what;
    EXPECT_LT(found.second, 0.06 * found.first) << what;
  };
  expect_few(ClearOfNoise("top1", {20000, 100}, 0.05, SoftmaxOf), "top1");
  expect_few(ClearOfNoise("argmax=-1", {20000, 100}, 0.05, SoftmaxOf), "argmax of rows");
  expect_few(ClearOfNoise("argmax=-1", {1500, 200, 8}, 0.01, SoftmaxOf), "argmax of maps");
  expect_few(ClearOfNoise("ctc", {1500, 200, 8}, 0.01, SoftmaxOf), "ctc");
  expect_few(ClearOfNoise("threshold=0.9", {4000, 100}, 0.01, SigmoidOf), "threshold");
}

TEST(NoiseLimit, IsTwoDeviationsOfWhatMoves) {
  EXPECT_DOUBLE_EQ(NoiseLimit(0.5, NoisyValues::kOne, 1), 1);
  EXPECT_DOUBLE_EQ(NoiseLimit(0.5, NoisyValues::kTwo, 1), std::sqrt(2.0));
  const double many = NoiseLimit(1, NoisyValues::kOne, 1000);
  const double share = std::exp(-many * many / 2) -
                       many * std::sqrt(std::acos(-1.0) / 2) * std::erfc(many / std::sqrt(2.0));
  EXPECT_NEAR(share, 0.0212830 / 1000, 1e-9);
}

}  // namespace
}  // namespace vernier
