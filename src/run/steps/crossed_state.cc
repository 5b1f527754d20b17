// The state of one runner in the form and type that another takes it (--state cross, reference).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor_slice.h"
#include "inputs/cast_tensor.h"
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

bool IsFloat(DType dtype) { return dtype != DType::kUndefined && Kind(dtype) == DTypeKind::kFloat; }

// Do they differ, and can the one become the other without more than a rounding?
bool BecomesFloat(DType from, DType to) { return from != to && IsFloat(from) && IsFloat(to); }

bool AreOtherTypes(DType a, DType b) {
  const bool known = a != DType::kUndefined && b != DType::kUndefined;
  return known && a != b && !BecomesFloat(a, b);
}

}  // namespace

// What it declares, else what it gives for its own next step.
DType StepStates::TypeOfState(const Runner& runner, const std::string& input) const {
  const TensorInfo* const info = FindInfo(runner.infos, input);
  if (info != nullptr && info->dtype != DType::kUndefined) return info->dtype;
  const auto given = runner.types.find(input);
  return given == runner.types.end() ? DType::kUndefined : given->second;
}

Status StepStates::CheckSharedTypes(size_t runner) const {
  const Runner& here = runners_[runner];
  if (plan_->state == StateSource::kOwn) return {};
  for (const StatePair& pair : here.pairs) {
    const DType own = TypeOfState(here, pair.input);
    const DType others = TypeOfState(runners_.front(), pair.input);
    const bool shared = std::ranges::find(runners_.front().pairs, pair.input, &StatePair::input) !=
                        runners_.front().pairs.end();
    if (!shared || !AreOtherTypes(own, others)) continue;
    return InvalidArgument(
        "--state " + std::string(kStateSourceNames[static_cast<size_t>(plan_->state)]) +
        ": the state '" + pair.input + "' is " + std::string(DTypeName(others)) + " in " +
        shown_.front() + " and " + std::string(DTypeName(own)) + " in " + shown_[runner] +
        ", and only floats are converted; leave out --state");
  }
  return {};
}

Result<TensorMap> StepStates::InOwnTypes(size_t runner, TensorMap fed,
                                         std::vector<std::string>& notes) const {
  for (const StatePair& pair : runners_[runner].pairs) {
    const auto state = std::ranges::find(fed, pair.input, &NamedTensor::name);
    const DType own = TypeOfState(runners_[runner], pair.input);
    if (state == fed.end() || !BecomesFloat(state->tensor.dtype(), own)) continue;
    const DType from = state->tensor.dtype();
    const bool too_large = AnyOutOfRange(state->tensor, own);
    VERNIER_ASSIGN_OR_RETURN(state->tensor, CastTensor(state->tensor, own));
    const std::string name(DTypeName(own)), before(DTypeName(from));
    const bool made = std::ranges::find(firsts_.zeros, pair.input) != firsts_.zeros.end();
    const bool given = position_.step == 0 && !made;
    const std::string state_in_words = (given ? "the first state '" : "state '") + pair.input + "'";
    notes.push_back(
        state_in_words + " is converted from " +
        (given ? "the " + before + " that was given" : before + " of " + shown_.front()) +
        " to its own " + name + (given ? "" : " at every step (--state reference)"));
    if (too_large) {
      notes.push_back(state_in_words + (given ? "" : " of " + shown_.front()) +
                      " has values out of the range of " + name + ", which become infinite");
    }
  }
  return fed;
}

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

Result<TensorMap> StepStates::StateFor(size_t reference, size_t candidate,
                                       std::span<const std::pair<std::string, std::string>> met,
                                       std::string& note) const {
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
    const DType own = TypeOfState(runners_[reference], pair.input);
    if (BecomesFloat(tensor->dtype(), own)) {
      note = "--state cross: the states of " + shown_[candidate] + " are converted from " +
             std::string(DTypeName(tensor->dtype())) + " to the " + std::string(DTypeName(own)) +
             " of " + shown_[reference];
      logger_->Once(Severity::kInfo, note);
      VERNIER_ASSIGN_OR_RETURN(*tensor, CastTensor(*tensor, own));
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
