// Runs of steps whose runners differ: in the names of their states, in what words say of them, or
// because one takes all steps at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "inputs/cast_tensor.h"
#include "run/steps/step_runs_for_test.h"
#include "run/steps/whole_sequence.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FloatInfo;
using testing_workers::Floats;
using testing_workers::Recurs;
using testing_workers::StepRunsTest;

// b as it is, but its input and output have other names.
FakeModel Renamed(const std::string& input, const std::string& output) {
  FakeModel model = Recurs(1);
  model.inputs[1].name = input;
  model.outputs[1].name = output;
  model.infer = [input, output](const TensorMap& feed, int64_t run) {
    TensorMap usual = feed;
    for (NamedTensor& tensor : usual) {
      if (tensor.name == input) tensor.name = "state";
    }
    FakeAnswer answer = Recurs(1).infer(usual, run);
    answer.outputs->back().name = output;
    return answer;
  };
  return model;
}

TEST_F(StepRunsTest, RunnersMayCallTheirStateDifferently) {
  plan_.steps.feed_back = {"state_n:state", "hn:h"};
  plan_.inputs.map_words = {"b:h=state"};
  plan_.output_map_words = {"a:state_n=hn"};
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}});
  EXPECT_THAT(ran.record.error, IsEmpty());
  EXPECT_FALSE(ran.faults.any());
  ExpectSums("b");
  EXPECT_EQ(Output(ran, "state_n").compared, 4);
}

TEST_F(StepRunsTest, StatesAreCrossedUnderTheNamesOfTheReference) {
  plan_.steps.state = StateSource::kCross;
  plan_.steps.feed_back = {"state_n:state", "hn:h"};
  plan_.inputs.map_words = {"b:h=state"};
  plan_.output_map_words = {"a:state_n=hn"};
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}});
  EXPECT_THAT(ran.record.error, IsEmpty());
  EXPECT_EQ(Output(ran, "y").time->crossed->steps, 8);
  EXPECT_FALSE(Output(ran, "y").time->crossed->first_bad_step);
}

// Recurs(1) over four steps of two elements in one inference.
FakeModel TakesAll(const Dims& dims = {8}) {
  FakeModel model;
  model.inputs = {FloatInfo("x", {8}), FloatInfo("state", {2})};
  model.outputs = {FloatInfo("y", dims), FloatInfo("state_n", {2})};
  model.infer = [dims](const TensorMap& feed, int64_t) {
    const auto x = Find(feed, "x")->As<float>();
    const auto first = Find(feed, "state")->As<float>();
    std::vector<float> state(first.begin(), first.end()), y;
    for (size_t i = 0; i < x.size(); ++i) y.push_back(state[i % 2] += x[i]);
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats(dims, y)}, {"state_n", Floats({2}, state)}}};
  };
  return model;
}

TEST_F(StepRunsTest, ARunnerThatTakesAllStepsAtOnceIsComparedStepByStep) {
  plan_.steps.slices = {"x:axis=0"};
  plan_.steps.axes = {"b:0"};
  plan_.output_map_words = {"b:state_n="};
  for (const std::string schedule : {"in turn", "side by side", "one after another"}) {
    SCOPED_TRACE(schedule);
    observer_ = {};
    plan_.runners.clear();
    plan_.execution.parallel = schedule == "side by side";
    plan_.execution.sequential = schedule == "one after another";
    plan_.execution.warm_up = schedule == "in turn" ? 1 : 0;
    const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", TakesAll()}});
    EXPECT_THAT(ran.record.error, IsEmpty());
    EXPECT_FALSE(ran.faults.any());
    ASSERT_EQ(observer_.made["b"].size(), 8u);
    EXPECT_EQ(observer_.made["a"], observer_.made["b"]);
    EXPECT_EQ(Output(ran, "y").compared, 8);
    EXPECT_EQ(ran.record.pairs[0].passed_iterations, 8);
    EXPECT_THAT(ran.record.notes,
                testing::Contains(HasSubstr("'state_n' has no element for any step")));
  }
}

