#include "decide/kinds/margin_moves.h"

#include <gtest/gtest.h>

#include <limits>

#include "decide/kinds/sample_differences.h"

namespace vernier {
namespace {

TEST(LogBins, CountBelowAndBeyondTheBinOfALimit) {
  LogBins bins;
  for (const double value : {0.0, 1.0, 2.0, std::numeric_limits<double>::infinity()}) {
    bins.Add(value);
  }
  EXPECT_EQ(bins.All(), 4);
  EXPECT_EQ(bins.Below(0), 0);
  EXPECT_EQ(bins.Below(2), 2);
  EXPECT_EQ(bins.Beyond(1), 2);
  EXPECT_EQ(bins.Beyond(std::numeric_limits<double>::infinity()), 0);
  EXPECT_GT(LogBins::EndOf(LogBins::BinOf(2)), 2);
}

TEST(MarginMoves, ShowNoNoiseWhereNothingMoves) {
  MarginMoves moves;
  EXPECT_EQ(moves.LimitByNoise(), 0);
  for (int i = 0; i < 100; ++i) moves.Add(5, 5);
  EXPECT_EQ(moves.agreeing(), 100);
  EXPECT_EQ(moves.most(), 0);
  EXPECT_EQ(moves.LimitByNoise(), 0);
  EXPECT_EQ(moves.LimitByGrid(), 0);
}

TEST(MarginMoves, LeaveOutASoftmaxThatIsSure) {
  MarginMoves moves;
  moves.Add(1, 0.9995);
  EXPECT_EQ(moves.agreeing(), 0);
  moves.Add(3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(moves.agreeing(), 0);
  moves.Add(3, 2.5);
  EXPECT_EQ(moves.agreeing(), 1);
  EXPECT_EQ(moves.most(), 0.5);
}

TEST(MarginMoves, StepsOfAGridAreNoNoise) {
  MarginMoves moves;
  for (int i = 0; i < 90; ++i) moves.Add(40, 40);
  for (int i = 0; i < 10; ++i) moves.Add(40, 40.25);
  EXPECT_EQ(moves.LimitByNoise(), 0);
  EXPECT_GE(moves.LimitByGrid(), 0.5);  // two steps
  moves.Add(40, 40.1);                  // no step, and no rounding
  EXPECT_EQ(moves.LimitByGrid(), 0);
}

TEST(SampleDifferences, NeedMoreThanHalfAndMoreThanChance) {
  SampleDifferences differences(0.5);
  EXPECT_FALSE(differences.MostFlip());
  DecisionSample sample;
  sample.flip = Flip::kClear;
  sample.similarity = 0.4;
  differences.Add(sample);
  EXPECT_FALSE(differences.MostFlip());  // one sample shows nothing
  for (int i = 0; i < 20; ++i) differences.Add(sample);
  EXPECT_TRUE(differences.MostFlip());
  EXPECT_TRUE(differences.MostDiffer());
  EXPECT_FALSE(differences.AreOneSided());
  sample.boxes = BoxCounts{.lost = 10};
  for (int i = 0; i < 5; ++i) differences.Add(sample);
  EXPECT_TRUE(differences.AreOneSided());
}

}  // namespace
}  // namespace vernier
