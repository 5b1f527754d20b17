#include "blame/search/blame_run.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>

#include "blame/bundle/bundle.h"
#include "blame/bundle/bundle_folder.h"
#include "blame/graph/blame_graph.h"
#include "blame/graph/memory_plan.h"
#include "blame/graph/probe_plan.h"
#include "blame/judge/amplified_rounding.h"
#include "blame/judge/layer_merge.h"
#include "blame/judge/output_condition.h"
#include "blame/judge/unseen_outputs.h"
#include "blame/judge/verdicts.h"
#include "blame/judge/within_bounds.h"
#include "blame/probe/blame_feeds.h"
#include "blame/probe/exposed_run.h"
#include "blame/probe/layer_batch.h"
#include "blame/probe/probe_side.h"
#include "blame/probe/quiet_logger.h"
#include "blame/probe/reference_choice.h"
#include "blame/probe/tensor_pairs.h"
#include "blame/probe/unprobed_run.h"
#include "blame/search/branch_search.h"
#include "blame/search/disturbing_probes.h"
#include "blame/search/resume_file.h"
#include "core/version.h"
#include "run/saved/loaded_runs.h"
#include "util/counted.h"
#include "util/number_text.h"
#include "util/process_memory.h"
#include "util/thread_pool.h"

namespace vernier {
namespace {

using Clock = std::chrono::steady_clock;

class Investigation {
 public:
  Investigation(const BlamePlan& plan, Logger& logger, const std::atomic<int>& interrupted)
      : plan_(plan),
        logger_(logger),
        quiet_(logger),
        interrupted_(interrupted),
        execution_(plan.run.execution),
        pool_(OwnWorkers(execution_), interrupted, quiet_) {}

  BlameOutcome Run() {
    const auto start = Clock::now();
    outcome_.record.command = plan_.run.command;
    outcome_.record.version = kVersion;
    Status status = Investigate();
    if (const Status intact = CheckLoaded(); !intact.ok()) {
      // What was held against another file is no verdict.
      outcome_.record.layers.clear();
      outcome_.record.first_nonfinite.reset();
      if (status.code() != StatusCode::kCancelled) status = intact;
    }
    if (!status.ok()) {
      if (status.code() == StatusCode::kCancelled) {
        outcome_.faults.signal = interrupted_.load();
        SayHowToGoOn();
      } else {
        logger_.Critical(status.message());
        outcome_.faults.Add(status);
      }
      outcome_.record.error = status.message();
    }
    Conclude();
    if (!plan_.bundle.empty() && outcome_.record.error.empty()) SaveBundle();
    outcome_.record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(outcome_);
  }

 private:
  static ExecutionPlan& OwnWorkers(ExecutionPlan& execution) {
    execution.use_subprocess = true;
    return execution;
  }

  Status CheckLoaded() const { return loaded_ ? loaded_->CheckIntact() : Status(); }

  Status Investigate() {
    VERNIER_TRY(ChooseWho());
    VERNIER_TRY(ReadModels());
    for (std::optional<ProbeSide>* side : {&reference_, &candidate_, &alone_}) {
      if (*side) (*side)->Start();
    }
    VERNIER_TRY(RunPlain());
    pairs_ = PairTensors(reference_model_.get(), plain_->saved_names(), *graph_,
                         plain_->outputs().partners());
    if (pairs_.reference.empty()) {
      GiveUp(WhyNothingPairs(reference_model_.get(), plain_->saved_names(), *graph_));
      return {};
    }
    unexposed_ = pairs_.one_sided;
    for (const auto& [name, ours] : pairs_.reference) visible_.insert(name);
    VERNIER_TRY(RunBatches());
    const ConditionScene scene{&*graph_, &*candidate_, &*plain_, &amplified_, &interrupted_};
    VERNIER_TRY(ExplainOutputs(scene, outcome_.record));
    return SearchIfDisturbed();
  }

