#include "run/live/live_runs.h"

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

#include "inputs/coerce_feed.h"
#include "inputs/polygraphy_text.h"
#include "run/feeds/described_inputs.h"
#include "run/feeds/feed_plan.h"
#include "run/live/output_uses.h"
#include "run/live/shared_threads.h"
#include "run/steps/reset_words.h"
#include "util/no_log.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr size_t kNameColumn = 35;

std::optional<LatencyRecord> SummariseLatencies(std::vector<double> seconds) {
  if (seconds.empty()) return std::nullopt;
  LatencyRecord latency;
  latency.first = seconds.front();
  // The first inference warms caches and pools up: it is shown on its own.
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  std::sort(seconds.begin(), seconds.end());
  latency.median = seconds[seconds.size() / 2];
  latency.p95 = seconds[std::min(seconds.size() - 1, seconds.size() * 95 / 100)];
  return latency;
}

std::vector<std::string> RunnerNames(const std::vector<RunnerPlan>& runners) {
  std::vector<std::string> names;
  for (const RunnerPlan& runner : runners) names.push_back(runner.name);
  return names;
}

size_t BytesOf(const TensorMap& tensors) {
  size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.tensor.bytes().size();
  return bytes;
}

// How many iterations it is worth while to have begin before this one is looked at: what that gains
// are microseconds, and what it costs is the memory of as many results, and the time of some that
// may not be wanted. Of steps the worker keeps the states of all.
size_t MostAhead(const TensorMap& feed, const IterationResult& result, bool is_step) {
  constexpr double kShortSeconds = 10e-3;
  constexpr size_t kFewBytes = size_t{8} << 20, kFewBytesOfSteps = size_t{1} << 20;
  constexpr size_t kMostSteps = 16;
  const double seconds = result.runtime_s.value_or(0);
  const size_t bytes = BytesOf(result.outputs);
  if (seconds >= kShortSeconds || bytes > kFewBytes) return 0;
  if (!is_step) return 1;
  const size_t by_bytes = kFewBytesOfSteps / std::max<size_t>(bytes + BytesOf(feed), 1);
  const bool many_fit = seconds * kMostSteps < kShortSeconds;
  const size_t by_time = many_fit ? kMostSteps : static_cast<size_t>(kShortSeconds / seconds);
  return std::clamp<size_t>(std::min(by_bytes, by_time), 1, kMostSteps);
}

}  // namespace

std::string FormatTensorTable(const TensorMap& tensors) {
  std::string text = "{";
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (i > 0) text += ",\n ";
    text += name + " [dtype=" + std::string(DTypeName(tensor.dtype())) +
            ", shape=" + FormatDims(tensor.dims()) + "]";
  }
  return text + "}";
}

std::string PadName(const std::string& name) {
  return name + std::string(name.size() < kNameColumn ? kNameColumn - name.size() : 0, ' ');
}

LiveRuns::LiveRuns(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
                   const Embedder* caller, const LiveRunner::Waiting& waiting)
    : plan_(WithSharedThreads(plan)),
      logger_(logger),
      interrupted_(interrupted),
      pool_(plan_.execution, interrupted, logger, caller,
            plan.lenient ? FrameworkWords::kPassedOn : FrameworkWords::kLogged),
      devices_(logger),
      may_stay_on_device_(OutputsAreOnlyCompared(plan) &&
                          (caller == nullptr || !caller->keeps_outputs)),
      needs_every_runner_(caller != nullptr && caller->needs_every_runner),
      may_be_asked_between_(plan.noise_floor || PairErrorBounds(plan.compare).wanted()),
      maps_(InputMaps::Create(plan.inputs.map_words, RunnerNames(plan.runners))),
      steps_(plan_, RunnerNames(plan.runners), logger, caller),
      places_(plan.runners.size(), RunnerPlace::kAuto) {
  for (const RunnerPlan& runner : plan_.runners) {
    LiveRunner& added = runners_.emplace_back(runner, waiting);
    if (plan.lenient) added.LeaveOutParts();
    marked_ |= runner.model.edited();
  }
}

bool LiveRuns::any_alive() const {
  return std::any_of(runners_.begin(), runners_.end(),
                     [](const LiveRunner& runner) { return runner.alive(); });
}

