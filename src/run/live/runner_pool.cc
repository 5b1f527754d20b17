#include "run/live/runner_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "run/lanes/shared_threads.h"
#include "run/maps/name_maps.h"
#include "run/workers/embedder.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

std::vector<std::string> RunnerNames(const std::vector<RunnerPlan>& runners) {
  std::vector<std::string> names;
  for (const RunnerPlan& runner : runners) names.push_back(runner.name);
  return names;
}

}  // namespace

RunnerPool::RunnerPool(const RunPlan& plan, const std::atomic<int>& interrupted, Logger& logger,
                       const Embedder* caller, const RunnerSession::Waiting& waiting)
    : plan_(WithSharedThreads(plan)),
      logger_(logger),
      interrupted_(interrupted),
      needs_every_runner_(caller != nullptr && caller->needs_every_runner),
      reports_(logger),
      opener_(plan_, interrupted, reports_, caller),
      devices_(logger),
      steps_(plan_, runners_, reports_, devices_, logger, caller),
      feeds_(plan_, InputMaps::Create(plan.inputs.map_words, RunnerNames(plan.runners)), runners_,
             steps_, reports_) {
  for (const RunnerPlan& runner : plan_.runners) {
    RunnerSession& added = runners_.emplace_back(runner, waiting);
    if (plan.lenient) added.LeaveOutParts();
  }
}

bool RunnerPool::any_alive() const {
  return std::any_of(runners_.begin(), runners_.end(),
                     [](const RunnerSession& runner) { return runner.alive(); });
}

bool RunnerPool::any_failed() const {
  return std::ranges::any_of(runners_,
                             [](const RunnerSession& runner) { return !runner.failure().ok(); });
}

bool RunnerPool::lacks_needed() const {
  return needs_every_runner_ && std::ranges::any_of(runners_, [](const RunnerSession& runner) {
           return runner.failure().code() == StatusCode::kUnavailable;
         });
}

bool RunnerPool::any_marked() const {
  return std::ranges::any_of(plan_.runners,
                             [](const RunnerPlan& runner) { return runner.model.edited(); });
}

std::vector<std::string> RunnerPool::names() const { return RunnerNames(plan_.runners); }

size_t RunnerPool::CommonIterations() const {
  int64_t common = std::numeric_limits<int64_t>::max();
  for (const RunnerSession& runner : runners_) {
    if (runner.alive()) common = std::min(common, runner.iterations());
  }
  return static_cast<size_t>(common);
}

void RunnerPool::Start() {
  if (plan_.execution.WorkersOfRunner() > 1) logger_.Info(NoteOfSharedThreads(plan_));
  for (size_t i = 0; i < runners_.size(); ++i) StartOne(i);
}

Status RunnerPool::Open(size_t index, PythonFeeds python) {
  RunnerSession& runner = runners_[index];
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
  return steps_.Pair(index);
}

Status RunnerPool::OpenModel(size_t index, const ModelPlan& plan, Logger& logger) {
  steps_.ForgetInside(index);
  return opener_.Open(index, runners_[index], plan, python_feeds_, logger);
}

// Each restart follows the failure of a runner, so there are fewer of them than runners. Not in
// process: what hangs there goes on and may hold the framework's locks.
const RunnerSession* RunnerPool::WhoEndedWorkerOf(const RunnerSession& runner) const {
  if (!runner.alive() || !runner.lost_worker() || plan_.execution.in_process) return nullptr;
  const auto guilty =
      std::find_if(runners_.begin(), runners_.end(), [&](const RunnerSession& other) {
        return !other.alive() && other.shared_worker_with(runner);
      });
  return guilty == runners_.end() ? nullptr : &*guilty;
}

Status RunnerPool::BringBack(size_t index) {
  RunnerSession& runner = runners_[index];
  const RunnerSession* const guilty = WhoEndedWorkerOf(runner);
  if (guilty == nullptr) return {};
  const std::string why = guilty->name() + " ended the worker that they shared";
  logger_.Warning(PadName(runner.name()) + " | Starting again in another worker: " + why);
  reports_.Note(runner.name() + " was started again in another worker: " + why);
  VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, opener_.ModelAgain(runner.plan()));
  NoLog unheard;
  StartOne(index);
  return runner.alive() ? OpenModel(index, plan, unheard) : Status();
}

Status RunnerPool::ReopenFor(std::span<const DimSize> found) {
  plan_.inputs.found_dims.assign(found.begin(), found.end());
  NoLog unheard;
  for (size_t i = 0; i < runners_.size(); ++i) {
    RunnerSession& runner = runners_[i];
    const bool of_sizes = runner.backend().Has(BackendTrait::kBuildsEngines);
    if (!of_sizes || !runner.alive() || !runner.opened()) continue;
    (void)runner.Close();
    VERNIER_ASSIGN_OR_RETURN(const ModelPlan plan, opener_.ModelAgain(runner.plan()));
    StartOne(i);
    if (runner.alive()) VERNIER_TRY(OpenModel(i, plan, unheard));
  }
  return {};
}

void RunnerPool::Close(size_t index, const std::function<Status()>& others) {
  RunnerSession& runner = runners_[index];
  // What another one did to the worker that they shared is not this one's failure.
  const bool was_alive = runner.alive() && WhoEndedWorkerOf(runner) == nullptr;
  Status status = runner.Close();
  const Status further = others ? others() : Status();
  if (status.ok()) status = further;
  const bool interrupted = status.code() == StatusCode::kCancelled;
  if (was_alive && !status.ok() && !interrupted) reports_.Fail(runner, status);
}

std::vector<RunnerRecord> RunnerPool::Records() const {
  std::vector<RunnerRecord> records;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const RunnerSession& runner = runners_[i];
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
