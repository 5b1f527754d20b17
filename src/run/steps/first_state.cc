// The state that a sequence begins with, and NaN that its inputs hold already.
#include <algorithm>
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
    TensorMap steady = whole_;
    std::erase_if(steady, [&](const NamedTensor& tensor) {
      return std::ranges::any_of(slices_, [&](const SliceWord& slice) {
        return slice.input == tensor.name && slice.axis == 0;
      });
    });
    VERNIER_ASSIGN_OR_RETURN(TensorMap zeros, source_.zeros(steady));
    std::erase_if(zeros,
                  [&](const NamedTensor& tensor) { return Find(whole_, tensor.name) != nullptr; });
    whole_ = Overlaid(std::move(whole_), zeros);
  }
  whole_ = Overlaid(std::move(whole_), source_.initial);
  states_.BeginWith(std::move(firsts));
  return CheckBegun();
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
