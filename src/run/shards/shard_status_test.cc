// Parts are believed to the last byte, or not at all; those that are being written count as begun.
#include "run/shards/shard_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "io/bytes/part_file.h"
#include "io/results/io_test_data.h"
#include "io/results/shard_file_name.h"
#include "run/parts/begun_parts.h"
#include "run/parts/shard_parts.h"
#include "run/parts/shard_writer.h"
#include "util/files/input_file.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kThreeShards = 3, kAllIterations = 12;

ShardHead HeadOfShard(int64_t number) {
  ShardHead head;
  head.version = "1";
  head.count = kThreeShards;
  head.numbers = {number};
  head.rule = "contiguous";
  head.began_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  head.plan = "{}";
  return head;
}

std::string PlaceOfShard(const TemporaryFolder& folder, int64_t number) {
  return PathOfShard(folder / "r.json", {number, kThreeShards, ShardRule::kContiguous, false});
}

// With some of its lines, not all of which have passed.
Result<ShardFile> BeginShard(const TemporaryFolder& folder, const ShardHead& head, int64_t lines) {
  const int64_t number = head.numbers.front();
  VERNIER_ASSIGN_OR_RETURN(ShardFile file, ShardFile::Create(PlaceOfShard(folder, number), head));
  for (int64_t i = 0; i < lines; ++i) {
    ShardIteration line;
    line.index = (number - 1) * (kAllIterations / kThreeShards) + i;
    ShardOutput output;
    output.row.output = "y";
    output.row.verdict = i == 1 ? "failed" : "passed";
    line.pairs.resize(1);
    line.pairs[0].outputs = {output};
    VERNIER_TRY(file.Add(ShardIterationText(line)));
  }
  return file;
}

std::string SaveShard(const TemporaryFolder& folder, int64_t number) {
  Result<ShardFile> file = BeginShard(folder, HeadOfShard(number), kAllIterations / kThreeShards);
  EXPECT_TRUE(file.ok()) << file.status().message();
  ShardEnd end;
  end.total = kAllIterations;
  end.seconds = 10;
  const Status done = file->Publish(end);
  EXPECT_TRUE(done.ok()) << done.message();
  return file->path();
}

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(ShardParts, EveryByteIsChecked) {
  const TemporaryFolder folder;
  const std::string path = SaveShard(folder, 1);
  ASSERT_TRUE(ShardPart::Open(path).ok()) << ShardPart::Open(path).status().message();
  const std::string text = Slurp(path);
  const std::string damaged = folder / "damaged.json";
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(damaged, std::ios::binary) << bytes;
    const Result<ShardPart> part = ShardPart::Open(damaged);
    return !part.ok() && part.status().code() == StatusCode::kMalformed;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ (i % 2 == 0 ? 0x01 : 0x20));
    ASSERT_TRUE(refused(other)) << "byte " << i << " of " << text.size();
    if (i % 16 == 0) {
      ASSERT_TRUE(refused(text.substr(0, i))) << "the first " << i << " bytes";
    }
  }
  EXPECT_TRUE(refused(text + "\n"));
  EXPECT_TRUE(refused(text + "x"));
}

TEST(ShardStatus, ShardThatIsBeingWrittenHasBegun) {
  const TemporaryFolder folder;
  NoLog log;
  const std::string done = SaveShard(folder, 1);
  Result<ShardFile> running = BeginShard(folder, HeadOfShard(2), 2);
  ASSERT_TRUE(running.ok());
  ShardsSeen seen = LookAtShards({done}, log);
  ASSERT_EQ(seen.begun.size(), 1);
  EXPECT_EQ(seen.begun[0].number, 2);
  EXPECT_EQ(seen.begun[0].iterations, 2);
  EXPECT_THAT(seen.done, ElementsAre(1));
  EXPECT_THAT(seen.missing, ElementsAre(3));
  EXPECT_EQ(seen.iterations, 6);
  EXPECT_EQ(seen.agreeing, 4);
  // Ten seconds for four iterations.
  EXPECT_THAT(DescribeShards(seen), HasSubstr("s of work in what is missing"));
  ASSERT_TRUE(seen.seconds_missing.has_value());
  EXPECT_LE(*seen.seconds_missing, 10);

  // Before anything is done a shell hands the pattern on.
  std::filesystem::remove(done);
  seen = LookAtShards({folder / "r.shard-*.json"}, log);
  EXPECT_EQ(seen.begun.size(), 1);
  EXPECT_THAT(seen.missing, ElementsAre(1, 3));
}

