// Words as one text.
#pragma once

#include <functional>
#include <iterator>
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

/// The first `most` of them, each as `shown` makes it, and how many are left: "a, b, and 3 more".
std::string JoinedUpTo(const auto& words, size_t most, auto shown) {
  std::string text;
  size_t count = 0;
  for (const auto& word : words) {
    if (count == most) break;
    text += count++ == 0 ? "" : ", ";
    text += shown(word);
  }
  const size_t left = std::size(words) - count;
  return left == 0 ? text : text + ", and " + std::to_string(left) + " more";
}
std::string JoinedUpTo(const auto& words, size_t most) {
  return JoinedUpTo(words, most, std::identity());
}

}  // namespace vernier
