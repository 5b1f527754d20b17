// Outputs that are wrong in one circumstance or another: what `vernier check consistency` is for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vernier/backend_abi.h"

namespace fake {

/// An output that is about to become a copy of its input.
struct Echoed {
  const vn_tensor& input;
  std::span<char> output;  ///< as many bytes as the input
  int64_t align = 64;      ///< what the lie `misaligned` wants
};

/// Copies the input, but for what the lie is about; see behaviour.h.
void CopyOrLie(std::string_view lie, const Echoed& echoed);

}  // namespace fake