bool LiveRuns::lacks_needed() const {
  return needs_every_runner_ && std::ranges::any_of(runners_, [](const LiveRunner& runner) {
           return runner.failure().code() == StatusCode::kUnavailable;
         });
}

std::vector<std::string> LiveRuns::names() const { return RunnerNames(plan_.runners); }

size_t LiveRuns::CommonIterations() const {
  int64_t common = std::numeric_limits<int64_t>::max();
  for (const LiveRunner& runner : runners_) {
    if (runner.alive()) common = std::min(common, runner.iterations());
  }
  return static_cast<size_t>(common);
}

void LiveRuns::Start() {
  if (lane_count() > 1) logger_.Info(NoteOfSharedThreads(plan_));
  for (size_t i = 0; i < runners_.size(); ++i) StartOne(i);
}

Result<std::shared_ptr<Worker>> LiveRuns::WorkerFor(const LiveRunner& runner, RunnerPlace place,
                                                    size_t copy) {
  RunnerPlan plan = runner.plan();
  plan.place = place;
  return pool_.Get(plan, copy);
}

void LiveRuns::StartOne(size_t index) {
  RunnerPlace place = runners_[index].plan().place;
  if (place == RunnerPlace::kAuto && pool_.HasPluginToo(runners_[index].plan())) {
    place = RunnerPlace::kPlugin;
  }
  Result<std::shared_ptr<Worker>> worker = WorkerFor(runners_[index], place);
  if (!worker.ok() && MayMoveToPython(runners_[index])) {
    Result<std::shared_ptr<Worker>> python = WorkerFor(runners_[index], RunnerPlace::kPython);
    if (python.ok()) {
      worker = std::move(python);
      place = RunnerPlace::kPython;
    }
  }
  places_[index] = place;
  if (worker.ok()) {
    runners_[index].Attach(*std::move(worker), index);
  } else {
    Fail(runners_[index], worker.status());
  }
}

// TensorRT's plug-in fits one major version; what it refuses once it has loaded is refused.
bool LiveRuns::MayMoveToPython(const LiveRunner& runner) const {
  return vernier::MayMoveToPython(runner.plan()) && runner.backend().framework_version.empty();
}

void LiveRuns::Fail(LiveRunner& runner, const Status& why) {
  Fail(runner, why, runner.UnseenWords());
}

void LiveRuns::Fail(LiveRunner& runner, const Status& why, const std::string& unseen_words) {
  logger_.Critical(PadName(runner.name()) + " | FAILED: " + why.message() + unseen_words);
  runner.Fail(why);
}

Status LiveRuns::Open(size_t index, PythonFeeds python) {
  LiveRunner& runner = runners_[index];
  python_feeds_ = python;
  if (!runner.alive()) return {};
  VERNIER_TRY(maps_.status());
  VERNIER_TRY(steps_.status());
  logger_.Start(PadName(runner.name()) + " | Activating and starting inference");
  const Result<ModelPlan> plan = conversions_.ModelOf(runner.plan());
  if (!plan.ok()) {
    const StatusCode code = plan.status().code();
    if (code == StatusCode::kCancelled || code == StatusCode::kMalformed) return plan.status();
    Fail(runner, plan.status());
    return {};
  }
  // One that was opened before it in the same worker may have ended that.
  if (WhoEndedWorkerOf(runner) != nullptr) StartOne(index);
  if (!runner.alive()) return {};
  VERNIER_TRY(OpenModel(index, *plan, logger_));
  return PairStates(index);
}

Result<LiveRuns::SessionParts> LiveRuns::PrepareSession(const RunnerPlan& runner,
                                                        const ModelPlan& plan, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan, logger, [this] { return ScriptWorker(); }));
  VERNIER_ASSIGN_OR_RETURN(CalibrationFeeds calibration,
                           CalibrationFeeds::Make(plan_, runner, *model, python_feeds_, logger));
  OptionList options = calibration.options();
  if (std::string shapes = ListedFeedShapes(plan_, model->request().inputs);
      runner.backend == "openvino" && batch_feeds() <= 1 && !shapes.empty()) {
    options.emplace_back("feed_shapes", std::move(shapes));
  }
  const OptionList resets = ResetOptions(runner);
  options.insert(options.end(), resets.begin(), resets.end());
  return SessionParts{std::move(model), std::move(calibration), std::move(options)};
}

