// Properties of one runner, tried on runners that keep or break them.
#include "check/properties/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/properties/consistency.h"
#include "check/properties/fake_bench.h"
#include "check/properties/row_properties.h"
#include "check/runners/fake_runners.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_workers::Adds;
using testing_workers::Dies;
using testing_workers::FakeAnswer;
using testing_workers::FakeModel;
using testing_workers::Floats;
using testing_workers::Refuses;

// y = f(x), of any shape; `f` is given all elements of a row and which row it is.
using RowFunction = std::function<std::vector<float>(std::vector<float> row, size_t place)>;

FakeModel ByRows(const RowFunction& f) {
  FakeModel model;
  model.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {2, ""}}}};
  model.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, "N"}, {2, ""}}}};
  model.infer = [f](const TensorMap& feed, int64_t) {
    const Tensor& x = feed.front().tensor;
    std::vector<float> values;
    for (size_t row = 0; row < static_cast<size_t>(x.dims()[0]); ++row) {
      const auto from = x.As<float>().subspan(row * 2, 2);
      for (const float value : f({from.begin(), from.end()}, row)) values.push_back(value);
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats(x.dims(), values)}}};
  };
  return model;
}

const RowFunction kDouble = [](std::vector<float> row, size_t) {
  for (float& value : row) value *= 2;
  return row;
};

// What is computed of a row depends on where it is.
const RowFunction kByPlace = [](std::vector<float> row, size_t place) {
  for (float& value : row) value += static_cast<float>(place);
  return row;
};

// A runner and the batch that its rows are tried with.
class RowPropertiesTest : public testing_workers::FakeRunners {
 protected:
  PropertyRecord Try(const FakeModel& model, PropertyRecord (*property)(Subject&)) {
    Make({{"a", model}});
    const auto source = ModelSource::Prepare(plan_.runners[0].model, log_);
    EXPECT_TRUE(source.ok());
    auto opened = Probe::Open(shared_, plan_.runners[0], **source);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    probe_ = *std::move(opened);
    RowPlan& rows = bench_.rows;
    rows.batch.inputs = {"x"};
    rows.batch.outputs = {"y"};
    if (rows.no_batch.empty()) {
      rows.rows = TensorMap{{"x", Floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}};
    }
    Subject subject{.runner = {shared_, plan_.runners[0], **source},
                    .probe = probe_,
                    .samples = samples_,
                    .sizes = sizes_,
                    .refuses_sizes = false,
                    .compare = plan_.compare,
                    .bounds = bench_.bounds,
                    .repeats = 5,
                    .bench = bench_};
    return property(subject);
  }

  std::unique_ptr<Probe> probe_;
  std::vector<Sample> samples_ = {{}};
  const std::string sizes_;
  FakeBench bench_;
};

TEST_F(RowPropertiesTest, HoldWhereRowsDoNotSeeEachOther) {
  for (const auto property : {IdenticalRows, PermutedRows, BatchOfOne}) {
    plan_.runners.clear();
    const PropertyRecord record = Try(ByRows(kDouble), property);
    EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.detail;
    EXPECT_THAT(record.detail, HasSubstr("batches of 2 to 4 rows"));
    EXPECT_EQ(record.times_over, 0);
    probe_.reset();
  }
}

TEST_F(RowPropertiesTest, IdenticalRowsNameTheRowThatDiffers) {
  const PropertyRecord record = Try(ByRows(kByPlace), IdenticalRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "row 1 of a batch of 2 equal rows");
  EXPECT_THAT(record.detail, HasSubstr("output 'y'"));
}

TEST_F(RowPropertiesTest, PermutedRowsNameTheSmallestBatch) {
  const PropertyRecord record = Try(ByRows(kByPlace), PermutedRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "a batch of 2 rows reversed");
}

TEST_F(RowPropertiesTest, AModelThatReversesItsBatchDoesNotMendAReversedOne) {
  FakeModel model = ByRows(kDouble);
  model.infer = [](const TensorMap& feed, int64_t) {
    const Tensor& x = feed.front().tensor;
    const auto values = x.As<float>();
    std::vector<float> reversed;
    for (size_t row = values.size() / 2; row-- > 0;) {
      reversed.insert(reversed.end(), {values[2 * row], values[2 * row + 1]});
    }
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats(x.dims(), reversed)}}};
  };
  const PropertyRecord record = Try(model, PermutedRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_THAT(record.smallest_case, HasSubstr(" rows shifted by one"));
}

