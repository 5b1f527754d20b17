// What the outputs of a run decide, and what that means for its end.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "decide/labels/label_scores.h"
#include "record/schema/gate_text.h"
#include "run/comparison/pair_verdict.h"
#include "run/feeds/run_scripts.h"

namespace vernier {
namespace {

/// Is called with what was asked for and is not held.
using NotHeld = std::function<void(const std::string& sentence)>;

void NoteUnlessNoted(RunRecord& run, const std::string& sentence) {
  if (std::ranges::find(run.notes, sentence) == run.notes.end()) run.notes.push_back(sentence);
}

// A gate of some outputs says nothing of the others: unless --judge says so, their elements count.
void JudgeUndecided(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  if (scope.judge != JudgeRule::kDecisions) return;
  for (const OutputTally& output : pair.recorder.tally().outputs()) {
    if (!pair.decisions.LeavesToElements(output.name)) continue;
    record.undecided_outputs.push_back(output.name);
    if (output.passed + output.not_verified == output.iterations) continue;
    scope.Reject(pair.label() + ": output '" + output.name +
                 "' does not match, and no gate of a decision is about it (--judge decisions only "
                 "reports it)");
  }
}

// `merge` knows which sample the label number 7 of a file is of.
void NoteUnlabelledRows(const VerdictScope& scope) {
  if (scope.plan.save.rows.empty()) return;
  for (const LabelsPlan& labels : scope.plan.decisions.labels) {
    const bool with_inputs = FedLabelKey(labels) || labels.path == kLabelsOfFolders;
    if (with_inputs || labels.of_boxes()) continue;
    NoteUnlessNoted(scope.run, "--save-rows: rows of a shard do not have the labels of '" +
                                   labels.path +
                                   "': save them with `vernier merge`, or give --labels to "
                                   "`vernier check accuracy`");
  }
}

// A rate of some samples says nothing of the rate of all.
void LeaveGatesToMerge(const VerdictScope& scope, PairRecord& record) {
  NoteUnlabelledRows(scope);
  record.decision_gates.clear();
  if (scope.judge == JudgeRule::kDecisions) record.judged_by = kJudgedByMerge;
  if (!scope.plan.decisions.has_gates() && scope.plan.decisions.labels.empty()) return;
  NoteUnlessNoted(scope.run,
                  "--shard: gates of decisions and labels are about all samples, and `vernier "
                  "merge` judges them");
}

// What may make agreement or figures mean nothing.
void JudgeDoubts(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record,
                 const NotHeld& not_held) {
  if (scope.parts.labels != nullptr) {
    for (const std::string& sentence : scope.parts.labels->Notes()) {
      NoteUnlessNoted(scope.run, sentence);
    }
  }
  std::vector<std::string> doubts = pair.decisions.Doubts();
  for (const DecisionRecord& decision : record.decisions) {
    for (const std::string& doubt : DoubtsOf(decision)) {
      doubts.push_back(DecisionName(decision.kind, decision.output) + " " + doubt);
    }
  }
  for (const std::string& doubt : doubts) {
    scope.plan.strict ? not_held("--strict: " + doubt)
                      : NoteUnlessNoted(scope.run, pair.label() + ": " + doubt);
  }
}

// Of every flip that is named.
void PlaceFlips(const StepStates* steps, PairRecord& record) {
  if (steps == nullptr) return;
  const auto place = [steps](FlipPlace& flip) {
    flip.sequence = steps->timeline().Of(flip.iteration).sequence;
  };
  for (DecisionRecord& decision : record.decisions) {
    if (decision.first_flip) place(*decision.first_flip);
    for (WorstFlip& flip : decision.worst) place(flip);
  }
}

void JudgeGate(const VerdictScope& scope, const ComparedPair& pair, const DecisionGateRecord& gate,
               const NotHeld& not_held) {
  const bool judged = scope.judge != JudgeRule::kElements;
  const std::string sentence = pair.label() + ": " + GateInWords(gate);
  if (gate.verdict == kGateWithoutSamples) {
    not_held(GateInWords(gate));
  } else if (judged && GateIsMissed(gate)) {
    scope.Reject(sentence);
  } else if (judged && gate.undecided && scope.plan.strict) {
    not_held("--strict: " + GateInWords(gate));
  } else if (!judged && GateIsMissed(gate)) {
    scope.run.notes.push_back(sentence + ": reported only (--judge elements)");
  }
}

}  // namespace

void JudgeDecisions(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  if (scope.plan.decisions.decisions.empty()) return;
  record.judged_by = JudgeName(scope.judge);
  pair.decisions.AddTo(record);
  PlaceFlips(scope.parts.steps, record);
  if (scope.parts.shard != nullptr) {
    JudgeUndecided(scope, pair, record);
    return LeaveGatesToMerge(scope, record);
  }
  // Of a run that was given up, what is missing follows from why it was.
  const auto not_done = [&](const std::string& sentence) {
    if (scope.coverage == Coverage::kJudged) scope.NotDone(pair.label() + ": " + sentence);
  };
  // What rows need not carry.
  const auto not_held = [&](const std::string& sentence, std::vector<std::string>& of_rules) {
    not_done(sentence);
    of_rules.push_back(pair.label() + ": " + sentence);
  };
  const NotHeld no_gate = [&](const std::string& what) { not_held(what, scope.rules.gates); };
  for (const std::string& sentence : pair.decisions.Missing()) not_done(sentence);
  for (const std::string& fault : pair.decisions.UnfitLabels()) {
    not_held(fault, scope.rules.labels);
  }
  for (const std::string& fault : pair.decisions.IdleGates()) no_gate(fault);
  JudgeDoubts(scope, pair, record, no_gate);
  JudgeUndecided(scope, pair, record);
  for (const DecisionGateRecord& gate : record.decision_gates) {
    JudgeGate(scope, pair, gate, no_gate);
  }
}

}  // namespace vernier
