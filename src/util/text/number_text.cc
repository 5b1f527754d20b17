#include "util/text/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "util/text/utf8.h"

namespace vernier {
namespace {

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Python allows one underscore between two digits: 1_000. Returns false for any other underscore.
bool DropUnderscores(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool between =
        i > 0 && i + 1 < text.size() && IsDigit(text[i - 1]) && IsDigit(text[i + 1]);
    if (!between) return false;
  }
  return true;
}

}  // namespace

std::string JoinWords(std::span<const std::string> words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : last;
    text += words[i];
  }
  return text;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  std::string digits;
  if (!DropUnderscores(Trim(text), digits)) return std::nullopt;
  std::string_view rest = digits;
  if (!rest.empty() && rest.front() == '+') rest.remove_prefix(1);
  if (rest.empty() || (rest.front() == '-' && rest.size() != digits.size())) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || end != rest.data() + rest.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseDouble(std::string_view text) {
  std::string digits;
  if (!DropUnderscores(Trim(text), digits)) return std::nullopt;
  std::string_view rest = digits;
  double sign = 1.0;
  if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
    if (rest.front() == '-') sign = -1.0;
    rest.remove_prefix(1);
  }
  const std::string lower = ToLower(rest);
  if (lower == "inf" || lower == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (rest.empty() || !(IsDigit(rest.front()) || rest.front() == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (end != rest.data() + rest.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say in which direction: a negative exponent means underflow.
    const size_t exponent = lower.find('e');
    const bool tiny =
        exponent != std::string::npos && lower.find('-', exponent) != std::string::npos;
    return sign * (tiny ? 0.0 : std::numeric_limits<double>::infinity());
  }
  if (error != std::errc()) return std::nullopt;
  return sign * value;
}

std::string FormatFloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Python switches to scientific notation below 1e-4 and from 1e16 on.
  const double magnitude = std::fabs(value);
  const bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16);
  char buffer[64];
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, error == std::errc() ? end : buffer);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string FormatG(double value, int digits) {
  if (std::isnan(value)) return "nan";
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
  return {buffer, static_cast<size_t>(length)};
}

std::string FormatPercent(double share) {
  const double percent = share * 100;
  // Beyond, not all whole numbers can be distinguished.
  const bool whole = std::fabs(percent) >= 99.5 && std::fabs(percent) < 0x1p53;
  return (whole ? std::to_string(std::llround(percent)) : FormatG(percent, 2)) + " %";
}

std::string QuotePython(std::string_view text) {
  const bool use_double =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = use_double ? '"' : '\'';
  std::string quoted(1, quote);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\n':
        quoted += "\\n";
        continue;
      case '\r':
        quoted += "\\r";
        continue;
      case '\t':
        quoted += "\\t";
        continue;
      case '\\':
        quoted += "\\\\";
        continue;
      default:
        break;
    }
    if (c == quote) quoted += '\\';
    const auto byte = static_cast<unsigned char>(c);
    const size_t length = DecodeUtf8(text.substr(i)).size;
    if (byte < 0x20 || byte == 0x7f || length == 0) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), length == 0 ? "\\udc%02x" : "\\x%02x", byte);
      quoted += escape;
    } else {
      quoted += text.substr(i, length);
      i += length - 1;
    }
  }
  return quoted + quote;
}

std::string FormatPythonList(std::span<const std::string> items) {
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    text += QuotePython(items[i]);
  }
  return text + "]";
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return buffer;
}

std::string NumberRanges(std::span<const size_t> sorted) {
  std::string text;
  for (size_t i = 0; i < sorted.size();) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(sorted[i]);
    if (last > i) text += "-" + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace vernier
