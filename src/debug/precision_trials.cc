#include "debug/precision_trials.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backend/known/known_backends.h"
#include "backend/worker/worker.h"
#include "debug/engine_precisions.h"
#include "run/engine/engine_build.h"
#include "run/runner/resolve_runner.h"
#include "run/workers/worker_pool.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// The first few layers show most of what TensorRT did not obey.
constexpr size_t kLoggedLayers = 5;

bool IsEngineFile(std::string_view path) {
  return path.ends_with(".engine") || path.ends_with(".plan");
}

bool IsTensorRt(const RunnerPlan& runner) { return runner.backend == kTensorRtBackend; }

std::string StemOf(const std::string& path) {
  return path.ends_with(".onnx") ? path.substr(0, path.size() - 5) : path;
}

// What TensorRT says of itself once it is loaded: by the plug-in, or by the user's Python.
Result<BackendInfo> LoadTensorRt(const ExecutionPlan& execution, const RunnerPlan& runner,
                                 const std::atomic<int>& interrupted, LiveRun& live) {
  WorkerPool pool(execution, interrupted, live.log(), &live.workers());
  const auto load = [&](const RunnerPlan& plan) -> Result<BackendInfo> {
    VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<Worker> worker, pool.Get(plan));
    return worker->AwaitLoad();
  };
  Result<BackendInfo> info = load(runner);
  if (info.ok() || !MayMoveToPython(runner)) return info;
  RunnerPlan in_python = runner;
  in_python.place = RunnerPlace::kPython;
  return load(in_python);
}

}  // namespace

Result<std::unique_ptr<PrecisionTrials>> PrecisionTrials::Begin(const Setting& setting) {
  std::unique_ptr<PrecisionTrials> trials(new PrecisionTrials(setting));
  VERNIER_ASSIGN_OR_RETURN(trials->folder_, ScratchFolder::Create());
  VERNIER_TRY(trials->FindTarget());
  return trials;
}

Status PrecisionTrials::FindTarget() {
  std::optional<RunPlan> plan;
  if (IsEngineFile(s_.session.artifact())) {
    target_ = Target::kEngine;
    plan = s_.engine.build;
  } else if (!s_.session.check().RunOptions().empty()) {
    Result<RunPlan> check = PlanOfCheck();
    if (check.ok()) plan = *std::move(check);  // else the check says so itself
  }
  hides_overflow_ = target_ == Target::kModel && plan &&
                    std::ranges::any_of(plan->runners, [](const RunnerPlan& runner) {
                      return IsKnownToHave(runner.backend, BackendTrait::kWidensFloat16);
                    });
  if (plan) {
    const auto builds = std::ranges::find_if(plan->runners, IsTensorRt);
    if (builds != plan->runners.end()) return StartTensorRt(*plan, *builds);
  }
  LogUnused();
  return CheckPrecisions();
}

Status PrecisionTrials::StartTensorRt(const RunPlan& plan, const RunnerPlan& builds) {
  if (target_ == Target::kModel) target_ = Target::kRunners;
  engine_runner_ = builds;
  KeepBuilder(*engine_runner_);
  if (s_.session.jobs() > 1) {
    s_.log.Warning("--jobs has no effect: engines are built one after another on a GPU");
    s_.session.RunOneByOne();
  }
  live_ = s_.session.check().live();
  if (live_ == nullptr) {
    own_ = std::make_unique<LiveRun>(s_.log, false, s_.session.check().reader(), interrupted());
    live_ = own_.get();
  }
  live_->OnEnd([this](const RunRecord& record) { Remember(record.runners); });
  execution_ = plan.execution;
  WorkerPool pool(execution_, interrupted(), live_->log(), &live_->workers());
  (void)pool.Get(*engine_runner_);  // it loads meanwhile; what cannot be loaded is reported later
  return {};
}

// float16 is what models are lowered to; the other precisions are refused.
void PrecisionTrials::LogUnused() const {
  for (const std::string& flag : s_.engine.flags) {
    s_.log.Once(Severity::kWarning, flag + " has no effect: nothing here builds an engine");
  }
}

