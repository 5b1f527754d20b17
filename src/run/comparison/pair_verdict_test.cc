#include "run/comparison/pair_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two streams "a" and "b" of which nothing is compared yet.
class PairVerdict : public testing::Test {
 protected:
  ComparedPair& pair() { return compared_.pairs.front(); }

  VerdictScope Scope() {
    return {.plan = plan_,
            .parts = parts_,
            .compared = compared_,
            .given = given_,
            .lengths = lengths_,
            .judge = JudgeRule::kElements,
            .coverage = Coverage::kJudged,
            .stopped = false,
            .validated = true,
            .faults = faults_,
            .run = run_,
            .rules = rules_};
  }

  RunPlan plan_;
  ComparisonParts parts_;
  ComparedPairs compared_ = *ComparedPairs::Find(plan_, {"a", "b"}, false);
  GivenOutputs given_ = GivenOutputs(plan_, 2, false);
  std::vector<StreamLength> lengths_ = {{3, 3}, {3, 3}};
  RunFaults faults_;
  RunRecord run_;
  RuleFaults rules_;
};

TEST_F(PairVerdict, FaultlessPairsAddNothing) {
  PairRecord record;
  JudgeOutputs(Scope(), pair(), record);
  EXPECT_FALSE(faults_.any());
  EXPECT_THAT(run_.faults, IsEmpty());
  EXPECT_THAT(run_.rejections, IsEmpty());
}

TEST_F(PairVerdict, OtherInputsAreNotDone) {
  PairRecord record;
  pair().of_other_inputs = 3;
  pair().why_other_inputs = "iteration 0: x differs";
  JudgeOutputs(Scope(), pair(), record);
  EXPECT_TRUE(faults_.incomplete);
  EXPECT_FALSE(faults_.mismatch);
  EXPECT_THAT(run_.faults, ElementsAre("iteration 0: x differs; so were 2 more iterations"));
}

TEST_F(PairVerdict, HiddenNaNIsNotDone) {
  PairRecord record;
  plan_.postprocess.entries.emplace_back("y", TopK{1, -1});
  const TensorMap outputs = {{"y", TensorForTest<float>(DType::kFloat32, {2}, {kNan, 1})}};
  given_.Note(1, outputs, outputs);
  JudgeOutputs(Scope(), pair(), record);
  EXPECT_TRUE(faults_.incomplete);
  EXPECT_THAT(run_.faults, ElementsAre(HasSubstr("output 'y' of b holds NaN")));
}

TEST_F(PairVerdict, TypesThatPostprocessingMadeAlikeAreRejectedIfAsked) {
  PairRecord record;
  OutputRecord& output = record.outputs.emplace_back();
  output.name = output.other_name = "y";
  plan_.same_type = true;
  given_.Note(0, {{"y", TensorForTest<float>(DType::kFloat32, {1}, {1})}}, {});
  given_.Note(1, {{"y", Ints({1}, {1})}}, {});
  JudgeOutputs(Scope(), pair(), record);
  EXPECT_TRUE(faults_.mismatch);
  EXPECT_TRUE(record.retyped);
  EXPECT_THAT(run_.rejections, ElementsAre(HasSubstr("float32 in a, and int64 in b")));
}

TEST_F(PairVerdict, AStepThatDiffersWithOneStateIsRejected) {
  PairRecord record;
  OutputRecord& output = record.outputs.emplace_back();
  output.name = output.other_name = "hn";
  output.compared = output.passed = 2;
  output.time.emplace().crossed.emplace().first_bad_step = 7;
  JudgeOutputs(Scope(), pair(), record);
  EXPECT_TRUE(faults_.mismatch);
  EXPECT_THAT(run_.rejections, ElementsAre(HasSubstr("'hn' differs at step 7 of sequence 0")));
}

TEST_F(PairVerdict, MissingIterationsAreNotDone) {
  PairRecord record;
  record.expected_iterations = 3;
  record.compared_iterations = 2;
  lengths_[1] = {2, 3};
  JudgeCoverage(Scope(), pair(), record);
  EXPECT_TRUE(faults_.incomplete);
  EXPECT_THAT(run_.faults, ElementsAre(HasSubstr("only 2 of 3 iterations could be compared: b has "
                                                 "no iteration 2")));
}

TEST_F(PairVerdict, LeniencyAcceptsSidesThatEndEarlyUnlessARunnerFailed) {
  PairRecord record;
  record.expected_iterations = 3;
  record.compared_iterations = 2;
  plan_.lenient = true;
  lengths_[1] = {2, 3};
  JudgeCoverage(Scope(), pair(), record);
  EXPECT_FALSE(faults_.any());
  lengths_[1].failed = true;
  JudgeCoverage(Scope(), pair(), record);
  EXPECT_TRUE(faults_.incomplete);
}

}  // namespace
}  // namespace vernier
