#include "record/schema/coverage.h"

#include <algorithm>
#include <string_view>

namespace vernier {

bool WasCompared(const OutputRecord& output) {
  return output.without_numbers == 0 || output.without_numbers < output.compared;
}

bool ShowsNothing(const OutputRecord& output) {
  if (output.vacuous.empty()) return false;
  return !output.differs() || output.vacuous == "all elements are NaN";
}

// A script may judge an output that one side alone has.
bool IsRetyped(const OutputRecord& output) {
  constexpr std::string_view kNoOutput = "undefined";
  return output.dtype != output.other_dtype && output.dtype != kNoOutput &&
         output.other_dtype != kNoOutput;
}

bool IsComplete(const RunRecord& record) {
  return record.faults.empty() && record.rejections.empty() && record.error.empty();
}

namespace {

// Those that have a counterpart in another iteration are counted there.
int64_t CountOneSided(const PairRecord& pair) {
  const auto alone = [&](const std::vector<std::string>& names, std::string OutputRecord::*side) {
    return std::ranges::count_if(names, [&](const std::string& name) {
      return std::ranges::find(pair.outputs, name, side) == pair.outputs.end();
    });
  };
  return alone(pair.only_in_first, &OutputRecord::name) +
         alone(pair.only_in_second, &OutputRecord::other_name);
}

}  // namespace

void CoverageCount::Add(const CoverageCount& other) {
  outputs += other.outputs;
  without_numbers += other.without_numbers;
  one_sided += other.one_sided;
  without_verdict += other.without_verdict;
  dropped += other.dropped;
  elements += other.elements;
  vacuous_outputs += other.vacuous_outputs;
  vacuous_elements += other.vacuous_elements;
  not_verified.insert(not_verified.end(), other.not_verified.begin(), other.not_verified.end());
}

CoverageCount CountCoverage(const PairRecord& pair) {
  CoverageCount count;
  count.one_sided = CountOneSided(pair);
  count.without_verdict = static_cast<int64_t>(pair.without_verdict.size());
  count.dropped = static_cast<int64_t>(pair.dropped.size());
  for (const OutputRecord& output : pair.outputs) {
    if (output.not_verified > 0 || output.average_verdict == "not verified")
      count.not_verified.push_back(output.name);
    if (!WasCompared(output)) {
      ++count.without_numbers;
      continue;
    }
    ++count.outputs;
    count.elements += output.elements;
    if (!ShowsNothing(output)) continue;
    ++count.vacuous_outputs;
    count.vacuous_elements += output.elements;
  }
  return count;
}

std::vector<std::string> LeftOutByScripts(const PairRecord& pair) {
  std::vector<std::string> names;
  for (const std::vector<std::string>* list : {&pair.without_verdict, &pair.dropped}) {
    for (const std::string& name : *list) {
      const bool compared =
          std::any_of(pair.outputs.begin(), pair.outputs.end(),
                      [&](const OutputRecord& output) { return output.name == name; });
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (!compared && !known) names.push_back(name);
    }
  }
  return names;
}

}  // namespace vernier
