// Whether every word of --map-outputs is about outputs of two sides that are compared.
#include <algorithm>
#include <string>
#include <vector>

#include "run/comparison/comparison_run.h"
#include "util/text/star_pattern.h"
#include "util/values/joined.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

constexpr size_t kMostListed = 12;

Status NotUsed(const std::string& word, const std::vector<std::vector<std::string>>& outputs) {
  std::vector<std::string> names;
  for (const std::vector<std::string>& own : outputs) {
    for (const std::string& name : own) {
      if (!ListHas(names, "'" + name + "'")) names.push_back("'" + name + "'");
    }
  }
  return InvalidArgument("--map-outputs " + word +
                         ": no two runners that are compared have such outputs" +
                         (names.empty() ? "" : "; there are " + JoinedUpTo(names, kMostListed)));
}

}  // namespace

Status ComparisonRun::CheckMaps(const std::vector<std::vector<std::string>>& outputs) const {
  const std::vector<std::string>& words = plan_->output_map_words;
  std::vector<bool> used(words.size(), compared_.pairs.empty());
  for (const Pair& pair : compared_.pairs) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<bool> own,
                             pair.matching.CheckMaps(outputs[pair.first], outputs[pair.second]));
    for (size_t i = 0; i < used.size(); ++i) used[i] = used[i] || own[i];
    VERNIER_TRY(CheckCrossedMaps(pair, outputs));
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (!used[i]) return NotUsed(words[i], outputs);
  }
  return {};
}

// Of a state that is cut no whole one can be put into the other side.
Status ComparisonRun::CheckCrossedMaps(const Pair& pair,
                                       const std::vector<std::vector<std::string>>& outputs) const {
  if (parts_.steps == nullptr || parts_.steps->plan().state != StateSource::kCross) return {};
  std::vector<std::string> names = outputs[pair.first];
  names.insert(names.end(), outputs[pair.second].begin(), outputs[pair.second].end());
  for (const NameMap& map : pair.matching.output_maps()) {
    if (map.form.slice.empty()) continue;
    const auto is_cut = [&](const std::string& name) {
      return MatchStar(map.base, name) && step_sides_.IsState(pair, name, name);
    };
    if (!is_cut(map.base) && std::ranges::none_of(names, is_cut)) continue;
    return InvalidArgument("--state cross: --map-outputs " + map.word +
                           " compares a slice of the state '" + map.base +
                           "', and only whole states are crossed, their axes in another order "
                           "where need be; --state reference shows each step's own error");
  }
  return {};
}

// An output that belongs to no step is gone (--steps-axis): CheckMaps() knew whether it is there.
bool ComparisonRun::MayBeGone(const Pair& pair, size_t map) const {
  const StepStates* const steps = parts_.steps;
  if (steps == nullptr || !pair.matching.output_maps()[map].leaves_out()) return false;
  return steps->axis(pair.first) || steps->axis(pair.second);
}

Status ComparisonRun::CheckMapsUsed() const {
  for (size_t i = 0; i < plan_->output_map_words.size(); ++i) {
    const bool used =
        std::any_of(compared_.pairs.begin(), compared_.pairs.end(), [&](const Pair& pair) {
          const std::vector<bool>& own = pair.matching.used();
          return i < own.size() && (own[i] || MayBeGone(pair, i));
        });
    if (!used && !compared_.pairs.empty()) return NotUsed(plan_->output_map_words[i], {});
  }
  return {};
}

}  // namespace vernier