  Status ChooseWho() {
    VERNIER_TRY(CheckSides(plan_.run, plan_.reference));
    VERNIER_ASSIGN_OR_RETURN(loaded_, LoadedRuns::Open(plan_.run, LoadRule::kOutputs));
    std::vector<std::string> names;
    for (const LoadedRuns::Run& run : loaded_->runs()) names.push_back(run.name);
    std::deque<ProbeSide> runners;
    for (const RunnerPlan& runner : plan_.run.runners) {
      runners.emplace_back(runner, "", pool_, quiet_, clock_);
    }
    VERNIER_ASSIGN_OR_RETURN(sides_, ChooseSides(plan_.run, names, plan_.reference,
                                                 [&] { return ReferenceRanks(runners); }));
    const RunnerPlan& candidate = plan_.run.runners[sides_.candidate];
    candidate_.emplace(std::move(runners[sides_.candidate]));
    alone_.emplace(candidate, "layers alone", pool_, quiet_, clock_);
    outcome_.record.candidate = candidate.name;
    outcome_.record.model = candidate.model.path;
    if (sides_.reference) {
      reference_.emplace(std::move(runners[*sides_.reference]));
      outcome_.record.reference = reference_->plan().name;
      return {};
    }
    outcome_.record.reference = names[sides_.saved];
    return {};
  }

  Status ReadModels() {
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const OnnxModel> model, candidate_->ReadModel());
    VERNIER_ASSIGN_OR_RETURN(BlameGraph graph, BlameGraph::Make(model));
    graph_.emplace(std::move(graph));
    if (!reference_) return {};
    reference_model_ = model;
    if (reference_->plan().model.path == candidate_->plan().model.path) return {};
    VERNIER_ASSIGN_OR_RETURN(reference_model_, reference_->ReadModel());
    return {};
  }

  // Without probes.
  Status RunPlain() {
    logger_.Start("Running without probes");
    PlainScene scene;
    scene.plan = &plan_;
    scene.graph = &*graph_;
    scene.reference_model = reference_model_.get();
    scene.reference = reference_ ? &*reference_ : nullptr;
    scene.candidate = &*candidate_;
    scene.loaded = &*loaded_;
    scene.saved_run = sides_.saved;
    scene.pool = &pool_;
    scene.logger = &logger_;
    scene.quiet = &quiet_;
    scene.interrupted = &interrupted_;
    VERNIER_TRY(plain_.emplace(scene).Run());
    outcome_.record.iterations = static_cast<int64_t>(feeds().size());
    outcome_.record.runners = plain_->Runners();
    outcome_.record.quantises_alone = plain_->SidesAsRun().quantises_alone;
    plain_->AddNotes(outcome_.record.notes);
    if (!plain_->shortened().empty()) SayNotAll(plain_->shortened());
    return {};
  }

  const std::vector<TensorMap>& feeds() const { return plain_->feeds(); }

  // Before anything is probed.
  MemoryPlan PlanSessions() const {
    HeldMemory held = plain_->held();
    held.idle += ResidentMemoryOf("self").value_or(0);
    // It may still be loading what the candidate has loaded.
    held.idle += std::max(alone_->ResidentMemory(), plain_->idle_candidate());
    const size_t sides = plain_->MayOverlap() ? 2 : 1;
    return PlanMemory(held, plan_.max_host_bytes, feeds().size(), sides);
  }

  // A limit that cannot be kept must not be passed in silence.
  void SayWhatIsHeld(const MemoryPlan& memory, std::span<const ProbeBatch> batches) {
    uint64_t most = 0;
    for (const ProbeBatch& batch : batches) most = std::max(most, batch.host_bytes);
    const std::string held = FormatBytes(memory.held_bytes), all = FormatBytes(most);
    if (plan_.max_host_bytes == 0 || most <= plan_.max_host_bytes) {
      logger_.Verbose("Memory: " + held + " for runners and the model, up to " + all +
                      " with the tensors of a batch");
      return;
    }
    const std::string why = memory.held_bytes > plan_.max_host_bytes
                                ? "runners and the model take " + held + " by themselves"
                                : "a single layer's tensors need " +
                                      FormatBytes(most - memory.held_bytes) + " beside " + held +
                                      " of runners and the model";
    logger_.Warning("--max-host-mem " + FormatBytes(plan_.max_host_bytes) +
                    " cannot be kept: " + why +
                    ". Batches are as small as they can be, and up to " + all + " may be held.");
  }

  // Less than was asked for.
  void SayNotAll(std::string why) {
    if (plan_.run.lenient) return logger_.Warning(why);
    outcome_.faults.incomplete = true;
    logger_.Error(why);
    outcome_.record.notes.push_back(std::move(why));
  }

