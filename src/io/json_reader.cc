#include "io/json_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "io/text_encoding.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// Python refuses to convert longer integers since 3.11.
constexpr size_t kMaxIntegerDigits = 4300;
constexpr size_t kBlock = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Ends the string, starts an escape, is a control character or is not ASCII: bytes from 0x80 on are
// negative here.
bool IsSpecial(char c) {
  const auto byte = static_cast<signed char>(c);
  return byte < 0x20 || byte == '"' || byte == '\\';
}

// GCC's and Clang's own vectors, 16 bytes on every machine: strings of gigabytes are read at the
// speed of memory without a dispatch on the processor.
using ByteVector = signed char __attribute__((vector_size(16)));

bool IsPlainBlock(const char* text) {
  ByteVector special{};
  for (size_t i = 0; i < kBlock; i += sizeof(ByteVector)) {
    ByteVector bytes;
    std::memcpy(&bytes, text + i, sizeof(bytes));
    special |= (bytes < 0x20) | (bytes == '"') | (bytes == '\\');
  }
  uint64_t halves[2];
  std::memcpy(halves, &special, sizeof(halves));
  return (halves[0] | halves[1]) == 0;
}

size_t SkipDigits(std::string_view text, size_t position) {
  while (position < text.size() && IsDigit(text[position])) ++position;
  return position;
}

std::string Describe(std::string_view text, size_t position) {
  if (position >= text.size()) return "the end of the text";
  const auto c = static_cast<unsigned char>(text[position]);
  if (c >= 0x20 && c < 0x7f) return std::string("'") + static_cast<char>(c) + "'";
  constexpr char kHex[] = "0123456789abcdef";
  return std::string("byte 0x") + kHex[c >> 4] + kHex[c & 15];
}

char32_t HexValue(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    value = value * 16 + static_cast<char32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

}  // namespace

Status JsonReader::Error(size_t position, std::string_view what) const {
  return Malformed("byte " + std::to_string(position) + ": " + std::string(what) + ", found " +
                   Describe(text_, position));
}

void JsonReader::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++position_;
  }
}

JsonToken JsonReader::Done(size_t begin, size_t end, JsonToken token) {
  raw_ = text_.substr(begin, end - begin);
  if (token == JsonToken::kKey) {
    expect_ = Expect::kValue;
  } else if (token == JsonToken::kBeginObject) {
    expect_ = Expect::kKeyOrEnd;
  } else if (token == JsonToken::kBeginArray) {
    expect_ = Expect::kValueOrEnd;
  } else {
    expect_ = depth_ > 0 ? Expect::kCommaOrEnd : Expect::kNothing;
  }
  return token;
}

Result<JsonToken> JsonReader::Next() {
  SkipBlanks();
  const char c = position_ < text_.size() ? text_[position_] : '\0';
  switch (expect_) {
    case Expect::kNothing:
      if (position_ < text_.size()) return Error(position_, "expected nothing after the value");
      raw_ = text_.substr(text_.size());
      return JsonToken::kEnd;
    case Expect::kCommaOrEnd:
      return Separated();
    case Expect::kKeyOrEnd:
      return c == '}' ? Close(JsonToken::kEndObject) : Key();
    case Expect::kValueOrEnd:
      return c == ']' ? Close(JsonToken::kEndArray) : Value();
    case Expect::kKey:
      return Key();
    case Expect::kValue:
      break;
  }
  return Value();
}

Result<JsonToken> JsonReader::Separated() {
  const bool object = in_object_[depth_ - 1];
  const char c = position_ < text_.size() ? text_[position_] : '\0';
  if (c == (object ? '}' : ']'))
    return Close(object ? JsonToken::kEndObject : JsonToken::kEndArray);
  if (c != ',') return Error(position_, object ? "expected ',' or '}'" : "expected ',' or ']'");
  ++position_;
  SkipBlanks();
  return object ? Key() : Value();
}

Result<JsonToken> JsonReader::Key() {
  if (position_ >= text_.size() || text_[position_] != '"') {
    return Error(position_, "expected a name in double quotes");
  }
  VERNIER_TRY(ScanString());
  const std::string_view name = raw_;
  SkipBlanks();
  if (position_ >= text_.size() || text_[position_] != ':') {
    return Error(position_, "expected ':'");
  }
  ++position_;
  const auto begin = static_cast<size_t>(name.data() - text_.data());
  return Done(begin, begin + name.size(), JsonToken::kKey);
}

Result<JsonToken> JsonReader::Value() {
  if (position_ >= text_.size()) return Error(position_, "expected a value");
  switch (text_[position_]) {
    case '{':
      return Open(JsonToken::kBeginObject);
    case '[':
      return Open(JsonToken::kBeginArray);
    case 't':
      return Literal("true", JsonToken::kTrue);
    case 'f':
      return Literal("false", JsonToken::kFalse);
    case 'n':
      return Literal("null", JsonToken::kNull);
    case 'N':
      return Literal("NaN", JsonToken::kNumber);
    case 'I':
      return Literal("Infinity", JsonToken::kNumber);
    case '"': {
      VERNIER_TRY(ScanString());
      const auto begin = static_cast<size_t>(raw_.data() - text_.data());
      return Done(begin, begin + raw_.size(), JsonToken::kString);
    }
    default:
      return Number();
  }
}