TEST(BegunParts, OneThatAnotherProcessRemovesIsNotHeld) {
  const TemporaryFolder folder;
  const std::string place = PlaceOfShard(folder, 1) + ".partial";
  Result<PartFile> part = PartFile::Create(place);
  ASSERT_TRUE(part.ok()) << part.status().message();
  EXPECT_TRUE(HoldBegunPart(part->fd(), place));
  // What is in use is not taken for left.
  RemoveLeftParts(PlaceOfShard(folder, 1));
  EXPECT_TRUE(std::filesystem::exists(place));
  const Result<std::shared_ptr<const InputFile>> others = InputFile::Open(place);
  ASSERT_TRUE(others.ok()) << others.status().message();
  EXPECT_FALSE(HoldBegunPart((*others)->fd(), place));
  // Removed before it was known to be in use; and made anew by a third.
  std::filesystem::remove(place);
  EXPECT_FALSE(HoldBegunPart(part->fd(), place));
  const Result<PartFile> anew = PartFile::Create(place);
  ASSERT_TRUE(anew.ok()) << anew.status().message();
  EXPECT_FALSE(HoldBegunPart(part->fd(), place));
  EXPECT_TRUE(HoldBegunPart(anew->fd(), place));
}

TEST(ShardStatus, WhatWasNotComparedIsCountedApart) {
  const TemporaryFolder folder;
  NoLog log;
  Result<ShardFile> file = ShardFile::Create(PlaceOfShard(folder, 1), HeadOfShard(1));
  ASSERT_TRUE(file.ok());
  for (int64_t i = 0; i < 4; ++i) {
    ShardIteration line;
    line.index = i;
    line.pairs.resize(i < 2 ? 0 : 1);  // one runner, or no output in common
    ASSERT_TRUE(file->Add(ShardIterationText(line)).ok());
  }
  ShardEnd end;
  end.total = kAllIterations;
  ASSERT_TRUE(file->Publish(end).ok());
  const ShardsSeen seen = LookAtShards({file->path()}, log);
  EXPECT_EQ(seen.not_compared, 4);
  EXPECT_THAT(DescribeShards(seen), HasSubstr("0 agree, 0 do not, 4 not compared"));
}

TEST(ShardStatus, MissingShardsAreRanges) {
  ShardsSeen seen;
  seen.count = 1000;
  seen.done = {1, 3};
  seen.missing = {2};
  for (int64_t number = 4; number <= seen.count; ++number) seen.missing.push_back(number);
  EXPECT_THAT(DescribeShards(seen), HasSubstr("; missing: 2, 4-1000\n"));
  EXPECT_THAT(DescribeShards(seen), HasSubstr("0 agree, 0 do not"));
  EXPECT_THAT(DescribeShards(seen), Not(HasSubstr("not compared")));
}

TEST(ShardStatus, ShardThatWasStartedAgainCountsOnce) {
  const TemporaryFolder folder;
  NoLog log;
  const std::string done = SaveShard(folder, 1);
  {
    Result<ShardFile> killed = BeginShard(folder, HeadOfShard(2), 1);
    ASSERT_TRUE(killed.ok());
  }
  const std::string stale = PlaceOfShard(folder, 2) + ".partial";
  ASSERT_TRUE(std::filesystem::exists(stale));
  std::filesystem::last_write_time(
      stale, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  Result<ShardFile> again = BeginShard(folder, HeadOfShard(2), 3);
  ASSERT_TRUE(again.ok());
  const ShardsSeen seen = LookAtShards({done}, log);
  ASSERT_EQ(seen.begun.size(), 1);
  EXPECT_EQ(seen.begun[0].iterations, 3);
  EXPECT_EQ(seen.iterations, 7);
}

TEST(ShardStatus, PartsOfOtherRunsDoNotCount) {
  const TemporaryFolder folder;
  NoLog log;
  const std::string done = SaveShard(folder, 1);
  ShardHead other = HeadOfShard(2);
  other.plan = "{\"inputs\": {\"seed\": 3}}";
  Result<ShardFile> begun = BeginShard(folder, other, 2);
  ASSERT_TRUE(begun.ok());
  std::ofstream(PlaceOfShard(folder, 3) + ".partial") << "{\"vernier_part\":3,\"x\":1}\n";
  const ShardsSeen seen = LookAtShards({done}, log);
  EXPECT_THAT(seen.missing, ElementsAre(2, 3));
  EXPECT_EQ(seen.iterations, 4);
  EXPECT_THAT(DescribeShards(seen), Not(HasSubstr("begun")));
}

}  // namespace
}  // namespace vernier
