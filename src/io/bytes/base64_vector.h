// The part of base64 that vector instructions do, for every processor that has them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace vernier {

/// Decodes whole groups of four characters from the start of `text` into `out`, which has three
/// bytes for each group of `text`. Returns how many groups are done: it stops before the first
/// block with a character outside the alphabet, near the end, and at once on machines without the
/// instructions; the caller continues one by one.
size_t DecodeBase64Blocks(std::string_view text, std::span<std::byte> out);

/// Encodes whole groups of three bytes from the start of `bytes` into `text`, which has four
/// characters for each. Returns how many groups are done: it stops near the end.
size_t EncodeBase64Blocks(std::span<const std::byte> bytes, std::span<char> text);

}  // namespace vernier
