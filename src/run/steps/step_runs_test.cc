// Whole runs whose feeds are sequences of steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/results/feed_writer.h"
#include "io/results/io_test_data.h"
#include "run/steps/step_runs_for_test.h"
#include "run/steps/step_states.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::Recurs;
using testing_workers::StepRunsTest;
using testing_workers::SumsInside;

TEST_F(StepRunsTest, OutputsAreInputsOfTheNextStepAndEachSequenceBeginsAnew) {
  const RunOutcome ran = Run({{"a", Recurs(1)}});
  EXPECT_FALSE(ran.faults.any());
  ExpectSums("a");
  EXPECT_EQ(observer_.progress, std::pair(int64_t{8}, int64_t{8}));
  ASSERT_TRUE(ran.record.steps);
  EXPECT_THAT(ran.record.steps->lengths, ElementsAre(4, 4));
  ASSERT_EQ(ran.record.steps->feed_back.size(), 1u);
  EXPECT_EQ(ran.record.steps->feed_back[0].output, "state_n");
  EXPECT_EQ(ran.record.steps->feed_back[0].input, "state");
}

TEST_F(StepRunsTest, EachRunnerHasItsOwnState) {
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1)}});
  EXPECT_FALSE(ran.faults.any());
  ExpectSums("a");
  ExpectSums("b");
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 8);
  // The state at the first and the last step of each sequence.
  EXPECT_EQ(Output(ran, "y").compared, 8);
  EXPECT_EQ(Output(ran, "state_n").compared, 4);
  EXPECT_TRUE(Output(ran, "state_n").time->fed_back);
  EXPECT_EQ(Output(ran, "y").time->steps, 8);
  EXPECT_FALSE(Output(ran, "y").time->first_bad_step);
  EXPECT_FALSE(Output(ran, "y").time->growth_per_step);
}

TEST_F(StepRunsTest, StateInsideIsResetForEachSequence) {
  plan_.output_map_words = {"state_n="};
  for (const bool parallel : {false, true}) {
    plan_.execution.parallel = parallel;
    plan_.runners.clear();
    observer_ = {};
    const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", SumsInside()}});
    EXPECT_FALSE(ran.faults.any());
    ExpectSums("a");
    ExpectSums("b");
    EXPECT_EQ(Output(ran, "y").compared, 8);
  }
}

// What trials with other sizes leave inside is no state of a step.
TEST_F(StepRunsTest, StateInsideIsThatOfTheStepBeforeAfterASearchForSizes) {
  FakeModel sums = SumsInside();
  sums.inputs.push_back({"free", DType::kFloat32, std::vector<Dim>{{-1, {}}}});
  FakeModel refuses = sums;
  refuses.reset = {};
  refuses.infer = [](const TensorMap&, int64_t) {
    return testing_workers::Refuses("the shape of 'free' does not fit");
  };
  plan_.steps.feed_back.clear();
  const RunOutcome ran = Run({{"a", sums}, {"b", refuses}});
  EXPECT_THAT(ran.record.runners[0].failure, testing::IsEmpty());
  EXPECT_FALSE(ran.record.runners[1].failure.empty());
  ExpectSums("a");
}

TEST_F(StepRunsTest, AWarmUpLeavesNoStateInside) {
  plan_.execution.warm_up = 2;
  plan_.steps.feed_back.clear();
  EXPECT_FALSE(Run({{"a", SumsInside()}}).faults.any());
  ExpectSums("a");
}

TEST_F(StepRunsTest, StateInsideIsResetForEachFeedWithoutSteps) {
  plan_.steps = {};
  plan_.inputs.iterations = 3;
  const RunOutcome ran = Run({{"a", SumsInside()}});
  EXPECT_FALSE(ran.faults.any());
  ASSERT_EQ(observer_.fed.size(), 3u);
  EXPECT_EQ(observer_.made["a"], observer_.fed);
}

TEST_F(StepRunsTest, SideBySideAndOneAfterAnotherAreTheSame) {
  plan_.execution.parallel = true;
  EXPECT_FALSE(Run({{"a", Recurs(1)}, {"b", Recurs(1)}}).faults.any());
  ExpectSums("b");
  plan_.execution.parallel = false;
  plan_.execution.sequential = true;
  plan_.runners.clear();
  observer_ = {};
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1)}});
  EXPECT_FALSE(ran.faults.any());
  EXPECT_EQ(ran.record.pairs[0].passed_iterations, 8);
  ExpectSums("b");
}

TEST_F(StepRunsTest, AWarmUpLeavesNoState) {
  plan_.execution.warm_up = 2;
  EXPECT_FALSE(Run({{"a", Recurs(1)}}).faults.any());
  ExpectSums("a");
}

TEST_F(StepRunsTest, TheStateIsComparedAtEveryStepWhereItIsAskedFor) {
  plan_.steps.compare_state = true;
  EXPECT_EQ(Output(Run({{"a", Recurs(1)}, {"b", Recurs(1)}}), "state_n").compared, 8);
}

