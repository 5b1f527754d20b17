// The verdicts on saved rows: gates, doubts, and elements of outputs, which are not judged again.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/outcome/exit_code.h"
#include "util/log/log.h"
#include "vernier/decision_record.h"
#include "vernier/row_record.h"

namespace vernier {

/// Pairs, and their outputs that a gate of a decision is about, or functions that see all.
using JudgedOutputs = std::set<std::pair<std::string, std::string>>;

/// Outputs that failed by their elements.
class FailedOutputs {
 public:
  void Add(const IterationRow& row);

  /// A sentence for each pair that has any without a gate.
  std::vector<std::string> Sentences(const JudgedOutputs& judged) const;

 private:
  struct Counts {
    int64_t failed = 0;
    int64_t rows = 0;
  };
  std::map<std::string, std::map<std::string, Counts>> pairs_;
};

/// A gate of one pair.
struct PairGate {
  std::string pair;
  DecisionGateRecord gate;
};

void AddFaults(const DecisionGateRecord& gate, bool strict, RunFaults& faults);

/// A gate that holds has passed if there is nothing else that should have been judged.
void LogGate(const PairGate& one, bool strict, const RunFaults& faults, Logger& log);

/// What may make figures others than those that were meant.
void LogDoubts(const std::vector<std::string>& doubts, bool strict, Logger& log, RunFaults& faults);

}  // namespace vernier
