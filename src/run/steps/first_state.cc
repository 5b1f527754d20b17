// The state that a sequence begins with, and NaN that its inputs hold already.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compare/outputs/validate.h"
#include "core/coordinates.h"
#include "run/steps/step_sequence.h"
#include "run/steps/step_tensors.h"

namespace vernier {
namespace {

// The first NaN's; nullopt: there is none.
Result<std::optional<Dims>> FirstNan(const Tensor& tensor) {
  if (ValidateTensor(tensor).nan_count == 0) return std::optional<Dims>();
  VERNIER_ASSIGN_OR_RETURN(const Tensor nans, InvalidElements(tensor, ValidityTest::kNan));
  const auto bytes = nans.bytes();
  const auto first =
      std::ranges::find_if(bytes, [](std::byte byte) { return byte != std::byte{}; });
  return std::optional(CoordinatesOf(first - bytes.begin(), tensor.dims()));
}

// The first step whose slice has a place along its axis.
int64_t FirstStepWith(int64_t place, const SliceWord& slice) {
  const int64_t behind = place + slice.pad - (*slice.size - 1);
  return behind <= 0 ? 0 : (behind + *slice.hop - 1) / *slice.hop;
}

// The first axes of two inputs that a model calls alike.
std::optional<std::pair<size_t, size_t>> SharedDim(const TensorInfo* a, const Tensor& of_a,
                                                   const TensorInfo* b, const Tensor& of_b) {
  if (a == nullptr || b == nullptr || !a->shape || !b->shape) return std::nullopt;
  if (a->shape->size() != of_a.dims().size() || b->shape->size() != of_b.dims().size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < a->shape->size(); ++i) {
    const std::string& symbol = (*a->shape)[i].symbol;
    if (!(*a->shape)[i].dynamic() || symbol.empty()) continue;
    const auto found = std::ranges::find(*b->shape, symbol, &Dim::symbol);
    if (found == b->shape->end()) continue;
    return std::pair(i, static_cast<size_t>(found - b->shape->begin()));
  }
  return std::nullopt;
}

}  // namespace

Status StepSequence::AddFirstState() {
  bool lacks = false;
  FirstStates firsts;
  for (const NamedTensor& tensor : source_.initial) firsts.initial.push_back(tensor.name);
  for (const std::string& input : states_.StateInputs()) {
    const Tensor* const given = Find(whole_, input);
    const bool holds = given != nullptr && !source_.state_is_drawn;
    if (Find(source_.initial, input) != nullptr) {
      if (!holds) continue;
      return Malformed("--initial-state " + states_.plan().initial_state + ": the inputs hold '" +
                       input + "', too: leave it out of one of the two");
    }
    if (holds) continue;
    if (!source_.initial.empty()) {
      return Malformed("--initial-state " + states_.plan().initial_state + ": it has no '" + input +
                       "', which is fed back, too: add it, or zeros where those are meant");
    }
    firsts.zeros.push_back(input);
    lacks |= given == nullptr;
    if (given == nullptr) continue;
    VERNIER_ASSIGN_OR_RETURN(Tensor zeros, MakeZeros(given->dtype(), given->dims()));
    whole_ = Overlaid(std::move(whole_), {{input, std::move(zeros)}});
  }
  if (lacks && source_.zeros) {
    VERNIER_ASSIGN_OR_RETURN(const TensorMap first, SizesOfFirstStep());
    VERNIER_ASSIGN_OR_RETURN(TensorMap zeros, source_.zeros(first));
    std::erase_if(zeros,
                  [&](const NamedTensor& tensor) { return Find(whole_, tensor.name) != nullptr; });
    whole_ = Overlaid(std::move(whole_), zeros);
  }
  whole_ = Overlaid(std::move(whole_), source_.initial);
  VERNIER_TRY(CheckInitialSizes());
  states_.BeginWith(std::move(firsts));
  return CheckBegun();
}

// Tensors of which sizes alone count: along their first axis as long as at the first step.
Result<TensorMap> StepSequence::SizesOfFirstStep() const {
  TensorMap first = whole_;
  for (const SliceWord& slice : slices_) {
    const Tensor* const whole = slice.axis == 0 ? Find(first, slice.input) : nullptr;
    if (whole == nullptr || whole->dims().empty()) continue;
    VERNIER_ASSIGN_OR_RETURN(Tensor sized, MakeZeros(DType::kBool, {*slice.size}));
    first = Overlaid(std::move(first), {{slice.input, std::move(sized)}});
  }
  return first;
}

// How long an input is along an axis at the first step; nullopt: it changes from step to step.
std::optional<int64_t> StepSequence::FirstSize(const NamedTensor& input, size_t axis) const {
  for (const SliceWord& slice : slices_) {
    if (slice.input == input.name && slice.axis == axis) return slice.size;
  }
  const bool appends = std::ranges::any_of(
      states_.words().advances,
      [&](const AdvanceWord& advance) { return advance.input == input.name && advance.appends; });
  return appends ? std::nullopt : std::optional(input.tensor.dims()[axis]);
}

// A dimension that a model calls alike in two inputs has one size. Runtimes may broadcast a state
// of another batch, and say nothing.
Status StepSequence::CheckInitialSizes() const {
  for (const NamedTensor& state : source_.initial) {
    const TensorInfo* const info = FindInfo(source_.inputs, state.name);
    for (const NamedTensor& input : whole_) {
      const TensorInfo* const other = FindInfo(source_.inputs, input.name);
      if (Find(source_.initial, input.name) != nullptr) continue;
      const auto shared = SharedDim(info, state.tensor, other, input.tensor);
      if (!shared) continue;
      const std::optional<int64_t> size = FirstSize(input, shared->second);
      const int64_t own = state.tensor.dims()[shared->first];
      if (!size || *size == own) continue;
      return Malformed(
          "--initial-state " + states_.plan().initial_state + ": '" + state.name + "' is " +
          FormatDims(state.tensor.dims()) + ", and its axis " + std::to_string(shared->first) +
          " is '" + (*info->shape)[shared->first].symbol + "' of the model, of which the input '" +
          input.name + "' has " + std::to_string(*size) + " at the first step, not " +
          std::to_string(own) + ": give a state for as many");
    }
  }
  return {};
}

// Of a runner that declares nothing, a name with a typing error would feed nobody.
Status StepSequence::CheckBegun() const {
  for (const std::string& input : states_.StateInputs()) {
    if (Find(whole_, input) != nullptr) continue;
    std::string names;
    for (const NamedTensor& tensor : whole_) {
      names += (names.empty() ? "'" : ", '") + tensor.name + "'";
    }
    return InvalidArgument(
        "--feed-back: '" + input +
        "' has no value at the first step: no runner declares it, and the inputs "
        "have " +
        (names.empty() ? "nothing" : names) +
        " only; correct the name, or give its first value with the inputs or "
        "--initial-state");
  }
  return {};
}

// A network gives NaN for it, whichever runner it is on.
Status StepSequence::NameNans() const {
  for (const auto& [name, tensor] : whole_) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<Dims> at, FirstNan(tensor));
    if (!at) continue;
    std::string where = ", the first at " + FormatDims(*at);
    for (const SliceWord& slice : slices_) {
      if (slice.input != name) continue;
      where += ", of step " + std::to_string(FirstStepWith((*at)[slice.axis], slice));
      break;
    }
    states_.NoteNanInput(name, "the input '" + name + "' of sequence " +
                                   std::to_string(position_.sequence) + " holds NaN" + where +
                                   ": later NaN comes from there");
  }
  return {};
}

}  // namespace vernier
