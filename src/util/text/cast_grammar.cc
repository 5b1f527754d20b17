#include "util/text/cast_grammar.h"

#include <algorithm>
#include <cmath>

#include "util/text/number_text.h"

namespace vernier {
namespace {

// Python stops at its recursion limit; a word of a million brackets must not end in our stack.
constexpr int kMaxDepth = 64;

std::string_view Strip(std::string_view text, std::string_view characters) {
  const size_t first = text.find_first_not_of(characters);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(characters) - first + 1);
}

// An integer of any length, after Python's int(): the caller knows that the text is a number.
std::optional<WideInt> ParseLongInt(std::string_view text) {
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  WideInt value = 0;
  for (const char c : text) {
    if (c == '_') continue;
    if (c < '0' || c > '9') return std::nullopt;
    const WideInt digit = negative ? -(c - '0') : c - '0';
    if (__builtin_mul_overflow(value, WideInt{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, digit, &value)) return std::nullopt;
  }
  return value;
}

CastValue ParseScalar(std::string_view text) {
  if (const std::optional<int64_t> integer = ParseInt(text)) return {WideInt{*integer}};
  if (const std::optional<double> number = ParseDouble(text)) {
    if (const std::optional<WideInt> integer = ParseLongInt(text)) return {*integer};
    return {*number};
  }
  return {std::string(Strip(text, "\"'"))};
}

CastValue ParseAtDepth(std::string_view word, int depth) {
  const std::string_view text = Trim(word);
  const std::string_view inside = Strip(text, "[]");
  if (inside.size() == text.size()) return ParseScalar(text);
  if (depth == kMaxDepth) return {std::string(text)};
  std::vector<CastValue> items;
  size_t begin = 0;
  while (true) {
    const size_t comma = inside.find(',', begin);
    items.push_back(ParseAtDepth(inside.substr(begin, comma - begin), depth + 1));
    if (comma == std::string_view::npos) return {std::move(items)};
    begin = comma + 1;
  }
}

}  // namespace

CastValue ParseCastValue(std::string_view word) { return ParseAtDepth(word, 0); }

bool HasOpenBracket(std::string_view word) {
  if (!std::holds_alternative<std::vector<CastValue>>(ParseCastValue(word).data)) return false;
  return std::count(word.begin(), word.end(), '[') != std::count(word.begin(), word.end(), ']');
}

std::optional<double> AsDouble(const CastValue& value) {
  if (const auto* integer = std::get_if<WideInt>(&value.data)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return std::nullopt;
}

std::optional<int64_t> AsInt64(const CastValue& value) {
  const auto* integer = std::get_if<WideInt>(&value.data);
  if (integer == nullptr) return std::nullopt;
  const auto narrow = static_cast<int64_t>(*integer);
  if (narrow != *integer) return std::nullopt;
  return narrow;
}

std::string FormatWideInt(WideInt value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string digits;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string FormatCastValue(const CastValue& value) {
  if (const auto* integer = std::get_if<WideInt>(&value.data)) return FormatWideInt(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) return FormatFloatRepr(*number);
  if (const auto* text = std::get_if<std::string>(&value.data)) return QuotePython(*text);
  std::string list = "[";
  for (const CastValue& item : std::get<std::vector<CastValue>>(value.data)) {
    if (list.size() > 1) list += ", ";
    list += FormatCastValue(item);
  }
  return list + "]";
}

KeyedWord SplitAtLast(std::string_view word, char separator) {
  const size_t at = word.rfind(separator);
  if (at == std::string_view::npos) return {.key = "", .value = std::string(word)};
  return {.key = std::string(word.substr(0, at)), .value = std::string(word.substr(at + 1))};
}

Result<std::vector<KeyedValue>> ParseKeyedValues(std::span<const std::string> words,
                                                 const KeyRules& rules) {
  std::vector<KeyedValue> values;
  for (const std::string& word : words) {
    KeyedWord split = SplitAtLast(word, rules.separator);
    const bool bare = word.find(rules.separator) == std::string::npos;
    if (bare && !rules.bare_word_is_value) std::swap(split.key, split.value);
    if (split.key.empty() && !rules.allow_empty_key) {
      return InvalidArgument("Could not parse argument: " + word +
                             ". Expected an argument in the format: `key" + rules.separator +
                             "value`.");
    }
    CastValue value = ParseCastValue(split.value);
    const auto same_key = [&](const KeyedValue& entry) { return entry.key == split.key; };
    const auto earlier = std::find_if(values.begin(), values.end(), same_key);
    if (earlier != values.end()) {
      earlier->value = std::move(value);
    } else {
      values.push_back({.key = std::move(split.key), .value = std::move(value)});
    }
  }
  return values;
}

Result<int64_t> ParseByteCount(std::string_view word) {
  static constexpr std::string_view kSuffixes = "KMG";
  std::string_view number = word;
  double multiplier = 1;
  const char last = word.empty() ? '\0' : word.back();
  const char upper = last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last;
  const size_t suffix = last == '\0' ? std::string_view::npos : kSuffixes.find(upper);
  if (suffix != std::string_view::npos) {
    multiplier = std::ldexp(1.0, 10 * (static_cast<int>(suffix) + 1));
    // Polygraphy drops every repetition of the suffix: "4kK" is 4 KiB.
    const char both[] = {upper, static_cast<char>(upper - 'A' + 'a'), '\0'};
    const size_t end = word.find_last_not_of(both);
    number = end == std::string_view::npos ? std::string_view() : word.substr(0, end + 1);
  }
  const std::optional<double> count = ParseDouble(number);
  const double bytes = count ? std::trunc(*count * multiplier) : std::nan("");
  // 2^63 is the first double beyond int64_t; the comparison is false for NaN.
  if (!(std::fabs(bytes) < 0x1p63)) {
    return InvalidArgument("Could not convert " + std::string(word) +
                           " to a number of bytes: expected a number such as 16000000, 16e6 or "
                           "16M (suffixes K, M, G).");
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace vernier
