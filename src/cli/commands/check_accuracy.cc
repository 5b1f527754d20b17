// Saved measures against other thresholds, without what they were measured on.
#include <algorithm>
#include <chrono>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/option_sets.h"
#include "session/accuracy_session.h"

namespace vernier {
namespace {

// Without one of these, `simple` asks for nothing: its default, elemwise, cannot be judged anew.
constexpr std::string_view kSimpleFlags[] = {"rtol",
                                             "atol",
                                             "check_error_stat",
                                             "error_quantile",
                                             "no_shape_check",
                                             "fail_fast",
                                             "save_heatmaps",
                                             "show_heatmaps",
                                             "save_error_metrics_plot",
                                             "show_error_metrics_plot",
                                             "infinities_compare_equal"};

bool AsksForSimple(const ParsedArgs& args) {
  return std::any_of(std::begin(kSimpleFlags), std::end(kSimpleFlags),
                     [&](std::string_view dest) { return args.Has(dest); });
}

Result<AccuracyPlan> BindAccuracy(const ParsedArgs& args, const Invocation& invocation,
                                  Logger& log) {
  AccuracyPlan plan;
  VERNIER_ASSIGN_OR_RETURN(plan.run, BindRun(args, invocation, log));
  plan.path = TextOf(args, "path");
  plan.simple = AsksForSimple(args);
  for (const std::string_view dest :
       {"save_heatmaps", "show_heatmaps", "save_error_metrics_plot", "show_error_metrics_plot"}) {
    if (args.Has(dest)) plan.picture_flags.emplace_back(args.Flag(dest));
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
  const RunFaults faults = JudgeAccuracy(*plan, log).faults;
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
        " metrics are ignored. If nothing could be checked, the exit code is 4.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), AccuracyFileGroup(), LoggingGroup(),
               // Of our own options thresholds alone: the others look at tensors, which are not
               // saved.
               Only(ComparisonGroup(), {"no_shape_check", "fail_fast", "check_average", "compare",
                                        "compare_func_script", "save_accuracy_results_path"}),
               Only(CompareSimpleGroup(),
                    {"rtol", "atol", "check_error_stat", "infinities_compare_equal",
                     "save_heatmaps", "show_heatmaps", "save_error_metrics_plot",
                     "show_error_metrics_plot", "error_quantile"}),
               CompareIndicesGroup(), CompareMetricsGroup()});
        },
    .run = CheckAccuracyCommand,
};

}  // namespace vernier
