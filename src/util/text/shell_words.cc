#include "util/text/shell_words.h"

#include <algorithm>
#include <cstdio>

#include "util/text/visible_text.h"

namespace vernier {
namespace {

// Bash expands a leading tilde; "=" and the rest mean something only in first words.
bool IsPlain(std::string_view word) {
  constexpr std::string_view kPlain = "_-./:,+@%=";
  return !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string QuoteForShell(std::string_view word) {
  if (IsPlain(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string QuoteForBash(std::string_view word) {
  if (VisibleLine(word) == word) return QuoteForShell(word);
  std::string quoted = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte >= 0x20 && byte < 0x7f) {
      quoted += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x", byte);
      quoted += escape;
    }
  }
  return quoted + "'";
}

std::string JoinForShell(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + QuoteForShell(word);
  return text;
}

}  // namespace vernier
