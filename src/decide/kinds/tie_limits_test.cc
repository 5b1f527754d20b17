#include "decide/kinds/tie_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

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
    sample.first_margin = sample.second_margin = (i + 0.5) / agreeing;
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

// By the noise of the other values.
DecisionSample ClearOf(double margin, double limit) {
  DecisionSample sample = TieOf(margin, limit);
  sample.flip = Flip::kClear;
  sample.by_noise = true;
  return sample;
}

TEST(TieLimits, ClearFlipsNearTheNoiseAreDoubtful) {
  TieLimits limits = Evenly(100);
  limits.Add(ClearOf(0.1, 0.09));
  limits.Add(ClearOf(0.3, 0.09));
  EXPECT_EQ(limits.DoubtfulClear().count, 2);
  EXPECT_EQ(limits.DoubtfulClear().by, "within four times the noise of the other values");
  limits.Add(ClearOf(0.4, 0.09));
  EXPECT_EQ(limits.DoubtfulClear().count, 2) << "too far";
  DecisionSample bounded = ClearOf(0.1, 0.09);
  bounded.by_noise = false;
  limits.Add(bounded);
  EXPECT_EQ(limits.DoubtfulClear().count, 2) << "a bound proves it";
  bounded.over_bound = true;
  limits.Add(bounded);
  EXPECT_EQ(limits.DoubtfulClear().count, 3);
  EXPECT_EQ(limits.DoubtfulClear().by,
            "by the bound of a short or unknown type or within four times the noise of the other "
            "values");
  EXPECT_EQ(limits.Doubtful(true).count, 0) << "they are no near ties";
  EXPECT_EQ(Evenly(100).DoubtfulClear().by, "");
}

// Two clear flips without noise of their own, beside margins that move by so much.
TieLimits WithMoves(double move, int count) {
  TieLimits limits;
  for (int i = 0; i < count; ++i) {
    DecisionSample sample;
    sample.first_margin = 0.5;
    sample.second_margin = 0.5 + (i % 2 == 0 ? move : -move);
    limits.Add(sample);
  }
  limits.Add(ClearOf(0.01, 0));
  limits.Add(ClearOf(0.3, 0));
  return limits;
}

TEST(TieLimits, TheNoiseOfABatchExplainsFlipsBesideFewValues) {
  TieLimits limits = Evenly(100);
  DecisionSample far = ClearOf(0.5, 0.01);
  far.over_bound = true;
  limits.Add(far);
  EXPECT_EQ(limits.DoubtfulClear().count, 1);
  EXPECT_EQ(limits.DoubtfulClear().by, "within four times the noise of the other values");
  DecisionSample without = ClearOf(0.3, 0);  // the margins of this run do not move
  limits.Add(without);
  EXPECT_EQ(limits.DoubtfulClear().count, 1);
  without.over_bound = true;
  limits.Add(without);
  EXPECT_EQ(limits.DoubtfulClear().count, 2);
  TieLimits moved = WithMoves(0.2, 100);
  moved.Add(without);
  EXPECT_EQ(moved.near_by_moves(), 3);
  EXPECT_EQ(moved.DoubtfulClear().count, 0) << "it is a near tie";
}

// Of a sample with nothing in common.
DecisionSample Unlike(DecisionSample sample) {
  sample.similarity = 0;
  return sample;
}

TEST(TieLimits, NoNoiseTurnsAroundMostSamples) {
  for (const double least : {0.5, 0.0}) {
    TieLimits limits(least);
    for (int i = 0; i < 30; ++i) limits.Add(Unlike(ClearOf(0.1, 0.09)));
    EXPECT_EQ(limits.DoubtfulClear().count, least > 0 ? 0 : 30);
    for (int i = 0; i < 30; ++i) limits.Add(Unlike(ClearOf(0.1, 0)));
    EXPECT_EQ(limits.DoubtfulClear().count, least > 0 ? 0 : 30);
  }
}

TEST(TieLimits, MostFlipsAreNoNearTiesByNoise) {
  DecisionSample tie = Unlike(TieOf(0.1, 0.2));
  tie.by_noise = true;
  DecisionSample alike = tie;
  alike.similarity = 0.5;
  TieLimits most(0.5);
  for (int i = 0; i < 30; ++i) most.Add(tie);
  for (int i = 0; i < 3; ++i) most.Add(alike);
  EXPECT_EQ(most.clear_by_run(), 30);
  EXPECT_TRUE(most.IsClearByRun(tie));
  EXPECT_FALSE(most.IsClearByRun(alike));
  EXPECT_FALSE(most.IsClearByRun(Unlike(TieOf(0.1, 0.2)))) << "by a bound";
  EXPECT_EQ(most.Doubtful(true).count, 3);
  EXPECT_EQ(most.Doubtful(true).by, "by the noise of the other values");
  DecisionSample step = tie;
  step.over_bound = true;
  EXPECT_FALSE(most.IsClearByRun(step)) << "rounding may make ties of most";
  most.Add(step);
  EXPECT_EQ(most.clear_by_run(), 30);
  EXPECT_EQ(most.Doubtful(true).count, 4);
  DecisionSample exceeded = step;
  exceeded.by_noise = false;
  most.Add(exceeded);
  EXPECT_TRUE(most.IsClearByRun(exceeded));
  EXPECT_EQ(most.clear_by_run(), 31);
  EXPECT_EQ(most.Doubtful(true).count, 4);
  TieLimits half(0.5);
  for (int i = 0; i < 30; ++i) half.Add(tie);
  for (int i = 0; i < 30; ++i) half.Add(alike);
  EXPECT_EQ(half.clear_by_run(), 0);
  EXPECT_FALSE(half.IsClearByRun(tie));
  EXPECT_EQ(half.Doubtful(true).count, 60);
}

