#include "decide/kinds/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "decide/kinds/decided_for_test.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Decide, TiesGoToTheLowestIndexAndNanIsInvalid) {
  const auto samples = Decided("top1", FloatTensor({3, 3}, {1, 2, 2, 1, kNan, 0, 5, 1, 0}),
                               FloatTensor({3, 3}, {1, 2, 2, 1, kNan, 0, 1, 5, 0}));
  ASSERT_THAT(samples, SizeIs(3));
  EXPECT_EQ(samples[0].first, "1");
  EXPECT_EQ(samples[0].flip, Flip::kNone);
  EXPECT_EQ(samples[0].first_margin, 0);
  EXPECT_EQ(samples[1].flip, Flip::kInvalid);
  EXPECT_EQ(samples[1].first, "invalid");
  EXPECT_EQ(samples[2].flip, Flip::kClear);
  EXPECT_EQ(samples[2].first_margin, 4);
  EXPECT_EQ(samples[2].second_margin, 4);
}

TEST(Decide, AReferenceOfEqualValuesAloneIsMarked) {
  const Tensor tied = FloatTensor({2, 2, 2}, {5, 5, 3, 3, 5, 5, 3, 4});
  for (const char* const words : {"argmax=2", "ctc"}) {
    const auto samples = Decided(words, tied, tied);
    ASSERT_THAT(samples, SizeIs(2)) << words;
    EXPECT_TRUE(samples[0].all_above) << words;
    EXPECT_FALSE(samples[1].all_above) << words;
    EXPECT_EQ(samples[1].first_margin, 0) << words;
  }
  const Tensor rows = FloatTensor({3, 4}, {2, 2, 2, 2, 2, 2, 2, 1, 9, 9, 2, 1});
  for (const auto& [words, second, third] :
       {std::tuple("rank=1", true, true), {"rank=2", true, false}, {"rank=4", false, false}}) {
    const auto samples = Decided(words, rows, rows);
    EXPECT_TRUE(samples[0].all_above) << words;
    EXPECT_EQ(samples[1].all_above, second) << words;
    EXPECT_EQ(samples[2].all_above, third) << words;
  }
}

TEST(Decide, AMapOfOnePositionHasTheNoiseOfItsOtherClasses) {
  const Tensor a = FloatTensor({1, 6}, {1, 5, 4.99F, 2, 3, 0});
  const Tensor b = FloatTensor({1, 6}, {1.01F, 4.98F, 5, 2.02F, 2.99F, 0.01F});
  const auto samples = Decided("argmax", a, b);
  EXPECT_EQ(samples[0].flip, Flip::kNearTie);
  EXPECT_EQ(samples[0].near_tie, Decided("top1", a, b)[0].near_tie);
}

TEST(Decide, AFlippedSetIsAsClearAsWhatWasOvercome) {
  // The third is near the second, but it is the first that the candidate does not have.
  const auto samples = Decided("top2", FloatTensor({1, 4}, {9, 2, 1.99F, 0}),
                               FloatTensor({1, 4}, {0, 2, 1.99F, 0}), 0.1);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_EQ(samples[0].first, "0 1");
  EXPECT_EQ(samples[0].second, "1 2");
  EXPECT_EQ(samples[0].flip, Flip::kClear);
  EXPECT_EQ(samples[0].similarity, 0.5);
  EXPECT_FLOAT_EQ(static_cast<float>(samples[0].first_margin), 9 - 1.99F);
}

TEST(Decide, LabelsBesideTheBorderDoNotExcuseAnother) {
  const auto samples = Decided("threshold=0.5", FloatTensor({1, 3}, {0.501F, 0.9F, 0.1F}),
                               FloatTensor({1, 3}, {0.501F, 0.1F, 0.1F}), 0.01);
  EXPECT_EQ(samples[0].flip, Flip::kClear);
  EXPECT_EQ(samples[0].first, "0 1");
  EXPECT_EQ(samples[0].second, "0");
}

TEST(Decide, ABorderIsRoundedToTheTypeOfEachSide) {
  const std::vector<double> wide = {0.7, 0.69999999, static_cast<double>(0.7F)};
  const std::vector<float> narrow = {0.7F, 0.7F, 0.7F};
  const Tensor a = FloatTensor({3}, narrow);
  const Tensor b = *Tensor::Copy(DType::kFloat64, {3}, std::as_bytes(std::span(wide)));
  const auto samples = Decided("threshold=0.7", a, b, 0);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].first + samples[0].second, "yesyes");
  EXPECT_EQ(samples[0].first_margin, 0.7 - static_cast<double>(0.7F)) << "from the limit itself";
  EXPECT_EQ(samples[0].second_margin, 0);
  EXPECT_EQ(samples[1].first + samples[1].second, "yesno");
  EXPECT_EQ(samples[2].first + samples[2].second, "yesno") << "as in NumPy, each for itself";
}