Status LiveRuns::OpenModel(size_t index, const ModelPlan& plan, Logger& logger) {
  LiveRunner& runner = runners_[index];
  steps_.ForgetInside(index);
  VERNIER_ASSIGN_OR_RETURN(const SessionParts parts, PrepareSession(runner.plan(), plan, logger));
  const std::shared_ptr<const ModelSource>& model = parts.model;
  VERNIER_TRY(CheckRandomNumbers(runner, *model));
  Status status = runner.Open(*model, parts.options, plan_.inputs.found_dims);
  const bool has_both =
      runner.plan().place == RunnerPlace::kAuto && pool_.HasPluginToo(runner.plan());
  const bool may_try_python = has_both || MayMoveToPython(runner);
  if (!status.ok() && may_try_python && !interrupted_) status = OpenInPython(index, *model, status);
  switch (status.code()) {
    case StatusCode::kOk:
      if (plan_.execution.hash_inputs) runner.HashInputs();
      return {};
    case StatusCode::kInvalidArgument:
    case StatusCode::kCancelled:
      return status;
    default:
      Fail(runner, status);
      return {};
  }
}

// A plug-in that does not fit this machine or this model leaves it to the user's Python.
Status LiveRuns::OpenInPython(size_t index, const ModelSource& model,
                              const Status& why_not_plugin) {
  LiveRunner& runner = runners_[index];
  logger_.Verbose(PadName(runner.name()) +
                  " | the plug-in is not used: " + why_not_plugin.message());
  (void)runner.Close();
  VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, WorkerFor(runner, RunnerPlace::kPython));
  places_[index] = RunnerPlace::kPython;
  runner.Attach(std::move(worker), index);
  const Status status = runner.Open(model, ResetOptions(runner.plan()), plan_.inputs.found_dims);
  if (status.code() != StatusCode::kUnavailable) return status;
  if (runner.plan().backend == "tensorrt") {
    // Where it is missing altogether, its plug-in says what it looked for.
    return runner.backend().framework_version.empty() ? why_not_plugin : status;
  }
  return Unavailable(status.message() +
                     "\nNote: its plug-in cannot be used either: " + why_not_plugin.message());
}

Status LiveRuns::OpenTwin(NoiseFloor& noise) {
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, conversions_.ModelOf(noise.plan()));
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelSource> model,
                           ModelSource::Prepare(plan, logger_, [this] { return ScriptWorker(); }));
  return noise.Open(pool_, *model);
}

void LiveRuns::Close(size_t index) {
  lanes_.reset();
  LiveRunner& runner = runners_[index];
  // What another one did to the worker that they shared is not this one's failure.
  const bool was_alive = runner.alive() && WhoEndedWorkerOf(runner) == nullptr;
  Status status = runner.Close();
  for (size_t lane = 1; index + lane * runners_.size() < replicas_.size() + runners_.size();
       ++lane) {
    Status closed = ReplicaOf(lane, index).Close();
    if (status.ok()) status = std::move(closed);
  }
  const bool interrupted = status.code() == StatusCode::kCancelled;
  if (was_alive && !status.ok() && !interrupted) Fail(runner, status);
}

// Later iterations have sizes that did before.
std::string LiveRuns::NoteOnSizes(int64_t iteration) const {
  const Result<std::vector<TensorInfo>> fed = InputsToFeed(true, {});
  return iteration == 0 && fed.ok() ? NoteOfFreeSizes(plan_.inputs, *fed, tried_sizes_) : "";
}

Result<std::optional<IterationResult>> LiveRuns::Finish(size_t index, int64_t iteration,
                                                        Result<IterationResult> result) {
  LiveRunner& runner = runners_[index];
  if (!result.ok()) {
    if (result.status().code() == StatusCode::kCancelled) return result.status();
    // Whatever code a framework gives while it computes: it is the one that failed.
    Fail(runner, BackendError(result.status().message() + NoteOnSizes(iteration)));
    return std::optional<IterationResult>();
  }
  LogReceived(runner);
  VERNIER_ASSIGN_OR_RETURN(result, KeepSteps(index, iteration, *std::move(result)));
  return std::optional<IterationResult>(*std::move(result));
}

