#include "run/lanes/shared_threads.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "util/text/number_text.h"
#include "util/threads/thread_pool.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// What PyTorch and NumPy go by.
constexpr std::string_view kThreadVariable = "OMP_NUM_THREADS=";

size_t WorkersOf(const RunPlan& plan) { return plan.execution.WorkersOfRunner(); }

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

}  // namespace

size_t ThreadsOfWorker(size_t processors, size_t workers) {
  return std::max<size_t>(1, processors / std::max<size_t>(1, workers));
}

std::optional<size_t> SharedThreads(const RunPlan& plan) {
  const size_t workers = WorkersOf(plan);
  if (workers == 1) return std::nullopt;
  return ThreadsOfWorker(DefaultThreadCount(), workers);
}

RunPlan WithSharedThreads(RunPlan plan) {
  const std::optional<size_t> threads = SharedThreads(plan);
  if (threads && !VariableGiven(plan)) {
    plan.execution.environment.push_back(std::string(kThreadVariable) + std::to_string(*threads));
  }
  return plan;
}

int64_t ThreadsOfRunner(const RunPlan& plan, const RunnerPlan& runner, const BackendInfo& backend) {
  const auto processors = static_cast<int64_t>(DefaultThreadCount());
  const BackendOption* const option = backend.OptionThatMeans(OptionMeaning::kThreads);
  const auto words = option == nullptr ? VariableGiven(plan) : OptionGiven(runner, option->name);
  const auto shared = static_cast<int64_t>(SharedThreads(plan).value_or(0));
  const bool takes_share = option != nullptr && !words;
  const int64_t given = takes_share ? shared : ParseInt(words.value_or("")).value_or(0);
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
