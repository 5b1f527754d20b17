#include "report/text/text_escape.h"

#include <algorithm>
#include <cstdio>

#include "io/bytes/text_encoding.h"

namespace vernier {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// What no document can show: control characters, bytes that are not UTF-8 (which come as lone
// surrogates), and the two non-characters that XML excludes.
bool IsUnspeakable(char32_t c) {
  const bool blank = c == '\n' || c == '\t' || c == '\r';
  return (c < 0x20 && !blank) || (c >= 0x7F && c < 0xA0) || (c >= 0xD800 && c < 0xE000) ||
         c == 0xFFFE || c == 0xFFFF;
}

template <typename Escape>
std::string EscapeEach(std::string_view text, Escape escape) {
  std::string escaped;
  for (size_t position = 0; position < text.size();) {
    const char32_t c = NextCodePoint(text, position);
    const std::string_view word = escape(c);
    if (!word.empty()) {
      escaped += word;
    } else {
      AppendCodePoint(escaped, IsUnspeakable(c) ? kReplacement : c);
    }
  }
  return escaped;
}

std::string_view XmlEntity(char32_t c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    default:
      return "";
  }
}

size_t LongestRunOf(char wanted, std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string XmlText(std::string_view text) { return EscapeEach(text, XmlEntity); }

std::string XmlAttribute(std::string_view text) {
  char byte[8];
  return EscapeEach(text, [&byte](char32_t c) -> std::string_view {
    if (c == '\n') return "&#10;";
    if (c == '\r') return "&#13;";
    if (c == '\t') return "&#9;";
    if (c < 0xDC80 || c > 0xDCFF) return XmlEntity(c);
    std::snprintf(byte, sizeof(byte), "\\x%02x", static_cast<unsigned>(c - 0xDC00));
    return byte;
  });
}

std::string EscapeMarkdown(std::string_view text) {
  std::string escaped;
  for (size_t position = 0; position < text.size();) {
    const char32_t c = NextCodePoint(text, position);
    constexpr std::string_view kMarks = "\\`*_{}[]()#+!|~$:";
    if (c == '\n' || c == '\r' || c == '\t') {
      escaped += ' ';
    } else if (c == '@') {
      escaped += "@\u200b";  // a blank without width, so that GitHub notifies no user of that name
    } else if (c < 0x80 && kMarks.find(static_cast<char>(c)) != std::string_view::npos) {
      escaped += '\\';
      escaped += static_cast<char>(c);
    } else if (const std::string_view entity = XmlEntity(c); !entity.empty() && c != '\'') {
      escaped += entity;
    } else {
      AppendCodePoint(escaped, IsUnspeakable(c) ? kReplacement : c);
    }
  }
  return escaped;
}

std::string FenceMarkdown(std::string_view text, std::string_view language) {
  const std::string fence(std::max<size_t>(3, LongestRunOf('`', text) + 1), '`');
  const std::string clean = EscapeEach(text, [](char32_t) -> std::string_view { return ""; });
  return fence + std::string(language) + "\n" + clean + "\n" + fence + "\n";
}

std::string EscapeWorkflowCommand(std::string_view text, bool property) {
  return EscapeEach(text, [property](char32_t c) -> std::string_view {
    if (c == '%') return "%25";
    if (c == '\r') return "%0D";
    if (c == '\n') return "%0A";
    if (property && c == ':') return "%3A";
    if (property && c == ',') return "%2C";
    return "";
  });
}

}  // namespace vernier
