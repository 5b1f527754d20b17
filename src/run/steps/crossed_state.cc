// The state of one runner in the form that another takes it (--state cross).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor_slice.h"
#include "run/steps/step_states.h"

namespace vernier {
namespace {

using Axes = std::vector<size_t>;

// The order of axes in which `met` is the output: none for itself, nullopt for what is another or a
// part of it.
std::optional<Axes> AxesOf(const std::string& met, const std::string& output) {
  if (met == output) return Axes();
  if (!met.starts_with(output + "@")) return std::nullopt;
  Result<Axes> axes = ParseAxes(std::string_view(met).substr(output.size() + 1));
  return axes.ok() ? std::optional(*std::move(axes)) : std::nullopt;
}

Axes Inverted(const Axes& axes) {
  Axes inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) inverse[axes[i]] = i;
  return inverse;
}

// Of two outputs that are met in these orders of axes, the second as the first is.
Result<Tensor> InOrder(const Tensor& second, const Axes& first_axes, const Axes& second_axes) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor met, TakeForm(second, {{}, second_axes}));
  return TakeForm(met, {{}, Inverted(first_axes)});
}

}  // namespace

Result<std::optional<Tensor>> StepStates::CrossedState(
    const std::string& output, const Runner& from,
    std::span<const std::pair<std::string, std::string>> met) const {
  for (const auto& [first, second] : met) {
    const std::optional<Axes> axes = AxesOf(first, output);
    if (!axes) continue;
    for (const StatePair& pair : from.pairs) {
      const std::optional<Axes> others = AxesOf(second, pair.output);
      const Tensor* const tensor = others ? Find(from.state, pair.input) : nullptr;
      if (tensor == nullptr) continue;
      VERNIER_ASSIGN_OR_RETURN(Tensor state, InOrder(*tensor, *axes, *others));
      return std::optional(std::move(state));
    }
  }
  return std::optional<Tensor>();
}

Result<TensorMap> StepStates::StateFor(
    size_t reference, size_t candidate,
    std::span<const std::pair<std::string, std::string>> met) const {
  const Runner& from = runners_[candidate];
  TensorMap state;
  for (const StatePair& pair : runners_[reference].pairs) {
    VERNIER_ASSIGN_OR_RETURN(std::optional<Tensor> tensor, CrossedState(pair.output, from, met));
    if (!tensor) {
      return InvalidArgument("--state cross: no state of " + shown_[candidate] +
                             " is compared with '" + pair.output + "' of " + shown_[reference] +
                             "; say with --map-outputs which whole one is the same, its axes in "
                             "another order where need be (a slice of a state is not crossed: "
                             "--state reference shows each step's own error)");
    }
    state.push_back({pair.input, *std::move(tensor)});
  }
  if (!decoding_) return state;
  const Tensor* const tokens = Find(from.state, decoding_->PairOf(candidate)->tokens);
  if (tokens == nullptr) {
    return InvalidArgument("--state cross: " + shown_[candidate] + " has chosen no token");
  }
  state.push_back({decoding_->PairOf(reference)->tokens, *tokens});
  return state;
}

}  // namespace vernier