// Wrong once, in step 2 of the second sequence: from there on the state is wrong.
float WrongOnce(int64_t run) { return run == 6 ? 0.01F : 0.0F; }

TEST_F(StepRunsTest, TheFirstBadStepIsNamedAndItsStateCompared) {
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, WrongOnce)}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_EQ(Output(ran, "y").passed, 6);
  EXPECT_EQ(Output(ran, "y").time->first_bad_step, 2);
  EXPECT_EQ(Output(ran, "y").time->first_bad_sequence, 1);
  EXPECT_EQ(Output(ran, "state_n").compared, 5);
  EXPECT_EQ(Output(ran, "state_n").time->first_bad_step, 2);
}

// The first sequence is wrong in its last step, the second one from its third.
TEST_F(StepRunsTest, TheFirstBadStepIsTheEarliestOfAllSequences) {
  plan_.steps.state = StateSource::kCross;
  const auto breaks = [](int64_t run) { return run == 3 || run == 6 ? 0.01F : 0.0F; };
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, breaks)}});
  for (const char* const name : {"y", "state_n"}) {
    const TimeRecord& time = *Output(ran, name).time;
    EXPECT_EQ(time.first_bad_step, 2) << name;
    EXPECT_EQ(time.first_bad_sequence, 1) << name;
    EXPECT_EQ(time.crossed->first_bad_step, 2) << name;
    EXPECT_EQ(time.crossed->first_bad_sequence, 1) << name;
  }
}

TEST_F(StepRunsTest, OfSequencesThatFailAtOneStepTheFirstIsNamed) {
  const auto breaks = [](int64_t run) { return run == 2 || run == 6 ? 0.01F : 0.0F; };
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, breaks)}});
  EXPECT_EQ(Output(ran, "y").time->first_bad_step, 2);
  EXPECT_EQ(Output(ran, "y").time->first_bad_sequence, 0);
}

TEST_F(StepRunsTest, WithTheReferencesStateErrorsAreEachStepsOwn) {
  plan_.steps.state = StateSource::kReference;
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, WrongOnce)}});
  ExpectSums("a");
  EXPECT_EQ(Output(ran, "y").passed, 7);
  EXPECT_EQ(Output(ran, "y").time->first_bad_step, 2);
  EXPECT_TRUE(Output(ran, "y").time->own);
  EXPECT_EQ(ran.record.steps->state, "reference");
}

TEST_F(StepRunsTest, CrossedStatesShowWhichStepIsWrongByItself) {
  plan_.steps.state = StateSource::kCross;
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, WrongOnce)}});
  ExpectSums("a");  // each has its own state, as without
  EXPECT_EQ(ran.record.steps->state, "cross");
  const TimeRecord& time = *Output(ran, "y").time;
  EXPECT_EQ(Output(ran, "y").passed, 6);  // the two last ones of the second sequence
  EXPECT_FALSE(time.own);
  ASSERT_TRUE(time.crossed);
  EXPECT_EQ(time.crossed->steps, 8);
  EXPECT_EQ(time.crossed->first_bad_step, 2);
  EXPECT_EQ(time.crossed->first_bad_sequence, 1);
  ASSERT_EQ(time.crossed->curve.size(), 4u);
  EXPECT_GT(time.crossed->curve[2].times_over, 1.0);
  EXPECT_LT(time.crossed->curve[3].times_over, 1.0);
  EXPECT_GT(time.curve[3].times_over, 1.0);
}

TEST_F(StepRunsTest, AStateThatIsComparedWithNoneCannotBeCrossed) {
  plan_.steps.state = StateSource::kCross;
  Result<StepStates> states = StepStates::Create(plan_.steps, {"a", "b"}, log_);
  ASSERT_TRUE(states.ok());
  const FakeModel model = Recurs(1);
  TensorMap feed = {{"state", Floats({2}, {0, 0})}};
  for (const size_t runner : {0, 1}) {
    ASSERT_TRUE(
        states->Pair(runner, {states->runners()[runner], model.inputs, model.outputs}).ok());
  }
  ASSERT_TRUE(states->Enter({0, 0, 4}, {}, feed).ok());
  ASSERT_TRUE(states->Remember(0, {{"state_n", Floats({2}, {1, 2})}}).ok());
  ASSERT_TRUE(states->Remember(1, {{"state_n", Floats({2}, {3, 4})}}).ok());
  ASSERT_TRUE(states->Enter({0, 1, 4}, {}, feed).ok());
  const std::vector<std::pair<std::string, std::string>> met = {{"state_n", "state_n"}};
  std::string note;
  const Result<TensorMap> state = states->StateFor(0, 1, met, note);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(Find(*state, "state")->As<float>().front(), 3);
  const std::vector<std::pair<std::string, std::string>> part = {{"state_n", "state_n[0]"}};
  EXPECT_FALSE(states->StateFor(0, 1, part, note).ok());
  EXPECT_THAT(states->StateFor(0, 1, {}, note).status().message(),
              HasSubstr("--state cross: no state of b is compared with 'state_n' of a"));
}

