#include "blame/search/blame_run.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blame/bundle/bundle.h"
#include "blame/bundle/bundle_folder.h"
#include "blame/probe/search_subject.h"
#include "blame/search/conclusion.h"
#include "blame/search/foreign_search.h"
#include "blame/search/layer_search.h"
#include "blame/search/output_condition.h"
#include "blame/search/probe_effect.h"
#include "blame/search/unseen_outputs.h"
#include "blame/sides/search_sides.h"
#include "blame/sides/tensor_pairs.h"
#include "core/version.h"
#include "run/comparison/position_feeds.h"
#include "run/engine/shared_timings.h"
#include "util/log/forwarding_log.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Engines of one batch. The candidate's layers run alone from the reference's tensors; what it
// fuses is looked at once more, on the way and alone.
size_t BuildsOfBatch(const SearchSides& sides, bool fuses) {
  const size_t reference = sides.reference && sides.reference->BuildsEngines() ? 1 : 0;
  const size_t candidate = sides.candidate.BuildsEngines() ? (fuses ? 4 : 2) : 0;
  return reference + candidate;
}

// Those of the models as they are.
size_t BuildsOfModels(const SearchSides& sides) {
  return (sides.reference && sides.reference->BuildsEngines() ? 1U : 0U) +
         (sides.candidate.BuildsEngines() ? 1U : 0U);
}

// Before the first of them: that engines are built, and how many at least. Nothing where no side
// builds any.
void AnnounceBuilds(const SearchSides& sides, Logger& logger) {
  const size_t models = BuildsOfModels(sides);
  if (models == 0) return;
  logger.Info("TensorRT builds at least " +
              Counted(models + BuildsOfBatch(sides, false), "engine") +
              " for this search, which share the timings of kernels; the first is under way");
}

// After the first: how long it took, and how many more this many batches need.
void ForecastBuilds(const SearchSubject& subject, size_t batches) {
  const SearchSides& sides = subject.sides;
  const size_t each = BuildsOfBatch(sides, !subject.unprobed.fused_away.empty());
  if (each == 0 || batches == 0) return;
  const bool of_reference = sides.reference && sides.reference->BuildsEngines();
  const RunnerSession& first =
      of_reference ? *subject.unprobed.reference : *subject.unprobed.candidate;
  subject.context.logger.Info("The first engine took " + FormatG(first.Describe().load_seconds, 3) +
                              " s; about " + std::to_string(each * batches) +
                              " more are built, for " + Counted(batches, "batch", "batches") +
                              " of layers");
}

using BlameClock = std::chrono::steady_clock;

// Each side has a process of its own.
ExecutionPlan WithOwnWorkers(ExecutionPlan execution) {
  execution.use_subprocess = true;
  execution.workers_per_runner = 1;
  execution.batch_feeds = 1;
  if (execution.devices.size() > 1) execution.devices.resize(1);
  return execution;
}

// What was compared with a file that has changed is no verdict, whatever else was wrong.
Status UnlessChanged(Status status, const SearchSides& sides) {
  Status intact = sides.saved.CheckIntact();
  return intact.ok() || status.code() == StatusCode::kCancelled ? status : intact;
}

void Fail(const Status& status, const SearchContext& context, BlameOutcome& outcome) {
  if (status.code() == StatusCode::kCancelled) {
    outcome.faults.signal = context.interrupted.load();
  } else {
    context.logger.Critical(status.message());
    outcome.faults.Add(status);
  }
  outcome.record.error = status.message();
}

void LogHowToGoOn(const BlamePlan& plan, size_t seen, size_t layers, Logger& logger) {
  if (layers == 0) return;
  logger.Warning("Interrupted after " + CountedOf(seen, layers, "layer") + ". " +
                 (plan.resume.empty()
                      ? "To be able to resume, run vernier blame with --resume FILE."
                      : "Run the same command to resume from '" + plan.resume + "'."));
}

void RecordSides(const SearchSides& sides, BlameRecord& record) {
  record.candidate = sides.candidate.plan().name;
  record.model = sides.candidate.plan().model.path;
  record.reference = sides.ReferenceName();
}

// What a feed has of a mask that the plan is about; null: nothing, or a run would compare all, too.
const NamedTensor* MaskOf(const BlamePlan& plan, const TensorMap& feed) {
  const bool counts = MayLeaveOutPositions(plan.run);
  return counts ? FindFedMask(feed, plan.run.compare->mask) : nullptr;
}

void LeaveOutPadding(const BlamePlan& plan, const OnnxModel& model, UnprobedRun& unprobed) {
  const bool padded = std::ranges::any_of(
      unprobed.feeds, [&](const TensorMap& feed) { return MaskOf(plan, feed) != nullptr; });
  if (plan.all_positions || !padded) return;
  MaskedTensors masked = MaskedTensors::Find(model, plan.run.compare->mask);
  const auto is_fed_back = [&](const std::string& name) {
    return std::ranges::find(plan.fed_back, name) != plan.fed_back.end();
  };
  for (const auto& [name, partner] : unprobed.outputs.partners()) {
    if (is_fed_back(name) || is_fed_back(partner)) masked.Keep(name);
  }
  unprobed.outputs.LeaveOut(std::move(masked));
}

