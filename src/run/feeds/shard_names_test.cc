// Names of shards' files, and the commands that make them again.
#include "run/feeds/shard_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "run/shards/shard_command.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShardNames, AreReadAsTheyAreWritten) {
  const ShardPlan shard{3, 12, ShardRule::kContiguous, false};
  for (const char* path : {"result.json", "d/out.npz", "d.x/folder", "../a.b.json"}) {
    const auto name = ReadShardFileName(PathOfShard(path, shard));
    ASSERT_TRUE(name.has_value()) << path;
    EXPECT_EQ(name->whole, path);
    EXPECT_EQ(name->number, 3);
    EXPECT_EQ(name->count, 12);
    EXPECT_FALSE(name->partial || name->stride);
  }
  const ShardPlan stride{3, 12, ShardRule::kStride, false};
  const std::string tensors = PathOfShardTensors("d/out.npz", stride, false);
  EXPECT_EQ(tensors, "d/out.shard-0003-of-0012-stride.npz");
  EXPECT_TRUE(ReadShardFileName(tensors)->stride);
  EXPECT_EQ(ReadShardFileName(tensors)->whole, "d/out.npz");
  EXPECT_EQ(PathOfShardTensors("", stride, false), "");
  EXPECT_EQ(PathOfShardTensors("d/out", stride, false), "d/out.shard-0003-of-0012-stride.json");
  EXPECT_EQ(PathOfShardTensors("d/out", shard, false), "d/out.shard-0003-of-0012.json");
  EXPECT_EQ(ReadShardFileName("d/out.shard-0003-of-0012-stride/")->whole, "d/out");
  ShardPlan fours = stride;
  fours.multiple = 4;
  const std::string batches = PathOfShardTensors("d/out.npz", fours, false);
  EXPECT_EQ(batches, "d/out.shard-0003-of-0012-stride-4.npz");
  EXPECT_EQ(ReadShardFileName(batches)->multiple, 4);
  EXPECT_EQ(ReadShardFileName(batches)->whole, "d/out.npz");
  const std::string images = PathOfShardTensors("d/out.npz", fours, true);
  EXPECT_EQ(images, "d/out.shard-0003-of-0012-stride-images.npz");
  EXPECT_TRUE(ReadShardFileName(images)->skips);
  EXPECT_EQ(ReadShardFileName(images)->whole, "d/out.npz");
}

TEST(ShardNames, TellWhatIsBeingWritten) {
  for (const char* path :
       {"r.shard-0001-of-0002.json.partial", "r.shard-0001-of-0002.json.partial.3"}) {
    const auto name = ReadShardFileName(path);
    ASSERT_TRUE(name.has_value()) << path;
    EXPECT_TRUE(name->partial);
    EXPECT_EQ(name->whole, "r.json");
  }
  for (const char* path : {"r.json", "r.shard-1.json", "r.shard-0-of-2.json", "r.shard-3-of-2.json",
                           "r.shard-*-of-0002.json", ""}) {
    EXPECT_FALSE(ReadShardFileName(path).has_value()) << path;
  }
}

std::string ConcatError(const std::vector<std::string>& names,
                        std::vector<size_t> iterations = {}) {
  std::vector<ShardTensors> files;
  for (size_t i = 0; i < names.size(); ++i) {
    files.push_back({names[i], {iterations.empty() ? 4 : iterations[i]}});
  }
  NoLog log;
  return CheckShardsInOrder(files, log).message();
}