TEST_F(RowPropertiesTest, ARowIsTheSameAlone) {
  const PropertyRecord record = Try(ByRows(kByPlace), BatchOfOne);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_THAT(record.smallest_case, HasSubstr("row 1 of a batch of 2"));
}

// y = 2 x + h, where the state h is what `next` makes of the rows of 2 x + h.
FakeModel WithState(const std::function<std::vector<float>(std::vector<float> rows)>& next) {
  FakeModel model = ByRows(kDouble);
  const auto state = std::make_shared<std::vector<float>>();
  model.reset = [state] { state->clear(); };
  model.infer = [state, next](const TensorMap& feed, int64_t) {
    const Tensor& x = feed.front().tensor;
    std::vector<float> y(x.As<float>().begin(), x.As<float>().end());
    state->resize(y.size());
    for (size_t i = 0; i < y.size(); ++i) y[i] = 2 * y[i] + (*state)[i];
    *state = next(y);
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", Floats(x.dims(), y)}}};
  };
  return model;
}

class RowStatesTest : public RowPropertiesTest {
 protected:
  RowStatesTest() { samples_.front().later.outputs.resize(2); }
};

TEST_F(RowStatesTest, HoldWhereStatesOfRowsStayApart) {
  for (const auto property : {IdenticalRows, PermutedRows, BatchOfOne}) {
    plan_.runners.clear();
    const PropertyRecord record =
        Try(WithState([](std::vector<float> rows) { return rows; }), property);
    EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.detail;
    EXPECT_THAT(record.detail, HasSubstr("; 3 inferences after each reset"));
    probe_.reset();
  }
}

TEST_F(RowStatesTest, RowsThatMeetInTheStateAreFound) {
  const PropertyRecord record = Try(WithState([](std::vector<float> rows) {
                                      return std::vector<float>(rows.size(), rows.front());
                                    }),
                                    PermutedRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken) << record.detail;
  EXPECT_EQ(record.smallest_case, "a batch of 2 rows reversed, inference 2");
}

TEST_F(RowStatesTest, ARowWhoseStateIsMadeOfOthersIsNotAsAlone) {
  const auto shift = [](std::vector<float> rows) {
    std::rotate(rows.begin(), rows.end() - 2, rows.end());
    return rows;
  };
  const PropertyRecord record = Try(WithState(shift), BatchOfOne);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken) << record.detail;
  EXPECT_EQ(record.smallest_case, "row 0 of a batch of 2, inference 2");
}

TEST_F(RowStatesTest, EqualRowsMayGetOtherStates) {
  const auto of_place = [](std::vector<float> rows) {
    rows.back() += 1;
    return rows;
  };
  const PropertyRecord record = Try(WithState(of_place), IdenticalRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken) << record.detail;
  EXPECT_EQ(record.smallest_case, "row 1 of a batch of 2 equal rows, inference 2");
}

TEST_F(RowPropertiesTest, WithoutABatchThereIsNothingToTry) {
  bench_.rows.no_batch = "no input has a free first dimension";
  const PropertyRecord record = Try(ByRows(kDouble), PermutedRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kNotApplicable);
  EXPECT_EQ(record.detail, "no input has a free first dimension");
}

TEST_F(RowPropertiesTest, ARunnerThatDiesBreaksThem) {
  FakeModel dies = ByRows(kDouble);
  dies.infer = [](const TensorMap&, int64_t) { return Dies(); };
  const PropertyRecord record = Try(dies, IdenticalRows);
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "a batch of 2 equal rows");
  EXPECT_THAT(record.detail, HasSubstr("closed its connection"));
}

class ConsistencyTest : public testing_workers::FakeRunners {
 protected:
  // The runners with these properties tried on them.
  std::vector<ConsistencyRunner> Check(const std::map<std::string, FakeModel>& models,
                                       std::vector<std::string> properties) {
    Make(models);
    ConsistencyOptions options;
    options.only = std::move(properties);
    const Result<ConsistencyRecord> record =
        CheckConsistency(plan_, options, shared_,
                         [this](const ConsistencyRunner&, const PropertyRecord&) { ++told_; });
    EXPECT_TRUE(record.ok()) << record.status().message();
    return record.ok() ? record->runners : std::vector<ConsistencyRunner>();
  }

