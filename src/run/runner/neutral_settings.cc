#include "run/runner/neutral_settings.h"

namespace vernier {

std::vector<std::pair<std::string, std::string>> NeutralSettings(const BackendInfo& backend) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const BackendOption& option : backend.options) {
    for (const std::string& value : option.neutral) settings.emplace_back(option.name, value);
  }
  return settings;
}

void ReplaceSetting(RunnerPlan& runner, std::string_view key, std::string_view value) {
  std::erase_if(runner.session_options, [&](const auto& option) { return option.first == key; });
  runner.session_options.emplace_back(key, value);
}

}  // namespace vernier