TEST_F(StepRunsTest, StepsOfOneRunMayHaveOtherAxesOfLengthOne) {
  plan_.steps.slices = {"x:axis=0"};
  plan_.steps.axes = {"b:0"};
  plan_.output_map_words = {"b:state_n="};
  // A step is (2,) of a, and here (2, 1), (1, 2), (1, 2, 1).
  for (const Dims& dims : {Dims{8, 1}, Dims{4, 2}, Dims{4, 2, 1}}) {
    SCOPED_TRACE(FormatDims(dims));
    const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", TakesAll(dims)}});
    EXPECT_THAT(ran.record.error, IsEmpty());
    EXPECT_FALSE(ran.faults.any());
    EXPECT_EQ(ran.record.pairs[0].passed_iterations, 8);
  }
}

TEST(AsOfOneStep, ChangesAxesOfLengthOneAlone) {
  const Tensor part = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(AsOfOneStep(part, {1, 2, 1, 3}).dims(), (Dims{1, 2, 1, 3}));
  EXPECT_EQ(AsOfOneStep(part, {3, 2}).dims(), (Dims{2, 3}));
  EXPECT_EQ(AsOfOneStep(part, {6}).dims(), (Dims{2, 3}));
}

TEST_F(StepRunsTest, OutputsWithoutStepsAreNamed) {
  plan_.steps.slices = {"x:axis=0"};
  plan_.steps.axes = {"b:1"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", TakesAll()}}).record.error,
              HasSubstr("--steps-axis b:1, 'x': the shape (2,) has no axis 1"));
  plan_.runners.clear();
  plan_.steps.axes = {"b:0"};
  FakeModel sums = TakesAll();
  sums.infer = [](const TensorMap& feed, int64_t run) {
    FakeAnswer answer = TakesAll().infer(feed, run);
    answer.outputs->erase(answer.outputs->begin());
    return answer;
  };
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", sums}}).record.error,
              HasSubstr("no output of b has 4 steps along axis 0, but 'state_n' (2,)"));
}

TEST_F(StepRunsTest, AStateThatNothingFeedsIsNamed) {
  plan_.steps.feed_back = {"a:state_n:state"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Recurs(1)}}).record.error,
              HasSubstr("nothing feeds the input 'state' of b after the first step"));
  plan_.runners.clear();
  plan_.inputs.map_words = {"b:h=state"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}}).record.error,
              HasSubstr("nothing feeds the input 'h' of b"));
  plan_.runners.clear();
  plan_.inputs.map_words.clear();
  plan_.steps.feed_back = {"state_n:state", "gn:g"};
  EXPECT_THAT(Run({{"a", Recurs(1)}}).record.error,
              HasSubstr("--feed-back gn:g: no runner has such an output and input; a has"));
  plan_.runners.clear();
  plan_.steps.feed_back = {"state_n:state", "c:state_n:state"};
  EXPECT_THAT(Run({{"a", Recurs(1)}}).record.error, HasSubstr(", and none is called 'c'; a has"));
}

TEST_F(StepRunsTest, ARunnerIsCheckedAgainstThoseBehindIt) {
  plan_.steps.feed_back = {"b:state_n:state"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Recurs(1)}}).record.error,
              HasSubstr("nothing feeds the input 'state' of a after the first step"));
}

TEST_F(StepRunsTest, ARunnerThatNoWordIsAboutIsNamed) {
  plan_.steps.feed_back = {"state_n:state"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}}).record.error,
              HasSubstr("--feed-back: no word is about b, whose state would stay as it is: add "
                        "b:OUTPUT:INPUT"));
  plan_.runners.clear();
  plan_.steps.feed_back = {"hn:h"};
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}}).record.error,
              HasSubstr("no word is about a"));
  plan_.runners.clear();
  plan_.steps.state = StateSource::kReference;
  EXPECT_THAT(Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}}).record.error,
              HasSubstr("--state reference: no --feed-back word is about the reference, a"));
}

TEST_F(StepRunsTest, ARunnerWithoutAWordIsNotGivenTheStateOfAnother) {
  plan_.steps.feed_back = {"a:state_n:state"};
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}});
  EXPECT_TRUE(ran.faults.any());
  EXPECT_THAT(observer_.made["b"], IsEmpty());
}