  int told_ = 0;
};

// y = x, but for one element that counts the inferences.
FakeModel Counts() {
  FakeModel model = Adds(0);
  model.infer = [](const TensorMap&, int64_t run) {
    return FakeAnswer{FakeAnswer::Kind::kOutputs,
                      TensorMap{{"y", Floats({4}, {1, static_cast<float>(run), 3, 4})}}};
  };
  return model;
}

TEST_F(ConsistencyTest, ARunnerThatAnswersAlikeIsConsistent) {
  const auto runners = Check({{"a", Adds(1)}}, {"repeated-runs", "fresh-session"});
  ASSERT_EQ(runners.size(), 1u);
  ASSERT_EQ(runners[0].properties.size(), 2u);
  EXPECT_EQ(runners[0].properties[0].verdict, PropertyVerdict::kHolds);
  EXPECT_EQ(runners[0].properties[0].detail, "4 more runs, the same bits");
  EXPECT_EQ(runners[0].properties[1].verdict, PropertyVerdict::kHolds);
  EXPECT_EQ(runners[0].coverage.outputs, 1);
  EXPECT_EQ(runners[0].coverage.elements, 4);
  EXPECT_EQ(told_, 2);
}

TEST_F(ConsistencyTest, OutputsThatChangeFromRunToRunAreNamed) {
  const auto runners = Check({{"a", Counts()}}, {"repeated-runs"});
  ASSERT_EQ(runners.at(0).properties.size(), 1u);
  const PropertyRecord& record = runners[0].properties[0];
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(record.smallest_case, "run 2");
  EXPECT_THAT(record.detail, HasSubstr("output 'y' at (1,): 0 against 1"));
}

// y = x, and of another shape from this inference on.
FakeModel ChangesAt(int64_t inference) {
  FakeModel model = Adds(0);
  model.infer = [inference](const TensorMap&, int64_t run) {
    const Tensor y = run < inference ? Floats({4}, {1, 2, 3, 4}) : Floats({1}, {1});
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", y}}};
  };
  return model;
}

TEST_F(ConsistencyTest, OutputsThatChangeBehindTheRepeatedRunsAreNamed) {
  const auto runners = Check({{"a", ChangesAt(5)}}, {"repeated-runs", "later-runs"});
  ASSERT_EQ(runners.at(0).properties.size(), 2u);
  EXPECT_EQ(runners[0].properties[0].verdict, PropertyVerdict::kHolds);
  const PropertyRecord& record = runners[0].properties[1];
  EXPECT_EQ(record.verdict, PropertyVerdict::kBroken) << record.detail;
  EXPECT_EQ(record.smallest_case, "run 1 after all else");
  EXPECT_THAT(record.detail, HasSubstr("output 'y'"));
}

TEST_F(ConsistencyTest, LaterRunsAreNotAccusedOfWhatRepeatedOnesShow) {
  const auto runners = Check({{"a", Counts()}}, {"repeated-runs", "later-runs"});
  EXPECT_EQ(runners.at(0).properties.at(0).verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(runners[0].properties.at(1).verdict, PropertyVerdict::kNotApplicable);
}

// As OpenVINO's stateful models: once an inference was refused, a reset is of no use, and only a
// new session runs.
TEST_F(ConsistencyTest, ARunnerThatRefusesASecondInferenceIsNotAccused) {
  struct Session {
    bool begun = false, broken = false;
  };
  const auto session = std::make_shared<Session>();
  FakeModel model = Adds(1);
  const auto adds = model.infer;
  model.reset = [session] { session->begun = false; };
  model.infer = [session, adds](const TensorMap& feed, int64_t run) {
    if (run == 0) *session = {};
    session->broken |= session->begun;
    session->begun = true;
    return session->broken ? Refuses("the mask is too short") : adds(feed, run);
  };
  const auto runners = Check({{"a", model}}, {"repeated-runs", "later-runs"});
  for (const PropertyRecord& record : runners.at(0).properties) {
    EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.name << ": " << record.detail;
  }
}

// A bool that chooses a branch: sizes that one takes, the other need not.
TEST_F(ConsistencyTest, ASwitchStaysAsItIsWhereSizesChange) {
  const auto first = std::make_shared<std::optional<int>>();
  FakeModel model;
  model.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "n"}}},
                  {"use_cache", DType::kBool, std::vector<Dim>{{1, ""}}}};
  model.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{-1, "n"}}}};
  model.infer = [first](const TensorMap& feed, int64_t) {
    const int now = static_cast<int>(Find(feed, "use_cache")->bytes().front());
    if (!*first) *first = now;
    if (**first != now) return Refuses("the other branch takes other sizes");
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", *Find(feed, "x")}}};
  };
  const auto runners = Check({{"a", model}}, {"shape-sweep"});
  const PropertyRecord& record = runners.at(0).properties.at(0);
  EXPECT_EQ(record.verdict, PropertyVerdict::kHolds) << record.detail;
}

