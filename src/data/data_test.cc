// Files of saved inputs that are joined, selected from and converted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "data/conversion.h"
#include "data/joining.h"
#include "data/selection.h"
#include "io/results/feed_writer.h"
#include "io/results/io_test_data.h"
#include "io/results/saved_tensors.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::HasSubstr;

const std::atomic<int> kNever{0};

// A file of this many feeds, which differ.
std::string SavedFeeds(const TemporaryFolder& folder, const std::string& name, int count) {
  const std::string path = folder / name;
  const auto writer = *FeedWriter::Create(path);
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(writer->Append({{"x", SampleTensor(DType::kFloat32, {2, 3}, i)}}).ok());
  }
  EXPECT_TRUE(writer->Finish().ok());
  return path;
}

size_t IterationsOf(const std::string& path) {
  const Result<SavedTensors> saved = OpenSavedTensors(path, SavedKind::kInputs);
  EXPECT_TRUE(saved.ok()) << saved.status().message();
  return saved.ok() ? saved->reader->runs().front().iterations : 0;
}

TEST(Data, IsConcatenatedAndMerged) {
  const TemporaryFolder folder;
  NoLog log;
  DataJoinPlan plan{{SavedFeeds(folder, "two.npz", 2), SavedFeeds(folder, "three.json", 3)},
                    folder / "joined.npz"};
  ASSERT_TRUE(ConcatenateData(plan, kNever, log).ok());
  EXPECT_EQ(IterationsOf(plan.output), 5);
  ASSERT_TRUE(MergeData(plan, kNever, log).ok());
  EXPECT_EQ(IterationsOf(plan.output), 3);
  plan.output = plan.paths.front();
  EXPECT_THAT(ConcatenateData(plan, kNever, log).message(), HasSubstr("is read too"));
  EXPECT_EQ(IterationsOf(plan.output), 2);
}

TEST(Data, IsSelectedFrom) {
  const TemporaryFolder folder;
  NoLog log;
  DataSelectionPlan plan;
  plan.path = SavedFeeds(folder, "all.npz", 4);
  plan.output = folder / "some.json";
  plan.iterations = {{0, 0}, {2, 3}};
  ASSERT_TRUE(SelectData(plan, kNever, log).ok());
  EXPECT_EQ(IterationsOf(plan.output), 3);
  plan.iterations = {{4, 4}};
  EXPECT_THAT(SelectData(plan, kNever, log).message(), HasSubstr("has no iteration 4"));
  plan.iterations.clear();
  plan.runners = {"onnxrt"};
  EXPECT_EQ(SelectData(plan, kNever, log).code(), StatusCode::kInvalidArgument);
}

TEST(Data, IsConverted) {
  const TemporaryFolder folder;
  NoLog log;
  DataConversionPlan plan;
  plan.path = SavedFeeds(folder, "feeds.npz", 2);
  plan.output = folder / "feeds.json";
  ASSERT_TRUE(ConvertData(plan, kNever, log).ok());
  EXPECT_EQ(IterationsOf(plan.output), 2);
  plan.output = folder / "feeds.foo";
  EXPECT_THAT(ConvertData(plan, kNever, log).message(), HasSubstr("no extension of a format"));
}

TEST(Data, IsLeftAsItWasWhenInterrupted) {
  const TemporaryFolder folder;
  NoLog log;
  const std::atomic<int> interrupted{2};
  const DataJoinPlan plan{{SavedFeeds(folder, "one.npz", 1)}, folder / "none.npz"};
  EXPECT_EQ(ConcatenateData(plan, interrupted, log).code(), StatusCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(plan.output));
}

}  // namespace
}  // namespace vernier
