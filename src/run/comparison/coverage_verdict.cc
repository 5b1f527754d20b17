// Whether all iterations and outputs of a pair were compared.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/comparison/pair_verdict.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

// Of the side that has fewer iterations: ": b has no iteration 10", ": b has no iterations 3 to
// 10"; of both ": neither side has iterations 3 to 10".
std::string WhichAreMissing(const std::pair<std::string, std::string>& sides, int64_t first,
                            int64_t second, int64_t expected) {
  const int64_t from = std::min(first, second), last = expected - 1;
  if (from > last) return "";
  const bool both = first == second;
  if (both && from == 0) return "";
  const std::string who = both             ? ": neither side has "
                          : first < second ? ": " + sides.first + " has "
                                           : ": " + sides.second + " has ";
  if (from == 0) return who + "none";
  return who + (both ? "" : "no ") + Noun(expected - from, "iteration ", "iterations ") +
         std::to_string(from) +
         (from == last ? "" : (from + 1 == last ? " and " : " to ") + std::to_string(last));
}

// Their scripts may choose what they look at; --strict wants all of it.
void AddLeftOut(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record) {
  const auto add = [&](const std::vector<std::string>& names, const std::string& what) {
    if (names.empty()) return;
    const std::string more =
        names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : std::string();
    scope.NotDone(pair.label() + ": --strict: " + what + ": '" + names.front() + "'" + more);
  };
  std::vector<std::string> differ;
  for (const OutputRecord& output : record.outputs) {
    const bool differs = output.tokens && output.tokens->excluded_differ > 0;
    if (differs && scope.plan.compare->mask.empty()) differ.push_back(output.name);
  }
  add(differ, "positions that the mask excludes differ beyond tolerance in outputs");
  const ComparisonParts::Scripts& scripts = scope.parts.scripts;
  if (scripts.comparison != nullptr) {
    add(record.without_verdict, "'" + scripts.comparison->name() + "' gave no verdict on outputs");
  }
  add(record.not_logits, "--compare logits left out outputs");
  if (scripts.postprocessing != nullptr) {
    add(record.dropped, "'" + scripts.postprocessing->name() + "' dropped outputs");
  }
}

std::string WhyNothingMeets(const VerdictScope& scope, const ComparedPair& pair,
                            const PairRecord& record) {
  const bool left_out =
      !record.left_out.empty() && record.only_in_first.empty() && record.only_in_second.empty();
  if (left_out) return "--map-outputs leaves out every output";
  if (!record.not_logits.empty()) {
    const std::optional<int64_t>& axis = scope.plan.compare->logits_axis.fallback;
    return "--compare logits applies to none of the outputs: it needs floating-point outputs with"
           " at least two classes" +
           (axis.value_or(-1) == -1 ? std::string() : " along axis " + std::to_string(*axis)) +
           "; --compare simple takes all";
  }
  return std::string("no output of one side has a counterpart on the other") +
         (scope.compared.marked ? "; mark tensors that both have"
                                : "; --lenient pairs by position") +
         pair.matching.Advice(record);
}

// Where feeds are sequences: which step the first missing iteration is.
std::string StepInWords(const StepStates* steps, int64_t iteration, int64_t expected) {
  if (steps == nullptr || iteration <= 0 || iteration >= expected) return "";
  const StepPosition position = steps->timeline().Of(iteration);
  if (position.step >= position.steps) return "";
  return ", from step " + std::to_string(position.step) + " of sequence " +
         std::to_string(position.sequence) + " on";
}

// Where outputs lose their counterpart that had one before.
std::string SinceInWords(const StepStates* steps, int64_t iteration) {
  if (iteration <= 0) return "";
  if (steps == nullptr) return ", first in iteration " + std::to_string(iteration);
  const StepPosition position = steps->timeline().Of(iteration);
  return ", first at step " + std::to_string(position.step) + " of sequence " +
         std::to_string(position.sequence);
}

std::string OnlySoMany(const VerdictScope& scope, const ComparedPair& pair,
                       const PairRecord& record) {
  const int64_t first = scope.lengths[pair.first].made, second = scope.lengths[pair.second].made;
  return (record.compared_iterations > 0 ? "only " : "") +
         CountedOf(record.compared_iterations, record.expected_iterations, "iteration") +
         " could be compared" +
         WhichAreMissing(pair.shown, first, second, record.expected_iterations) +
         StepInWords(scope.parts.steps, std::min(first, second), record.expected_iterations);
}