// A runner's own profiles give way to these.
Status PrecisionTrials::GiveOptions(RunnerPlan& runner) const {
  const RunnerPlan& given = s_.engine.runner;
  VERNIER_TRY(Status(s_.engine.fault));
  if (HasOption(given, "profile")) {
    std::erase_if(runner.session_options,
                  [](const auto& option) { return option.first == "profile"; });
  }
  runner.session_options.insert(runner.session_options.end(), given.session_options.begin(),
                                given.session_options.end());
  if (given.place == RunnerPlace::kPython) runner.place = given.place;
  return {};
}

Result<RunPlan> PrecisionTrials::PlanOfCheck() {
  std::vector<std::string> words = s_.session.check().RunOptions();
  words.insert(words.begin(), s_.session.artifact());
  return LiveRun(s_.log, false, s_.session.check().reader(), interrupted())
      .Plan(words, LiveRun::Side::kCandidate);
}

Status PrecisionTrials::PrepareReference(RunPlan& plan) {
  if (live_ == nullptr) return {};  // the check itself is wrong, and says so
  for (RunnerPlan& runner : plan.runners) {
    if (!IsTensorRt(runner)) continue;
    VERNIER_TRY(GiveOptions(runner));
    KeepInFloat32(runner);
    ShareBuilder(runner, folder_->path() + "/timings");
  }
  return {};
}

Status PrecisionTrials::Await() {
  if (!engine_runner_) return {};
  const Result<BackendInfo> info = LoadTensorRt(execution_, *engine_runner_, interrupted(), *live_);
  if (info.status().code() == StatusCode::kCancelled) return info.status();
  version_ = info.ok() ? info->framework_version : "";
  by_layers_ = info.ok() && !IsStronglyTyped(version_);
  if (by_layers_) {
    s_.log.Info("TensorRT " + version_ +
                " treats the types of a model as hints, so precisions are set on its layers"
                " instead");
  }
  return CheckPrecisions();
}

Status PrecisionTrials::CheckPrecisions() const {
  const bool casts = !by_layers_ && (target_ == Target::kModel || !version_.empty());
  if (casts && !s_.engine.lower.empty()) {
    return Unimplemented(s_.engine.lower.front() +
                         ": here debug precision lowers a model to float16 by casts, which cannot "
                         "say this; leave it out, or put it into the check");
  }
  if (s_.higher == "float32") return {};
  if (casts) {
    return Unimplemented(
        "--precision float16: the precision that nodes are lowered to is float16, so only float32 "
        "is higher");
  }
  if (s_.engine.fp16) return {};
  return InvalidArgument(
      "Cannot mark layers to run in float16 if it is not enabled in the builder configuration.\n"
      "Please also specify `--fp16` as a command-line option");
}

