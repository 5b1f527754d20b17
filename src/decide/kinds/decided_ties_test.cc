// What few other values and the steps of an output's own numbers say of a flip.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decide/kinds/decided_for_test.h"
#include "decide/kinds/value_grid.h"

namespace vernier {
namespace {

// Rows of four classes, of which the first is a flip by 0.04 between two logits, and its other two
// classes do not differ; noise moves the logits of all rows behind it.
Tensor RowsOfFour(double noise, bool flips) {
  std::vector<float> values;
  for (int row = 0; row < 20; ++row) {
    const double sign = row % 2 == 0 ? 1 : -1, moved = flips ? noise * sign : 0;
    const std::vector<double> logits =
        row == 0 ? std::vector<double>{1, flips ? 1.01 : 0.96, 0.5, 0}
                 : std::vector<double>{2 + moved, 1 - moved, 0.5 + moved, 0 - moved};
    const Tensor own = Probabilities(logits);
    values.insert(values.end(), own.As<float>().begin(), own.As<float>().end());
  }
  return FloatTensor({20, 4}, values);
}

TEST(DecideTies, TheBatchExplainsFlipsBesideFewOtherValues) {
  const auto far = Decided("top1", RowsOfFour(1e-4, false), RowsOfFour(1e-4, true));
  EXPECT_EQ(far[0].flip, Flip::kClear);
  EXPECT_FALSE(far[0].over_bound);
  const auto near = Decided("top1", RowsOfFour(0.01, false), RowsOfFour(0.01, true));
  EXPECT_EQ(near[0].flip, Flip::kClear);
  EXPECT_EQ(near[0].near_tie, far[0].near_tie);
  EXPECT_TRUE(near[0].over_bound);
}

TEST(DecideTies, AStepOfTheOutputsNumbersIsANearTie) {
  const float up = std::nextafter(1.0F, 2.0F), far = 1 + 4 * (up - 1);
  const std::vector<float> others(8, 0.25F);
  const auto row = [&](float x, float y) {
    std::vector<float> values = {x, y};
    values.insert(values.end(), others.begin(), others.end());
    return FloatTensor({1, 10}, values);
  };
  EXPECT_EQ(Decided("top1", row(up, 1), row(1, up))[0].flip, Flip::kNearTie);
  EXPECT_TRUE(Decided("top1", row(up, 1), row(1, up))[0].over_bound) << "two steps would do it";
  EXPECT_EQ(Decided("top1", row(far, 1), row(1, up))[0].flip, Flip::kClear);
  const auto bytes = [](std::vector<uint8_t> values) {
    return *Tensor::Copy(DType::kUint8, {1, 10}, std::as_bytes(std::span(values)));
  };
  const Tensor flipped = bytes({200, 201, 7, 7, 7, 7, 7, 7, 7, 7});
  EXPECT_EQ(Decided("y:top1", bytes({202, 200, 7, 7, 7, 7, 7, 7, 7, 7}), flipped)[0].flip,
            Flip::kNearTie);
  EXPECT_EQ(Decided("y:top1", bytes({203, 200, 7, 7, 7, 7, 7, 7, 7, 7}), flipped)[0].flip,
            Flip::kClear);
}

// Numbers of 8 bits, as floats, or votes of `most` voters.
Tensor OnGrid(int most, bool flips) {
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) {
    const int best = most - i % (most / 2), second = best - 1;
    for (const int level :
         {flips && i == 7 ? second : best, flips && i == 7 ? best : second, 0, 0}) {
      values.push_back(static_cast<float>(level) / static_cast<float>(most));
    }
  }
  return FloatTensor({300, 4}, values);
}

TEST(DecideTies, AStepOfAGridIsANearTie) {
  EXPECT_EQ(Decided("top1", OnGrid(255, false), OnGrid(255, true))[7].flip, Flip::kNearTie);
  EXPECT_EQ(Decided("top1", OnGrid(20, false), OnGrid(20, true))[7].flip, Flip::kClear);
}

// A row of ten in steps of 1/255, or of `scale`.
Tensor FewOnGrid(const std::vector<int>& levels, double scale = 1.0 / 255) {
  std::vector<float> values;
  for (const int level : levels) values.push_back(static_cast<float>(level * scale));
  return FloatTensor({1, static_cast<int64_t>(levels.size())}, values);
}

// Few values show a grid that both sides share: numbers without one have no common step.
TEST(DecideTies, AStepOfAGridIsANearTieInFewValues) {
  const std::vector<int> right = {121, 120, 8, 3, 1, 1, 1, 0, 0, 0};
  const auto flip = [&](const Tensor& candidate) {
    return Decided("top1", FewOnGrid(right), candidate)[0].flip;
  };
  EXPECT_EQ(flip(FewOnGrid({120, 121, 8, 3, 1, 1, 1, 0, 0, 0})), Flip::kNearTie);
  EXPECT_EQ(Decided("top1", FewOnGrid({122, 120, 8, 3, 1, 1, 1, 0, 0, 0}),
                    FewOnGrid({121, 122, 8, 3, 1, 1, 1, 0, 0, 0}))[0]
                .flip,
            Flip::kNearTie);
  EXPECT_EQ(Decided("top1", FewOnGrid({123, 120, 8, 3, 1, 1, 1, 0, 0, 0}),
                    FewOnGrid({121, 122, 8, 3, 1, 1, 1, 0, 0, 0}))[0]
                .flip,
            Flip::kClear)
      << "three steps";
  EXPECT_EQ(flip(FewOnGrid({120, 121, 8, 3, 1, 1, 1, 0, 0, 0}, 1.0 / 254.7)), Flip::kClear)
      << "another scale";
  // Votes of 20 are no grid of 8 bits.
  EXPECT_EQ(Decided("top1", FewOnGrid({9, 8, 2, 1, 0, 0, 0, 0, 0, 0}, 0.05),
                    FewOnGrid({8, 9, 2, 1, 0, 0, 0, 0, 0, 0}, 0.05))[0]
                .flip,
            Flip::kClear);
}

TEST(DecideTies, FewValuesHaveACommonStep) {
  EXPECT_NEAR(CommonStep({0.1F, 12.8F, 6.3F, 0, -0.7F}), 0.1, 1e-8);
  EXPECT_EQ(CommonStep({0.1F, 12.8F, 6.35F, 0, -0.7F}), 0) << "of 0.05, more than 257 steps";
  EXPECT_EQ(CommonStep({3, 6, 90}), 0) << "too few";
  EXPECT_EQ(CommonStep({1, 2, 3, 4, 5}), 0) << "too few steps";
  EXPECT_EQ(CommonStep({1, 2, 3, 4, 5}, {3, 9}), 1);
  EXPECT_EQ(CommonStep({0.1234567F, 0.7654321F, 0.3141592F, 0.5F, 0.9F}), 0);
  EXPECT_EQ(CommonStep({kNan, INFINITY, 1, 2, 3, 64}), 1);
  EXPECT_EQ(CommonStep({}), 0);
}

// Thirty boxes on steps of two pixels and 1/255, of which the score of the first passes 0.25.
TEST(DecideTies, AStepOfTheGridOfScoresIsANearTie) {
  const auto boxes = [](int first) {
    std::vector<float> values;
    for (int i = 0; i < 30; ++i) {
      const int score = i == 0 ? first : 70 + 6 * i;
      for (const int number : {100 + 20 * i, 300, 16, 22}) {
        values.push_back(static_cast<float>(number));
      }
      values.push_back(static_cast<float>(score / 255.0));
      values.push_back(0);
    }
    return FloatTensor({1, 30, 6}, values);
  };
  EXPECT_EQ(Decided("boxes:cxcywh,score,class", boxes(64), boxes(63))[0].flip, Flip::kNearTie);
  EXPECT_EQ(Decided("boxes:cxcywh,score,class", boxes(70), boxes(63))[0].flip, Flip::kClear);
}

// Eight positions of sigmoids: two classes that are sure, and forty next to 0; every logit is off
// by `noise` on the other side, and the classes of the first position change places.
Tensor Sigmoids(double noise, bool flips) {
  std::vector<float> values;
  const auto add = [&](double logit, int place) {
    const double moved = flips ? logit + (place % 2 == 0 ? noise : -noise) : logit;
    values.push_back(static_cast<float>(1 / (1 + std::exp(-moved))));
  };
  for (int position = 0; position < 8; ++position) {
    const double apart = position == 0 ? 0.15 : 0.6;
    add(apart, position == 0 ? 1 : 0);
    add(0, position == 0 ? 0 : 1);
    for (int i = 0; i < 40; ++i) add(-6.5, i);
  }
  return FloatTensor({1, 8, 42}, values);
}

TEST(DecideTies, TheLogitsOfSigmoidsExplainFlips) {
  const auto near = Decided("argmax=-1", Sigmoids(0.1, false), Sigmoids(0.1, true));
  EXPECT_EQ(near[0].flip, Flip::kClear);
  EXPECT_TRUE(near[0].over_bound);
}

// A row whose second and third class change places, beside one that is sure and many next to 0.
TEST(DecideTies, TheLogitsOfSigmoidsExplainSets) {
  const auto row = [](double noise, bool flips, double apart) {
    std::vector<float> values;
    const auto add = [&](double logit) {
      values.push_back(static_cast<float>(1 / (1 + std::exp(-logit))));
    };
    add(3);
    add(flips ? -apart : apart);
    add(0);
    for (int i = 0; i < 40; ++i) add(-6.5 + (flips ? (i % 2 == 0 ? noise : -noise) : 0));
    return FloatTensor({1, 43}, values);
  };
  const auto decided = [&](const char* kind, double apart) {
    return Decided(kind, row(0.1, false, apart), row(0.1, true, apart))[0];
  };
  for (const char* kind : {"top2", "rank=3"}) {
    EXPECT_EQ(decided(kind, 0.1).flip, Flip::kClear) << kind;
    EXPECT_TRUE(decided(kind, 0.1).over_bound) << kind;
    EXPECT_FALSE(decided(kind, 3).over_bound) << kind;
  }
}

// A reference that decides between equal values says nothing of how far the candidate moved.
TEST(DecideTies, AMarginOfZeroExcusesNoLargeMove) {
  const std::vector<float> tied = {4.1F, 4.1F, 1.1F, 0.1F, -1, 2, 3, -2, 1, 0};
  const auto flip = [&](float second, float others) {
    std::vector<float> moved = tied;
    moved[1] += second;
    for (size_t i = 2; i < moved.size(); ++i) moved[i] += i % 2 == 0 ? others : -others;
    return Decided("top1", FloatTensor({1, 10}, tied), FloatTensor({1, 10}, moved))[0];
  };
  EXPECT_EQ(flip(5, 0).flip, Flip::kClear);
  EXPECT_EQ(flip(5, 0.01F).flip, Flip::kClear);
  EXPECT_FALSE(flip(5, 0.01F).over_bound) << "nor does the noise";
  EXPECT_EQ(flip(0.02F, 0.01F).flip, Flip::kNearTie);
  EXPECT_TRUE(flip(0.02F, 0.01F).over_bound) << "by the noise alone";
  EXPECT_EQ(flip(4 * 0x1p-23F, 0).flip, Flip::kNearTie) << "a step of float32";
  EXPECT_FALSE(flip(4 * 0x1p-23F, 0).over_bound);
  // A ReLU that is forgotten, and values that are 0.5 and less on the other side.
  const Tensor relu = FloatTensor({1, 4}, {0, 1, 2, 0}), none = FloatTensor({1, 4}, {-3, 1, 2, -1});
  EXPECT_EQ(Decided("sign", relu, none)[0].flip, Flip::kClear);
  const auto bound = [&](double atol) {
    return Decide(*ParseDecision("sign"), relu, none, AllowedDifference{atol, 0}, {})->at(0).flip;
  };
  EXPECT_EQ(bound(1e-6), Flip::kClear);
  EXPECT_EQ(bound(2), Flip::kNearTie);
  const Tensor maps = FloatTensor({1, 3, 4}, {0, 0, 0, 9, 0, 0, 9, 0, 0, 0, 0, 0});
  const Tensor wrong = FloatTensor({1, 3, 4}, {0, 0, 0, 9, 0, 0, 9, 0, 5, 5, 0, 0});
  EXPECT_EQ(Decided("argmax", maps, wrong)[0].flip, Flip::kClear);
}

TEST(DecideTies, AStepFromATieOfAGridIsANearTie) {
  const auto bytes = [](const std::vector<uint8_t>& values) {
    return *Tensor::Copy(DType::kUint8, {1, 10}, std::as_bytes(std::span(values)));
  };
  const Tensor tied = bytes({200, 200, 7, 7, 7, 7, 7, 7, 7, 7});
  const auto near = Decided("y:top1", tied, bytes({200, 202, 7, 7, 7, 7, 7, 7, 7, 7}))[0];
  EXPECT_EQ(near.flip, Flip::kNearTie);
  EXPECT_FALSE(near.over_bound);
  EXPECT_EQ(Decided("y:top1", tied, bytes({200, 203, 7, 7, 7, 7, 7, 7, 7, 7}))[0].flip,
            Flip::kClear);
  // Of float16, where rounding made the tie.
  std::vector<float> exact(10, 0.25F), rounded = exact;
  exact[0] = 18.001F, exact[1] = 18.004F, rounded[0] = rounded[1] = 18;
  EXPECT_EQ(Decided("top1", FloatTensor({1, 10}, rounded), FloatTensor({1, 10}, exact))[0].flip,
            Flip::kNearTie);
}

TEST(DecideTies, TheCandidatesMarginIsNotFarBeyondTheLimit) {
  EXPECT_EQ(FlipByMargin(0.1, 0.1, 0.2), Flip::kNearTie);
  EXPECT_EQ(FlipByMargin(0.1, 0.8, 0.2), Flip::kNearTie);
  EXPECT_EQ(FlipByMargin(0.1, 0.9, 0.2), Flip::kClear);
  EXPECT_EQ(FlipByMargin(0.2, 0, 0.2), Flip::kClear);
  EXPECT_EQ(FlipByMargin(0, 0.1, 0), Flip::kClear);
  EXPECT_EQ(FlipByMargin(0, 0, 0), Flip::kNearTie);
  EXPECT_EQ(FlipByMargin(0, 0.7, 0.2), Flip::kNearTie);
  EXPECT_EQ(FlipByMargin(NAN, 0.1, 0.2), Flip::kClear);
  const Tensor a = FloatTensor({1, 3}, {1, 0.99F, 0}), b = FloatTensor({1, 3}, {0, 9, 0});
  EXPECT_EQ(Decided("top1", a, b, 0.05)[0].flip, Flip::kClear);
  EXPECT_EQ(Decided("top1", a, b, 3)[0].flip, Flip::kNearTie);
}

TEST(DecideTies, SomeOutputsHaveNoValueBelowZero) {
  EXPECT_TRUE(HasNegative(FloatTensor({3}, {1, -1, 0})));
  EXPECT_FALSE(HasNegative(FloatTensor({3}, {1, kNan, 0})));
}

}  // namespace
}  // namespace vernier
