// Where an input of a step comes from, for messages about it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "record/schema/runner_name.h"
#include "run/steps/step_states.h"

namespace vernier {

void StepStates::NoteNanInput(const std::string& input, std::string sentence) {
  const bool known =
      std::ranges::any_of(nan_inputs_, [&](const auto& other) { return other.first == input; });
  if (known) return;
  logger_->Warning(sentence);
  nan_inputs_.emplace_back(input, std::move(sentence));
}

void StepStates::NoteLeftOut(const SliceWord& slice, const std::string& what) {
  const auto [noted, is_new] = left_out_.emplace(
      slice.word, "input '" + slice.input + "': " + what + " (--step-slice " + slice.word + ")");
  if (is_new) logger_->Info(noted->second);
}

std::string StepStates::OriginOf(size_t runner, const std::string& input) const {
  const std::string where = " at step " + std::to_string(position_.step) + " of sequence " +
                            std::to_string(position_.sequence);
  for (const SliceWord& slice : words_.slices) {
    const bool own = slice.label.empty() || IsCalled(names_[runner], slice.label);
    if (own && slice.input == input) return "which --step-slice " + slice.word + " made" + where;
  }
  for (const AdvanceWord& advance : words_.advances) {
    if (advance.input == input) return "which --advance " + advance.word + " made" + where;
  }
  const auto contains = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, input) != names.end();
  };
  if (position_.step == 0) {
    if (contains(firsts_.initial))
      return "which --initial-state " + plan_->initial_state + " gives";
    if (!contains(firsts_.zeros)) return "";
    return "zeros that a sequence begins with; --initial-state or the inputs may give another";
  }
  const size_t from = shares_state() ? 0 : runner;
  for (const StatePair& pair : runners_[from].pairs) {
    if (pair.input != input) continue;
    return "output '" + pair.output + "' of " + shown_[from] + " at step " +
           std::to_string(position_.step - 1) + " of sequence " +
           std::to_string(position_.sequence) + " (--feed-back)";
  }
  return "";
}

}  // namespace vernier