TEST(TieLimits, ASureSoftmaxShowsNoNoise) {
  DecisionSample bounded = ClearOf(0.13, 0);
  bounded.by_noise = false;
  bounded.over_bound = true;
  const auto limits = [&](double margin, const DecisionSample& flip) {
    TieLimits made;
    for (int i = 0; i < 100; ++i) {
      DecisionSample sample;
      sample.first_margin = sample.second_margin = margin;
      made.Add(sample);
    }
    made.Add(flip);
    return made.DoubtfulClear();
  };
  EXPECT_EQ(limits(1, bounded).count, 1);
  EXPECT_EQ(limits(1, bounded).by, "where no noise is known");
  EXPECT_EQ(limits(1, ClearOf(0.13, 0)).count, 1);
  EXPECT_EQ(limits(0.9, bounded).count, 0) << "logits would have moved it";
  TieLimits moved;
  DecisionSample other;
  other.first_margin = 0.43, other.second_margin = 0.31;
  for (int i = 0; i < 20; ++i) moved.Add(DecisionSample());
  moved.Add(other);
  moved.Add(bounded);
  EXPECT_EQ(moved.DoubtfulClear().count, 1) << "as one of them did";
}

DecisionSample BoxTie(int64_t matched, int64_t lost, int64_t invented) {
  DecisionSample tie = TieOf(0.1, 0.2);
  tie.by_noise = true;
  tie.boxes = BoxCounts{matched, lost, invented, 0, 0};
  return tie;
}

TEST(TieLimits, NoiseInventsAsManyBoxesAsItLoses) {
  const auto clear = [](int64_t matched, int64_t lost, int64_t invented) {
    const DecisionSample tie = BoxTie(matched, lost, invented);
    TieLimits limits;
    limits.Add(tie);
    limits.Add(tie);
    limits.Add(ClearOf(0.01, 0));
    EXPECT_EQ(limits.IsClearByRun(tie), limits.clear_by_run() == 2);
    EXPECT_EQ(limits.DoubtfulClear().count == 0, limits.clear_by_run() == 2);
    EXPECT_EQ(limits.Doubtful(false).count, 2 - limits.clear_by_run());
    return limits.clear_by_run();
  };
  EXPECT_EQ(clear(100, 20, 0), 2);
  EXPECT_EQ(clear(100, 0, 20), 2);
  EXPECT_EQ(clear(100, 9, 0), 0) << "chance: p is 8e-6";
  EXPECT_EQ(clear(100, 200, 180), 0);
  EXPECT_EQ(clear(1000, 20, 0), 0) << "rounding may be biased by as much";
}

TEST(TieLimits, NoiseIsThatOfTheRun) {
  DecisionSample tie = TieOf(0.1, 0.2);
  tie.by_noise = true;
  const auto clear = [&](int count, double move, double margin) {
    TieLimits limits;
    for (int i = 0; i < count; ++i) {
      DecisionSample sample;
      sample.first_margin = margin;
      sample.second_margin = margin + (i == 0 ? move : 0);
      limits.Add(sample);
    }
    limits.Add(tie);
    EXPECT_EQ(limits.IsClearByRun(tie), limits.clear_by_run() == 1);
    return limits.clear_by_run() == 1;
  };
  EXPECT_TRUE(clear(30, 0, 2)) << "the others are equal";
  EXPECT_TRUE(clear(30, 0.01, 2));
  EXPECT_FALSE(clear(30, 0.03, 2)) << "one of them moves by as much";
  EXPECT_FALSE(clear(29, 0, 2)) << "too few say so";
  EXPECT_FALSE(clear(30, 0, 0.999)) << "of a softmax that is sure";
  tie.over_bound = true;
  EXPECT_FALSE(clear(30, 0, 2)) << "two steps";
}

