// What rows say of the elements of outputs, which is not judged again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vernier/row_record.h"

namespace vernier {

/// Pairs, and their outputs that a gate of a decision is about, or functions that see all.
using JudgedOutputs = std::set<std::pair<std::string, std::string>>;

/// Outputs that failed by their elements.
class FailedOutputs {
 public:
  void Add(const IterationRow& row);

  /// A sentence a pair that has any which no gate is about.
  std::vector<std::string> Sentences(const JudgedOutputs& judged) const;

 private:
  struct Counts {
    int64_t failed = 0;
    int64_t rows = 0;
  };
  std::map<std::string, std::map<std::string, Counts>> pairs_;
};

}  // namespace vernier
