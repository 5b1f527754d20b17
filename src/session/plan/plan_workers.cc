#include "session/plan/plan_workers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "run/runner/engine_use.h"
#include "run/workers/worker_source.h"
#include "session/plan/plan_devices.h"
#include "session/plan/step_flag.h"

namespace vernier {
namespace {

struct WorkerConflict {
  bool given;
  std::string_view flag;
  std::string_view why;
};

Status NoWorkers(std::string_view flag, const std::string& why) {
  return InvalidArgument(std::string(flag) + " cannot go with " + why);
}

// Each worker would do this once more.
Status CheckReplicated(std::string_view flag, const RunnerPlan& runner) {
  const std::string name = "runner '" + runner.name + "': ";
  if (ServedByCaller(runner)) {
    return NoWorkers(flag, name + "it is an object of the calling program, of which there is one");
  }
  if (BuildsEngine(runner)) {
    return NoWorkers(flag,
                     name + "it would build an engine in every worker: make it first with " +
                         "`vernier run " + runner.model.path +
                         " --trt --save-engine FILE`, and give FILE with --model-type engine");
  }
  const auto saves = std::ranges::find_if(runner.session_options, [](const auto& option) {
    return option.first.starts_with("save_") || option.first == "optimized_model";
  });
  if (saves == runner.session_options.end()) return {};
  return NoWorkers(flag, name + "all workers would write '" + saves->second + "'");
}

}  // namespace

Status CheckWorkers(const RunPlan& plan) {
  const ExecutionPlan& execution = plan.execution;
  const int64_t workers = execution.workers_per_runner;
  if (workers < 1 || workers > kMostWorkersPerRunner) {
    return InvalidArgument("--workers-per-runner: expected a number from 1 to " +
                           std::to_string(kMostWorkersPerRunner) + ", got " +
                           std::to_string(workers));
  }
  const bool placed = MayHaveSeveralDevices(execution);
  if (workers == 1 && !placed) return {};
  const std::string_view option = workers > 1 ? "--workers-per-runner" : "--devices";
  const WorkerConflict conflicts[] = {
      {plan.runners.empty(), "saved outputs alone", "nothing is inferred"},
      {execution.sequential, "--sequential-runners",
       "only one runner is to hold memory at a time, and in one process"},
      {execution.in_process, "--in-process", "a framework can be loaded once into a process"},
      {execution.parallel, "--parallel",
       "it lets runners infer side by side, the other iterations: give one of them"}};
  for (const auto& [given, flag, why] : conflicts) {
    if (given) return NoWorkers(option, std::string(flag) + ": " + std::string(why));
  }
  if (plan.steps.wanted()) {
    return NoWorkers(option, std::string(FlagOf(plan.steps)) +
                                 ": a state goes from each iteration to the " + "next; leave " +
                                 std::string(option) + " out");
  }
  for (const RunnerPlan& runner : plan.runners) VERNIER_TRY(CheckReplicated(option, runner));
  return {};
}

}  // namespace vernier
