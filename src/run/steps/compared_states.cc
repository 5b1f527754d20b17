#include "run/steps/compared_states.h"

#include <algorithm>
#include <string>
#include <vector>

#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"
#include "util/text/star_pattern.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

bool LogitsLeaveOut(const CompareOptions& compare, const std::string& output) {
  const auto others = [](CompareFunction function) { return function != CompareFunction::kLogits; };
  if (std::ranges::any_of(compare.functions, others)) return false;
  return std::ranges::none_of(compare.logits_axis.entries,
                              [&](const auto& entry) { return entry.first == output; });
}

bool MapsLeaveOut(const std::vector<NameMap>& maps, const std::string& runner,
                  const std::string& output) {
  return std::ranges::any_of(maps, [&](const NameMap& map) {
    const bool about = map.label.empty() || IsCalled(runner, map.label);
    return map.leaves_out() && about && MatchStar(map.name, output);
  });
}

}  // namespace

Status StatesLeftOutByLogits() {
  return InvalidArgument(
      "--compare-state: --compare logits alone leaves out what is fed back: add --compare simple");
}

Status CheckStatesCompared(const RunPlan& plan, const StepStates& states) {
  if (!plan.steps.compare_state || plan.compare_script.given()) return {};
  const std::vector<std::string>& runners = states.runners();
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NameMap> maps,
                           ParseNameMaps("--map-outputs", plan.output_map_words, runners, 2));
  bool any = false, by_maps = false;
  for (size_t i = 0; i < runners.size(); ++i) {
    for (const std::string& output : states.StateOutputs(i)) {
      const bool mapped = MapsLeaveOut(maps, runners[i], output);
      if (!mapped && !LogitsLeaveOut(*plan.compare, output)) return {};
      any = true;
      by_maps |= mapped;
    }
  }
  if (!by_maps) return any ? StatesLeftOutByLogits() : Status();
  return InvalidArgument(
      "--compare-state: --map-outputs leaves out everything that is fed back: keep one of it, or "
      "leave --compare-state out");
}

}  // namespace vernier
