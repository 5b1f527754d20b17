#include "run/saved/result_origin.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "io/bytes/checksum.h"
#include "record/runner_name.h"
#include "run/maps/name_maps.h"
#include "run/parts/shard_sources.h"
#include "run/saved/step_marks.h"

namespace vernier {
namespace {

uint64_t HashOfText(const std::string& text) {
  Checksum sum;
  sum.Add(std::as_bytes(std::span(text)));
  return sum.value();
}

}  // namespace

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
  return HashOfText(text) & ~kNameBits;
}

uint64_t HashOfOwnWords(const StepPlan& plan, std::span<const std::string> runners) {
  if (!plan.wanted()) return 0;
  std::string text;
  for (const auto* words : {&plan.feed_back, &plan.slices}) {
    for (std::string word : *words) {
      if (!TakeLabel(runners, word).empty()) text += '\n' + word;
    }
  }
  for (const std::string& word : plan.decode) {
    if (word.find(':') != std::string::npos) text += '\n' + word;
  }
  for (const std::string& word : plan.resets) text += '\n' + word;
  return text.empty() ? 0 : HashOfText(text) & kNameBits;
}

}  // namespace vernier