TEST(ShardNames, FilesAreJoinedInOrderAndWhole) {
  const auto name = [](int number, const char* of = "-of-0003.npz") {
    return "o.shard-000" + std::to_string(number) + of;
  };
  EXPECT_EQ(ConcatError({name(1), name(2), name(3)}), "");
  EXPECT_EQ(ConcatError({"a.npz", "a.npz"}), "");
  EXPECT_THAT(ConcatError({name(1), name(3)}),
              HasSubstr("shard 2 of 3 of 'o.npz' is missing before"));
  EXPECT_THAT(ConcatError({name(2), name(1), name(3)}), HasSubstr("comes before shard 1"));
  EXPECT_THAT(ConcatError({name(1), name(2)}), HasSubstr("shard 3 of 3 of 'o.npz' is missing"));
  EXPECT_THAT(ConcatError({name(1), name(1)}), HasSubstr("is shard 1 of 3 again"));
  EXPECT_THAT(ConcatError({name(1), name(2), name(1)}), HasSubstr("comes after shard 2"));
  EXPECT_THAT(ConcatError({name(1), name(2, "-of-0004.npz")}), HasSubstr("not of the same run"));
  const auto by_stride = [&](int number, const std::string& mark = "-stride") {
    return name(number, ("-of-0002" + mark + ".npz").c_str());
  };
  EXPECT_EQ(ConcatError({by_stride(1), by_stride(2)}), "");
  EXPECT_THAT(ConcatError({by_stride(2), by_stride(1)}), HasSubstr("comes before shard 1"));
  EXPECT_THAT(ConcatError({by_stride(1)}), HasSubstr("shard 2 of 2 of 'o.npz' is missing"));
  EXPECT_THAT(ConcatError({by_stride(1), by_stride(2, "-stride-4")}),
              HasSubstr("by stride of 4, after shard 1 of 2 by stride: they are not of the same"));
  EXPECT_THAT(ConcatError({by_stride(1), by_stride(2, "")}), HasSubstr("not of the same run"));
  EXPECT_THAT(ConcatError({by_stride(1, "-stride-images")}),
              HasSubstr("does not say which of them it skipped"));
  EXPECT_EQ(ConcatError({name(1), name(2), name(3)}, {4, 4, 3}), "");
  // Of images some may have been skipped.
  EXPECT_EQ(ConcatError({name(1), name(2), name(3)}, {4, 2, 3}), "");
  // With two iterations for three shards the last one has a file without any.
  EXPECT_EQ(ConcatError({name(1), name(2), name(3)}, {1, 1, 0}), "");
  EXPECT_THAT(ConcatError({name(1), name(2)}, {1, 1}), HasSubstr("shard 3 of 3"));
}

TEST(ShardNames, InputsByStrideAreNotReadBehindEachOther) {
  const std::vector<std::string> alone = {"i.shard-0001-of-0002-stride.npz"};
  EXPECT_TRUE(CheckListedShards(alone).ok());
  const std::vector<std::string> both = {alone[0], "i.shard-0002-of-0002-stride.npz"};
  EXPECT_THAT(CheckListedShards(both).message(), HasSubstr("`vernier data concat` first"));
  EXPECT_TRUE(AreAllByStride(both));
  EXPECT_FALSE(AreAllByStride(alone));
}

TEST(ShardCommand, NamesTheShardAndIsQuoted) {
  const std::vector<std::string> words = {"vernier", "run",        "my model.onnx", "--shard",
                                          "auto",    "--shard-by", "stride"};
  EXPECT_THAT(WithShard(words, "2/7"), ElementsAre("vernier", "run", "my model.onnx", "--shard",
                                                   "2/7", "--shard-by", "stride"));
  EXPECT_EQ(CommandOfShard("/a b", words, "2/7"),
            "cd '/a b' && vernier run 'my model.onnx' --shard 2/7 --shard-by stride");
  const std::vector<std::string> assigned = {"vernier", "run", "--shard=1/2"};
  EXPECT_THAT(WithShard(assigned, "2/2"), ElementsAre("vernier", "run", "--shard=2/2"));
  const std::vector<std::string> none = {"vernier", "run"};
  EXPECT_EQ(CommandOfShard("", none, "2/2"), "vernier run --shard 2/2");
}

}  // namespace
}  // namespace vernier
