#include "run/shards/shard_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/version.h"
#include "io/results/io_test_data.h"
#include "io/results/shard_file_name.h"
#include "run/parts/shard_parts.h"
#include "run/parts/shard_writer.h"
#include "util/log/no_log.h"
#include "vernier/run_plan.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;

std::string SaveNoted(const TemporaryFolder& folder, int64_t number, const std::string& note) {
  constexpr int64_t kShards = 2;
  ShardHead head;
  head.version = kVersion;
  head.count = kShards;
  head.numbers = {number};
  head.rule = "contiguous";
  head.plan = ToJson(RunPlan());
  Result<ShardFile> file = ShardFile::Create(
      PathOfShard(folder / "r.json", {number, kShards, ShardRule::kContiguous, false}), head);
  EXPECT_TRUE(file.ok()) << file.status().message();
  ShardIteration line;
  line.index = number - 1;
  EXPECT_TRUE(file->Add(ShardIterationText(line)).ok());
  ShardEnd end;
  end.total = kShards;
  end.notes = {"of both"};
  end.on_mismatch = {"of both", note};
  const Status done = file->Publish(std::move(end));
  EXPECT_TRUE(done.ok()) << done.message();
  return file->path();
}

// What explains a mismatch may have happened on one machine alone.
TEST(ShardMerge, KeepsWhatEveryPartSaysOfMismatches) {
  const TemporaryFolder folder;
  NoLog log;
  MergePlan merge;
  merge.parts = {SaveNoted(folder, 1, "of the first"), SaveNoted(folder, 2, "of the second")};
  merge.output = folder / "both.json";
  merge.partial = true;
  const MergeOutcome merged = MergeShards(merge, log);
  ASSERT_TRUE(merged.merged) << merged.outcome.record.error;
  const Result<ShardPart> both = ShardPart::Open(merge.output);
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_THAT(both->end().on_mismatch, ElementsAre("of both", "of the first", "of the second"));
  EXPECT_THAT(both->end().notes, ElementsAre("of both"));
}

}  // namespace
}  // namespace vernier
