// Text in the JSON that plug-ins write: reports about engines, traces.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace vernier::sdk {

/// `text` as a string of JSON, in double quotes. Bytes of more than seven bits stay as they are, so
/// that UTF-8 remains UTF-8.
inline std::string JsonText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace vernier::sdk
