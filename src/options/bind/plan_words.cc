#include "options/bind/plan_words.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "io/results/shard_file_name.h"
#include "options/bind/bind_shard.h"
#include "options/bind/option_use.h"
#include "options/bind/part_words.h"
#include "options/bind/runner_words.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "record/plan/plan_difference.h"
#include "record/schema/runner_name.h"
#include "run/runner/engine_use.h"
#include "util/log/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr const char* kCompare = "compare";

// Files alone, of which saved inputs may be some.
bool IsOfCompare(const RunPlan& plan) { return plan.runners.empty() && plan.inputs_as_outputs; }

OptionTable TableOf(const RunPlan& plan) {
  return IsOfCompare(plan) ? CompareOptionTable() : RunOptionTable();
}

void AddList(const std::string& flag, const std::vector<std::string>& values,
             std::vector<std::string>& words) {
  if (values.empty()) return;
  if (!flag.empty()) words.push_back(flag);
  words.insert(words.end(), values.begin(), values.end());
}

// "[LABEL=]PATH"
std::vector<std::string> SavedSides(const RunPlan& plan) {
  std::vector<std::string> words;
  for (size_t i = 0; i < plan.load_outputs.size(); ++i) {
    const std::string label = i < plan.load_labels.size() ? plan.load_labels[i] : "";
    words.push_back((label.empty() ? "" : label + "=") + plan.load_outputs[i]);
  }
  return words;
}

// The files of the whole run, as they were given.
SavePlan SavesOfWhole(const RunPlan& plan) {
  SavePlan save = plan.save;
  if (!plan.shard.wanted()) return save;
  const auto make_whole = [](std::string& path) {
    if (const std::optional<ShardFileName> name = ReadShardFileName(path)) path = name->whole;
  };
  for (std::string* path : {&save.inputs, &save.outputs, &save.record, &save.rows}) {
    make_whole(*path);
  }
  for (ReportFile& report : save.reports) make_whole(report.path);
  return save;
}

std::vector<std::string> WriteWords(const RunPlan& plan, const OptionTable& table,
                                    bool as_polygraphy, ProfileWords profiles) {
  std::vector<std::string> words = {IsOfCompare(plan) ? kCompare : "run"};
  if (IsOfCompare(plan)) {
    AddList("", SavedSides(plan), words);
  } else {
    AddList("", WordsOfRunners(plan.runners, table, profiles), words);
    AddList("--load-outputs", SavedSides(plan), words);
  }
  ShardWords shard;
  if (plan.shard.wanted()) shard = {ShardText(plan.shard), plan.shard.rule, plan.shard.ends_done};
  AddPartWords(table, {shard}, words);
  AddList("--input-shapes", plan.inputs.shape_words, words);
  std::vector<std::string> dims;
  for (const DimSize& dim : plan.inputs.dims) {
    dims.push_back(dim.dimension + "=" + std::to_string(dim.size));
  }
  AddList("--dim", dims, words);
  RunPlan said = plan;
  said.save = SavesOfWhole(plan);
  if (IsOfCompare(plan)) said.comparison_asked = false;  // as always
  AddPartWords(table,
               {said, said.inputs, said.steps, said.save, said.pictures, said.execution,
                *said.compare, said.decisions},
               words);
  if (plan.lenient && !as_polygraphy) words.emplace_back("--lenient");
  if (plan.blame) {
    words.emplace_back("--blame");
    AddPartWords(table, {*plan.blame}, words);
  }
  return words;
}

Result<RunPlan> BindAgain(std::span<const std::string> words, const OptionTable& table,
                          const RunPlan& plan, const Invocation& invocation) {
  ParseResult parsed = ParseCommandLine(table, words.subspan(1));
  if (!IsOfCompare(plan)) TakePluginOptions(parsed);
  if (parsed.end != ParseEnd::kParsed) return InvalidArgument(parsed.error);
  if (!parsed.unknown.empty()) return InvalidArgument("'" + parsed.unknown.front() + "'");
  const UseOf whose = plan.lenient ? UseOf::kOwnOptions : UseOf::kAllOptions;
  VERNIER_TRY(CheckOptionUse(table, parsed.args, whose));
  NoLog silence;
  VERNIER_ASSIGN_OR_RETURN(
      RunPlan again,
      BindRun(parsed.args, {.command = {}, .as_polygraphy = invocation.as_polygraphy}, silence));
  again.inputs_as_outputs = IsOfCompare(plan);
  again.comparison_asked |= IsOfCompare(plan);
  return again;
}

// Without what is another in each run of the same words.
std::string Comparable(RunPlan plan) {
  plan.command.clear();
  plan.execution.hash_inputs = false;
  for (RunnerPlan& runner : plan.runners) runner.name = WithoutTime(runner.name);
  return ToJson(plan);
}

Status CheckSame(const RunPlan& plan, const OptionTable& table, std::span<const std::string> words,
                 const Invocation& invocation) {
  VERNIER_ASSIGN_OR_RETURN(const RunPlan again, BindAgain(words, table, plan, invocation));
  const std::string wanted = Comparable(plan), made = Comparable(again);
  if (made == wanted) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::optional<PlanDifference> difference,
                           FindPlanDifference(wanted, made));
  if (!difference) return {};
  return InvalidArgument("no words of the command line give '" + difference->setting +
                         "' the value " + difference->first);
}

}  // namespace

Result<std::vector<std::string>> PlanWords(const RunPlan& plan, const Invocation& invocation) {
  const OptionTable table = TableOf(plan);
  Status status;
  for (const ProfileWords profiles : {ProfileWords::kImplied, ProfileWords::kSaid}) {
    std::vector<std::string> words = WriteWords(plan, table, invocation.as_polygraphy, profiles);
    status = CheckSame(plan, table, words, invocation);
    if (status.ok()) return words;
    const bool builds = std::ranges::any_of(
        plan.runners, [](const RunnerPlan& runner) { return BuildsEngines(runner.backend); });
    if (!builds) break;
  }
  return Unimplemented(status.message());
}

}  // namespace vernier
