#include "decide/labels/label_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decide/gates/decision_fold.h"
#include "decide/gates/decision_gates.h"

namespace vernier {
namespace {

using testing::HasSubstr;

DecisionSample DecidedAs(std::string first, std::string second) {
  DecisionSample sample;
  sample.first = std::move(first);
  sample.second = std::move(second);
  sample.flip = sample.first == sample.second ? Flip::kNone : Flip::kClear;
  return sample;
}

DecisionPlan PlanOf(const std::string& words) { return *ParseDecision(words); }

// What both sides score, "10", by their texts alone; or why they do not.
std::string Scored(const std::string& decision, std::vector<int64_t> label, std::string first,
                   std::string second) {
  DecisionSample sample = DecidedAs(std::move(first), std::move(second));
  const Status status = ScoreSample(PlanOf(decision), {std::move(label), false}, {}, 0, sample);
  if (!status.ok()) return status.message();
  return std::string(sample.first_score == 1 ? "1" : "0") + (sample.second_score == 1 ? "1" : "0");
}

TEST(ScoreSample, FindsAClassAmongTheLargest) {
  EXPECT_EQ(Scored("top1", {7}, "7", "8"), "10");
  EXPECT_EQ(Scored("top3", {12}, "1 2 3", "2 11 12"), "01");
  EXPECT_EQ(Scored("argmax", {0}, "0", "invalid"), "10");
  EXPECT_THAT(Scored("top1", {7, 8}, "7", "7"), HasSubstr("has 2 values, and 'top1' needs one"));
  EXPECT_THAT(Scored("top1", {}, "7", "7"), HasSubstr("has 0 values"));
  EXPECT_THAT(Scored("top1", {-1}, "7", "7"), HasSubstr("is -1, and no class"));
  EXPECT_THAT(Scored("argmax", {1}, "0:5 1:7", "1:12"), HasSubstr("without the outputs"));
}

TEST(ScoreSample, TruthsNameNoClassOfMany) {
  const auto scored = [](const std::string& decision, bool is_row, int64_t classes) {
    DecisionSample sample = DecidedAs("1", "0");
    Label label{{1}, is_row, true};
    return ScoreSample(PlanOf(decision), label, {nullptr, nullptr, classes}, 0, sample).message();
  };
  EXPECT_EQ(scored("top1", false, 2), "");
  EXPECT_THAT(scored("top1", false, 3),
              HasSubstr("is true or false, which names none of the 3 classes"));
  EXPECT_THAT(scored("argmax", false, 3), HasSubstr("is true or false"));
  EXPECT_THAT(scored("threshold=0.5", false, 3), HasSubstr("is true or false"));
  EXPECT_EQ(scored("threshold=0.5", true, 1), "");
}

TEST(CountClasses, OfRanksAndBoxes) {
  EXPECT_EQ(CountClasses(PlanOf("rank=2"), {4, 7}), 7);
  EXPECT_EQ(CountClasses(PlanOf("boxes:yolov8"), {1, 7, 3}), 3);
  EXPECT_EQ(CountClasses(PlanOf("boxes:yolov5"), {1, 3, 9}), 4);
  EXPECT_EQ(CountClasses(PlanOf("boxes:xyxy,score,class"), {1, 3, 6}), std::nullopt);
  EXPECT_EQ(CountClasses(PlanOf("embedding"), {4, 7}), std::nullopt);
}

TEST(ScoreSample, ComparesSets) {
  EXPECT_EQ(Scored("threshold=0.5", {4, 0}, "0 4", "4"), "10");
  EXPECT_EQ(Scored("threshold=0.5", {}, "none", "0"), "10");
  EXPECT_EQ(Scored("threshold=0.5", {1}, "yes", "no"), "10");
  EXPECT_EQ(Scored("threshold=0.5", {0}, "yes", "no"), "01");
  EXPECT_EQ(Scored("threshold=0.5", {3}, "invalid", "3"), "01");
  EXPECT_THAT(Scored("threshold=0.5", {2}, "yes", "no"), HasSubstr("has to be 0 or 1"));
}

TEST(ScoreSample, DoesNotGuessBehindWhatTextsList) {
  constexpr const char* kWhy = "belongs to a decision for more classes than a row lists";
  EXPECT_THAT(Scored("threshold=0.5", {0, 1, 2}, "0 1 +2 more", "0 2"), HasSubstr(kWhy));
  EXPECT_THAT(Scored("threshold=0.5", {0, 1, 2}, "0 1", "0 1 +1 more"), HasSubstr(kWhy));
  EXPECT_THAT(Scored("top65", {1}, "0 1 +63 more", "0 1 +63 more"), HasSubstr(kWhy));
}

TEST(LabelFold, HasNoFigureOfTheSamplesThatCouldBeJudged) {
  DecisionFold fold("y", "threshold=0.5", 0);
  DecisionSample listed = DecidedAs("0", "0"), cut_off = DecidedAs("0 1 +2 more", "0 1 +2 more");
  ASSERT_TRUE(ScoreSample(PlanOf("threshold=0.5"), {{0}, false}, {}, 0, listed).ok());
  fold.Add(0, 0, {listed});
  EXPECT_TRUE(fold.Record().labels);
  ASSERT_FALSE(ScoreSample(PlanOf("threshold=0.5"), {{0}, false}, {}, 0, cut_off).ok());
  fold.Add(1, 0, {cut_off});
  EXPECT_FALSE(fold.Record().labels);
}

TEST(ScoreSample, ReadsFromOutputsWhatTextsDoNotList) {
  constexpr int64_t kValues = 80, kIn = 70;
  std::vector<float> values(2 * kValues);
  std::vector<int64_t> in(kIn);
  std::iota(in.begin(), in.end(), 5);
  for (const int64_t value : in) values[static_cast<size_t>(kValues + value)] = 1;
  const Tensor output =
      *Tensor::Copy(DType::kFloat32, {2, kValues}, std::as_bytes(std::span(values)));
  const auto scored = [&](const std::string& words, std::vector<int64_t> label) {
    DecisionSample sample = DecidedAs("5 6 +68 more", "invalid");
    const ScoredOutputs outputs{&output, &output};
    EXPECT_TRUE(ScoreSample(PlanOf(words), {std::move(label), false}, outputs, 1, sample).ok());
    EXPECT_EQ(sample.second_score, 0);
    return sample.first_score;
  };
  EXPECT_EQ(scored("threshold=1", in), 1);
  EXPECT_EQ(scored("top70", {74}), 1);
  EXPECT_EQ(scored("top70", {75}), 0);
  in.back() = 79;
  EXPECT_EQ(scored("threshold=1", in), 0);
}

TEST(ScoreSample, KnowsTheClassesOfOutputs) {
  const std::vector<float> values = {1, 2, 3};
  const Tensor output = *Tensor::Copy(DType::kFloat32, {1, 3}, std::as_bytes(std::span(values)));
  DecisionSample sample = DecidedAs("2", "2");
  const ScoredOutputs outputs{&output, &output};
  EXPECT_TRUE(ScoreSample(PlanOf("top1"), {{2}, false}, outputs, 0, sample).ok());
  EXPECT_EQ(sample.label, "2");
  EXPECT_THAT(ScoreSample(PlanOf("top1"), {{3}, false}, outputs, 0, sample).message(),
              HasSubstr("is 3, beyond the 3 classes of the output"));
  EXPECT_THAT(ScoreSample(PlanOf("threshold=1"), {{1, 0}, true}, outputs, 0, sample).message(),
              HasSubstr("has 2 values, and 'threshold=1' decides about 3"));
}

TEST(LabelsFor, PrefersWhatNamesTheOutput) {
  DecisionOptions options;
  options.labels = {{"", "all.npy"}, {"y", "y.npy"}};
  EXPECT_EQ(LabelsFor(options, DecisionKind::kTop, "y")->path, "y.npy");
  EXPECT_EQ(LabelsFor(options, DecisionKind::kTop, "z")->path, "all.npy");
  EXPECT_EQ(LabelsFor(options, DecisionKind::kEmbedding, "y"), nullptr);
  options.labels = {{"y", "y.npy"}, {"", "all.npy"}};
  EXPECT_EQ(LabelsFor(options, DecisionKind::kTop, "y")->path, "y.npy");
}

TEST(DecisionFold, JudgesADropThatItHasLabelsFor) {
  DecisionOptions options;
  options.max_drop.entries = {{"y:top1", 0.25}};
  DecisionFold fold("y", "top1", 0, ChangeWorthSeeing(options, "y", "top1"));
  std::vector<DecisionSample> samples;
  for (const auto& [first, second] :
       {std::pair("1", "1"), std::pair("1", "2"), std::pair("2", "2"), std::pair("2", "3")}) {
    DecisionSample& sample = samples.emplace_back(DecidedAs(first, second));
    ASSERT_TRUE(ScoreSample(PlanOf("top1"), {{1}, false}, {}, 0, sample).ok());
  }
  fold.Add(0, 0, samples);
  const DecisionRecord record = fold.Record();
  ASSERT_TRUE(record.labels);
  EXPECT_EQ(record.labels->metric, "top-1 accuracy");
  EXPECT_EQ(record.labels->right_to_wrong, 1);
  EXPECT_EQ(record.labels->wrong_to_wrong, 1);
  EXPECT_EQ(record.labels->both_right, 1);
  EXPECT_EQ(record.labels->drop, 0.25);
  EXPECT_EQ(record.labels->change, 0.25);
  const std::vector<DecisionGateRecord> gates = JudgeDecision(record, options);
  ASSERT_EQ(gates.size(), 1U);
  EXPECT_EQ(gates[0].verdict, "passed");
  EXPECT_TRUE(gates[0].undecided);
  EXPECT_FALSE(gates[0].samples_to_decide);
}

}  // namespace
}  // namespace vernier
