#include "run/steps/step_slices.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "record/schema/runner_name.h"
#include "run/steps/step_sequence.h"
#include "util/text/number_text.h"
#include "util/values/list_has.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr double kLargeBytes = 1 << 30;
constexpr double kNoSize = 0x1p64;

// kInvalidArgument where no number holds it.
Result<int64_t> LengthFor(const SliceWord& slice, int64_t steps) {
  int64_t length = 0;
  const bool overflows = __builtin_mul_overflow(steps - 1, *slice.hop, &length) ||
                         __builtin_add_overflow(length, *slice.size - slice.pad, &length);
  if (!overflows) return length;
  return InvalidArgument("--steps " + std::to_string(steps) + ": that many steps of --step-slice " +
                         slice.word + " are longer than any tensor");
}

// Before the memory is taken.
void SayIfLarge(const StepStates& states, const SliceWord& slice, int64_t length,
                std::span<const TensorInfo> inputs) {
  const TensorInfo* const info = FindInfo(inputs, slice.input);
  if (info == nullptr || !info->shape || slice.axis >= info->shape->size()) return;
  double bytes = static_cast<double>(length) * BitsOf(info->dtype) / 8;
  for (size_t i = 0; i < info->shape->size(); ++i) {
    if (i != slice.axis)
      bytes *= static_cast<double>(std::max<int64_t>((*info->shape)[i].value, 1));
  }
  if (bytes < kLargeBytes) return;
  states.logger().Once(
      Severity::kWarning,
      "--steps " + std::to_string(*states.plan().steps) + ": random values of '" + slice.input +
          "' are drawn for a whole sequence, which takes " +
          (bytes < kNoSize ? FormatBytes(static_cast<uint64_t>(bytes)) : "more than 16 EiB") +
          ": give fewer steps, or several sequences with --iterations");
}

// The name of the axis; empty: it has none, or its size is declared.
std::string SymbolOf(const SliceWord& slice, std::span<const TensorInfo> inputs) {
  const TensorInfo* const info = FindInfo(inputs, slice.input);
  if (info == nullptr || !info->shape || slice.axis >= info->shape->size()) return "";
  const Dim& dim = (*info->shape)[slice.axis];
  return dim.dynamic() ? dim.symbol : "";
}

void SetSize(const std::string& symbol, int64_t size, TensorInfo& info) {
  for (size_t i = 0; info.shape && i < info.shape->size(); ++i) {
    Dim& dim = (*info.shape)[i];
    if (dim.dynamic() && dim.symbol == symbol) dim = {size, {}};
  }
}

}  // namespace

bool IsSliceOf(const SliceWord& slice, const std::string& runner) {
  return slice.label.empty() || IsCalled(runner, slice.label);
}

void CompleteSlice(const std::string& runner, std::span<const TensorInfo> inputs,
                   SliceWord& slice) {
  const TensorInfo* const info = FindInfo(inputs, slice.input);
  const bool has_axis = IsSliceOf(slice, runner) && info != nullptr && info->shape &&
                        slice.axis < info->shape->size();
  const bool declared = has_axis && !(*info->shape)[slice.axis].dynamic();
  if (!slice.size && declared) slice.size = (*info->shape)[slice.axis].value;
  if (!slice.hop && slice.size) slice.hop = *slice.size - slice.pad;
}

std::string NoSuchAxis(const SliceWord& slice, const std::string& shape) {
  return "'" + slice.input + "' has the shape " + shape + ", and no axis " +
         std::to_string(slice.axis);
}

Status TooShort(const SliceWord& slice, const Tensor& whole, int64_t sequence) {
  return Malformed("--step-slice " + slice.word + ": '" + slice.input + "' of sequence " +
                   std::to_string(sequence) + " has the shape " + FormatDims(whole.dims()) +
                   ", of which axis " + std::to_string(slice.axis) +
                   " is shorter than one step of " + Counted(*slice.size, "element") +
                   (slice.pad > 0 ? ", " + std::to_string(slice.pad) + " of them padding" : ""));
}

Result<std::vector<TensorInfo>> InputsOfSequences(const StepStates& states,
                                                  const std::string& runner,
                                                  std::span<const TensorInfo> inputs) {
  std::vector<TensorInfo> whole(inputs.begin(), inputs.end());
  for (SliceWord slice : states.words().slices) {
    CompleteSlice(runner, inputs, slice);
    if (!IsSliceOf(slice, runner) || !states.plan().steps || !slice.size || *slice.hop < 1)
      continue;
    VERNIER_ASSIGN_OR_RETURN(const int64_t length, LengthFor(slice, *states.plan().steps));
    SayIfLarge(states, slice, length, whole);
    const std::string symbol = SymbolOf(slice, inputs);
    for (TensorInfo& info : whole) {
      const bool is_it = info.name == slice.input && info.shape && slice.axis < info.shape->size();
      if (is_it) (*info.shape)[slice.axis] = {length, {}};
      const bool is_state = ListHas(states.StateInputs(), info.name);
      if (is_state && !symbol.empty()) SetSize(symbol, *slice.size, info);
    }
  }
  return whole;
}

}  // namespace vernier
