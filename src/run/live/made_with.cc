#include "run/live/made_with.h"

#include <algorithm>
#include <utility>

#include "record/schema/runner_name.h"
#include "run/lanes/processor_text.h"
#include "run/lanes/shared_threads.h"
#include "util/values/plural_text.h"

namespace vernier {

int64_t ThreadsUsed(const InferenceScheduler& live, size_t index, const std::string& device) {
  const bool on_processors =
      device.empty() || device.starts_with("CPU") || device.starts_with("cpu");
  return on_processors
             ? ThreadsOfRunner(live.plan(), live.plan().runners[index], live[index].backend())
             : 0;
}

std::string DescribeMachine(const RunnerRecord& runner, int64_t threads) {
  return runner.backend + " " + runner.framework_version + " on " + runner.device + ", " +
         runner.precision + (threads > 0 ? ", " + Counted(threads, "thread") : "");
}

std::vector<JournalSource> FindMadeWith(InferenceScheduler& live) {
  std::vector<JournalSource> sources;
  bool on_processor = false;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i].opened()) continue;
    const RunnerRecord record = live[i].Describe();
    const int64_t threads = ThreadsUsed(live, i, record.device);
    on_processor |= threads > 0;
    sources.push_back({"runner", WithoutTime(record.name), DescribeMachine(record, threads)});
  }
  if (on_processor) sources.push_back({"processor", "", ProcessorText()});
  for (LoadedModule& module : live.LoadedModules()) {
    if (module.content.empty()) {
      sources.push_back({"package", std::move(module.name), std::move(module.version)});
    } else {
      sources.push_back(
          {"module", std::move(module.name), std::move(module.content), std::move(module.path)});
    }
  }
  std::ranges::sort(sources);
  return sources;
}

}  // namespace vernier
