// UTF-8 to code points and back, without losing anything.
//
// Tensor names and string elements are bytes that need not be UTF-8. As Python's
// "surrogateescape" does, a byte that is not part of valid UTF-8 becomes the code point
// U+DC00 + byte; other lone surrogates, which JSON can hold, are three bytes as if UTF-8 allowed
// them. Both directions together are the identity.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vernier {

/// The code point at `position` of `text`, which must be inside; advances `position`.
char32_t NextCodePoint(std::string_view text, size_t& position);

/// Appends the bytes of one code point.
void AppendCodePoint(std::string& text, char32_t code_point);

/// Number of code points, as NextCodePoint counts them.
size_t CountCodePoints(std::string_view text);

/// Bytes before the first one that is not valid UTF-8 (surrogates and overlong forms are not);
/// text.size() when all is valid.
size_t ValidUtf8Prefix(std::string_view text);

}  // namespace vernier
