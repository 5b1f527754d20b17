// Texts that come again and again, each kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vernier {

/// At most 2^32 - 1 texts.
class KeptTexts {
 public:
  KeptTexts() = default;
  KeptTexts(KeptTexts&&) = default;
  KeptTexts& operator=(KeptTexts&&) = default;

  /// The number of `text`: the same for equal ones, and the next one for a new one.
  uint32_t Keep(std::string_view text);

  std::optional<uint32_t> Find(std::string_view text) const;
  size_t size() const { return texts_.size(); }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;  // never moved: the keys are views of them
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace vernier