TEST_F(StepRunsTest, TheFirstStateIsThatOfTheRunnerThatIsNamed) {
  FakeModel stateless = Recurs(0);
  stateless.inputs.pop_back();
  stateless.outputs.pop_back();
  stateless.infer = [](const TensorMap& feed, int64_t) {
    const auto x = Find(feed, "x")->As<float>();
    EXPECT_EQ(feed.size(), 1u);
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({2}, std::vector<float>(x.begin(), x.end()))}}};
  };
  plan_.steps.feed_back = {"b:state_n:state"};
  plan_.output_map_words = {"state_n="};
  const RunOutcome ran = Run({{"a", stateless}, {"b", Recurs(1)}});
  EXPECT_THAT(ran.record.error, IsEmpty());
  EXPECT_FALSE(ran.faults.backend);
  ExpectSums("b");
}

TEST_F(StepRunsTest, TheFirstStateIsPairedByLikenessAndThenEachRunnersOwn) {
  plan_.steps.feed_back = {"state_n:state", "hn:h"};
  plan_.output_map_words = {"a:state_n=hn"};
  EXPECT_FALSE(Run({{"a", Recurs(1)}, {"b", Renamed("h", "hn")}}).faults.any());
  ExpectSums("b");
}

TEST_F(StepRunsTest, ALoneRunnerThatFailsIsAllThatIsSaid) {
  FakeModel dies = Recurs(1);
  dies.infer = [](const TensorMap& feed, int64_t run) {
    return run == 1 ? testing_workers::Dies() : Recurs(1).infer(feed, run);
  };
  const RunOutcome ran = Run({{"a", dies}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_THAT(ran.record.error, Not(HasSubstr("needs the state")));
}

// Recurs(1) that leaves its state out from an inference on.
FakeModel LeavesOutState(int64_t from) {
  FakeModel model = Recurs(1);
  model.infer = [from](const TensorMap& feed, int64_t run) {
    FakeAnswer answer = Recurs(1).infer(feed, run);
    if (run >= from) answer.outputs->pop_back();
    return answer;
  };
  return model;
}

TEST_F(StepRunsTest, ARunnerThatLeavesOutItsStateIsAloneOutOfTheRun) {
  plan_.output_map_words = {"state_n="};
  for (const bool parallel : {false, true}) {
    for (const int64_t from : {0, 2, 5}) {
      SCOPED_TRACE(from);
      plan_.execution.parallel = parallel;
      plan_.runners.clear();
      observer_ = {};
      const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", LeavesOutState(from)}, {"c", Recurs(1)}});
      EXPECT_THAT(ran.record.error, IsEmpty());
      EXPECT_TRUE(ran.faults.backend);
      EXPECT_THAT(
          ran.record.runners[1].failure,
          testing::StartsWith("gave no output 'state_n' at step " + std::to_string(from % 4) +
                              " of sequence " + std::to_string(from / 4) +
                              ", which the input 'state' of "
                              "the next step is fed with (--feed-back), but 'y'"));
      ExpectSums("a");
      ExpectSums("c");
      // The step itself is whole.
      EXPECT_EQ(observer_.made["b"].size(), static_cast<size_t>(from + 1));
    }
  }
}

TEST_F(StepRunsTest, AStateThatFeedsNoStepMayBeLeftOut) {
  plan_.output_map_words = {"state_n="};
  FakeModel at_last_steps = Recurs(1);
  at_last_steps.infer = [](const TensorMap& feed, int64_t run) {
    FakeAnswer answer = Recurs(1).infer(feed, run);
    if (run % 4 == 3) answer.outputs->pop_back();
    return answer;
  };
  EXPECT_FALSE(Run({{"a", Recurs(1)}, {"b", at_last_steps}}).faults.any());
  plan_.runners.clear();
  plan_.steps.state = StateSource::kReference;
  EXPECT_FALSE(Run({{"a", Recurs(1)}, {"b", LeavesOutState(2)}}).faults.any());
  plan_.runners.clear();
  const RunOutcome ran = Run({{"a", LeavesOutState(2)}, {"b", Recurs(1)}});
  EXPECT_THAT(ran.record.runners[0].failure, HasSubstr("gave no output 'state_n' at step 2"));
  EXPECT_THAT(ran.record.error, HasSubstr("step 3 needs the state of a, which has failed"));
}

// Recurs(1) whose state is of another type.
FakeModel HasStateOf(DType dtype) {
  FakeModel model = Recurs(1);
  model.inputs[1].dtype = model.outputs[1].dtype = dtype;
  model.infer = [dtype](const TensorMap& feed, int64_t run) {
    TensorMap usual = feed;
    EXPECT_EQ(Find(usual, "state")->dtype(), dtype);
    for (NamedTensor& input : usual) input.tensor = *CastTensor(input.tensor, DType::kFloat32);
    FakeAnswer answer = Recurs(1).infer(usual, run);
    Tensor& state = answer.outputs->back().tensor;
    state = *CastTensor(state, dtype);
    return answer;
  };
  return model;
}

TEST_F(StepRunsTest, FloatsOfAStateBecomeThoseOfTheRunnerThatIsGivenIt) {
  plan_.inputs.range_words = {"[1,1]"};  // no sum needs to be rounded
  for (const StateSource source : {StateSource::kReference, StateSource::kCross}) {
    for (const bool half_first : {false, true}) {
      SCOPED_TRACE(half_first);
      plan_.steps.state = source;
      plan_.runners.clear();
      observer_ = {};
      const FakeModel half = HasStateOf(DType::kFloat16);
      const RunOutcome ran =
          Run({{"a", half_first ? half : Recurs(1)}, {"b", half_first ? Recurs(1) : half}});
      EXPECT_THAT(ran.record.error, IsEmpty());
      EXPECT_FALSE(ran.faults.any());
      EXPECT_THAT(observer_.made["b"], testing::ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
      if (source == StateSource::kCross) {
        EXPECT_EQ(Output(ran, "y").time->crossed->steps, 8);
        EXPECT_THAT(
            ran.record.notes,
            testing::Contains(HasSubstr("--state cross: the states of b are converted from ")));
        continue;
      }
      const std::string types = half_first ? "from float16 of a to its own float32"
                                           : "from float32 of a to its own float16";
      EXPECT_EQ(std::ranges::count(ran.record.notes, "b: state 'state' is converted " + types +
                                                         " at every step (--state reference)"),
                1);
    }
  }
}

TEST_F(StepRunsTest, WhatAHalfCannotHoldIsNamed) {
  plan_.steps.state = StateSource::kReference;
  plan_.inputs.range_words = {"[60000,60001]"};
  const RunOutcome ran = Run({{"a", Recurs(1)}, {"b", HasStateOf(DType::kFloat16)}});
  EXPECT_THAT(ran.record.notes,
              testing::Contains("b: state 'state' of a has values out of the range of float16, "
                                "which become infinite"));
}

TEST_F(StepRunsTest, StatesOfTypesThatDoNotGoTogetherAreRefusedAtOnce) {
  for (const StateSource source : {StateSource::kReference, StateSource::kCross}) {
    plan_.steps.state = source;
    plan_.runners.clear();
    const RunOutcome ran =
        Run({{"a", HasStateOf(DType::kInt64)}, {"b", HasStateOf(DType::kInt32)}});
    EXPECT_THAT(ran.record.error, HasSubstr("the state 'state' is int64 in a and int32 in b, and "
                                            "only floats are converted; leave out --state"));
    EXPECT_THAT(observer_.made["a"], IsEmpty());
  }
}

TEST_F(StepRunsTest, WithoutItsReferenceARunEnds) {
  plan_.steps.state = StateSource::kReference;
  FakeModel dies = Recurs(1);
  dies.infer = [](const TensorMap& feed, int64_t run) {
    return run == 1 ? testing_workers::Dies() : Recurs(1).infer(feed, run);
  };
  const RunOutcome ran = Run({{"a", dies}, {"b", Recurs(1)}});
  EXPECT_TRUE(ran.faults.backend);
  EXPECT_THAT(ran.record.error, HasSubstr("step 2 needs the state of a, which has failed"));
}

}  // namespace
}  // namespace vernier
