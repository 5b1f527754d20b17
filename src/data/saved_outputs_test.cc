// Files of saved outputs that are joined, selected from, converted and recovered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "data/conversion.h"
#include "data/joining.h"
#include "data/recovery.h"
#include "data/selection.h"
#include "io/results/feed_writer.h"
#include "io/results/io_test_data.h"
#include "io/results/results_writer.h"
#include "io/results/saved_tensors.h"
#include "util/log/no_log.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::atomic<int> kNeverEnded{0};

IterationResult OutputOf(const std::string& runner, int seed) {
  return {runner, 0.5, {{"y", SampleTensor(DType::kFloat32, {2}, seed)}}};
}

// Two iterations of each runner; published, or left in parts.
std::string SavedOutputs(const TemporaryFolder& folder, const std::string& name,
                         const std::vector<std::string>& runners, bool published = true) {
  const std::string path = folder / name;
  const auto writer = *ResultsWriter::Create(path, runners);
  for (int i = 0; i < 2; ++i) {
    for (size_t runner = 0; runner < runners.size(); ++runner) {
      EXPECT_TRUE(writer->Append(runner, OutputOf(runners[runner], i)).ok());
    }
  }
  if (published) EXPECT_TRUE(writer->Publish().ok());
  return path;
}

// "onnxrt 2" of each run in a file.
std::vector<std::string> RunsIn(const std::string& path) {
  const Result<SavedTensors> saved = OpenSavedTensors(path, SavedKind::kOutputs);
  EXPECT_TRUE(saved.ok()) << saved.status().message();
  std::vector<std::string> runs;
  if (!saved.ok()) return runs;
  for (const SavedRun& run : saved->reader->runs()) {
    runs.push_back(run.name + " " + std::to_string(run.iterations));
  }
  return runs;
}

TEST(SavedOutputs, AreConcatenatedByRunner) {
  const TemporaryFolder folder;
  NoLog log;
  const DataJoinPlan plan{{SavedOutputs(folder, "a.json", {"onnxrt", "openvino"}),
                           SavedOutputs(folder, "b.npz", {"onnxrt"})},
                          folder / "joined.json"};
  ASSERT_TRUE(ConcatenateData(plan, kNeverEnded, log).ok());
  EXPECT_THAT(RunsIn(plan.output), ElementsAre("onnxrt 4", "openvino 2"));
}

TEST(SavedOutputs, AreNotConcatenatedWithInputs) {
  const TemporaryFolder folder;
  NoLog log;
  const std::string feeds = folder / "feeds.npz";
  const auto writer = *FeedWriter::Create(feeds);
  ASSERT_TRUE(writer->Append({{"x", SampleTensor(DType::kFloat32, {2})}}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const DataJoinPlan plan{{SavedOutputs(folder, "a.json", {"onnxrt"}), feeds}, folder / "no.json"};
  EXPECT_THAT(ConcatenateData(plan, kNeverEnded, log).message(),
              HasSubstr("Cannot concatenate input data with output data"));
  EXPECT_FALSE(std::filesystem::exists(plan.output));
}

TEST(SavedOutputs, BecomeInputsOfWhichTheLastWin) {
  const TemporaryFolder folder;
  RecordingLogger log;
  const DataJoinPlan plan{{SavedOutputs(folder, "a.json", {"onnxrt", "openvino"})},
                          folder / "merged.npz"};
  ASSERT_TRUE(MergeData(plan, kNeverEnded, log).ok());
  EXPECT_TRUE(log.Has("Overwriting input 'y'"));
  const SavedTensors saved = *OpenSavedTensors(plan.output, SavedKind::kInputs);
  EXPECT_EQ(saved.reader->runs().front().iterations, 2u);
}

TEST(SavedOutputs, AreSelectedByRunner) {
  const TemporaryFolder folder;
  NoLog log;
  DataSelectionPlan plan;
  plan.path = SavedOutputs(folder, "a.json", {"onnxrt", "openvino"});
  plan.output = folder / "one.json";
  plan.runners = {"open*"};
  ASSERT_TRUE(SelectData(plan, kNeverEnded, log).ok());
  EXPECT_THAT(RunsIn(plan.output), ElementsAre("openvino 2"));
  plan.runners = {"trt"};
  EXPECT_EQ(SelectData(plan, kNeverEnded, log).code(), StatusCode::kInvalidArgument);
}

TEST(SavedOutputs, OfOneRunnerAreConverted) {
  const TemporaryFolder folder;
  NoLog log;
  DataConversionPlan plan;
  plan.path = SavedOutputs(folder, "a.json", {"onnxrt", "openvino"});
  plan.output = folder / "one.npz";
  plan.runner = "openvino";
  ASSERT_TRUE(ConvertData(plan, kNeverEnded, log).ok());
  EXPECT_THAT(RunsIn(plan.output), ElementsAre("openvino 2"));
}

TEST(SavedOutputs, ThatARunHasLeftInPartsAreRecovered) {
  const TemporaryFolder folder;
  NoLog log;
  const std::string path = SavedOutputs(folder, "left.json", {"onnxrt"}, false);
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(RecoverData({path, std::nullopt, false}, log).ok());
  EXPECT_THAT(RunsIn(path), ElementsAre("onnxrt 2"));
  EXPECT_FALSE(RecoverData({path, std::nullopt, false}, log).ok());
}

}  // namespace
}  // namespace vernier
