#include "session/rows_session.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "decide/decision.h"
#include "decide/decision_fold.h"
#include "record/decision_rows.h"
#include "record/gate_text.h"
#include "report/text/decision_text.h"
#include "util/counted.h"
#include "vernier/row_record.h"

namespace vernier {
namespace {

struct FoldedDecision {
  std::string pair;
  std::string output, kind;
  DecisionFold fold;
  int64_t rows = 0;  // that have it
};

struct FoldedRows {
  std::vector<FoldedDecision> decisions;
  std::map<std::string, int64_t> rows;  // of each pair
};

FoldedDecision& FoldFor(const std::string& pair, const DecisionRow& row, int64_t keep,
                        std::vector<FoldedDecision>& folded) {
  const auto at = std::ranges::find_if(folded, [&](const FoldedDecision& one) {
    return one.pair == pair && one.output == row.output && one.kind == row.kind;
  });
  if (at != folded.end()) return *at;
  DecisionFold fold(row.output, row.kind, keep);
  return folded.emplace_back(FoldedDecision{pair, row.output, row.kind, std::move(fold)});
}

// A flip stays one, but which are near ties follows from the limit.
void TellFlipsApart(double near_tie, std::vector<DecisionSample>& samples) {
  for (DecisionSample& sample : samples) {
    sample.near_tie = near_tie;
    if (sample.flip != Flip::kNearTie && sample.flip != Flip::kClear) continue;
    sample.flip = FlipByMargin(sample.first_margin, near_tie);
  }
}

Result<FoldedRows> FoldRows(const std::string& path, const DecisionOptions& options) {
  FoldedRows folded;
  VERNIER_TRY(ForEachDecisionRow(path, [&](const IterationRow& row) -> Status {
    ++folded.rows[row.pair];
    for (const DecisionRow& decision : row.decisions) {
      std::vector<DecisionSample> samples = decision.samples;
      if (options.near_tie) TellFlipsApart(*options.near_tie, samples);
      FoldedDecision& one = FoldFor(row.pair, decision, options.worst_flips, folded.decisions);
      one.fold.Add(row.index, row.step, samples);
      ++one.rows;
    }
    return {};
  }));
  return folded;
}

void LogGate(const std::string& pair, const DecisionGateRecord& gate, Logger& log,
             RunFaults& faults) {
  const std::string text = pair + ": " + GateInWords(gate);
  if (gate.verdict == kGateWithoutSamples) {
    faults.incomplete = true;
    log.Error(text);
  } else if (GateIsMissed(gate)) {
    faults.mismatch = true;
    log.Error("FAILED | " + text);
  } else if (gate.undecided) {
    log.Warning(text);
  } else {
    log.Finish("PASSED | " + text);
  }
}

// What was asked for and is not in the file.
void LogMissing(const std::string& path, const FoldedRows& rows, const DecisionOptions& options,
                Logger& log, RunFaults& faults) {
  const std::vector<FoldedDecision>& folded = rows.decisions;
  const auto missing = [&](const std::string& sentence) {
    faults.incomplete = true;
    log.Error(sentence);
  };
  if (folded.empty()) {
    missing("nothing was checked: '" + path + "' holds no decisions, which --decision makes");
  } else if (!options.has_gates()) {
    missing("nothing was checked: add --max-flip-rate or --max-clear-flips");
  }
  int64_t most = 0;
  for (const auto& [pair, count] : rows.rows) most = std::max(most, count);
  for (const auto& [pair, count] : rows.rows) {
    if (count == most) continue;
    missing(pair + ": only " + CountedOf(count, most, "row") + " of another pair in '" + path +
            "'");
  }
  for (const FoldedDecision& one : folded) {
    const int64_t all = rows.rows.at(one.pair);
    if (one.rows == all) continue;
    missing(one.pair + ": " + DecisionName(one.kind, one.output) +
            ": not everything was decided, "
            "only " +
            CountedOf(one.rows, all, "row") + " has it in '" + path + "'");
  }
  for (const auto& [output, limit] : options.max_flip_rate.entries) {
    if (std::ranges::find(folded, output, &FoldedDecision::output) != folded.end()) continue;
    missing("--max-flip-rate " + output + ": '" + path + "' has no decision about that output");
  }
}

}  // namespace

RunFaults JudgeRows(const std::string& path, const DecisionOptions& options, Logger& log) {
  RunFaults faults;
  log.Info("Loading rows from " + path);
  const Result<FoldedRows> folded = FoldRows(path, options);
  if (!folded.ok()) {
    log.Critical(folded.status().message());
    // What is not there to be read is no file that could not be written.
    faults.malformed = true;
    return faults;
  }
  for (const FoldedDecision& one : folded->decisions) {
    const DecisionRecord record = one.fold.Record();
    log.Info(one.pair + ": decision " + FormatDecision(record, NearTies::kOfUnknownLimit));
    for (const DecisionGateRecord& gate : JudgeDecision(record, options)) {
      LogGate(one.pair, gate, log, faults);
    }
  }
  LogMissing(path, *folded, options, log, faults);
  return faults;
}

}  // namespace vernier
