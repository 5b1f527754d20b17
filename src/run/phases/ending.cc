#include "run/phases/ending.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/live/lost_outputs.h"
#include "run/phases/shard_ending.h"
#include "run/saved/self_comparisons.h"
#include "run/steps/decoding.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Of sequences whose lengths only their inputs say, those that were not begun have none.
void NoteSequencesLeftOut(const InferenceScheduler& live, const LiveResults& made,
                          const std::string& ended, RunEnding& ending) {
  if (live.steps() == nullptr || made.feeds_ended) return;
  StepPosition at = live.steps()->timeline().Of(made.iterations);
  if (at.step >= at.steps) at = {at.sequence + 1, 0};  // which could not be begun
  const std::optional<int64_t> sequences = made.feeds->CountSequences();
  ending.outcome.record.faults.push_back(
      ended + " at step " + std::to_string(at.step) + " of sequence " +
      std::to_string(at.sequence) +
      (sequences ? ", of " + Counted(*sequences, "sequence") : ", and none after it was begun"));
}

// That what was run agreed says nothing of what was not.
void NoteWhatWasLeftOut(const InferenceScheduler& live, const LiveResults& made,
                        RunEnding& ending) {
  const bool interrupted = ending.outcome.faults.signal != 0;
  if ((!ending.aborted && !interrupted) || made.feeds == nullptr) return;
  const std::string ended = interrupted ? "the run was interrupted" : "the run ended";
  const std::optional<int64_t> asked = made.feeds->expected();
  if (!asked) return NoteSequencesLeftOut(live, made, ended, ending);
  if (made.iterations >= *asked) return;
  ending.outcome.record.faults.push_back(
      ended + " in iteration " + std::to_string(made.iterations) + " of " + std::to_string(*asked));
}

void CloseRunners(const RunContext& run, InferenceScheduler& live, RunFaults& faults) {
  for (size_t i = 0; i < live.size(); ++i) {
    live.Close(i);
    faults.Add(live[i].failure());
  }
  if (run.interrupted.load() != 0) faults.signal = run.interrupted.load();
}

void PublishFiles(const RunContext& run, const InferenceScheduler& live, LiveResults& made,
                  RunEnding& ending) {
  const auto report = [&](const Status& done) {
    if (!done.ok()) ReportFailure(run, done, made, ending);
  };
  if (made.savers) report(made.savers->Settle());
  if (!made.savers || ending.unsaved) return;
  // Files of shards are joined by their names: what has a name is whole.
  if (run.plan.shard.wanted() && !IsWholeShard(ending)) return;
  const bool failed = ending.aborted || ending.outcome.faults.any();
  report(made.savers->Finish(live.CommonIterations(), failed));
  ending.outcome.record.saved = made.savers->saved();
}

void DescribeRunners(const InferenceScheduler& live, const LiveResults& made, RunRecord& record) {
  record.runners = live.Records();
  record.notes = live.reports().notes();
  if (made.progress == nullptr) return;
  for (std::string& note : made.progress->Notes()) record.notes.push_back(std::move(note));
}

void NoteUnusedTokens(const InferenceScheduler& live, RunRecord& record) {
  const StepStates* const steps = live.steps();
  const Decoding* const decoding = steps == nullptr ? nullptr : steps->decoding();
  const std::string unused = decoding == nullptr ? "" : decoding->DescribeUnusedRows();
  if (!unused.empty()) record.notes.push_back(unused);
}

// Pairs have failed by it; where nothing is compared, nothing else says so.
void NoteNanLogits(const InferenceScheduler& live, RunOutcome& outcome) {
  const StepStates* const steps = live.steps();
  const Decoding* const decoding = steps == nullptr ? nullptr : steps->decoding();
  if (decoding == nullptr) return;
  const bool compared = !outcome.record.pairs.empty();
  std::vector<std::string> names;
  for (size_t i = 0; i < live.size(); ++i) names.push_back(steps->ShownName(i));
  for (const std::string& sentence : decoding->DescribeNans(names)) {
    outcome.faults.incomplete |= !compared;
    (compared ? outcome.record.notes : outcome.record.faults).push_back("--decode: " + sentence);
  }
}