void NoteMask(const UnprobedRun& unprobed, const BlamePlan& plan, BlameRecord& record) {
  const auto padded = std::ranges::find_if(
      unprobed.feeds, [&](const TensorMap& feed) { return MaskOf(plan, feed) != nullptr; });
  if (padded == unprobed.feeds.end()) return;
  const std::string& mask = MaskOf(plan, *padded)->name;
  const std::string where = "positions where '" + mask + "' is 0 ";
  const MaskedTensors& masked = unprobed.outputs.masked();
  const bool asked = !plan.run.compare->mask.empty();
  const std::string advice =
      asked || plan.all_positions ? "" : "; --mask " + mask + " excludes them";
  if (masked.empty()) {
    record.notes.push_back(where + "are compared in this search" + advice);
    return;
  }
  record.notes.push_back(where + "are excluded from " +
                         (masked.asked().empty() ? "" : "the outputs and from ") +
                         "tensors with an axis named like the mask's; all other tensors" +
                         (plan.fed_back.empty() ? "" : ", and outputs that are fed back,") +
                         " include them" + (advice.empty() ? "" : advice + " from all outputs"));
}

// No layer errs where positions count: may tensors at the others have made what does?
bool WantsAllPositions(UnprobedRun& unprobed, const BlameOutcome& outcome) {
  const BlameRecord& record = outcome.record;
  const bool errs = std::ranges::any_of(record.culprits, [](const BlameCulprit& culprit) {
    return culprit.own_error.value_or(0) > 1;
  });
  if (unprobed.outputs.masked().empty() || errs || !record.error.empty()) return false;
  return std::ranges::any_of(unprobed.outputs.Errors(),
                             [](const auto& output) { return output.second > 1; });
}

void RecordUnprobed(const UnprobedRun& unprobed, const BlamePlan& plan, Logger& logger,
                    BlameOutcome& outcome) {
  BlameRecord& record = outcome.record;
  record.iterations = static_cast<int64_t>(unprobed.feeds.size());
  record.runners = unprobed.Describe();
  record.quantises_alone = unprobed.quantises_alone;
  if (!unprobed.found_sizes.empty()) record.notes.push_back(unprobed.found_sizes);
  NoteMask(unprobed, plan, record);
  if (unprobed.shortened.empty()) return;
  if (plan.run.lenient) return logger.Warning(unprobed.shortened);
  // Less than was asked for.
  outcome.faults.incomplete = true;
  logger.Error(unprobed.shortened);
  record.notes.push_back(unprobed.shortened);
}

// The layers, then what they do not explain. On error the record has what was found until then.
Status SearchTensors(const SearchSubject& subject, const ReferenceSource& source,
                     const LayerPlan& plan, TensorFindings findings, BlameRecord& record) {
  const Status searched = SearchLayers(subject, source, plan, findings, record);
  record.unexposed = findings.unexposed;
  record.first_nonfinite = findings.first_nonfinite;
  VERNIER_TRY(searched);
  VERNIER_TRY(ExplainOutputs(subject, findings.amplified, record));
  return SearchProbeEffect(subject, findings.visible, record);
}

void SaveBundle(const SearchSubject& subject, const ReferenceSource& source,
                BlameOutcome& outcome) {
  const BlamePlan& plan = subject.plan;
  if (outcome.record.culprits.empty()) {
    const std::string held = ": '" + plan.bundle + "' still holds the findings of another search";
    outcome.record.notes.push_back("--bundle: no layer is to blame, so nothing was saved" +
                                   (HasBundle(plan.bundle) ? held : std::string()));
    return;
  }
  const size_t candidate = subject.sides.places.candidate;
  BundleRequest request;
  request.folder = plan.bundle;
  request.model = &subject.sides.candidate.plan().model;
  if (candidate < plan.runner_words.size()) request.runner_words = plan.runner_words[candidate];
  const Status status =
      WriteBundle(request, subject.graph(), source, subject.unprobed.feeds, outcome.record);
  if (status.ok()) {
    subject.context.logger.Info("Saved a bundle to " + plan.bundle);
    return;
  }
  subject.context.logger.Critical(status.message());
  outcome.faults.unsaved = true;
}

// After the tensors, of which `searched` says how far the search among them got: who is to blame?
// There are so many `layers` in all.
void EndSearch(const SearchSubject& subject, const ReferenceSource& source, const Status& searched,
               size_t layers, BlameOutcome& outcome) {
  BlameRecord& record = outcome.record;
  const SearchContext& context = subject.context;
  if (!subject.sides.saved.CheckIntact().ok()) {
    record.layers.clear();
    record.first_nonfinite.reset();
  }
  const Status status = UnlessChanged(searched, subject.sides);
  if (!status.ok()) Fail(status, context, outcome);
  if (status.code() == StatusCode::kCancelled) {
    LogHowToGoOn(subject.plan, record.layers.size(), layers, context.logger);
  }
  Conclude(subject, source, outcome);
  record.timing.emplace_back("runtimes", context.clock.seconds());
  if (!subject.plan.bundle.empty() && record.error.empty()) SaveBundle(subject, source, outcome);
}

