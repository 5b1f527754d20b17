#include "run/executor.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "run/comparison/lpips_measure.h"
#include "run/feeds/feed_stream.h"
#include "run/feeds/run_scripts.h"
#include "run/feeds/token_sources.h"
#include "run/live/inference_scheduler.h"
#include "run/live/made_with.h"
#include "run/live/pair_error_bounds.h"
#include "run/phases/ending.h"
#include "run/phases/inferring.h"
#include "run/phases/run_context.h"
#include "run/phases/shard_ending.h"
#include "run/phases/sides.h"
#include "run/runner/model_stamps.h"
#include "run/saved/saved_steps.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// The tokens of --tokens that are no input's: those that a decoding is fed with, else those that
// logits are judged by.
Status GiveTokens(const RunPlan& plan, ScriptClient* script, InferenceScheduler& live,
                  PositionFeeds& positions) {
  const std::string& source = plan.compare->tokens;
  if (!GivesTokens(source)) return {};
  VERNIER_ASSIGN_OR_RETURN(Tensor tokens, TokensOf(source, script));
  if (!plan.steps.decodes()) return positions.Give(std::move(tokens));
  if (live.steps() == nullptr) return {};
  VERNIER_ASSIGN_OR_RETURN(GivenTokens given, GivenTokens::Create(source, tokens));
  return live.steps()->decoding()->Give(std::move(given));
}

// What can be found wrong before a runner is opened; starts those that run together. The scripts'
// interpreter starts first: it loads while the frameworks do.
Result<RunScripts> GetReady(const RunContext& run, InferenceScheduler& live, SavedStreams& loaded,
                            PositionFeeds& positions) {
  const RunPlan& plan = run.plan;
  const bool scripts = RunScripts::Wanted(plan);
  if (scripts) VERNIER_TRY(live.opener().ScriptWorker().status());
  if (plan.noise_floor && plan.runners.empty()) {
    return InvalidArgument(
        "--noise-floor needs a runner: it compares one with itself, which saved outputs do not "
        "allow");
  }
  if (plan.runners.empty()) {
    VERNIER_TRY(CheckNames(plan, live, loaded));
  } else {
    FeedStream::Announce(plan, run.logger);
    if (!plan.execution.sequential) live.Start();
  }
  RunScripts opened;
  if (scripts) {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, live.opener().ScriptWorker());
    VERNIER_ASSIGN_OR_RETURN(opened, RunScripts::Open(plan, worker, run.logger));
  }
  VERNIER_TRY(GiveTokens(plan, opened.tokens(), live, positions));
  return opened;
}

// What is opened first, so that nothing is computed where it cannot be.
struct OpenedFirst {
  std::unique_ptr<RowWriter> rows;
  std::unique_ptr<ShardWriter> shard;
  std::optional<PositionFeeds> positions;
  std::optional<RunLabels> labels;
};

Status OpenFirst(const RunContext& run, const ComparedPairs& pairs, OpenedFirst& opened) {
  const RunPlan& plan = run.plan;
  VERNIER_ASSIGN_OR_RETURN(opened.rows, OpenRows(plan, pairs, run.logger));
  if (plan.shard.wanted()) {
    VERNIER_ASSIGN_OR_RETURN(opened.shard, ShardWriter::Create(plan));
  }
  VERNIER_ASSIGN_OR_RETURN(opened.positions, PositionFeeds::Create(plan));
  VERNIER_ASSIGN_OR_RETURN(opened.labels, RunLabels::Open(plan.decisions, plan.inputs));
  for (const std::string& note : opened.labels->DescribeClasses()) run.logger.Info(note);
  return {};
}

// With what earlier runs have imported whose results are taken over.
Status NoteModules(InferenceScheduler& live, LiveResults& made, ShardWriter* shard) {
  std::vector<JournalSource> sources = FindMadeWith(live);
  if (made.savers) VERNIER_TRY(made.savers->NoteMadeWith(sources));
  if (shard == nullptr) return {};
  if (made.progress != nullptr) {
    std::ranges::copy(made.progress->made_with(), std::back_inserter(sources));
  }
  shard->KeepImported(sources);
  return {};
}

// Runs and compares until the end or the first error.
LiveResults InferAndCompare(const RunContext& run, const LiveSide& side,
                            const Comparing& comparing) {
  LiveResults made;
  if (run.plan.runners.empty()) {
    made.status = CompareLoaded(run, comparing);
  } else if (run.plan.execution.sequential) {
    made = InferInTurn(run, side, comparing);
  } else {
    made = InferStreaming(run, side, comparing);
  }
  if (made.status.ok()) made.status = comparing.comparisons.CompareKept().status();
  const bool wanted = comparing.shard != nullptr || made.progress != nullptr;
  if (made.status.ok() && wanted) made.status = NoteModules(side.runs, made, comparing.shard);
  return made;
}

// Decides which results count, and records the failure.
void JudgeEnd(const RunContext& run, size_t live_sides, const LiveResults& made,
              Comparing& comparing, RunEnding& ending) {
  ending.aborted = !made.status.ok();
  if (ending.aborted) ReportFailure(run, made.status, made, ending);
  if (comparing.loaded.ended_unevenly()) {
    ending.outcome.faults.mismatch = false;
    ending.outcome.faults.incomplete = true;
  }
  if (comparing.loaded.has_other_steps()) comparing.Disbelieve(live_sides);
  // Results compared with a file that changed meanwhile are discarded.
  const Status intact = comparing.loaded.CheckIntact();
  if (intact.ok()) return;
  comparing.Disbelieve(live_sides);
  ending.aborted = true;
  ReportFailure(run, intact, made, ending);
}

