// Text in parts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

/// What lies between separators; nothing of an empty text, nor behind a last separator.
inline std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace vernier
