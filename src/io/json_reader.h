// A pull parser for JSON as Python's json module reads it: NaN, Infinity and -Infinity are numbers,
// lone surrogates are allowed; a byte order mark, control characters in strings, invalid UTF-8,
// trailing data and spellings such as 01, .5 or 1. are not.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier {

enum class JsonToken : uint8_t {
  kBeginObject,
  kEndObject,
  kBeginArray,
  kEndArray,
  kKey,
  kString,
  kNumber,
  kTrue,
  kFalse,
  kNull,
  kEnd,  ///< the document is complete and nothing but blanks follows
};

/// Reads one token after the other. Memory is constant: strings are handed out as they stand in
/// the text, so a string of gigabytes costs one scan. Errors are kMalformed and give the offset in
/// bytes; after an error the reader must not be used further.
class JsonReader {
 public:
  static constexpr size_t kMaxDepth = 512;

  /// `text` must outlive the reader.
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<JsonToken> Next();

  /// What the last token was made of: the inside of the quotes (checked, not unescaped) of keys and
  /// strings, the characters of numbers and literals, otherwise one bracket.
  std::string_view raw() const { return raw_; }

  /// Where raw() begins.
  uint64_t offset() const { return static_cast<uint64_t>(raw_.data() - text_.data()); }

 private:
  enum class Expect : uint8_t { kValue, kValueOrEnd, kKeyOrEnd, kKey, kCommaOrEnd, kNothing };

  Status Error(size_t position, std::string_view what) const;
  void SkipBlanks();
  Result<JsonToken> Separated();
  Result<JsonToken> Key();
  Result<JsonToken> Value();
  Result<JsonToken> Open(JsonToken token);
  Result<JsonToken> Close(JsonToken token);
  Result<JsonToken> Literal(std::string_view word, JsonToken token);
  Result<JsonToken> Number();
  Status ScanString();
  Result<size_t> AfterSpecial(size_t position) const;
  JsonToken Done(size_t begin, size_t end, JsonToken token);

  std::string_view text_;
  size_t position_ = 0;
  std::string_view raw_;
  std::bitset<kMaxDepth> in_object_;
  size_t depth_ = 0;
  Expect expect_ = Expect::kValue;
};

/// The text that a raw JSON string stands for, in the encoding of io/text_encoding.h. `raw` must
/// come from a JsonReader.
std::string UnescapeJson(std::string_view raw);

/// The value of a raw JSON number, as Python's float() of it.
double JsonNumberValue(std::string_view raw);

}  // namespace vernier
