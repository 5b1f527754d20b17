#include "run/live/live_runs.h"

#include <algorithm>
#include <future>
#include <limits>
#include <utility>

#include "run/live/output_uses.h"
#include "run/live/pair_error_bounds.h"
#include "run/live/shared_threads.h"
#include "run/maps/name_maps.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

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

LiveRuns::LiveRuns(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
                   const Embedder* caller, const LiveRunner::Waiting& waiting)
    : plan_(WithSharedThreads(plan)),
      logger_(logger),
      interrupted_(interrupted),
      reports_(logger),
      opener_(plan_, interrupted, reports_, caller),
      devices_(logger),
      may_stay_on_device_(OutputsAreOnlyCompared(plan) &&
                          (caller == nullptr || !caller->keeps_outputs)),
      needs_every_runner_(caller != nullptr && caller->needs_every_runner),
      may_be_asked_between_(plan.noise_floor || PairErrorBounds(plan.compare).wanted()),
      steps_(plan_, RunnerNames(plan.runners), logger, caller),
      feeds_(plan_, InputMaps::Create(plan.inputs.map_words, RunnerNames(plan.runners)), runners_,
             steps_, reports_) {
  for (const RunnerPlan& runner : plan_.runners) {
    LiveRunner& added = runners_.emplace_back(runner, waiting);
    if (plan.lenient) added.LeaveOutParts();
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

bool LiveRuns::any_marked() const {
  return std::ranges::any_of(plan_.runners,
                             [](const RunnerPlan& runner) { return runner.model.edited(); });
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
  if (plan_.execution.WorkersOfRunner() > 1) logger_.Info(NoteOfSharedThreads(plan_));
  for (size_t i = 0; i < runners_.size(); ++i) StartOne(i);
}

Status LiveRuns::Open(size_t index, PythonFeeds python) {
  LiveRunner& runner = runners_[index];
  python_feeds_ = python;
  if (!runner.alive()) return {};
  VERNIER_TRY(feeds_.status());
  VERNIER_TRY(steps_.status());
  logger_.Start(PadName(runner.name()) + " | Activating and starting inference");
  const Result<ModelPlan> plan = opener_.ModelOf(runner.plan());
  if (!plan.ok()) {
    const StatusCode code = plan.status().code();
    if (code == StatusCode::kCancelled || code == StatusCode::kMalformed) return plan.status();
    reports_.Fail(runner, plan.status());
    return {};
  }
  // One that was opened before it in the same worker may have ended that.
  if (WhoEndedWorkerOf(runner) != nullptr) StartOne(index);
  if (!runner.alive()) return {};
  VERNIER_TRY(OpenModel(index, *plan, logger_));
  return PairStates(index);
}

Status LiveRuns::OpenModel(size_t index, const ModelPlan& plan, Logger& logger) {
  steps_.ForgetInside(index);
  return opener_.Open(index, runners_[index], plan, python_feeds_, logger);
}

void LiveRuns::Close(size_t index) {
  batches_.reset();
  lanes_.reset();
  LiveRunner& runner = runners_[index];
  // What another one did to the worker that they shared is not this one's failure.
  const bool was_alive = runner.alive() && WhoEndedWorkerOf(runner) == nullptr;
  Status status = runner.Close();
  const Status others = replicas_ == nullptr ? Status() : replicas_->Close(index);
  if (status.ok()) status = others;
  const bool interrupted = status.code() == StatusCode::kCancelled;
  if (was_alive && !status.ok() && !interrupted) reports_.Fail(runner, status);
}

Result<std::optional<IterationResult>> LiveRuns::Finish(size_t index, int64_t iteration,
                                                        Result<IterationResult> result) {
  LiveRunner& runner = runners_[index];
  if (!result.ok()) {
    if (result.status().code() == StatusCode::kCancelled) return result.status();
    // Whatever code a framework gives while it computes: it is the one that failed.
    reports_.Fail(runner, BackendError(result.status().message() + feeds_.NoteOnSizes(iteration) +
                                       feeds_.NoteOnMask(index)));
    return std::optional<IterationResult>();
  }
  reports_.LogReceived(runner);
  VERNIER_ASSIGN_OR_RETURN(result, KeepSteps(index, iteration, *std::move(result)));
  return std::optional<IterationResult>(*std::move(result));
}

Result<std::optional<IterationResult>> LiveRuns::Infer(size_t index, const TensorMap& feed,
                                                       int64_t iteration, const Work& meanwhile) {
  LiveRunner& runner = runners_[index];
  if (!runner.alive()) return std::optional<IterationResult>();
  if (iteration < 0 && plan_.execution.batch_feeds > 1) return WarmUpBatch(index, feed, iteration);
  if (steps_.Has(index, iteration)) {
    VERNIER_ASSIGN_OR_RETURN(IterationResult part, TakeStep(index, iteration));
    return std::optional<IterationResult>(std::move(part));
  }
  VERNIER_TRY(BringBack(index));
  if (!HasState(index)) return MissStep(index);
  VERNIER_ASSIGN_OR_RETURN(const RunnerFeed own, FeedFor(index, feed, iteration));
  reports_.LogInputs(runner);
  std::optional<Result<IterationResult>> held = held_.Take(index, iteration);
  if (!held) {
    if (const Status begun = steps_.Begin(index, runner, iteration); !begun.ok()) {
      // What is saved has no gaps.
      if (!steps_.may_stay()) return Finish(index, iteration, begun);
      LoseSequence(index, begun);
      return MissStep(index);
    }
  }
  Result<IterationResult> made =
      held ? *std::move(held)
           : runner.Infer(own.block(), iteration, StayingOutputs(index, iteration),
                          [&] { InferAhead(index, iteration, meanwhile); });
  most_ahead_ = made.ok() ? MostAhead(feed, *made, steps() != nullptr) : 0;
  if (made.ok() && own.shared != nullptr) reports_.CheckReceived(runner, iteration);
  return Finish(index, iteration, std::move(made));
}

Result<LiveRuns::SideBySide> LiveRuns::InferSideBySide(std::span<const size_t> who,
                                                       const TensorMap& feed, int64_t iteration) {
  std::vector<std::optional<RunnerFeed>> feeds(runners_.size());
  for (const size_t i : who) {
    if (!runners_[i].alive() || steps_.Has(i, iteration)) continue;
    VERNIER_ASSIGN_OR_RETURN(feeds[i], FeedFor(i, feed, iteration));
  }
  SideBySide side_by_side(*this, iteration);
  auto& made = side_by_side.made_;
  std::vector<std::future<Result<IterationResult>>> inferring(runners_.size());
  for (size_t i = 0; i < runners_.size(); ++i) {
    if (!feeds[i]) continue;
    runners_[i].HoldLog();
    made[i] = held_.Take(i, iteration);
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
    if (made[i]->ok() && feeds[i]->shared != nullptr) {
      reports_.CheckReceived(runners_[i], iteration);
    }
  }
  return side_by_side;
}

Result<std::optional<IterationResult>> LiveRuns::SideBySide::Settle(size_t index) {
  LiveRunner& runner = runs_[index];
  if (made_[index]) {
    runs_.reports_.LogInputs(runner);
    runner.ReleaseLog();
    return runs_.Finish(index, iteration_, *std::exchange(made_[index], std::nullopt));
  }
  if (!runner.alive() || !runs_.steps_.Has(index, iteration_)) {
    return std::optional<IterationResult>();
  }
  VERNIER_ASSIGN_OR_RETURN(IterationResult part, runs_.TakeStep(index, iteration_));
  return std::optional<IterationResult>(std::move(part));
}

std::vector<RunnerRecord> LiveRuns::Records() const {
  std::vector<RunnerRecord> records;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const LiveRunner& runner = runners_[i];
    RunnerRecord record = runner.Describe();
    record.latency = runner.times().Summary();
    record.received = runner.received().All();
    record.failure = runner.failure().message();
    feeds_.DescribeMaps(i, record);
    for (const SkippedOutput& output : runner.skipped().all()) {
      record.skipped_outputs.emplace_back(output.name, output.why);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace vernier
