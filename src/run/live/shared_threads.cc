#include "run/live/shared_threads.h"

#include <algorithm>
#include <array>
#include <cstdlib>
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

void SetThreads(RunnerPlan& runner, const std::string& threads) {
  const std::string_view name = ThreadOptionOf(runner);
  if (name.empty()) return;
  const bool given = std::ranges::any_of(runner.session_options,
                                         [&](const auto& option) { return option.first == name; });
  if (!given) runner.session_options.emplace_back(name, threads);
}

}  // namespace

size_t ThreadsOfWorker(size_t processors, size_t workers) {
  return std::max<size_t>(1, processors / std::max<size_t>(1, workers));
}

RunPlan WithSharedThreads(RunPlan plan) {
  const size_t workers = WorkersOf(plan);
  if (workers == 1) return plan;
  const std::string threads = std::to_string(ThreadsOfWorker(DefaultThreadCount(), workers));
  for (RunnerPlan& runner : plan.runners) SetThreads(runner, threads);
  std::vector<std::string>& environment = plan.execution.environment;
  const bool given = std::getenv("OMP_NUM_THREADS") != nullptr ||
                     std::ranges::any_of(environment, [](const std::string& variable) {
                       return variable.starts_with(kThreadVariable);
                     });
  if (!given) environment.push_back(std::string(kThreadVariable) + threads);
  return plan;
}

int64_t ThreadsOfRunner(const RunPlan& plan, const RunnerPlan& runner) {
  const auto processors = static_cast<int64_t>(DefaultThreadCount());
  const std::string_view option = ThreadOptionOf(runner);
  const auto number = [processors](std::string_view text) {
    const int64_t count = ParseInt(text).value_or(0);
    return count > 0 ? count : processors;  // 0 is what runtimes take for all
  };
  if (!option.empty()) {
    for (const auto& [key, value] : runner.session_options) {
      if (key == option) return number(value);
    }
    return processors;
  }
  const char* const inherited = std::getenv("OMP_NUM_THREADS");
  std::string_view threads = inherited == nullptr ? std::string_view() : inherited;
  for (const std::string& variable : plan.execution.environment) {
    if (variable.starts_with(kThreadVariable)) {
      threads = std::string_view(variable).substr(kThreadVariable.size());
    }
  }
  return number(threads);
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
