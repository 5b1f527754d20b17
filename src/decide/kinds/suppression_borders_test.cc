// Boxes that one side alone keeps, since an IoU or two scores crossed a border of suppression.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "decide/kinds/decision.h"

namespace vernier {
namespace {

// Six columns of each box.
DecisionSample Compared(const std::vector<float>& a, const std::vector<float>& b,
                        std::optional<double> near_tie = {},
                        const char* kind = "boxes:xyxy,score,class") {
  const auto tensor = [](const std::vector<float>& values) {
    return *Tensor::Copy(DType::kFloat32, {1, static_cast<int64_t>(values.size() / 6), 6},
                         std::as_bytes(std::span(values)));
  };
  Result<std::vector<DecisionSample>> samples =
      Decide(*ParseDecision(kind), tensor(a), tensor(b), {}, near_tie);
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

// Of a head with two classes: eight boxes far from all others, whose scores differ by `noise`
// between the sides, and `more`: places along x, and scores of both classes.
struct HeadBox {
  float x, first, second;
  float y = 100;
};

std::vector<float> Head(float noise, const std::vector<HeadBox>& more) {
  std::vector<float> boxes;
  const auto add = [&](std::initializer_list<float> values) {
    boxes.insert(boxes.end(), values.begin(), values.end());
  };
  for (int i = 0; i < 8; ++i) {
    const auto at = static_cast<float>(i);
    add({300 + 60 * at, 300, 20, 20, 0.503F + 0.031F * at + (i % 2 == 0 ? noise : -noise), 0.1F});
  }
  for (const HeadBox& box : more) add({box.x, box.y, 100, 100, box.first, box.second});
  return boxes;
}

DecisionSample OfHeads(const std::vector<HeadBox>& a, const std::vector<HeadBox>& b,
                       std::optional<double> near_tie = {}) {
  return Compared(Head(0, a), Head(1e-4F, b), near_tie, "boxes:cxcywh,scores");
}

TEST(SuppressionBorders, TheOwnScoreOfARowDecides) {
  // X, which S suppresses, lies under Y, whose score only the candidate is sure of.
  const HeadBox s = {1000, 0.66F, 0.1F}, x = {1033.3F, 0.5F, 0.1F};
  for (const bool with : {true, false}) {
    std::vector<HeadBox> a = {s, {1060, 0.01F, 0.01F}}, b = {s, {1060, 0.95F, 0.01F}};
    if (with) a.push_back(x), b.push_back(x);
    for (const std::optional<double> near_tie : {std::optional<double>(), std::optional(0.005)}) {
      const DecisionSample invented = OfHeads(a, b, near_tie), lost = OfHeads(b, a, near_tie);
      EXPECT_EQ(invented.flip, Flip::kClear) << with;
      EXPECT_NEAR(invented.first_margin, 0.24, 1e-6);
      EXPECT_NEAR(invented.second_margin, 0.70, 1e-6);
      EXPECT_EQ(lost.flip, Flip::kClear) << with;
      EXPECT_NEAR(lost.first_margin, 0.70, 1e-6);
      EXPECT_NEAR(lost.second_margin, 0.24, 1e-6);
    }
  }
  // On the border on the reference alone: the candidate's score is far below it.
  EXPECT_EQ(OfHeads({s, {1060, 0.25F, 0}}, {s, {1060, 0.01F, 0}}).flip, Flip::kClear);
  EXPECT_EQ(OfHeads({s, {1060, 0.2501F, 0}}, {s, {1060, 0.01F, 0}}).flip, Flip::kClear);
}

TEST(SuppressionBorders, AScoreThatRoundingMovesIsANearTieWhateverIsUnderIt) {
  const HeadBox s = {1000, 0.66F, 0.1F}, x = {1015, 0.5F, 0.1F};
  const std::vector<HeadBox> a = {s, x, {1045, 0.24997F, 0.1F}}, b = {s, x, {1045, 0.25F, 0.1F}};
  const DecisionSample invented = OfHeads(a, b), lost = OfHeads(b, a);
  EXPECT_EQ(invented.detail.substr(0, 22), "9 matched, 1 invented,");
  EXPECT_EQ(invented.flip, Flip::kNearTie);
  EXPECT_NEAR(invented.first_margin, 3e-5, 1e-6);
  EXPECT_EQ(lost.flip, Flip::kNearTie);
}

TEST(SuppressionBorders, AClassThatRoundingTurnsIsANearTieWhateverSuppressesIt) {
  const std::vector<HeadBox> around = {{1000, 0.02F, 0.94F}, {1020, 0.02F, 0.70F}};
  std::vector<HeadBox> a = around, b = around;
  a.insert(a.end(), {{1042.5F, 0.83008F, 0.8303F}, {1042.5F, 0.99F, 0.02F, 117.3F}});
  b.insert(b.end(), {{1042.5F, 0.83008F, 0.83008F}, {1042.5F, 0.99F, 0.02F, 117.3F}});
  const DecisionSample lost = OfHeads(a, b), invented = OfHeads(b, a);
  EXPECT_EQ(lost.detail.substr(0, 19), "10 matched, 1 lost,");
  EXPECT_EQ(lost.flip, Flip::kNearTie);
  EXPECT_NEAR(lost.first_margin, 2.2e-4, 1e-5);
  EXPECT_EQ(invented.flip, Flip::kNearTie);
  b[2].second = 0.5F;
  EXPECT_EQ(OfHeads(a, b).flip, Flip::kClear) << "the candidate's class is far from the other";
}

TEST(SuppressionBorders, WhatNoLongerSuppressesExplainsWhatAppears) {
  // S is next to the border of its score; where it goes, Y appears.
  const std::vector<HeadBox> a = {{1000, 0.2501F, 0}, {1010, 0.2499F, 0}, {500, 0.6F, 0}};
  std::vector<HeadBox> near = a;
  near[0].first = 0.24995F, near[1].first = 0.2502F;
  EXPECT_EQ(OfHeads(a, near).flip, Flip::kNone) << "they match";
  const std::vector<HeadBox> turned = {{1000, 0.7F, 0.6999F}, {1010, 0.6F, 0}};
  std::vector<HeadBox> other = turned;
  other[0].first = 0.6998F;
  const DecisionSample invented = OfHeads(turned, other);
  EXPECT_EQ(invented.flip, Flip::kNearTie) << invented.detail << invented.first_margin;
  other[0].first = 0.3F;
  EXPECT_EQ(OfHeads(turned, other).flip, Flip::kClear);
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
