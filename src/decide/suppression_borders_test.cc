// Boxes that one side alone keeps, since an IoU or two scores crossed a border of suppression.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "decide/decision.h"

namespace vernier {
namespace {

// Corners, score and class of each box.
DecisionSample Compared(const std::vector<float>& a, const std::vector<float>& b,
                        std::optional<double> near_tie = {}) {
  const auto tensor = [](const std::vector<float>& values) {
    return *Tensor::Copy(DType::kFloat32, {1, static_cast<int64_t>(values.size() / 6), 6},
                         std::as_bytes(std::span(values)));
  };
  Result<std::vector<DecisionSample>> samples =
      Decide(*ParseDecision("boxes:xyxy,score,class"), tensor(a), tensor(b), {}, near_tie);
  EXPECT_TRUE(samples.ok()) << samples.status().message();
  return samples.ok() ? samples->front() : DecisionSample();
}

// Two boxes of one class that overlap by an IoU of about a half, and one far from them, whose
// corners differ by `noise` between the sides.
std::vector<float> Pair(float right, float noise, float second_score = 0.8F) {
  return {0,     0,   100,          100,         0.9F,        1,           33.4F,       0,
          right, 100, second_score, 1,           300 + noise, 300 - noise, 400 - noise, 400 + noise,
          0.7F,  2,   500 + noise,  500 + noise, 600 + noise, 600 - noise, 0.6F,        2};
}

TEST(SuppressionBorders, AnIouNextToTheBorderIsANearTie) {
  const float at_half = 133.2F;  // 66.6 of 133.2
  const DecisionSample lost = Compared(Pair(at_half + 0.1F, 0), Pair(at_half - 0.1F, 0.1F));
  EXPECT_EQ(lost.detail.substr(0, 17), "3 matched, 1 lost");
  EXPECT_EQ(lost.flip, Flip::kNearTie);
  EXPECT_LT(lost.first_margin, 1e-3);  // of an IoU, not of the score of 0.8
  EXPECT_LT(lost.second_margin, 1e-3);
  EXPECT_GT(lost.near_tie, lost.first_margin);
  const DecisionSample invented = Compared(Pair(at_half - 0.1F, 0), Pair(at_half + 0.1F, 0.1F));
  EXPECT_EQ(invented.detail.substr(0, 21), "3 matched, 1 invented");
  EXPECT_EQ(invented.flip, Flip::kNearTie);
  EXPECT_LT(invented.first_margin, 1e-3);
}

TEST(SuppressionBorders, AnIouFarFromTheBorderIsClear) {
  // What moved is this box alone.
  const DecisionSample lost = Compared(Pair(150, 0), Pair(120, 0.1F));
  EXPECT_EQ(lost.flip, Flip::kClear);
  EXPECT_NEAR(lost.first_margin, 0.5 - 66.6 / 150, 1e-4);
  EXPECT_EQ(Compared(Pair(150, 0), Pair(120, 0.1F), 0.2).flip, Flip::kNearTie);
}

TEST(SuppressionBorders, ABoxThatTheOtherSideDoesNotSuppressKeepsItsScore) {
  const DecisionSample lost = Compared(Pair(150, 0), Pair(150, 0.1F, 0.1F));
  EXPECT_EQ(lost.flip, Flip::kClear);
  EXPECT_NEAR(lost.first_margin, 0.8 - 0.25, 1e-6);
}

// 25 boxes around each of four objects, rounded to `bits` bits of the fraction.
std::vector<float> Crowd(std::mt19937_64& random, int bits, std::vector<float>& rounded) {
  std::uniform_real_distribution<double> unit;
  std::normal_distribution<double> normal;
  std::vector<float> boxes;
  for (int object = 0; object < 4; ++object) {
    const double x = 150 + 350 * unit(random), y = 150 + 350 * unit(random);
    const double size = 40 + 80 * unit(random);
    for (int i = 0; i < 25; ++i) {
      const double left = x + 0.15 * size * normal(random), top = y + 0.15 * size * normal(random);
      for (const double value : {left, top, left + size, top + size}) {
        boxes.push_back(static_cast<float>(value));
      }
      boxes.push_back(static_cast<float>(0.3 + 0.6 * unit(random)));
      boxes.push_back(static_cast<float>(object % 2));
    }
  }
  rounded.clear();
  for (const float value : boxes) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    const double steps = std::nearbyint(std::ldexp(fraction, bits + 1));
    rounded.push_back(static_cast<float>(std::ldexp(steps, exponent - bits - 1)));
  }
  return boxes;
}

// What rounding to float16 or bfloat16 does to detections.
TEST(SuppressionBorders, RoundingMakesFewClearFlips) {
  std::mt19937_64 random(25);
  for (const int bits : {10, 7}) {
    int flips = 0, clear = 0, far = 0;
    for (int i = 0; i < 400; ++i) {
      std::vector<float> rounded;
      const std::vector<float> boxes = Crowd(random, bits, rounded);
      const DecisionSample sample =
          i % 2 == 0 ? Compared(boxes, rounded) : Compared(rounded, boxes);
      flips += sample.flip != Flip::kNone ? 1 : 0;
      clear += sample.flip == Flip::kClear ? 1 : 0;
      far += sample.flip == Flip::kClear && sample.first_margin > 4 * sample.near_tie ? 1 : 0;
    }
    EXPECT_GT(flips, 20) << bits;
    EXPECT_LE(clear, 0.05 * flips) << bits;
    EXPECT_EQ(far, 0) << bits;
  }
}

// Wrong in the same way everywhere: differences of matched corners cannot tell it from noise.
TEST(SuppressionBorders, BoxesThatAreAllTooWideMakeClearFlips) {
  std::mt19937_64 random(26);
  int flips = 0, clear = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<float> wide;
    const std::vector<float> boxes = Crowd(random, 20, wide);
    for (size_t box = 0; box < wide.size(); box += 6) {
      const float more = 0.1F * (wide[box + 2] - wide[box]);
      wide[box] -= more;
      wide[box + 2] += more;
    }
    const DecisionSample sample = Compared(boxes, wide);
    flips += sample.flip != Flip::kNone ? 1 : 0;
    clear += sample.flip == Flip::kClear ? 1 : 0;
  }
  EXPECT_GT(clear, flips / 3);
  EXPECT_GT(flips, 100);
}

}  // namespace
}  // namespace vernier
