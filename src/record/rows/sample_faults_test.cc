#include "record/rows/sample_faults.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace vernier {
namespace {

DecisionSample Flipped(std::string first, std::string second, Flip flip, double margin = 1) {
  DecisionSample sample;
  sample.first = std::move(first);
  sample.second = std::move(second);
  sample.first_margin = margin;
  sample.second_margin = margin;
  sample.near_tie = 0.5;
  sample.flip = flip;
  sample.similarity = flip == Flip::kNone ? 1 : 0;
  return sample;
}

DecisionSample Agreed(const std::string& text) { return Flipped(text, text, Flip::kNone); }

DecisionSample Labelled(DecisionSample sample, std::string label, double first, double second) {
  sample.label = std::move(label);
  sample.first_score = first;
  sample.second_score = second;
  return sample;
}

TEST(SampleFaults, AFlipIsThatOfTheDecisions) {
  for (const char* const kind :
       {"top1", "top3", "threshold=0.5", "argmax", "sign", "rank=3", "ctc"}) {
    const auto fault = [&](const DecisionSample& sample) {
      return FindSampleFault(kind, std::nullopt, sample);
    };
    EXPECT_EQ(fault(Agreed("3 4")), SampleFault::kNone) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kClear)), SampleFault::kNone) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kNone)), SampleFault::kFlipOfDifferent) << kind;
    EXPECT_EQ(fault(Flipped("3", "3", Flip::kClear)), SampleFault::kFlipOfEqual) << kind;
    EXPECT_EQ(fault(Flipped("3", "invalid", Flip::kInvalid)), SampleFault::kNone) << kind;
    EXPECT_EQ(fault(Flipped("3", "invalid", Flip::kClear)), SampleFault::kFlipOfInvalid) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kInvalid)), SampleFault::kFlipOfInvalid) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kNearTie)), SampleFault::kFlipByMargin) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kNearTie, 0.4)), SampleFault::kNone) << kind;
    EXPECT_EQ(fault(Flipped("3", "4", Flip::kClear, 0.4)), SampleFault::kFlipByMargin) << kind;
  }
}

TEST(SampleFaults, NoMarginOfClassesIsBelowZero) {
  DecisionSample sample = Flipped("3", "4", Flip::kClear);
  for (double* const margin : {&sample.first_margin, &sample.second_margin}) {
    const double before = std::exchange(*margin, -1);
    EXPECT_EQ(FindSampleFault("top1", std::nullopt, sample), SampleFault::kMarginRange);
    *margin = before;
  }
}

TEST(SampleFaults, TextsThatDoNotListAllAreBelieved) {
  const auto fault = [](const char* kind, const DecisionSample& sample) {
    return FindSampleFault(kind, std::nullopt, sample);
  };
  EXPECT_EQ(fault("threshold=0", Flipped("1 2 +9 more", "1 2 +9 more", Flip::kClear)),
            SampleFault::kNone);
  EXPECT_EQ(fault("argmax", Flipped("0:5 1:7", "0:5 1:7", Flip::kClear)), SampleFault::kNone);
  EXPECT_EQ(fault("boxes:yolov8", Flipped("1:2", "1:2", Flip::kClear)), SampleFault::kNone);
  EXPECT_EQ(fault("boxes:yolov8", Flipped("1:1 2:1", "2:1", Flip::kNone)),
            SampleFault::kFlipOfDifferent);
  EXPECT_EQ(fault("script:d.py", Flipped("yes", "no", Flip::kNone)), SampleFault::kNone);
  EXPECT_EQ(fault("script:d.py", Flipped("invalid", "no", Flip::kClear)), SampleFault::kNone);
}

TEST(SampleFaults, BoxesAndClassesAddUpToTheFlip) {
  DecisionSample boxes = Flipped("1:2", "1:2 3:1", Flip::kClear);
  boxes.similarity = 0.5;
  const auto fault = [](const char* kind, DecisionSample sample) {
    return FindSampleFault(kind, std::nullopt, sample);
  };
  for (const BoxCounts& fits : {BoxCounts{2, 0, 1, 0, 1.5}, BoxCounts{2, 1, 0, 1, 2}}) {
    boxes.boxes = fits;
    EXPECT_EQ(fault("boxes:yolov8", boxes), SampleFault::kNone);
  }
  for (const BoxCounts& other : {BoxCounts{2, 0, 0, 0, 1}, BoxCounts{2, 0, 1, 0, 1.6}}) {
    boxes.boxes = other;
    EXPECT_EQ(fault("boxes:yolov8", boxes), SampleFault::kTotals);
  }
  DecisionSample map = Flipped("0:3 1:1", "0:2 1:2", Flip::kClear);
  map.similarity = 0.75;
  map.classes = {{0, 3, 2, 2}, {1, 1, 2, 1}};
  EXPECT_EQ(fault("argmax", map), SampleFault::kNone);
  map.classes[1].both = 0;
  EXPECT_EQ(fault("argmax", map), SampleFault::kTotals);
  map.classes = {{0, 3, 2, 2}, {1, 1, 1, 1}};
  EXPECT_EQ(fault("argmax", map), SampleFault::kTotals);
}

