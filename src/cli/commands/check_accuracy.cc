// Re-checks saved metrics and decisions against new thresholds, without the tensors.
#include <algorithm>
#include <chrono>

#include "cli/commands/command_start.h"
#include "cli/commands/comparison_session.h"
#include "cli/table/commands.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/option_sets.h"
#include "run/saved/row_writer.h"
#include "session/rows/accuracy_session.h"
#include "session/rows/rows_session.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Without an option of `simple` it asks for nothing: its default, elemwise, cannot be judged anew.
bool AsksForSimple(const ParsedArgs& args) {
  return std::ranges::any_of(args.given(), [](const GivenOption& given) {
    const OptionRow& row = *given.row;
    return CompareSimpleGroup().Has(row.dest) || SetsField<&CompareOptions::no_shape_check>(row) ||
           SetsField<&CompareOptions::fail_fast>(row);
  });
}

// Rows of --save-rows, by their name.
bool IsOfRows(const std::string& path) { return RowWriter::Takes(path); }

// Of a path that is not named as rows are, what to do about decisions.
std::string WhatElse(const std::string& path) {
  constexpr std::string_view kUnfinished = ".partial";
  if (path.ends_with(kUnfinished) && IsOfRows(path.substr(0, path.size() - kUnfinished.size()))) {
    return "' is what a run that was ended left of its rows: finish it with --resume, or name a "
           "file of rows that is whole";
  }
  if (path.ends_with(".json")) {
    return "' holds metrics; decisions are in the rows of --save-rows: name that file";
  }
  return "' is not a file of rows, which hold decisions: expected FILE.jsonl or FILE.npz of "
         "--save-rows";
}

// Metrics are in one kind of file, decisions in the other.
Status CheckKindOfFile(const ParsedArgs& args, const std::string& path) {
  const bool rows = IsOfRows(path);
  for (const GivenOption& given : args.given()) {
    const PartTag part = given.row->sets.part;
    const bool of_decisions = part == &kPartTag<DecisionOptions> ||
                              SetsField<&RunPlan::strict>(*given.row) ||
                              SetsField<&InputPlan::seed>(*given.row);
    const bool of_both = part == &kPartTag<LogWords> || part == &kPartTag<Leniency> ||
                         part == &kPartTag<ResultFolder>;
    if (given.flag.empty() || part == nullptr || of_both || of_decisions == rows) continue;
    return InvalidArgument(std::string(given.flag) + ": '" + path +
                           (rows
                                ? "' holds rows, of which decisions alone are checked: leave it out"
                                : WhatElse(path)));
  }
  return {};
}

Result<AccuracyPlan> BindAccuracy(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log) {
  AccuracyPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
  VERNIER_TRY(CheckKindOfFile(args, plan.path));
  plan.simple = AsksForSimple(args);
  for (const std::string_view flag :
       {FlagOf<&PicturePlan::heatmaps>(args), FlagOf<&PicturePlan::show_heatmaps>(args),
        FlagOf<&PicturePlan::error_plots>(args), FlagOf<&PicturePlan::show_error_plots>(args)}) {
    if (!flag.empty()) plan.picture_flags.emplace_back(flag);
  }
  return plan;
}

int CheckAccuracyCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kCheckAccuracyCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  const Result<AccuracyPlan> plan = BindAccuracy(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const RunFaults faults = IsOfRows(plan->path) ? JudgeRows(plan->path, plan->run, log)
                                                : JudgeAccuracy(*plan, log).faults;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return EndWithBanner(log, elapsed.count(), faults, invocation);
}

}  // namespace

constexpr CommandSpec kCheckAccuracyCommand = {
    .name = "check accuracy",
    .section = CommandSection::kCompare,
    .operands = "path [options ...]",
    .summary = "re-check saved metrics against new thresholds",
    .about =
        "Check the metrics that --save-accuracy-results saved against the thresholds given here,"
        " without running or comparing again. simple needs --check-error-stat max, mean, median or"
        " quantile, because single elements are not saved and cannot be checked again. Other saved"
        " metrics are ignored. In a file of --save-rows, decisions are checked against"
        " --max-flip-rate, --max-clear-flips and --max-drop. Labels come from the file or from"
        " --labels; --decision selects decisions by name. --strict fails gates that have too"
        " few samples to decide. If nothing could be checked, the exit code is 4.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), AccuracyFileGroup(), LoggingGroup(),
               // Of our own options thresholds alone: the others look at tensors,
               // which are not saved.
               Only(ComparisonGroup(),
                    {"no_shape_check", "fail_fast", "check_average", "compare",
                     "compare_func_script", "save_accuracy_results_path", "strict"}),
               Only(CompareSimpleGroup(),
                    {"rtol", "atol", "check_error_stat", "infinities_compare_equal",
                     "save_heatmaps", "show_heatmaps", "save_error_metrics_plot",
                     "show_error_metrics_plot", "error_quantile"}),
               CompareIndicesGroup(), CompareMetricsGroup(), JudgedDecisionGroup(),
               Only(DecisionGroup(), {"max_flip_rate", "max_clear_flips", "near_tie", "labels",
                                      "class_names", "max_drop", "drop_type"}),
               BootstrapGroup()});
        },
    .run = CheckAccuracyCommand,
};

}  // namespace vernier
