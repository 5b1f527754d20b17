#include "cli/bind_shard.h"

#include <cstdlib>
#include <utility>
#include <vector>

#include "record/runner_name.h"
#include "run/shards/shard_writer.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// What a launcher says of this process.
struct LauncherShard {
  std::string launcher;
  int64_t number = 0;
  int64_t count = 0;
};

std::optional<int64_t> NumberIn(const EnvironmentOf& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  return text ? ParseInt(*text) : std::nullopt;
}

struct RankVariables {
  const char* launcher;
  const char* rank;  ///< from 0
  const char* size;
  const char* within;  ///< not its rank where this is not set, too
};
// A batch script of Slurm has the rank 0 of all its tasks, and is none: those of srun have a step.
constexpr RankVariables kRanks[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "RANK"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"MPI", "PMI_RANK", "PMI_SIZE", "PMI_RANK"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

std::optional<LauncherShard> ArrayTask(const EnvironmentOf& environment) {
  const auto id = NumberIn(environment, "SLURM_ARRAY_TASK_ID");
  const auto first = NumberIn(environment, "SLURM_ARRAY_TASK_MIN");
  const auto last = NumberIn(environment, "SLURM_ARRAY_TASK_MAX");
  const int64_t step = NumberIn(environment, "SLURM_ARRAY_TASK_STEP").value_or(1);
  if (!id || !first || !last || step < 1 || *last < *first) return std::nullopt;
  return LauncherShard{"the Slurm array", (*id - *first) / step + 1, (*last - *first) / step + 1};
}

std::vector<LauncherShard> FindLaunchers(const EnvironmentOf& environment,
                                         std::optional<int64_t> count) {
  std::vector<LauncherShard> found;
  const auto index = NumberIn(environment, "JOB_COMPLETION_INDEX");
  if (index && count) found.push_back({"the Kubernetes Job", *index + 1, *count});
  for (const RankVariables& variables : kRanks) {
    const auto rank = NumberIn(environment, variables.rank);
    const auto size = NumberIn(environment, variables.size);
    if (!environment(variables.within)) continue;
    if (rank && size && *size > 1) found.push_back({variables.launcher, *rank + 1, *size});
  }
  if (const auto task = ArrayTask(environment); task && task->count > 1) found.push_back(*task);
  return found;
}

std::string ShardText(int64_t number, int64_t count) {
  return std::to_string(number) + "/" + std::to_string(count);
}

Status NoShard(std::string_view word) {
  return InvalidArgument(
      "--shard: expected K/N with 1 <= K <= N <= " + std::to_string(kMostShards) +
      ", 'auto' or 'auto/N', got '" + std::string(word) + "'");
}

Result<ShardPlan> FromLaunchers(std::optional<int64_t> count, const EnvironmentOf& environment,
                                std::string& where) {
  const std::vector<LauncherShard> found = FindLaunchers(environment, count);
  if (found.empty() && environment("SLURM_NTASKS") && !environment("SLURM_STEP_ID")) {
    return InvalidArgument(
        "--shard auto: this is the batch script of a Slurm job, which is no task of it: start"
        " vernier with srun, or give --shard K/N");
  }
  if (found.empty()) {
    return InvalidArgument(
        std::string("--shard auto: there is nothing of torchrun, MPI or Slurm in the environment") +
        (count ? ", nor JOB_COMPLETION_INDEX" : " (a Kubernetes Job needs auto/N)") +
        ": give --shard K/N");
  }
  const LauncherShard& first = found.front();
  for (const LauncherShard& other : found) {
    if (other.number == first.number && other.count == first.count) continue;
    return InvalidArgument("--shard auto: " + first.launcher + " says " +
                           ShardText(first.number, first.count) + " and " + other.launcher +
                           " says " + ShardText(other.number, other.count) + ": give --shard K/N");
  }
  const bool wrong = (count && *count != first.count) || first.count > kMostShards;
  if (wrong || first.number < 1 || first.number > first.count) {
    return InvalidArgument("--shard auto" + (count ? "/" + std::to_string(*count) : "") + ": " +
                           first.launcher + " says " + ShardText(first.number, first.count));
  }
  where = first.launcher;
  return ShardPlan{first.number, first.count, ShardRule::kContiguous, false};
}

}  // namespace

Result<ShardPlan> ReadShard(std::string_view word, const EnvironmentOf& environment,
                            std::string& where) {
  const size_t slash = word.find('/');
  const std::string_view before = word.substr(0, slash);
  std::optional<int64_t> count;
  if (slash != std::string_view::npos) {
    count = ParseInt(word.substr(slash + 1));
    if (!count || *count < 1) return NoShard(word);
  }
  if (before == "auto") return FromLaunchers(count, environment, where);
  const std::optional<int64_t> number = ParseInt(before);
  if (!number || !count || *number < 1 || *number > *count || *count > kMostShards) {
    return NoShard(word);
  }
  return ShardPlan{*number, *count, ShardRule::kContiguous, false};
}

EnvironmentOf OwnEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::string ShardText(const ShardPlan& shard) { return ShardText(shard.number, shard.count); }

Status BindShard(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  const auto word = args.Value("shard");
  if (word || plan.save.reproducible) {
    for (RunnerPlan& runner : plan.runners) runner.name = WithoutTime(runner.name);
  }
  if (!word) return {};
  std::string where;
  VERNIER_ASSIGN_OR_RETURN(plan.shard, ReadShard(*word, OwnEnvironment(), where));
  if (args.Value("shard_by") == "stride") plan.shard.rule = ShardRule::kStride;
  plan.shard.ends_done = args.Value("shard_exit") == "done";
  if (!where.empty()) {
    logger.Info("--shard " + std::string(*word) + ": " + ShardText(plan.shard) + ", from " + where);
  }
  SavePlan& save = plan.save;
  for (std::string* path : {&save.inputs, &save.outputs, &save.record, &save.rows}) {
    *path = PathOfShard(*path, plan.shard);
  }
  for (ReportFile& report : save.reports) report.path = PathOfShard(report.path, plan.shard);
  return {};
}

}  // namespace vernier
