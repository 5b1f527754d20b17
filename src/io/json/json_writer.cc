#include "io/json/json_writer.h"

#include <cmath>
#include <utility>

#include "io/bytes/text_encoding.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kFlushAt = size_t{64} << 10;

void AppendEscape(std::string& out, char32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

void AppendEscaped(std::string& out, char32_t c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\b':
      out += "\\b";
      return;
    default:
      break;
  }
  if (c >= 0x20 && c < 0x7f) {
    out += static_cast<char>(c);
  } else if (c < 0x10000) {
    AppendEscape(out, c);
  } else {
    AppendEscape(out, 0xd800 + ((c - 0x10000) >> 10));
    AppendEscape(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
  }
}

}  // namespace

void JsonWriter::Put(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kFlushAt) Flush();
}

void JsonWriter::Flush() {
  if (status_.ok() && !buffer_.empty()) status_ = sink_.WriteText(buffer_);
  buffer_.clear();
}

void JsonWriter::NewLine() {
  if (layout_ == JsonLayout::kCompact) return;
  Put("\n");
  Put(std::string(4 * (outer_levels_ + empty_.size()), ' '));
}

void JsonWriter::BeforeValue() {
  if (after_key_ || empty_.empty()) {
    after_key_ = false;
    return;
  }
  if (!empty_.back()) Put(",");
  empty_.back() = false;
  NewLine();
}

void JsonWriter::Begin(char bracket) {
  BeforeValue();
  Put({&bracket, 1});
  empty_.push_back(true);
}

void JsonWriter::End(char bracket) {
  const bool empty = empty_.back();
  empty_.pop_back();
  if (!empty) NewLine();
  Put({&bracket, 1});
}

void JsonWriter::Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (size_t position = 0; position < text.size();) {
    AppendEscaped(quoted, NextCodePoint(text, position));
  }
  Put(quoted + '"');
}

void JsonWriter::Key(std::string_view name) {
  BeforeValue();
  Quoted(name);
  Put(layout_ == JsonLayout::kCompact ? ":" : ": ");
  after_key_ = true;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  Quoted(text);
}

void JsonWriter::Double(double value) {
  BeforeValue();
  if (std::isnan(value)) return Put("NaN");
  if (std::isinf(value)) return Put(value > 0 ? "Infinity" : "-Infinity");
  Put(FormatFloatRepr(value));
}

void JsonWriter::Integer(int64_t value) {
  BeforeValue();
  Put(std::to_string(value));
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  Put(value ? "true" : "false");
}

void JsonWriter::Null() {
  BeforeValue();
  Put("null");
}

ByteSink& JsonWriter::BeginRaw() {
  BeforeValue();
  Flush();
  return sink_;
}

void JsonWriter::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Status JsonWriter::Finish() {
  Flush();
  return status_;
}

}  // namespace vernier
