#include "run/profile_feed.h"

namespace vernier {

std::string ShapesOf(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text += (text.empty() ? "" : " ") + input.name + ":[";
    for (size_t i = 0; i < input.tensor.dims().size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(input.tensor.dims()[i]);
    }
    text += "]";
  }
  return text;
}

std::optional<int64_t> BatchOf(const TensorMap& feed) {
  std::optional<int64_t> batch;
  for (const NamedTensor& input : feed) {
    if (input.tensor.dims().empty()) continue;
    if (batch && *batch != input.tensor.dims()[0]) return std::nullopt;
    batch = input.tensor.dims()[0];
  }
  return batch;
}

}  // namespace vernier
