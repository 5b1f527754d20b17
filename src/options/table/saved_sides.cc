#include "options/table/saved_sides.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace vernier {

SavedSide SplitSavedSide(const std::string& word) {
  std::error_code ignored;
  const size_t equals = word.find('=');
  const bool labelled = equals != std::string::npos && equals > 0 && equals < word.find('/') &&
                        equals + 1 < word.size() && !std::filesystem::exists(word, ignored);
  if (!labelled) return {"", word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

void AddSavedSide(const std::string& word, RunPlan& plan) {
  SavedSide side = SplitSavedSide(word);
  plan.load_outputs.push_back(std::move(side.path));
  plan.load_labels.push_back(std::move(side.label));
}

Status CheckLabels(const RunPlan& plan) {
  std::set<std::string> taken;
  for (const RunnerPlan& runner : plan.runners) taken.insert(runner.name);
  for (const std::string& label : plan.load_labels) {
    if (label.empty() || taken.insert(label).second) continue;
    return InvalidArgument("the label '" + label +
                           "' is used twice, so it does not identify a side");
  }
  return {};
}

}  // namespace vernier
