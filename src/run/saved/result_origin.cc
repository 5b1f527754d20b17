#include "run/saved/result_origin.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "io/bytes/checksum.h"
#include "record/schema/runner_name.h"
#include "run/parts/shard_sources.h"

namespace vernier {

PartialOrigin OriginOf(const RunPlan& plan) {
  const bool drawn = plan.inputs.load_paths.empty() && !plan.inputs.script.given();
  return {.seed = drawn ? std::optional(plan.inputs.seed) : std::nullopt,
          .batch_feeds = std::max<int64_t>(1, plan.execution.batch_feeds),
          .models = static_cast<int64_t>(HashOfRunners(plan))};
}

RunPlan PlanOfSettings(const RunPlan& plan) {
  RunPlan settings;
  settings.runners = plan.runners;
  for (RunnerPlan& runner : settings.runners) {
    runner.name = WithoutTime(runner.name);
    runner.model.path.clear();  // its content counts: HashOfRunners()
  }
  settings.execution.environment = plan.execution.environment;
  return settings;
}

JournalSource SettingsOf(const RunPlan& plan) {
  return {"settings", "", ToJson(PlanOfSettings(plan))};
}

uint64_t HashOfSteps(const StepPlan& plan) {
  if (!plan.wanted()) return 0;
  std::string text = plan.steps ? std::to_string(*plan.steps) : "";
  for (const auto* words : {&plan.feed_back, &plan.slices, &plan.advances}) {
    text += '\n' + std::to_string(words->size());
    for (const std::string& word : *words) text += '\n' + word;
  }
  text += '\n' + std::to_string(static_cast<int>(plan.state));
  for (const std::string& word : plan.decode) text += '\n' + word;
  if (plan.decode_stop) text += "\nstop " + std::to_string(*plan.decode_stop);
  for (const std::string& word : plan.resets) text += '\n' + word;
  Checksum sum;
  sum.Add(std::as_bytes(std::span(text)));
  return sum.value();
}

}  // namespace vernier
