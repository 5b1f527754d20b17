#include "session/blame/flip_blame.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "blame/sides/reference_choice.h"
#include "core/version.h"
#include "record/schema/gate_text.h"
#include "run/comparison/no_reports.h"
#include "session/blame/margin_losses.h"
#include "session/blame/run_before_search.h"
#include "util/log/forwarding_log.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// The margins of decisions are the first runner's.
Result<RunPlan> RunForFlips(const BlamePlan& plan) {
  RunPlan run = plan.run;
  run.blame = static_cast<const BlameOptions&>(plan);
  run.save = {};
  run.compare->fail_fast = false;
  if (plan.reference.empty()) return run;
  VERNIER_ASSIGN_OR_RETURN(const Sides sides, ChooseSides(run, {}, plan.reference,
                                                          [] { return std::vector<uint32_t>(2); }));
  if (*sides.reference != 0) std::swap(run.runners[0], run.runners[1]);
  return run;
}

// What the flips are of.
BlameFlipsRecord DescribeFlips(const RunOutcome& ran) {
  BlameFlipsRecord flips;
  for (const PairRecord& pair : ran.record.pairs) {
    flips.decisions.insert(flips.decisions.end(), pair.decisions.begin(), pair.decisions.end());
  }
  flips.iterations = ran.flips.iterations;
  return flips;
}

// For a sentence: "top1 of 'logits' flips in 3 of 400 samples, clearly in 2". Empty where no flip
// is clear: rounding alone explains near ties.
std::string ClearFlipsInWords(const BlameFlipsRecord& flips) {
  std::string text;
  for (const DecisionRecord& decision : flips.decisions) {
    if (decision.clear_flips == 0) continue;
    text += (text.empty() ? "" : ", and ") + DecisionName(decision.kind, decision.output) +
            " flips in " + CountedOf(decision.flips, decision.samples, "sample") + ", clearly in " +
            std::to_string(decision.clear_flips);
  }
  return text;
}

// Near ties that may be no rounding, in sentences.
std::vector<std::string> TiesInDoubt(const BlameFlipsRecord& flips) {
  std::vector<std::string> sentences;
  for (const DecisionRecord& decision : flips.decisions) {
    if (decision.doubtful_near_ties == 0) continue;
    sentences.push_back(DecisionName(decision.kind, decision.output) + ": " +
                        CountedOf(decision.doubtful_near_ties, decision.flips, "flip") +
                        " may be clear: near ties " + decision.doubtful_by +
                        ", which a wrong network could have too; to decide, give --near-tie X");
  }
  return sentences;
}

// Why "nothing flips" would not be true of all that was to be decided; empty: it is.
std::string WhyNotAllDecided(const RunOutcome& ran, const BlameFlipsRecord& flips) {
  const bool none = flips.decisions.empty() ||
                    std::ranges::any_of(flips.decisions, [](const DecisionRecord& decision) {
                      return decision.samples == 0;
                    });
  const bool broken = std::ranges::any_of(
      flips.decisions, [](const DecisionRecord& decision) { return decision.invalid > 0; });
  if (!none && !ran.faults.incomplete && broken) {
    return "the only samples that flip hold NaN on both sides, with which no layer is found: look "
           "at their inputs";
  }
  if (!none && !ran.faults.incomplete) return "";
  return ran.record.faults.empty() ? "nothing was decided" : ran.record.faults.front();
}

// No layer is looked at.
BlameOutcome WithoutFlips(const BlamePlan& plan, const RunOutcome& ran, BlameFlipsRecord flips,
                          Logger& logger) {
  BlameOutcome outcome;
  BlameRecord& record = outcome.record;
  record.command = plan.run.command;
  record.version = kVersion;
  record.runners = ran.record.runners;
  if (record.runners.size() == 2) {
    record.reference = record.runners[0].name;
    record.candidate = record.runners[1].name;
  }
  record.seconds = ran.record.seconds;
  record.error = WhyNotAllDecided(ran, flips);
  record.on_flips = std::move(flips);
  if (record.error.empty()) return outcome;
  logger.Error(record.error);
  outcome.faults.incomplete = true;
  return outcome;
}

}  // namespace

Status CheckFlipBlame(const RunPlan& run) {
  if (run.decisions.decisions.empty()) {
    return InvalidArgument(
        "--on-flips has no effect without --decision: add that, or leave --on-flips out");
  }
  if (!run.load_outputs.empty() || run.runners.size() != 2) {
    return InvalidArgument("--on-flips: both sides must be runners, since it selects among inputs");
  }
  if (run.steps.wanted()) {
    return InvalidArgument("--on-flips: it searches single inferences; leave out --steps");
  }
  if (run.execution.sequential) {
    return InvalidArgument(
        "--on-flips: inputs are available only where an iteration is compared as it is made: leave"
        " out --sequential-runners");
  }
  return {};
}

BlameOutcome ExecuteFlipBlame(const BlamePlan& plan, Logger& logger,
                              const std::atomic<int>& interrupted) {
  Status possible = CheckFlipBlame(plan.run);
  if (!possible.ok()) return EndedBy(plan, {}, possible, logger);
  const Result<RunPlan> run = RunForFlips(plan);
  if (!run.ok()) return EndedBy(plan, {}, run.status(), logger);
  logger.Start("Running both sides to find the samples whose decisions flip");
  ForwardingLog quiet = QuietLog(logger);
  NoReports no_reports;
  const RunOutcome ran = ExecuteRun(*run, quiet, no_reports, interrupted);
  if (const Status why = WhyNoSearch(ran); !why.ok()) return EndedBy(plan, ran, why, logger);
  BlameOutcome outcome = SearchFlips(plan, ran, logger, interrupted);
  std::vector<std::string>& notes = outcome.record.notes;
  notes.insert(notes.begin(), ran.record.notes.begin(), ran.record.notes.end());
  for (const std::string& fault : ran.record.faults) {
    if (fault != outcome.record.error) notes.push_back(fault);
  }
  outcome.faults.incomplete |= ran.faults.incomplete;
  return outcome;
}

BlameOutcome SearchFlips(const BlamePlan& plan, const RunOutcome& ran, Logger& logger,
                         const std::atomic<int>& interrupted) {
  BlameFlipsRecord flips = DescribeFlips(ran);
  if (ran.flips.feeds.empty()) return WithoutFlips(plan, ran, std::move(flips), logger);
  logger.Start("Searching the layer with " + Counted(ran.flips.feeds.size(), "iteration") +
               " in which decisions flip");
  BlamePlan of_flips = plan;
  of_flips.run.compare->tolerance.fallback = ToleranceRule::kAuto;  // layers are judged by bounds
  of_flips.feeds = ran.flips.feeds;
  of_flips.failed = ClearFlipsInWords(flips);
  BlameOutcome outcome = ExecuteBlame(of_flips, logger, interrupted);
  std::ranges::move(TiesInDoubt(flips), std::back_inserter(outcome.record.notes));
  outcome.record.on_flips = std::move(flips);
  const Status measured = MeasureMarginLosses(of_flips, logger, interrupted, outcome.record);
  if (!measured.ok()) {
    outcome.faults.signal = interrupted.load();
    outcome.record.error = measured.message();
  }
  outcome.faults.mismatch |= !of_flips.failed.empty();
  return outcome;
}

}  // namespace vernier