// For a file, and for a search that follows. A file of a shard belongs to its part.
Status KeepFlips(const Comparing& comparing, RunEnding& ending) {
  if (comparing.shard != nullptr && !IsWholeShard(ending)) return {};
  RunOutcome& outcome = ending.outcome;
  const FlipKeeper& flips = comparing.comparisons.flips();
  VERNIER_TRY(flips.Save(outcome.record));
  VERNIER_ASSIGN_OR_RETURN(outcome.flips, flips.InputsToSearch(outcome.record));
  return {};
}

// The run, once its sides are known.
void RunToTheEnd(const RunContext& run, InferenceScheduler& live, RunSides sides,
                 RunEnding& ending) {
  const RunPlan& plan = run.plan;
  OpenedFirst opened;
  const Status first = OpenFirst(run, sides.pairs, opened);
  const Result<RunScripts> ready =
      first.ok() ? GetReady(run, live, sides.loaded, *opened.positions) : Result<RunScripts>(first);
  const RunScripts none;
  const RunScripts& scripts = ready.ok() ? *ready : none;
  const PythonFeeds python{scripts.feeds(), scripts.draws()};
  PairErrorBounds bounds(plan.compare);
  LpipsMeasure lpips([&live] { return live.opener().ScriptWorker(); });
  const Instruments instruments{&lpips, &live.devices(), &bounds, &live};
  const auto saved_steps = SavedSteps::Find(plan, sides.loaded.saved(), run.logger);
  const ComparisonParts parts{
      .scripts = {scripts.comparison(), scripts.postprocessing(), scripts.decisions()},
      .rows = opened.rows.get(),
      .shard = opened.shard.get(),
      .steps = saved_steps ? saved_steps->states() : live.steps(),
      .positions = opened.positions ? &*opened.positions : nullptr,
      .labels = opened.labels ? &*opened.labels : nullptr,
      .may_keep = !plan.shard.wanted()};
  const std::vector<std::pair<size_t, size_t>> pairs = sides.pairs.places();
  ComparisonRun comparisons(saved_steps ? saved_steps->plan() : plan, std::move(sides.pairs),
                            instruments, parts, run.observer);
  Comparing comparing{sides.loaded, comparisons, parts.rows, parts.shard};
  LiveResults made = ready.ok() ? InferAndCompare(run, {live, python, bounds}, comparing)
                                : LiveResults{.status = ready.status()};

  JudgeEnd(run, live.size(), made, comparing, ending);
  FinishLive(run, live, made, ending, &comparing);
  FinishPairs(live, made, comparing, pairs, ending);
  PublishRows(run, made, comparing, ending);
  const Status flips = KeepFlips(comparing, ending);
  if (!flips.ok()) ReportFailure(run, flips, made, ending);
  if (parts.shard != nullptr) PublishShard(run, live, made, comparing, ending);
  if (!plan.validate || made.spill == nullptr || ending.aborted) return;
  const Status validated = ValidateSpilled(run, comparing, made, ending.outcome);
  if (!validated.ok()) ReportFailure(run, validated, made, ending);
}

// Of a shard that is an error (ShardWriter::CheckSources).
void NoteReplacedModels(const RunPlan& plan, const std::vector<ModelStamp>& before,
                        std::vector<std::string>& notes) {
  const std::vector<ModelStamp> now = StampModels(plan);
  for (size_t i = 0; i < now.size() && !plan.shard.wanted(); ++i) {
    if (!WasReplaced(before[i], now[i])) continue;
    const std::string note = "model '" + plan.runners[i].model.path +
                             "' was replaced or written to while this run went on: its runner may "
                             "have opened either file";
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
}

}  // namespace

RunOutcome ExecuteRun(const RunPlan& plan, Logger& logger, RunObserver& observer,
                      const std::atomic<int>& interrupted, const Embedder* caller) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<ModelStamp> models = StampModels(plan);
  const auto waiting = [&observer](std::optional<double> seconds) { observer.Waiting(seconds); };
  InferenceScheduler live(plan, interrupted, logger, caller, waiting);
  const LogArea area(logger, log_area::kComparator);
  const RunContext run{plan, logger, observer, interrupted};
  RunEnding ending;
  Result<RunSides> sides = OpenSides(plan, live, logger);
  if (sides.ok()) {
    RunToTheEnd(run, live, *std::move(sides), ending);
  } else {
    LiveResults nothing{.status = sides.status()};
    ending.aborted = true;
    ReportFailure(run, nothing.status, nothing, ending);
    FinishLive(run, live, nothing, ending);
  }
  NoteReplacedModels(plan, models, ending.outcome.record.notes);
  if (plan.shard.wanted()) {
    ending.outcome.record.shard =
        std::to_string(plan.shard.number) + " of " + std::to_string(plan.shard.count);
  }
  ending.outcome.record.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(ending.outcome);
}

}  // namespace vernier
