#include "options/bind/bind_shard.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "io/results/shard_file_name.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "record/schema/runner_name.h"
#include "run/feeds/image_feeds.h"
#include "run/feeds/shard_names.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What a launcher says of this process.
struct LauncherShard {
  std::string launcher;
  int64_t number = 0;
  int64_t count = 0;
};

Status BadVariable(const std::string& what) {
  return InvalidArgument("--shard auto: " + what + ": correct it, or give --shard K/N");
}

std::string Assigned(const char* name, int64_t value) {
  return std::string(name) + "=" + std::to_string(value);
}

// nullopt: it is not set.
Result<std::optional<int64_t>> NumberIn(const EnvironmentOf& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::optional<int64_t>();
  const std::optional<int64_t> number = ParseInt(*text);
  if (!number) return BadVariable(std::string(name) + "='" + *text + "' is not a number");
  return number;
}

Status CheckRank(const char* name, int64_t rank, const std::string& size, int64_t count) {
  if (rank >= 0 && rank < count) return {};
  return BadVariable(Assigned(name, rank) + " and " + size + ": " + name + " must be from 0 to " +
                     std::to_string(count - 1));
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

Status BadArray(const std::string& what) {
  return InvalidArgument("--shard auto: the Slurm array " + what +
                         ", so it does not say which shard this is: submit a range that begins"
                         " with the first shard, such as --array=1-7, or give --shard K/N");
}

// nullopt: the launcher has not started this.
Result<std::optional<LauncherShard>> RankIn(const EnvironmentOf& environment,
                                            const RankVariables& variables) {
  const bool is_slurm = std::string_view(variables.within) != variables.rank;
  if (!environment(variables.within)) {
    // A script may have set the size for what it starts, but as a number.
    if (!is_slurm) VERNIER_TRY(NumberIn(environment, variables.size).status());
    return std::optional<LauncherShard>();
  }
  VERNIER_ASSIGN_OR_RETURN(const auto rank, NumberIn(environment, variables.rank));
  VERNIER_ASSIGN_OR_RETURN(const auto size, NumberIn(environment, variables.size));
  // An interactive step of Slurm has a rank, and no number of tasks.
  if (!rank || (!size && is_slurm)) return std::optional<LauncherShard>();
  if (!size) {
    return BadVariable(Assigned(variables.rank, *rank) + " is set, and " + variables.size +
                       " is not");
  }
  if (*size < 1 || *size > kMostShards) {
    return BadVariable(Assigned(variables.size, *size) + " must be from 1 to " +
                       std::to_string(kMostShards));
  }
  VERNIER_TRY(CheckRank(variables.rank, *rank, Assigned(variables.size, *size), *size));
  return std::optional(LauncherShard{variables.launcher, *rank + 1, *size});
}

// nullopt: this is no task of an array.
Result<std::optional<LauncherShard>> ArrayTask(const EnvironmentOf& environment) {
  VERNIER_ASSIGN_OR_RETURN(const auto id, NumberIn(environment, "SLURM_ARRAY_TASK_ID"));
  if (!id) return std::optional<LauncherShard>();
  VERNIER_ASSIGN_OR_RETURN(const auto first, NumberIn(environment, "SLURM_ARRAY_TASK_MIN"));
  VERNIER_ASSIGN_OR_RETURN(const auto last, NumberIn(environment, "SLURM_ARRAY_TASK_MAX"));
  VERNIER_ASSIGN_OR_RETURN(const auto by, NumberIn(environment, "SLURM_ARRAY_TASK_STEP"));
  VERNIER_ASSIGN_OR_RETURN(const auto known, NumberIn(environment, "SLURM_ARRAY_TASK_COUNT"));
  if (!first || !last) {
    return BadVariable(Assigned("SLURM_ARRAY_TASK_ID", *id) + " is set, and SLURM_ARRAY_TASK_" +
                       (first ? "MAX" : "MIN") + " is not");
  }
  if (*last < *first) {
    return BadVariable(Assigned("SLURM_ARRAY_TASK_MIN", *first) + " is above " +
                       Assigned("SLURM_ARRAY_TASK_MAX", *last));
  }
  const int64_t step = std::max<int64_t>(1, by.value_or(1));
  const int64_t count = (*last - *first) / step + 1;
  const int64_t tasks = known.value_or(count);
  if (tasks != count || (*id - *first) % step != 0 || *id < *first || *id > *last) {
    return BadArray("has " + std::to_string(tasks) + " tasks between " + std::to_string(*first) +
                    " and " + std::to_string(*last) + " that are no range");
  }
  return std::optional(LauncherShard{"the Slurm array", (*id - *first) / step + 1, count});
}

struct FoundLaunchers {
  std::vector<LauncherShard> several;  ///< that have started several processes
  std::vector<LauncherShard> single;   ///< that have started this one alone
  bool single_task = false;            ///< of an array
};

// PMIx sets a rank without a size, also beside the variables of Open MPI and Slurm (srun
// --mpi=pmix, in tasks of an array likewise). Rank 0 may be of a launcher's only process, in which
// the others were started.
Status FindPmix(const EnvironmentOf& environment, std::optional<int64_t> count,
                FoundLaunchers& found) {
  constexpr const char* kRank = "PMIX_RANK";
  VERNIER_ASSIGN_OR_RETURN(const auto rank, NumberIn(environment, kRank));
  if (!rank) return {};
  const std::optional<std::string> slurm = environment("SLURM_PROCID");
  if (!found.several.empty()) {
    const bool of_slurm = slurm && ParseInt(*slurm) == rank;
    if (*rank > 0 && !of_slurm)
      found.several.push_back({"PMIx", *rank + 1, found.several[0].count});
    return {};
  }
  if (!found.single.empty() || slurm) return {};
  if (!count) {
    return InvalidArgument("--shard auto: " + Assigned(kRank, *rank) +
                           " is set, but not the number of shards: give --shard auto/N");
  }
  VERNIER_TRY(CheckRank(kRank, *rank, "auto/" + std::to_string(*count), *count));
  found.several.push_back({"PMIx", *rank + 1, *count});
  return {};
}

Result<FoundLaunchers> FindLaunchers(const EnvironmentOf& environment,
                                     std::optional<int64_t> count) {
  FoundLaunchers found;
  constexpr const char* kIndex = "JOB_COMPLETION_INDEX";
  VERNIER_ASSIGN_OR_RETURN(const auto index, NumberIn(environment, kIndex));
  if (index && count) {
    VERNIER_TRY(CheckRank(kIndex, *index, "auto/" + std::to_string(*count), *count));
    found.several.push_back({"the Kubernetes Job", *index + 1, *count});
  }
  for (const RankVariables& variables : kRanks) {
    VERNIER_ASSIGN_OR_RETURN(const auto shard, RankIn(environment, variables));
    if (!shard) continue;
    auto& those = shard->count > 1 ? found.several : found.single;
    those.push_back(*shard);
  }
  VERNIER_ASSIGN_OR_RETURN(const std::optional<LauncherShard> task, ArrayTask(environment));
  found.single_task = task && task->count == 1;
  if (task && task->count > 1) found.several.push_back(*task);
  if (!found.single_task) VERNIER_TRY(FindPmix(environment, count, found));
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

// Where nothing says that there are several processes.
Result<LauncherShard> FromSingle(const FoundLaunchers& found, std::optional<int64_t> count,
                                 const EnvironmentOf& environment) {
  if (found.single_task) {
    return BadArray("has this one task, " + *environment("SLURM_ARRAY_TASK_ID") +
                    ", which may be one of a larger array that was submitted again");
  }
  if (!found.single.empty()) return found.single.front();
  if (environment("SLURM_NTASKS") && !environment("SLURM_STEP_ID")) {
    return InvalidArgument(
        "--shard auto: this is the batch script of a Slurm job, which is not a task of it: start"
        " vernier with srun, or give --shard K/N");
  }
  return InvalidArgument(
      std::string("--shard auto: the environment has no variables of torchrun, MPI or Slurm") +
      (count ? ", nor JOB_COMPLETION_INDEX" : " (a Kubernetes Job needs auto/N)") +
      ": give --shard K/N");
}

Result<ShardPlan> FromLaunchers(std::optional<int64_t> count, const EnvironmentOf& environment,
                                std::string& where) {
  VERNIER_ASSIGN_OR_RETURN(const FoundLaunchers found, FindLaunchers(environment, count));
  const Result<LauncherShard> chosen =
      found.several.empty() ? FromSingle(found, count, environment) : found.several.front();
  VERNIER_TRY(chosen.status());
  const LauncherShard& first = *chosen;
  for (const LauncherShard& other : found.several) {
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

// Images that cannot be read, whose places saved tensors do not show.
bool MayLeaveOut(const RunPlan& plan) {
  const bool saves = !plan.save.inputs.empty() || !plan.save.outputs.empty();
  if (!saves || plan.strict || plan.shard.rule != ShardRule::kStride) return false;
  const Result<std::vector<std::string>> images = FindImages(plan.inputs);
  return images.ok() && !images->empty();
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

Result<std::optional<ShardPlan>> FindShard(const ParsedArgs& args, std::string& where) {
  ShardWords words;
  VERNIER_TRY(BindOptions(args, {}, {words}));
  if (!words.shard) return std::optional<ShardPlan>();
  VERNIER_ASSIGN_OR_RETURN(ShardPlan shard, ReadShard(*words.shard, OwnEnvironment(), where));
  shard.rule = words.rule;
  shard.ends_done = words.ends_done;
  return std::optional(std::move(shard));
}

EnvironmentOf OwnEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::string ShardText(const ShardPlan& shard) { return ShardText(shard.number, shard.count); }

std::string NameOfShard(const ParsedArgs& args, const std::string& path) {
  std::string where;
  const Result<std::optional<ShardPlan>> shard = FindShard(args, where);
  return shard.ok() && *shard ? PathOfShard(path, **shard) : path;
}

void LogShard(std::string_view word, const ShardPlan& shard, const std::string& where,
              Logger& logger) {
  if (where.empty()) return;
  const std::string found =
      "--shard " + std::string(word) + ": " + ShardText(shard) + ", from " + where;
  if (shard.count > 1) return logger.Info(found);
  logger.Warning(found + ", which started only this process: this shard is the whole run");
}

Status BindShard(const ParsedArgs& args, RunPlan& plan, Logger& logger) {
  std::string where;
  VERNIER_ASSIGN_OR_RETURN(std::optional<ShardPlan> shard, FindShard(args, where));
  if (shard || plan.save.reproducible) {
    for (RunnerPlan& runner : plan.runners) runner.name = WithoutTime(runner.name);
  }
  if (!shard) return {};
  plan.shard = *std::move(shard);
  LogShard(ReadField<&ShardWords::shard>(args).value_or(""), plan.shard, where, logger);
  SavePlan& save = plan.save;
  const bool skips = MayLeaveOut(plan);
  for (std::string* path : {&save.inputs, &save.outputs}) {
    *path = PathOfShardTensors(*path, plan.ShardOfFeeds(), skips);
  }
  for (std::string* path : {&save.record, &save.rows}) *path = PathOfShard(*path, plan.shard);
  for (ReportFile& report : save.reports) report.path = PathOfShard(report.path, plan.shard);
  return {};
}

}  // namespace vernier
