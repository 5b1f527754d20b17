#include "run/figures/logits_total_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace vernier {
namespace {

using testing::HasSubstr;

constexpr double kThreshold = 1e-3;

// Iterations of as many positions each, judged by themselves as JudgeLogits judges them.
class Gate {
 public:
  Gate& AddPeak(double mean, double peak) {
    peak_ = peak;
    return Add(mean, 1000);
  }
  Gate& Add(double mean, int64_t positions = 1, double top1 = 1, int64_t nan = 0) {
    OutputRow row;
    LogitsRecord& logits = row.logits.emplace();
    logits.compared = positions;
    logits.nan = nan;
    logits.kl_mean = mean;
    logits.kl_max = peak_;
    logits.kl_max_position = {0, 17};
    logits.kl_threshold = kThreshold;
    logits.top1_judged = top1;
    logits.top1_threshold = 0.9;
    const bool passed = nan == 0 && mean <= kThreshold && top1 >= 0.9;
    row.verdict = passed ? "passed" : "failed";
    OutputComparison output;
    FunctionResult& result = output.functions.emplace_back();
    result.function = CompareFunction::kLogits;
    result.verdict = passed ? Verdict::kMatched : Verdict::kMismatched;
    if (other_fails) {
      output.functions.emplace_back().verdict = Verdict::kMismatched;
      row.verdict = "failed";
    }
    gate_.Add(output, row, iteration_++);
    return *this;
  }
  bool Excuses() const { return gate_.Excuses(); }
  std::string Beyond() const { return gate_.DescribeBeyondNoise(); }

  std::string Peak() const { return gate_.DescribePeak(); }

  bool other_fails = false;

 private:
  LogitsTotalGate gate_;
  double peak_ = 0;
  int64_t iteration_ = 0;
};

TEST(LogitsTotalGate, TheMeanOfAllPositionsDecides) {
  EXPECT_TRUE(Gate().Add(4e-4).Add(1.3e-3).Add(5e-4).Excuses());
  EXPECT_FALSE(Gate().Add(1.3e-3).Add(9e-4).Excuses());
  // Of positions, not of iterations.
  EXPECT_FALSE(Gate().Add(1.2e-3, 9).Add(4e-4).Excuses());
  EXPECT_TRUE(Gate().Add(1.2e-3).Add(4e-4, 9).Excuses());
  // One alone is all there is, and what passes needs no excuse.
  EXPECT_FALSE(Gate().Add(2e-3).Excuses());
  EXPECT_FALSE(Gate().Add(2e-4).Add(3e-4).Excuses());
  EXPECT_EQ(Gate().Add(1.3e-3).Add(9e-4).Beyond(), "");
}

TEST(LogitsTotalGate, APositionThatTheMeanHidesIsNamed) {
  EXPECT_EQ(Gate().AddPeak(5e-4, 0.09).AddPeak(5e-4, 0.08).Peak(), "");
  EXPECT_EQ(Gate().AddPeak(5e-4, 0.09).AddPeak(5e-4, 0.5).AddPeak(5e-4, 0.3).Peak(),
            "the mean KL divergence is within its threshold, but that of position (0, 17) in "
            "iteration 1 is 0.5 nats, 500 times that: a fault of few positions hides in a mean of "
            "many");
  EXPECT_EQ(Gate().AddPeak(5e-3, 0.5).Peak(), "");  // which fails anyway
}

TEST(LogitsTotalGate, TheShareOfAllPositionsDecides) {
  Gate gate;
  for (int i = 0; i < 19; ++i) gate.Add(1e-5);
  EXPECT_TRUE(Gate(gate).Add(1e-5, 1, 0).Excuses());
  EXPECT_FALSE(Gate(gate).Add(1e-5, 1, 0).Add(1e-5, 1, 0).Add(1e-5, 1, 0).Excuses());
}

TEST(LogitsTotalGate, AStepBeyondTheNoiseOfTheOthersFailsByItself) {
  Gate gate;
  for (int i = 0; i < 300; ++i) gate.Add(1e-8 * (1 + i % 7));
  gate.Add(5e-3);
  EXPECT_FALSE(gate.Excuses());
  EXPECT_THAT(gate.Beyond(), HasSubstr("iteration 300 has a mean KL divergence of 0.005 nats, "
                                       "beyond the noise of the others (up to 0.001)"));
  // Nor do several hide one another, up to a quarter of all.
  for (int i = 0; i < 30; ++i) gate.Add(5e-3);
  EXPECT_FALSE(gate.Excuses());
  EXPECT_NE(gate.Beyond(), "");
  // Equal sides at most of the steps leave no noise.
  EXPECT_FALSE(Gate().Add(0).Add(0).Add(0).Add(1.5e-3).Excuses());
}

// A sound copy of less precision: means that are lognormal, as those of language models are.
TEST(LogitsTotalGate, NoiseWithALongTailIsNoFault) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (const double spread : {0.3, 1.0, 1.7}) {
    for (int run = 0; run < 20; ++run) {
      Gate gate;
      const double mean = std::exp(spread * spread / 2);
      for (int i = 0; i < 500; ++i) gate.Add(4e-4 / mean * std::exp(spread * normal(random)));
      EXPECT_EQ(gate.Beyond(), "") << spread;
    }
  }
}

TEST(LogitsTotalGate, NothingElseIsExcused) {
  EXPECT_FALSE(Gate().Add(1.3e-3, 1, 1, 1).Add(1e-4).Add(1e-4).Excuses());
  Gate gate;
  gate.Add(1.3e-3).Add(1e-4);
  gate.other_fails = true;
  EXPECT_FALSE(gate.Add(1e-4).Excuses());
  EXPECT_EQ(gate.Beyond(), "");
}

}  // namespace
}  // namespace vernier
