#include "io/bytes/kept_texts.h"

namespace vernier {

uint32_t KeptTexts::Keep(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(texts_.back(), number);
  return number;
}

std::optional<uint32_t> KeptTexts::Find(std::string_view text) const {
  const auto known = numbers_.find(text);
  return known == numbers_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace vernier