std::vector<std::string> PrecisionTrials::OutputsOf(const NodeSet& kept) const {
  std::vector<std::string> names;
  for (const uint32_t index : kept) {
    const LowerableNode& lowerable = s_.nodes[index];
    if (lowerable.node->subgraph_count > 0) continue;  // the layers are those of the nodes within
    for (const std::string_view name : lowerable.graph->Outputs(*lowerable.node)) {
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return names;
}

Status PrecisionTrials::Save(const NodeSet& kept, const std::string& path,
                             Durability durability) const {
  Float16Kept nodes;
  for (const uint32_t index : kept) nodes.insert(s_.nodes[index].node);
  SaveOnnxOptions options = s_.save;
  options.durability = durability;
  return SaveMixed(s_.model, nodes, path, std::move(options));
}

void PrecisionTrials::SetPrecisions(const NodeSet& kept, RunnerPlan& runner) const {
  if (by_layers_) {
    runner.model.path = s_.path;
    ObeyPrecisions(runner, OutputsOf(kept), s_.higher);
  } else {
    ObeyTypes(runner);
  }
  ShareBuilder(runner, folder_->path() + "/timings");
}

Status PrecisionTrials::Change(const NodeSet& kept, RunPlan& plan) {
  current_ = kept;
  bool first = true;
  for (RunnerPlan& runner : plan.runners) {
    // Plans may have whole paths.
    const bool ours = fs::absolute(runner.model.path) == fs::absolute(s_.session.artifact());
    if (!IsTensorRt(runner) || !ours) continue;
    VERNIER_TRY(GiveOptions(runner));
    SetPrecisions(kept, runner);
    if (std::exchange(first, false)) engine_runner_ = runner;
  }
  return {};
}

Status PrecisionTrials::Build(const NodeSet& kept, const std::string& path) {
  std::string model = s_.path;
  if (!by_layers_) {
    model = folder_->path() + "/mixed.onnx";
    VERNIER_TRY(Save(kept, model, Durability::kRenamed));
  }
  RunPlan plan = *s_.engine.build;
  RunnerPlan& runner_plan = plan.runners.front();
  runner_plan.model.path = model;
  SetEngineFile(runner_plan, path);
  SetPrecisions(kept, runner_plan);
  engine_runner_ = plan.runners.front();
  current_ = kept;
  VERNIER_ASSIGN_OR_RETURN(const RunnerRecord runner,
                           BuildEngineFile(plan, interrupted(), live_->log(), &live_->workers()));
  Remember({runner});
  return {};
}

void PrecisionTrials::Remember(const std::vector<RunnerRecord>& runners) {
  for (const RunnerRecord& runner : runners) {
    if (runner.engine) {
      built_[current_] = {AskedLayers(*runner.engine), DisobeyedLayers(*runner.engine)};
      return;
    }
    // Python reports on an engine only where something was asked for.
    if (runner.backend == kTensorRtBackend && current_.empty()) built_[current_] = {};
  }
}

DebugTrial PrecisionTrials::For(const NodeSet& kept) {
  std::vector<std::string_view> parts;
  for (const uint32_t node : kept) parts.push_back(s_.nodes[node].node->bytes);
  // The same nodes are another trial where they are held otherwise.
  if (by_layers_) parts.insert(parts.end(), {"layers of", version_, s_.higher});
  DebugTrial trial;
  trial.fingerprint = fingerprints_.Of(std::move(parts));
  const bool engine = target_ == Target::kEngine;
  trial.may_fail = engine;
  trial.make = [this, kept, engine](const std::string& path) {
    s_.log.Info("Keeping " + Counted(kept.size(), "node") + " in " + s_.higher);
    return engine ? Build(kept, path) : Save(kept, path, Durability::kRenamed);
  };
  if (target_ == Target::kRunners && live_ == s_.session.check().live()) {
    trial.change = [this, kept](RunPlan& plan) { return Change(kept, plan); };
  }
  return trial;
}

// TensorRT times kernels anew for each build, and may choose others: only with the same timings an
// engine is what was checked.
void PrecisionTrials::LogCommand(const RunnerPlan& runner, const std::vector<std::string>& layers,
                                 const std::string& model) const {
  const std::string engine = StemOf(model.empty() ? s_.path : model) + ".engine";
  std::string timings(TimingsOf(runner));
  if (timings == folder_->path() + "/timings") timings.clear();
  s_.log.Info((by_layers_ ? "To build this engine: " : "To build an engine of it: ") +
              s_.engine.build_command(runner, layers, timings, engine));
  if (by_layers_ && timings.empty() && !HasOption(runner, "timing_cache_dir")) {
    s_.log.Info(
        "TensorRT may choose other kernels there than were checked: --save-timing-cache FILE keeps "
        "the timings that it chose these by");
  }
}

void PrecisionTrials::LogDisobeyed(const Built& built) const {
  for (size_t i = 0; i < std::min(kLoggedLayers, built.disobeyed.size()); ++i) {
    s_.log.Warning("TensorRT did not use the requested precision: " + built.disobeyed[i]);
  }
  if (built.disobeyed.size() > kLoggedLayers) {
    s_.log.Warning("The same holds for " +
                   Counted(built.disobeyed.size() - kLoggedLayers, "more layer"));
  }
  if (!built.asked.empty() && built.disobeyed.empty()) {
    s_.log.Info("TensorRT " + version_ + " built each of these layers as requested");
  }
}

void PrecisionTrials::LogEngine(const NodeSet& kept, const std::string& model) {
  if (!s_.engine.build_command) return;
  RunnerPlan runner = engine_runner_.value_or(RunnerPlan());
  if (!by_layers_) {
    if (model.empty()) return;
    ObeyTypes(runner);
    runner.model.path = model;
    LogCommand(runner, {}, model);
    return;
  }
  const auto found = built_.find(kept);
  if (found == built_.end()) {
    s_.log.Warning(
        "How TensorRT built these nodes was not examined: the result comes from the replay."
        " Without --load-debug-replay the build command can be shown");
    return;
  }
  LogDisobeyed(found->second);
  runner.model.path = s_.path;
  LogCommand(runner, found->second.asked, model);
}

}  // namespace vernier