// Outputs that no iteration compared, and those that only one side has.
void JudgeOutputCoverage(const VerdictScope& scope, const ComparedPair& pair,
                         const PairRecord& record) {
  const std::string who = pair.label() + ": ";
  const ScriptClient* const script = scope.parts.scripts.comparison;
  if (pair.recorder.compared_nothing()) {
    scope.NotDone(who + (script != nullptr
                             ? "'" + script->name() + "' gave no verdict on any output"
                             : WhyNothingMeets(scope, pair, record)));
  } else if (pair.recorder.one_sided() && !scope.compared.marked) {
    const size_t alone = record.only_in_first.size() + record.only_in_second.size();
    scope.NotDone(who + Counted(alone, "output has", "outputs have") + " no counterpart" +
                  SinceInWords(scope.parts.steps, pair.recorder.one_sided_since()) +
                  (scope.plan.shard.wanted() ? "" : " (--lenient accepts that)") +
                  pair.matching.Advice(record));
  }
}

// Other outputs may be empty for good reasons, and agree then; logits that were asked for are not.
void JudgeEmptyLogits(const VerdictScope& scope, const ComparedPair& pair,
                      const PairRecord& record) {
  for (const OutputRecord& output : record.outputs) {
    const bool empty = output.logits && output.compared > 0 && output.elements == 0;
    if (!empty || output.without_numbers > 0) continue;
    scope.NotDone(pair.label() + ": --compare logits: output '" + output.name +
                  "' has no elements in any iteration: there is nothing to judge");
  }
}

// A state that only one side hands on, or that --map-outputs leaves out on one side, has nothing to
// be compared with.
void JudgeStates(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record) {
  const RunPlan& plan = scope.plan;
  const bool asked = plan.steps.compare_state && scope.parts.steps != nullptr;
  if (!asked || plan.compare_script.given()) return;
  const auto is_compared = [](const OutputRecord& output) {
    return output.time && output.time->fed_back && output.compared > 0;
  };
  if (record.compared_iterations == 0 || std::ranges::any_of(record.outputs, is_compared)) return;
  std::string sentence = pair.label() +
                         ": --compare-state: nothing that is fed back was compared: no such output "
                         "has a counterpart on the other side";
  if (plan.lenient && !plan.strict) return scope.run.notes.push_back(std::move(sentence));
  scope.NotDone(std::move(sentence));
}

}  // namespace

void JudgeCoverage(const VerdictScope& scope, const ComparedPair& pair, const PairRecord& record) {
  const RunPlan& plan = scope.plan;
  const std::string who = pair.label() + ": ";
  if (plan.lenient && pair.recorder.compared_nothing()) scope.faults.mismatch = true;
  const int64_t empty = pair.recorder.empty_iterations();
  // Polygraphy passes iterations without an output, but a whole run of them shows nothing.
  if (empty > 0 && (!plan.lenient || record.compared_iterations == 0)) {
    scope.NotDone(who + "neither side has an output to compare in " +
                  CountedOf(empty, record.expected_iterations, "iteration"));
  }
  const int64_t seen = record.compared_iterations + empty + pair.of_other_inputs +
                       pair.tokens.left_out() + pair.padded.left_out();
  // Polygraphy passes that. Who runs a model may ask for it (--iterations 0), who compares does
  // not.
  if (plan.lenient && plan.runners.empty() && seen == 0) {
    scope.NotDone(who + "no iteration was compared");
  }
  JudgeStates(scope, pair, record);
  // Leniency accepts sides that end early, and never a runner that did not make what it was asked.
  const bool accepts = plan.lenient && !plan.strict;
  const bool any_failed = scope.lengths[pair.first].failed || scope.lengths[pair.second].failed;
  if (accepts && !any_failed) return;
  if (seen < record.expected_iterations) scope.NotDone(who + OnlySoMany(scope, pair, record));
  if (accepts) return;
  if (seen >= record.expected_iterations && seen == 0) {
    scope.NotDone(who + "no iteration was compared");
  }
  JudgeOutputCoverage(scope, pair, record);
  JudgeEmptyLogits(scope, pair, record);
  if (plan.strict) AddLeftOut(scope, pair, record);
}

}  // namespace vernier
