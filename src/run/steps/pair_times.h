// What the record says of the outputs of a pair over the steps of sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/figures/logits_total_gate.h"
#include "run/steps/step_curve.h"
#include "run/steps/step_errors.h"
#include "run/steps/step_timeline.h"
#include "vernier/row_record.h"
#include "vernier/run_record.h"

namespace vernier {

struct IterationComparison;

class PairTimes {
 public:
  /// The next step, in order: `rows` are of the outputs of `comparison`, with their RMSE and
  /// relative L2 norm where they have numbers. `states`: those among them that are fed back;
  /// `of_reference`: they were made from the reference's.
  void Add(const StepPosition& position, const IterationComparison& comparison,
           std::span<const OutputRow> rows, std::span<const std::string> states = {},
           bool of_reference = false);

  /// Has a step of this sequence failed?
  bool any_bad(int64_t sequence) const { return bad_sequence_ == sequence; }

  /// Completes the outputs that were added. `own`: see TimeRecord.
  void AddTo(PairRecord& record, bool own) const;
  /// The same where these are the steps of --state cross, into the times that are there. `totals`:
  /// no step is bad where all positions together pass --compare logits.
  void AddCrossedTo(PairRecord& record, bool totals) const;

 private:
  struct OutputTimes {
    std::string name;
    StepPosition last;  // that was compared
    TimeRecord time;
    StepErrors errors;
    StepCurve curve;
    LogitsTotalGate gate;
  };
  OutputTimes& TimesOf(const std::string& output);
  const OutputTimes* Find(const std::string& output) const;

  std::vector<OutputTimes> outputs_;
  std::optional<int64_t> bad_sequence_;  // the last one with a step that failed
};

}  // namespace vernier
