// Reads records from JSON text by their lists of fields, without a tree of JSON values between: for
// texts of which there are millions. Only for this folder.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

/// Takes texts as FieldWriter and DumpJson(…, -1) make them: fields in the order of the list, no
/// spaces, plain ASCII without escapes. Of everything else it says that it cannot read it; whoever
/// calls then parses the text, which also finds what is wrong. What it can read has the values that
/// FieldReader finds in the parsed text.
class FieldScanner {
 public:
  explicit FieldScanner(std::string_view text)
      : at_(text.data()), end_(text.data() + text.size()) {}

  /// Whether `record`, a newly made record, was read and is the whole text.
  template <typename Record>
  bool Scan(Record& record) {
    ReadObject(record);
    return !failed_ && at_ == end_;
  }

  // Keys are literals: inlined, comparing with one takes a few instructions.
  template <typename T>
  [[gnu::always_inline]] void operator()(const char* key, T& value) {
    if (TakeKey(key)) {
      Read(value);
    } else {
      failed_ = true;
    }
  }
  template <typename T>
  [[gnu::always_inline]] void Later(const char* key, T& value) {
    if (TakeKey(key)) Read(value);
  }
  /// What is scanned is of this version.
  template <typename T>
  [[gnu::always_inline]] void Renamed(const char* key, const char* /*former*/, T& value) {
    (*this)(key, value);
  }
  template <typename T>
  [[gnu::always_inline]] void Given(const char* key, std::optional<T>& value) {
    if (TakeKey(key)) Read(value.emplace());
  }
  /// Of the worst iterations, which are few.
  void Given(const char* key, std::optional<OutputFigures>&) { failed_ |= TakeKey(key); }
  [[gnu::always_inline]] void TextIfAny(const char* key, std::string& text) { Later(key, text); }
  template <typename Record>
  void IfAny(const char* key, std::vector<Record>& records) {
    Later(key, records);
  }
  template <typename Names>
  void Word(const char* key, auto& value, const Names& names) {
    std::string word;
    (*this)(key, word);
    const auto* const name = std::ranges::find(names, word);
    failed_ |= name == names.end();
    if (!failed_)
      value = static_cast<std::remove_reference_t<decltype(value)>>(name - names.begin());
  }

  using TextPairs = std::vector<std::pair<std::string, std::string>>;
  void Pairs(const char* key, TextPairs& pairs, const char* first, const char* second) {
    failed_ |= !TakeKey(key);
    ReadList([&] {
      auto& [a, b] = pairs.emplace_back();
      Take('{');
      first_field_ = true;
      (*this)(first, a);
      (*this)(second, b);
      Take('}');
    });
  }

 private:
  bool Peek(char c) const { return at_ != end_ && *at_ == c; }
  bool TakeIf(char c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }
  void Take(char c) { failed_ |= !TakeIf(c); }
  bool TakeIf(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size()) return false;
    if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  // Takes `"key":`, or `,"key":` behind a field; false and nothing where another is next.
  [[gnu::always_inline]] bool TakeKey(const char* key) {
    const std::string_view name(key);
    const size_t comma = first_field_ ? 0 : 1;
    if (static_cast<size_t>(end_ - at_) < comma + name.size() + 3) return false;
    const char* const begin = at_ + comma;
    if (comma == 1 && *at_ != ',') return false;
    if (begin[0] != '"' || std::memcmp(begin + 1, name.data(), name.size()) != 0) return false;
    if (begin[name.size() + 1] != '"' || begin[name.size() + 2] != ':') return false;
    at_ = begin + name.size() + 3;
    first_field_ = false;
    return true;
  }

  // Up to the next quotation mark, which is taken.
  std::string_view TakeText() {
    Take('"');
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= ' ' && *at_ < 0x7f && *at_ != '"' && *at_ != '\\') ++at_;
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    Take('"');
    return text;
  }

  void Read(std::string& text) { text = TakeText(); }

  // What JSON and from_chars() both take: "-0" is another number there.
  bool AtNumber() const {
    const char* digit = at_ + (Peek('-') ? 1 : 0);
    if (digit == end_ || *digit < '0' || *digit > '9') return false;
    if (*digit != '0') return true;
    const char next = digit + 1 == end_ ? ',' : digit[1];
    return (next < '0' || next > '9') && (digit == at_ || next == '.' || next == 'e');
  }

  template <typename Number>
  void ReadNumber(Number& number) {
    if (failed_ || !AtNumber()) {
      failed_ = true;
      return;
    }
    const auto [end, error] = std::from_chars(at_, end_, number);
    failed_ |= error != std::errc() || end == end_ || (*end != ',' && *end != '}' && *end != ']');
    at_ = end;
  }
  void Read(int64_t& number) { ReadNumber(number); }
  void Read(double& number) {
    if (!Peek('"')) return ReadNumber(number);
    const std::string_view text = TakeText();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "nan") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else if (text == "inf" || text == "-inf") {
      number = text == "inf" ? kInfinity : -kInfinity;
    } else {
      failed_ = true;
    }
  }
  void Read(bool& flag) {
    flag = TakeIf(std::string_view("true"));
    failed_ |= !flag && !TakeIf(std::string_view("false"));
  }

  template <typename Record>
  void Read(std::vector<Record>& records) {
    ReadList([&] { Read(records.emplace_back()); });
  }
  template <typename Record>
  requires std::is_class_v<Record>
  void Read(Record& record) { ReadObject(record); }

  template <typename Item>
  void ReadList(const Item& item) {
    Take('[');
    if (TakeIf(']')) return;
    while (!failed_) {
      item();
      if (TakeIf(',')) continue;
      return Take(']');
    }
  }

  template <typename Record>
  void ReadObject(Record& record) {
    Take('{');
    first_field_ = true;
    if (!failed_) ListFields(*this, record);
    Take('}');
    first_field_ = false;
  }

  const char* at_;
  const char* end_;
  bool first_field_ = true;  // of the object at hand
  bool failed_ = false;
};

}  // namespace vernier
