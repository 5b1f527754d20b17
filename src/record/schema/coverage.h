// How much a comparison covers: what was compared, and how much of that shows anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

struct CoverageCount {
  int64_t outputs = 0;          ///< compared
  int64_t without_numbers = 0;  ///< outputs whose shapes or types kept them from comparison
  int64_t one_sided = 0;        ///< outputs without a counterpart
  int64_t without_verdict = 0;  ///< outputs of which a comparison script said nothing
  int64_t dropped = 0;          ///< outputs that a post-processing script left out
  int64_t elements = 0;         ///< of one iteration, over the compared outputs
  int64_t vacuous_outputs = 0;
  int64_t vacuous_elements = 0;           ///< of outputs whose agreement shows nothing
  std::vector<std::string> not_verified;  ///< outputs that could not be judged in some iteration

  void Add(const CoverageCount& other);
};

CoverageCount CountCoverage(const PairRecord& pair);

/// Is there an iteration in which something of the output could be compared?
bool WasCompared(const OutputRecord& output);

/// Is there an agreement that means nothing? What differs shows that it does; NaN on both sides
/// never passes and is named all the same.
bool ShowsNothing(const OutputRecord& output);

/// Does a type differ between the sides? Not where a script judged an output of one side alone.
bool IsRetyped(const OutputRecord& output);

/// Was everything done that was requested, and nothing rejected?
bool IsComplete(const RunRecord& record);

/// Outputs that a script kept from being compared in any iteration, each once.
std::vector<std::string> LeftOutByScripts(const PairRecord& pair);

}  // namespace vernier
