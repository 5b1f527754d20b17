#include "run/profile/profile_accuracy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "record/schema/coverage.h"
#include "run/comparison/comparison_run.h"
#include "run/comparison/lpips_measure.h"
#include "run/comparison/no_reports.h"
#include "run/outcome/run_outcome.h"
#include "run/saved/self_comparisons.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// The largest error is shown of outputs that pass, too.
class LargestErrorsOnly final : public NoReports {
 public:
  ComparisonDetail DetailWanted() override { return {.differences = StatisticsLevel::kMoments}; }
};

// The two as a run of theirs that saves nothing.
RunPlan PlanOfTwo(const RunPlan& plan, size_t place) {
  RunPlan two = plan;
  two.save = {};
  two.pairs = {PairRule::kNamed, {{plan.runners[0].name, plan.runners[place].name}}};
  return two;
}

bool DiffersFromReference(const OutputRecord& output) {
  return output.passed + output.not_verified < output.compared;
}

std::string WhyGateFails(const GateRecord& gate, const OutputRecord& output) {
  if (!gate.why.empty()) return gate.function + ": " + gate.why;
  if (gate.value && gate.threshold) {
    return gate.function + " is " + FormatG(*gate.value, 5) + ", the threshold is " +
           FormatG(*gate.threshold, 5);
  }
  if (gate.function != "simple") return gate.function + ": it does not match";
  const double over = output.worst_times_tolerance;
  return (std::isinf(over) ? std::string("infinitely far") : FormatG(over, 3) + " times") +
         " over tolerance";
}

// "output 'y': ..."; of the first function with that verdict.
std::string WhyOutput(const OutputRecord& output, std::string_view verdict) {
  const auto& gates = output.figures.gates;
  const auto gate = std::ranges::find(gates, verdict, &GateRecord::verdict);
  const std::string name = "output '" + output.name + "': ";
  if (gate == gates.end()) return name + std::string(verdict);
  // It names the shapes where they differ.
  if (!output.figures.suggestion.empty()) return name + output.figures.suggestion;
  return name + WhyGateFails(*gate, output);
}

std::string WhyRetyped(const OutputRecord& output) {
  return "output '" + output.name + "' is " + output.other_dtype + ", and " + output.dtype +
         " in the reference";
}

// Of outputs that agree, and that --strict or --same-type fails.
std::string WhyRejected(const PairRecord& pair, const RunRecord& judged) {
  const auto retyped = std::ranges::find_if(pair.outputs, IsRetyped);
  if (pair.retyped && retyped != pair.outputs.end()) return WhyRetyped(*retyped);
  if (!judged.rejections.empty()) return judged.rejections.front();
  const auto empty = std::ranges::find_if(
      pair.outputs, [](const OutputRecord& output) { return !output.vacuous.empty(); });
  if (empty == pair.outputs.end()) return "no output could be compared";
  return "--strict: output '" + empty->name + "' shows nothing: " + empty->vacuous;
}

std::string WhyNotCompared(const PairRecord& pair, const RunRecord& judged) {
  const auto unverified = std::ranges::find_if(
      pair.outputs, [](const OutputRecord& output) { return output.not_verified > 0; });
  if (unverified != pair.outputs.end()) {
    return "NOT VERIFIED, " + WhyOutput(*unverified, "not verified");
  }
  std::vector<std::string> alone = pair.only_in_first;
  alone.insert(alone.end(), pair.only_in_second.begin(), pair.only_in_second.end());
  if (!alone.empty()) return "no counterpart of " + FormatPythonList(alone);
  if (pair.outputs.empty() && !pair.not_logits.empty()) {
    return "--compare logits applies to none of the outputs";
  }
  return judged.faults.empty() ? "nothing was compared" : judged.faults.front();
}

void CountProfiledOutput(const OutputRecord& output, ProfileAccuracy& accuracy) {
  ++accuracy.outputs;
  accuracy.elements += output.elements;
  accuracy.vacuous += output.vacuous.empty() ? 0 : 1;
  if (IsRetyped(output)) {
    accuracy.retyped.push_back(output.name + " (" + output.dtype + " against " +
                               output.other_dtype + ")");
  }
  if (const std::optional<double>& largest = output.max_absolute_error) {
    const bool worse = *largest != *largest || *largest > accuracy.max_absolute_error;
    if (worse) accuracy.max_absolute_error = *largest;
  }
  const bool failed = DiffersFromReference(output);
  const double over = output.worst_times_tolerance;
  // One that failed is worse than any that passed, whatever metric it failed by.
  const bool first_failed = failed && accuracy.failed == 0;
  const bool farther = over > accuracy.times_over_tolerance && (failed || accuracy.failed == 0);
  const bool worst = accuracy.outputs == 1 || first_failed || farther;
  accuracy.failed += failed ? 1 : 0;
  if (!worst) return;
  accuracy.times_over_tolerance = over;
  accuracy.worst_output = output.name;
  if (failed) accuracy.why = WhyOutput(output, "failed");
}

ProfileAccuracy SummariseAccuracy(const PairRecord& pair, const RunRecord& judged,
                                  const RunFaults& faults) {
  ProfileAccuracy accuracy;
  for (const OutputRecord& output : pair.outputs) CountProfiledOutput(output, accuracy);
  accuracy.compared = faults.mismatch || !faults.incomplete;
  accuracy.passed = accuracy.compared && !faults.mismatch;
  if (!accuracy.compared) {
    accuracy.why = WhyNotCompared(pair, judged);
  } else if (faults.mismatch && accuracy.failed == 0) {
    accuracy.why = WhyRejected(pair, judged);
  }
  return accuracy;
}

}  // namespace

Result<ProfiledVerdict> JudgeProfiled(const RunPlan& plan, const ProfiledRunner& runner,
                                      const ProfiledReference& reference, IterationResult result) {
  const RunPlan two = PlanOfTwo(plan, runner.place);
  std::vector<std::string> names;
  for (const RunnerPlan& one : plan.runners) names.push_back(one.name);
  const size_t streams = names.size();
  VERNIER_ASSIGN_OR_RETURN(ComparedPairs pairs,
                           ComparedPairs::Find(two, std::move(names), runner.marked));
  LargestErrorsOnly observer;
  LpipsMeasure lpips([&runner] { return runner.live.opener().ScriptWorker(); });
  const Instruments instruments{.perceptual = &lpips, .bounds = runner.bounds};
  // There is no later iteration.
  const ComparisonParts parts{.scripts = {}, .may_keep = false};
  ComparisonRun comparisons(two, std::move(pairs), instruments, parts, observer);
  IterationOutputs outputs(streams);
  outputs[0] = reference.result;
  outputs[runner.place] = std::move(result);
  VERNIER_TRY(comparisons.Compare(0, outputs).status());
  RunOutcome outcome;
  RunRecord& judged = outcome.record;
  comparisons.Finish(std::vector<StreamLength>(streams, {1, 1}), Coverage::kJudged, outcome.faults,
                     judged);
  if (!two.lenient && !runner.marked) {
    std::vector<LostOutputs> lost = reference.lost;
    std::ranges::copy(LostOutputsOf(runner.live), std::back_inserter(lost));
    NoteLostOutputs(two, lost, outcome);
  }
  if (two.strict) RejectVacuous(outcome);
  ProfiledVerdict verdict;
  verdict.accuracy = SummariseAccuracy(judged.pairs.front(), judged, outcome.faults);
  verdict.faults = outcome.faults;
  verdict.notes = std::move(judged.notes);
  verdict.incomplete = std::move(judged.faults);
  verdict.rejections = std::move(judged.rejections);
  return verdict;
}

}  // namespace vernier
