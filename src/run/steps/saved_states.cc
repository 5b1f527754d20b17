// The steps of saved outputs, as far as their files say how these were fed.
#include <utility>

#include "run/steps/step_states.h"

namespace vernier {

Decoding Decoding::OfSaved(const StepPlan& plan, std::vector<std::optional<TokenPair>> pairs) {
  Decoding decoding(plan, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) decoding.runners_[i].pair = std::move(pairs[i]);
  return decoding;
}

StepStates StepStates::OfSaved(const StepPlan& plan, std::vector<std::string> names,
                               std::vector<SavedSide> sides, std::span<const int64_t> lengths,
                               Logger& logger) {
  StepStates states(plan, std::move(names), logger);
  std::vector<std::optional<TokenPair>> tokens;
  for (size_t i = 0; i < sides.size(); ++i) {
    states.runners_[i].pairs = std::move(sides[i].pairs);
    tokens.push_back(std::move(sides[i].tokens));
  }
  if (plan.decodes()) states.decoding_ = Decoding::OfSaved(plan, std::move(tokens));
  for (size_t i = 0; i < lengths.size(); ++i) {
    states.timeline_.Add(static_cast<int64_t>(i), lengths[i]);
  }
  return states;
}

}  // namespace vernier