Result<JsonToken> JsonReader::Open(JsonToken token) {
  if (depth_ == kMaxDepth) {
    return Error(position_, "expected at most " + std::to_string(kMaxDepth) + " nested brackets");
  }
  in_object_[depth_++] = token == JsonToken::kBeginObject;
  ++position_;
  return Done(position_ - 1, position_, token);
}

Result<JsonToken> JsonReader::Close(JsonToken token) {
  --depth_;
  ++position_;
  return Done(position_ - 1, position_, token);
}

Result<JsonToken> JsonReader::Literal(std::string_view word, JsonToken token) {
  const size_t begin = position_;
  if (text_.substr(begin, word.size()) != word) return Error(begin, "expected a value");
  position_ += word.size();
  return Done(begin, position_, token);
}

Result<JsonToken> JsonReader::Number() {
  const size_t begin = position_;
  size_t digits = begin + (text_[begin] == '-' ? 1 : 0);
  if (digits > begin && text_.substr(digits, 1) == "I") {
    return Literal("-Infinity", JsonToken::kNumber);
  }
  if (digits >= text_.size() || !IsDigit(text_[digits])) return Error(begin, "expected a value");
  size_t end = text_[digits] == '0' ? digits + 1 : SkipDigits(text_, digits);
  const size_t integer_end = end;
  if (end + 1 < text_.size() && text_[end] == '.' && IsDigit(text_[end + 1])) {
    end = SkipDigits(text_, end + 1);
  }
  if (end < text_.size() && (text_[end] | 0x20) == 'e') {
    size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    const size_t exponent_end = SkipDigits(text_, exponent);
    if (exponent_end > exponent) end = exponent_end;
  }
  if (end == integer_end && end - digits > kMaxIntegerDigits) {
    return Error(begin, "expected an integer of at most 4300 digits");
  }
  position_ = end;
  return Done(begin, end, JsonToken::kNumber);
}

// `position` is at a special character other than the closing quote. Returns where to go on.
Result<size_t> JsonReader::AfterSpecial(size_t position) const {
  const auto c = static_cast<unsigned char>(text_[position]);
  if (c < 0x20) return Error(position, "expected control characters in strings to be escaped");
  if (c >= 0x80) {
    const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    const std::string_view sequence = text_.substr(position, length);
    if (sequence.size() == length && ValidUtf8Prefix(sequence) == length) return position + length;
    return Error(position, "expected valid UTF-8");
  }
  const char escape = position + 1 < text_.size() ? text_[position + 1] : '\0';
  if (escape == 'u') {
    const std::string_view digits = text_.substr(position + 2, 4);
    if (digits.size() == 4 && std::all_of(digits.begin(), digits.end(), IsHex)) return position + 6;
    return Error(position, "expected four hexadecimal digits after '\\u'");
  }
  if (escape != '\0' && std::string_view("\"\\/bfnrt").find(escape) != std::string_view::npos) {
    return position + 2;
  }
  return Error(position, "expected a valid escape");
}

// Leaves the inside of the quotes in raw_ and position_ behind the closing quote.
Status JsonReader::ScanString() {
  const size_t begin = ++position_;
  size_t position = begin;
  while (position < text_.size()) {
    if (text_.size() - position >= kBlock && IsPlainBlock(text_.data() + position)) {
      position += kBlock;
      continue;
    }
    const size_t block_end = std::min(text_.size(), position + kBlock);
    while (position < block_end) {
      if (!IsSpecial(text_[position])) {
        ++position;
        continue;
      }
      if (text_[position] == '"') {
        raw_ = text_.substr(begin, position - begin);
        position_ = position + 1;
        return {};
      }
      VERNIER_ASSIGN_OR_RETURN(position, AfterSpecial(position));
    }
  }
  return Malformed("byte " + std::to_string(begin - 1) +
                   ": the string that begins here never ends");
}

std::string UnescapeJson(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  size_t position = 0;
  while (position < raw.size()) {
    const size_t slash = std::min(raw.find('\\', position), raw.size());
    text += raw.substr(position, slash - position);
    position = slash;
    if (position + 1 >= raw.size()) break;
    const char escape = raw[position + 1];
    if (escape != 'u') {
      constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
      const size_t index = kFrom.find(escape);
      text += index == std::string_view::npos ? escape : kTo[index];
      position += 2;
      continue;
    }
    char32_t c = HexValue(raw.substr(position + 2, 4));
    position += 6;
    if (c >= 0xd800 && c < 0xdc00 && raw.substr(position, 2) == "\\u") {
      const char32_t low = HexValue(raw.substr(position + 2, 4));
      if (low >= 0xdc00 && low <= 0xdfff) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        position += 6;
      }
    }
    AppendCodePoint(text, c);
  }
  return text;
}

double JsonNumberValue(std::string_view raw) {
  return ParseDouble(raw).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace vernier
