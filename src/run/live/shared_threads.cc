#include "run/live/shared_threads.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "util/counted.h"
#include "util/number_text.h"
#include "util/thread_pool.h"

namespace vernier {
namespace {

// The option of a backend's sessions.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kThreadOptions = {
    {{"onnxruntime", "intra_op_threads"}, {"openvino", "threads"}, {"tensorflow", "threads"}}};

// What PyTorch and NumPy go by.
constexpr std::string_view kThreadVariable = "OMP_NUM_THREADS=";

size_t WorkersOf(const RunPlan& plan) { return plan.execution.WorkersOfRunner(); }

// "": it has none.
std::string_view ThreadOptionOf(const RunnerPlan& runner) {
  const auto row = std::ranges::find(kThreadOptions, std::string_view(runner.backend),
                                     [](const auto& option) { return option.first; });
  return row == kThreadOptions.end() ? std::string_view() : row->second;
}

// What the session's option says, or nullopt.
std::optional<std::string_view> OptionGiven(const RunnerPlan& runner, std::string_view option) {
  for (const auto& [key, value] : runner.session_options) {
    if (key == option) return value;
  }
  return std::nullopt;
}

// What --env says, else this process's own environment, or nullopt.
std::optional<std::string_view> VariableGiven(const RunPlan& plan) {
  std::optional<std::string_view> given;
  if (const char* const inherited = std::getenv("OMP_NUM_THREADS")) given = inherited;
  for (const std::string& variable : plan.execution.environment) {
    if (variable.starts_with(kThreadVariable)) {
      given = std::string_view(variable).substr(kThreadVariable.size());
    }
  }
  return given;
}

// The number of threads that the plan gives a runner, as its runtime is told; nullopt: none.
std::optional<std::string_view> GivenThreads(const RunPlan& plan, const RunnerPlan& runner) {
  const std::string_view option = ThreadOptionOf(runner);
  return option.empty() ? VariableGiven(plan) : OptionGiven(runner, option);
}

}  // namespace

size_t ThreadsOfWorker(size_t processors, size_t workers) {
  return std::max<size_t>(1, processors / std::max<size_t>(1, workers));
}

RunPlan WithSharedThreads(RunPlan plan) {
  const size_t workers = WorkersOf(plan);
  if (workers == 1) return plan;
  const std::string threads = std::to_string(ThreadsOfWorker(DefaultThreadCount(), workers));
  for (RunnerPlan& runner : plan.runners) {
    const std::string_view option = ThreadOptionOf(runner);
    if (option.empty() || GivenThreads(plan, runner)) continue;
    runner.session_options.emplace_back(option, threads);
  }
  if (!VariableGiven(plan)) {
    plan.execution.environment.push_back(std::string(kThreadVariable) + threads);
  }
  return plan;
}

int64_t ThreadsOfRunner(const RunPlan& plan, const RunnerPlan& runner) {
  const auto processors = static_cast<int64_t>(DefaultThreadCount());
  const int64_t given = ParseInt(GivenThreads(plan, runner).value_or("")).value_or(0);
  return given > 0 ? given : processors;  // 0 is what runtimes take for all
}

std::string NoteOfSharedThreads(const RunPlan& plan) {
  const size_t workers = WorkersOf(plan);
  const size_t processors = DefaultThreadCount();
  const size_t devices = plan.execution.devices.size();
  const std::string what = devices > 1 ? "--devices: " + std::to_string(workers) + " workers, on " +
                                             std::to_string(devices) + " devices"
                                       : "--workers-per-runner " + std::to_string(workers);
  return what + ": each worker computes with " +
         Counted(ThreadsOfWorker(processors, workers), "thread") + " of " +
         Counted(processors, "processor") + ", unless its runner or --env names another number";
}

}  // namespace vernier
