// Whole runs whose feeds are sequences of steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/tally.h"
#include "compare/validate.h"
#include "model/onnx/model_type.h"
#include "run/executor.h"
#include "run/live/fake_workers.h"
#include "run/steps/step_states.h"
#include "util/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::FakeWorkers;
using testing_workers::FloatInfo;
using testing_workers::Floats;

// What the first element of `y` and of `x` was in each iteration.
class StepObserver final : public RunObserver {
 public:
  ComparisonDetail DetailWanted() override { return {}; }
  void FeedMade(int64_t, const TensorMap& feed) override {
    fed.push_back(Find(feed, "x")->As<float>().front());
  }
  void OutputsMade(int64_t, const IterationResult& result) override {
    made[result.runner_name].push_back(Find(result.outputs, "y")->As<float>().front());
  }
  void ComparisonsStarted(std::span<const RunnerPair>) override {}
  void IterationStarted(int64_t) override {}
  void PairCompared(const IterationComparison&) override {}
  void PairFinished(const RunnerPair&, const ComparisonTally&) override {}
  void OutputValidated(const std::string&, int64_t, const NamedTensor&,
                       const Validation&) override {}
  void ValidationStarted(const std::vector<std::string>&) override {}
  void ValidationFinished(bool) override {}
  void Progress(int64_t done, int64_t total) override { progress = {done, total}; }

  std::vector<float> fed;
  std::map<std::string, std::vector<float>> made;
  std::pair<int64_t, int64_t> progress;
};

// y and state_n = factor * state + x + error, where `error` is called with the inference's number.
FakeModel Recurs(float factor, std::function<float(int64_t run)> error = {}) {
  FakeModel model;
  model.inputs = {FloatInfo("x", {2}), FloatInfo("state", {2})};
  model.outputs = {FloatInfo("y", {2}), FloatInfo("state_n", {2})};
  model.infer = [factor, error](const TensorMap& feed, int64_t run) {
    const auto x = Find(feed, "x")->As<float>();
    const auto state = Find(feed, "state")->As<float>();
    std::vector<float> next;
    for (size_t i = 0; i < x.size(); ++i) {
      next.push_back(factor * state[i] + x[i] + (error ? error(run) : 0));
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({2}, next)}, {"state_n", Floats({2}, next)}}};
  };
  return model;
}

class StepRunsTest : public testing::Test {
 protected:
  StepRunsTest() {
    plan_.inputs.iterations = 2;
    plan_.inputs.range_words = {"[1,2]"};
    plan_.steps.steps = 4;
    plan_.steps.feed_back = {"auto"};
    plan_.execution.use_subprocess = true;
  }

  RunOutcome Run(const std::map<std::string, FakeModel>& models) {
    for (const auto& [name, model] : models) {
      RunnerPlan runner;
      runner.name = name;
      runner.backend = "fake";
      runner.model.path = name;
      runner.model.type = ModelTypeName(ModelType::kEngine);
      plan_.runners.push_back(runner);
    }
    FakeWorkers workers(models, interrupted_, log_);
    CallerObjects caller;
    caller.workers = &workers;
    return ExecuteRun(plan_, log_, observer_, interrupted_, &caller);
  }

  // Step t of a sequence has added its x t + 1 times, and the next begins with zeros.
  void ExpectSums(const std::string& runner) {
    const std::vector<float>& made = observer_.made[runner];
    ASSERT_EQ(made.size(), 8u);
    for (size_t i = 0; i < made.size(); ++i) {
      const float x = observer_.fed[i];
      EXPECT_NEAR(made[i], x * static_cast<float>(i % 4 + 1), 1e-5) << i;
    }
    EXPECT_NE(observer_.fed[3], observer_.fed[4]);
  }

  static const OutputRecord& Output(const RunOutcome& ran, const std::string& name) {
    const std::vector<OutputRecord>& outputs = ran.record.pairs.front().outputs;
    return *std::ranges::find_if(outputs, [&](const auto& output) { return output.name == name; });
  }

  RunPlan plan_;
  std::atomic<int> interrupted_{0};
  NoLog log_;
  StepObserver observer_;
};

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
  const Result<TensorMap> state = states->StateFor(0, 1, met);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(Find(*state, "state")->As<float>().front(), 3);
  EXPECT_THAT(states->StateFor(0, 1, {}).status().message(),
              HasSubstr("--state cross: no state of b is compared with 'state_n' of a"));
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
FakeModel TakesAll() {
  FakeModel model;
  model.inputs = {FloatInfo("x", {8}), FloatInfo("state", {2})};
  model.outputs = {FloatInfo("y", {8}), FloatInfo("state_n", {2})};
  model.infer = [](const TensorMap& feed, int64_t) {
    const auto x = Find(feed, "x")->As<float>();
    const auto first = Find(feed, "state")->As<float>();
    std::vector<float> state(first.begin(), first.end()), y;
    for (size_t i = 0; i < x.size(); ++i) y.push_back(state[i % 2] += x[i]);
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({8}, y)}, {"state_n", Floats({2}, state)}}};
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
    EXPECT_THAT(ran.record.notes, testing::Contains(HasSubstr("'state_n' is of no step")));
  }
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
              HasSubstr("--feed-back gn:g: no runner has such an output and input"));
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