void NoteNanInputs(const InferenceScheduler& live, RunRecord& record) {
  if (live.steps() == nullptr) return;
  for (const auto& [input, sentence] : live.steps()->nan_inputs()) {
    record.notes.push_back(sentence);
    record.nan_inputs.push_back(sentence);
  }
}

void NoteLeftOutOfSteps(const InferenceScheduler& live, RunRecord& record) {
  if (live.steps() == nullptr) return;
  for (const auto& [slice, sentence] : live.steps()->left_out()) record.notes.push_back(sentence);
}

// With the wrong state, the sides agree as well as with the right one.
void NoteUnfedStates(const InferenceScheduler& live, RunOutcome& outcome) {
  if (live.steps() == nullptr) return;
  const bool strict = live.plan().strict;
  for (const std::string& doubt : live.steps()->doubts()) {
    if (!strict) {
      outcome.record.notes.push_back(doubt);
      continue;
    }
    outcome.faults.incomplete = true;
    outcome.record.faults.push_back("--strict: " + doubt);
  }
}

// A set of data that ended early looks like a small one.
void NoteShortLoader(const RunPlan& plan, const LiveResults& made, RunOutcome& outcome) {
  const std::string less = made.feeds == nullptr ? "" : made.feeds->DescribeShortfall();
  if (less.empty()) return;
  outcome.faults.incomplete |= plan.strict;
  (plan.strict ? outcome.record.faults : outcome.record.notes)
      .push_back((plan.strict ? "--strict: " : "--data-loader-script: ") + less);
}

// Nothing of what goes on from step to step was seen. A shard may have the short ones of many.
void JudgeOneStep(const InferenceScheduler& live, RunOutcome& outcome) {
  if (live.steps() == nullptr) return;
  const RunPlan& plan = live.plan();
  const std::string one = DescribeOneStep(plan.steps, live.steps()->timeline().lengths());
  if (one.empty()) return;
  const bool accepts =
      outcome.record.pairs.empty() || plan.shard.wanted() || (plan.lenient && !plan.strict);
  if (!accepts) {
    outcome.faults.incomplete = true;
    for (PairRecord& pair : outcome.record.pairs) pair.incomplete = true;
  }
  (accepts ? outcome.record.notes : outcome.record.faults).push_back(one);
}

// Images that were read ahead of a turn that never came are no samples of this run.
void ForgetReadAhead(const LiveResults& made) {
  if (made.feeds == nullptr || made.feeds->images() == nullptr || !made.feeds_used) return;
  made.feeds->ForgetReadAhead(*made.feeds_used, made.feeds_ended);
}

// Images that were skipped were asked for.
void DescribeImages(const RunPlan& plan, const LiveResults& made, RunOutcome& outcome) {
  if (made.feeds == nullptr || made.feeds->images() == nullptr) return;
  const ImageFeeds& images = *made.feeds->images();
  outcome.record.samples = images.names();
  const std::string skipped = images.NoteOfSkipped();
  if (skipped.empty()) return;
  const bool accepts = plan.lenient && !plan.strict;
  if (accepts || images.names().empty()) {  // where none could be read, that is the error
    outcome.record.notes.push_back(skipped);
  } else {
    outcome.faults.incomplete = true;
    outcome.record.faults.push_back(FaultOfSkipped(skipped, plan.shard));
  }
}

// Iterations that were fed, whether or not a runner made something of them, and with those the
// steps that follow in the same sequence.
int64_t CountBegun(const InferenceScheduler& live, const LiveResults& made) {
  int64_t steps = 0;
  if (live.steps() != nullptr) {
    const std::vector<int64_t>& lengths = live.steps()->timeline().lengths();
    steps = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  }
  return std::max(steps, made.feeds_used.value_or(0));
}

// What is recorded does not depend on how far ahead feeds were read. Files with feeds
// that are no longer needed are not opened.
std::optional<int64_t> CountAsked(const RunPlan& plan, const LiveResults& made, bool stopped,
                                  bool aborted) {
  if (made.feeds == nullptr) return std::nullopt;
  const bool ended_early = plan.compare->fail_fast && stopped;
  if (!ended_early && !aborted) return made.feeds->CountAsked();
  if (ended_early && !made.feeds->CountedBeforehand()) return std::nullopt;
  return made.feeds->expected();
}

}  // namespace