TEST(SampleFaults, ASimilarityIsThatOfTheFlip) {
  const auto fault = [](const char* kind, Flip flip, double similarity) {
    DecisionSample sample = Flipped("1", "1", flip, std::numeric_limits<double>::quiet_NaN());
    sample.similarity = similarity;
    return FindSampleFault(kind, std::nullopt, sample);
  };
  EXPECT_EQ(fault("top1", Flip::kNone, 5), SampleFault::kSimilarityRange);
  EXPECT_EQ(fault("top1", Flip::kNone, -0.5), SampleFault::kSimilarityRange);
  EXPECT_EQ(fault("top1", Flip::kNone, std::numeric_limits<double>::quiet_NaN()),
            SampleFault::kSimilarityRange);
  EXPECT_EQ(fault("regression=1", Flip::kNone, 0.5), SampleFault::kFlipOfSimilarity);
  EXPECT_EQ(fault("regression=1", Flip::kClear, 0.5), SampleFault::kNone);
  EXPECT_EQ(fault("script:d.py", Flip::kClear, 1), SampleFault::kFlipOfSimilarity);
  EXPECT_EQ(fault("embedding", Flip::kNone, 0.98), SampleFault::kFlipOfSimilarity);
  EXPECT_EQ(fault("embedding,axis=1", Flip::kClear, 0.98), SampleFault::kNone);
  EXPECT_EQ(fault("embedding=0.9", Flip::kNone, 0.98), SampleFault::kNone);
  EXPECT_EQ(fault("embedding=0.9", Flip::kNearTie, 0.8), SampleFault::kFlipByMargin);
  EXPECT_EQ(fault("boxes:yolov5", Flip::kNone, 0.7), SampleFault::kNone);
}

TEST(SampleFaults, ScoresAreThoseOfTheLabel) {
  const auto fault = [](const char* kind, const DecisionSample& sample) {
    return FindSampleFault(kind, 10, sample);
  };
  const DecisionSample flipped = Flipped("7", "3", Flip::kClear);
  EXPECT_EQ(fault("top1", Labelled(flipped, "7", 1, 0)), SampleFault::kNone);
  EXPECT_EQ(fault("top1", Labelled(flipped, "7", 0, 0)), SampleFault::kFirstScore);
  EXPECT_EQ(fault("top1", Labelled(flipped, "7", 1, 1)), SampleFault::kSecondScore);
  EXPECT_EQ(fault("top1", Labelled(flipped, "7", 1, 0.5)), SampleFault::kSecondScore);
  EXPECT_EQ(fault("top1", Labelled(flipped, "", 1, 0)), SampleFault::kScoreWithoutLabel);
  EXPECT_EQ(fault("top1", Labelled(flipped, "99", 0, 0)), SampleFault::kLabelBeyond);
  EXPECT_EQ(FindSampleFault("rank=2", 1, Agreed("0 5")), SampleFault::kFirstBeyond);
  EXPECT_EQ(FindSampleFault("top1", 2, flipped), SampleFault::kFirstBeyond);
  EXPECT_EQ(FindSampleFault("top1", 5, Flipped("3", "7", Flip::kClear)),
            SampleFault::kSecondBeyond);
  EXPECT_EQ(fault("top3", Labelled(Agreed("2 4 8"), "4", 1, 1)), SampleFault::kNone);
  EXPECT_EQ(fault("top3", Labelled(Agreed("2 4 8"), "5", 1, 1)), SampleFault::kFirstScore);
  EXPECT_EQ(fault("threshold=0", Labelled(Agreed("2 4"), "2 4", 1, 1)), SampleFault::kNone);
  EXPECT_EQ(fault("threshold=0", Labelled(Agreed("2 4"), "2", 1, 1)), SampleFault::kFirstScore);
  EXPECT_EQ(fault("threshold=0", Labelled(Agreed("yes"), "no", 0, 0)), SampleFault::kNone);
  EXPECT_EQ(fault("argmax", Labelled(Agreed("0:3 1:4"), "map", 0.25, 0.5)), SampleFault::kNone);
  EXPECT_EQ(fault("argmax", Labelled(Agreed("0:3 1:4"), "map", 1.25, 0.5)),
            SampleFault::kScoreRange);
  EXPECT_EQ(fault("regression=9", Labelled(Agreed("1.5"), "2.5", 12, 13)), SampleFault::kNone);
  EXPECT_EQ(fault("regression=9", Labelled(Agreed("1.5"), "2.5", -1, 13)),
            SampleFault::kScoreRange);
}

TEST(SampleFaults, AreNamedWithTheirColumns) {
  const DecisionSample sample = Labelled(Flipped("7", "3", Flip::kNearTie, 2.25), "7", 1, 1);
  const auto text = [&](SampleFault fault) {
    return SampleFaultText(fault, {"y", "a/y", "b/y"}, 5, sample);
  };
  EXPECT_EQ(text(SampleFault::kFlipByMargin),
            "'y/flip' is 'near tie', and 'a/y/margin' is 2.25 and 'b/y/margin' 2.25, where "
            "'y/near_tie' is 0.5");
  EXPECT_EQ(text(SampleFault::kFlipOfDifferent),
            "'y/flip' is 'near tie', and the sides decided '7' and '3'");
  EXPECT_EQ(text(SampleFault::kSecondScore),
            "'b/y/score' is 1, which the decision '3' does not have by the label '7'");
  EXPECT_EQ(text(SampleFault::kFirstBeyond),
            "'a/y/decision' is '7', and the output has 5 classes, counted from 0");
}

}  // namespace
}  // namespace vernier
