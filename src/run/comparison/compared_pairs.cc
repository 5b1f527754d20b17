#include "run/comparison/compared_pairs.h"

#include <algorithm>
#include <utility>

#include "io/bytes/checksum.h"
#include "record/schema/runner_name.h"
#include "record/schema/side_names.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

using Places = std::vector<std::pair<size_t, size_t>>;

Result<size_t> IndexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const auto called = [&](const std::string& other) { return IsCalled(other, name); };
  if (std::ranges::count_if(names, called) == 1) {
    return static_cast<size_t>(std::ranges::find_if(names, called) - names.begin());
  }
  return InvalidArgument("--pairs: there is no runner '" + name +
                         "'; there are: " + Joined(ShortNames(names)));
}

Result<Places> PlacesOf(const PairPlan& plan, const std::vector<std::string>& names) {
  Places places;
  switch (plan.rule) {
    case PairRule::kNeighbours:
      for (size_t i = 0; i + 1 < names.size(); ++i) places.emplace_back(i, i + 1);
      break;
    case PairRule::kFirst:
      for (size_t i = 1; i < names.size(); ++i) places.emplace_back(0, i);
      break;
    case PairRule::kAll:
      for (size_t i = 0; i < names.size(); ++i) {
        for (size_t j = i + 1; j < names.size(); ++j) places.emplace_back(i, j);
      }
      break;
    case PairRule::kNamed:
      for (const auto& [first, second] : plan.named) {
        VERNIER_ASSIGN_OR_RETURN(const size_t a, IndexOf(names, first));
        VERNIER_ASSIGN_OR_RETURN(const size_t b, IndexOf(names, second));
        places.emplace_back(a, b);
      }
      break;
  }
  return places;
}

}  // namespace

bool ComparedPair::HasOtherInputs(const FeedMarks& feeds) const {
  if (!other_steps.empty()) return true;
  if (feeds.empty() || !feeds[first] || !feeds[second]) return false;
  return AreOfOtherValues(*feeds[first], *feeds[second]);
}

// The second side is a saved one: live runners are fed the same.
std::string ComparedPair::DescribeOtherInputs(int64_t iteration, bool decoded) const {
  if (!other_steps.empty()) return label() + ": " + other_steps;
  return label() + ": iteration " + std::to_string(iteration) + " of '" + shown.second +
         "' was made from other inputs than that of '" + shown.first +
         "': give both the same --load-inputs, or the same --seed and --input-shapes" +
         (decoded ? ", and the same --tokens, or none" : "");
}

Result<ComparedPairs> ComparedPairs::Find(const RunPlan& plan, std::vector<std::string> names,
                                          bool marked, std::span<const std::string> formats) {
  const Charts charts = plan.save.WantsCharts() ? Charts::kWanted : Charts::kNone;
  const auto rule_of = [&](size_t first, size_t second) {
    if (plan.lenient) return PairingRule::kLenient;
    if (!marked) return PairingRule::kOneToOne;
    const bool known = std::max(first, second) < formats.size();
    const bool foreign = known && formats[first] != formats[second];
    return foreign ? PairingRule::kOneToOneFormats : PairingRule::kOneToOneMarked;
  };
  ComparedPairs compared{std::move(names), marked, {}};
  VERNIER_ASSIGN_OR_RETURN(const Places places, PlacesOf(plan.pairs, compared.names));
  for (const auto& [first, second] : places) {
    const std::string& a = compared.names[first];
    const std::string& b = compared.names[second];
    VERNIER_ASSIGN_OR_RETURN(PairMatching matching,
                             PairMatching::Create(plan.output_map_words, compared.names, {a, b},
                                                  rule_of(first, second)));
    compared.pairs.push_back(
        {first, second, PairRecorder(a, b, charts), std::move(matching), true, {a, b}});
  }
  return compared;
}

void ComparedPairs::NamePairs(std::vector<std::pair<std::string, std::string>> shown) {
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i].shown = std::move(shown[i]);
}

std::vector<std::pair<size_t, size_t>> ComparedPairs::places() const {
  Places places;
  for (const ComparedPair& pair : pairs) places.emplace_back(pair.first, pair.second);
  return places;
}

}  // namespace vernier