// A decision is made of whatever comes.
void NoteRandomInputs(const RunPlan& plan, RunRecord& record) {
  const bool drawn =
      !plan.runners.empty() && plan.inputs.load_paths.empty() && !plan.inputs.script.given();
  if (!drawn || plan.decisions.decisions.empty()) return;
  record.notes.emplace_back(
      "the inputs are random, and decisions that agree on noise prove nothing about real data: "
      "give real inputs with --load-inputs (tensors, or images as 'images/*.png') or "
      "--data-loader-script");
}

// Decisions may have their labels and pictures from them.
void NoteInputsOfSavedSides(const RunPlan& plan, RunRecord& record) {
  const bool given = plan.runners.empty() && !plan.inputs.load_paths.empty();
  if (!given || !plan.decisions.decisions.empty()) return;
  record.notes.emplace_back(
      "--load-inputs: saved outputs are compared at all positions, because inputs are not read "
      "where both sides are saved: a mask among them has no effect");
}

std::vector<std::string> ImagesLeftOut(const InputPlan& inputs) {
  std::vector<std::string> sentences;
  const std::string folders = DescribeFoldersLeftOut(inputs);
  if (!folders.empty()) sentences.push_back(folders);
  const FilesPassedOver others = FindPassedOver(inputs);
  if (others.images() == 0) return sentences;  // a README beside images is none
  sentences.push_back(
      "--load-inputs: " +
      Counted(others.count(), "file beside the images was", "files beside the images were") +
      " passed over, as only .png, .jpg and .jpeg are read: " + others.ByEnding() +
      "; images as '" + others.example() + "' have to be converted or renamed");
  return sentences;
}

void NoteImagesLeftOut(const RunPlan& plan, RunOutcome& outcome) {
  for (const std::string& sentence : ImagesLeftOut(plan.inputs)) {
    outcome.faults.incomplete |= plan.strict;
    plan.strict ? outcome.record.faults.push_back("--strict: " + sentence)
                : outcome.record.notes.push_back(sentence);
  }
}

std::string FaultOfSkipped(const std::string& note, const ShardPlan& shard) {
  return "--load-inputs: " + note + (shard.wanted() ? "" : " (--lenient accepts that)");
}

void ReportFailure(const RunContext& run, const Status& status, const LiveResults& made,
                   RunEnding& ending) {
  RunOutcome& outcome = ending.outcome;
  if (status.code() == StatusCode::kCancelled) {
    outcome.faults.signal = run.interrupted.load();
    run.logger.Error(status.message());
  } else {
    const bool unsaved = status.code() == StatusCode::kIo;
    ending.unsaved |= unsaved;
    const std::string stays = unsaved && made.savers ? made.savers->WhatStays() : "";
    run.logger.Critical(status.message() + stays);
    outcome.faults.Add(status);
  }
  outcome.record.error = status.message();
}

void FinishLive(const RunContext& run, InferenceScheduler& live, LiveResults& made,
                RunEnding& ending, const Comparing* comparing) {
  RunOutcome& outcome = ending.outcome;
  if (!made.refused_sizes.empty()) {
    outcome.faults.backend = true;
    outcome.record.faults.push_back("a runner failed (--strict): " + made.refused_sizes);
  }
  CloseRunners(run, live, outcome.faults);
  ForgetReadAhead(made);
  if (comparing != nullptr && comparing->shard != nullptr && IsWholeShard(ending)) {
    const Status fits = CheckMergeable(run.plan, made, *comparing);
    if (!fits.ok()) ReportFailure(run, fits, made, ending);
  }
  PublishFiles(run, live, made, ending);
  DescribeRunners(live, made, outcome.record);
  DescribeImages(run.plan, made, outcome);
  NoteWhatWasLeftOut(live, made, ending);
  NoteUnusedTokens(live, outcome.record);
  NoteNanInputs(live, outcome.record);
  NoteLeftOutOfSteps(live, outcome.record);
  NoteUnfedStates(live, outcome);
  NoteShortLoader(run.plan, made, outcome);
  outcome.record.averaged = run.plan.compare->check_average;
  const int64_t feeds = run.plan.execution.batch_feeds;
  if (feeds > 1) outcome.record.batch_feeds = feeds;
}

