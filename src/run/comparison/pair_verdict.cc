#include "run/comparison/pair_verdict.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "record/schema/coverage.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"
#include "vernier/dtype.h"

namespace vernier {
namespace {

std::string NamesOfTypes(const std::set<DType>& types) {
  std::string text;
  for (const DType type : types)
    text += (text.empty() ? "" : " or ") + std::string(DTypeName(type));
  return text;
}

// Their differences say nothing of the runners.
void AddOtherInputs(const VerdictScope& scope, const ComparedPair& pair) {
  if (pair.of_other_inputs == 0) return;
  const int64_t more = pair.of_other_inputs - 1;
  scope.NotDone(
      pair.why_other_inputs +
      (more > 0 ? "; so " + Verb(more, "was ", "were ") + Counted(more, "more iteration") : ""));
}

// As in Polygraphy: what agreed before does not make that a pass.
void AddGivenUp(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record) {
  const bool given_up = scope.plan.lenient && scope.validated && scope.stopped;
  if (!given_up || !pair.recorder.compared_nothing() || record.outputs.empty()) return;
  scope.NotDone(pair.label() + ": the comparison ended at iteration " +
                std::to_string(pair.recorder.tally().iterations() - 1) +
                ", in which no output is on both sides");
}

// What could not be measured has neither passed nor failed: the run is not what was asked for.
void AddUnverified(const VerdictScope& scope, const ComparedPair& pair) {
  for (const OutputTally& output : pair.recorder.tally().outputs()) {
    // A mean may pass where an iteration, and with it the output, failed.
    const bool any =
        scope.plan.compare->check_average ? output.any_not_verified() : output.not_verified > 0;
    if (!any) continue;
    scope.NotDone(pair.label() + ": output '" + output.name +
                  "' was not verified, and has not passed: " + output.failed_why);
  }
}

// An output that no step was compared of has not been looked at.
void AddPadded(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  const PaddedSteps::Sentences padded = pair.padded.AddTo(pair.recorder, record);
  for (const std::string& note : padded.notes) {
    scope.run.notes.push_back(pair.label() + ": " + note);
  }
  for (const std::string& sentence : padded.unverified) {
    scope.NotDone(pair.label() + ": " + sentence);
  }
}

// A lenient run has a note that the output shows nothing there.
void AddEmpty(const VerdictScope& scope, const ComparedPair& pair) {
  if (scope.plan.lenient) return;
  for (const std::string& sentence : pair.empty.Describe()) {
    scope.NotDone(pair.label() + ": " + sentence + " (--lenient accepts that)");
  }
}

// The largest values of the rest may agree whatever the NaN stands for.
void AddHiddenNans(const VerdictScope& scope, const ComparedPair& pair) {
  const std::vector<std::string>& names = scope.compared.names;
  for (const auto& [stream, output] : scope.given.hidden_nans()) {
    if (stream != pair.first && stream != pair.second) continue;
    scope.NotDone(names[pair.first] + " vs. " + names[pair.second] + ": output '" + output +
                  "' of " + names[stream] +
                  " holds NaN, which --postprocess left out (--lenient accepts that)");
  }
}

// What the two give of one state differs, even where each with its own state comes out alike.
void RejectCrossed(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record) {
  for (const OutputRecord& output : record.outputs) {
    if (!DiffersCrossed(output) || !output.agrees()) continue;
    const CrossedRecord& crossed = *output.time->crossed;
    scope.Reject(pair.label() + ": output '" + output.name + "' differs at step " +
                 std::to_string(*crossed.first_bad_step) + " of sequence " +
                 std::to_string(crossed.first_bad_sequence.value_or(0)) +
                 " where both have the state of " + pair.shown.second);
  }
}

// An output that passes only with a wider bound has not been shown to be right.
void RejectIllConditioned(const VerdictScope& scope, const ComparedPair& pair,
                          const PairRecord& record) {
  for (const OutputRecord& output : record.outputs) {
    if (!output.bound || output.bound->condition <= 1 || output.bound->times_over > 1) continue;
    scope.Reject(
        pair.label() + ": --strict: output '" + output.name +
        "' passes only because it is ill-conditioned: κ = " + FormatG(output.bound->condition, 3));
  }
}

// Numbers that agree say nothing of whoever reads the output by its type: neither the type that is
// compared, nor, where post-processing has changed it, the one that the runner gave.
void RejectRetyped(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  for (const OutputRecord& output : record.outputs) {
    const std::set<DType>* const first = scope.given.TypesOf(pair.first, output.name);
    const std::set<DType>* const second = scope.given.TypesOf(pair.second, output.other_name);
    const bool before = first != nullptr && second != nullptr && *first != *second;
    const bool after = IsRetyped(output);
    if (!before && !after) continue;
    scope.faults.mismatch = true;
    record.retyped = true;
    if (after) continue;  // the record has these types
    scope.Reject(pair.label() + ": output '" + output.name + "' is of type " +
                 NamesOfTypes(*first) + " in " + pair.shown.first + ", and " +
                 NamesOfTypes(*second) + " in " + pair.shown.second + ", before post-processing");
  }
}

}  // namespace

void VerdictScope::Reject(std::string sentence) const {
  faults.mismatch = true;
  run.rejections.push_back(std::move(sentence));
}

void VerdictScope::NotDone(std::string sentence) const {
  faults.incomplete = true;
  run.faults.push_back(std::move(sentence));
}

bool PassesByTotal(const RunPlan& plan, const ComparedPair& pair, std::string_view output) {
  const LogitsTotalGate* const gate = pair.recorder.LogitsGateOf(output);
  return !plan.compare->fail_fast && gate != nullptr && gate->Excuses();
}

bool OutputsPass(const RunPlan& plan, const ComparedPair& pair) {
  const ComparisonTally& tally = pair.recorder.tally();
  if (!plan.compare->check_average) {
    // Not the iterations: one in which nothing could be compared is no mismatch.
    return std::ranges::all_of(tally.outputs(), [&](const OutputTally& output) {
      return output.passed + output.not_verified == output.iterations ||
             PassesByTotal(plan, pair, output.name);
    });
  }
  const Result<std::vector<OutputAverage>> averages = tally.Averages();
  return averages.ok() && std::ranges::none_of(*averages, [](const OutputAverage& output) {
           return output.differs();
         });
}

void JudgeOutputs(const VerdictScope& scope, const ComparedPair& pair, PairRecord& record) {
  AddPadded(scope, pair, record);
  AddEmpty(scope, pair);
  AddOtherInputs(scope, pair);
  AddGivenUp(scope, pair, record);
  AddUnverified(scope, pair);
  AddHiddenNans(scope, pair);
  if (scope.judges_elements()) RejectCrossed(scope, pair, record);
  if (scope.plan.strict) RejectIllConditioned(scope, pair, record);
  if (scope.plan.strict || scope.plan.same_type) RejectRetyped(scope, pair, record);
}

}  // namespace vernier
