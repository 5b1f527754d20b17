#include "record/coverage.h"

namespace vernier {

void CoverageCount::Add(const CoverageCount& other) {
  outputs += other.outputs;
  one_sided += other.one_sided;
  elements += other.elements;
  vacuous_outputs += other.vacuous_outputs;
  vacuous_elements += other.vacuous_elements;
  not_verified.insert(not_verified.end(), other.not_verified.begin(), other.not_verified.end());
}

CoverageCount CountCoverage(const PairRecord& pair) {
  CoverageCount count;
  count.outputs = static_cast<int64_t>(pair.outputs.size());
  count.one_sided = static_cast<int64_t>(pair.only_in_first.size() + pair.only_in_second.size());
  for (const OutputRecord& output : pair.outputs) {
    count.elements += output.elements;
    if (output.not_verified > 0) count.not_verified.push_back(output.name);
    if (output.vacuous.empty()) continue;
    ++count.vacuous_outputs;
    count.vacuous_elements += output.elements;
  }
  return count;
}

}  // namespace vernier
