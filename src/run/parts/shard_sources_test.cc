// Shards that read other files are distinguished, and the first that differs is named.
#include "run/parts/shard_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/results/io_test_data.h"
#include "run/parts/shard_differences.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string Difference(const std::vector<ShardSource>& a, const std::vector<ShardSource>& b) {
  return DifferenceOfSources(a, b, {"here", "there"});
}

TEST(ShardSources, AreListedAsTheyAreRead) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "in");
  Write(folder / "in/1.json", "[{}]");
  Write(folder / "in/3.json", "[{}]");
  RunPlan plan;
  plan.inputs.load_paths = {folder / "in"};
  const std::vector<ShardSource> before = FindShardSources(plan);
  ASSERT_EQ(before.size(), 2);
  EXPECT_EQ(before[1].path, folder / "in/3.json");
  EXPECT_EQ(before[1].size, 4);
  EXPECT_EQ(Difference(before, FindShardSources(plan)), "");

  Write(folder / "in/2.json", "[{}]");
  const std::vector<ShardSource> more = FindShardSources(plan);
  EXPECT_EQ(Difference(before, more), "file 2 of --load-inputs is '" + (folder / "in/3.json") +
                                          "' here, and '" + (folder / "in/2.json") + "' there");
  std::filesystem::remove(folder / "in/3.json");
  const std::vector<ShardSource> other = FindShardSources(plan);
  std::filesystem::remove(folder / "in/2.json");
  EXPECT_EQ(Difference(other, FindShardSources(plan)),
            "'" + (folder / "in/2.json") + "' (--load-inputs) was there here, and not there");
}

TEST(ShardSources, ModulesBesideAScriptCount) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "layers/deep");
  Write(folder / "load.py",
        "import os, scales as s; import json\ntry: from . import (  # a note: of two lines;\n"
        "    more,  # the first\n    # import unused\n    other as o)\nimport \\\n    far\n"
        "from layers.deep import net  # unused\nx = 'import this'\n# import unused \\\n"
        "from (prose\nimport last\nx = ('from',\n     '(')\nimport (\n");
  Write(folder / "scales.py", "def f():\n    from later import g\n");
  for (const char* name :
       {"later.py", "more.py", "other.py", "far.py", "last.py", "unused.py", "this.py",
        "layers/__init__.py", "layers/deep/net.py", "layers/notes.txt"}) {
    Write(folder / name, "# one");
  }
  RunPlan plan;
  plan.inputs.script = {folder / "load.py", "load"};
  const std::vector<ShardSource> before = FindShardSources(plan);
  std::vector<std::string> paths;
  for (const ShardSource& source : before) paths.push_back(source.path);
  EXPECT_THAT(paths,
              ::testing::ElementsAre(folder / "load.py", folder / "far.py", folder / "last.py",
                                     folder / "later.py", folder / "layers/__init__.py",
                                     folder / "layers/deep/net.py", folder / "more.py",
                                     folder / "other.py", folder / "scales.py"));
  Write(folder / "later.py", "# two");
  EXPECT_EQ(Difference(before, FindShardSources(plan)),
            "'" + (folder / "later.py") + "' (--data-loader-script, imported by '" +
                (folder / "load.py") + "') has other content here than there");
}

TEST(ShardSources, ContentCounts) {
  const TemporaryFolder folder;
  Write(folder / "in.json", "[{\"x\": 1}]");
  Write(folder / "load.py", "# one");
  Write(folder / "net.py", "# one");
  RunPlan plan;
  plan.inputs.load_paths = {folder / "in.json"};
  plan.inputs.script = {folder / "load.py", "load"};
  plan.runners.resize(1);
  plan.runners[0].name = "mine";
  plan.runners[0].session_options = {{"script", folder / "net.py"}, {"precision", "f32"}};
  const std::vector<ShardSource> before = FindShardSources(plan);
  ASSERT_EQ(before.size(), 3);
  Write(folder / "net.py", "# two");
  EXPECT_EQ(Difference(before, FindShardSources(plan)),
            "'" + (folder / "net.py") + "' (runner 'mine') has other content here than there");
  Write(folder / "load.py", "# longer");
  EXPECT_THAT(Difference(before, FindShardSources(plan)),
              HasSubstr("load.py' (--data-loader-script) has 5 bytes here, and 8 there"));
  // As many bytes as before.
  Write(folder / "in.json", "[{\"x\": 2}]");
  EXPECT_THAT(Difference(before, FindShardSources(plan)), HasSubstr("(--load-inputs) has other"));
}

TEST(ShardSources, FilesOfAModelThatIsAFolderCount) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "net/variables");
  Write(folder / "net/saved_model.pb", "graph");
  Write(folder / "net/variables/variables.index", "one");
  RunPlan plan;
  plan.runners.resize(1);
  plan.runners[0].name = "mine";
  plan.runners[0].model.path = folder / "net";
  plan.runners[0].model.type = "saved-model";
  const uint64_t hash = HashOfRunners(plan);
  const std::vector<ShardSource> before = FindShardSources(plan);
  EXPECT_EQ(HashOfRunners(plan), hash);
  Write(folder / "net/variables/variables.index", "two");
  EXPECT_NE(HashOfRunners(plan), hash);
  EXPECT_EQ(Difference(before, FindShardSources(plan)),
            "'" + (folder / "net/variables/variables.index") +
                "' (runner 'mine') has other content here than there");
  // What is taken for a checkpoint may be a folder with everything in it.
  plan.runners[0].model.type = "ckpt";
  EXPECT_TRUE(FindShardSources(plan).empty());
  Write(folder / "net/checkpoint", "model");
  EXPECT_EQ(FindShardSources(plan).size(), 3);
}