TEST(TieLimits, AMarginOfZeroIsHeldAgainstTheCandidates) {
  DecisionSample tie = TieOf(0, 0.2);
  TieLimits limits = Evenly(100);
  limits.Add(tie);
  EXPECT_EQ(limits.Doubtful(true).count, 0) << "a step";
  tie.over_bound = true;
  limits.Add(tie);
  tie.over_bound = false;
  tie.by_noise = true;
  limits.Add(tie);
  EXPECT_EQ(limits.Doubtful(true).count, 2);
  // Clear by the candidate's margin, beside margins that move by 0.01.
  TieLimits moved = WithMoves(0.01, 100);
  const int64_t before = moved.DoubtfulClear().count;
  DecisionSample clear = ClearOf(0, 0);
  clear.second_margin = 0.3;
  moved.Add(clear);
  EXPECT_EQ(moved.near_by_moves(), 1) << "the first of WithMoves()";
  EXPECT_EQ(moved.DoubtfulClear().count, before);
  clear.second_margin = 0.01;
  moved.Add(clear);
  EXPECT_EQ(moved.near_by_moves(), 2);
}

TEST(TieLimits, WithoutNoiseInASampleMarginsOfOthersHaveIt) {
  const TieLimits some = WithMoves(0.002, 100);
  EXPECT_EQ(some.DoubtfulClear().count, 1);
  EXPECT_EQ(some.DoubtfulClear().by, "within four times the noise of the margins");
  EXPECT_EQ(some.near_by_moves(), 0);
  const TieLimits more = WithMoves(0.01, 100);
  EXPECT_EQ(more.near_by_moves(), 1);
  EXPECT_TRUE(more.IsNearByMoves(ClearOf(0.01, 0)));
  EXPECT_FALSE(more.IsNearByMoves(ClearOf(0.3, 0)));
  EXPECT_EQ(more.Doubtful(true).count, 1);
  EXPECT_EQ(more.Doubtful(true).by, "by the noise of the margins");
  EXPECT_EQ(more.DoubtfulClear().count, 0) << "the other is too far, and the near one no more";
  EXPECT_EQ(WithMoves(0.2, 100).near_by_moves(), 2);
  EXPECT_EQ(WithMoves(0, 100).DoubtfulClear().count, 0) << "the others are equal";
  TieLimits far = WithMoves(0.01, 100);
  far.Add(ClearOf(0.1, 0.001));
  EXPECT_EQ(far.DoubtfulClear().count, 1) << "as near to the noise of the run";
  far.Add(ClearOf(0.2, 0.001));
  EXPECT_EQ(far.DoubtfulClear().count, 1);
  // Of saturated probabilities, which differ by less than any rounding of those that decided.
  far.Add(ClearOf(0.01, 1e-20));
  EXPECT_EQ(far.near_by_moves(), 2);
  DecisionSample bounded = ClearOf(0.01, 0);
  bounded.by_noise = false;
  bounded.over_bound = true;
  far.Add(bounded);
  EXPECT_EQ(far.near_by_moves(), 2) << "a bound says that it is clear";
  EXPECT_EQ(far.DoubtfulClear().count, 2);
  EXPECT_EQ(WithMoves(0, 0).near_by_moves(), 0);
  EXPECT_EQ(WithMoves(0, 0).DoubtfulClear().count, 2);
  EXPECT_EQ(WithMoves(0, 0).DoubtfulClear().by, "where no noise is known");
}

// `still` samples whose margins are equal on both sides, and others whose margins move by so much.
TieLimits WithSteps(int still, const std::vector<double>& moves) {
  TieLimits limits;
  for (int i = 0; i < still; ++i) {
    DecisionSample sample;
    sample.first_margin = sample.second_margin = 0.5;
    limits.Add(sample);
  }
  for (const double move : moves) {
    DecisionSample sample;
    sample.first_margin = 0.5;
    sample.second_margin = 0.5 + move;
    limits.Add(sample);
  }
  return limits;
}

TEST(TieLimits, MostMarginsOnAGridDoNotMove) {
  const std::vector<double> steps = {0.01, -0.01, 0.01, 0.02, -0.01, 0.01, 0.01, -0.02, 1e-9};
  TieLimits grid = WithSteps(100, steps);
  grid.Add(ClearOf(0.01, 0));
  grid.Add(ClearOf(0.02, 0));
  grid.Add(ClearOf(0.03, 0));
  EXPECT_EQ(grid.near_by_moves(), 2) << "each side may be off by a step";
  EXPECT_EQ(grid.DoubtfulClear().count, 0) << "three steps are too far";
  grid.Add(ClearOf(0.02, 0.001));
  EXPECT_EQ(grid.DoubtfulClear().count, 1);
  // Margins of a wrong network move by more, and so do those of no grid.
  for (const double odd : {0.05, 0.015, 1e-3}) {
    std::vector<double> moves = steps;
    moves.push_back(odd);
    TieLimits wrong = WithSteps(100, moves);
    wrong.Add(ClearOf(0.01, 0));
    EXPECT_EQ(wrong.near_by_moves(), 0) << odd;
    EXPECT_EQ(wrong.DoubtfulClear().count, 0) << odd;
  }
  TieLimits few = WithSteps(100, {0.01, 0.01, 0.01});
  few.Add(ClearOf(0.01, 0));
  EXPECT_EQ(few.near_by_moves(), 0);
}

}  // namespace
}  // namespace vernier
