// What few other values and the steps of an output's own numbers say of a flip.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decide/decided_for_test.h"

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

TEST(DecideTies, SomeOutputsHaveNoValueBelowZero) {
  EXPECT_TRUE(HasNegative(FloatTensor({3}, {1, -1, 0})));
  EXPECT_FALSE(HasNegative(FloatTensor({3}, {1, kNan, 0})));
}

}  // namespace
}  // namespace vernier
