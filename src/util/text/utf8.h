// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vernier {

/// The character at the start of a text. `size` is 0 where its bytes are no UTF-8: overlong forms,
/// surrogates, what lies beyond U+10FFFF, and an end too soon.
struct Utf8Character {
  size_t size = 0;
  uint32_t point = 0;
};

/// Of a text that is not empty.
Utf8Character DecodeUtf8(std::string_view text);

/// The text with U+FFFD for each byte that is no part of a character.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace vernier