  void GiveUp(std::string why) {
    outcome_.faults.incomplete = true;
    logger_.Error(why);
    outcome_.record.error = std::move(why);
  }

  ReferenceSource MakeReference() {
    return {&pairs_, reference_ ? &*reference_ : nullptr, &*loaded_, sides_.saved, &quiet_};
  }

  void SaveBundle() {
    if (outcome_.record.culprits.empty()) {
      const std::string held = ": '" + plan_.bundle + "' still holds what another search found";
      outcome_.record.notes.push_back("--bundle: no layer is to blame, so nothing was saved" +
                                      (HasBundle(plan_.bundle) ? held : std::string()));
      return;
    }
    BundleRequest request;
    request.folder = plan_.bundle;
    request.model = &candidate_->plan().model;
    if (sides_.candidate < plan_.runner_words.size()) {
      request.runner_words = plan_.runner_words[sides_.candidate];
    }
    const Status status = WriteBundle(request, *graph_, MakeReference(), feeds(), outcome_.record);
    if (status.ok()) {
      logger_.Info("Saved a bundle to " + plan_.bundle);
      return;
    }
    logger_.Critical(status.message());
    outcome_.faults.unsaved = true;
  }

  BlameScene MakeScene() {
    BlameScene scene;
    scene.graph = &*graph_;
    scene.reference = MakeReference();
    scene.candidate = &*candidate_;
    scene.alone = &*alone_;
    scene.runners = plain_->SidesAsRun();
    scene.compare = &compare_;
    scene.threads = &threads_;
    scene.charts = plan_.charts;
    scene.fused_away = &plain_->fused_away();
    scene.outputs = graph_->OutputNames();
    scene.visible = &visible_;
    scene.disputed = &disputed_;
    scene.amplified = &amplified_;
    scene.unexposed = &unexposed_;
    scene.first_nonfinite = &outcome_.record.first_nonfinite;
    return scene;
  }

  void SayHowToGoOn() {
    if (all_layers_ == 0) return;
    logger_.Warning("Interrupted: " + std::to_string(outcome_.record.layers.size()) + " of " +
                    Counted(all_layers_, "layer") + " had been looked at" +
                    (plan_.resume.empty()
                         ? "; vernier blame with --resume FILE keeps them, and goes on from there"
                         : ", which '" + plan_.resume + "' keeps: the same command goes on"));
  }

  Status Resume() {
    if (plan_.resume.empty()) return {};
    outcome_.record.resume_key = ResumeKey({plan_, sides_, &graph_->model(), reference_model_.get(),
                                            outcome_.record.runners, feeds()});
    VERNIER_ASSIGN_OR_RETURN(
        std::optional<BlameRecord> known,
        LoadResumeFile(plan_.resume, outcome_.record.resume_key, feeds().size()));
    if (!known) {
      logger_.Info("What is found is kept in '" + plan_.resume + "'");
      return SaveResumeFile(plan_.resume, outcome_.record);  // rather now than after a long search
    }
    const size_t so_far = known->layers.size();
    logger_.Info("Going on from '" + plan_.resume +
                 "': " + (so_far < all_layers_ ? std::to_string(so_far) + " of " : "all ") +
                 Counted(all_layers_, "layer") + (all_layers_ == 1 ? " is known" : " are known"));
    for (const BlameLayerRecord& layer : known->layers) {
      NoteAmplified(layer, amplified_);
      for (const BlameTensorRecord& tensor : layer.outputs) {
        known_.insert(tensor.name_in_candidate());
        // Disputed constants are fed further on.
        const auto found = visible_.find(tensor.name_in_candidate());
        if (tensor.total_error > 1 && found != visible_.end()) disputed_.insert(*found);
      }
    }
    outcome_.record.layers = std::move(known->layers);
    outcome_.record.first_nonfinite = std::move(known->first_nonfinite);
    outcome_.record.disturbance = std::move(known->disturbance);
    unexposed_ = std::move(known->unexposed);
    for (const UnexposedTensor& tensor : unexposed_) visible_.erase(tensor.name);
    return {};
  }

