// What a run over steps says of inputs and outputs that are not as they should be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>

#include "io/results/feed_writer.h"
#include "io/results/io_test_data.h"
#include "record/schema/coverage.h"
#include "run/steps/step_runs_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::Recurs;
using testing_workers::StepRunsTest;

TEST_F(StepRunsTest, ARangeOfAStateIsRefused) {
  plan_.inputs.range_words = {"[1,2]", "state:[100,200]"};
  EXPECT_THAT(Run({{"a", Recurs(1)}}).record.error,
              HasSubstr("--val-range: 'state' is fed back, and each sequence begins with zeros"));
}

// y and state_n as they are fed, and z as `make` gives it, if it does.
FakeModel WithZ(std::function<std::optional<Tensor>(bool first, int64_t run)> make) {
  FakeModel model = Recurs(1);
  model.outputs.push_back(testing_workers::FloatInfo("z", {1, 2}));
  model.infer = [make = std::move(make)](const TensorMap& feed, int64_t run) {
    const bool first = Find(feed, "state")->As<float>().front() == 0;
    const Tensor y = *Find(feed, "x");
    TensorMap outputs = {{"y", y}, {"state_n", y}};
    if (const std::optional<Tensor> z = make(first, run)) outputs.push_back({"z", *z});
    return FakeAnswer{FakeAnswer::Kind::kOutputs, std::move(outputs)};
  };
  return model;
}

TEST_F(StepRunsTest, AnOutputThatVanishesIsCountedOnce) {
  const auto make = [](int64_t lost) {
    return WithZ([lost](bool, int64_t run) {
      return run == lost ? std::nullopt : std::optional(Floats({1, 2}, {1, 2}));
    });
  };
  const RunOutcome ran = Run({{"a", make(-1)}, {"b", make(2)}});
  EXPECT_EQ(CountCoverage(ran.record.pairs.front()).one_sided, 0);
  EXPECT_THAT(ran.record.faults, Contains(HasSubstr("1 output has no counterpart, first at step 2 "
                                                    "of sequence 0")));
}

TEST_F(StepRunsTest, AnOutputThatLosesItsElementsIsNoPass) {
  const FakeModel loses = WithZ([](bool first, int64_t) {
    return std::optional(first ? Floats({1, 2}, {1, 2}) : Floats({1, 0}, {}));
  });
  const RunOutcome ran = Run({{"a", loses}, {"b", loses}});
  EXPECT_TRUE(ran.faults.incomplete);
  EXPECT_THAT(ran.record.faults,
              Contains(HasSubstr("output 'z' has no elements in 6 of 8 iterations")));
  plan_.runners.clear();
  plan_.lenient = true;
  const RunOutcome lenient = Run({{"a", loses}, {"b", loses}});
  EXPECT_FALSE(lenient.faults.any());
  EXPECT_THAT(lenient.record.notes,
              Contains(HasSubstr("output 'z' shows nothing in 6 of 8 iterations (no elements)")));
}

// The inputs of a file, one sequence after the other.
class LoadedStepsTest : public StepRunsTest {
 protected:
  RunOutcome RunFeeds(const std::vector<TensorMap>& feeds) {
    const TemporaryFolder folder;
    plan_.inputs.load_paths = {folder / "x.json"};
    const auto writer = *FeedWriter::Create(plan_.inputs.load_paths.front());
    for (const TensorMap& feed : feeds) EXPECT_TRUE(writer->Append(feed).ok());
    EXPECT_TRUE(writer->Finish().ok());
    plan_.inputs.range_words.clear();
    plan_.steps.steps.reset();
    plan_.steps.slices = {"x:axis=0"};
    return Run({{"a", Recurs(1)}});
  }
};

TEST_F(LoadedStepsTest, ASequenceThatCannotBeBegunIsNamed) {
  const RunOutcome ran =
      RunFeeds({{{"x", Floats({4}, {1, 2, 3, 4})}}, {{"state", Floats({2}, {1, 2})}}});
  EXPECT_THAT(ran.record.error, HasSubstr("the inputs have no 'x'"));
  EXPECT_THAT(ran.record.faults, Contains(HasSubstr("the run ended at step 0 of sequence 1")));
}

}  // namespace
}  // namespace vernier
