#include "session/accuracy_session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "report/files/accuracy_file.h"
#include "report/text/accuracy_summary.h"
#include "run/comparison/output_names.h"
#include "util/counted.h"

namespace vernier {
namespace {

std::vector<std::string> SavedOutputNames(const AccuracyResults& results) {
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
  AccuracyCheck(const AccuracyPlan& plan, Logger& log) : asked_(plan), plan_(plan.run), log_(log) {}

  AccuracyOutcome Run() {
    Status status = Judge();
    if (!status.ok()) log_.Critical(status.message());
    // A threshold for which nothing was saved was asked for, and could not be held.
    if (status.code() == StatusCode::kInvalidArgument) {
      faults_.incomplete = true;
    } else {
      faults_.Add(status);
    }
    return {std::move(record_), std::move(status), faults_};
  }

 private:
  Status Judge() {
    log_.Info("Loading accuracy results from " + asked_.path);
    VERNIER_ASSIGN_OR_RETURN(AccuracyResults saved, ReadAccuracyResults(asked_.path));
    if (!plan_.lenient) VERNIER_TRY(CheckOutputNames(plan_, SavedOutputNames(saved)));
    CompareOptions options = plan_.compare;
    if (!asked_.simple) std::erase(options.functions, CompareFunction::kSimple);
    const bool dropped = options.functions.size() < plan_.compare.functions.size();
    VERNIER_ASSIGN_OR_RETURN(record_, Reevaluate(std::move(saved), options));
    for (const std::string& fields : record_.ignored) {
      log_.Info("Ignoring saved comparison with metric fields " + fields +
                ": no matching threshold was requested.");
    }
    LogAccuracySummary(record_.results, log_);
    VERNIER_TRY(Save(record_.results));
    if (!record_.results.passed()) {
      log_.Error("FAILED | Accuracy results did not pass the requested thresholds.");
      faults_.mismatch = true;
    } else if (record_.results.checked_something()) {
      log_.Finish("PASSED | Accuracy results passed the requested thresholds.");
    }
    SayWhatWasNotChecked(dropped);
    RefusePictures();
    return {};
  }

  void RefusePictures() {
    if (plan_.lenient) return;
    for (const std::string& flag : asked_.picture_flags) {
      log_.Error(flag + ": the file holds no tensors to draw");
      faults_.unsaved = true;
    }
  }

  Status Save(const AccuracyResults& results) {
    if (plan_.save.accuracy.empty()) return {};
    log_.Info("Saving accuracy results to " + plan_.save.accuracy);
    return WriteAccuracyResults(results, plan_.save.accuracy);
  }

  // Where Polygraphy passes in silence.
  void SayWhatWasNotChecked(bool dropped_simple) {
    if (!record_.results.checked_something()) {
      log_.Error(
          "nothing was checked: name thresholds for metrics that the file holds, such as"
          " --check-error-stat max --atol 1e-3 or --compare l2 --l2-threshold 0.1");
      faults_.incomplete = true;
      return;
    }
    if (plan_.lenient) return;
    TellCoverage();
    if (dropped_simple) {
      log_.Error(
          "simple was not checked: say which statistic must be within which tolerance,"
          " such as --check-error-stat max --atol 1e-3");
      faults_.incomplete = true;
    }
    for (const CompareFunction function : record_.skipped) {
      log_.Error(std::string(CompareFunctionName(function)) +
                 " was not checked: its verdicts cannot be made again from what was saved");
      faults_.incomplete = true;
    }
  }

  // What the verdict rests on. How many elements the outputs had was not saved.
  void TellCoverage() {
    std::set<std::string> outputs;
    size_t metrics = 0, pairs = 0, bare = 0;
    for (const SavedFunction& function : record_.results.functions) {
      pairs = std::max(pairs, function.pairs.size());
      for (const SavedPair& pair : function.pairs) {
        for (const SavedIteration& iteration : pair.iterations) {
          metrics += iteration.size();
          for (const SavedOutput& output : iteration) {
            outputs.insert(output.name);
            bare += std::holds_alternative<bool>(output.result) ? 1 : 0;
          }
        }
      }
    }
    std::string text = "checked " + Counted(metrics, "saved metric") + " of " +
                       Counted(outputs.size(), "output") + " in " + Counted(pairs, "pair") +
                       " of runners";
    if (bare > 0) text += "; bare verdicts, without a metric: " + std::to_string(bare);
    if (!record_.ignored.empty()) {
      text += "; not checked: " + Counted(record_.ignored.size(), "kind") +
              " of metrics without a threshold";
    }
    log_.Info(text);
  }

  const AccuracyPlan& asked_;
  const RunPlan& plan_;
  Logger& log_;
  AccuracyRecord record_;
  RunFaults faults_;
};

}  // namespace

AccuracyOutcome JudgeAccuracy(const AccuracyPlan& plan, Logger& log) {
  return AccuracyCheck(plan, log).Run();
}

}  // namespace vernier
