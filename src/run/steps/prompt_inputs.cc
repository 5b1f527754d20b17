#include "run/steps/prompt_inputs.h"

#include <algorithm>
#include <array>

namespace vernier {
namespace {

bool MayTakeTokens(std::string_view input, DType dtype) {
  return IsIntegral(dtype) && !IsUsuallyPerToken(input) && !IsMaskName(input);
}

}  // namespace

bool IsMaskName(std::string_view input) { return input.ends_with("mask"); }

// Others may be as long by chance.
bool IsUsuallyPerToken(std::string_view input) {
  constexpr std::array<std::string_view, 4> kNames = {"position_ids", "attention_mask",
                                                      "token_type_ids", "cache_position"};
  constexpr std::string_view kDecoder = "decoder_";
  if (input.starts_with(kDecoder)) input.remove_prefix(kDecoder.size());
  return std::ranges::find(kNames, input) != kNames.end();
}

std::string LastAxisName(std::span<const TensorInfo> inputs, const std::string& input) {
  const auto found = std::ranges::find(inputs, input, &TensorInfo::name);
  const bool shaped = found != inputs.end() && found->shape && !found->shape->empty();
  return shaped ? found->shape->back().symbol : "";
}

bool MayBeTokens(const TensorInfo& input, size_t rank) {
  return input.shape && input.shape->size() == rank && MayTakeTokens(input.name, input.dtype);
}

bool IsOfOtherTokens(const std::string& input, const std::string& tokens,
                     std::span<const TensorInfo> inputs, const TensorMap& feed) {
  if (input == tokens) return false;
  const std::string own = LastAxisName(inputs, input), wanted = LastAxisName(inputs, tokens);
  const bool named = !own.empty() && !wanted.empty();
  if (named && own == wanted) return false;
  const bool of_any_tokens = IsUsuallyPerToken(input) && !IsMaskName(input);
  if (named && !IsUsuallyPerToken(input) && !IsMaskName(input)) return true;
  const bool shares_axis = std::ranges::any_of(inputs, [&](const TensorInfo& other) {
    return other.name != input && other.name != tokens && MayBeTokens(other) &&
           other.shape->back().symbol == own;
  });
  if (named && shares_axis) return true;
  const bool of_encoder = (tokens.starts_with("decoder_") && !input.starts_with("decoder_")) ||
                          (input.starts_with("encoder_") && !tokens.starts_with("encoder_"));
  if (of_encoder && !of_any_tokens) return true;
  const Tensor* const values = Find(feed, input);
  const Tensor* const prompt = Find(feed, tokens);
  if (named || values == nullptr || prompt == nullptr || values->dims() == prompt->dims()) {
    return false;
  }
  return std::ranges::any_of(feed, [&](const NamedTensor& other) {
    return other.name != input && other.name != tokens &&
           MayTakeTokens(other.name, other.tensor.dtype()) && other.tensor.dims().size() == 2 &&
           other.tensor.dims() == values->dims();
  });
}

bool HasOneForNextToken(const std::string& input, const std::string& tokens,
                        std::span<const TensorInfo> inputs) {
  const std::string own = LastAxisName(inputs, input);
  const bool shares_axis = !own.empty() && own == LastAxisName(inputs, tokens);
  return shares_axis || (IsUsuallyPerToken(input) && !IsMaskName(input));
}

}  // namespace vernier