Result<std::optional<IterationResult>> LiveRuns::Infer(size_t index, const TensorMap& feed,
                                                       int64_t iteration, const Work& meanwhile) {
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  if (iteration < 0 && batch_feeds() > 1) return WarmUpBatch(index, feed, iteration);
  if (steps_.Has(index, iteration)) {
    VERNIER_ASSIGN_OR_RETURN(IterationResult part, TakeStep(index, iteration));
    return std::optional<IterationResult>(std::move(part));
  }
  VERNIER_TRY(BringBack(index));
  if (!HasState(index)) return std::optional<IterationResult>();
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(runner, feed, iteration));
  LogInputs(runner);
  std::optional<Result<IterationResult>> held = TakeHeld(index, iteration);
  if (!held) {
    if (const Status begun = steps_.Begin(index, runner, iteration); !begun.ok()) {
      return Finish(index, iteration, begun);
    }
  }
  Result<IterationResult> made =
      held ? *std::move(held)
           : runner.Infer(own.block(), iteration, StayingOutputs(index, iteration),
                          [&] { InferAhead(index, iteration, meanwhile); });
  most_ahead_ = made.ok() ? MostAhead(feed, *made, steps() != nullptr) : 0;
  if (made.ok() && own.shared != nullptr) CheckReceived(runner, iteration);
  return Finish(index, iteration, std::move(made));
}

Result<std::vector<LiveRuns::Settling>> LiveRuns::InferSideBySide(std::span<const size_t> who,
                                                                  const TensorMap& feed,
                                                                  int64_t iteration) {
  std::vector<std::optional<RunnerFeed>> feeds(runners_.size());
  for (const size_t i : who) {
    if (!runners_[i].alive() || steps_.Has(i, iteration)) continue;
    VERNIER_ASSIGN_OR_RETURN(feeds[i], FeedFor(runners_[i], feed, iteration));
  }
  std::vector<Settling> made(runners_.size());
  std::vector<std::future<Result<IterationResult>>> inferring(runners_.size());
  for (size_t i = 0; i < runners_.size(); ++i) {
    if (!feeds[i]) continue;
    runners_[i].HoldLog();
    made[i] = TakeHeld(i, iteration);
    if (made[i]) continue;
    if (const Status begun = steps_.Begin(i, runners_[i], iteration); !begun.ok()) {
      made[i].emplace(begun);
      continue;
    }
    // If no thread is available, get() does this synchronously.
    inferring[i] = std::async([&, i] { return runners_[i].Infer(feeds[i]->block(), iteration); });
  }
  for (size_t i = 0; i < runners_.size(); ++i) {
    if (!feeds[i]) continue;
    if (inferring[i].valid()) made[i].emplace(inferring[i].get());
    if (made[i]->ok() && feeds[i]->shared != nullptr) CheckReceived(runners_[i], iteration);
  }
  return made;
}

Result<std::optional<IterationResult>> LiveRuns::Settle(size_t index, int64_t iteration,
                                                        Settling made) {
  if (made) {
    LogInputs(runners_[index]);
    runners_[index].ReleaseLog();
    return Finish(index, iteration, *std::move(made));
  }
  if (!runners_[index].alive() || !steps_.Has(index, iteration)) {
    return std::optional<IterationResult>();
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult part, TakeStep(index, iteration));
  return std::optional<IterationResult>(std::move(part));
}

std::vector<RunnerRecord> LiveRuns::Records() const {
  std::vector<RunnerRecord> records;
  for (const LiveRunner& runner : runners_) {
    RunnerRecord record = runner.Describe();
    record.latency = SummariseLatencies(runner.latencies());
    record.received = runner.AllReceived();
    record.failure = runner.failure().message();
    if (const auto mapped = mapped_.find(runner.name()); mapped != mapped_.end()) {
      record.mapped_inputs = mapped->second.mapped;
      record.left_out_inputs = mapped->second.left_out;
    }
    for (const SkippedOutput& output : runner.skipped()) {
      record.skipped_outputs.emplace_back(output.name, output.why);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace vernier