TEST_F(ConsistencyTest, ARunnerThatFailsLeavesTheOthersGoing) {
  FakeModel dies = Adds(1);
  dies.infer = [](const TensorMap&, int64_t) { return Refuses("no room"); };
  const auto runners = Check({{"a", dies}, {"b", Adds(1)}}, {"repeated-runs"});
  ASSERT_EQ(runners.size(), 2u);
  EXPECT_EQ(runners[0].failure, "no room");
  EXPECT_TRUE(runners[0].properties.empty());
  EXPECT_EQ(runners[1].failure, "");
  EXPECT_EQ(runners[1].properties.size(), 1u);
}

TEST_F(ConsistencyTest, SizesThatNobodyGaveAreFoundForEachRunner) {
  FakeModel picky;
  picky.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{1, {}}, {-1, "W"}}}};
  picky.outputs = {{"y", DType::kFloat32, std::vector<Dim>{{1, {}}, {-1, "W"}}}};
  picky.infer = [](const TensorMap& feed, int64_t) {
    const Tensor& x = feed.front().tensor;
    if (x.dims()[1] % 4 != 0) return Refuses("W is no multiple of 4");
    return FakeAnswer{FakeAnswer::Kind::kOutputs, TensorMap{{"y", x}}};
  };
  const auto runners = Check({{"a", picky}, {"b", Adds(1)}}, {"repeated-runs"});
  ASSERT_EQ(runners.size(), 2u);
  EXPECT_EQ(runners[0].failure, "");
  EXPECT_THAT(runners[0].sizes_found, HasSubstr("'W' = 4"));
  EXPECT_EQ(runners[0].properties.at(0).verdict, PropertyVerdict::kHolds);
  EXPECT_EQ(runners[1].sizes_found, "");
}

TEST_F(ConsistencyTest, ARunnerWithoutOutputsShowsNothing) {
  FakeModel silent = Adds(1);
  silent.infer = [](const TensorMap&, int64_t) { return FakeAnswer(); };
  const auto runners = Check({{"a", silent}}, {"repeated-runs"});
  EXPECT_TRUE(runners.at(0).nothing_to_compare);
  EXPECT_THAT(runners[0].failure, HasSubstr("no outputs that could be compared"));
  EXPECT_TRUE(runners[0].properties.empty());
}

TEST_F(ConsistencyTest, ThePropertiesOfRowsFindTheBatchThemselves) {
  const auto runners = Check({{"a", ByRows(kByPlace)}, {"b", ByRows(kDouble)}}, {"identical-rows"});
  ASSERT_EQ(runners.size(), 2u);
  EXPECT_EQ(runners[0].properties.at(0).verdict, PropertyVerdict::kBroken);
  EXPECT_EQ(runners[1].properties.at(0).verdict, PropertyVerdict::kHolds)
      << runners[1].properties[0].detail;
}

TEST_F(ConsistencyTest, APropertyThatThereIsNotIsNamedWithThoseThatThereAre) {
  ConsistencyOptions options;
  options.skip = {"repeated-run"};
  const Status status = CheckPropertyNames(options);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "--skip: 'repeated-run' is not a property; did you mean 'repeated-runs'?");
  options.only = {"xyz"};
  EXPECT_THAT(CheckPropertyNames(options).message(),
              HasSubstr("--only: 'xyz' is not a property; the properties are: repeated-runs, "));
}

}  // namespace
}  // namespace vernier
