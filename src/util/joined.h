// Words as one text.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// The words in their order with `between` between them: "a, b". Empty for none.
std::string Joined(const auto& words, std::string_view between = ", ") {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

}  // namespace vernier