TEST(ShardSources, ACheckpointIsTheFilesThatHaveItsName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "net");
  for (const char* name : {"model.meta", "model.index", "model.data-00000-of-00001", "other.index"})
    Write(folder / ("net/" + std::string(name)), "one");
  RunPlan plan;
  plan.runners.resize(1);
  plan.runners[0].model.path = folder / "net";
  plan.runners[0].model.type = "ckpt";
  plan.runners[0].session_options = {{"ckpt", "model"}};
  const uint64_t hash = HashOfRunners(plan);
  EXPECT_EQ(FindShardSources(plan).size(), 3);
  Write(folder / "net/other.index", "two");
  EXPECT_EQ(HashOfRunners(plan), hash);
  Write(folder / "net/model.data-00000-of-00001", "two");
  EXPECT_NE(HashOfRunners(plan), hash);
}

TEST(ShardSources, OneNumberAmongManyCounts) {
  const TemporaryFolder folder;
  std::string numbers(size_t{6} << 20, 'a');
  Write(folder / "in.npy", numbers);
  RunPlan plan;
  plan.inputs.load_paths = {folder / "in.npy"};
  const std::vector<ShardSource> before = FindShardSources(plan);
  numbers[1'400'003] = 'b';
  Write(folder / "in.npy", numbers);
  EXPECT_THAT(Difference(before, FindShardSources(plan)), HasSubstr("has other content"));
}

TEST(ShardSources, VeryManyFilesAreFewEntries) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "in");
  constexpr int kFiles = 5000;
  for (int i = 0; i < kFiles; ++i)
    Write(folder / ("in/" + std::to_string(10000 + i)) + ".json", "[]");
  RunPlan plan;
  plan.inputs.load_paths = {folder / "in"};
  const std::vector<ShardSource> before = FindShardSources(plan);
  EXPECT_EQ(before.size(), kFiles / 2);
  // As many bytes, in all of them: what is made anew is noticed.
  for (int i = 0; i < kFiles; ++i)
    Write(folder / ("in/" + std::to_string(10000 + i)) + ".json", "{}");
  EXPECT_THAT(Difference(before, FindShardSources(plan)), HasSubstr("has other content"));
  for (int i = 0; i < kFiles; ++i)
    Write(folder / ("in/" + std::to_string(10000 + i)) + ".json", "[]");
  Write(folder / "in/12001.json", "[{}]");
  const std::string difference = Difference(before, FindShardSources(plan));
  EXPECT_THAT(difference, HasSubstr("one of the 2 files from"));
  EXPECT_THAT(difference, HasSubstr("12001.json"));
}

ShardHead HeadOf(const RunPlan& plan, std::vector<std::string> words) {
  ShardHead head;
  head.plan = ToJson(plan);
  head.words = std::move(words);
  return head;
}

TEST(ShardDifferences, CopiesOfAFolderAreOneFolder) {
  const auto made_in = [](const std::string& folder, const std::string& model) {
    RunPlan plan;
    plan.runners.resize(1);
    plan.runners[0].model.path = folder + model;
    ShardHead head = HeadOf(plan, {});
    head.folder = folder;
    head.models = {{folder + model, "12"}};
    head.sources = {
        {"runner 'a', imported by '" + folder + "/b.py'", folder + "/c.py", "", 1, 3, "4"}};
    return head;
  };
  const ShardHead here = made_in("/scratch/here", "/a.onnx");
  EXPECT_EQ(DifferenceOfHeads(here, made_in("/tmp/there", "/a.onnx"), "a.json", "b.json"), "");
  EXPECT_EQ(DifferenceOfHeads(here, made_in("/tmp/there", "/b.onnx"), "a.json", "b.json"),
            "setting 'runners[0].model.path' is \"a.onnx\" in 'a.json' and \"b.onnx\" in 'b.json'");
  ShardHead other = made_in("/tmp/there", "/a.onnx");
  other.models[0].second = "13";
  EXPECT_NE(DifferenceOfHeads(here, other, "a.json", "b.json"), "");
}

TEST(ShardDifferences, NameTheOptionAndBothValues) {
  RunPlan a, b;
  b.compare->atol.fallback = 0.5;
  EXPECT_EQ(DifferenceOfHeads(HeadOf(a, {"vernier", "run"}),
                              HeadOf(b, {"vernier", "run", "--atol=0.5"}), "a.json", "b.json"),
            "--atol is not given in 'a.json' and 0.5 in 'b.json'");
  a.inputs.seed = 3;
  EXPECT_EQ(DifferenceOfHeads(HeadOf(a, {}), HeadOf(b, {}), "a.json", "b.json"),
            "setting 'inputs.seed' is 3 in 'a.json' and not given in 'b.json'");
  b = a;
  a.runners.resize(2);
  b.runners.resize(2);
  b.runners[1].model.path = "new.onnx";
  EXPECT_EQ(
      DifferenceOfHeads(HeadOf(a, {}), HeadOf(b, {}), "a.json", "b.json"),
      "setting 'runners[1].model.path' is not given in 'a.json' and \"new.onnx\" in 'b.json'");
  ShardHead other = HeadOf(a, {});
  other.count = 5;
  EXPECT_EQ(DifferenceOfHeads(HeadOf(a, {}), other, "a.json", "b.json"),
            "the number of shards is 1 in 'a.json' and 5 in 'b.json'");
}

}  // namespace
}  // namespace vernier
