#include "run/steps/mask_length.h"

#include <algorithm>

#include "inputs/cast_tensor.h"
#include "run/steps/prompt_inputs.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr std::string_view kMaskEnd = "attention_mask", kIdsEnd = "input_ids";

bool IsIntegerRows(const NamedTensor& input, std::string_view end) {
  return input.name.ends_with(end) && IsIntegral(input.tensor.dtype()) &&
         input.tensor.dims().size() == 2;
}

// The same where nothing is fed back: a cache may be fed all the same.
int64_t PastOfFeed(const TensorMap& feed) {
  for (const auto& [name, tensor] : feed) {
    if (tensor.dims().size() != 4 || Kind(tensor.dtype()) != DTypeKind::kFloat) continue;
    return name.starts_with("past") ? tensor.dims()[2] : -1;
  }
  return 0;
}

// Below 0: no cache shows it.
int64_t PositionsInPast(const TensorMap& feed, std::span<const StatePair> states) {
  if (states.empty()) return PastOfFeed(feed);
  for (const StatePair& state : states) {
    const Tensor* const cache = Find(feed, state.input);
    if (cache != nullptr && cache->dims().size() == 4) return cache->dims()[2];
  }
  return -1;
}

}  // namespace

std::string WhyMaskMayNotFit(const TensorMap& feed, std::span<const StatePair> states) {
  for (const NamedTensor& mask : feed) {
    if (!IsIntegerRows(mask, kMaskEnd)) continue;
    const std::string owner = mask.name.substr(0, mask.name.size() - kMaskEnd.size());
    const Tensor* const tokens = Find(feed, owner + std::string(kIdsEnd));
    const int64_t past = PositionsInPast(feed, states);
    if (tokens == nullptr || tokens->dims().size() != 2 || past < 0) continue;
    const int64_t count = tokens->dims()[1], has = mask.tensor.dims()[1];
    // A cache of a fixed size may hold the new tokens already.
    if (has == past + count || has == count || has == past) continue;
    return "'" + mask.name + "' has " + Counted(has, "value") + " in a row, and a past of " +
           Counted(past, "position") + " with " + Counted(count, "new token") + " makes " +
           std::to_string(past + count) + ": give it that length at the first step, and add " +
           "--advance '" + mask.name + ":append 1' where the past grows by one";
  }
  return "";
}

std::string WhyNotAppended(const std::string& input, const Tensor& mask, int64_t value) {
  const bool floats = Kind(mask.dtype()) == DTypeKind::kFloat;
  if (value == 0 || !input.ends_with("mask") || !floats) return "";
  if (!CanCast(mask.dtype(), DType::kFloat64)) return "";
  const Result<Tensor> wide = CastTensor(mask, DType::kFloat64);
  if (!wide.ok()) return "";
  const auto below = std::ranges::find_if(wide->As<double>(), [](double x) { return x < 0; });
  if (below == wide->As<double>().end()) return "";
  return "'" + input + "' holds " + FormatG(*below, 6) +
         ", as masks do that are added to scores, and 0 marks what counts there: append 0";
}

}  // namespace vernier
