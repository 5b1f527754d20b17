#include "options/bind/bind_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace vernier {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<ShardPlan> Read(const std::string& word, const Variables& variables = {}) {
  std::string where;
  return ReadShard(
      word,
      [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      },
      where);
}

std::string Shown(const Result<ShardPlan>& shard) {
  if (!shard.ok()) return shard.status().message();
  return std::to_string(shard->number) + "/" + std::to_string(shard->count);
}

TEST(Shard, IsGivenOrRefused) {
  EXPECT_EQ(Shown(Read("3/7")), "3/7");
  for (const char* word : {"0/0", "0/7", "9/8", "3", "3/", "/7", "a/b", "-1/2", "auto/0", ""}) {
    EXPECT_THAT(Shown(Read(word)), HasSubstr("expected K/N")) << word;
  }
}

TEST(Shard, ComesFromLaunchers) {
  EXPECT_EQ(Shown(Read("auto", {{"RANK", "2"}, {"WORLD_SIZE", "4"}})), "3/4");
  EXPECT_EQ(Shown(Read("auto/5", {{"JOB_COMPLETION_INDEX", "4"}})), "5/5");
  EXPECT_EQ(Shown(Read("auto", {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "5"}})),
            "1/5");
  const Variables task = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "0"}};
  EXPECT_EQ(Shown(Read("auto", task)), "2/2");
  const Variables array = {{"SLURM_ARRAY_TASK_ID", "13"},  {"SLURM_ARRAY_TASK_MIN", "1"},
                           {"SLURM_ARRAY_TASK_MAX", "21"}, {"SLURM_ARRAY_TASK_STEP", "4"},
                           {"SLURM_PROCID", "0"},          {"SLURM_NTASKS", "1"}};
  EXPECT_EQ(Shown(Read("auto", array)), "4/6");
}

TEST(Shard, IsNotGuessed) {
  EXPECT_THAT(Shown(Read("auto")), HasSubstr("give --shard K/N"));
  EXPECT_THAT(Shown(Read("auto", {{"JOB_COMPLETION_INDEX", "4"}})), HasSubstr("auto/N"));
  const Variables both = {{"RANK", "2"},
                          {"WORLD_SIZE", "4"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_STEP_ID", "0"}};
  EXPECT_THAT(Shown(Read("auto", both)), HasSubstr("torchrun says 3/4 and Slurm says 2/4"));
  EXPECT_THAT(Shown(Read("auto/8", {{"RANK", "2"}, {"WORLD_SIZE", "4"}})), HasSubstr("3/4"));
}

TEST(Shard, PmixMustNotContradictOthers) {
  const auto read = [](Variables variables, const char* rank) {
    variables["PMIX_RANK"] = rank;
    return Shown(Read("auto/4", variables));
  };
  const Variables job = {{"JOB_COMPLETION_INDEX", "2"}};
  const Variables torch = {{"RANK", "1"}, {"WORLD_SIZE", "4"}};
  const Variables slurm = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}};
  EXPECT_THAT(read(job, "1"), HasSubstr("the Kubernetes Job says 3/4 and PMIx says 2/4"));
  EXPECT_THAT(read(torch, "2"), HasSubstr("torchrun says 2/4 and PMIx says 3/4"));
  EXPECT_THAT(read(slurm, "2"), HasSubstr("Slurm says 2/4 and PMIx says 3/4"));
  EXPECT_EQ(read(job, "2"), "3/4");
  EXPECT_EQ(read(torch, "1"), "2/4");
  EXPECT_EQ(read(slurm, "1"), "2/4");
  // torchrun in the only process of another launcher.
  EXPECT_EQ(read(torch, "0"), "2/4");
  // Processes of a launcher of its own within a task of an array, and the task itself.
  const Variables array = {{"SLURM_ARRAY_TASK_ID", "3"},
                           {"SLURM_ARRAY_TASK_MIN", "1"},
                           {"SLURM_ARRAY_TASK_MAX", "4"},
                           {"SLURM_PROCID", "0"}};
  EXPECT_THAT(read(array, "1"), HasSubstr("the Slurm array says 3/4 and PMIx says 2/4"));
  EXPECT_EQ(read(array, "0"), "3/4");
}

