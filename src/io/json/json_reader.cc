#include "io/json/json_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "io/bytes/text_encoding.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Python refuses to convert longer integers since 3.11.
constexpr size_t kMaxIntegerDigits = 4300;
constexpr size_t kBlock = 64;

// Of strings in files up to this size the text is handed out, of longer ones the place.
constexpr uint64_t kMaxKept = uint64_t{64} << 10;
constexpr uint64_t kMaxKey = uint64_t{1} << 20;

// The beginning of a payload, enough for the header that holds its length; groups of base64.
constexpr size_t kPayloadStart = 1024;
constexpr size_t kGroup = 4;

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

char32_t HexValue(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits) {
    value = value * 16 + static_cast<char32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

}  // namespace

char JsonReader::At(uint64_t position) {
  if (position >= window_begin_ && position - window_begin_ < window_.size()) {
    return window_[static_cast<size_t>(position - window_begin_)];
  }
  const std::string_view here = View(position, 1);
  return here.empty() ? '\0' : here.front();
}

// What the window shows from `position` on: at least `wanted` characters, or all that there are. An
// error of reading is kept for Next(), and shows nothing.
std::string_view JsonReader::View(uint64_t position, size_t wanted) {
  if (position >= text_.size()) return {};
  Result<std::string_view> window = text_.Window(position, wanted);
  if (!window.ok()) {
    if (unreadable_.ok()) unreadable_ = std::move(window).status();
    window_ = {};
    return {};
  }
  window_ = *window;
  window_begin_ = text_.window_begin();
  return window_.substr(static_cast<size_t>(position - window_begin_));
}

std::string JsonReader::Describe(uint64_t position) {
  if (position >= text_.size()) return "the end of the text";
  const auto c = static_cast<unsigned char>(At(position));
  if (c >= 0x20 && c < 0x7f) return std::string("'") + static_cast<char>(c) + "'";
  constexpr char kHex[] = "0123456789abcdef";
  return std::string("byte 0x") + kHex[c >> 4] + kHex[c & 15];
}

Status JsonReader::Error(uint64_t position, std::string_view what) {
  return Malformed("byte " + std::to_string(position) + ": " + std::string(what) + ", found " +
                   Describe(position));
}

void JsonReader::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = At(position_);
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++position_;
  }
}

uint64_t JsonReader::SkipDigits(uint64_t position) {
  while (position < text_.size() && IsDigit(At(position))) ++position;
  return position;
}

