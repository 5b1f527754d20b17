// A pull parser for JSON as Python's json module reads it: NaN, Infinity and -Infinity are numbers,
// lone surrogates are allowed; a byte order mark, control characters in strings, invalid UTF-8,
// trailing data and spellings such as 01, .5 or 1. are not.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/json/json_text.h"
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

/// How many characters a payload has, judged by its first ones; nullopt where they do not show it.
using PayloadLength = std::function<std::optional<uint64_t>(std::string_view start)>;

/// Reads one token after the other. Memory is constant: of long strings in files only the place is
/// returned. Errors are kMalformed and give the offset in bytes; after an error the reader must not
/// be used further.
class JsonReader {
 public:
  static constexpr size_t kMaxDepth = 512;

  /// The value of a key of this name is a payload: a string that may be as long as the file.
  static constexpr std::string_view kPayloadKey = "array";

  explicit JsonReader(std::string_view text) : JsonReader(JsonText(text)) {}

  /// With `payload_length`, payloads are not checked if their beginning says how long they are and
  /// a string of that length ends there; their decoder finds faults inside.
  explicit JsonReader(JsonText text, PayloadLength payload_length = {})
      : text_(std::move(text)),
        payload_length_(std::move(payload_length)),
        position_(text_.start()) {}

  Result<JsonToken> Next();

  /// What the last token was made of: the inside of the quotes (checked, not unescaped) of keys and
  /// strings, the characters of numbers and literals, otherwise one bracket. Empty for what
  /// is_long. Valid until the next token.
  std::string_view raw() const { return raw_; }

  /// The last token is a string in a file that is a payload or has more than 64 KiB.
  bool is_long() const { return is_long_; }

  /// Where the last token's text lies.
  uint64_t begin() const { return token_begin_; }
  uint64_t end() const { return token_end_; }

 private:
  enum class Expect : uint8_t { kValue, kValueOrEnd, kKeyOrEnd, kKey, kCommaOrEnd, kNothing };

  char At(uint64_t position);
  std::string_view View(uint64_t position, size_t wanted);
  std::string Describe(uint64_t position);
  Status Error(uint64_t position, std::string_view what);
  Status SkipByteOrderMark();
  Result<JsonToken> NextToken();
  void SkipBlanks();
  uint64_t SkipDigits(uint64_t position);
  Result<JsonToken> Separated();
  Result<JsonToken> Key();
  Result<JsonToken> Value();
  Result<JsonToken> String();
  Result<JsonToken> Open(JsonToken token);
  Result<JsonToken> Close(JsonToken token);
  Result<JsonToken> Literal(std::string_view word, JsonToken token);
  Result<JsonToken> Number();
  std::optional<uint64_t> PayloadEnd(uint64_t begin);
  Result<uint64_t> ScanString(uint64_t begin);
  Result<uint64_t> AfterSpecial(uint64_t position);
  JsonToken Done(uint64_t begin, uint64_t end, JsonToken token);

  JsonText text_;
  PayloadLength payload_length_;
  std::string_view window_;  // of the text, from window_begin_ on
  uint64_t window_begin_ = 0;
  Status unreadable_;
  uint64_t position_;
  std::string_view raw_;
  uint64_t token_begin_ = 0;
  uint64_t token_end_ = 0;
  bool is_long_ = false;
  bool at_payload_ = false;
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
