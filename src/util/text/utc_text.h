// Times as text.
#pragma once

#include <ctime>
#include <string>

namespace vernier {

/// "2026-03-01T12:00:00Z"; empty for a time that no calendar has.
inline std::string UtcText(std::time_t now) {
  std::tm parts{};
  char text[32] = "";
  if (::gmtime_r(&now, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

}  // namespace vernier