  bool IsKnown(uint32_t target) const {
    const auto outputs = graph_->graph().Outputs(graph_->graph().nodes[target]);
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](std::string_view name) { return known_.contains(std::string(name)); });
  }

  Status RunBatches() {
    const MemoryPlan memory = PlanSessions();
    std::vector<ProbeBatch> batches = PlanBatches(
        *graph_, visible_, DimsOfLargest(feeds()),
        {memory.host_bytes, plan_.max_gpu_bytes, memory.held_bytes}, plain_->fused_away());
    SayWhatIsHeld(memory, batches);
    BlameScene scene = MakeScene();
    scene.after_use = memory.after_use;
    scene.side_by_side = memory.side_by_side;
    for (const ProbeBatch& batch : batches) all_layers_ += batch.targets.size();
    VERNIER_TRY(Resume());
    for (size_t i = 0; i < batches.size(); ++i) {
      VERNIER_TRY(CheckInterrupted());
      std::erase_if(batches[i].targets, [&](uint32_t target) { return IsKnown(target); });
      if (batches[i].targets.empty()) continue;
      logger_.Info("Batch " + std::to_string(i + 1) + " of " + std::to_string(batches.size()) +
                   ": " + Counted(batches[i].targets.size(), "layer"));
      outcome_.record.planned_bytes =
          std::max(outcome_.record.planned_bytes, batches[i].host_bytes);
      LayerBatch batch(scene, batches[i].targets);
      std::vector<BlameLayerRecord> layers;
      for (size_t k = 0; k < feeds().size(); ++k) {
        VERNIER_ASSIGN_OR_RETURN(const std::vector<BlameLayerRecord> found,
                                 batch.Run(feeds()[k], static_cast<int64_t>(k)));
        DisturbanceRecord& disturbance = outcome_.record.disturbance;
        const bool shown = disturbance.shown_at.has_value();
        plain_->outputs().Compare(k, batch.probed_outputs(), disturbance);
        if (!shown && disturbance.shown_at) disturbance.shown_by = batch.probes();
        MergeWorst(found, layers);
      }
      auto& all = outcome_.record.layers;
      all.insert(all.end(), layers.begin(), layers.end());
      if (plan_.resume.empty()) continue;
      outcome_.record.unexposed = unexposed_;
      VERNIER_TRY(CheckLoaded());  // what is saved is believed later on
      VERNIER_TRY(SaveResumeFile(plan_.resume, outcome_.record));
    }
    outcome_.record.batches = static_cast<int64_t>(batches.size());
    return {};
  }

  Status SearchIfDisturbed() {
    DisturbanceRecord& record = outcome_.record.disturbance;
    if (!record.measured) return {};
    DescribeMovement(record);
    if (!record.shown_at || !RepeatsItself(outcome_.record)) return {};
    const double worst = std::max(record.plain_error, record.probed_error);
    if (ExplainedByRounding(outcome_.record) && worst <= outcome_.record.condition) return {};
    logger_.Start("Probing changed the result: searching for the probes that do it");
    // Of the batch that showed it: all tensors at once may be too many.
    NameSet disturbing(record.shown_by.begin(), record.shown_by.end());
    std::erase_if(disturbing, [this](std::string_view name) { return !visible_.contains(name); });
    const std::vector<std::string> probes = graph_->InOrder(disturbing);
    // On the iteration that showed the difference.
    const auto at = static_cast<size_t>(*record.shown_at);
    const ExposedScene scene{&*candidate_, &plain_->outputs(), &feeds()[at], at,
                             graph_->OutputNames()};
    const ProbeTrial trial = [&](const std::vector<std::string>& set) -> Result<double> {
      VERNIER_TRY(CheckInterrupted());
      return RunExposed(scene, set);
    };
    return SearchDisturbance(*graph_, probes, trial, record);
  }

  Status CheckInterrupted() const {
    return interrupted_.load() == 0 ? Status() : Cancelled("interrupted");
  }

  void FollowBranches() {
    Result<BlameGraph> reference = BlameGraph::Make(reference_model_);
    if (!reference.ok() || interrupted_.load() != 0) return;
    // Bodies are searched with workers of their own.
    for (std::optional<ProbeSide>* side : {&reference_, &candidate_, &alone_}) (*side)->End();
    BranchScene scene;
    scene.plan = &plan_;
    scene.candidate = &*graph_;
    scene.reference = &*reference;
    scene.source = MakeReference();
    scene.reference_runner = *sides_.reference;
    scene.candidate_runner = sides_.candidate;
    scene.feeds = &feeds();
    scene.investigate = [this](const BlamePlan& plan) {
      return ExecuteBlame(plan, quiet_, interrupted_).record;
    };
    scene.infer = [this](const RunnerPlan& plan, const std::vector<std::string>& outputs,
                         const TensorMap& feed) {
      return ProbeSide(plan, "a body", pool_, quiet_, clock_).RunOnce(outputs, feed);
    };
    SearchBranches(scene, outcome_.record);
    if (IsUnexplained()) bodies_ = SearchBodiesWithinBounds(scene, outcome_.record);
  }

  // The run before failed its tolerance, and no layer is to blame for it.
  bool IsUnexplained() const {
    const BlameRecord& record = outcome_.record;
    return !plan_.failed.empty() && record.culprits.empty() && record.error.empty();
  }

  // What the layers do not show of the outputs. Silence must not read as a pass.
  void JudgeOutputs(BlameRecord& record) {
    if (!plain_ || !record.error.empty()) return;
    const OutputScene scene{&*graph_, reference_model_.get(), &plain_->outputs(),
                            plan_.run.lenient};
    NoteRetypedOutputs(scene, record);
    BlameConstants(scene, record);
    if (!record.culprits.empty()) return;
    if (std::string why = WhyNotAllOutputs(scene, record); !why.empty()) GiveUp(std::move(why));
  }

  void Conclude() {
    BlameRecord& record = outcome_.record;
    record.unexposed = unexposed_;
    if (plain_) record.fused_away = graph_->InOrder(plain_->fused_away());
    for (const BlameLayerRecord& layer : record.layers) {
      record.compared += static_cast<int64_t>(layer.outputs.size());
    }
    if (CoverageOf(record).elements == 0 && record.error.empty()) GiveUp(WhyNoVerdict(record));
    Accuse(graph_ ? graph_->OutputNames() : std::vector<std::string>(), record);
    if (!reference_ && graph_) {
      DoubtInputs([this](std::string_view name) { return graph_->IsInput(name); }, record);
    }
    if (reference_ && plain_) FollowBranches();
    if (!reference_) bodies_ = SayThatBodiesAreNotSearched(record);
    JudgeOutputs(record);
    if (graph_ && record.culprits.empty()) {
      std::string note = DescribeCondition(record);
      if (!note.empty()) record.notes.push_back(std::move(note));
    }
    if (IsUnexplained()) {
      const bool by_bounds = plan_.run.compare.tolerance.fallback == ToleranceRule::kAuto ||
                             OutputsExceedBounds(plain_->outputs(), record);
      record.within_bounds = DescribeWithinBounds(plan_.failed, bodies_, by_bounds, record);
    }
    if (!record.culprits.empty()) outcome_.faults.mismatch = true;
    record.timing.emplace_back("runtimes", clock_.seconds());
  }

  const BlamePlan& plan_;
  Logger& logger_;
  QuietLogger quiet_;
  const std::atomic<int>& interrupted_;
  ExecutionPlan execution_;
  WorkerPool pool_;
  RuntimeClock clock_;
  CompareOptions compare_;
  ThreadPool threads_;
  BlameOutcome outcome_;
  Sides sides_;
  std::optional<LoadedRuns> loaded_;
  std::optional<ProbeSide> reference_, candidate_, alone_;
  std::shared_ptr<const OnnxModel> reference_model_;
  std::optional<BlameGraph> graph_;
  std::optional<PlainRun> plain_;
  TensorPairs pairs_;
  NameSet visible_, disputed_;
  AmplifiedTensors amplified_;
  std::vector<UnexposedTensor> unexposed_;
  std::unordered_set<std::string> known_;  // tensors of a search that was interrupted
  size_t all_layers_ = 0;                  // that are to be looked at
  std::string bodies_;                     // what is known of those of layers within their bounds
};

}  // namespace

BlameOutcome ExecuteBlame(const BlamePlan& plan, Logger& logger,
                          const std::atomic<int>& interrupted) {
  return Investigation(plan, logger, interrupted).Run();
}

}  // namespace vernier
