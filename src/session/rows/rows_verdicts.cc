#include "session/rows/rows_verdicts.h"

#include <algorithm>

#include "record/schema/gate_text.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {

void FailedOutputs::Add(const IterationRow& row) {
  if (row.outputs.empty()) return;
  auto& outputs = pairs_[row.pair];
  for (const OutputRow& output : row.outputs) {
    Counts& counts = outputs[output.output];
    ++counts.rows;
    counts.failed += output.verdict == "failed" ? 1 : 0;
  }
}

std::vector<std::string> FailedOutputs::Sentences(const JudgedOutputs& judged) const {
  std::vector<std::string> sentences;
  for (const auto& [pair, outputs] : pairs_) {
    std::vector<std::string> failed;
    for (const auto& [output, counts] : outputs) {
      if (counts.failed == 0 || judged.contains({pair, output})) continue;
      failed.push_back("output " + QuotePython(output) + " failed in " +
                       CountedOf(counts.failed, counts.rows, "row"));
    }
    const bool by_function = std::ranges::any_of(judged, [&, &name = pair](const auto& one) {
      return one.first == name && !outputs.contains(one.second);
    });
    if (failed.empty() || by_function) continue;
    sentences.push_back(pair + ": decisions alone are checked again, and by their elements " +
                        JoinWords(failed, " and ") + ", which no gate of a decision is about");
  }
  return sentences;
}

void AddFaults(const DecisionGateRecord& gate, bool strict, RunFaults& faults) {
  if (gate.verdict == kGateWithoutSamples || (gate.undecided && strict)) faults.incomplete = true;
  if (GateIsMissed(gate)) faults.mismatch = true;
}

void LogGate(const PairGate& one, bool strict, const RunFaults& faults, Logger& log) {
  const DecisionGateRecord& gate = one.gate;
  const std::string text = one.pair + ": " + GateInWords(gate);
  if (gate.verdict == kGateWithoutSamples) {
    log.Error(text);
  } else if (GateIsMissed(gate)) {
    log.Error("FAILED | " + text);
  } else if (gate.undecided && strict) {
    log.Error("--strict: " + text);
  } else if (gate.undecided) {
    log.Warning(text);
  } else if (faults.incomplete) {
    log.Info(text);
  } else {
    log.Finish("PASSED | " + text);
  }
}

void LogDoubts(const std::vector<std::string>& doubts, bool strict, Logger& log,
               RunFaults& faults) {
  for (const std::string& doubt : doubts) {
    faults.incomplete |= strict;
    strict ? log.Error("--strict: " + doubt) : log.Warning(doubt);
  }
}

}  // namespace vernier
