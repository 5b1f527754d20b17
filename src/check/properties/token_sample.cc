#include "check/properties/token_sample.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "inputs/cast_tensor.h"
#include "util/text/number_text.h"

namespace vernier {

bool IsFreeAxis(const TensorInfo* info, size_t axis) {
  if (info == nullptr || !info->shape) return true;
  return axis < info->shape->size() && (*info->shape)[axis].dynamic();
}

bool NameHas(const std::string& name, std::string_view word) {
  return ToLower(name).find(word) != std::string::npos;
}

Result<std::optional<size_t>> GrowingAxis(const StatePair& pair, const Dims& in, const Dims& out) {
  std::optional<size_t> axis;
  bool fits = in.size() == out.size();
  for (size_t i = 0; fits && i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    fits = !axis && out[i] > in[i];
    axis = i;
  }
  if (fits) return axis;
  return InvalidArgument("output '" + pair.output + "' has the shape " + FormatDims(out) +
                         " where the input '" + pair.input + "' that it would be fed to has " +
                         FormatDims(in));
}

bool IsTransposed(const TensorInfo* input, const Dims& in, const Dims& out) {
  if (in.size() != out.size()) return false;
  Dims fixed, free, all = out, rest, longer, shorter;
  bool fits = true;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool is_free = IsFreeAxis(input, axis);
    (is_free ? free : fixed).push_back(in[axis]);
    fits = fits && (is_free || in[axis] == out[axis]);
  }
  for (Dims* const sizes : {&fixed, &free, &all}) std::ranges::sort(*sizes);
  if (fits || !std::ranges::includes(all, fixed)) return false;
  std::ranges::set_difference(all, fixed, std::back_inserter(rest));
  std::ranges::set_difference(rest, free, std::back_inserter(longer));
  std::ranges::set_difference(free, rest, std::back_inserter(shorter));
  return longer.empty() || (longer.size() == 1 && longer.front() > shorter.front());
}

Result<Tensor> RepeatAlongLast(const std::vector<int64_t>& values, Dims dims, DType dtype) {
  dims.back() = static_cast<int64_t>(values.size());
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, dims));
  const auto all = buffer.As<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) all[i] = values[i % values.size()];
  return CastTensor(std::move(buffer).Freeze(), dtype);
}

namespace {

bool IsMask(const NamedTensor& input, const TensorInfo* info) {
  return NameHas(input.name, "mask") && input.tensor.dims().size() == 2 && IsFreeAxis(info, 1);
}

// By how much every state that grows is longer than what it was made of; 0: none grows, or not all
// alike.
int64_t TokensGrown(const Sample& sample, std::span<const StatePair> pairs) {
  int64_t tokens = 0;
  for (const StatePair& pair : pairs) {
    const Tensor* const in = Find(sample.feed, pair.input);
    const Tensor* const out = Find(sample.outputs, pair.output);
    if (in == nullptr || out == nullptr) return 0;
    const auto axis = GrowingAxis(pair, in->dims(), out->dims());
    if (!axis.ok()) return 0;
    if (!*axis) continue;
    const int64_t grown = out->dims()[**axis] - in->dims()[**axis];
    if (tokens > 0 && grown != tokens) return 0;
    tokens = grown;
  }
  return tokens;
}

// The sample with masks of so many columns; `sample` itself where they have them. No outputs where
// the model does not run so.
Result<Sample> WithMaskOf(const Subject& subject, const Sample& sample, int64_t columns) {
  const auto& session = subject.probe->runner().session();
  Sample fitting = sample;
  bool same = true;
  for (NamedTensor& input : fitting.feed) {
    if (!IsMask(input, FindInfo(session.inputs, input.name))) continue;
    const Dims dims = input.tensor.dims();
    if (dims[1] == columns) continue;
    same = false;
    const std::vector<int64_t> ones(static_cast<size_t>(columns), 1);
    VERNIER_ASSIGN_OR_RETURN(input.tensor, RepeatAlongLast(ones, dims, input.tensor.dtype()));
  }
  if (same) return sample;
  VERNIER_ASSIGN_OR_RETURN(fitting.outputs, subject.probe->Infer(fitting.feed));
  return fitting;
}

}  // namespace

Sample SampleThatFits(const Subject& subject, std::span<const StatePair> pairs) {
  const Sample& sample = subject.samples.front();
  const auto& inputs = subject.probe->runner().session().inputs;
  const auto is_state = [&](const std::string& name) {
    return std::ranges::find(pairs, name, &StatePair::input) != pairs.end();
  };
  const auto are_tokens = [&](const NamedTensor& input) {
    return !is_state(input.name) && !NameHas(input.name, "mask") &&
           !NameHas(input.name, "position") && input.tensor.dims().size() > kTokenAxis &&
           IsFreeAxis(FindInfo(inputs, input.name), kTokenAxis);
  };
  const auto tokens = std::ranges::find_if(sample.feed, are_tokens);
  const Tensor* const state = Find(sample.feed, pairs.front().input);
  if (tokens == sample.feed.end() || state == nullptr) return sample;
  const int64_t count = tokens->tensor.dims()[kTokenAxis];
  for (size_t axis = state->dims().size(); axis-- > 0;) {
    if (!IsFreeAxis(FindInfo(inputs, pairs.front().input), axis)) continue;
    Result<Sample> fitting = WithMaskOf(subject, sample, state->dims()[axis] + count);
    if (fitting.ok() && TokensGrown(*fitting, pairs) == count) return *std::move(fitting);
  }
  return sample;
}

}  // namespace vernier