TEST(Decide, InfinitiesAreValues) {
  const auto samples = Decided("top1", FloatTensor({2, 2}, {kInfinity, 0, kInfinity, kInfinity}),
                               FloatTensor({2, 2}, {kInfinity, 0, 0, kInfinity}));
  EXPECT_EQ(samples[0].first_margin, std::numeric_limits<double>::infinity());
  EXPECT_EQ(samples[1].first_margin, 0);
  EXPECT_EQ(samples[1].flip, Flip::kClear);  // a tie of the reference alone
}

TEST(Decide, PositionsAndTexts) {
  // Two classes, one row of three positions.
  const auto pixels = Decided("argmax", FloatTensor({1, 2, 3}, {1, 0, 1, 0, 1, 0}),
                              FloatTensor({1, 2, 3}, {1, 0, 0, 0, 1, 1}), 0.0);
  EXPECT_EQ(pixels[0].first, "0:2 1:1");
  EXPECT_EQ(pixels[0].second, "0:1 1:2");
  EXPECT_DOUBLE_EQ(pixels[0].similarity, 2.0 / 3);
  EXPECT_EQ(pixels[0].detail, "1 of 3 positions, mean IoU 0.5, least 0.5 of class 0");
  // 1 1 blank 1, against 1 blank blank 1.
  const auto text = Decided("ctc", FloatTensor({4, 2}, {0, 1, 0, 1, 1, 0, 0, 1}),
                            FloatTensor({4, 2}, {0, 1, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(text[0].first, "1 1");
  EXPECT_EQ(text[0].flip, Flip::kNone);
}

TEST(Decide, MarginsAreExactWhereFloatsAreNot) {
  // 1e8 - 1 and 1e8 - 2 are one float.
  std::vector<float> values(2 * 40, 0);
  std::fill_n(values.begin(), 40, 1e8F);
  std::fill_n(values.begin() + 40, 40, 1.0F);
  values[40 + 33] = 2;
  const Tensor output = FloatTensor({1, 2, 40}, values);
  EXPECT_EQ(Decided("argmax", output, output)[0].first_margin, 1e8 - 2);
}

TEST(Decide, BorderFlipsAreThoseOfTheWholeSample) {
  constexpr size_t kValues = 10000;
  std::vector<float> a(kValues, 0.1F), b(kValues, 0.1F);
  a[5] = 0.75F;      // becomes 0.1
  b[9000] = 0.875F;  // was 0.1
  b[4096] = 0.6F;
  const auto samples =
      Decided("threshold=0.5", FloatTensor({1, kValues}, a), FloatTensor({1, kValues}, b), 0.01);
  EXPECT_EQ(samples[0].detail, "3 of 10000 values");
  EXPECT_EQ(samples[0].first, "5");
  EXPECT_EQ(samples[0].second, "4096 9000");
  EXPECT_DOUBLE_EQ(samples[0].similarity, 1 - 3.0 / kValues);
  EXPECT_FLOAT_EQ(static_cast<float>(samples[0].first_margin), 0.4F);
  EXPECT_FLOAT_EQ(static_cast<float>(samples[0].second_margin), 0.4F);
}

TEST(Decide, BoxesAreLostAndChangeTheirClass) {
  // Corners, score, class; the second of the reference is suppressed by the first.
  const std::vector<float> reference = {0,  0,  10, 10, 0.9F, 1, 0,  0,  10, 9,  0.8F, 1,
                                        20, 20, 30, 30, 0.7F, 2, 50, 50, 60, 60, 0.6F, 0};
  const std::vector<float> candidate = {0,  0,  10, 10, 0.9F, 1, 0,  0,  10, 9,  0.8F, 1,
                                        20, 20, 30, 30, 0.7F, 3, 50, 50, 60, 60, 0.2F, 0};
  const auto samples = Decided("boxes:xyxy,score,class", FloatTensor({1, 4, 6}, reference),
                               FloatTensor({1, 4, 6}, candidate));
  EXPECT_EQ(samples[0].first, "0:1 1:1 2:1");
  EXPECT_EQ(samples[0].second, "1:1 3:1");
  EXPECT_EQ(samples[0].detail, "1 matched, 1 lost, class changed of 1, mean IoU 1");
  EXPECT_EQ(samples[0].flip, Flip::kClear);
  EXPECT_DOUBLE_EQ(samples[0].similarity, 1.0 / 3);
}

TEST(Decide, WhatIsNoBoxIsInvalidAndSaysWhy) {
  const auto decided = [](float score, float label) {
    const Tensor usual = FloatTensor({1, 6}, {0, 0, 10, 10, 0.9F, 1});
    const Tensor other = FloatTensor({1, 6}, {0, 0, 10, 10, score, label});
    return Decided("boxes:xyxy,score,class", usual, other)[0];
  };
  EXPECT_EQ(decided(0.9F, 1).flip, Flip::kNone);
  const DecisionSample fraction = decided(0.9F, 1.75F);
  EXPECT_EQ(fraction.flip, Flip::kInvalid);
  EXPECT_EQ(fraction.first, "1:1");
  EXPECT_EQ(fraction.second, "invalid");
  EXPECT_EQ(fraction.detail, "box 0 has the class 1.75, and classes are whole numbers");
  EXPECT_EQ(decided(0.9F, kInfinity).flip, Flip::kInvalid);
  const DecisionSample endless = decided(kInfinity, 1);
  EXPECT_EQ(endless.flip, Flip::kInvalid);
  EXPECT_EQ(endless.detail, "box 0 has an infinite score");
  EXPECT_EQ(decided(-kInfinity, 1).second, "none");
  // What is not sure enough may be anything.
  EXPECT_EQ(decided(0.1F, 1.75F).second, "none");
}

TEST(Decide, ScoresThatAreNoProbabilitiesAreCounted) {
  const auto boxes = [](float score) {
    return FloatTensor({1, 2, 6}, {0, 0, 9, 9, score, 1, 20, 20, 29, 29, 0.9F, 1});
  };
  const auto counted = [&](const char* words, float score) {
    return Decided(words, boxes(score), boxes(0.9F))[0].scores_above_one;
  };
  EXPECT_EQ(counted("boxes:xyxy,score,class", 640), 1);
  EXPECT_EQ(counted("boxes:xyxy,score,class", 1.004F), 0) << "a step of 1/255";
}

TEST(Decide, BoxesOfNegativeSizeAreCounted) {
  const Tensor usual = FloatTensor({1, 6}, {0, 0, 10, 10, 0.9F, 1});
  const Tensor wrong = FloatTensor({1, 6}, {10, 0, 4, 10, 0.9F, 1});
  EXPECT_EQ(Decided("boxes:xyxy,score,class", usual, usual)[0].negative_boxes, 0);
  EXPECT_EQ(Decided("boxes:xyxy,score,class", usual, wrong)[0].negative_boxes, 1);
  EXPECT_EQ(Decided("boxes:xywh,score,class", usual, wrong)[0].negative_boxes, 0);
}

TEST(Decide, NumbersOfBoxesMayDiffer) {
  const auto samples = Decided("boxes:xyxy,score,class", FloatTensor({1, 6}, {0, 0, 1, 1, 0.9F, 4}),
                               FloatTensor({0, 6}, {}));
  EXPECT_EQ(samples[0].second, "none");
  EXPECT_EQ(samples[0].flip, Flip::kClear);
}

TEST(Decide, VectorsAndUnits) {
  const auto rows = Decided("embedding=0.9", FloatTensor({3, 2}, {1, 0, 1, 0, 0, 0}),
                            FloatTensor({3, 2}, {2, 0, 0, 1, 0, 0}));
  EXPECT_EQ(rows[0].flip, Flip::kNone);
  EXPECT_EQ(rows[1].flip, Flip::kClear);
  EXPECT_EQ(rows[1].second, "0");
  EXPECT_EQ(rows[2].flip, Flip::kNone);
  const auto values = Decided("regression=0.5", FloatTensor({2}, {1, 2}), FloatTensor({2}, {1, 3}));
  EXPECT_EQ(values[0].flip, Flip::kNone);
  EXPECT_EQ(values[1].flip, Flip::kClear);
  EXPECT_TRUE(std::isnan(values[1].first_margin));
}

TEST(Decide, EqualRowsHaveACosineOfExactlyOne) {
  std::vector<float> row;
  for (int length = 1; length <= 40; ++length) {
    row.push_back(0.1F * static_cast<float>(length) + 0.37F);
    if (length == 1) continue;
    const Tensor tensor = FloatTensor({1, length}, row);
    EXPECT_EQ(Decided("embedding=1", tensor, tensor)[0].flip, Flip::kNone) << length;
  }
}

TEST(Decide, SamplesWithoutElementsAreNone) {
  const Tensor none = FloatTensor({int64_t{1} << 40, 2, 0}, {});
  EXPECT_THAT(Decided("argmax", none, none), SizeIs(0));
}

TEST(Decide, BoxesWithoutEndAreNone) {
  const Tensor one = FloatTensor({1, 6}, {-kInfinity, -kInfinity, kInfinity, kInfinity, 0.9F, 4});
  const Tensor other = FloatTensor({1, 6}, {0, -kInfinity, 10, 10, 0.9F, 4});
  for (const Tensor& boxes : {one, other}) {
    const auto samples = Decided("boxes:xyxy,score,class", boxes, boxes);
    EXPECT_EQ(samples[0].flip, Flip::kInvalid);
    EXPECT_EQ(samples[0].first, "invalid");
  }
  EXPECT_EQ(Decided("boxes:xyxy,score,class", other, other)[0].detail,
            "box 0 has an infinite coordinate");
}

TEST(Decide, LargeIntegersAreExact) {
  const auto tensor = [](int64_t value) {
    return *Tensor::Copy(DType::kInt64, {1}, std::as_bytes(std::span(&value, 1)));
  };
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  const auto samples = Decided("regression=0", tensor(kOdd - 1), tensor(kOdd));
  EXPECT_EQ(samples[0].flip, Flip::kClear);
  EXPECT_EQ(samples[0].second, "9007199254740993");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Decided("regression=1e30", tensor(kLeast), tensor(kOdd))[0].flip, Flip::kNone);
}

TEST(Decide, MarginsOfLargeIntegersAreExact) {
  constexpr int64_t kLarge = int64_t{1} << 60;
  const auto integers = [](Dims dims, const std::vector<int64_t>& values) {
    return *Tensor::Copy(DType::kInt64, std::move(dims), std::as_bytes(std::span(values)));
  };
  // By 5 and by 3, where doubles are 256 apart; the third class has no noise.
  for (const std::string words : {"y:top1", "y:rank=2", "y:argmax", "y:ctc"}) {
    const auto samples = Decided(words, integers({1, 3}, {kLarge + 5, kLarge, 9}),
                                 integers({1, 3}, {kLarge, kLarge + 3, 9}));
    ASSERT_THAT(samples, SizeIs(1)) << words;
    EXPECT_EQ(samples[0].flip, Flip::kClear) << words;
    EXPECT_EQ(samples[0].first_margin, 5) << words;
    EXPECT_EQ(samples[0].second_margin, 3) << words;
  }
  const auto top2 = Decided("y:top2", integers({1, 3}, {kLarge + 5, kLarge, kLarge + 9}),
                            integers({1, 3}, {kLarge, kLarge + 3, kLarge + 9}));
  EXPECT_EQ(top2[0].first_margin, 5);
  const auto whole = Decided("y:top1", integers({1, 2}, {INT64_MIN, INT64_MAX}),
                             integers({1, 2}, {INT64_MAX, INT64_MIN}));
  EXPECT_EQ(whole[0].first_margin, 0x1p64);
}

TEST(Decide, LargeIntegersAreOnTheirSideOfTheBorder) {
  constexpr int64_t kBorder = (int64_t{1} << 53) + 4;  // below it, doubles round to it
  const auto integers = [](const std::vector<int64_t>& values) {
    return *Tensor::Copy(DType::kInt64, {2, 1}, std::as_bytes(std::span(values)));
  };
  const auto samples = Decided("y:threshold=9007199254740996", integers({kBorder, kBorder - 1}),
                               integers({kBorder - 1, kBorder + 1}));
  EXPECT_EQ(samples[0].first, "yes");
  EXPECT_EQ(samples[0].second, "no");
  EXPECT_EQ(samples[0].first_margin, 0);
  EXPECT_EQ(samples[1].first, "no");
  EXPECT_EQ(samples[1].first_margin, 1);
  EXPECT_EQ(samples[1].second_margin, 1);
  const auto signs = Decided("y:sign", integers({-1, INT64_MIN}), integers({0, INT64_MIN}));
  EXPECT_EQ(signs[0].first, "-");
  EXPECT_EQ(signs[0].second, "+");
  EXPECT_EQ(signs[1].flip, Flip::kNone);
  EXPECT_EQ(signs[1].first_margin, 0x1p63);
  EXPECT_FALSE(signs[0].all_above);
  EXPECT_TRUE(Decided("y:sign", integers({1, 0}), integers({3, 4}))[0].all_above);
}

// Two classes that lead a hundred others by far, and noise of `noise` in every logit.
std::vector<double> TwoLeaders(double lead, double noise) {
  constexpr int kOthers = 100;
  std::vector<double> logits = {20 + lead, 20 - lead};
  for (int i = 0; i < kOthers; ++i) logits.push_back(-0.1 * i);
  for (size_t i = 2; i < logits.size(); ++i) logits[i] += noise * (i % 2 == 0 ? 1 : -1);
  return logits;
}

TEST(Decide, NearTiesOfProbabilitiesAreThoseOfLogits) {
  const Tensor reference = Probabilities(TwoLeaders(1e-4, 0));
  const auto near = Decided("top1", reference, Probabilities(TwoLeaders(-1e-3, 2e-3)));
  EXPECT_NEAR(near[0].first_margin, 1e-4, 1e-6);
  EXPECT_EQ(near[0].flip, Flip::kNearTie);
  EXPECT_NEAR(near[0].near_tie, 0.5 * 2 * std::sqrt(2.0) * 1.4826 * (1 + 3.0 / 16) * 2e-3, 1e-4);
  const auto ranked = Decided("rank=2", reference, Probabilities(TwoLeaders(-1e-3, 2e-3)));
  EXPECT_EQ(ranked[0].flip, Flip::kNearTie);
  // What one class takes from all others is shared by them, and no noise.
  std::vector<double> moved = TwoLeaders(1e-4, 0);
  moved[1] += 2;
  const auto clear = Decided("top1", Probabilities(TwoLeaders(0.3, 0)), Probabilities(moved));
  EXPECT_EQ(clear[0].flip, Flip::kClear);
  EXPECT_LT(clear[0].near_tie, 1e-5);
}

TEST(Decide, RefusesMoreThanCanBeMatched) {
  constexpr int64_t kBoxes = 20001;
  const Tensor many = FloatTensor({1, kBoxes, 4}, std::vector<float>(4 * kBoxes, 1));
  EXPECT_THAT(Decide(*ParseDecision("boxes:xyxy"), many, many, {}, {}).status().message(),
              HasSubstr("20001 boxes of a sample have a score >= 0.25, more than 20000"));
  // Texts of alternating symbols, 1 2 1 2 ... against 2 1 2 1 ...
  constexpr int64_t kSteps = 40000;
  std::vector<float> a(3 * kSteps);
  std::vector<float> b(3 * kSteps);
  for (size_t step = 0; step < kSteps; ++step) {
    a[3 * step + 1 + step % 2] = 1;
    b[3 * step + 2 - step % 2] = 1;
  }
  const Tensor first = FloatTensor({kSteps, 3}, a);
  EXPECT_THAT(
      Decide(*ParseDecision("ctc"), first, FloatTensor({kSteps, 3}, b), {}, {}).status().message(),
      HasSubstr("texts of 40000 symbols and 40000 symbols are too long to be matched"));
}

TEST(Decide, RefusesWhatDoesNotFit) {
  const DecisionPlan top = *ParseDecision("top1");
  const Tensor wide = FloatTensor({1, 3}, {1, 2, 3});
  EXPECT_EQ(WhyNotDecision(top, wide), "");
  EXPECT_EQ(WhyNotDecision(top, FloatTensor({3, 1}, {1, 2, 3})), "one class along axis 1");
  EXPECT_EQ(WhyNotDecision(top, FloatTensor({}, {1})), "a scalar");
  EXPECT_EQ(WhyNotDecision(*ParseDecision("top3"), wide),
            "3 values along axis 1, which is too few for 'top3'");
  EXPECT_EQ(WhyNotDecision(top, *Tensor::FromStrings({1}, std::vector<std::string>{"a"})),
            "string");
  const std::vector<int64_t> indices = {1, 2};
  const Tensor index = *Tensor::Copy(DType::kInt64, {1, 2}, std::as_bytes(std::span(indices)));
  EXPECT_EQ(WhyNotDecision(top, index), "int64");
  EXPECT_EQ(WhyNotDecision(*ParseDecision("y:top1"), index), "");
  EXPECT_EQ(WhyNotDecision(*ParseDecision("boxes:yolov8"), FloatTensor({1, 4, 1}, {1, 2, 3, 4})),
            "shape (1, 4, 1), with 4 columns instead of 5 or more");
  const auto shapes = Decide(top, wide, FloatTensor({1, 2}, {1, 2}), {}, {});
  EXPECT_THAT(shapes.status().message(), HasSubstr("(1, 3) and (1, 2)"));
}

TEST(Decide, TheAxisOfClassesSkipsTrailingOnes) {
  const auto samples =
      Decided("top1", FloatTensor({1, 3, 1, 1}, {1, 3, 2}), FloatTensor({1, 3, 1, 1}, {1, 3, 2}));
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_EQ(samples[0].first, "1");
}

}  // namespace
}  // namespace vernier