TEST_F(StepRunsTest, AStateInAnotherOrderOfAxesIsCrossed) {
  plan_.steps.state = StateSource::kCross;
  Result<StepStates> states = StepStates::Create(plan_.steps, {"a", "b"}, log_);
  ASSERT_TRUE(states.ok());
  const FakeModel model = Recurs(1);
  TensorMap feed = {{"state", Floats({2}, {0, 0})}};
  for (const size_t runner : {0, 1}) {
    ASSERT_TRUE(
        states->Pair(runner, {states->runners()[runner], model.inputs, model.outputs}).ok());
  }
  ASSERT_TRUE(states->Enter({0, 0, 4}, {}, feed).ok());
  ASSERT_TRUE(states->Remember(0, {{"state_n", Floats({3, 2}, {0, 0, 0, 0, 0, 0})}}).ok());
  ASSERT_TRUE(states->Remember(1, {{"state_n", Floats({2, 3}, {1, 2, 3, 4, 5, 6})}}).ok());
  ASSERT_TRUE(states->Enter({0, 1, 4}, {}, feed).ok());
  std::string note;
  for (const auto& met : {std::pair<std::string, std::string>("state_n", "state_n@1,0"),
                          std::pair<std::string, std::string>("state_n@1,0", "state_n")}) {
    const Result<TensorMap> state = states->StateFor(0, 1, std::vector{met}, note);
    ASSERT_TRUE(state.ok()) << state.status().message();
    const Tensor& tensor = *Find(*state, "state");
    EXPECT_EQ(tensor.dims(), (Dims{3, 2}));
    EXPECT_THAT(std::vector<float>(tensor.As<float>().begin(), tensor.As<float>().end()),
                testing::ElementsAre(1, 4, 2, 5, 3, 6));
  }
}

TEST_F(StepRunsTest, ANanIsABadStepAndNoErrorOfZero) {
  const auto breaks = [](int64_t run) {
    return run == 5 ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
  };
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, breaks)}});
  EXPECT_TRUE(ran.faults.mismatch);
  EXPECT_EQ(Output(ran, "y").time->first_bad_step, 1);
  EXPECT_EQ(Output(ran, "y").time->first_bad_sequence, 1);
  EXPECT_EQ(Output(ran, "y").time->largest_rms, 0.0);  // of the five steps before
  EXPECT_EQ(Output(ran, "state_n").time->first_bad_step, 1);
}

// Loaded feeds do not say how many there are.
TEST_F(StepRunsTest, StepsThatBothRunnersFailAtAreMissing) {
  const TemporaryFolder folder;
  plan_.inputs.load_paths = {folder / "x.json"};
  const auto writer = *FeedWriter::Create(plan_.inputs.load_paths.front());
  ASSERT_TRUE(writer->Append({{"x", Floats({2}, {1, 2})}}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  FakeModel fails = Recurs(1);
  fails.infer = [infer = fails.infer](const TensorMap& feed, int64_t run) {
    return run == 1 ? testing_workers::Refuses("no second step") : infer(feed, run);
  };
  for (const bool in_turn : {false, true}) {
    plan_.execution.sequential = in_turn;
    const RunOutcome ran = Run({{"a", fails}, {"b", fails}});
    EXPECT_TRUE(ran.faults.backend);
    EXPECT_TRUE(ran.faults.incomplete);
    EXPECT_TRUE(ran.record.pairs[0].incomplete);
    EXPECT_EQ(ran.record.pairs[0].expected_iterations, 4);
    EXPECT_THAT(ran.record.faults,
                ElementsAre(HasSubstr("only 1 of 4 iterations could be compared")));
  }
}

TEST_F(StepRunsTest, WithoutANumberThereIsNoLargestError) {
  const auto never = [](int64_t) { return std::numeric_limits<float>::quiet_NaN(); };
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Recurs(1, never)}});
  EXPECT_EQ(Output(ran, "y").time->first_bad_step, 0);
  EXPECT_FALSE(Output(ran, "y").time->largest_rms);
}

TEST_F(StepRunsTest, AnErrorThatTheRecurrenceAmplifiesGrowsByItsFactor) {
  plan_.inputs.iterations = 1;
  plan_.steps.steps = 30;
  const auto at_first = [](int64_t run) { return run == 0 ? 1e-3F : 0.0F; };
  const RunOutcome ran = Run({{"a", Recurs(1.2F)}, {"b", Recurs(1.2F, at_first)}});
  const TimeRecord& time = *Output(ran, "y").time;
  EXPECT_EQ(time.first_bad_step, 0);
  ASSERT_TRUE(time.growth_per_step);
  EXPECT_NEAR(*time.growth_per_step, std::log(1.2), 0.01);
  EXPECT_LT(*time.growth_error, 0.01);
  EXPECT_EQ(time.fitted_steps, 30);
}

}  // namespace
}  // namespace vernier
