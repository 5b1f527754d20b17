// Extreme values, with runners that do as each test says.
#include "check/extremes/extremes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "check/runners/fake_runners.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing_workers::Adds;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::FromRun;
using testing_workers::Refuses;

class ExtremesTest : public testing_workers::FakeRunners {
 protected:
  ExtremesRecord Check(const std::map<std::string, FakeModel>& models,
                       std::span<const ExtremeSetRow> sets) {
    Make(models);
    const Result<ExtremesRecord> record =
        CheckExtremes(plan_, sets, shared_, [this](const ExtremeAnswer&) { ++told_; });
    EXPECT_TRUE(record.ok()) << record.status().message();
    return record.ok() ? *record : ExtremesRecord();
  }

  // The row of the set of that name.
  static std::span<const ExtremeSetRow> Only(std::string_view name) {
    for (const ExtremeSetRow& row : ExtremeSets()) {
      if (row.name == name) return {&row, 1};
    }
    ADD_FAILURE() << name;
    return {};
  }

  int told_ = 0;
};

TEST_F(ExtremesTest, RunnersThatTreatEverythingAlikeAgree) {
  const ExtremesRecord record = Check({{"a", Adds(1)}, {"b", Adds(1)}}, ExtremeSets());
  EXPECT_TRUE(record.agree());
  EXPECT_FALSE(record.compared_nothing());
  EXPECT_EQ(record.outputs, 1);
  EXPECT_EQ(told_, static_cast<int>(record.answers.size()));
  EXPECT_EQ(record.runners[0].framework_version, "2.0");
}

TEST_F(ExtremesTest, WhoFlushesDenormalsIsCounted) {
  FakeModel keeps = Adds(0), flushes = Adds(0);
  flushes.infer = [](const TensorMap& feed, int64_t) {
    std::vector<float> values;
    for (const float x : feed.front().tensor.As<float>()) {
      values.push_back(std::fpclassify(x) == FP_SUBNORMAL ? 0.0F : x);
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats({4}, values)}}};
  };
  const ExtremesRecord record = Check({{"a", keeps}, {"b", flushes}}, Only("denormals"));
  ASSERT_EQ(record.answers.size(), 2u);
  EXPECT_EQ(record.answers[0].denormal, 4);
  EXPECT_EQ(record.answers[1].flushed, 4);
  EXPECT_EQ(record.answers[1].beside, "a");
  EXPECT_TRUE(record.agree());  // all of it is finite
}

TEST_F(ExtremesTest, WhoMakesNanOfAFiniteNumberDisagrees) {
  FakeModel spoils = Adds(0);
  spoils.infer = [](const TensorMap&, int64_t) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats({4}, {0, nan, 0, 0})}}};
  };
  const ExtremesRecord record = Check({{"a", Adds(0)}, {"b", spoils}}, Only("denormals"));
  EXPECT_FALSE(record.agree());
  EXPECT_EQ(record.answers[1].only_here_not_finite, 1);
  EXPECT_EQ(record.answers[1].output, "y");
}

TEST_F(ExtremesTest, ARunnerThatRefusesASetIsAnAnswer) {
  const ExtremesRecord record = Check(
      {{"a", Adds(1)}, {"b", Adds(1, FromRun(0, Refuses("no denormals")))}}, Only("denormals"));
  ASSERT_EQ(record.answers.size(), 2u);
  EXPECT_EQ(record.answers[1].failure, "no denormals");
  EXPECT_EQ(record.runners[1].failure, "");
  EXPECT_EQ(record.answers[0].failure, "");
}

TEST_F(ExtremesTest, OutputsWithoutACounterpartAreNotCompared) {
  FakeModel other = Adds(1);
  other.infer = [](const TensorMap&, int64_t) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"z", Floats({1}, {1})}}};
  };
  const ExtremesRecord record = Check({{"a", Adds(1)}, {"b", other}}, Only("denormals"));
  EXPECT_TRUE(record.compared_nothing());
  EXPECT_THAT(record.answers[1].not_compared, ElementsAre("z", "y"));
}

TEST_F(ExtremesTest, ARunnerThatCannotBeOpenedIsNotAsked) {
  FakeModel broken = Adds(1);
  broken.open = BackendError("operator Foo is unknown");
  const ExtremesRecord record = Check({{"a", broken}, {"b", Adds(1)}}, Only("denormals"));
  EXPECT_EQ(record.runners[0].failure, "operator Foo is unknown");
  ASSERT_EQ(record.answers.size(), 1u);
  EXPECT_EQ(record.answers[0].runner, "b");
}

}  // namespace
}  // namespace vernier