TEST(Shard, BrokenVariablesAreNamed) {
  const auto read = [](const Variables& variables) { return Shown(Read("auto", variables)); };
  EXPECT_THAT(read({{"RANK", "1"}}), HasSubstr("RANK=1 is set, and WORLD_SIZE is not"));
  EXPECT_THAT(read({{"RANK", "abc"}, {"WORLD_SIZE", "4"}}),
              HasSubstr("RANK='abc' is not a number"));
  EXPECT_THAT(read({{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
              HasSubstr("RANK=4 and WORLD_SIZE=4: RANK must be from 0 to 3"));
  EXPECT_THAT(read({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), HasSubstr("WORLD_SIZE=0 must be from 1"));
  EXPECT_THAT(read({{"SLURM_ARRAY_TASK_ID", "x"}}), HasSubstr("SLURM_ARRAY_TASK_ID='x' is not a"));
  EXPECT_THAT(read({{"SLURM_ARRAY_TASK_ID", "2"}}), HasSubstr("SLURM_ARRAY_TASK_MIN is not"));
  const Variables mpi = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
  EXPECT_EQ(read(mpi), "2/2");
  EXPECT_EQ(Shown(Read("auto/4", {{"PMIX_RANK", "1"}})), "2/4");
  EXPECT_THAT(read({{"PMIX_RANK", "1"}}), HasSubstr("PMIX_RANK=1 is set, but not the number of"));
  EXPECT_THAT(Shown(Read("auto/2", {{"PMIX_RANK", "2"}})), HasSubstr("must be from 0 to 1"));
  Variables beside = mpi;
  beside["PMIX_RANK"] = "0";
  EXPECT_EQ(read(beside), "2/2");
  // A task of an array that srun has started.
  EXPECT_EQ(read({{"PMIX_RANK", "0"},
                  {"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "1"},
                  {"SLURM_ARRAY_TASK_ID", "3"},
                  {"SLURM_ARRAY_TASK_MIN", "1"},
                  {"SLURM_ARRAY_TASK_MAX", "4"}}),
            "3/4");
  beside = mpi;
  beside["OMPI_COMM_WORLD_SIZE"] = "x";
  EXPECT_THAT(read(beside), HasSubstr("OMPI_COMM_WORLD_SIZE='x' is not a number"));
  // Scripts set it for what they start themselves.
  beside = mpi;
  beside["WORLD_SIZE"] = "8";
  EXPECT_EQ(read(beside), "2/2");
  EXPECT_THAT(
      Shown(Read("auto/3", {{"JOB_COMPLETION_INDEX", "3"}})),
      HasSubstr("JOB_COMPLETION_INDEX=3 and auto/3: JOB_COMPLETION_INDEX must be from 0 to 2"));
}

TEST(Shard, ArrayMustBeARange) {
  // --array=1,3,5
  const Variables list = {{"SLURM_ARRAY_TASK_ID", "3"},    {"SLURM_ARRAY_TASK_MIN", "1"},
                          {"SLURM_ARRAY_TASK_MAX", "5"},   {"SLURM_ARRAY_TASK_STEP", "1"},
                          {"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_JOB_ID", "9"}};
  EXPECT_THAT(Shown(Read("auto", list)), HasSubstr("has 3 tasks between 1 and 5"));
  EXPECT_THAT(Shown(Read("auto", list)), HasSubstr("--array=1-7, or give --shard K/N"));
  Variables range = list;
  range["SLURM_ARRAY_TASK_STEP"] = "2";
  EXPECT_EQ(Shown(Read("auto", range)), "2/3");
  // --array=3, to do one shard of seven again.
  Variables again = {{"SLURM_ARRAY_TASK_ID", "3"},
                     {"SLURM_ARRAY_TASK_MIN", "3"},
                     {"SLURM_ARRAY_TASK_MAX", "3"},
                     {"SLURM_ARRAY_TASK_COUNT", "1"}};
  EXPECT_THAT(Shown(Read("auto", again)), HasSubstr("may be one of a larger array"));
  again.insert({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_THAT(Shown(Read("auto", again)), HasSubstr("may be one of a larger array"));
}

TEST(Shard, OneProcessIsAllOfThem) {
  EXPECT_EQ(Shown(Read("auto", {{"RANK", "0"}, {"WORLD_SIZE", "1"}})), "1/1");
  const Variables task = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_STEP_ID", "0"}};
  EXPECT_EQ(Shown(Read("auto", task)), "1/1");
  Variables more = task;
  more.insert({{"RANK", "2"}, {"WORLD_SIZE", "4"}});
  EXPECT_EQ(Shown(Read("auto", more)), "3/4");
}

// mpirun and torchrun start in the batch script of a Slurm job, whose variables they hand on.
TEST(Shard, BatchScriptOfSlurmIsNoTask) {
  const Variables script = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"}};
  EXPECT_THAT(Shown(Read("auto", script)), HasSubstr("start vernier with srun"));
  Variables rank = script;
  rank.insert({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "5"}});
  EXPECT_EQ(Shown(Read("auto", rank)), "4/5");
}

TEST(Shard, EveryIterationBelongsToOne) {
  for (const ShardRule rule : {ShardRule::kContiguous, ShardRule::kStride}) {
    for (int64_t total = 0; total < 12; ++total) {
      for (int64_t count = 1; count < 9; ++count) {
        std::map<int64_t, int> owners;
        for (int64_t number = 1; number <= count; ++number) {
          const ShardPlan shard{number, count, rule, false};
          for (int64_t i = 0; i < shard.CountOf(total); ++i) ++owners[shard.IndexOf(i, total)];
        }
        ASSERT_EQ(static_cast<int64_t>(owners.size()), total);
        for (const auto& [index, times] : owners) {
          ASSERT_EQ(times, 1);
          ASSERT_TRUE(index >= 0 && index < total);
        }
      }
    }
  }
}

TEST(Shard, FeedsOfOneInferenceStayTogether) {
  for (const ShardRule rule : {ShardRule::kContiguous, ShardRule::kStride}) {
    for (int64_t total = 0; total < 26; ++total) {
      for (int64_t count = 1; count < 9; ++count) {
        std::map<int64_t, int64_t> owners;
        for (int64_t number = 1; number <= count; ++number) {
          ShardPlan shard{number, count, rule, false};
          shard.multiple = 4;
          for (int64_t i = 0; i < shard.CountOf(total); ++i) {
            const int64_t index = shard.IndexOf(i, total);
            ASSERT_EQ(index % 4, i % 4);
            ASSERT_TRUE(owners.emplace(index, number).second);
          }
        }
        ASSERT_EQ(static_cast<int64_t>(owners.size()), total);
        for (const auto& [index, number] : owners) {
          ASSERT_TRUE(index >= 0 && index < total);
          ASSERT_EQ(number, owners.at(index - index % 4));
        }
      }
    }
  }
}

}  // namespace
}  // namespace vernier
