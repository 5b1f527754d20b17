#include "decide/tie_limits.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vernier {
namespace {

DecisionSample TieOf(double margin, double limit) {
  DecisionSample sample;
  sample.first_margin = margin;
  sample.near_tie = limit;
  sample.flip = Flip::kNearTie;
  return sample;
}

// `agreeing` samples whose margins are spread evenly up to 1.
TieLimits Evenly(int agreeing) {
  TieLimits limits;
  for (int i = 0; i < agreeing; ++i) {
    DecisionSample sample;
    sample.first_margin = (i + 0.5) / agreeing;
    limits.Add(sample);
  }
  return limits;
}

DoubtfulTies WithTies(TieLimits limits, int ties, double limit) {
  for (int i = 0; i < ties; ++i) limits.Add(TieOf(limit * (i + 0.5) / ties, limit));
  return limits.Doubtful(true);
}

TEST(TieLimits, WhatNothingSpeaksAgainstIsNotDoubtful) {
  EXPECT_EQ(Evenly(100).Doubtful(true).count, 0);
  EXPECT_EQ(Evenly(100).Doubtful(true).by, "");
  EXPECT_EQ(WithTies(Evenly(1000), 1, 1e-5).count, 0);  // the only sample below its limit
  EXPECT_EQ(WithTies(Evenly(1000), 10, 0.4).count, 0);
}

TEST(TieLimits, NoiseAndBoundsThatAreExceededExcuseNothing) {
  TieLimits limits = Evenly(100);
  DecisionSample noise = TieOf(0.1, 0.2);
  noise.by_noise = true;
  DecisionSample over = TieOf(0.1, 0.2);
  over.over_bound = true;
  limits.Add(noise);
  limits.Add(over);
  limits.Add(over);
  limits.Add(TieOf(0.1, 0.2));
  const DoubtfulTies doubtful = limits.Doubtful(true);
  EXPECT_EQ(doubtful.count, 3);
  EXPECT_EQ(doubtful.by,
            "by the noise of the other values or by an error bound that the output exceeds");
}

TEST(TieLimits, LimitsBeyondTheMedianMarginTellNothingApart) {
  EXPECT_EQ(WithTies(Evenly(1000), 1, 0.8).count, 1);
  EXPECT_EQ(WithTies(Evenly(1000), 1, 0.8).by, "by an error bound that is wider than most margins");
  // A network that is sure of nearly everything: no margin of a probability reaches a limit of 1.
  TieLimits sure;
  for (int i = 0; i < 100; ++i) {
    DecisionSample sample;
    sample.first_margin = 0.999;
    sure.Add(sample);
  }
  EXPECT_EQ(WithTies(sure, 1, 0.9).count, 0);
  EXPECT_EQ(WithTies(sure, 3, 2.2).count, 3);
  EXPECT_EQ(WithTies(sure, 3, INFINITY).count, 3);
  TieLimits dead;
  for (int i = 0; i < 10; ++i) dead.Add(DecisionSample());
  EXPECT_EQ(WithTies(dead, 1, 1e-9).count, 1);
}

TEST(TieLimits, MoreThanRoundingTurnsAroundAreDoubtful) {
  const DoubtfulTies many = WithTies(Evenly(1000), 60, 0.4);
  EXPECT_EQ(many.count, 60);
  EXPECT_EQ(many.by, "by an error bound that does not explain so many");
  EXPECT_EQ(WithTies(Evenly(10), 2, 0.01).count, 0);  // chance
  EXPECT_EQ(WithTies(Evenly(10), 4, 0.01).count, 4);
  // Of many positions in a sample nearly always one is below the limit, and one flips.
  TieLimits maps = Evenly(1000);
  for (int i = 0; i < 60; ++i) maps.Add(TieOf(0.001 * i, 0.4));
  EXPECT_EQ(maps.Doubtful(false).count, 0);
}

}  // namespace
}  // namespace vernier