void FinishPairs(const InferenceScheduler& live, const LiveResults& made,
                 const Comparing& comparing, const std::vector<std::pair<size_t, size_t>>& pairs,
                 RunEnding& ending) {
  const RunPlan& plan = live.plan();
  const auto& [loaded, comparisons, rows, shard] = comparing;
  RunOutcome& outcome = ending.outcome;
  const auto asked = CountAsked(plan, made, comparisons.stopped(), ending.aborted);
  std::vector<StreamLength> lengths;
  const int64_t begun = CountBegun(live, made);
  for (size_t i = 0; i < live.size(); ++i) {
    lengths.push_back({live.IterationsOf(i), asked, begun, !live[i].failure().ok()});
  }
  for (const SavedRuns::Run& run : loaded.runs()) {
    const int64_t length = plan.ShardOfFeeds().CountOf(run.iterations);
    lengths.push_back({length, length});
  }
  comparisons.Finish(lengths, ending.aborted ? Coverage::kIgnored : Coverage::kJudged,
                     outcome.faults, outcome.record);
  if (!ending.aborted) JudgeOneStep(live, outcome);
  NoteNanLogits(live, outcome);
  NoteRandomInputs(plan, outcome.record);
  NoteInputsOfSavedSides(plan, outcome.record);
  NoteImagesLeftOut(plan, outcome);
  loaded.NameFiles(pairs, outcome.record.pairs);
  NoteSelfComparisons(loaded, pairs, plan.strict, outcome);
  if (!plan.lenient || plan.strict) NoteLostOutputs(plan, LostOutputsOf(live), outcome);
  if (plan.strict) RejectVacuous(outcome);
}

void NoteNoRows(const std::string& path, RunRecord& record) {
  std::error_code ignored;
  const bool earlier = std::filesystem::exists(path, ignored);
  record.notes.push_back("--save-rows: no iteration was compared, and '" + path +
                         "' was not written" +
                         (earlier ? "; what it holds is of an earlier run" : ""));
}

// They may lie on another disk than what could not be saved.
void PublishRows(const RunContext& run, const LiveResults& made, const Comparing& comparing,
                 RunEnding& ending) {
  if (comparing.rows == nullptr) return;
  RunOutcome& outcome = ending.outcome;
  // They have the name of a whole shard, and may be those of an earlier run that was one.
  if (comparing.shard != nullptr && !IsWholeShard(ending)) {
    comparing.rows->Leave(run.logger);
    return;
  }
  if (comparing.rows->empty()) NoteNoRows(run.plan.save.rows, outcome.record);
  RowsEnd end = comparing.comparisons.EndOfRows(outcome.faults, outcome.record);
  if (ending.aborted && outcome.faults.signal == 0) end.not_done.push_back(outcome.record.error);
  if (!run.plan.strict) end.passed_over = ImagesLeftOut(run.plan.inputs);
  const Status published = comparing.rows->Publish(end, outcome.record.saved);
  if (!published.ok()) ReportFailure(run, published, made, ending);
}

Status ValidateSpilled(const RunContext& run, const Comparing& comparing, const LiveResults& made,
                       RunOutcome& outcome) {
  ComparisonRun& comparisons = comparing.comparisons;
  comparisons.ValidationStarted();
  bool valid = true;
  for (int64_t i = 0; i < made.iterations; ++i) {
    VERNIER_ASSIGN_OR_RETURN(IterationOutputs outputs, made.spill->Read(i));
    VERNIER_ASSIGN_OR_RETURN(const bool all,
                             comparisons.ValidateAll(i, outputs, outcome.record.rejections));
    valid &= all;
  }
  run.observer.ValidationFinished(valid);
  if (!valid) outcome.faults.mismatch = true;
  return {};
}

}  // namespace vernier
