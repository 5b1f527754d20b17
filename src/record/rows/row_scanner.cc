#include "record/rows/row_scanner.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace vernier {
namespace {

template <typename Number>
bool ReadWhole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// What from_chars() takes and JSON does not: no digit first, a zero before others, "1.".
bool IsJsonNumber(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return false;
  if (text.front() == '0' && text.size() > 1 && is_digit(text[1])) return false;
  const size_t point = text.find('.');
  return point == std::string_view::npos || is_digit(text[point + 1]);
}

}  // namespace

bool RowScanner::TakeIf(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

bool RowScanner::TakeText(std::string_view& text) {
  if (!TakeIf('"')) return false;
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  const auto* const end = std::ranges::find_if_not(rest_, is_plain);
  text = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
  rest_.remove_prefix(text.size());
  return TakeIf('"');
}

bool RowScanner::TakeNumber() {
  const std::string_view text = rest_.substr(0, rest_.find_first_of(",]}"));
  if (!IsJsonNumber(text)) return false;
  rest_.remove_prefix(text.size());
  int64_t whole = 0;
  double number = 0;
  const bool is_whole = text.find_first_of(".eE") == std::string_view::npos;
  const bool read = is_whole ? ReadWhole(text, whole) : ReadWhole(text, number);
  if (is_whole) {
    values_.emplace_back(whole);
  } else {
    values_.emplace_back(number);
  }
  return read;
}

bool RowScanner::TakeValue() {
  if (!rest_.starts_with('"')) return TakeNumber();
  std::string_view text;
  if (!TakeText(text)) return false;
  values_.emplace_back(text);
  return true;
}

bool RowScanner::TakeList() {
  if (TakeIf(']')) return true;
  while (TakeValue()) {
    if (!TakeIf(',')) return TakeIf(']');
  }
  return false;
}

bool RowScanner::TakeField() {
  ScannedField field;
  if (!TakeText(field.name) || !TakeIf(':')) return false;
  field.first = values_.size();
  field.list = TakeIf('[');
  if (field.list ? !TakeList() : !TakeValue()) return false;
  field.count = values_.size() - field.first;
  fields_.push_back(field);
  return true;
}

bool RowScanner::Scan(std::string_view line) {
  rest_ = line;
  fields_.clear();
  values_.clear();
  if (!TakeIf('{')) return false;
  while (TakeField()) {
    if (TakeIf(',')) continue;
    return TakeIf('}') && rest_.empty();
  }
  return false;
}

}  // namespace vernier