JsonToken JsonReader::Done(uint64_t begin, uint64_t end, JsonToken token) {
  token_begin_ = begin;
  token_end_ = end;
  const bool payload = std::exchange(at_payload_, false) && token == JsonToken::kString;
  is_long_ =
      !text_.in_memory() && token == JsonToken::kString && (payload || end - begin > kMaxKept);
  const auto size = static_cast<size_t>(end - begin);
  raw_ = is_long_ ? std::string_view() : View(begin, size).substr(0, size);
  if (token == JsonToken::kKey) {
    at_payload_ = raw_ == kPayloadKey;
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
  Result<JsonToken> token = NextToken();
  if (!unreadable_.ok()) return unreadable_;
  return token;
}

// Editors put a mark before UTF-8 that means nothing. Other encodings begin with one of their own,
// or have zeros in every ASCII character.
Status JsonReader::SkipByteOrderMark() {
  const std::string_view start = View(position_, 4).substr(0, 4);
  if (start.starts_with("\xef\xbb\xbf")) position_ += 3;
  const bool marked = start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff");
  const auto is_zero = [&](size_t i) { return i < start.size() && start[i] == '\0'; };
  const bool little = !is_zero(0) && (marked || is_zero(1)) && is_zero(2) && is_zero(3);
  const bool big = start.size() == 4 && is_zero(0) && is_zero(1) && !(is_zero(2) && is_zero(3));
  if (!marked && !big && is_zero(0) == is_zero(1)) return {};
  return Malformed(std::string("byte 0: the text is ") + (little || big ? "UTF-32" : "UTF-16") +
                   ", and JSON is UTF-8: save it as that");
}

Result<JsonToken> JsonReader::NextToken() {
  if (position_ == 0) VERNIER_TRY(SkipByteOrderMark());
  SkipBlanks();
  const char c = At(position_);
  switch (expect_) {
    case Expect::kNothing:
      if (position_ < text_.size()) return Error(position_, "expected nothing after the value");
      raw_ = {};
      token_begin_ = token_end_ = position_;
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
  const char c = At(position_);
  if (c == (object ? '}' : ']')) {
    return Close(object ? JsonToken::kEndObject : JsonToken::kEndArray);
  }
  if (c != ',') return Error(position_, object ? "expected ',' or '}'" : "expected ',' or ']'");
  ++position_;
  SkipBlanks();
  return object ? Key() : Value();
}

Result<JsonToken> JsonReader::Key() {
  if (At(position_) != '"') return Error(position_, "expected a name in double quotes");
  const uint64_t begin = position_ + 1;
  VERNIER_ASSIGN_OR_RETURN(const uint64_t end, ScanString(begin));
  if (end - begin > kMaxKey) return Error(begin, "expected a name of at most 1 MiB");
  position_ = end + 1;
  SkipBlanks();
  if (At(position_) != ':') return Error(position_, "expected ':'");
  ++position_;
  return Done(begin, end, JsonToken::kKey);
}

Result<JsonToken> JsonReader::Value() {
  if (position_ >= text_.size()) return Error(position_, "expected a value");
  switch (At(position_)) {
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
    case '"':
      return String();
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
  const uint64_t begin = position_;
  if (!View(begin, word.size()).starts_with(word)) return Error(begin, "expected a value");
  position_ += word.size();
  return Done(begin, position_, token);
}

Result<JsonToken> JsonReader::Number() {
  const uint64_t begin = position_;
  const uint64_t digits = begin + (At(begin) == '-' ? 1 : 0);
  if (digits > begin && At(digits) == 'I') return Literal("-Infinity", JsonToken::kNumber);
  if (!IsDigit(At(digits))) return Error(begin, "expected a value");
  uint64_t end = At(digits) == '0' ? digits + 1 : SkipDigits(digits);
  const uint64_t integer_end = end;
  if (At(end) == '.' && IsDigit(At(end + 1))) end = SkipDigits(end + 1);
  if ((At(end) | 0x20) == 'e') {
    uint64_t exponent = end + 1;
    if (At(exponent) == '+' || At(exponent) == '-') ++exponent;
    const uint64_t exponent_end = SkipDigits(exponent);
    if (exponent_end > exponent) end = exponent_end;
  }
  if (end == integer_end && end - digits > kMaxIntegerDigits) {
    return Error(begin, "expected an integer of at most 4300 digits");
  }
  if (end - begin > kMaxKey) return Error(begin, "expected a number of at most 1 MiB");
  position_ = end;
  return Done(begin, end, JsonToken::kNumber);
}

Result<JsonToken> JsonReader::String() {
  const uint64_t begin = position_ + 1;
  std::optional<uint64_t> end = PayloadEnd(begin);
  if (!end) {
    VERNIER_ASSIGN_OR_RETURN(end, ScanString(begin));
  }
  position_ = *end + 1;
  return Done(begin, *end, JsonToken::kString);
}

// Where the payload that begins here ends, if it is what its beginning says.
std::optional<uint64_t> JsonReader::PayloadEnd(uint64_t begin) {
  if (!at_payload_ || !payload_length_) return std::nullopt;
  const auto length = payload_length_(View(begin, kPayloadStart));
  if (!length || *length < kGroup || *length >= text_.size() - begin) return std::nullopt;
  const uint64_t end = begin + *length;
  const std::string_view tail = View(end - kGroup, kGroup + 1).substr(0, kGroup + 1);
  const bool ends = tail.size() == kGroup + 1 && tail.back() == '"' &&
                    std::all_of(tail.begin(), tail.end() - 1, [](char c) { return !IsSpecial(c); });
  return ends ? std::optional(end) : std::nullopt;
}

// `position` is at a special character other than the closing quote. Returns where to go on.
Result<uint64_t> JsonReader::AfterSpecial(uint64_t position) {
  const std::string_view here = View(position, 6);
  const auto c = static_cast<unsigned char>(here.empty() ? '\0' : here[0]);
  if (c < 0x20) return Error(position, "expected control characters in strings to be escaped");
  if (c >= 0x80) {
    const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    const std::string_view sequence = here.substr(0, length);
    if (sequence.size() == length && ValidUtf8Prefix(sequence) == length) return position + length;
    return Error(position, "expected valid UTF-8");
  }
  const char escape = here.size() > 1 ? here[1] : '\0';
  if (escape == 'u') {
    const std::string_view digits = here.substr(2, 4);
    if (digits.size() == 4 && std::all_of(digits.begin(), digits.end(), IsHex)) return position + 6;
    return Error(position, "expected four hexadecimal digits after '\\u'");
  }
  if (escape != '\0' && std::string_view("\"\\/bfnrt").find(escape) != std::string_view::npos) {
    return position + 2;
  }
  return Error(position, "expected a valid escape");
}

// `begin` is behind the opening quote; returns where the closing one is.
Result<uint64_t> JsonReader::ScanString(uint64_t begin) {
  uint64_t position = begin;
  while (position < text_.size()) {
    const std::string_view here = View(position, kBlock);
    if (here.empty()) return unreadable_;
    size_t i = 0;
    while (here.size() - i >= kBlock && IsPlainBlock(here.data() + i)) i += kBlock;
    const size_t block_end = std::min(here.size(), i + kBlock);
    while (i < block_end && !IsSpecial(here[i])) ++i;
    position += i;
    if (i == block_end) continue;
    if (here[i] == '"') return position;
    VERNIER_ASSIGN_OR_RETURN(position, AfterSpecial(position));
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
