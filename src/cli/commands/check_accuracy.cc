// Saved measures against other thresholds, without what they were measured on.
#include <algorithm>
#include <chrono>
#include <set>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/comparison_session.h"
#include "cli/option_sets.h"
#include "report/accuracy_file.h"
#include "report/accuracy_summary.h"
#include "run/output_names.h"
#include "util/counted.h"

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

std::vector<std::string> OutputNames(const AccuracyResults& results) {
  std::vector<std::string> names;
  for (const SavedFunction& function : results.functions) {
    for (const SavedPair& pair : function.pairs) {
      for (const SavedIteration& iteration : pair.iterations) {
        for (const SavedOutput& output : iteration) {
          const bool known = std::find(names.begin(), names.end(), output.name) != names.end();
          if (!known) names.push_back(output.name);
        }
      }
    }
  }
  return names;
}

class AccuracyCheck {
 public:
  AccuracyCheck(const ParsedArgs& args, RunPlan plan, Logger& log)
      : args_(args), plan_(std::move(plan)), log_(log) {}

  RunFaults Run() {
    const Status status = Judge();
    if (!status.ok()) log_.Critical(status.message());
    // A threshold for which nothing was saved was asked for, and could not be held.
    if (status.code() == StatusCode::kInvalidArgument) {
      faults_.incomplete = true;
    } else {
      faults_.Add(status);
    }
    return faults_;
  }

 private:
  Status Judge() {
    const std::string path(*args_.Value("path"));
    log_.Info("Loading accuracy results from " + path);
    VERNIER_ASSIGN_OR_RETURN(AccuracyResults saved, ReadAccuracyResults(path));
    if (!plan_.lenient) VERNIER_TRY(CheckOutputNames(plan_, OutputNames(saved)));
    const bool simple = AsksForSimple(args_);
    CompareOptions options = plan_.compare;
    if (!simple) std::erase(options.functions, CompareFunction::kSimple);
    const bool dropped = options.functions.size() < plan_.compare.functions.size();
    VERNIER_ASSIGN_OR_RETURN(const Reevaluation judged, Reevaluate(std::move(saved), options));
    for (const std::string& fields : judged.ignored) {
      log_.Info("Ignoring saved comparison with metric fields " + fields +
                ": no matching threshold was requested.");
    }
    LogAccuracySummary(judged.results, log_);
    VERNIER_TRY(Save(judged.results));
    if (!judged.results.passed()) {
      log_.Error("FAILED | Accuracy results did not pass the requested thresholds.");
      faults_.mismatch = true;
    } else if (judged.results.checked_something()) {
      log_.Finish("PASSED | Accuracy results passed the requested thresholds.");
    }
    SayWhatWasNotChecked(judged, dropped);
    RefusePictures();
    return {};
  }

  void RefusePictures() {
    if (plan_.lenient) return;
    for (const std::string_view dest :
         {"save_heatmaps", "show_heatmaps", "save_error_metrics_plot", "show_error_metrics_plot"}) {
      if (!args_.Has(dest)) continue;
      log_.Error(std::string(args_.Flag(dest)) + ": the file holds no tensors to draw");
      faults_.unsaved = true;
    }
  }

  Status Save(const AccuracyResults& results) {
    if (plan_.save.accuracy.empty()) return {};
    log_.Info("Saving accuracy results to " + plan_.save.accuracy);
    return WriteAccuracyResults(results, plan_.save.accuracy);
  }

  // Where the peer passes in silence.
  void SayWhatWasNotChecked(const Reevaluation& judged, bool dropped_simple) {
    if (!judged.results.checked_something()) {
      log_.Error(
          "nothing was checked: name thresholds for measures that the file holds, such as"
          " --check-error-stat max --atol 1e-3 or --compare l2 --l2-threshold 0.1");
      faults_.incomplete = true;
      return;
    }
    if (plan_.lenient) return;
    TellCoverage(judged);
    if (dropped_simple) {
      log_.Error(
          "simple was not checked: say which statistic must be within which tolerance,"
          " such as --check-error-stat max --atol 1e-3");
      faults_.incomplete = true;
    }
    for (const CompareFunction function : judged.skipped) {
      log_.Error(std::string(CompareFunctionName(function)) +
                 " was not checked: its verdicts cannot be made again from what was saved");
      faults_.incomplete = true;
    }
  }

  // What the verdict rests on. How many elements the outputs had was not saved.
  void TellCoverage(const Reevaluation& judged) {
    std::set<std::string> outputs;
    size_t measures = 0, pairs = 0, bare = 0;
    for (const SavedFunction& function : judged.results.functions) {
      pairs = std::max(pairs, function.pairs.size());
      for (const SavedPair& pair : function.pairs) {
        for (const SavedIteration& iteration : pair.iterations) {
          measures += iteration.size();
          for (const SavedOutput& output : iteration) {
            outputs.insert(output.name);
            bare += std::holds_alternative<bool>(output.result) ? 1 : 0;
          }
        }
      }
    }
    std::string text = "checked " + Counted(measures, "saved measure") + " of " +
                       Counted(outputs.size(), "output") + " in " + Counted(pairs, "pair") +
                       " of runners";
    if (bare > 0) text += "; bare verdicts, without a measure: " + std::to_string(bare);
    if (!judged.ignored.empty()) {
      text += "; not checked: " + Counted(judged.ignored.size(), "kind") +
              " of measures without a threshold";
    }
    log_.Info(text);
  }

  const ParsedArgs& args_;
  RunPlan plan_;
  Logger& log_;
  RunFaults faults_;
};

int CheckAccuracyCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kCheckAccuracyCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  Result<RunPlan> plan = BindRun(start.args, invocation, log);
  if (!plan.ok()) return EndCommand(plan.status(), invocation, log);
  const auto begin = std::chrono::steady_clock::now();
  log.Start("RUNNING | Command: " + invocation.command);
  const RunFaults faults = AccuracyCheck(start.args, *std::move(plan), log).Run();
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
