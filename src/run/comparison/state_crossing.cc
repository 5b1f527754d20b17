#include "run/comparison/state_crossing.h"

#include <string>
#include <utility>
#include <vector>

#include "run/live/side_inference.h"

namespace vernier {

Result<std::optional<TensorMap>> StateCrossing::Infer(size_t first, size_t second,
                                                      const MatchedSides& sides,
                                                      int64_t iteration) {
  StepStates& steps = *live_.steps();
  const auto is_there = [&](size_t stream) {
    return stream < live_.size() && live_[stream].alive();
  };
  if (!is_there(first) || !is_there(second) || !steps.AtHand(iteration)) {
    return std::optional<TensorMap>();
  }
  std::vector<std::pair<std::string, std::string>> met;
  for (const OutputPair& pair : sides.pairing.pairs) {
    met.emplace_back(sides.a().outputs[pair.a].name, sides.b().outputs[pair.b].name);
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap state, steps.StateFor(first, second, met));
  TensorMap own = steps.ExchangeState(first, std::move(state));
  Result<TensorMap> made = InferAside(live_, first, steps.feed(), iteration);
  steps.ExchangeState(first, std::move(own));
  if (!made.ok()) {
    // A runner that has failed has it in its record.
    const bool cancelled = made.status().code() == StatusCode::kCancelled;
    if (!live_[first].alive() && !cancelled) return std::optional<TensorMap>();
    return made.status();
  }
  return std::optional<TensorMap>(*std::move(made));
}

}  // namespace vernier