Result<TensorPairs> PairSides(const SearchSubject& subject, BlameRecord& record) {
  if (subject.sides.HasForeignReference()) return PairForeignSides(subject, record);
  TensorPairs pairs = PairTensors(subject.models.reference.get(), subject.unprobed.saved_names,
                                  subject.graph(), subject.unprobed.outputs.partners());
  if (pairs.by_structure) {
    record.notes.emplace_back(
        "the same names mean other tensors in the reference's graph, so tensors are paired by what "
        "their nodes compute");
  }
  return pairs;
}

std::string WhyNoPairs(const SearchSubject& subject) {
  if (subject.sides.HasForeignReference()) {
    return "no tensor of the reference could be matched to one in the candidate's graph; pair "
           "outputs with --map-outputs";
  }
  return WhyNothingPairs(subject.models.reference.get(), subject.unprobed.saved_names,
                         subject.graph());
}

// Both sides have run: which tensors are apart, and who is to blame for it? An error: the tensors
// were not paired.
Status FindCulprits(const SearchSubject& subject, BlameOutcome& outcome) {
  SearchSides& sides = subject.sides;
  VERNIER_ASSIGN_OR_RETURN(const TensorPairs pairs, PairSides(subject, outcome.record));
  const ReferenceSource source{pairs, sides.reference ? &*sides.reference : nullptr, sides.saved,
                               sides.places.saved, subject.context.quiet};
  if (pairs.reference.empty()) {
    // Constants that differ are to blame without a layer.
    if (DifferingConstants(subject.models, subject.unprobed.outputs).empty()) {
      GiveUp(WhyNoPairs(subject), subject.context.logger, outcome);
    }
    EndSearch(subject, source, Status(), 0, outcome);
    return {};
  }
  TensorFindings findings;
  findings.unexposed = pairs.one_sided;
  for (const auto& [name, ours] : pairs.reference) findings.visible.insert(name);
  const LayerPlan plan = PlanLayers(subject, findings.visible);
  ForecastBuilds(subject, plan.batches.size());
  const Status searched = SearchTensors(subject, source, plan, std::move(findings), outcome.record);
  EndSearch(subject, source, searched, plan.layers(), outcome);
  return {};
}

// From who is compared to who is to blame. An error: it ended before a tensor was looked at. True:
// to be searched again with all positions.
Result<bool> OpenAndRun(const BlamePlan& plan, const SearchContext& context,
                        BlameOutcome& outcome) {
  VERNIER_ASSIGN_OR_RETURN(SearchSides sides, OpenSides(plan, context));
  RecordSides(sides, outcome.record);
  const Result<SearchModels> models = ReadModels(sides);
  if (!models.ok()) return UnlessChanged(models.status(), sides);
  sides.Start();
  AnnounceBuilds(sides, context.logger);
  context.logger.Start("Running without probes");
  StepClock steps;
  Result<UnprobedRun> unprobed = RunUnprobed(plan, *models, sides, context);
  context.logger.Verbose("Took " + FormatG(steps.Take(), 2) + " s without probes");
  if (!unprobed.ok()) return UnlessChanged(unprobed.status(), sides);
  // Feeds that were given were looked at before, or are those of a body.
  if (plan.feeds.empty()) {
    for (const TensorMap& feed : unprobed->feeds) {
      VERNIER_TRY(CheckAskedMask(feed, plan.run.compare->mask));
    }
  }
  LeaveOutPadding(plan, models->candidate.model(), *unprobed);
  RecordUnprobed(*unprobed, plan, context.logger, outcome);
  VERNIER_TRY(
      UnlessChanged(FindCulprits({plan, context, sides, *models, *unprobed}, outcome), sides));
  return WantsAllPositions(*unprobed, outcome);
}

}  // namespace

BlameOutcome ExecuteBlame(const BlamePlan& plan, Logger& logger,
                          const std::atomic<int>& interrupted) {
  const auto start = BlameClock::now();
  BlamePlan shared = plan;
  const std::optional<ScratchFolder> timings = ShareTimings(shared.run.runners);
  ForwardingLog quiet = QuietLog(logger);
  const ExecutionPlan execution = WithOwnWorkers(plan.run.execution);
  WorkerPool pool(execution, interrupted, quiet);
  RuntimeClock clock;
  const SearchContext context{logger, quiet, interrupted, pool, clock};
  BlameOutcome outcome;
  outcome.record.command = plan.run.command;
  outcome.record.version = kVersion;
  const Result<bool> ran = OpenAndRun(shared, context, outcome);
  if (ran.ok() && *ran) {
    logger.Info("No layer is wrong at the positions that the mask keeps: searching all positions");
    BlamePlan whole = plan;
    whole.all_positions = true;
    return ExecuteBlame(whole, logger, interrupted);
  }
  if (!ran.ok()) {
    Fail(ran.status(), context, outcome);
    outcome.record.timing.emplace_back("runtimes", clock.seconds());
  }
  outcome.record.seconds = std::chrono::duration<double>(BlameClock::now() - start).count();
  return outcome;
}

}  // namespace vernier
