// Sides that were loaded from one file, and outputs whose agreement shows nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/executor.h"
#include "run/loaded_side.h"
#include "vernier/run_record.h"

namespace vernier {

/// A file compared with itself agrees whatever it holds.
class SelfComparisons {
 public:
  /// `pairs` are places among all sides.
  SelfComparisons(const LoadedSide& loaded, const std::vector<std::pair<size_t, size_t>>& pairs);

  /// A note for each; with --strict also a mismatch.
  void Note(bool strict, RunOutcome& outcome) const;

  /// --strict: marks the pairs that show nothing in part or as a whole. The exit code is set where
  /// that was found.
  void RejectVacuous(std::vector<PairRecord>& pairs) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;
  std::vector<std::string> paths_;
};

}  // namespace vernier
