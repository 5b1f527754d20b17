// Texts of several lines.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// What a message says first, without the end of the line: the rest may be a traceback.
inline std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace vernier
